// Each switch of the solvers' policy on both sides of its threshold: the threshold is put just
// above and just below what the system is, so that one system is solved in both ways, and both must
// find the same solution.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conform/viscosity_fixture.h"
#include "solve/pressure_solver.h"
#include "solve/stokes_solver.h"

static const double just = 1e-6; // above or below, relative

// ---- The table --------------------------------------------------------------------------------

static solve_facts thick_facts(void) {
    return (solve_facts){.has_faces = true,
                         .has_cells = true,
                         .tiles = 1000,
                         .stiffness = 100.0,
                         .contrast = 1.0,
                         .softest = 200.0,
                         .side = 64.0};
}

static void assert_named(const solve_facts* facts, const char* name) {
    solve_regime regime = regime_of(solve_policy_default(), facts);
    assert_string_equal(regime.name, name);
}

static void test_names_say_what_a_flow_is(void** state) {
    (void)state;
    solve_facts facts = thick_facts();
    assert_named(&facts, "stiff");
    facts.softest = 100.0;
    assert_named(&facts, "thick");
    facts.stiffness = 10.0;
    assert_named(&facts, "soft");
    facts.stiffness = 0.2;
    assert_named(&facts, "thin");
    facts.tiles = 256;
    assert_named(&facts, "small thin");
    facts.tiles = 257;
    facts.bodies = 1;
    facts.contrast = 2e3;
    assert_named(&facts, "thin+bodies"); // it varies smoothly
    facts.jump = 20.0;
    assert_named(&facts, "thin+specks+bodies");
    facts.stiffness = 2e4;
    facts.tiles = 17;
    assert_named(&facts, "small thick+aggregates+specks+bodies");
}

static void test_names_say_what_links_are(void** state) {
    (void)state;
    solve_facts facts = {.has_cells = true, .tiles = 10, .links = 1.0};
    assert_named(&facts, "levels");
    facts.links = 0.5;
    assert_named(&facts, "single");
    facts.bodies = 16;
    assert_named(&facts, "single+bodies");
    facts.links = 0.6;
    facts.bodies = 17;
    assert_named(&facts, "levels+crowd");
}

static void test_slow_is_noted_once_and_fits(void** state) {
    (void)state;
    solve_facts facts = {.has_faces = true,
                         .has_cells = true,
                         .tiles = 200,
                         .bodies = 3,
                         .stiffness = 1e5,
                         .contrast = 1e6,
                         .jump = 1e6,
                         .softest = 1e5,
                         .side = 64.0};
    solve_regime regime = regime_of(solve_policy_default(), &facts);
    assert_string_equal(regime.name, "small stiff+aggregates+specks+bodies");
    regime_note_slow(&regime);
    regime_note_slow(&regime);
    assert_string_equal(regime.name, "small stiff+aggregates+specks+bodies+slow");
}

static void test_small_liquid_is_single_for_longer(void** state) {
    (void)state;
    solve_facts facts = {.has_faces = true, .tiles = 17, .stiffness = 1.5};
    assert_false(regime_of(solve_policy_default(), &facts).is_single);
    facts.tiles = 16;
    assert_true(regime_of(solve_policy_default(), &facts).is_single);
}

static void test_a_crowd_sweeps_less_at_the_bottom(void** state) {
    (void)state;
    const cycle_policy* cycle = &solve_policy_default()->cycle;
    solve_facts facts = {.has_cells = true, .tiles = 10, .links = 1.0, .bodies = cycle->crowd};
    assert_int_equal(regime_of(solve_policy_default(), &facts).bottom_sweeps,
                     cycle->pressure_bottom);
    facts.bodies += 1;
    assert_int_equal(regime_of(solve_policy_default(), &facts).bottom_sweeps,
                     cycle->pressure_bottom_crowd);
}

// ---- One system in both ways ------------------------------------------------------------------

// Largest difference of two vectors over the largest value of the first.
static double difference(const double* a, const double* b, size_t count) {
    double most = 0.0, apart = 0.0;
    for (size_t i = 0; i < count; ++i) {
        most = fmax(most, fabs(a[i]));
        apart = fmax(apart, fabs(a[i] - b[i]));
    }
    assert_true(most > 0.0);
    return apart / most;
}

// Puts a threshold on either side of what the system is.
typedef void set_fcn(solve_policy* policy, const solve_facts* facts, double side);

