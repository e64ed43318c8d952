// A step that fails leaves no trace: the state is the same bit for bit, and so is what comes of it.
//
// Two simulations of a scene go side by side. One of them fails before each step, each time in
// another way.
#include "alloc_failure.h"

#include <dlfcn.h>
#include <ode/ode.h>

#include "sim/sim_internal.h"
#include "treacle/scene.h"

static const char head[] = "domain: {size: [0.24, 0.24, 0.24], cell: 0.02}\n"
                           "step: {max_dt: 4 ms, min_dt: 1 ms}\n"
                           "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.16, 0.1, 0.24]}}, "
                           "velocity: [0.3, 0, 0]}]\n"
                           "forces: [{acceleration: [1, 0, 0], start: 100 s}]\n";

static const char* const scenes[] = {
    "materials: {water: {viscosity: 0}}\n",
    "materials: {honey: {viscosity: 10}}\n"
    "solids: {lid: {shape: {box: {min: [0, 0.08, 0], max: [0.1, 0.14, 0.24]}}, separation: on, "
    "position: [[0 s, [0, 0, 0]], [1 s, [0, 0.3, 0]]]}}\n",
    "flow: unified\n"
    "materials: {paste: {rheology: {yield_stress: 50, consistency: 5}}}\n",
    "materials: {gel: {viscosity: 2, elastic: {shear_modulus: 100}, conductivity: 1}}\n"
    "heat: {loss: 5}\n"
    "bodies: {box: {shape: {box: {size: [0.06, 0.06, 0.06], centre: [0.1, 0.031, 0.12]}}, "
    "density: 3000}}\n",
    "motion: eulerian\n"
    "materials: {honey: {viscosity: 10}}\n",
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

static treacle_sim* open_sim(treacle_context* ctx, const char* tail) {
    char text[2048];
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    int length = snprintf(text, sizeof(text), "%s%s", head, tail);
    treacle_status status =
        treacle_scene_parse(ctx, "failed", text, (size_t)length, 0, NULL, &scene);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_scene_report(scene));
    }
    assert_int_equal(status, TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    treacle_scene_destroy(scene);
    return sim;
}

static void assert_same(treacle_sim* a, treacle_sim* b) {
    treacle_frame of_a, of_b;
    assert_int_equal(treacle_sim_view(a, TREACLE_FRAME_STATE, 1, &of_a), TREACLE_OK);
    assert_int_equal(treacle_sim_view(b, TREACLE_FRAME_STATE, 1, &of_b), TREACLE_OK);
    assert_true(of_a.step == of_b.step && of_a.time == of_b.time);
    assert_int_equal(of_a.array_count, of_b.array_count);
    for (int i = 0; i < of_a.array_count; ++i) {
        const treacle_array *x = &of_a.arrays[i], *y = &of_b.arrays[i];
        size_t bytes = (size_t)x->count * (size_t)x->components * treacle_type_size(x->type);
        assert_true(x->count == y->count);
        assert_true(bytes == 0 || memcmp(x->data, y->data, bytes) == 0);
    }
    assert_true(treacle_sim_hash(a) == treacle_sim_hash(b));
}

