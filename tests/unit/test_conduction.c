#include "phys/conduction.h"

#include <math.h>

#include "alloc_failure.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "grid_fixture.h"

#define PI 3.14159265358979323846

// A box full of matter of unit capacity density, walls at 0 (that is, at the reference).
typedef struct slab {
    grid_domain domain;
    tile_map map;
    float* block;
    double* energy;
    double* exchanged;
    conduction_params params;
} slab;

enum { SLAB_FIELDS = 12 };

static size_t slab_values(const slab* s) {
    return ((size_t)s->map.count + 1) * TILE_CELLS;
}

static void slab_free(treacle_context* ctx, slab* s) {
    alloc_free(ctx, s->block, SLAB_FIELDS * slab_values(s) * sizeof(float));
    alloc_free(ctx, s->energy, 2 * slab_values(s) * sizeof(double));
    tile_map_destroy(&s->map);
}

static treacle_status slab_take(treacle_context* ctx, slab* s) {
    TREACLE_TRY(
        alloc_zero(ctx, SLAB_FIELDS * slab_values(s), sizeof(float), "test", (void**)&s->block));
    TREACLE_TRY(alloc_zero(ctx, 2 * slab_values(s), sizeof(double), "test", (void**)&s->energy));
    return TREACLE_OK;
}

