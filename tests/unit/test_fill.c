// Liquid that fills its domain: no surface, and markers that rise.
#include "sim_checks.h"

static void fill_smoke(sim_scene* s) {
    sim_scene_fill(s);
    treacle_sim_def* def = &s->def;
    def->flow = TREACLE_FLOW_PRESSURE;
    def->fill = TREACLE_FILL_ALL;
    def->emitter_count = def->sink_count = 0;
    def->liquid_count = 1;
    def->domain.cell = 1.0 / 16;
    for (int a = 0; a < 3; ++a) {
        def->domain.sides[a][0] = def->domain.sides[a][1] = TREACLE_SIDE_SLIP;
    }
    s->materials[0].marker_buoyancy = 0.5;
    s->ball.move[0] = 0.5;
    s->ball.move[1] = 0.35;
    s->liquids[0] = (treacle_liquid_def){.shape = &s->ball};
    s->liquids[0].marker.value_a[0] = 1.0;
    s->liquids[0].viscosity_factor.value_a[0] = 1.0;
}

// The mean height of what is marked, in cells.
static double marked_height(treacle_sim* sim) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const float* x = treacle_frame_find(&frame, "position")->data;
    const float* marker = treacle_frame_find(&frame, "marker")->data;
    double sum = 0.0, weight = 0.0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = tile_first[t]; i < tile_first[t + 1]; ++i) {
            double y = 8.0 * tile[3 * t + 1] + (double)x[3 * i + 1];
            sum += (double)marker[i] * y;
            weight += (double)marker[i];
        }
    }
    return sum / weight;
}

static void test_marked_liquid_rises_in_a_full_box(void** state) {
    (void)state;
    sim_scene scene;
    fill_smoke(&scene);
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    double before = marked_height(sim);
    treacle_step_stats stats;
    for (int i = 0; i < 15; ++i) {
        check_step(ctx, sim, 0.02, &stats);
    }
    assert_true(marked_height(sim) > before + 1.0);
    assert_float_equal(stats.volume, 1.0, 0.002); // candidates at the ball are random
    assert_float_equal(stats.surface_volume, 1.0, 1e-6);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_liquid_without_markers_stays_at_rest(void** state) {
    (void)state;
    sim_scene scene;
    fill_smoke(&scene);
    scene.def.liquid_count = 0;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    treacle_step_stats stats;
    for (int i = 0; i < 5; ++i) {
        check_step(ctx, sim, 0.02, &stats);
    }
    assert_true(stats.max_speed < 1e-4);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_state_is_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    sim_scene scene;
    fill_smoke(&scene);
    check_threads_and_sets(&scene, 2);
}

static void test_restoring_at_every_step_equals_an_uninterrupted_run(void** state) {
    (void)state;
    sim_scene scene;
    fill_smoke(&scene);
    scene.def.domain.size[2] = 0.0;
    scene.def.domain.origin[2] = 0.5;
    check_restore(&scene, 4);
}

static void test_failing_memory_leaves_the_state_as_it_was(void** state) {
    (void)state;
    sim_scene scene;
    fill_smoke(&scene);
    scene.def.particles.per_cell = 1;
    scene.def.domain.size[2] = 0.0;
    scene.def.domain.origin[2] = 0.5;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marked_liquid_rises_in_a_full_box),
        cmocka_unit_test(test_liquid_without_markers_stays_at_rest),
        cmocka_unit_test(test_state_is_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_restoring_at_every_step_equals_an_uninterrupted_run),
        cmocka_unit_test(test_failing_memory_leaves_the_state_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
