// A drop that flies and spins: what solves of viscosity make of its motion.
#include <math.h>
#include <stdio.h>

#include "alloc_failure.h"
#include "treacle/treacle.h"

static const char scene[] =
    "domain: {size: [1, 1, 1], cell: 0.0625, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: %s\n"
    "step: {max_dt: 0.02}\n"
    "density_correction: false\n"
    "viscosity_solve: {%s}\n"
    "materials: {thick: {density: 1000, viscosity: %g}}\n"
    "liquids:\n"
    "  - {shape: {box: {size: [0.4, 0.25, 0.3]}, move: [%g, 0.5, 0.5]}, velocity: [0.5, 0, 0],\n"
    "     spin: [0, 1, 2], spin_centre: [%g, 0.5, 0.5]}\n";

typedef struct motion {
    double linear[3], angular[3]; // kg m/s, kg m^2/s
} motion;

static motion measure(treacle_sim* sim) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const int32_t* coord = treacle_frame_find(&frame, "tile_coord")->data;
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const float* position = treacle_frame_find(&frame, "position")->data;
    const float* velocity = treacle_frame_find(&frame, "velocity")->data;
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    const int64_t* rows = first->data;
    double mass = 0.0, centre[3] = {0};
    motion out = {{0}, {0}};
    for (int round = 0; round < 2; ++round) {
        for (int64_t t = 0; t + 1 < first->count; ++t) {
            for (int64_t i = rows[t]; i < rows[t + 1]; ++i) {
                double m = 1000.0 * (double)volume[i], x[3], v[3];
                for (int a = 0; a < 3; ++a) {
                    x[a] = frame.cell * (8.0 * coord[3 * t + a] + (double)position[3 * i + a]);
                    v[a] = (double)velocity[3 * i + a];
                    centre[a] += round == 0 ? m * x[a] : 0.0;
                    out.linear[a] += round == 0 ? m * v[a] : 0.0;
                }
                mass += round == 0 ? m : 0.0;
                for (int a = 0; a < 3 && round == 1; ++a) {
                    int b = (a + 1) % 3, c = (a + 2) % 3;
                    out.angular[a] += m * ((x[b] - centre[b]) * v[c] - (x[c] - centre[c]) * v[b]);
                }
            }
        }
        for (int a = 0; a < 3 && round == 0; ++a) {
            centre[a] /= mass;
        }
    }
    return out;
}

static double size_of(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

typedef struct kept {
    double linear, angular; // shares
} kept;

static kept fly(const char* flow, const char* solve, double viscosity, double at) {
    treacle_context* ctx = unit_context(1);
    treacle_scene* s = NULL;
    treacle_sim* sim = NULL;
    char text[2000];
    snprintf(text, sizeof(text), scene, flow, solve, viscosity, at, at);
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &s),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(s), &sim), TREACLE_OK);
    motion before = measure(sim);
    for (int i = 0; i < 5; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
    }
    motion after = measure(sim);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(s);
    unit_context_end(ctx);
    kept out = {size_of(after.linear) / size_of(before.linear),
                size_of(after.angular) / size_of(before.angular)};
    print_message("%s, %s: keeps %.4f of its motion and %.4f of its spin\n", flow, solve,
                  out.linear, out.angular);
    return out;
}

static const char decoupled[] = "method: decoupled, surface: neumann";
static const char returned[] = "method: decoupled, surface: neumann, free_flight: true";

static void test_the_decoupled_solve_stops_what_spins(void** state) {
    (void)state;
    assert_true(fly("split", decoupled, 1e5, 0.5).angular < 0.1);
}

static void test_free_flight_gives_motion_and_spin_back(void** state) {
    (void)state;
    kept k = fly("split", returned, 1e5, 0.5);
    assert_close(k.linear, 1.0, 0.01);
    assert_close(k.angular, 1.0, 0.1); // transfers take some
}

static void test_other_solves_do_not_need_it(void** state) {
    (void)state;
    kept unified = fly("unified", "method: implicit", 1e5, 0.5);
    kept split = fly("split", "method: implicit", 1e5, 0.5);
    assert_close(unified.linear, 1.0, 0.01);
    assert_close(unified.angular, 1.0, 0.05);
    assert_close(split.linear, 1.0, 0.01);
    assert_close(split.angular, 1.0, 0.05);
}

static void test_liquid_at_a_wall_is_not_in_flight(void** state) {
    (void)state;
    kept with = fly("split", returned, 1e5, 0.2), without = fly("split", decoupled, 1e5, 0.2);
    assert_true(with.angular == without.angular);
}

static treacle_status step_once(treacle_context* ctx, void* data) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_status status = treacle_sim_create(ctx, treacle_scene_sim(data), &sim);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 0.01, &stats);
    }
    treacle_sim_destroy(sim);
    return status;
}

static void test_failing_memory_is_survived(void** state) {
    (void)state;
    static const char flat[] =
        "domain: {size: [1, 1], cell: 0.0625, sides: slip}\n"
        "flow: split\n"
        "viscosity_solve: {method: decoupled, surface: neumann, free_flight: true}\n"
        "materials: {thick: {viscosity: 100}}\n"
        "liquids: [{shape: {sphere: {radius: 0.2, centre: [0.5, 0.5, 0]}}}]\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* s = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", flat, strlen(flat), 0, NULL, &s),
                     TREACLE_OK);
    ALLOC_FAILURE_CHECK(step_once, s);
    treacle_scene_destroy(s);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_decoupled_solve_stops_what_spins),
        cmocka_unit_test(test_free_flight_gives_motion_and_spin_back),
        cmocka_unit_test(test_other_solves_do_not_need_it),
        cmocka_unit_test(test_liquid_at_a_wall_is_not_in_flight),
        cmocka_unit_test(test_failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
