#include "sim_fixture.h"

#include "treacle/unstable/stages.h"

static treacle_sim* make_empty(treacle_context* ctx, sim_scene* scene) {
    sim_scene_fill(scene);
    treacle_sim_def def = scene->def;
    def.liquid_count = 0;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    return sim;
}

static void test_seeding_by_hand_gives_the_same_start(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    sim_scene scene;
    treacle_sim *sim = make_empty(ctx, &scene), *whole = NULL;
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &whole), TREACLE_OK);
    assert_int_equal(treacle_sim_particle_count(sim), 0);
    assert_int_equal(treacle_stages_seed(sim, &scene.def), TREACLE_OK);
    assert_true(treacle_sim_hash(sim) == treacle_sim_hash(whole));
    treacle_sim_destroy(whole);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_liquid_put_by_hand_starts_like_a_seeded_one(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    sim_scene scene;
    sim_scene_fill(&scene);
    scene.def.flow = TREACLE_FLOW_PRESSURE;
    scene.def.domain.cell = 1.0 / 16;
    treacle_sim *sim = NULL, *whole = NULL;
    treacle_step_stats stats;
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &whole), TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &sim), TREACLE_OK);
    // Whatever was there before, the new start is made of the new particles.
    treacle_stages_particles none = {0};
    assert_int_equal(treacle_stages_put(sim, &none), TREACLE_OK);
    assert_int_equal(treacle_stages_prepare(sim), TREACLE_OK);
    assert_int_equal(treacle_stages_seed(sim, &scene.def), TREACLE_OK);
    assert_int_equal(treacle_stages_prepare(sim), TREACLE_OK);
    assert_true(treacle_sim_hash(sim) == treacle_sim_hash(whole));
    assert_int_equal(treacle_sim_step(sim, 0.005, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_step(whole, 0.005, &stats), TREACLE_OK);
    assert_true(treacle_sim_hash(sim) == treacle_sim_hash(whole));
    treacle_sim_destroy(whole);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// The stages of a step, called one after the other, make the step.
static void test_stages_make_a_step(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    sim_scene scene;
    sim_scene_fill(&scene);
    scene.def.sink_count = 0;
    treacle_sim *by_stages = NULL, *by_step = NULL;
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &by_stages), TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &by_step), TREACLE_OK);
    treacle_step_stats stats;
    treacle_stages_sort_stats sorted;
    int64_t emitted;
    assert_int_equal(treacle_sim_step(by_step, 0.005, &stats), TREACLE_OK);
    assert_true(stats.dt == 0.005);
    assert_int_equal(treacle_stages_advect(by_stages, -0.005), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_stages_emit(by_stages, 0.005, 0.0, &emitted), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_stages_advect(by_stages, 0.005), TREACLE_OK);
    assert_int_equal(treacle_stages_emit(by_stages, 0.0, 0.005, &emitted), TREACLE_OK);
    assert_int_equal(treacle_stages_sort(by_stages, &sorted), TREACLE_OK);
    assert_int_equal(emitted, stats.emitted);
    assert_int_equal(sorted.removed, stats.absorbed);
    treacle_frame a, b;
    assert_int_equal(treacle_sim_view(by_stages, TREACLE_FRAME_STATE, 1, &a), TREACLE_OK);
    assert_int_equal(treacle_sim_view(by_step, TREACLE_FRAME_STATE, 1, &b), TREACLE_OK);
    assert_int_equal(a.array_count, b.array_count);
    for (int i = 0; i < a.array_count; ++i) {
        const treacle_array *x = &a.arrays[i], *y = &b.arrays[i];
        assert_int_equal(x->count, y->count);
        size_t bytes = (size_t)(x->count * x->components) * treacle_type_size(x->type);
        if (strcmp(x->name, "calm") != 0) { // how long the next step may be: of whole steps alone
            assert_memory_equal(x->data, y->data, bytes);
        }
    }
    treacle_sim_destroy(by_step);
    treacle_sim_destroy(by_stages);
    treacle_context_destroy(ctx);
}

static void test_given_particles_are_sorted(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    sim_scene scene;
    treacle_sim* sim = make_empty(ctx, &scene);
    enum { COUNT = 1000 };
    double place[AXES * COUNT];
    uint8_t material[COUNT] = {0};
    for (int i = 0; i < AXES * COUNT; ++i) {
        place[i] = 0.99 * hash_random_f64(1, (uint64_t)i, RANDOM_TEST);
    }
    treacle_stages_particles given = {.count = COUNT, .place = place, .material = material};
    treacle_stages_sort_stats stats;
    assert_int_equal(treacle_stages_put(sim, &given), TREACLE_OK);
    assert_int_equal(treacle_stages_sort(sim, &stats), TREACLE_OK);
    assert_int_equal(stats.removed + stats.stopped + stats.migrated, 0);
    assert_int_equal(treacle_sim_particle_count(sim), COUNT);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const uint64_t* id = treacle_frame_find(&frame, "id")->data;
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const float* position = treacle_frame_find(&frame, "position")->data;
    for (int a = 0; a < AXES; ++a) {
        double at = (8.0 * tile[a] + (double)position[a]) / 32.0;
        assert_true(fabs(at - place[AXES * id[0] + (uint64_t)a]) < 1e-7);
    }
    material[7] = 2;
    assert_int_equal(treacle_stages_put(sim, &given), TREACLE_ERR_USAGE);
    material[7] = 1;
    place[5] = NAN;
    assert_int_equal(treacle_stages_put(sim, &given), TREACLE_ERR_USAGE);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeding_by_hand_gives_the_same_start),
        cmocka_unit_test(test_a_liquid_put_by_hand_starts_like_a_seeded_one),
        cmocka_unit_test(test_stages_make_a_step),
        cmocka_unit_test(test_given_particles_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
