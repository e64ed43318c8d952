// Facts about surface tension in the unified flow.
#include "unit.h"

#include "grid/fraction.h"
#include "level_fixture.h"
#include "math/elementary.h"
#include "phys/unified.h"
#include "treacle/sim.h"
#include "treacle/unstable/stages.h"

// --- the force, on a liquid of any shape --------------------------------------------------------

enum { FIELDS = 24 };
static const double cell = 2.5e-4, dt = 5e-3, sigma = 0.06, rho = 1000.0;

typedef struct surface_world {
    level_world level;
    int count;
    grid_field field[FIELDS];
    fraction_fields fraction;
    stress_params liquid;
    tension_params surface;
    face_field u;
    double* x;
    energy_part energy;
} surface_world;

static float* take(surface_world* w, float value) {
    assert_true(w->count < FIELDS);
    grid_field* field = &w->field[w->count++];
    assert_int_equal(grid_field_create(&w->level.map, PLACE_CELL, value, field), TREACLE_OK);
    return field->values;
}

static bool is_plane; // the domain of the shapes is flat

static double dented(const double x[AXES]) {
    double p = x[0] - 16.2, q = x[1] - 15.6, r = is_plane ? 0.0 : x[2] - 16.3;
    double angle = atan2(q, p), away = p * p + q * q, whole = away + r * r;
    double dent = 2.0 * cos(3.0 * angle) + 0.3 * sin(17.0 * angle);
    return sqrt(whole) - 8.0 - dent * pow(away / whole, 2.0);
}

// A puddle on the floor.
static double lying(const double x[AXES]) {
    double p = x[0] - 16.2, q = x[1] + 1.0, r = is_plane ? 0.0 : x[2] - 16.3;
    return sqrt(p * p + q * q + r * r) - 9.0;
}

static void open_faces(surface_world* w) {
    const grid_domain* domain = &w->level.domain;
    for (int a = 0; a < AXES; ++a) {
        float* open = take(w, 0.0f);
        for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(&w->level.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
            open[i] = at[a] > 0 && at[a] < domain->cells[a] ? 1.0f : 0.0f;
        }
        w->liquid.face_open.at[a] = open;
    }
}

static void surface_open(surface_world* w, shape_fcn* form, bool is_flat, double viscosity) {
    *w = (surface_world){.level = level_world_with(1, (const int[AXES]){32, 32, is_flat ? 1 : 32},
                                                   TREACLE_SIDE_NO_SLIP)};
    w->level.domain.h = cell;
    is_plane = is_flat;
    level_sample(&w->level, form);
    w->fraction.cell = take(w, 0.0f);
    w->liquid = (stress_params){.domain = &w->level.domain,
                                .map = &w->level.map,
                                .cell_fraction = w->fraction.cell,
                                .cell_log_mu = take(w, (float)elementary_log(viscosity)),
                                .dt = dt,
                                .reference_density = rho};
    for (int a = 0; a < AXES; ++a) {
        w->fraction.edge.at[a] = take(w, 0.0f);
        w->fraction.face.at[a] = take(w, 0.0f);
        w->fraction.tent.at[a] = take(w, 0.0f);
        w->u.at[a] = take(w, 0.0f);
        w->liquid.edge_fraction.at[a] = w->fraction.edge.at[a];
        w->liquid.face_fraction.at[a] = w->fraction.tent.at[a];
    }
    open_faces(w);
    fraction_compute(&(fraction_params){&w->level.domain, &w->level.map, w->level.phi.values},
                     &w->fraction);
    w->surface = (tension_params){.cell_weight = take(w, 1.0f), .sigma = sigma};
    w->x = calloc(tile_map_values(&w->level.map), sizeof(double));
    assert_non_null(w->x);
}

static void surface_close(surface_world* w) {
    for (int i = 0; i < w->count; ++i) {
        grid_field_destroy(&w->field[i]);
    }
    free(w->x);
    level_world_end(&w->level);
}

static void flow(surface_world* w, double tolerance) {
    unified_params params = {.liquid = w->liquid,
                             .face_box = face_view_of(w->fraction.face),
                             .tolerance = tolerance,
                             .max_iterations = 200,
                             .tension = &w->surface};
    stokes_stats stats;
    assert_int_equal(unified_apply(&params, w->u.at, w->x, &stats, &w->energy), TREACLE_OK);
    assert_true(stats.is_converged);
}

