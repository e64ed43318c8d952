// Facts about the pressure projection [press.1, press.2] on small grids.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "unit.h"

#include "base/alloc.h"
#include "compare/relax.h"
#include "phys/projection.h"

typedef struct basin {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    float *phi, *open[AXES], *u[AXES];
    double* x;
    projection_params params;
} basin;

static void* zeros(treacle_context* ctx, size_t count, size_t bytes) {
    void* block = NULL;
    assert_int_equal(alloc_zero(ctx, count, bytes, "test", &block), TREACLE_OK);
    return block;
}

// A box of cells that is one tile thick beyond its far sides; sides as given, all of one kind.
static basin make_basin(const double size[AXES], treacle_side side) {
    basin b = {0};
    treacle_context_def def = treacle_context_def_default();
    def.threads = 2;
    assert_int_equal(treacle_context_create(&def, &b.ctx), TREACLE_OK);
    treacle_domain_def domain = {.cell = 1.0};
    memcpy(domain.size, size, sizeof(domain.size));
    for (int i = 0; i < 6; ++i) {
        domain.sides[i / 2][i % 2] = side;
    }
    assert_int_equal(grid_domain_init(b.ctx, &domain, &b.domain), TREACLE_OK);
    tile_coord coords[512];
    int count = 0;
    int far[AXES];
    for (int a = 0; a < AXES; ++a) {
        bool has_far = b.domain.is_active[a] && !b.domain.is_periodic[a];
        far[a] = has_far ? b.domain.cells[a] / TILE_SIZE + 1 : b.domain.tiles[a];
    }
    for (int k = 0; k < far[2]; ++k) {
        for (int j = 0; j < far[1]; ++j) {
            for (int i = 0; i < far[0]; ++i) {
                coords[count++] = (tile_coord){{i, j, k}};
            }
        }
    }
    assert_int_equal(tile_map_create(b.ctx, &b.domain, count, coords, &b.map), TREACLE_OK);
    b.values = ((size_t)b.map.count + 1) * TILE_CELLS;
    b.phi = zeros(b.ctx, b.values, sizeof(float));
    b.x = zeros(b.ctx, b.values, sizeof(double));
    for (int a = 0; a < AXES; ++a) {
        b.open[a] = zeros(b.ctx, b.values, sizeof(float));
        b.u[a] = zeros(b.ctx, b.values, sizeof(float));
    }
    return b;
}

static void cell_of(const basin* b, size_t i, int at[AXES]) {
    const tile_coord* tile = &b->map.coord[i / TILE_CELLS];
    int cell = (int)(i % TILE_CELLS);
    at[0] = tile->at[0] * TILE_SIZE + cell % TILE_SIZE;
    at[1] = tile->at[1] * TILE_SIZE + cell / TILE_SIZE % TILE_SIZE;
    at[2] = tile->at[2] * TILE_SIZE + cell / TILE_SIZE / TILE_SIZE;
}

// Fills phi with the depth below `height` along y; faces on and beyond closed sides are shut.
static void fill_to(basin* b, double height) {
    for (size_t i = 0; i < b->values; ++i) {
        b->phi[i] = 3.0f;
        int at[AXES];
        if (i / TILE_CELLS >= (size_t)b->map.count) {
            continue;
        }
        cell_of(b, i, at);
        bool is_inside = true;
        for (int a = 0; a < AXES; ++a) {
            is_inside = is_inside && at[a] < b->domain.cells[a];
        }
        b->phi[i] = is_inside ? (float)(at[1] + 0.5 - height) : 3.0f;
        for (int a = 0; a < AXES; ++a) {
            int n = b->domain.cells[a];
            bool is_wall = (at[a] == 0 && b->domain.sides[a][0] != TREACLE_SIDE_OPEN) ||
                           (at[a] >= n && b->domain.sides[a][1] != TREACLE_SIDE_OPEN);
            is_wall = is_wall && !b->domain.is_periodic[a];
            b->open[a][i] = is_wall ? 0.0f : 1.0f;
        }
    }
    b->params = (projection_params){.domain = &b->domain,
                                    .map = &b->map,
                                    .cell_phi = b->phi,
                                    .face_open = {{b->open[0], b->open[1], b->open[2]}},
                                    .solve = {.relative = 1e-9, .max_iterations = 200}};
}

static void end_basin(basin* b) {
    alloc_free(b->ctx, b->phi, b->values * sizeof(float));
    alloc_free(b->ctx, b->x, b->values * sizeof(double));
    for (int a = 0; a < AXES; ++a) {
        alloc_free(b->ctx, b->open[a], b->values * sizeof(float));
        alloc_free(b->ctx, b->u[a], b->values * sizeof(float));
    }
    tile_map_destroy(&b->map);
    assert_int_equal(treacle_context_memory(b->ctx) > 0, treacle_context_threads(b->ctx) > 1);
    treacle_context_destroy(b->ctx);
}

