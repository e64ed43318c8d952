#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_failure.h"
#include "base/check.h"
#include "treacle/run.h"

enum { PATH_CAPACITY = 256 };

static const char scene_text[] = "name: speck\n"
                                 "frames: 3\n"
                                 "flow: none\n"
                                 "domain: {size: [0.16, 0.16, 0.16], cell: 0.02}\n"
                                 "step: {max_dt: 0.02}\n"
                                 "liquids:\n"
                                 "  - shape: {sphere: {radius: 0.03, centre: [0.08, 0.1, 0.08]}}\n";

typedef struct place {
    char path[PATH_CAPACITY];
} place;

// In memory where there is such a place: hundreds of runs wait for the disk otherwise.
static place make_place(void) {
    place p;
    const char* parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(p.path, sizeof(p.path), "%s/treacle-run-XXXXXX", parent);
    assert_non_null(mkdtemp(p.path));
    return p;
}

static void remove_place(const place* p) {
    char command[PATH_CAPACITY + 16];
    snprintf(command, sizeof(command), "rm -rf %s", p->path);
    assert_int_equal(system(command), 0);
}

static treacle_status parse_text(treacle_context* ctx, const char* text, treacle_scene** out) {
    treacle_status status = treacle_scene_parse(ctx, "speck", text, strlen(text), 0, NULL, out);
    if (status != TREACLE_OK && status != TREACLE_ERR_MEMORY) {
        print_message("%s\n",
                      *out == NULL ? treacle_context_error(ctx) : treacle_scene_report(*out));
    }
    return status;
}

static treacle_status parse(treacle_context* ctx, treacle_scene** out) {
    return parse_text(ctx, scene_text, out);
}

static treacle_context* make_context(void) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = 1;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

static treacle_status start(treacle_context* ctx, const treacle_run_def* def) {
    treacle_scene* scene = NULL;
    treacle_status status = parse(ctx, &scene);
    if (status == TREACLE_OK) {
        status = treacle_run_start(ctx, scene, def);
    }
    treacle_scene_destroy(scene);
    return status;
}

typedef struct witness {
    int steps, frames;
    int stop_after; // steps; 0: never
    double last_fraction;
} witness;

static bool watch(const treacle_progress* progress, void* user) {
    witness* w = user;
    assert_true(progress->fraction >= w->last_fraction && progress->fraction <= 1.0);
    assert_true(progress->frame >= 1 && progress->frame <= progress->frames);
    w->last_fraction = progress->fraction;
    w->frames += progress->frame_done;
    w->steps += !progress->frame_done;
    return w->stop_after == 0 || w->steps < w->stop_after;
}

static void test_progress_tells_every_step_and_frame(void** state) {
    (void)state;
    place p = make_place();
    treacle_context* ctx = make_context();
    witness w = {0};
    treacle_run_def def = treacle_run_def_default();
    treacle_run_info info;
    def.folder = p.path;
    def.progress = watch;
    def.progress_user = &w;
    assert_int_equal(start(ctx, &def), TREACLE_OK);
    assert_int_equal(w.frames, 3);
    assert_true(w.last_fraction == 1.0);
    assert_int_equal(treacle_run_inspect(ctx, p.path, &info), TREACLE_OK);
    assert_int_equal(info.frames_done, 3);
    assert_int_equal(info.state, 3);
    assert_int_equal(info.steps, w.steps);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
    remove_place(&p);
}

// s, of the newest state, after a run that the callback ended and a resume went on with.
static double time_after_resume(const char* lapse, int stop_after, int64_t* steps) {
    place p = make_place();
    treacle_context* ctx = make_context();
    treacle_scene* scene = NULL;
    witness w = {.stop_after = stop_after};
    treacle_run_def def = treacle_run_def_default();
    treacle_run_info info;
    const char* const sets[] = {lapse};
    def.folder = p.path;
    def.progress = watch;
    def.progress_user = &w;
    assert_int_equal(
        treacle_scene_parse(ctx, "speck", scene_text, strlen(scene_text), 1, sets, &scene),
        TREACLE_OK);
    assert_int_equal(treacle_run_start(ctx, scene, &def), TREACLE_ERR_INTERRUPTED);
    w = (witness){0};
    assert_int_equal(treacle_run_resume(ctx, &def), TREACLE_OK);
    assert_true(w.last_fraction == 1.0);
    assert_int_equal(treacle_run_inspect(ctx, p.path, &info), TREACLE_OK);
    assert_int_equal(info.frames_done, 3);
    *steps = info.steps;
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    remove_place(&p);
    return info.time;
}

static void test_time_lapse_moves_frames_apart_and_a_resume_knows_it(void** state) {
    (void)state;
    int64_t steps = 0, more = 0;
    assert_true(fabs(time_after_resume("time_lapse=1", 2, &steps) - 2.0 / 24.0) < 1e-12);
    assert_true(fabs(time_after_resume("time_lapse=6", 2, &more) - 12.0 / 24.0) < 1e-12);
    assert_int_equal(steps, 2 * 3); // of at most 0.02 s in 1/24 s
    assert_int_equal(more, 2 * 13); // in 1/4 s
}

static void test_the_callback_ends_the_run_and_resume_completes_it(void** state) {
    (void)state;
    place p = make_place();
    treacle_context* ctx = make_context();
    witness w = {.stop_after = 4};
    treacle_run_def def = treacle_run_def_default();
    treacle_run_info info;
    def.folder = p.path;
    def.progress = watch;
    def.progress_user = &w;
    assert_int_equal(start(ctx, &def), TREACLE_ERR_INTERRUPTED);
    assert_int_equal(w.steps, 4);
    w = (witness){0};
    assert_int_equal(treacle_run_resume(ctx, &def), TREACLE_OK);
    assert_int_equal(treacle_run_inspect(ctx, p.path, &info), TREACLE_OK);
    assert_int_equal(info.frames_done, 3);
    treacle_context_destroy(ctx);
    remove_place(&p);
}

