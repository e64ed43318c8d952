// What is impossible ends a step, not the process: numbers that are not finite, speeds beyond the
// shortest step, bodies that ODE cannot solve. Nothing of it becomes the state.
#include "unit.h"

#include <ode/ode.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_failure.h"
#include "step/ode_guard.h"
#include "treacle/run.h"

enum { STEPS = 12, PATH_CAPACITY = 256 };

static const char pool_text[] =
    "frames: 4\n"
    "fps: 100\n"
    "%s\n"
    "domain: {size: [0.32, 0.32, 0.32], cell: 0.02}\n"
    "materials: {goo: {viscosity: 2, elastic: {shear_modulus: 100}, conductivity: 1}}\n"
    "heat: {loss: 5}\n"
    "step: {max_dt: 5 ms, min_dt: %g}\n"
    "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.32, 0.1, 0.32]}}, velocity: [%g, 0, 0]}]\n"
    "bodies:\n"
    "  ball: {shape: {sphere: {radius: 0.05, centre: [0.1, 0.2, 0.16]}}, density: %g}\n"
    "  box: {shape: {box: {size: [0.08, 0.08, 0.08], centre: [0.22, 0.041, 0.16]}}, density: %g}\n";

typedef struct pool {
    const char* motion;
    double min_dt, speed, density[2];
} pool;

static const pool calm = {"", 1e-6, 0.1, {300.0, 3000.0}};

static treacle_scene* parse(treacle_context* ctx, const pool* p) {
    char text[2048];
    treacle_scene* scene = NULL;
    int length = snprintf(text, sizeof(text), pool_text, p->motion, p->min_dt, p->speed,
                          p->density[0], p->density[1]);
    treacle_status status = treacle_scene_parse(ctx, "pool", text, (size_t)length, 0, NULL, &scene);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_scene_report(scene));
    }
    assert_int_equal(status, TREACLE_OK);
    return scene;
}

static treacle_sim* open_sim(treacle_context* ctx, const pool* p) {
    treacle_sim* sim = NULL;
    treacle_scene* scene = parse(ctx, p);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    treacle_scene_destroy(scene);
    return sim;
}

// --- the state -----------------------------------------------------------------------------------

static void test_a_speed_that_asks_for_less_than_min_dt_ends_the_step(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    pool fast = calm;
    fast.speed = 100.0;
    fast.min_dt = 1e-3; // a cell is crossed in 0.2 ms
    treacle_sim* sim = open_sim(ctx, &fast);
    uint64_t before = treacle_sim_hash(sim);
    treacle_step_stats stats;
    assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_ERR_DIVERGED);
    const char* text = treacle_context_error(ctx);
    assert_non_null(strstr(text, "step 1 at 0 s"));
    assert_non_null(strstr(text, "m/s"));
    assert_non_null(strstr(text, "choose a smaller min_dt"));
    assert_true(treacle_sim_hash(sim) == before && treacle_sim_time(sim) == 0.0);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

// The state of a simulation with one number spoiled.
typedef struct spoiled {
    treacle_frame frame;
    treacle_array arrays[64];
    void* data;
} spoiled;

static void spoil_at(const treacle_frame* from, int k, size_t at, double value, spoiled* out) {
    const treacle_array* array = &from->arrays[k];
    size_t items = (size_t)array->count * (size_t)array->components;
    size_t bytes = items * treacle_type_size(array->type);
    assert_true(from->array_count <= 64);
    out->frame = *from;
    memcpy(out->arrays, from->arrays, (size_t)from->array_count * sizeof(treacle_array));
    out->data = malloc(bytes);
    assert_non_null(out->data);
    memcpy(out->data, array->data, bytes);
    if (array->type == TREACLE_TYPE_F32) {
        ((float*)out->data)[at] = (float)value;
    } else {
        ((double*)out->data)[at] = value;
    }
    out->arrays[k].data = out->data;
    out->frame.arrays = out->arrays;
}

static void spoil(const treacle_frame* from, int k, double value, spoiled* out) {
    const treacle_array* array = &from->arrays[k];
    spoil_at(from, k, (size_t)array->count * (size_t)array->components / 2, value, out);
}

static bool is_real(const treacle_array* array) {
    return (array->type == TREACLE_TYPE_F32 || array->type == TREACLE_TYPE_F64) && array->count > 0;
}

