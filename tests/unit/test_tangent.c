// The tangent of a flow whose viscosity depends on shear is the derivative of its forces [rheo.7].
#include "grid_fixture.h"

#include <math.h>

#include "base/alloc.h"
#include "math/elementary.h"
#include "phys/tangent.h"
#include "unit.h"

enum { CELLS = 16, FIELDS = 24 };

typedef struct lab {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    treacle_material_def material;
    float *full, *log_mu, *rate, *slope;
    float *u[AXES], *v[AXES];
    float* fields[FIELDS];
    int field_count;
} lab;

static float* take(lab* l, float value) {
    void* block = NULL;
    assert_true(l->field_count < FIELDS);
    assert_int_equal(alloc_zero(l->ctx, l->values, sizeof(float), "test", &block), TREACLE_OK);
    l->fields[l->field_count++] = block;
    for (size_t i = 0; i < l->values - TILE_CELLS; ++i) {
        l->fields[l->field_count - 1][i] = value;
    }
    return block;
}

// Waves that fit the periodic box, so that no side has a say.
static double wave(const int at[AXES], int a, int kind) {
    double x = 2.0 * M_PI * at[0] / CELLS, y = 2.0 * M_PI * at[1] / CELLS;
    double z = 2.0 * M_PI * at[2] / CELLS;
    return kind == 0 ? sin(x + 0.7 * a) + 0.5 * cos(2.0 * y - a) + 0.3 * sin(z + y)
                     : cos(x - y + a) - 0.8 * sin(z + 2.0 * x + 0.3 * a);
}

