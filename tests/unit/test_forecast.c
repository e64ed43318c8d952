// What a forecast says against what the run then takes, in work that is counted: loops and their
// items are the same on every machine and under every load.
#include <math.h>

#include "base/context.h"
#include "run/forecast.h"
#include "treacle/run.h"
#include "unit/unit.h"

typedef struct forecast_case {
    const char* name;
    int frames;
    const char* text;
} forecast_case;

static const forecast_case cases[] = {
    {"water in a plane", 24,
     "domain: {size: [0.96, 0.48], cell: 1.5 cm}\n"
     "particles: {per_cell: 4}\n"
     "liquids: [{shape: {box: {min: [0, 0], max: [0.3, 0.4]}}}]\n"},
    {"a dam that breaks", 24,
     "domain: {size: [0.64, 0.4, 0.16], cell: 2 cm}\n"
     "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.2, 0.3, 0.16]}}}]\n"},
    {"a drop into a pool", 18,
     "domain: {size: [0.32, 0.4, 0.32], cell: 2 cm, separation: on}\n"
     "liquids:\n"
     "  - {shape: {box: {min: [0, 0, 0], max: [0.32, 0.1, 0.32]}}}\n"
     "  - {shape: {sphere: {radius: 5 cm, centre: [0.15, 0.3, 0.15]}}}\n"},
    {"honey from a nozzle", 24,
     "domain: {size: [4 cm, 6 cm, 4 cm], cell: 2 mm, sides: {all: open, bottom: no-slip}}\n"
     "materials: {honey: {density: 1400, viscosity: 10}}\n"
     "emitters:\n"
     "  - shape: {cylinder: {radius: 5 mm, height: 4 mm, centre: [2 cm, 5 cm, 2 cm]}}\n"
     "    material: honey\n"
     "    speed: 10 cm/s\n"},
    {"paste that yields", 12,
     "domain: {size: [16 cm, 12 cm, 16 cm], cell: 1 cm, sides: {all: no-slip, top: open}}\n"
     "materials: {paste: {density: 1000, rheology: {law: herschel-bulkley, yield_stress: 50, "
     "consistency: 10}}}\n"
     "liquids: [{shape: {cylinder: {radius: 4 cm, height: 8 cm, centre: [8 cm, 5 cm, 8 cm]}}, "
     "material: paste}]\n"},
    {"gel that falls", 18,
     "domain: {size: [16 cm, 16 cm, 16 cm], cell: 1 cm, sides: {all: slip, top: open}}\n"
     "materials: {goop: {density: 1000, viscosity: 0.5, elastic: {mu_e: 4000, alpha: 10, gamma: "
     "0.1}}}\n"
     "liquids: [{shape: {box: {min: [4 cm, 5 cm, 4 cm], max: [12 cm, 13 cm, 12 cm]}}, material: "
     "goop}]\n"},
    {"bodies in a tank", 18,
     "domain: {size: [24 cm, 24 cm, 24 cm], cell: 1.5 cm}\n"
     "liquids: [{shape: {box: {min: [0, 0, 0], max: [24 cm, 12 cm, 24 cm]}}}]\n"
     "bodies:\n"
     "  cork: {shape: {sphere: {radius: 4 cm, centre: [7 cm, 15 cm, 12 cm]}}, density: 200}\n"
     "  die: {shape: {box: {size: [6 cm, 6 cm, 6 cm], centre: [17 cm, 18 cm, 12 cm]}}, density: "
     "2500}\n"},
    {"wax that melts", 18,
     "domain: {size: [6 cm, 8 cm, 6 cm], cell: 4 mm}\n"
     "materials:\n"
     "  wax: {density: 850, viscosity: 0.05, conductivity: 25, heat_capacity: 2400, latent_heat: "
     "20 kJ/kg, solidus: 52 degC, liquidus: 60 degC, viscosity_law: {kind: linear, from: 52 degC, "
     "to: 60 degC, low: 10000, high: 0.05}}\n"
     "heat_walls: [{side: bottom, temperature: 120 degC}]\n"
     "liquids: [{shape: {box: {min: [1 cm, 0, 1 cm], max: [5 cm, 5 cm, 5 cm]}}, material: wax, "
     "temperature: 45 degC}]\n"},
    {"honey in a film that is eight times as fast", 10,
     "fps: 24\n"
     "time_lapse: 8\n"
     "domain: {size: [8 cm, 6 cm], cell: 2 mm, sides: {all: no-slip, top: open}}\n"
     "materials: {honey: {density: 1400, viscosity: 10}}\n"
     "liquids: [{shape: {box: {min: [0, 0], max: [3 cm, 5 cm]}}, material: honey}]\n"},
    {"smoke in a box", 18,
     "domain: {size: [0.4, 0.6, 0.4], cell: 2.5 cm}\n"
     "fill: all\n"
     "materials: {air: {density: 1.2, marker_buoyancy: 0.3}}\n"
     "liquids: [{shape: {sphere: {radius: 8 cm, centre: [0.2, 0.15, 0.2]}}, marker: 1}]\n"},
    {"a dam on the grid", 12,
     "domain: {size: [0.64, 0.32], cell: 1 cm}\n"
     "motion: eulerian\n"
     "liquids: [{shape: {box: {min: [0, 0], max: [0.2, 0.25]}}}]\n"},
};