static void go_on(treacle_sim* straight, treacle_sim* tried) {
    treacle_step_stats stats;
    assert_int_equal(treacle_sim_step(straight, 0.004, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_step(tried, 0.004, &stats), TREACLE_OK);
    assert_same(straight, tried);
}

// --- what a step refuses -------------------------------------------------------------------------

typedef enum fault {
    FAULT_SOLVE,   // does not converge
    FAULT_MIN_DT,  // what there is asks for shorter steps
    FAULT_REACH,   // liquid crosses too many cells
    FAULT_PUSH,    // asks for steps that are too short
    FAULT_FORCE,   // what comes of the step does
    FAULT_FINITE,  // a force is not a number
    FAULT_SPAN,    // the length of the step is not a number
    FAULT_ODE,     // contacts have no solution
    FAULT_CONTACT, // there is no memory for contacts
    FAULTS
} fault;

// ODE's own, but where it is to fail.
static fault ode_fault = FAULTS;
int dWorldStep(dWorldID world, dReal dt) {
    int (*step)(dWorldID, dReal) = NULL;
    void* found = dlsym(RTLD_NEXT, "dWorldStep");
    assert_non_null(found);
    memcpy(&step, &found, sizeof(step));
    if (ode_fault == FAULT_ODE) {
        dMessage(1, "it is meant to fail");
    }
    return ode_fault == FAULT_CONTACT ? 0 : step(world, dt);
}

static treacle_status status_of(fault kind) {
    return kind == FAULT_SPAN      ? TREACLE_ERR_USAGE
           : kind == FAULT_CONTACT ? TREACLE_ERR_MEMORY
                                   : TREACLE_ERR_DIVERGED;
}

// The step with the fault; what was changed for it is as before at its end.
static treacle_status step_with(treacle_sim* sim, fault kind) {
    treacle_step_stats stats;
    treacle_sim_def def = sim->def;
    size_t values = AXES * (size_t)sim->now.particles.count;
    liquid_force* force = &sim->setup.forces[0];
    liquid_force kept = *force;
    treacle_key strength = {.value = {kind == FAULT_FORCE ? 1e5 : NAN}};
    float* push = calloc(values, sizeof(float));
    assert_non_null(push);
    double dt = 0.004;
    if (kind == FAULT_SOLVE) {
        sim->def.pressure.max_iterations = 1;
        sim->def.pressure.tolerance = 1e-30;
    } else if (kind == FAULT_MIN_DT) {
        sim->def.step.min_dt = 10.0;
    } else if (kind == FAULT_REACH) {
        sim->def.step.max_dt = dt = 100.0;
        sim->def.step.cfl = 1e9;
        sim->def.step.min_dt = 60.0;
    } else if (kind == FAULT_PUSH) {
        push[values / 2] = 1e30f;
    } else if (kind == FAULT_FORCE || kind == FAULT_FINITE) {
        force->strength = (treacle_curve){1, &strength};
        force->start = 0.0;
    } else if (kind == FAULT_SPAN) {
        dt = NAN;
    } else {
        ode_fault = kind;
    }
    treacle_status status =
        treacle_sim_step_pushed(sim, dt, kind == FAULT_PUSH ? push : NULL, &stats);
    sim->def = def;
    *force = kept;
    ode_fault = FAULTS;
    free(push);
    return status;
}

static void test_what_a_step_refuses_leaves_no_trace(void** state) {
    (void)state;
    for (int s = 0; s < SCENES; ++s) {
        treacle_context* ctx = unit_context(1);
        treacle_sim *straight = open_sim(ctx, scenes[s]), *tried = open_sim(ctx, scenes[s]);
        go_on(straight, tried);
        for (int kind = 0; kind < FAULTS; ++kind) {
            bool is_carried =
                tried->def.motion == TREACLE_MOTION_EULERIAN; // by the grid: nobody pushes it
            if ((kind >= FAULT_ODE && tried->setup.bodies.count == 0) ||
                (kind == FAULT_PUSH && is_carried)) {
                continue;
            }
            treacle_status status = step_with(tried, (fault)kind);
            assert_int_equal(status, status_of((fault)kind));
            assert_same(straight, tried);
            go_on(straight, tried);
        }
        treacle_sim_destroy(straight);
        treacle_sim_destroy(tried);
        unit_context_end(ctx);
    }
}

// --- memory --------------------------------------------------------------------------------------

static void test_a_step_without_memory_leaves_no_trace(void** state) {
    (void)state;
    for (int s = 0; s < SCENES; ++s) {
        alloc_failure failure = {0};
        treacle_context *ctx = unit_context(1), *poor = alloc_failure_context(&failure);
        assert_non_null(poor);
        treacle_sim *straight = open_sim(ctx, scenes[s]), *tried = open_sim(poor, scenes[s]);
        treacle_step_stats stats;
        treacle_status status = TREACLE_ERR_MEMORY;
        int failed = 0;
        for (int64_t k = 1; status != TREACLE_OK; k += 1 + k / 6) {
            failure.fail_at = failure.calls + k;
            status = treacle_sim_step(tried, 0.004, &stats);
            failure.fail_at = 0;
            if (status == TREACLE_OK) { // it needs fewer
                assert_int_equal(treacle_sim_step(straight, 0.004, &stats), TREACLE_OK);
            } else {
                assert_int_equal(status, TREACLE_ERR_MEMORY);
                failed += 1;
            }
            assert_same(straight, tried);
        }
        assert_true(failed > 5);
        go_on(straight, tried);
        treacle_sim_destroy(straight);
        treacle_sim_destroy(tried);
        unit_context_end(ctx);
        unit_context_end(poor);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_step_refuses_leaves_no_trace),
        cmocka_unit_test(test_a_step_without_memory_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