// n x n cells of a unit square (or a cube), conductivity 1; `is_held`: its sides are at the
// reference temperature.
static treacle_status slab_make(treacle_context* ctx, int n, bool is_deep, bool is_held, slab* s) {
    *s = (slab){0};
    treacle_domain_def def = {.size = {1.0, 1.0, is_deep ? 1.0 : 0.0}, .cell = 1.0 / n};
    TREACLE_TRY(grid_domain_init(ctx, &def, &s->domain));
    tile_coord tiles[512];
    int count = 0, side = n / TILE_SIZE;
    for (int i = 0; i < side * side * (is_deep ? side : 1); ++i) {
        tiles[count++] = (tile_coord){{i % side, i / side % side, i / side / side}};
    }
    TREACLE_TRY(tile_map_create(ctx, &s->domain, count, tiles, &s->map));
    treacle_status status = slab_take(ctx, s);
    if (status != TREACLE_OK) {
        slab_free(ctx, s);
        return status;
    }
    size_t values = slab_values(s);
    s->exchanged = s->energy + values;
    float h = (float)s->domain.h;
    float* capacity = s->block;
    s->params = (conduction_params){.domain = &s->domain,
                                    .map = &s->map,
                                    .capacity = capacity,
                                    .method = TREACLE_CONDUCTION_LOD,
                                    .melt.same.reference = HEAT_REFERENCE,
                                    .solve = {.relative = 1e-12, .max_iterations = 200}};
    for (int a = 0; a < AXES; ++a) {
        float* g = s->block + (size_t)(1 + a) * values;
        float* u = s->block + (size_t)(4 + a) * values;
        float* out = s->block + (size_t)(7 + a) * values;
        s->params.conductance[a] = g;
        s->params.exchange[a] = u;
        s->params.outside[a] = out;
        for (size_t i = 0; i < values - TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(&s->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
            if (!is_deep && at[2] > 0) {
                continue;
            }
            bool is_active = s->domain.is_active[a];
            capacity[i] = h * h * h;
            g[i] = is_active && at[a] > 0 ? h : 0.0f;
            u[i] = is_held && is_active && (at[a] == 0 || at[a] == n - 1) ? 2.0f * h : 0.0f;
            out[i] = (float)HEAT_REFERENCE;
        }
    }
    return TREACLE_OK;
}

static void fill_wave(slab* s) {
    double h = s->domain.h;
    for (size_t i = 0; i < slab_values(s) - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        double wave = sin(PI * (at[0] + 0.5) * h) * sin(PI * (at[1] + 0.5) * h);
        s->energy[i] = s->params.capacity[i] > 0.0f ? (double)s->params.capacity[i] * wave : 0.0;
    }
}

// What is left of the wave, measured by its projection.
static double wave_left(const slab* s) {
    double sum = 0.0, squares = 0.0, h = s->domain.h;
    for (size_t i = 0; i < slab_values(s) - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        double wave = sin(PI * (at[0] + 0.5) * h) * sin(PI * (at[1] + 0.5) * h);
        bool is_there = s->params.capacity[i] > 0.0f;
        sum += is_there ? s->energy[i] / (double)s->params.capacity[i] * wave : 0.0;
        squares += is_there ? wave * wave : 0.0;
    }
    return sum / squares;
}

static double run_wave(treacle_context* ctx, treacle_conduction method, int steps) {
    slab s;
    assert_int_equal(slab_make(ctx, 32, false, true, &s), TREACLE_OK);
    fill_wave(&s);
    s.params.method = method;
    s.params.dt = 0.05 / steps;
    solve_stats stats;
    for (int i = 0; i < steps; ++i) {
        assert_int_equal(conduction_step(&s.params, s.energy, s.exchanged, &stats), TREACLE_OK);
    }
    double left = wave_left(&s);
    slab_free(ctx, &s);
    return left;
}

// SUITE 8a: cell-centred walls half a cell away make the same discrete eigenvalue as nodes on them.
static void test_a_wave_decays_as_the_scheme_says(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const int steps[3] = {5, 20, 80};
    const double lod[3] = {0.390425, 0.377491, 0.374134};
    const double whole[3] = {0.406542, 0.381889, 0.375259};
    for (int k = 0; k < 3; ++k) {
        double l = run_wave(ctx, TREACLE_CONDUCTION_LOD, steps[k]);
        double w = run_wave(ctx, TREACLE_CONDUCTION_IMPLICIT, steps[k]);
        assert_close(l, lod[k], 1e-6);
        assert_close(w, whole[k], 1e-6);
    }
    unit_context_end(ctx);
}

// Douglas and Rachford: the splitting has an error of its own, of second order in dt.
static void test_adi_agrees_where_steps_are_short(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    double coarse = run_wave(ctx, TREACLE_CONDUCTION_ADI, 20) - 0.381889;
    double fine = run_wave(ctx, TREACLE_CONDUCTION_ADI, 80) - 0.375259;
    assert_true(fabs(coarse) < 0.01 && fabs(fine) < 0.3 * fabs(coarse));
    unit_context_end(ctx);
}

static double sum_of(const slab* s, const double* x) {
    double sum = 0.0;
    for (size_t i = 0; i < slab_values(s) - TILE_CELLS; ++i) {
        sum += x[i];
    }
    return sum;
}

// A box with a hot and a cold half, which melts at the warm end of between.
static treacle_status slab_halves(treacle_context* ctx, double width, slab* s) {
    TREACLE_TRY(slab_make(ctx, 16, true, false, s));
    size_t values = slab_values(s);
    float *latent = s->block + 10 * values, *melted = s->block + 11 * values;
    double fraction = s->domain.h * s->domain.h * s->domain.h;
    s->params.melt = (conduction_melt){.latent = latent, .melted = melted};
    s->params.melt.same = (heat_curve){.reference = HEAT_REFERENCE,
                                       .melt = {HEAT_REFERENCE, HEAT_REFERENCE + width},
                                       .freeze = {HEAT_REFERENCE, HEAT_REFERENCE + width}};
    for (size_t i = 0; i < values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        bool is_hot = at[0] < 8;
        latent[i] = (float)(2.0 * fraction);
        melted[i] = is_hot ? 1.0f : 0.0f;
        s->energy[i] = is_hot ? (5.0 + 2.0) * fraction : -1.0 * fraction;
    }
    return TREACLE_OK;
}

static const treacle_conduction methods[] = {TREACLE_CONDUCTION_LOD, TREACLE_CONDUCTION_ADI,
                                             TREACLE_CONDUCTION_IMPLICIT};

static void test_heat_is_neither_made_nor_lost(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    for (int m = 0; m < 3; ++m) {
        for (int k = 0; k < 2; ++k) {
            slab s;
            solve_stats stats;
            assert_int_equal(slab_halves(ctx, k == 0 ? 0.0 : 0.5, &s), TREACLE_OK);
            s.params.method = methods[m];
            s.params.dt = 0.01;
            double before = sum_of(&s, s.energy);
            for (int i = 0; i < 5; ++i) {
                assert_int_equal(conduction_step(&s.params, s.energy, s.exchanged, &stats),
                                 TREACLE_OK);
            }
            assert_close(sum_of(&s, s.energy), before, 1e-12 * fabs(before));
            assert_close(sum_of(&s, s.exchanged), 0.0, 0.0);
            slab_free(ctx, &s);
        }
    }
    unit_context_end(ctx);
}

// Between a hot and a cold end nothing gets hotter or colder than they are, however long the step.
static void test_no_step_is_too_long(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const treacle_conduction both[2] = {TREACLE_CONDUCTION_LOD, TREACLE_CONDUCTION_IMPLICIT};
    for (int m = 0; m < 2; ++m) {
        slab s;
        solve_stats stats;
        assert_int_equal(slab_halves(ctx, 0.5, &s), TREACLE_OK);
        s.params.method = both[m];
        s.params.dt = 100.0;
        assert_int_equal(conduction_step(&s.params, s.energy, s.exchanged, &stats), TREACLE_OK);
        for (size_t i = 0; i < slab_values(&s) - TILE_CELLS; ++i) {
            double t = conduction_temperature(&s.params, i, s.energy[i]) - HEAT_REFERENCE;
            assert_true(t >= -1.0 - 1e-6 && t <= 5.0 + 1e-6);
        }
        slab_free(ctx, &s);
    }
    unit_context_end(ctx);
}

static uint64_t hash_with(int threads, treacle_conduction method) {
    treacle_context* ctx = unit_context(threads);
    slab s;
    solve_stats stats;
    assert_int_equal(slab_halves(ctx, 0.5, &s), TREACLE_OK);
    s.params.method = method;
    s.params.dt = 0.02;
    assert_int_equal(conduction_step(&s.params, s.energy, s.exchanged, &stats), TREACLE_OK);
    uint64_t hash = hash_bytes(s.energy, slab_values(&s) * sizeof(double), 0);
    slab_free(ctx, &s);
    treacle_context_destroy(ctx);
    return hash;
}

static void test_bits_do_not_depend_on_threads(void** state) {
    (void)state;
    for (int m = 0; m < 3; ++m) {
        uint64_t one = hash_with(1, methods[m]);
        assert_true(hash_with(2, methods[m]) == one);
        assert_true(hash_with(5, methods[m]) == one);
    }
}

// A wave round a ring keeps its shape and its mean.
static void test_rings_have_no_seam(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_domain_def def = {.size = {1.0, 0.5, 0.0}, .cell = 1.0 / 32};
    def.sides[0][0] = def.sides[0][1] = TREACLE_SIDE_PERIODIC;
    slab s = {0};
    assert_int_equal(grid_domain_init(ctx, &def, &s.domain), TREACLE_OK);
    tile_coord tiles[8];
    for (int i = 0; i < 8; ++i) {
        tiles[i] = (tile_coord){{i % 4, i / 4, 0}};
    }
    assert_int_equal(tile_map_create(ctx, &s.domain, 8, tiles, &s.map), TREACLE_OK);
    assert_int_equal(slab_take(ctx, &s), TREACLE_OK);
    size_t values = slab_values(&s);
    s.exchanged = s.energy + values;
    s.params = (conduction_params){.domain = &s.domain, .map = &s.map, .capacity = s.block};
    s.params.method = TREACLE_CONDUCTION_LOD;
    s.params.dt = 0.01;
    for (int a = 0; a < AXES; ++a) {
        s.params.conductance[a] = s.block + (size_t)(1 + a) * values;
    }
    double shrink = 1.0 + 0.01 * 4.0 * 1024.0 * sin(PI / 32) * sin(PI / 32);
    for (size_t i = 0; i < values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (at[2] == 0) {
            s.block[i] = 1.0f;
            s.block[values + i] = 1024.0f;
            s.energy[i] = 3.0 + cos(2.0 * PI * (at[0] + 0.5) / 32);
        }
    }
    solve_stats stats;
    assert_int_equal(conduction_step(&s.params, s.energy, s.exchanged, &stats), TREACLE_OK);
    for (size_t i = 0; i < values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        double left = 3.0 + cos(2.0 * PI * (at[0] + 0.5) / 32) / shrink;
        assert_close(s.energy[i], at[2] == 0 ? left : 0.0, 1e-10);
    }
    slab_free(ctx, &s);
    unit_context_end(ctx);
}

static treacle_status step_once(treacle_context* ctx, void* data) {
    slab s;
    solve_stats stats;
    TREACLE_TRY(slab_halves(ctx, 0.5, &s));
    s.params.method = *(treacle_conduction*)data;
    s.params.dt = 0.02;
    treacle_status status = conduction_step(&s.params, s.energy, s.exchanged, &stats);
    slab_free(ctx, &s);
    return status;
}

static void test_lack_of_memory_is_reported(void** state) {
    (void)state;
    for (int m = 0; m < 3; ++m) {
        treacle_conduction method = methods[m];
        ALLOC_FAILURE_CHECK(step_once, &method);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wave_decays_as_the_scheme_says),
        cmocka_unit_test(test_adi_agrees_where_steps_are_short),
        cmocka_unit_test(test_heat_is_neither_made_nor_lost),
        cmocka_unit_test(test_no_step_is_too_long),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_rings_have_no_seam),
        cmocka_unit_test(test_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