static void check_all_arrays(const char* motion) {
    treacle_context* ctx = unit_context(1);
    pool p = calm;
    p.motion = motion;
    treacle_sim* sim = open_sim(ctx, &p);
    treacle_step_stats stats;
    assert_int_equal(treacle_sim_step(sim, 0.005, &stats), TREACLE_OK);
    uint64_t before = treacle_sim_hash(sim);
    int tried = 0;
    for (int k = 0;; ++k) {
        treacle_frame frame;
        spoiled bad;
        assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
        if (k == frame.array_count) {
            break;
        }
        if (!is_real(&frame.arrays[k]) || strcmp(frame.arrays[k].name, "volume_due") == 0) {
            continue;
        }
        for (int way = 0; way < 2; ++way) {
            spoil(&frame, k, way == 0 ? NAN : -INFINITY, &bad);
            assert_int_equal(treacle_sim_restore(sim, &bad.frame), TREACLE_ERR_FORMAT);
            assert_true(treacle_sim_hash(sim) == before);
            free(bad.data);
        }
        tried += 1;
    }
    assert_true(tried >= 8);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_a_state_with_any_number_that_is_not_finite_is_refused(void** state) {
    (void)state;
    check_all_arrays("");
    check_all_arrays("motion: eulerian");
}

// What stages rely on: volumes above 0, fractions of what is melted, rotations of bodies.
static void test_a_state_with_numbers_that_no_scene_has_is_refused(void** state) {
    (void)state;
    static const struct {
        const char* name;
        size_t at;
        double value;
    } bad[] = {{"volume", 7, 0.0}, {"volume", 7, -1e-9},    {"melted", 7, -0.1},
               {"melted", 7, 1.5}, {"body_state", 3, 1.01}, {"body_state", 4, 0.5}};
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = open_sim(ctx, &calm);
    uint64_t before = treacle_sim_hash(sim);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        treacle_frame frame;
        spoiled with;
        assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
        const treacle_array* array = treacle_frame_find(&frame, bad[i].name);
        assert_non_null(array);
        spoil_at(&frame, (int)(array - frame.arrays), bad[i].at, bad[i].value, &with);
        assert_int_equal(treacle_sim_restore(sim, &with.frame), TREACLE_ERR_FORMAT);
        assert_true(treacle_sim_hash(sim) == before);
        free(with.data);
    }
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

// --- files ---------------------------------------------------------------------------------------

static void path_of(const char* folder, int number, char out[PATH_CAPACITY]) {
    snprintf(out, PATH_CAPACITY, "%s/state_%04d.trs", folder, number);
}

// Rewrites a state file with a velocity that is not finite; its sums are right.
static void spoil_file(treacle_context* ctx, const char* folder, int number) {
    char path[PATH_CAPACITY];
    treacle_loaded_frame* loaded = NULL;
    spoiled bad;
    path_of(folder, number, path);
    assert_int_equal(treacle_frame_read(ctx, path, &loaded), TREACLE_OK);
    const treacle_frame* frame = treacle_loaded_frame_view(loaded);
    int k = 0;
    while (strcmp(frame->arrays[k].name, "velocity") != 0) {
        k += 1;
    }
    spoil(frame, k, NAN, &bad);
    bad.frame.source = NULL;
    assert_int_equal(treacle_frame_write(ctx, &bad.frame, path), TREACLE_OK);
    free(bad.data);
    treacle_loaded_frame_destroy(loaded);
}

static uint64_t last_hash(treacle_context* ctx, const char* folder) {
    char path[PATH_CAPACITY];
    treacle_loaded_frame* loaded = NULL;
    treacle_sim* sim = open_sim(ctx, &calm);
    path_of(folder, 4, path);
    assert_int_equal(treacle_frame_read(ctx, path, &loaded), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(sim, treacle_loaded_frame_view(loaded)), TREACLE_OK);
    uint64_t hash = treacle_sim_hash(sim);
    treacle_loaded_frame_destroy(loaded);
    treacle_sim_destroy(sim);
    return hash;
}

static void test_a_spoiled_state_file_falls_back_to_the_one_before_it(void** state) {
    (void)state;
    char folder[] = "/tmp/treacle-guard-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    treacle_context* ctx = unit_context(1);
    treacle_run_def def = treacle_run_def_default();
    treacle_scene* scene = parse(ctx, &calm);
    def.folder = folder;
    assert_int_equal(treacle_run_start(ctx, scene, &def), TREACLE_OK);
    treacle_scene_destroy(scene);
    uint64_t whole = last_hash(ctx, folder);
    def.frames = 5; // there is something to go on with
    spoil_file(ctx, folder, 4);
    assert_int_equal(treacle_run_resume(ctx, &def), TREACLE_OK);
    assert_true(last_hash(ctx, folder) == whole);
    spoil_file(ctx, folder, 4);
    spoil_file(ctx, folder, 5);
    def.frames = 6;
    assert_int_equal(treacle_run_resume(ctx, &def), TREACLE_OK); // from the start
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    unit_context_end(ctx);
}

// --- ODE -----------------------------------------------------------------------------------------

typedef struct complaint {
    int kind;
    dWorldID world;
} complaint;

static void complain(void* data) {
    const complaint* c = data;
    if (c->kind == 0) {
        dMessage(3, "the %s gave up", "solver");
    } else if (c->kind == 1) {
        dDebug(2, "an assertion of %d", 7);
    } else if (c->kind == 2) {
        dError(1, "an error");
    } else {
        dWorldStep(c->world, 0.0); // refused before anything is begun
    }
}

static void test_what_ode_complains_of_does_not_end_the_process(void** state) {
    (void)state;
    static const char* const texts[] = {"the solver gave up", "an assertion of 7", "an error",
                                        "stepsize"};
    treacle_context* ctx = unit_context(1);
    ode_guard_start();
    complaint c = {.world = dWorldCreate()};
    for (int kind = 0; kind < 4; ++kind) {
        ode_report report;
        c.kind = kind;
        ode_guard_run(ctx, complain, &c, &report);
        assert_true(report.is_broken == (kind > 0));
        assert_int_equal(report.messages, kind == 0);
        assert_non_null(strstr(report.text, texts[kind]));
    }
    dWorldDestroy(c.world);
    unit_context_end(ctx);
}

enum { LARGE = 1 << 20 };
static void take_memory(void* data) {
    char* block = dAlloc(100);
    memset(block, 7, 100);
    block = dRealloc(block, 100, LARGE);
    *(bool*)data = block[99] == 7;
    dFree(dAlloc(LARGE), LARGE);
    dFree(block, LARGE);
    dDebug(2, "it ends here");
}

static void test_what_ode_takes_is_the_contexts_and_comes_back(void** state) {
    (void)state;
    alloc_failure failure = {0};
    treacle_context* ctx = alloc_failure_context(&failure);
    bool is_kept = false;
    ode_report report;
    ode_guard_start();
    ode_guard_run(ctx, take_memory, &is_kept, &report);
    assert_true(is_kept && report.is_broken && !report.is_poor);
    failure = (alloc_failure){.fail_at = 2};
    ode_guard_run(ctx, take_memory, &is_kept, &report);
    assert_true(report.is_broken && report.is_poor);
    unit_context_end(ctx);
}

static int host_messages;
static void count_message(int number, const char* format, va_list args) {
    (void)number;
    (void)format;
    (void)args;
    host_messages += 1;
}

static void test_complaints_outside_of_our_calls_are_the_hosts(void** state) {
    (void)state;
    dSetMessageHandler(count_message); // before the first call of all
    ode_guard_start();
    dMessage(1, "of the host");
    assert_int_equal(host_messages, 1);
}

static void test_bodies_of_any_density_are_no_end(void** state) {
    (void)state;
    static const double densities[][2] = {{1e-3, 1e6}, {1e6, 1e-3}, {1e-3, 1e-3}, {1e6, 1e6}};
    for (int k = 0; k < 4; ++k) {
        treacle_context* ctx = unit_context(1);
        pool p = calm;
        memcpy(p.density, densities[k], sizeof(p.density));
        treacle_sim* sim = open_sim(ctx, &p);
        treacle_step_stats stats;
        treacle_status status = TREACLE_OK;
        for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
            status = treacle_sim_step(sim, 0.005, &stats);
        }
        assert_int_equal(status, TREACLE_OK);
        treacle_sim_destroy(sim);
        unit_context_end(ctx);
    }
}

