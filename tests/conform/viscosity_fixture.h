// A block of liquid in a box, with the weights of its viscosity: what the tests of the viscosity
// and Stokes solvers share. Include cmocka.h before this header.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "conform/linop_conform.h"
#include "solve/viscosity_solver.h"

typedef struct fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    int margin;
    float *cell, *edge[AXES], *mass[AXES], *sheet[AXES][2]; // sheet: NULL without
    uint8_t* fixed;
    viscosity_system system;
    viscosity_solver* solver;
} fixture;

typedef struct fixture_def {
    int cells[AXES];
    bool is_periodic[AXES];
    int threads;
    treacle_isa isa;
    bool has_floor; // faces below the height 2 are fixed
    bool is_patchy; // weights of random strength, some zero
    bool has_lumps; // two balls of 1e4 and 1e7 times the stress
    bool has_sheet; // plain differences near the surface
    int margin;     // cells of air around the liquid, 0: two
    double r;       // stress weight against mass
} fixture_def;

// Distance to the block of liquid that a grid holds, in cells: all but a margin, with round edges
// and a surface that passes through cells.
static inline double distance(const fixture* f, const double p[AXES]) {
    const double round = 1.7;
    double inside = -1e9, outside = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (f->domain.is_active[a] && !f->domain.is_periodic[a]) {
            double half = 0.5 * f->domain.cells[a], size = half - f->margin - 0.3 - round;
            double d = fabs(p[a] - half) - size;
            inside = fmax(inside, d);
            outside += fmax(d, 0.0) * fmax(d, 0.0);
        }
    }
    return fmin(inside, 0.0) + sqrt(outside) - round;
}

// Fraction of liquid in the box around cell + half a cell along the axes of the set.
static inline double fraction(const fixture* f, const int at[AXES], int axes) {
    double p[AXES];
    for (int a = 0; a < AXES; ++a) {
        p[a] = at[a] + 0.5 * (axes >> a & 1);
    }
    double fraction = 0.5 - distance(f, p);
    return fraction < 0.0 ? 0.0 : fraction > 1.0 ? 1.0 : fraction;
}

// Slot of a cell, or the zero tile's first.
static inline size_t cell_at(const fixture* f, const int at[AXES]) {
    tile_coord tile;
    for (int a = 0; a < AXES; ++a) {
        tile.at[a] = at[a] >> 3;
    }
    bool is_in = tile_coord_wrap(&f->domain, &tile);
    tile_ix t = is_in ? tile_map_find(&f->map, tile) : f->map.count;
    int q = (at[2] & 7) * 64 + (at[1] & 7) * 8 + (at[0] & 7);
    return (size_t)t * TILE_CELLS + (t < f->map.count ? (size_t)q : 0);
}

#define FOR_EACH_CELL(f, at)                                                                       \
    for (int at[AXES] = {0, 0, 0}; at[2] <= (f)->domain.cells[2]; ++at[2])                         \
        for (at[1] = 0; at[1] <= (f)->domain.cells[1]; ++at[1])                                    \
            for (at[0] = 0; at[0] <= (f)->domain.cells[0]; ++at[0])

static inline bool is_within(const fixture* f, const int at[AXES]) {
    return at[0] < f->domain.cells[0] && at[1] < f->domain.cells[1] && at[2] < f->domain.cells[2];
}

// How much stiffer the liquid is at cell + half a cell along the axes of the set.
static inline double stiffness(const fixture_def* def, const int at[AXES], int axes) {
    double square[2] = {0};
    for (int a = 0; a < AXES; ++a) {
        double p = at[a] + 0.5 * (axes >> a & 1);
        square[0] += pow(p - 0.3 * def->cells[a], 2.0);
        square[1] += pow(p - 0.7 * def->cells[a], 2.0);
    }
    return !def->has_lumps ? 1.0 : square[0] < 16.0 ? 1e4 : square[1] < 16.0 ? 1e7 : 1.0;
}

// Strength of a weight; hashes n.
static inline float strength(const fixture_def* def, size_t n) {
    double random = conform_random(n);
    return def->is_patchy ? (float)(random < -0.8 ? 0.0 : 1.1 + random) : 1.0f;
}

static inline void fill_cell(fixture* f, const fixture_def* def, const int at[AXES], size_t i) {
    bool is_flat = !(f->domain.is_active[0] && f->domain.is_active[1] && f->domain.is_active[2]);
    bool is_in = is_within(f, at);
    double r = def->r * stiffness(def, at, 7);
    f->cell[i] = is_in ? (float)(r * fraction(f, at, 7)) * strength(def, 10 * i) : 0.0f;
    for (int a = 0; a < AXES; ++a) {
        bool is_free = f->domain.is_active[a] && !(def->has_floor && at[1] < 4) && is_in &&
                       (at[a] > 0 || f->domain.is_periodic[a]);
        bool has_edge = !is_flat || !f->domain.is_active[a]; // flat: only the shear in the plane
        r = def->r * stiffness(def, at, 1 << a);
        f->edge[a][i] =
            has_edge ? (float)(r * fraction(f, at, 1 << a)) * strength(def, 10 * i + 1 + (size_t)a)
                     : 0.0f;
        f->mass[a][i] = is_free ? (float)fraction(f, at, 7 & ~(1 << a)) *
                                      (strength(def, 10 * i + 4 + (size_t)a) + 0.1f)
                                : 0.0f;
        f->fixed[i] |= (uint8_t)((is_free ? 0 : 1) << a);
    }
}