static solve_stats project(basin* b) {
    projection p;
    solve_stats stats;
    assert_int_equal(projection_create(&b->params, &p), TREACLE_OK);
    assert_int_equal(projection_apply(&p, b->u, b->x, &stats), TREACLE_OK);
    projection_destroy(&p);
    return stats;
}

static void set_gravity(basin* b) {
    for (size_t i = 0; i < b->values; ++i) {
        b->u[1][i] = b->open[1][i] > 0.0f ? -1.0f : 0.0f;
    }
}

static void test_level_liquid_rests_at_any_height(void** state) {
    (void)state;
    const double sizes[][AXES] = {{16, 24, 16}, {12, 20, 0}, {0, 20, 9}};
    for (int s = 0; s < 3; ++s) {
        for (double height = 9.05; height < 10.0; height += 0.3) {
            basin b = make_basin(sizes[s], TREACLE_SIDE_SLIP);
            fill_to(&b, height);
            set_gravity(&b);
            assert_true(project(&b).is_converged);
            for (size_t i = 0; i < b.values; ++i) {
                if (b.phi[i] < 0.0f) { // liquid: at rest, and the pressure is the depth
                    assert_close(b.u[1][i], 0.0, 1e-6);
                    assert_close(b.x[i], -b.phi[i], 1e-5);
                }
            }
            end_basin(&b);
        }
    }
}

// Pseudo-random velocities on open faces.
static void set_noise(basin* b) {
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < b->values - TILE_CELLS; ++i) {
            uint64_t n = (i * 3 + (size_t)a + 1) * UINT64_C(0x9e3779b97f4a7c15);
            b->u[a][i] = b->open[a][i] * ((float)(n >> 40) * 0x1p-23f - 1.0f);
        }
    }
}

static double largest_divergence(const basin* b) {
    double largest = 0.0;
    for (size_t i = 0; i < b->values - TILE_CELLS; ++i) {
        if (!(b->phi[i] < 0.0f)) {
            continue;
        }
        double sum = 0.0;
        for (int a = 0; a < AXES; ++a) {
            if (!b->domain.is_active[a]) {
                continue;
            }
            int cell = (int)(i % TILE_CELLS), stride = a == 0 ? 1 : a == 1 ? 8 : 64;
            bool is_last = cell / stride % TILE_SIZE == TILE_SIZE - 1;
            int offset[AXES] = {a == 0, a == 1, a == 2};
            tile_ix next =
                b->map.neighbour[i / TILE_CELLS][TILE_NEIGHBOUR(offset[0], offset[1], offset[2])];
            size_t high = is_last ? (size_t)next * TILE_CELLS + (size_t)(cell - 7 * stride)
                                  : i + (size_t)stride;
            sum += (double)(b->open[a][high] * b->u[a][high] - b->open[a][i] * b->u[a][i]);
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

static void test_divergence_vanishes(void** state) {
    (void)state;
    const treacle_side sides[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_OPEN, TREACLE_SIDE_PERIODIC};
    for (int s = 0; s < 3; ++s) {
        for (int flat = 0; flat < 2; ++flat) {
            basin b = make_basin((const double[AXES]){16, 32, flat ? 0 : 16}, sides[s]);
            fill_to(&b, 13.3);
            set_noise(&b);
            assert_true(project(&b).is_converged);
            assert_true(largest_divergence(&b) < 1e-5);
            end_basin(&b);
        }
    }
}

static void test_a_full_closed_box_loses_only_its_net_inflow(void** state) {
    (void)state;
    basin b = make_basin((const double[AXES]){16, 16, 16}, TREACLE_SIDE_SLIP);
    fill_to(&b, 100.0);
    set_noise(&b);
    assert_true(project(&b).is_converged);
    assert_true(largest_divergence(&b) < 1e-5);
    end_basin(&b);
}

static void test_relaxation_agrees_with_the_solve(void** state) {
    (void)state;
    basin a = make_basin((const double[AXES]){12, 16, 0}, TREACLE_SIDE_SLIP);
    basin b = make_basin((const double[AXES]){12, 16, 0}, TREACLE_SIDE_SLIP);
    fill_to(&a, 9.3);
    fill_to(&b, 9.3);
    set_noise(&a);
    set_noise(&b);
    b.params.other = relax_pressure;
    b.params.solve.max_iterations = 5000;
    solve_stats solved = project(&a), relaxed = project(&b);
    assert_true(solved.is_converged && relaxed.is_converged);
    assert_true(relaxed.iterations > 3 * solved.iterations);
    for (size_t i = 0; i < a.values; ++i) {
        assert_close(a.u[0][i], b.u[0][i], 1e-5);
        assert_close(a.u[1][i], b.u[1][i], 1e-5);
    }
    end_basin(&a);
    end_basin(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_liquid_rests_at_any_height),
        cmocka_unit_test(test_divergence_vanishes),
        cmocka_unit_test(test_a_full_closed_box_loses_only_its_net_inflow),
        cmocka_unit_test(test_relaxation_agrees_with_the_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
