// Facts about one implicit step of viscosity on a free ball [visc.1, visc.2].
#include "grid_fixture.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/fraction.h"
#include "grid/stagger.h"
#include "phys/viscosity.h"
#include "unit.h"

enum { CELLS = 24 };

typedef struct ball {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    float *phi, *log_mu, *open[AXES], *u[AXES];
    fraction_fields volume;
} ball;

static float* zeros(treacle_context* ctx, size_t count) {
    void* block = NULL;
    assert_int_equal(alloc_zero(ctx, count, sizeof(float), "test", &block), TREACLE_OK);
    return block;
}

static void place_of(const ball* b, size_t i, grid_place place, double x[AXES]) {
    int cell = (int)(i % TILE_CELLS), at[AXES] = {cell % 8, cell / 8 % 8, cell / 64};
    for (int a = 0; a < AXES; ++a) {
        x[a] =
            b->map.coord[i / TILE_CELLS].at[a] * TILE_SIZE + at[a] + (double)place_offset(place, a);
    }
}

// Fills the ball in place: radius 7.3 cells, off the middle, viscosity from 1 to 10^4 across it if
// `varies`.
static void make_ball(ball* b, bool varies) {
    *b = (ball){.ctx = context_with(2)};
    b->domain = domain_with(b->ctx, CELLS, CELLS, CELLS, TREACLE_SIDE_OPEN);
    b->map = whole_map(b->ctx, &b->domain);
    b->values = ((size_t)b->map.count + 1) * TILE_CELLS;
    b->phi = zeros(b->ctx, b->values);
    b->log_mu = zeros(b->ctx, b->values);
    b->volume.cell = zeros(b->ctx, b->values);
    for (int a = 0; a < AXES; ++a) {
        b->open[a] = zeros(b->ctx, b->values);
        b->u[a] = zeros(b->ctx, b->values);
        b->volume.face.at[a] = zeros(b->ctx, b->values);
        b->volume.edge.at[a] = zeros(b->ctx, b->values);
    }
    for (size_t i = 0; i < b->values; ++i) {
        b->phi[i] = 9.0f;
        if (i >= b->values - TILE_CELLS) {
            continue;
        }
        double x[AXES];
        place_of(b, i, PLACE_CELL, x);
        double r = sqrt(pow(x[0] - 12.1, 2) + pow(x[1] - 11.8, 2) + pow(x[2] - 12.3, 2));
        b->phi[i] = (float)(r - 7.3);
        b->log_mu[i] = varies ? (float)(9.2 * x[0] / CELLS) : 6.0f;
        for (int a = 0; a < AXES; ++a) {
            bool is_inside = x[0] < CELLS && x[1] < CELLS && x[2] < CELLS;
            b->open[a][i] = is_inside ? 1.0f : 0.0f;
        }
    }
    fraction_compute(&(fraction_params){&b->domain, &b->map, b->phi}, &b->volume);
}

static void end_ball(ball* b) {
    float* fields[] = {b->phi, b->log_mu, b->volume.cell};
    for (int i = 0; i < 3; ++i) {
        alloc_free(b->ctx, fields[i], b->values * sizeof(float));
    }
    for (int a = 0; a < AXES; ++a) {
        alloc_free(b->ctx, b->open[a], b->values * sizeof(float));
        alloc_free(b->ctx, b->u[a], b->values * sizeof(float));
        alloc_free(b->ctx, b->volume.face.at[a], b->values * sizeof(float));
        alloc_free(b->ctx, b->volume.edge.at[a], b->values * sizeof(float));
    }
    tile_map_destroy(&b->map);
    treacle_context_destroy(b->ctx);
}

static solve_stats viscosity_step(ball* b, double tolerance) {
    const fraction_fields* v = &b->volume;
    viscosity_params params = {.liquid = {.domain = &b->domain,
                                          .map = &b->map,
                                          .cell_fraction = v->cell,
                                          .edge_fraction = face_view_of(v->edge),
                                          .face_fraction = face_view_of(v->face),
                                          .cell_log_mu = b->log_mu,
                                          .face_open = {{b->open[0], b->open[1], b->open[2]}},
                                          .dt = 0.1,
                                          .reference_density = 1.0},
                               .solve = {.relative = tolerance, .max_iterations = 200}};
    solve_stats stats;
    energy_part energy;
    assert_int_equal(viscosity_apply(&params, b->u, &stats, &energy), TREACLE_OK);
    return stats;
}

static double turning(int a, const double x[AXES]) {
    static const double w[AXES] = {0.3, -0.5, 0.8};
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    return w[b] * (x[c] - 12.0) - w[c] * (x[b] - 12.0) + 0.1 * a;
}

static void test_rigid_motion_is_free(void** state) {
    (void)state;
    for (int varies = 0; varies < 2; ++varies) {
        ball b;
        make_ball(&b, varies);
        for (int a = 0; a < AXES; ++a) {
            for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
                double x[AXES];
                place_of(&b, i, place_face(a), x);
                b.u[a][i] = (float)turning(a, x);
            }
        }
        assert_true(viscosity_step(&b, 1e-8).is_converged);
        for (int a = 0; a < AXES; ++a) {
            for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
                double x[AXES];
                place_of(&b, i, place_face(a), x);
                if (b.volume.face.at[a][i] > 0.0f) {
                    assert_close((double)b.u[a][i], turning(a, x), 2e-5);
                }
            }
        }
        end_ball(&b);
    }
}

typedef struct totals {
    double momentum[AXES], energy;
} totals;

static totals measure(const ball* b) {
    totals sum = {0};
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < b->values - TILE_CELLS; ++i) {
            double m = (double)b->volume.face.at[a][i], u = (double)b->u[a][i];
            sum.momentum[a] += m * u;
            sum.energy += 0.5 * m * u * u;
        }
    }
    return sum;
}

static void test_momentum_is_kept_and_energy_falls(void** state) {
    (void)state;
    ball b;
    make_ball(&b, true);
    uint64_t counter = 5;
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
            b.u[a][i] = (float)(random_unit(&counter) - 0.3);
        }
    }
    totals before = measure(&b);
    assert_true(viscosity_step(&b, 1e-10).is_converged);
    totals after = measure(&b);
    for (int a = 0; a < AXES; ++a) {
        assert_close(after.momentum[a], before.momentum[a], 1e-6 * fabs(before.momentum[a]));
    }
    assert_true(after.energy < 0.9 * before.energy);
    end_ball(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_motion_is_free),
        cmocka_unit_test(test_momentum_is_kept_and_energy_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