static void set_single_weight(solve_policy* policy, const solve_facts* facts, double side) {
    policy->cycle.single_weight = policy->cycle.single_weight_small = facts->stiffness * side;
}

static void set_thick_weight(solve_policy* policy, const solve_facts* facts, double side) {
    policy->lump.thick_weight = facts->stiffness * side;
}

static void set_stacked_weight(solve_policy* policy, const solve_facts* facts, double side) {
    policy->lump.stacked_weight = facts->stiffness * side;
}

static void set_few_tiles(solve_policy* policy, const solve_facts* facts, double side) {
    policy->lump.few_tiles = (int)facts->tiles - (side > 1.0 ? 0 : 1);
    policy->lump.stacked_weight = facts->stiffness * 0.5;
}

static void set_speck_contrast(solve_policy* policy, const solve_facts* facts, double side) {
    policy->lump.speck_contrast = facts->contrast * side;
    policy->lump.speck_jump = facts->jump * 0.5;
    policy->lump.stacked_weight = facts->stiffness * 0.5;
}

static void set_speck_jump(solve_policy* policy, const solve_facts* facts, double side) {
    policy->lump.speck_contrast = facts->contrast * 0.5;
    policy->lump.speck_jump = facts->jump * side;
    policy->lump.stacked_weight = facts->stiffness * 0.5;
}

// The pace of a few iterations is never enough, or always.
static void set_patience(solve_policy* policy, const solve_facts* facts, double side) {
    (void)facts;
    policy->slow.patience = side > 1.0 ? 1e9 : 1e-9;
    policy->slow.pace_iterations = 2;
}

static void set_slow_factor(solve_policy* policy, const solve_facts* facts, double side) {
    (void)facts;
    policy->slow.factor = side > 1.0 ? 1e9 : 1e-9;
    policy->slow.iterations = policy->slow.recent = 2;
}

static double* solve_faces(const fixture* f, const solve_policy* policy, solve_regime* regime) {
    viscosity_system system = f->system;
    viscosity_solver* solver = NULL;
    solve_stats stats;
    solve_params params = solve_params_default();
    params.relative = 1e-9;
    system.policy = policy;
    assert_int_equal(viscosity_solver_create(f->ctx, &system, &solver), TREACLE_OK);
    linop op = viscosity_solver_linop(solver);
    double *r = random_momentum(f, &op, 3), *x = calloc(vec_length(op.space), sizeof(double));
    assert_int_equal(viscosity_solve(solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    *regime = *viscosity_solver_regime(solver);
    assert_string_equal(stats.regime, regime->name);
    viscosity_solver_destroy(solver);
    free(r);
    return x;
}

static void check_faces(const fixture_def* def, set_fcn* set, solve_regime regime[2]) {
    fixture f;
    fixture_open(&f, def);
    double* x[2];
    for (int n = 0; n < 2; ++n) {
        solve_policy policy = *solve_policy_default();
        set(&policy, viscosity_solver_facts(f.solver), n == 0 ? 1.0 - just : 1.0 + just);
        x[n] = solve_faces(&f, &policy, &regime[n]);
    }
    assert_true(difference(x[0], x[1], (size_t)f.map.count * VISCOSITY_BLOCK) < 1e-6);
    free(x[0]);
    free(x[1]);
    fixture_close(&f);
}

static void test_single_sweeps_and_levels_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_faces(&(fixture_def){.cells = {24, 24, 24}, .r = 0.3}, set_single_weight, regime);
    assert_false(regime[0].is_single);
    assert_true(regime[1].is_single);
}

static void test_lumps_or_none_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_faces(&(fixture_def){.cells = {24, 24, 24}, .r = 30.0}, set_thick_weight, regime);
    assert_true(regime[0].is_thick);
    assert_false(regime[1].is_thick);
}

static void test_a_slow_loop_and_a_patient_one_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_faces(&(fixture_def){.cells = {24, 24, 24}, .r = 30.0}, set_patience, regime);
    assert_string_equal(regime[0].name, "small thick+slow");
    assert_string_equal(regime[1].name, "small thick");
}

// ---- Velocity and pressure --------------------------------------------------------------------

typedef struct flow_case {
    fixture f;
    float *opening, *volume;
    size_t faces, cells;
} flow_case;

