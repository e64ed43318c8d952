// How much memory steps have at their peak, in bytes a particle: what the library asks for, which
// does not depend on the machine. A commit that takes more shows here; `build/bench memory` says
// who has it.
//
// A bound that is raised needs its reason in the commit that raises it. Bounds are a few per cent
// above what was measured; one that is more than a tenth above fails, too, for it guards nothing:
// lower it.
#include "treacle/scene.h"
#include "treacle/sim.h"
#include "unit/unit.h"

enum { STEPS = 4 };

typedef struct memory_case {
    const char* name;
    double bound;     // bytes a particle
    const char* text; // scene
} memory_case;

#define DAM(cells)                                                                                 \
    "domain: {size: [1, 1, 1], resolution: " cells "}\n"                                           \
    "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.4, 0.5, 1]}}}]\n"
#define POOL(cells)                                                                                \
    "domain: {size: [1, 1, 1], resolution: " cells ", sides: {all: slip, bottom: no-slip}}\n"      \
    "step: {max_dt: 16 ms}\n"                                                                      \
    "materials: {goo: {density: 1000, viscosity: 1500}}\n"                                         \
    "liquids:\n"                                                                                   \
    "  - shape:\n"                                                                                 \
    "      union:\n"                                                                               \
    "        - box: {min: [-1, -1, -1], max: [2, 0.25, 2]}\n"                                      \
    "        - sphere: {radius: 0.25, centre: [0.5, 0.625, 0.5]}\n"

static const memory_case cases[] = {
    {"APIC dam 32^3", 246.0, "transfer: apic\n" DAM("32")},
    {"APIC dam 48^3", 209.0, "transfer: apic\n" DAM("48")},
    {"FLIP dam 32^3", 172.0, "transfer: flip\n" DAM("32")},
    {"FLIP dam 48^3", 141.0, "transfer: flip\n" DAM("48")},
    {"thick pool 32^3", 685.0, POOL("32")},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static double bytes_a_particle(const memory_case* c) {
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", c->text, strlen(c->text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    for (int i = 0; i < STEPS; ++i) {
        assert_int_equal(treacle_sim_step(sim, 1.0 / 60, &stats), TREACLE_OK);
    }
    double bytes = (double)treacle_context_memory_peak(ctx) / (double)stats.particles;
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
    return bytes;
}

static void test_steps_keep_to_their_memory(void** state) {
    (void)state;
    bool is_good = true;
    for (int i = 0; i < CASES; ++i) {
        double bytes = bytes_a_particle(&cases[i]);
        bool is_over = bytes > cases[i].bound, is_loose = cases[i].bound > 1.1 * bytes;
        print_message("%-16s %.1f bytes a particle, %.0f at most%s\n", cases[i].name, bytes,
                      cases[i].bound,
                      is_over    ? ": TOO MANY"
                      : is_loose ? ": the bound guards nothing, lower it"
                                 : "");
        is_good = is_good && !is_over && !is_loose;
    }
    assert_true(is_good);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_keep_to_their_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
