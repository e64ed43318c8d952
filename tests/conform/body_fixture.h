// Balls of any mass in a box of liquid, as a pressure solver sees them. Include cmocka.h before.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "conform/linop_conform.h"
#include "solve/body_term.h"
#include "solve/pressure_solver.h"

enum { BODY_FIXTURE_MAX = 128, BODY_FIXTURE_TILES = 4096 };

typedef struct body_fixture_def {
    int cells[AXES];
    int threads;
    treacle_isa isa;
    bool is_closed;    // liquid fills the box
    int body_count;    // on a lattice
    int across[AXES];  // bodies along each axis of the lattice
    double radius;     // cells
    double density[2]; // of the first and the last body over the liquid's, geometric between
} body_fixture_def;

typedef struct body_fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    float *link[AXES], *solid[AXES], *extra;
    solve_body bodies[BODY_FIXTURE_MAX];
    pressure_solver* solver;
} body_fixture;

#define BODY_FIXTURE_CELLS(f, at)                                                                  \
    for (int at[AXES] = {0, 0, 0}; at[2] < (f)->domain.cells[2]; ++at[2])                          \
        for (at[1] = 0; at[1] < (f)->domain.cells[1]; ++at[1])                                     \
            for (at[0] = 0; at[0] < (f)->domain.cells[0]; ++at[0])

static inline size_t body_fixture_cell(const body_fixture* f, const int at[AXES]) {
    tile_coord tile = {{at[0] >> 3, at[1] >> 3, at[2] >> 3}};
    tile_ix t = tile_map_find(&f->map, tile);
    return (size_t)t * TILE_CELLS + (size_t)((at[2] & 7) * 64 + (at[1] & 7) * 8 + (at[0] & 7));
}

static inline void body_fixture_centre(const body_fixture_def* def, int n, double out[AXES]) {
    int left = n;
    for (int a = 0; a < AXES; ++a) {
        int place = left % def->across[a];
        left /= def->across[a];
        out[a] = (place + 0.5) * def->cells[a] / def->across[a] +
                 0.3 * conform_random(7u * (unsigned)n + (unsigned)a);
    }
}

// Fraction of a face that lies in the ball, roughly.
static inline double body_fixture_fraction(const body_fixture_def* def, const double centre[AXES],
                                           int axis, const int at[AXES]) {
    double square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double x = at[a] + (a == axis ? 0.0 : 0.5) - centre[a];
        square += def->cells[a] > 1 ? x * x : 0.0;
    }
    return fmin(fmax(0.5 + def->radius - sqrt(square), 0.0), 1.0);
}

// Rows from differences of the fractions of faces, mass from their sum.
static inline void body_fixture_body(body_fixture* f, const body_fixture_def* def, int n) {
    double centre[AXES], volume = 0.0;
    body_fixture_centre(def, n, centre);
    size_t room = (size_t)f->map.count * TILE_CELLS;
    double(*row)[BODY_MOTIONS] = calloc(room, sizeof(*row));
    int64_t* slot = calloc(room, sizeof(*slot));
    double(*at_slot)[BODY_MOTIONS] = calloc(room, sizeof(*at_slot));
    BODY_FIXTURE_CELLS(f, at) {
        size_t cell = body_fixture_cell(f, at);
        for (int a = 0; a < AXES; ++a) {
            int next[AXES] = {at[0], at[1], at[2]};
            next[a] += 1;
            double low = def->cells[a] > 1 ? body_fixture_fraction(def, centre, a, at) : 0.0;
            double high = def->cells[a] > 1 ? body_fixture_fraction(def, centre, a, next) : 0.0;
            int b = (a + 1) % AXES, c = (a + 2) % AXES;
            double difference = low - high;
            f->solid[a][cell] = (float)fmin((double)f->solid[a][cell] + low, 1.0);
            volume += low / (def->cells[2] > 1 ? 3.0 : 2.0);
            at_slot[cell][a] += difference;
            at_slot[cell][3 + c] += difference * -(at[b] + 0.5 - centre[b]);
            at_slot[cell][3 + b] += difference * (at[c] + 0.5 - centre[c]);
        }
    }
    int64_t count = 0;
    for (size_t i = 0; i < room; ++i) {
        bool is_zero = true;
        for (int k = 0; k < BODY_MOTIONS; ++k) {
            is_zero = is_zero && at_slot[i][k] == 0.0;
        }
        if (!is_zero) {
            slot[count] = (int64_t)i;
            memcpy(row[count++], at_slot[i], sizeof(*row));
        }
    }
    free(at_slot);
    double along = def->body_count > 1 ? (double)n / (def->body_count - 1) : 0.0;
    double density = def->density[0] * pow(def->density[1] / def->density[0], along);
    f->bodies[n] = (solve_body){.row_count = count, .slot = slot, .row = (const double(*)[6])row};
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        double inertia = i < 3 ? 1.0 : 0.4 * def->radius * def->radius;
        f->bodies[n].inverse_mass[i][i] = 1.0 / (density * volume * inertia);
    }
}