// A column that slumps. With a tolerance below the rounding of velocities and two passes its loop
// cannot converge; with the tolerance of everyday it does.
static const char slump_text[] =
    "name: slump\n"
    "frames: 3\n"
    "fps: 20\n"
    "domain: {size: [0.8, 0.5], cell: 0.05, sides: {bottom: no-slip}}\n"
    "step: {max_dt: 0.025}\n"
    "viscosity_solve: {tolerance: %s}\n"
    "materials: {mud: {viscosity: 100, rheology: {law: bingham, yield_stress: 300}}}\n"
    "liquids: [{shape: {box: {min: [0, 0, -1], max: [0.2, 0.4, 1]}}}]\n";

typedef struct warnings {
    int count;
    char text[512];
} warnings;

static void keep_warning(treacle_log_level level, const char* text, void* user) {
    warnings* w = user;
    if (level == TREACLE_LOG_WARNING) {
        w->count += 1;
        snprintf(w->text, sizeof(w->text), "%s", text);
    }
}

static treacle_run_info run_slump(const char* settings, warnings* told) {
    place p = make_place();
    char text[1024];
    treacle_context_def context = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_scene* scene = NULL;
    treacle_run_def def = treacle_run_def_default();
    treacle_run_info info;
    context.threads = 1;
    context.log = keep_warning;
    context.log_user = told;
    snprintf(text, sizeof(text), slump_text, settings);
    assert_int_equal(treacle_context_create(&context, &ctx), TREACLE_OK);
    assert_int_equal(parse_text(ctx, text, &scene), TREACLE_OK);
    def.folder = p.path;
    assert_int_equal(treacle_run_start(ctx, scene, &def), TREACLE_OK);
    assert_int_equal(treacle_run_inspect(ctx, p.path, &info), TREACLE_OK);
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    remove_place(&p);
    return info;
}

static void test_a_loop_that_cannot_converge_is_counted_and_told(void** state) {
    (void)state;
    warnings told = {0};
    treacle_run_info info = run_slump("1e-15, max_iterations: 2", &told);
    assert_true(info.steps >= 4);
    assert_int_equal(info.rheology_steps, info.steps);
    assert_int_equal(info.rheology_unconverged, info.steps);
    assert_int_equal(info.rheology_passes, 2 * info.steps);
    assert_int_equal(told.count, 1);
    char head[64];
    snprintf(head, sizeof(head), "%d of %d steps ended before", (int)info.steps, (int)info.steps);
    assert_non_null(strstr(told.text, head));
}

static void test_a_loop_that_converges_is_not_told(void** state) {
    (void)state;
    warnings told = {0};
    treacle_run_info info = run_slump("1e-3", &told);
    assert_int_equal(info.rheology_steps, info.steps);
    assert_int_equal(info.rheology_unconverged, 0);
    assert_int_equal(told.count, 0);
}

static void test_wrong_use_is_refused(void** state) {
    (void)state;
    place p = make_place();
    treacle_context* ctx = make_context();
    treacle_run_def def = treacle_run_def_default();
    assert_int_equal(start(ctx, &def), TREACLE_ERR_USAGE);
    def.folder = p.path;
    def.frames = -1;
    assert_int_equal(start(ctx, &def), TREACLE_ERR_USAGE);
    def.frames = 0;
    def.film = "film.mp4";
    assert_int_equal(start(ctx, &def), TREACLE_ERR_USAGE);
    def.film = NULL;
    def.def_size = 3;
    assert_int_equal(start(ctx, &def), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_run_resume(ctx, &def), TREACLE_ERR_USAGE);
    treacle_context_destroy(ctx);
    remove_place(&p);
}

static treacle_status start_body(treacle_context* ctx, void* data) {
    (void)data;
    place p = make_place();
    treacle_run_def def = treacle_run_def_default();
    def.folder = p.path;
    def.frames = 2;
    treacle_status status = start(ctx, &def);
    remove_place(&p);
    return status;
}

static void test_starting_survives_every_failed_allocation(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(start_body, NULL);
}

// Begins with a context that never fails, so that only what resuming allocates is failed.
static treacle_status resume_body(treacle_context* ctx, void* data) {
    (void)data;
    place p = make_place();
    treacle_run_def def = treacle_run_def_default();
    treacle_context* sound = make_context();
    def.folder = p.path;
    def.frames = 2;
    assert_int_equal(start(sound, &def), TREACLE_OK);
    treacle_context_destroy(sound);
    def.frames = 3;
    treacle_status status = treacle_run_resume(ctx, &def);
    remove_place(&p);
    return status;
}

static void test_resuming_survives_every_failed_allocation(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(resume_body, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_tells_every_step_and_frame),
        cmocka_unit_test(test_time_lapse_moves_frames_apart_and_a_resume_knows_it),
        cmocka_unit_test(test_the_callback_ends_the_run_and_resume_completes_it),
        cmocka_unit_test(test_a_loop_that_cannot_converge_is_counted_and_told),
        cmocka_unit_test(test_a_loop_that_converges_is_not_told),
        cmocka_unit_test(test_wrong_use_is_refused),
        cmocka_unit_test(test_starting_survives_every_failed_allocation),
        cmocka_unit_test(test_resuming_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
