// Files of all versions of the format: a frame and a state of each are in tests/unit/frames, of the
// same moment of the same scene.
#include "treacle/cache.h"
#include "treacle/scene.h"
#include "treacle/sim.h"
#include "unit/unit.h"

static const char* const frames[] = {"tests/unit/frames/version_1.trf",
                                     "tests/unit/frames/version_2.trf"};
static const char* const states[] = {"tests/unit/frames/version_1.trs",
                                     "tests/unit/frames/version_2.trs"};
enum { VERSIONS = sizeof(frames) / sizeof(frames[0]), PARTICLES = 272 };

static const char scene_text[] =
    "fps: 30\n"
    "domain: {size: [8 cm, 8 cm, 8 cm], cell: 1 cm, sides: {all: slip, top: open}}\n"
    "materials: {oil: {density: 900, viscosity: 1}}\n"
    "liquids:\n"
    "  - shape: {sphere: {radius: 2 cm, centre: [4 cm, 5 cm, 4 cm]}}\n"
    "    material: oil\n";

static treacle_loaded_frame* load(treacle_context* ctx, const char* path) {
    treacle_loaded_frame* loaded = NULL;
    assert_int_equal(treacle_frame_read(ctx, path, &loaded), TREACLE_OK);
    return loaded;
}

static const float* floats(const treacle_frame* frame, const char* name) {
    const treacle_array* array = treacle_frame_find(frame, name);
    assert_non_null(array);
    assert_int_equal(array->count, PARTICLES);
    return array->data;
}

static void assert_same_array(const treacle_frame* a, const treacle_frame* b, const char* name) {
    const treacle_array *x = treacle_frame_find(a, name), *y = treacle_frame_find(b, name);
    assert_true(x != NULL && y != NULL && x->type == y->type && x->count == y->count);
    size_t item = treacle_type_size(x->type) * (size_t)x->components;
    assert_memory_equal(x->data, y->data, (size_t)x->count * item);
}

static void test_frames_of_all_versions_are_read(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_loaded_frame* first = load(ctx, frames[0]);
    const treacle_frame* exact = treacle_loaded_frame_view(first);
    const float *x = floats(exact, "position"), *v = floats(exact, "velocity");
    for (int i = 0; i < VERSIONS; ++i) {
        treacle_loaded_frame* loaded = load(ctx, frames[i]);
        const treacle_frame* frame = treacle_loaded_frame_view(loaded);
        const float *y = floats(frame, "position"), *w = floats(frame, "velocity");
        assert_int_equal(frame->number, 3);
        assert_int_equal(frame->step, 4);
        for (int k = 0; k < 3 * PARTICLES; ++k) { // it falls at 0.65 m/s
            assert_true(fabs((double)x[k] - (double)y[k]) <= 1.0 / 16384.0);
            assert_true(fabs((double)v[k] - (double)w[k]) <= 0.7 / 4096.0);
        }
        assert_same_array(frame, exact, "id");
        assert_same_array(frame, exact, "volume");
        assert_same_array(frame, exact, "tile_first");
        treacle_loaded_frame_destroy(loaded);
    }
    treacle_loaded_frame_destroy(first);
    unit_context_end(ctx);
}

// Goes on from a state by one step, and gives the hash of where it ends.
static uint64_t go_on(treacle_context* ctx, const char* path) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_loaded_frame* loaded = load(ctx, path);
    assert_int_equal(
        treacle_scene_parse(ctx, "a.yaml", scene_text, strlen(scene_text), 0, NULL, &scene),
        TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(sim, treacle_loaded_frame_view(loaded)), TREACLE_OK);
    treacle_loaded_frame_destroy(loaded);
    assert_int_equal(treacle_sim_step(sim, 1.0 / 60, &stats), TREACLE_OK);
    uint64_t hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return hash;
}

static void test_runs_go_on_from_states_of_all_versions(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    uint64_t first = go_on(ctx, states[0]);
    for (int i = 1; i < VERSIONS; ++i) {
        assert_true(go_on(ctx, states[i]) == first);
    }
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_all_versions_are_read),
        cmocka_unit_test(test_runs_go_on_from_states_of_all_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