// A loop costs something without items, too.
static double counted_work(const treacle_context* ctx) {
    return (double)ctx->work.items + 20.0 * (double)ctx->work.loops;
}

static double take_run(const treacle_sim_def* def, int frames) {
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, def, &sim), TREACLE_OK);
    double begin = counted_work(ctx), end = treacle_sim_def_frame_time(def, frames);
    double rate = 1.0 / treacle_sim_def_frame_time(def, 2);
    while ((end - treacle_sim_time(sim)) * rate > 1e-9) {
        treacle_step_stats stats;
        double frame = floor(treacle_sim_time(sim) * rate + 1e-6) + 1.0;
        assert_int_equal(treacle_sim_step(sim, frame / rate - treacle_sim_time(sim), &stats),
                         TREACLE_OK);
    }
    double work = counted_work(ctx) - begin;
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return work;
}

static treacle_scene* parse(treacle_context* ctx, const char* text, int frames) {
    char set[32];
    const char* const sets[] = {set};
    treacle_scene* scene = NULL;
    snprintf(set, sizeof(set), "frames=%d", frames);
    treacle_status status = treacle_scene_parse(ctx, "a.yaml", text, strlen(text), 1, sets, &scene);
    if (status != TREACLE_OK) {
        print_message("%s", treacle_scene_report(scene));
    }
    assert_int_equal(status, TREACLE_OK);
    return scene;
}

static void test_forecast_is_within_a_factor_of_two(void** state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        treacle_context* ctx = unit_context(1);
        treacle_scene* scene = parse(ctx, cases[i].text, cases[i].frames);
        const treacle_sim_def* def = treacle_scene_sim(scene);
        double work = take_run(def, cases[i].frames), found = 0.0;
        treacle_estimate counted;
        assert_int_equal(treacle_scene_estimate(scene, &counted), TREACLE_OK);
        double rows = (double)counted.particles_end;
        assert_int_equal(
            forecast_run(ctx, def, cases[i].frames - 1, rows, work / 8.0, counted_work, &found),
            TREACLE_OK);
        print_message("%-20s taken %.3g, foreseen %.3g, ratio %.2f\n", cases[i].name, work, found,
                      found / work);
        wrong += !(found > 0.5 * work && found < 2.0 * work);
        treacle_scene_destroy(scene);
        unit_context_end(ctx);
    }
    assert_int_equal(wrong, 0);
}

static void test_run_that_there_is_time_for_is_measured_to_its_end(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx, cases[0].text, 121);
    const treacle_sim_def* def = treacle_scene_sim(scene);
    double work = take_run(def, 4), found = 0.0;
    assert_int_equal(forecast_run(ctx, def, 3, 0.0, 100.0 * work, counted_work, &found),
                     TREACLE_OK);
    assert_close(found, work, 1e-6 * work);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// The first step of such a scene alone would take hours.
static void test_scene_that_is_too_large_is_asked_in_wide_cells(void** state) {
    (void)state;
    static const char text[] = "domain: {size: [10, 10, 10], cell: 5 mm}\n"
                               "liquids: [{shape: {box: {min: [0, 0, 0], max: [10, 5, 10]}}}]\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx, text, 120);
    treacle_run_def run = treacle_run_def_default();
    treacle_estimate quick, tried;
    assert_int_equal(treacle_run_estimate(ctx, scene, &run, 0.0, &quick), TREACLE_OK);
    assert_int_equal(treacle_run_estimate(ctx, scene, &run, 0.2, &tried), TREACLE_OK);
    assert_false(quick.is_measured);
    assert_true(tried.is_measured);
    assert_int_equal(tried.particles, quick.particles);
    assert_true(tried.seconds > 3600.0);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_previews_take_time(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx, cases[0].text, 121);
    treacle_run_def run = treacle_run_def_default();
    treacle_estimate without, with;
    assert_int_equal(treacle_run_estimate(ctx, scene, &run, 0.0, &without), TREACLE_OK);
    run.preview = true;
    assert_int_equal(treacle_run_estimate(ctx, scene, &run, 0.0, &with), TREACLE_OK);
    assert_true(with.seconds > without.seconds + 5.0); // of 121 previews
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forecast_is_within_a_factor_of_two),
        cmocka_unit_test(test_run_that_there_is_time_for_is_measured_to_its_end),
        cmocka_unit_test(test_scene_that_is_too_large_is_asked_in_wide_cells),
        cmocka_unit_test(test_previews_take_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
