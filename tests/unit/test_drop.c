// Liquid that appears by a list, comes from nozzles that move, and carries colours.
#include <math.h>
#include <stdlib.h>

#include "treacle/treacle.h"
#include "unit.h"

static treacle_sim* create(treacle_context* ctx, const char* text) {
    treacle_scene* s = NULL;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &s),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(s), &sim), TREACLE_OK);
    treacle_scene_destroy(s);
    return sim;
}

static int64_t steps(treacle_sim* sim, int count, double dt) {
    int64_t born = 0;
    for (int i = 0; i < count; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, dt, &stats), TREACLE_OK);
        born += stats.emitted;
    }
    return born;
}

// Mean place of the particles, and their volume.
static double measure(treacle_sim* sim, double mean[3]) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const int32_t* coord = treacle_frame_find(&frame, "tile_coord")->data;
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const float* position = treacle_frame_find(&frame, "position")->data;
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    const int64_t* rows = first->data;
    double sum = 0.0;
    mean[0] = mean[1] = mean[2] = 0.0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = rows[t]; i < rows[t + 1]; ++i) {
            sum += (double)volume[i];
            for (int a = 0; a < 3; ++a) {
                double cells = 8.0 * coord[3 * t + a] + (double)position[3 * i + a];
                mean[a] += (double)volume[i] * (frame.origin[a] + frame.cell * cells);
            }
        }
    }
    for (int a = 0; a < 3; ++a) {
        mean[a] /= sum > 0.0 ? sum : 1.0;
    }
    return sum;
}

static const char dripping[] =
    "domain: {size: [1, 1, 1], cell: 0.05}\n"
    "gravity: [0, 0, 0]\n"
    "flow: none\n"
    "materials: {sand: {viscosity: 1}}\n"
    "drops:\n"
    "  - shape: {sphere: {radius: 0.1}}\n"
    "    places: [[0, [0.3, 0.5, 0.5]], [0.1, [0.7, 0.5, 0.5]], [0.2, [0.3, 0.5, 0.5]]]\n";

static void test_drops_come_when_and_where_the_list_says(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = create(ctx, dripping);
    double mean[3], ball = 4.0 / 3.0 * 3.14159265358979 * 0.001;
    assert_int_equal(treacle_sim_particle_count(sim), 0);
    int64_t one = steps(sim, 1, 0.02);
    assert_close(measure(sim, mean), ball, 0.05 * ball);
    assert_close(mean[0], 0.3, 0.003);
    assert_int_equal(steps(sim, 3, 0.02), 0);
    assert_true(llabs(steps(sim, 2, 0.02) - one) < one / 8);
    assert_close(measure(sim, mean), 2.0 * ball, 0.1 * ball);
    assert_close(mean[0], 0.5, 0.003);
    assert_true(steps(sim, 6, 0.02) > 0);
    assert_close(measure(sim, mean), 3.0 * ball, 0.15 * ball);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static int by_value(const void* a, const void* b) {
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return x < y ? -1 : x > y;
}

static void test_no_two_drops_share_an_id(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = create(ctx, dripping);
    treacle_frame frame;
    steps(sim, 12, 0.02);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* id = treacle_frame_find(&frame, "id");
    uint64_t* sorted = malloc((size_t)id->count * sizeof(uint64_t));
    memcpy(sorted, id->data, (size_t)id->count * sizeof(uint64_t));
    qsort(sorted, (size_t)id->count, sizeof(uint64_t), by_value);
    for (int64_t i = 1; i < id->count; ++i) {
        assert_true(sorted[i - 1] != sorted[i]);
    }
    free(sorted);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

#define NOZZLE(motion)                                                                             \
    "domain: {size: [1, 1, 1], cell: 0.05}\n"                                                      \
    "gravity: [0, 0, 0]\n"                                                                         \
    "flow: none\n"                                                                                 \
    "emitters:\n"                                                                                  \
    "  - {shape: {box: {min: [0.1, 0.8, 0.4], max: [0.3, 0.9, 0.6]}}, speed: 1" motion "}\n"

// What streams from a nozzle that moves has the nozzle's velocity on top: it lies in a line below.
static void test_a_moving_nozzle_gives_as_much_as_one_that_stands(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* still = create(ctx, NOZZLE(""));
    treacle_sim* moving = create(ctx, NOZZLE(", position: {keys: {0: [0, 0, 0], 1: [1, 0, 0]}}"));
    double there[3], here[3];
    steps(still, 20, 0.02);
    steps(moving, 20, 0.02);
    assert_close(measure(moving, here), measure(still, there), 1e-7);
    assert_close(here[0] - there[0], 0.4, 1e-3);
    assert_close(here[1], there[1], 1e-3);
    treacle_sim_destroy(still);
    treacle_sim_destroy(moving);
    unit_context_end(ctx);
}

// In liquid the faces inside a nozzle move with it.
static void test_a_moving_nozzle_lays_a_strand(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim =
        create(ctx, "domain: {size: [1.6, 0.8], cell: 0.05, sides: no-slip}\n"
                    "materials: {paste: {viscosity: 10000, density: 1000}}\n"
                    "emitters:\n"
                    "  - {shape: {box: {min: [0.2, 0.2, -1], max: [0.4, 0.3, 1]}}, speed: 0.5,\n"
                    "     position: {keys: {0: [0, 0, 0], 2: [1, 0, 0]}}}\n");
    double mean[3];
    steps(sim, 80, 0.02);
    double volume = measure(sim, mean);
    assert_close(volume, 0.2 * 0.5 * 1.6 * 0.05, 0.02 * volume);
    assert_true(mean[0] > 0.55 && mean[0] < 1.1);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static const char painted[] =
    "domain: {size: [1, 1], cell: 0.0625, sides: no-slip}\n"
    "particles: {per_cell: 4, rest: true}\n"
    "materials: {a: {viscosity: 1, colour: [0.1, 0.2, 0.3]}, b: {viscosity: 1}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [0.5, 0.5, 1]}}, colour: [x, 1, \"y\"]}\n"
    "  - {shape: {box: {min: [0.5, 0, -1], max: [1, 0.3, 1]}}}\n";

static void test_colour_and_rest_ride_on_particles(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim *sim = create(ctx, painted), *other = create(ctx, painted);
    treacle_frame frame;
    steps(sim, 5, 0.02);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array *colour = treacle_frame_find(&frame, "colour"),
                        *rest = treacle_frame_find(&frame, "rest"),
                        *palette = treacle_frame_find(&frame, "material_colour");
    assert_non_null(colour);
    assert_non_null(rest);
    assert_int_equal(palette->count, 2);
    assert_close((double)((const float*)palette->data)[1], 0.2, 1e-6);
    const float *c = colour->data, *r = rest->data;
    for (int64_t i = 0; i < colour->count; ++i) {
        bool is_first = r[3 * i] < 0.5f;
        assert_close((double)c[3 * i], is_first ? (double)r[3 * i] : 0.1, 1e-5);
        assert_close((double)c[3 * i + 2], is_first ? (double)r[3 * i + 1] : 0.3, 1e-5);
    }
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    assert_true(treacle_sim_hash(other) == treacle_sim_hash(sim));
    treacle_sim_destroy(sim);
    treacle_sim_destroy(other);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drops_come_when_and_where_the_list_says),
        cmocka_unit_test(test_no_two_drops_share_an_id),
        cmocka_unit_test(test_a_moving_nozzle_gives_as_much_as_one_that_stands),
        cmocka_unit_test(test_a_moving_nozzle_lays_a_strand),
        cmocka_unit_test(test_colour_and_rest_ride_on_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