static void begin(lab* l, int depth, treacle_rheology law) {
    *l = (lab){.ctx = context_with(2), .material = treacle_material_def_default()};
    l->domain = domain_with(l->ctx, CELLS, CELLS, depth, TREACLE_SIDE_PERIODIC);
    l->map = whole_map(l->ctx, &l->domain);
    l->values = ((size_t)l->map.count + 1) * TILE_CELLS;
    l->material.viscosity = 0.3;
    l->material.rheology = (treacle_rheology_def){.law = law,
                                                  .consistency = 2.0,
                                                  .exponent = 1.7,
                                                  .yield_stress = 4.0,
                                                  .critical_rate = 0.5 / l->domain.h};
    l->full = take(l, 1.0f);
    l->log_mu = take(l, 0.0f);
    l->rate = take(l, 0.0f);
    l->slope = take(l, 0.0f);
    for (int a = 0; a < AXES; ++a) {
        l->u[a] = take(l, 0.0f);
        l->v[a] = take(l, 0.0f);
        for (size_t i = 0; i < l->values - TILE_CELLS && l->domain.is_active[a]; ++i) {
            int at[AXES];
            tile_cell_at(&l->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
            l->u[a][i] = (float)wave(at, a, 0);
            l->v[a][i] = (float)wave(at, a, 1);
        }
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        l->log_mu[l->values - TILE_CELLS + (size_t)q] = VISCOSITY_NONE;
    }
}

static void end(lab* l) {
    for (int k = 0; k < l->field_count; ++k) {
        alloc_free(l->ctx, l->fields[k], l->values * sizeof(float));
    }
    tile_map_destroy(&l->map);
    treacle_context_destroy(l->ctx);
}

static rheology_params rate_params(const lab* l, float* const u[AXES]) {
    return (rheology_params){.domain = &l->domain,
                             .map = &l->map,
                             .cell_fraction = l->full,
                             .edge_fraction = {{l->full, l->full, l->full}},
                             .face_u = {{u[0], u[1], u[2]}}};
}

// The weights of the viscosity at u.
static stress_weights weigh(lab* l, float* const u[AXES]) {
    stress_weights out;
    rheology_params params = rate_params(l, u);
    rheology_rate(&params, l->rate);
    for (size_t i = 0; i < l->values - TILE_CELLS; ++i) {
        double rate = (double)l->rate[i];
        l->log_mu[i] = (float)elementary_log(rheology_viscosity(&l->material, rate));
        l->slope[i] = (float)rheology_slope(&l->material, rate);
    }
    stress_params stress = {.domain = &l->domain,
                            .map = &l->map,
                            .cell_fraction = l->full,
                            .edge_fraction = {{l->full, l->full, l->full}},
                            .face_fraction = {{l->full, l->full, l->full}},
                            .cell_log_mu = l->log_mu,
                            .face_open = {{l->full, l->full, l->full}},
                            .dt = l->domain.h * l->domain.h,
                            .reference_density = 1.0};
    assert_int_equal(stress_weights_create(&stress, &out), TREACLE_OK);
    return out;
}

static void drop_weights(lab* l, stress_weights* weights) {
    stress_params stress = {.map = &l->map};
    stress_weights_destroy(&stress, weights);
}

static size_t length(const lab* l) {
    return AXES * l->values;
}

static void* vector(const lab* l, size_t size) {
    void* block = NULL;
    assert_int_equal(alloc_zero(l->ctx, length(l), size, "test", &block), TREACLE_OK);
    return block;
}

// y = A(weights) x.
static void apply(lab* l, const stress_weights* weights, float* const x[AXES], double* y) {
    viscosity_level level;
    viscosity_weights view = stress_weights_view(weights);
    double* from = vector(l, sizeof(double));
    assert_int_equal(viscosity_level_create(l->ctx, &l->domain, &l->map, &view, &level),
                     TREACLE_OK);
    for (size_t n = 0; n < length(l) - VISCOSITY_BLOCK; ++n) {
        size_t a = n / TILE_CELLS % AXES;
        from[n] = (double)x[a][n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS];
    }
    viscosity_level_apply(&level, from, y);
    viscosity_level_destroy(&level);
    alloc_free(l->ctx, from, length(l) * sizeof(double));
}

// The forces at u + step v.
static void forces(lab* l, double step, double* y) {
    float* moved[AXES];
    for (int a = 0; a < AXES; ++a) {
        moved[a] = take(l, 0.0f);
        for (size_t i = 0; i < l->values; ++i) {
            moved[a][i] = (float)((double)l->u[a][i] + step * (double)l->v[a][i]);
        }
    }
    stress_weights weights = weigh(l, moved);
    apply(l, &weights, moved, y);
    drop_weights(l, &weights);
}

// A(u) v and what the tangent adds.
static void tangent_along(lab* l, double* y) {
    stress_weights weights = weigh(l, l->u);
    float* change = vector(l, sizeof(float));
    tangent t;
    tangent_params params = {rate_params(l, l->u), l->rate, l->slope, &weights};
    apply(l, &weights, l->v, y);
    for (size_t n = 0; n < length(l) - VISCOSITY_BLOCK; ++n) {
        size_t a = n / TILE_CELLS % AXES;
        change[n] = l->v[a][n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS];
    }
    assert_int_equal(tangent_create(&params, &t), TREACLE_OK);
    tangent_add(&t, change, y);
    tangent_destroy(&t);
    alloc_free(l->ctx, change, length(l) * sizeof(float));
    drop_weights(l, &weights);
}

static void check_derivative(int depth, treacle_rheology law) {
    const double step = 1e-3;
    lab l;
    begin(&l, depth, law);
    double *high = vector(&l, sizeof(double)), *low = vector(&l, sizeof(double));
    double *found = vector(&l, sizeof(double)), most = 0.0, worst = 0.0;
    forces(&l, step, high);
    forces(&l, -step, low);
    tangent_along(&l, found);
    for (size_t n = 0; n < length(&l) - VISCOSITY_BLOCK; ++n) {
        double expected = (high[n] - low[n]) / (2.0 * step);
        most = fmax(most, fabs(expected));
        worst = fmax(worst, fabs(found[n] - expected));
    }
    assert_true(most > 0.1);
    assert_true(worst < 2e-3 * most);
    alloc_free(l.ctx, high, length(&l) * sizeof(double));
    alloc_free(l.ctx, low, length(&l) * sizeof(double));
    alloc_free(l.ctx, found, length(&l) * sizeof(double));
    end(&l);
}

static void test_it_is_the_derivative_of_the_forces(void** state) {
    (void)state;
    for (int depth = 1; depth <= CELLS; depth += CELLS - 1) {
        check_derivative(depth, TREACLE_RHEOLOGY_BINGHAM);
        check_derivative(depth, TREACLE_RHEOLOGY_HERSCHEL_BULKLEY);
        check_derivative(depth, TREACLE_RHEOLOGY_POWER_LAW);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_derivative_of_the_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
