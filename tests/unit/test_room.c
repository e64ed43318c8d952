// Facts about emitters in spaces without a way out: they bring what fits, and then stand still.
#include "unit.h"

#include <stdio.h>

#include "treacle/scene.h"
#include "treacle/sim.h"

static const char text[] =
    "domain: {size: [1, 1, 0], resolution: 16, sides: {all: slip, top: %s}}\n"
    "gravity: [0, -9.81, 0]\n"
    "materials: {goo: {density: 1000, viscosity: 0.1}}\n"
    "liquids:\n"
    "  - shape: {box: {min: [0, 0, -1], max: [1, 0.8, 1]}}\n"
    "emitters:\n"
    "  - {shape: {sphere: {radius: 0.15, centre: [0.5, 0.5, 0]}}, "
    "direction: [1, 0, 0], speed: 2}\n"
    "%s";

static void be_silent(treacle_log_level level, const char* said, void* user) {
    (void)said;
    *(int*)user += level == TREACLE_LOG_WARNING ? 1 : 0;
}

typedef struct outcome {
    double most;    // volume in cells
    int64_t last;   // particles emitted in the last quarter
    double speed;   // m/s, at the end
    double fastest; // of all steps
    int warnings;
} outcome;

static outcome pour(const char* top, const char* more) {
    char scene_text[1024];
    outcome out = {0};
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    def.threads = 1;
    def.log = be_silent;
    def.log_user = &out.warnings;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    int length = snprintf(scene_text, sizeof(scene_text), text, top, more);
    assert_int_equal(treacle_scene_parse(ctx, "room", scene_text, (size_t)length, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    while (treacle_sim_time(sim) < 1.0) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
        out.most = fmax(out.most, stats.volume * 16.0 * 16.0 * 16.0);
        out.last += treacle_sim_time(sim) > 0.75 ? stats.emitted : 0;
        out.fastest = fmax(out.fastest, stats.max_speed);
        out.speed = stats.max_speed;
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    return out;
}

static void test_a_closed_box_takes_what_fits_and_its_emitter_stands_still_then(void** state) {
    (void)state;
    outcome at = pour("slip", "");
    assert_true(at.most > 240.0 && at.most <= 256.0);
    assert_int_equal(at.last, 0);
    assert_int_equal(at.warnings, 1);
    assert_true(at.speed < 2.0 && at.fastest < 3.0 * (2.0 + sqrt(2.0 * 9.81)));
}

static void test_solids_take_room(void** state) {
    (void)state;
    outcome at =
        pour("slip", "solids: {s: {shape: {box: {min: [0, 0, -1], max: [0.25, 1, 1]}}}}\n");
    assert_true(at.most > 180.0 && at.most <= 192.0 + 1e-6);
    assert_int_equal(at.last, 0);
}

static void test_an_emitter_goes_on_where_liquid_can_leave(void** state) {
    (void)state;
    outcome at = pour("open", "");
    assert_true(at.last > 0);
    assert_int_equal(at.warnings, 0);
}

static const char covered[] =
    "domain: {size: [1, 1, 0], resolution: 16, sides: {all: slip, top: open}}\n"
    "gravity: [0, -9.81, 0]\n"
    "density_correction: false\n"
    "materials: {goo: {density: 1000, viscosity: 0.1}}\n"
    "solids: {s: {shape: {box: {min: [-1, -1, -1], max: [0.25, 2, 1]}}}}\n"
    "emitters:\n"
    "  - {shape: {sphere: {radius: 0.15, centre: [0.25, 0.5, 0]}}, "
    "direction: [1, 0.3, 0], speed: 2}\n";

// How deep the deepest particle is in the solid, in cells.
static double depth_of(treacle_sim* sim) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const float* x = treacle_frame_find(&frame, "position")->data;
    double depth = 0.0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = tile_first[t]; i < tile_first[t + 1]; ++i) {
            depth = fmax(depth, 4.0 - 8.0 * tile[3 * t] - (double)x[3 * i]);
        }
    }
    return depth;
}

static void test_nothing_is_left_in_a_solid_that_covers_an_emitter(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    int64_t emitted = 0;
    assert_int_equal(
        treacle_scene_parse(ctx, "covered", covered, sizeof(covered) - 1, 0, NULL, &scene),
        TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    for (int i = 0; i < 10; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
        emitted += stats.emitted;
        assert_true(depth_of(sim) < 0.1);
    }
    assert_true(emitted > 20);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_closed_box_takes_what_fits_and_its_emitter_stands_still_then),
        cmocka_unit_test(test_solids_take_room),
        cmocka_unit_test(test_an_emitter_goes_on_where_liquid_can_leave),
        cmocka_unit_test(test_nothing_is_left_in_a_solid_that_covers_an_emitter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