// Cells a step, on faces that have liquid to speak of.
static double fastest(const surface_world* w) {
    double most = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
            bool is_wet = w->fraction.tent.at[a][i] > 0.01f;
            most = is_wet ? fmax(most, fabs((double)w->u.at[a][i])) : most;
        }
    }
    return most * dt / cell;
}

static void test_one_curvature_is_in_balance_whatever_the_shape(void** state) {
    (void)state;
    const double viscosities[] = {1e-3, 0.1, 10.0, 1000.0};
    for (int i = 0; i < 16; ++i) {
        surface_world w;
        bool is_flat = i % 2 == 0;
        surface_open(&w, i / 2 % 2 == 0 ? dented : lying, is_flat, viscosities[i / 4]);
        w.surface.cell_kappa = take(&w, 0.25f);
        flow(&w, 1e-9);
        double pressure = w.x[0], most = 0.0; // of cells full of liquid
        for (int64_t n = 0; n < (int64_t)w.level.map.count * TILE_CELLS; ++n) {
            bool is_full = w.fraction.cell[n] > 0.99f;
            pressure = is_full ? w.x[n] * rho * cell / dt : pressure;
            most = is_full ? fmax(most, fabs(pressure - sigma * 0.25 / cell)) : most;
        }
        assert_true(fastest(&w) < 1e-6);
        assert_true(most < 1e-5 * sigma * 0.25 / cell);
        surface_close(&w);
    }
}

// Momentum and spin about the middle of a free piece over those of all of its parts.
static double net_motion(const surface_world* w) {
    double sum[2 * AXES] = {0}, size = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
            double momentum = (double)w->fraction.tent.at[a][i] * (double)w->u.at[a][i];
            int at[AXES], b = (a + 1) % AXES, c = (a + 2) % AXES;
            tile_cell_at(&w->level.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
            sum[a] += momentum;
            sum[AXES + b] += (at[c] + 0.5 - 16.0) * momentum / 8.0;
            sum[AXES + c] -= (at[b] + 0.5 - 16.0) * momentum / 8.0;
            size += fabs(momentum);
        }
    }
    double most = 0.0;
    for (int k = 0; k < 2 * AXES; ++k) {
        most = fmax(most, fabs(sum[k]));
    }
    return most / size;
}

static void test_a_free_piece_neither_moves_nor_turns_itself(void** state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        surface_world w;
        uint64_t seed = 11;
        surface_open(&w, dented, i % 2 == 0, i / 2 == 0 ? 0.01 : 10.0);
        float* kappa = take(&w, 0.0f);
        for (int64_t n = 0; n < (int64_t)w.level.map.count * TILE_CELLS; ++n) {
            kappa[n] = (float)random_unit(&seed);
        }
        w.surface.cell_kappa = kappa;
        flow(&w, 1e-6);
        assert_true(fastest(&w) > 1e-3);
        assert_true(net_motion(&w) < 1e-6);
        surface_close(&w);
    }
}

static void test_work_of_the_surface_closes_the_account(void** state) {
    (void)state;
    surface_world w;
    surface_open(&w, lying, false, 1.0);
    float* kappa = take(&w, 0.1f);
    for (int64_t n = 0; n < (int64_t)w.level.map.count * TILE_CELLS; ++n) {
        kappa[n] += (float)(0.1 * sin(0.8 * (double)(n % 8)));
    }
    w.surface.cell_kappa = kappa;
    flow(&w, 1e-9);
    const energy_part* e = &w.energy;
    assert_true(e->tension > 0.0 && e->dissipation > 0.0);
    assert_close(e->after - e->before + e->lost + e->dissipation, e->tension, 1e-5 * e->tension);
    surface_close(&w);
}

