// Facts about liquid in gaps narrower than half a cell.
#include "unit.h"

#include "treacle/scene.h"
#include "treacle/sim.h"

// A slab 0.3 cells above the floor over the middle of a shallow stream.
static const char text[] =
    "domain: {size: [1, 0.5, 0], resolution: 16, sides: {all: no-slip}}\n"
    "materials: {water: {density: 1000, viscosity: 0.01}}\n"
    "particles: {per_cell: 16}\n"
    "solids:\n"
    "  slab: {shape: {box: {min: [0.25, 0.01875, -1], max: [0.75, 0.6, 1]}}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [1, 0.2, 1]}}, velocity: [0.2, 0, 0]}\n";

static double slope_of(const float* affine) {
    double sum = 0.0;
    for (int i = 0; i < 9; ++i) {
        sum += fabs((double)affine[i]);
    }
    return sum;
}

static void test_particles_in_a_gap_have_no_slope_and_others_keep_theirs(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_frame frame;
    assert_int_equal(treacle_scene_parse(ctx, "gap", text, sizeof(text) - 1, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.001, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const float* x = treacle_frame_find(&frame, "position")->data;
    const float* affine = treacle_frame_find(&frame, "affine")->data;
    int inside = 0, outside = 0, sloped = 0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = tile_first[t]; i < tile_first[t + 1]; ++i) {
            double across = 8.0 * tile[3 * t] + (double)x[3 * i];
            bool is_inside = across > 5.0 && across < 11.0;
            inside += is_inside;
            outside += !is_inside;
            sloped += !is_inside && slope_of(affine + 9 * i) > 0.0;
            assert_true(!is_inside || slope_of(affine + 9 * i) == 0.0);
        }
    }
    assert_true(inside > 5 && outside > 50 && sloped > outside / 2);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_particles_in_a_gap_have_no_slope_and_others_keep_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