static void flow_open(flow_case* c, const fixture_def* def) {
    fixture_open(&c->f, def);
    c->cells = ((size_t)c->f.map.count + 1) * TILE_CELLS;
    c->faces = AXES * c->cells;
    c->opening = array_create(&c->f.map, sizeof(float));
    c->volume = array_create(&c->f.map, sizeof(float));
    for (size_t i = 0; i < c->cells - TILE_CELLS; ++i) {
        c->opening[i] = 1.0f;
    }
    FOR_EACH_CELL(&c->f, at) {
        size_t i = cell_at(&c->f, at);
        c->volume[i] = is_within(&c->f, at) ? (float)fraction(&c->f, at, 7) : 0.0f;
    }
}

static void flow_close(flow_case* c) {
    free(c->opening);
    free(c->volume);
    fixture_close(&c->f);
}

static double* solve_flow(const flow_case* c, const solve_policy* policy, solve_regime* regime) {
    const float* opening = c->opening;
    stokes_system system = {.domain = &c->f.domain,
                            .map = &c->f.map,
                            .weights = c->f.system.weights,
                            .opening = {opening, opening, opening},
                            .volume = c->volume,
                            .policy = policy};
    stokes_solver* solver = NULL;
    stokes_stats stats;
    stokes_params params = stokes_params_default();
    linop op = viscosity_solver_linop(c->f.solver);
    double *all = calloc(2 * c->cells + c->faces, sizeof(double)),
           *f = random_momentum(&c->f, &op, 5);
    stokes_vectors v = {f, all, all + 2 * c->cells, all + c->cells};
    params.energy = 1e-8;
    params.keeps_momentum = false;
    assert_int_equal(stokes_solver_create(c->f.ctx, &system, &solver), TREACLE_OK);
    assert_int_equal(stokes_solve(solver, &v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    *regime = *stokes_solver_regime(solver);
    assert_string_equal(stats.regime, regime->name);
    stokes_solver_destroy(solver);
    double* u = calloc(c->faces, sizeof(double));
    memcpy(u, v.u, c->faces * sizeof(double));
    free(all);
    free(f);
    return u;
}

static void check_flow(const fixture_def* def, set_fcn* set, solve_regime regime[2]) {
    flow_case c;
    flow_open(&c, def);
    double* u[2];
    for (int n = 0; n < 2; ++n) {
        solve_policy policy = *solve_policy_default();
        set(&policy, viscosity_solver_facts(c.f.solver), n == 0 ? 1.0 - just : 1.0 + just);
        u[n] = solve_flow(&c, &policy, &regime[n]);
    }
    assert_true(difference(u[0], u[1], c.faces) < 1e-4);
    free(u[0]);
    free(u[1]);
    flow_close(&c);
}

static void test_aggregates_from_the_start_or_none_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_flow(&(fixture_def){.cells = {24, 24, 24}, .r = 100.0}, set_stacked_weight, regime);
    assert_true(regime[0].is_stacked);
    assert_false(regime[1].is_stacked);
}

static void test_small_aggregates_or_none_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_flow(&(fixture_def){.cells = {24, 24, 24}, .r = 100.0}, set_few_tiles, regime);
    assert_false(regime[0].has_small_aggregates);
    assert_true(regime[1].has_small_aggregates && regime[1].is_stacked);
}

static void test_specks_or_plain_aggregates_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_flow(&(fixture_def){.cells = {24, 24, 24}, .r = 100.0}, set_speck_contrast, regime);
    assert_true(regime[0].has_specks);
    assert_false(regime[1].has_specks);
}

static void test_jumps_or_smooth_viscosity_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_flow(&(fixture_def){.cells = {24, 24, 24}, .r = 100.0}, set_speck_jump, regime);
    assert_true(regime[0].has_specks);
    assert_false(regime[1].has_specks);
}

static void test_a_flow_that_is_slow_and_one_that_is_not_agree(void** state) {
    (void)state;
    solve_regime regime[2];
    check_flow(&(fixture_def){.cells = {24, 24, 24}, .r = 100.0}, set_slow_factor, regime);
    assert_null(strstr(regime[1].name, "+slow"));
    assert_non_null(strstr(regime[0].name, "+slow"));
}