static void test_tension_of_materials_is_known_where_they_are(void** state) {
    (void)state;
    surface_world w;
    surface_open(&w, dented, true, 1.0);
    double work[2];
    for (int is_field = 0; is_field < 2; ++is_field) {
        float* kappa = take(&w, 0.1f);
        kappa[0] = 0.0f;
        w.surface.cell_kappa = kappa;
        w.surface.sigma = is_field == 1 ? 1e3 : sigma; // where nothing is known
        w.surface.cell_sigma = is_field == 1 ? take(&w, (float)sigma) : NULL;
        for (int a = 0; a < AXES; ++a) {
            memset(w.u.at[a], 0, tile_map_values(&w.level.map) * sizeof(float));
        }
        memset(w.x, 0, tile_map_values(&w.level.map) * sizeof(double));
        flow(&w, 1e-9);
        work[is_field] = fastest(&w);
    }
    assert_close(work[0], work[1], 1e-6);
    surface_close(&w);
}

// --- the step ------------------------------------------------------------------------------------

static void test_steps_are_limited_as_waves_and_viscosity_ask(void** state) {
    (void)state;
    tension_liquid liquid = {.h = cell, .rho = rho, .sigma = sigma};
    double unit = rho * cell * cell * cell / sigma, thin = tension_step_limit(&liquid, false);
    assert_close(thin * thin / unit, 0.08, 1e-9);
    liquid.mu = 100.0;
    double thick = tension_step_limit(&liquid, false), s = thick * thick / unit;
    assert_close(s, 0.08 + 100.0 * thick / (rho * cell * cell), 1e-6 * s);
    assert_true(tension_step_limit(&liquid, true) > 50.0 * thick);
    liquid.sigma = 0.0;
    assert_true(isinf(tension_step_limit(&liquid, true)));
}

static treacle_sim_def drop_def(treacle_material_def* material, treacle_liquid_def* liquid,
                                treacle_shape* ball) {
    *material = treacle_material_def_default();
    material->viscosity = 1.0;
    material->surface_tension = sigma;
    *ball = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    ball->radius = 8.0 * cell;
    ball->move[0] = ball->move[1] = 16.0 * cell;
    *liquid = treacle_liquid_def_default();
    liquid->shape = ball;
    treacle_sim_def def = treacle_sim_def_default();
    def.domain.size[0] = def.domain.size[1] = 32.0 * cell;
    def.domain.size[2] = 0.0;
    def.domain.cell = cell;
    static const treacle_key none = {0};
    def.gravity = (treacle_curve){.count = 1, .keys = &none};
    def.step.max_dt = dt;
    def.material_count = 1;
    def.materials = material;
    def.liquid_count = 1;
    def.liquids = liquid;
    return def;
}

static void test_a_drop_rests_with_the_pressure_of_laplace(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_material_def material;
    treacle_liquid_def liquid;
    treacle_shape ball;
    treacle_sim_def def = drop_def(&material, &liquid, &ball);
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    for (int i = 0; i < 60; ++i) {
        assert_int_equal(treacle_sim_step(sim, dt, &stats), TREACLE_OK);
        assert_true(stats.retries == 0);
        assert_close(stats.energy.error, 0.0, 1e-3 * stats.energy.surface);
    }
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    double around = 2.0 * acos(-1.0) * ball.radius * cell;
    assert_close(stats.energy.surface, sigma * around, 0.01 * sigma * around);
    assert_true(stats.max_speed * stats.dt / cell < 0.01);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_flows_without_tension_refuse_it(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_material_def material;
    treacle_liquid_def liquid;
    treacle_shape ball;
    treacle_sim_def def = drop_def(&material, &liquid, &ball);
    treacle_sim* sim = NULL;
    def.flow = TREACLE_FLOW_SPLIT;
    assert_int_not_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    assert_error_says(ctx, "surface_tension");
    def.flow = TREACLE_FLOW_AUTO;
    def.motion = TREACLE_MOTION_EULERIAN;
    assert_int_not_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    assert_error_says(ctx, "surface_tension");
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_curvature_is_in_balance_whatever_the_shape),
        cmocka_unit_test(test_a_free_piece_neither_moves_nor_turns_itself),
        cmocka_unit_test(test_work_of_the_surface_closes_the_account),
        cmocka_unit_test(test_tension_of_materials_is_known_where_they_are),
        cmocka_unit_test(test_steps_are_limited_as_waves_and_viscosity_ask),
        cmocka_unit_test(test_a_drop_rests_with_the_pressure_of_laplace),
        cmocka_unit_test(test_flows_without_tension_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