// Weights of plain differences at the edges of a cell that are near the surface: as strong as the
// stress.
static inline void fill_sheets(fixture* f, const fixture_def* def, const int at[AXES], size_t i) {
    for (int n = 0; n < 2 * AXES; ++n) {
        double p[AXES];
        for (int a = 0; a < AXES; ++a) {
            p[a] = at[a] + (a == n / 2 ? 0.5 : 0.0);
        }
        bool is_near = fabs(distance(f, p)) < 0.7 && f->edge[n / 2][i] > 0.0f;
        f->sheet[n / 2][n % 2][i] =
            is_near ? (float)def->r * strength(def, 100 * i + (size_t)n) : 0.0f;
    }
}

static inline void* array_create(const tile_map* map, size_t item) {
    void* array = calloc(((size_t)map->count + 1) * TILE_CELLS, item);
    assert_non_null(array);
    return array;
}

static inline treacle_status make_map(fixture* f) {
    tile_coord coords[4096];
    int64_t n = 0;
    for (int z = 0; z <= f->domain.cells[2] / 8 - f->domain.is_periodic[2]; ++z) {
        for (int y = 0; y <= f->domain.cells[1] / 8 - f->domain.is_periodic[1]; ++y) {
            for (int x = 0; x <= f->domain.cells[0] / 8 - f->domain.is_periodic[0]; ++x) {
                coords[n++] = (tile_coord){{x, y, z}};
            }
        }
    }
    return tile_map_create(f->ctx, &f->domain, n, coords, &f->map);
}

static inline void fill_weights(fixture* f, const fixture_def* def) {
    f->cell = array_create(&f->map, sizeof(float));
    f->fixed = array_create(&f->map, 1);
    for (int a = 0; a < AXES; ++a) {
        f->edge[a] = array_create(&f->map, sizeof(float));
        f->mass[a] = array_create(&f->map, sizeof(float));
        for (int n = 0; n < 2 && def->has_sheet; ++n) {
            f->sheet[a][n] = array_create(&f->map, sizeof(float));
        }
    }
    FOR_EACH_CELL(f, at) {
        size_t i = cell_at(f, at);
        bool is_repeat = false;
        for (int a = 0; a < AXES; ++a) {
            is_repeat = is_repeat || (f->domain.is_periodic[a] && at[a] == f->domain.cells[a]);
        }
        if (i < (size_t)f->map.count * TILE_CELLS && !is_repeat) {
            fill_cell(f, def, at, i);
            if (def->has_sheet) {
                fill_sheets(f, def, at, i);
            }
        }
    }
}

static inline treacle_status fixture_build(fixture* f, const fixture_def* def) {
    treacle_domain_def box = {.cell = 1.0};
    for (int a = 0; a < AXES; ++a) {
        box.size[a] = def->cells[a] > 1 ? def->cells[a] : 0.0;
        box.sides[a][0] = box.sides[a][1] =
            def->is_periodic[a] ? TREACLE_SIDE_PERIODIC : TREACLE_SIDE_SLIP;
    }
    TREACLE_TRY(grid_domain_init(f->ctx, &box, &f->domain));
    f->margin = def->margin > 0 ? def->margin : 2;
    TREACLE_TRY(make_map(f));
    fill_weights(f, def);
    f->system = (viscosity_system){.domain = &f->domain,
                                   .map = &f->map,
                                   .weights = {.cell = f->cell,
                                               .edge = {f->edge[0], f->edge[1], f->edge[2]},
                                               .mass = {f->mass[0], f->mass[1], f->mass[2]},
                                               .fixed = f->fixed}};
    for (int n = 0; n < 2 * AXES; ++n) {
        f->system.weights.sheet[n / 2][n % 2] = f->sheet[n / 2][n % 2];
    }
    return viscosity_solver_create(f->ctx, &f->system, &f->solver);
}

static inline void fixture_clear(fixture* f) {
    viscosity_solver_destroy(f->solver);
    tile_map_destroy(&f->map);
    for (int a = 0; a < AXES; ++a) {
        free(f->edge[a]);
        free(f->mass[a]);
        free(f->sheet[a][0]);
        free(f->sheet[a][1]);
    }
    free(f->cell);
    free(f->fixed);
}

static inline void fixture_open(fixture* f, const fixture_def* def) {
    *f = (fixture){0};
    treacle_context_def context_def = treacle_context_def_default();
    context_def.threads = def->threads > 0 ? def->threads : 1;
    context_def.isa = def->isa;
    assert_int_equal(treacle_context_create(&context_def, &f->ctx), TREACLE_OK);
    assert_int_equal(fixture_build(f, def), TREACLE_OK);
}

static inline void fixture_close(fixture* f) {
    fixture_clear(f);
    treacle_context_destroy(f->ctx);
}

// A random momentum: faces without mass have none.
static inline double* random_momentum(const fixture* f, const linop* op, uint64_t seed) {
    double* v = conform_random_vector(op, seed);
    for (size_t i = 0; i < vec_length(op->space); ++i) {
        size_t t = i / VISCOSITY_BLOCK, a = i % VISCOSITY_BLOCK / TILE_CELLS, q = i % TILE_CELLS;
        v[i] *= (double)f->mass[a][t * TILE_CELLS + q];
    }
    return v;
}
