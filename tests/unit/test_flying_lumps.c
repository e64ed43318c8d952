// Pieces of liquid that fly, and such that are held.
#include "sim_checks.h"

typedef struct drop_scene {
    treacle_sim_def def;
    treacle_material_def water;
    treacle_shape ball;
    treacle_liquid_def liquid;
} drop_scene;

// A drop in a box with slip walls, 2D, 16 x 32 cells of 1 cm.
static void drop_fill(drop_scene* s, double height) {
    memset(s, 0, sizeof(*s));
    s->def = treacle_sim_def_default();
    s->def.domain.cell = 0.01;
    s->def.domain.size[0] = 0.16;
    s->def.domain.size[1] = 0.32;
    s->def.domain.size[2] = 0.0;
    s->def.density_correction = false;
    s->water = treacle_material_def_default();
    s->ball = shape_at(TREACLE_SHAPE_BOX, 0.08, height, 0.0);
    s->ball.size[0] = s->ball.size[1] = 0.08;
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->ball;
    s->def.material_count = s->def.liquid_count = 1;
    s->def.materials = &s->water;
    s->def.liquids = &s->liquid;
}

static double height_of(treacle_sim* sim) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const float* position = treacle_frame_find(&frame, "position")->data;
    const int64_t* first = treacle_frame_find(&frame, "tile_first")->data;
    const treacle_array* tile = treacle_frame_find(&frame, "tile_coord");
    double sum = 0.0;
    for (int64_t t = 0; t < tile->count; ++t) {
        for (int64_t i = first[t]; i < first[t + 1]; ++i) {
            sum += 8.0 * ((const int32_t*)tile->data)[3 * t + 1] + (double)position[3 * i + 1];
        }
    }
    return 0.01 * sum / (double)first[tile->count];
}

static double fall_of(drop_scene* scene, double dt, int steps) {
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &scene->def);
    double before = height_of(sim);
    for (int i = 0; i < steps; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, dt, &stats), TREACLE_OK);
        assert_true(stats.dt == dt);
    }
    double fall = before - height_of(sim);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return fall;
}

static void test_a_drop_falls_alike_in_long_and_short_steps(void** state) {
    (void)state;
    drop_scene scene;
    drop_fill(&scene, 0.24);
    double way = 0.5 * 9.81 * 0.12 * 0.12;
    assert_close(fall_of(&scene, 0.01, 12), way, 1e-5 * way);
    assert_close(fall_of(&scene, 0.0025, 48), way, 1e-5 * way);
}

// Held liquid gets no shift: it would sink by a cell.
static void test_liquid_on_the_floor_does_not_sink(void** state) {
    (void)state;
    drop_scene scene;
    drop_fill(&scene, 0.04);
    scene.ball.size[0] = 1.0; // from wall to wall: a pool
    assert_true(fabs(fall_of(&scene, 0.01, 20)) < 0.02 * 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drop_falls_alike_in_long_and_short_steps),
        cmocka_unit_test(test_liquid_on_the_floor_does_not_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