static inline void body_fixture_links(body_fixture* f, const body_fixture_def* def) {
    BODY_FIXTURE_CELLS(f, at) {
        size_t i = body_fixture_cell(f, at);
        bool is_top = at[1] + 1 == def->cells[1];
        for (int a = 0; a < AXES; ++a) {
            bool has_both = at[a] > 0 && f->domain.is_active[a];
            f->link[a][i] = has_both ? 1.0f - f->solid[a][i] : 0.0f;
        }
        f->extra[i] = is_top && !def->is_closed ? 2.0f : 0.0f;
    }
}

static inline float* body_fixture_field(const tile_map* map) {
    return calloc(((size_t)map->count + 1) * TILE_CELLS, sizeof(float));
}

static inline pressure_system body_fixture_system(const body_fixture* f,
                                                  const body_fixture_def* def) {
    return (pressure_system){.domain = &f->domain,
                             .map = &f->map,
                             .link = {f->link[0], f->link[1], f->link[2]},
                             .extra = f->extra,
                             .body_count = def->body_count,
                             .bodies = f->bodies};
}

static inline treacle_status body_fixture_build(body_fixture* f, const body_fixture_def* def) {
    treacle_domain_def box = {.cell = 1.0};
    static tile_coord coords[BODY_FIXTURE_TILES];
    int64_t n = 0;
    for (int a = 0; a < AXES; ++a) {
        box.size[a] = def->cells[a] > 1 ? def->cells[a] : 0.0;
        box.sides[a][0] = box.sides[a][1] = TREACLE_SIDE_SLIP;
    }
    TREACLE_TRY(grid_domain_init(f->ctx, &box, &f->domain));
    for (int z = 0; z < f->domain.tiles[2]; ++z) {
        for (int y = 0; y < f->domain.tiles[1]; ++y) {
            for (int x = 0; x < f->domain.tiles[0]; ++x) {
                coords[n++] = (tile_coord){{x, y, z}};
            }
        }
    }
    TREACLE_TRY(tile_map_create(f->ctx, &f->domain, n, coords, &f->map));
    for (int a = 0; a < AXES; ++a) {
        f->link[a] = body_fixture_field(&f->map);
        f->solid[a] = body_fixture_field(&f->map);
    }
    f->extra = body_fixture_field(&f->map);
    for (int b = 0; b < def->body_count; ++b) {
        body_fixture_body(f, def, b);
    }
    body_fixture_links(f, def);
    pressure_system system = body_fixture_system(f, def);
    return pressure_solver_create(f->ctx, &system, &f->solver);
}

static inline void body_fixture_clear(body_fixture* f) {
    pressure_solver_destroy(f->solver);
    tile_map_destroy(&f->map);
    for (int a = 0; a < AXES; ++a) {
        free(f->link[a]);
        free(f->solid[a]);
    }
    free(f->extra);
    for (int b = 0; b < BODY_FIXTURE_MAX; ++b) {
        free((void*)f->bodies[b].row);
        free((void*)f->bodies[b].slot);
    }
}

static inline void body_fixture_open(body_fixture* f, const body_fixture_def* def) {
    *f = (body_fixture){0};
    treacle_context_def context_def = treacle_context_def_default();
    context_def.threads = def->threads > 0 ? def->threads : 1;
    context_def.isa = def->isa;
    assert_int_equal(treacle_context_create(&context_def, &f->ctx), TREACLE_OK);
    assert_int_equal(body_fixture_build(f, def), TREACLE_OK);
}

static inline void body_fixture_close(body_fixture* f) {
    body_fixture_clear(f);
    treacle_context_destroy(f->ctx);
}
