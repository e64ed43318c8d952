// A solve that does not converge: the step is begun again with half of it, which is told; and if no
// step is short enough, the call fails and nothing has changed.
#include "unit.h"

#include <stdio.h>

#include "treacle/scene.h"
#include "treacle/sim.h"

static const char text[] = "domain: {size: [1, 1, 1], resolution: 24, sides: {all: open, bottom: "
                           "no-slip}}\n"
                           "flow: %s\n"
                           "step: {max_dt: 20 ms, cfl: 5, min_dt: 1e-6}\n"
                           "pressure: {tolerance: 1e-3, max_iterations: %d}\n"
                           "materials: {goo: {density: 1000, viscosity: 30 m^2/s}}\n"
                           "liquids:\n"
                           "  - shape: {box: {min: [0.2, 0, 0.3], max: [0.8, 0.5, 0.7]}}\n"
                           "    viscosity_factor: \"exp(6*sin(20*x))\"\n";

static treacle_sim* open_sim(treacle_context* ctx, const char* flow, int iterations) {
    char scene_text[1024];
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    int length = snprintf(scene_text, sizeof(scene_text), text, flow, iterations);
    assert_int_equal(treacle_scene_parse(ctx, "retry", scene_text, (size_t)length, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    treacle_scene_destroy(scene);
    return sim;
}

static void check_limit(const char* flow, int limit, bool fails, bool retries) {
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = open_sim(ctx, flow, limit);
    treacle_step_stats stats = {0};
    uint64_t before = treacle_sim_hash(sim);
    treacle_status status = treacle_sim_step(sim, 0.02, &stats);
    assert_int_equal(status, fails ? TREACLE_ERR_DIVERGED : TREACLE_OK);
    assert_true(retries == (stats.retries > 0));
    if (fails) {
        assert_non_null(strstr(treacle_context_error(ctx), "solve"));
        assert_true(treacle_sim_hash(sim) == before && treacle_sim_time(sim) == 0.0);
    } else {
        assert_close(stats.dt * pow(2.0, stats.retries), 0.02, 1e-12);
        assert_close(treacle_sim_time(sim), stats.dt, 1e-15);
        assert_true(isfinite(stats.kinetic_energy));
    }
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_a_split_flow_is_tried_again(void** state) {
    (void)state;
    check_limit("split", 2, true, true);
    check_limit("split", 10, false, true);
    check_limit("split", 400, false, false);
}

static void test_a_unified_flow_is_tried_again(void** state) {
    (void)state;
    check_limit("unified", 2, true, true);
    check_limit("unified", 5, false, true);
    check_limit("unified", 200, false, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_split_flow_is_tried_again),
        cmocka_unit_test(test_a_unified_flow_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
