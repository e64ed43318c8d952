// What `treacle check` says of surface tension, and where it is left out.
#include <math.h>

#include "treacle/materials.h"
#include "treacle/scene.h"
#include "treacle/unstable/stages.h"
#include "unit.h"

// A drop of honey 4 mm wide, and a nozzle of 2 mm.
static const char drop[] =
    "frames: 10\n"
    "domain: {size: [2 cm, 2 cm, 2 cm], cell: 0.5 mm}\n"
    "materials: {honey: {preset: honey, surface_tension: 60 mN/m}}\n"
    "liquids: [{shape: {sphere: {radius: 2 mm, centre: [1 cm, 5 mm, 1 cm]}}, material: honey}]\n"
    "emitters:\n"
    "  - shape: {cylinder: {radius: 1 mm, height: 4 mm, centre: [1 cm, 18 mm, 1 cm]}}\n"
    "    material: honey\n"
    "    speed: 0.1 m/s\n";

static treacle_tension_estimate ask(const char* set, int index) {
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_tension_estimate out;
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", drop, sizeof(drop) - 1, set != NULL ? 1 : 0,
                                         &set, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_scene_tension(scene, index, &out), TREACLE_OK);
    assert_int_equal(treacle_scene_tension(scene, 2, &(treacle_tension_estimate){0}),
                     TREACLE_ERR_USAGE);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
    return out;
}

static void test_numbers_are_those_of_the_liquid(void** state) {
    (void)state;
    treacle_tension_estimate e = ask(NULL, 0);
    assert_close(e.length, 4e-3, 1e-9);
    assert_close(e.capillary, sqrt(0.06 / (1420.0 * 9.81)), 1e-9);
    assert_close(e.bond, 1420.0 * 9.81 * 16e-6 / 0.06, 1e-6);
    assert_close(e.ohnesorge, 10.0 / sqrt(1420.0 * 0.06 * 4e-3), 1e-6);
    assert_close(e.speed, 1420.0 * 9.81 * 16e-6 / 10.0, 1e-9); // it creeps
    assert_close(e.capillarity, 10.0 * e.speed / 0.06, 1e-9);
    assert_true(!e.is_left_out);
}

static void test_streams_have_the_speed_of_their_nozzle(void** state) {
    (void)state;
    treacle_tension_estimate e = ask(NULL, 1);
    assert_close(e.length, 2e-3, 1e-9);
    assert_close(e.speed, 0.1, 1e-12);
}

static void test_what_the_scene_does_not_give_is_known_of_presets(void** state) {
    (void)state;
    treacle_tension_estimate e = ask("materials.honey.surface_tension=0", 0);
    assert_true(e.tension == 0.0 && !e.is_left_out);
    assert_close(e.known, 0.06, 1e-12);
    assert_close(e.bond, 1420.0 * 9.81 * 16e-6 / 0.06, 1e-6);
}

// A pool of honey in cells of a given width, in metres, under a gravity.
static bool has_tension(double cell, double gravity) {
    treacle_context* ctx = unit_context(1);
    treacle_material_def material = treacle_material_preset_find("honey")->material;
    material.surface_tension = 0.06;
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    box.size[0] = box.size[1] = box.size[2] = 8.0 * cell;
    box.move[0] = box.move[1] = 8.0 * cell;
    treacle_liquid_def liquid = treacle_liquid_def_default();
    liquid.shape = &box;
    treacle_key g = {.value = {0.0, -gravity, 0.0}};
    treacle_sim_def def = treacle_sim_def_default();
    def.domain.size[0] = def.domain.size[1] = 16.0 * cell;
    def.domain.size[2] = 0.0;
    def.domain.cell = cell;
    def.gravity = (treacle_curve){.count = 1, .keys = &g};
    def.material_count = 1;
    def.materials = &material;
    def.liquid_count = 1;
    def.liquids = &liquid;
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 1e-3, &stats), TREACLE_OK);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return stats.energy.surface > 0.0;
}

// Cells of 15.7 capillary lengths are where it ends.
static void test_tension_is_left_out_where_it_does_nothing(void** state) {
    (void)state;
    double length = sqrt(0.06 / (1420.0 * 9.81));
    assert_true(has_tension(15.0 * length, 9.81));
    assert_true(!has_tension(16.0 * length, 9.81));
    assert_true(has_tension(1.0, 0.0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_those_of_the_liquid),
        cmocka_unit_test(test_streams_have_the_speed_of_their_nozzle),
        cmocka_unit_test(test_what_the_scene_does_not_give_is_known_of_presets),
        cmocka_unit_test(test_tension_is_left_out_where_it_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