// A simulation in a context of its own, and what came of it. Cmocka's checks are for the main
// thread, so the worker leaves its status here.
typedef struct lone_run {
    treacle_status status;
    uint64_t hash;
} lone_run;

static void* run_alone(void* data) {
    lone_run* run = data;
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_step_stats stats;
    def.threads = 1;
    run->status = treacle_context_create(&def, &ctx);
    if (run->status != TREACLE_OK) {
        return NULL;
    }
    treacle_sim* sim = open_sim(ctx, &calm);
    for (int i = 0; i < 3 * STEPS && run->status == TREACLE_OK; ++i) {
        run->status = treacle_sim_step(sim, 0.005, &stats);
    }
    run->hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return NULL;
}

// Threads of pthread, not of threads.h: the thread sanitizer does not see those begin.
static void test_contexts_in_threads_of_their_own_do_not_meet(void** state) {
    (void)state;
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    lone_run alone;
    lone_run together[THREADS];
    run_alone(&alone);
    assert_int_equal(alone.status, TREACLE_OK);
    for (int i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &together[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(together[i].status, TREACLE_OK);
        assert_true(together[i].hash == alone.hash);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complaints_outside_of_our_calls_are_the_hosts),
        cmocka_unit_test(test_what_ode_complains_of_does_not_end_the_process),
        cmocka_unit_test(test_what_ode_takes_is_the_contexts_and_comes_back),
        cmocka_unit_test(test_a_speed_that_asks_for_less_than_min_dt_ends_the_step),
        cmocka_unit_test(test_a_state_with_any_number_that_is_not_finite_is_refused),
        cmocka_unit_test(test_a_state_with_numbers_that_no_scene_has_is_refused),
        cmocka_unit_test(test_a_spoiled_state_file_falls_back_to_the_one_before_it),
        cmocka_unit_test(test_bodies_of_any_density_are_no_end),
        cmocka_unit_test(test_contexts_in_threads_of_their_own_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
