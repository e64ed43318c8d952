// Two balls in the liquid of a fixture: what the tests of bodies in the viscosity and Stokes
// solvers share. Include cmocka.h before this header.
#pragma once

#include "conform/viscosity_fixture.h"
#include "solve/drag_term.h"

enum { BODIES = 2 };

// Two balls in the liquid of a fixture: their faces are fixed, and move with them.
typedef struct balls {
    fixture f;
    int64_t count[BODIES];
    int64_t* slot[BODIES];
    double (*row[BODIES])[BODY_MOTIONS];
    uint16_t* owner[AXES];
    solve_body body[BODIES];
} balls;

static inline bool is_in_ball(const balls* s, int n, const double at[AXES]) {
    double square = 0.0;
    for (int b = 0; b < AXES; ++b) {
        double x = s->f.domain.is_active[b] ? at[b] - s->body[n].pivot[b] : 0.0;
        square += x * x;
    }
    return square < (n == 0 ? 4.2 * 4.2 : 3.1 * 3.1);
}

static inline void add_face(balls* s, int n, int a, size_t i, const double at[AXES]) {
    int64_t k = s->count[n]++;
    s->slot[n][k] =
        (int64_t)(i / TILE_CELLS) * VISCOSITY_BLOCK + a * TILE_CELLS + (int64_t)(i % TILE_CELLS);
    drag_body_row(&s->body[n], &s->f.domain, a, at, s->row[n][k]);
    s->f.fixed[i] |= (uint8_t)(1 << a);
    s->f.mass[a][i] = 0.0f;
    s->owner[a][i] = (uint16_t)(n + 1);
}

static inline void place_balls(balls* s, double mass) {
    size_t room = ((size_t)s->f.map.count + 1) * TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        s->owner[a] = calloc(room, sizeof(uint16_t));
        s->f.system.weights.owner[a] = s->owner[a];
    }
    for (int n = 0; n < BODIES; ++n) {
        s->slot[n] = calloc(4096, sizeof(int64_t));
        s->row[n] = calloc(4096, sizeof(*s->row[n]));
        for (int b = 0; b < AXES; ++b) {
            s->body[n].pivot[b] = (n == 0 ? 0.35 : 0.68) * s->f.domain.cells[b];
        }
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            s->body[n].mass[i][i] = mass * (i < AXES ? 100.0 : 900.0);
        }
    }
    s->f.system.body_count = BODIES;
    s->f.system.bodies = s->body;
}

static inline void fill_balls(balls* s) {
    FOR_EACH_CELL(&s->f, at) {
        size_t i = cell_at(&s->f, at);
        for (int k = 0; k < AXES * BODIES && is_within(&s->f, at); ++k) {
            int a = k % AXES, n = k / AXES;
            double place[AXES];
            bool is_free = s->f.domain.is_active[a] && at[a] > 0 && !(s->f.fixed[i] >> a & 1);
            for (int b = 0; b < AXES; ++b) {
                place[b] = at[b] + (b == a ? 0.0 : 0.5);
            }
            if (is_free && is_in_ball(s, n, place)) {
                add_face(s, n, a, i, place);
            }
        }
    }
}

static inline void balls_open(balls* s, const fixture_def* def, double mass) {
    memset(s, 0, sizeof(*s));
    fixture_open(&s->f, def);
    place_balls(s, mass);
    fill_balls(s);
    viscosity_solver_destroy(s->f.solver);
    s->f.solver = NULL;
    assert_int_equal(viscosity_solver_create(s->f.ctx, &s->f.system, &s->f.solver), TREACLE_OK);
}

static inline void balls_close(balls* s) {
    for (int a = 0; a < AXES; ++a) {
        free(s->owner[a]);
    }
    for (int n = 0; n < BODIES; ++n) {
        free(s->slot[n]);
        free(s->row[n]);
    }
    fixture_close(&s->f);
}