// The least weight is not among the facts of the faces: the threshold is far on either side of it.
static void test_a_cycle_for_pressure_or_none_agree(void** state) {
    (void)state;
    flow_case c;
    flow_open(&c, &(fixture_def){.cells = {24, 24, 24}, .r = 20.0});
    double low = 1e-3, high = 1e6, *u[2];
    solve_regime regime[2];
    solve_policy policy[2] = {*solve_policy_default(), *solve_policy_default()};
    for (int n = 0; n < 2; ++n) {
        policy[n].schur.waves = n == 0 ? low : high;
        u[n] = solve_flow(&c, &policy[n], &regime[n]);
    }
    assert_true(regime[0].has_pressure_cycle);
    assert_false(regime[1].has_pressure_cycle);
    assert_true(difference(u[0], u[1], c.faces) < 1e-4);
    free(u[0]);
    free(u[1]);
    flow_close(&c);
}

// ---- Links --------------------------------------------------------------------------------------

// A cube of cells with links of one and a diagonal of its own.
static double* solve_cells(const flow_case* c, const solve_policy* policy, solve_regime* regime) {
    float* link[AXES];
    float* extra = array_create(&c->f.map, sizeof(float));
    size_t count = c->cells - TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        link[a] = array_create(&c->f.map, sizeof(float));
        FOR_EACH_CELL(&c->f, at) {
            bool is_inside = is_within(&c->f, at) && at[a] > 0;
            link[a][cell_at(&c->f, at)] = is_inside ? 1.0f : 0.0f;
        }
    }
    for (size_t i = 0; i < count; ++i) {
        extra[i] = 8.0f;
    }
    pressure_system system = {.domain = &c->f.domain,
                              .map = &c->f.map,
                              .link = {link[0], link[1], link[2]},
                              .extra = extra,
                              .policy = policy};
    pressure_solver* solver = NULL;
    solve_params params = solve_params_default();
    solve_stats stats;
    double *r = calloc(c->cells, sizeof(double)), *x = calloc(c->cells, sizeof(double));
    for (size_t i = 0; i < count; ++i) {
        r[i] = conform_random(i);
    }
    params.relative = 1e-9;
    assert_int_equal(pressure_solver_create(c->f.ctx, &system, &solver), TREACLE_OK);
    assert_int_equal(pressure_solve(solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    *regime = *pressure_solver_regime(solver);
    assert_string_equal(stats.regime, regime->name);
    pressure_solver_destroy(solver);
    for (int a = 0; a < AXES; ++a) {
        free(link[a]);
    }
    free(extra);
    free(r);
    return x;
}

static void test_strong_diagonals_need_no_levels(void** state) {
    (void)state;
    flow_case c;
    flow_open(&c, &(fixture_def){.cells = {24, 24, 24}, .r = 1.0});
    double *x[2], fraction = 6.0 / 14.0; // six links of one and eight more
    solve_regime regime[2];
    for (int n = 0; n < 2; ++n) {
        solve_policy policy = *solve_policy_default();
        policy.cycle.single_links = fraction * (n == 0 ? 1.0 - just : 1.0 + just);
        x[n] = solve_cells(&c, &policy, &regime[n]);
    }
    assert_string_equal(regime[0].name, "levels");
    assert_string_equal(regime[1].name, "single");
    assert_true(difference(x[0], x[1], c.cells - TILE_CELLS) < 1e-7);
    free(x[0]);
    free(x[1]);
    flow_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_say_what_a_flow_is),
        cmocka_unit_test(test_names_say_what_links_are),
        cmocka_unit_test(test_slow_is_noted_once_and_fits),
        cmocka_unit_test(test_small_liquid_is_single_for_longer),
        cmocka_unit_test(test_a_crowd_sweeps_less_at_the_bottom),
        cmocka_unit_test(test_single_sweeps_and_levels_agree),
        cmocka_unit_test(test_lumps_or_none_agree),
        cmocka_unit_test(test_a_slow_loop_and_a_patient_one_agree),
        cmocka_unit_test(test_aggregates_from_the_start_or_none_agree),
        cmocka_unit_test(test_small_aggregates_or_none_agree),
        cmocka_unit_test(test_specks_or_plain_aggregates_agree),
        cmocka_unit_test(test_jumps_or_smooth_viscosity_agree),
        cmocka_unit_test(test_a_flow_that_is_slow_and_one_that_is_not_agree),
        cmocka_unit_test(test_a_cycle_for_pressure_or_none_agree),
        cmocka_unit_test(test_strong_diagonals_need_no_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
