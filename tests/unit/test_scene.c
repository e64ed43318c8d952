#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "treacle/treacle.h"
#include "unit/unit.h"

#include "unit/alloc_failure.h"

static const char small[] = "domain: {size: [1, 1, 1], cell: 0.1}\n"
                            "materials:\n"
                            "  honey: {density: 1400, viscosity: 1e-3 m^2/s, colour: \"#ffffff\"}\n"
                            "  milk: {density: 1030}\n"
                            "liquids:\n"
                            "  - shape: {sphere: {radius: 20 cm, centre: [0.5, 0.5, 0.5]}}\n"
                            "    material: milk\n";

// Parses, asserts success and hands the scene out.
static treacle_scene* parse(treacle_context* ctx, const char* text, int set_count,
                            const char* const* sets) {
    treacle_scene* scene = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "test.yaml", text, strlen(text), set_count, sets, &scene);
    if (status != TREACLE_OK) {
        print_message("%s\n",
                      scene == NULL ? treacle_context_error(ctx) : treacle_scene_report(scene));
    }
    assert_int_equal(status, TREACLE_OK);
    return scene;
}

static void test_values_arrive_in_the_defs(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_load(ctx, "tests/scene/good/everything.yaml", 0, NULL, &scene),
                     TREACLE_OK);
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    assert_int_equal(sim->def_size, sizeof(treacle_sim_def));
    assert_close(sim->fps, 25.0, 0.0);
    assert_true(sim->seed == (uint64_t)INT64_MAX);
    assert_close(sim->domain.origin[0], -0.2, 0.0);
    assert_close(sim->domain.size[0], 0.4, 1e-15);
    assert_int_equal(sim->domain.sides[0][0], TREACLE_SIDE_NO_SLIP);
    assert_int_equal(sim->domain.sides[1][1], TREACLE_SIDE_OPEN);
    assert_int_equal(sim->gravity.count, 3);
    assert_close(sim->gravity.keys[1].value[1], -9.81, 1e-15);
    assert_int_equal(sim->particles.per_cell, 27);
    assert_close(sim->step.min_dt, 1e-6, 0.0);
    assert_int_equal(sim->transfer, TREACLE_TRANSFER_FLIP);
    assert_true(sim->flip_from_viscosity);
    assert_false(sim->reseed);
    assert_int_equal(sim->material_count, 4);
    assert_string_equal(sim->materials[0].name, "golden syrup");
    assert_close(sim->materials[0].reference_temperature, 293.15, 1e-12);
    assert_close(sim->materials[1].viscosity, 90e-6 * 910.0, 1e-15);
    assert_close(sim->materials[2].viscosity, 50.0, 0.0);
    assert_int_equal(sim->liquid_count, 2);
    assert_int_equal(sim->liquids[0].material, 1);
    assert_int_equal(sim->liquids[0].shape->kind, TREACLE_SHAPE_UNION);
    assert_int_equal(sim->liquids[0].shape->child_count, 3);
    assert_close(sim->liquids[0].shape->rotate[1], acos(-1.0) / 4.0, 1e-15);
    assert_int_equal(sim->liquids[0].velocity.kind, TREACLE_FIELD_RAMP);
    assert_close(sim->liquids[0].velocity.value_b[0], 1.0 / 3.6, 1e-15);
    assert_close(sim->liquids[0].spin[1], acos(-1.0), 1e-15);
    assert_int_equal(sim->liquids[0].marker.kind, TREACLE_FIELD_EXPRESSION);
    assert_string_equal(sim->liquids[1].velocity.expression[1], "-0.2");
    assert_int_equal(sim->emitters[0].rate.count, 3);
    assert_close(sim->emitters[0].rate.keys[1].value[0], 2e-3 / 60.0, 1e-18);
    assert_close(sim->emitters[0].stop, 1.5, 0.0);
    assert_true(isinf(sim->emitters[1].stop));
    assert_int_equal(sim->force_count, 2);
    assert_null(sim->forces[1].shape);
    assert_int_equal(treacle_scene_output(scene)->frames, 48);
    assert_int_equal(treacle_scene_output(scene)->state_every, 10);
    assert_string_equal(treacle_scene_output(scene)->name, "every-thing_1.0");
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_what_is_not_said_has_its_default(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx, "domain: {size: [1, 1, 1], cell: 0.1}\n", 0, NULL);
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    treacle_sim_def expected = treacle_sim_def_default();
    assert_close(sim->step.cfl, expected.step.cfl, 0.0);
    assert_close(sim->step.max_dt, expected.step.max_dt, 0.0);
    assert_close(sim->step.min_dt, expected.step.min_dt, 0.0);
    assert_int_equal(sim->step.splitting, expected.step.splitting);
    assert_int_equal(sim->particles.per_cell, expected.particles.per_cell);
    assert_close(sim->particles.jitter, expected.particles.jitter, 0.0);
    assert_int_equal(sim->flow, expected.flow);
    assert_close(sim->gravity.keys[0].value[1], expected.gravity.keys[0].value[1], 0.0);
    assert_int_equal(sim->material_count, 1);
    assert_string_equal(sim->materials[0].name, treacle_material_def_default().name);
    assert_string_equal(treacle_scene_output(scene)->name, "test");
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_flat_domain_has_its_plane_in_the_middle_of_the_cells(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx,
                                 "domain: {size: [0.8, 0.4], cell: 0.05}\n"
                                 "liquids:\n"
                                 "  - shape: {box: {min: [0, 0], max: [0.2, 0.2]}}\n",
                                 0, NULL);
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    assert_close(sim->domain.origin[2], -0.025, 0.0);
    assert_close(sim->domain.size[2], 0.0, 0.0);
    assert_close(sim->liquids[0].shape->size[2], 0.05, 0.0);
    treacle_estimate estimate;
    assert_int_equal(treacle_scene_estimate(scene, &estimate), TREACLE_OK);
    assert_int_equal(estimate.cells[0], 16);
    assert_int_equal(estimate.cells[2], 1);
    assert_close((double)estimate.particles, 16.0 * sim->particles.per_cell, 2.0);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// The point of a plane's def that its rotation and move take from y = 0 must fit the normal.
static void test_plane_turns_to_its_normal(void** state) {
    (void)state;
    static const double normals[][3] = {{0, 1, 0},  {0, -1, 0}, {1, 0, 0}, {-1, 0, 0},
                                        {0, 0, 1},  {0, 0, -1}, {1, 2, 3}, {-3, 0.1, 2},
                                        {1, -1, 0}, {0, -5, 1}};
    treacle_context* ctx = unit_context(1);
    for (size_t i = 0; i < sizeof(normals) / sizeof(normals[0]); ++i) {
        const double* n = normals[i];
        char text[256];
        snprintf(text, sizeof(text),
                 "domain: {size: [1, 1, 1], cell: 0.1}\n"
                 "sinks: [{shape: {plane: {point: [0.5, 0.5, 0.5], normal: [%g, %g, %g]}}}]\n",
                 n[0], n[1], n[2]);
        treacle_scene* scene = parse(ctx, text, 0, NULL);
        const double* r = treacle_scene_sim(scene)->sinks[0].shape->rotate;
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        assert_close(-sin(r[2]) * cos(r[0]), n[0] / length, 1e-15);
        assert_close(cos(r[2]) * cos(r[0]), n[1] / length, 1e-15);
        assert_close(sin(r[0]), n[2] / length, 1e-15);
        assert_close(r[1], 0.0, 0.0);
        treacle_scene_destroy(scene);
    }
    unit_context_end(ctx);
}

static void test_settings_lie_on_top(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    static const char* const sets[] = {
        "domain.resolution=20",
        "liquids[0].velocity=[0,1,0]",
        "liquids[0].shape.sphere.radius=1 dm",
        "liquids[1]={shape: {box: {min: [0,0,0], max: [1,0.1,1]}}, material: oil}",
        "materials.oil.density=900",
        "materials.milk.viscosity=2cP",
        "particles={jitter: 0}",
        "gravity=[0, 0, -1]",
        "name=other",
    };
    treacle_scene* scene = parse(ctx, small, 9, sets);
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    assert_close(sim->domain.cell, 0.05, 0.0);
    assert_close(sim->liquids[0].velocity.value_a[1], 1.0, 0.0);
    assert_close(sim->liquids[0].shape->radius, 0.1, 0.0);
    assert_int_equal(sim->liquid_count, 2);
    assert_int_equal(sim->liquids[1].material, 2);
    assert_int_equal(sim->material_count, 3);
    assert_close(sim->materials[1].density, 1030.0, 0.0);
    assert_close(sim->materials[1].viscosity, 2e-3, 0.0);
    assert_close(sim->particles.jitter, 0.0, 0.0);
    assert_int_equal(sim->particles.per_cell, treacle_sim_def_default().particles.per_cell);
    assert_close(sim->gravity.keys[0].value[2], -1.0, 0.0);
    assert_string_equal(treacle_scene_output(scene)->name, "other");
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_includes_lie_below(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_load(ctx, "tests/scene/good/include.yaml", 0, NULL, &scene),
                     TREACLE_OK);
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    assert_int_equal(sim->material_count, 2);
    assert_close(sim->materials[0].density, 1420.0, 0.0);         // from the lowest
    assert_close(sim->materials[0].viscosity, 100.0, 0.0);        // from the one between
    assert_int_equal(sim->domain.sides[0][0], TREACLE_SIDE_OPEN); // from the top
    assert_int_equal(sim->domain.sides[1][1], TREACLE_SIDE_OPEN); // from the lowest
    assert_int_equal(treacle_scene_output(scene)->frames, 120);   // null took 48 away
    assert_string_equal(treacle_scene_output(scene)->name, "include");
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_layout_units_and_comments_do_not_change_the_hash(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* a = parse(ctx, "name: s\ndomain: {size: [1 m, 1, 100 cm], cell: 7 mm}\n", 1,
                             (const char* const[]){"domain.cell=50mm"});
    treacle_scene* b = parse(ctx,
                             "# the same\nfps: 24\ndomain:\n  cell: 0.05\n  size: [1, 1, 1]\nname: "
                             "'s'\n",
                             0, NULL);
    treacle_scene* c =
        parse(ctx, "name: s\nseed: 3\ndomain: {size: [1, 1, 1], cell: 0.05}\n", 0, NULL);
    assert_string_equal(treacle_scene_text(a), treacle_scene_text(b));
    assert_true(treacle_scene_hash(a) == treacle_scene_hash(b));
    assert_true(treacle_scene_hash(a) != treacle_scene_hash(c));
    treacle_scene_destroy(a);
    treacle_scene_destroy(b);
    treacle_scene_destroy(c);
    unit_context_end(ctx);
}

static void test_locale_of_the_program_does_not_matter(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* plain = parse(ctx, small, 0, NULL);
    static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (setlocale(LC_ALL, names[i]) != NULL) {
            treacle_scene* scene = parse(ctx, small, 0, NULL);
            assert_string_equal(treacle_scene_text(scene), treacle_scene_text(plain));
            treacle_scene_destroy(scene);
        }
    }
    setlocale(LC_ALL, "C");
    treacle_scene_destroy(plain);
    unit_context_end(ctx);
}

static void test_diagnostics_are_sorted_and_complete(void** state) {
    (void)state;
    static const char text[] = "frames: 0\n"
                               "domain: {cell: 2 s, size: [1, 1]}\n"
                               "nmae: x\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    static const char* const sets[] = {"fps=fast"};
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", text, strlen(text), 1, sets, &scene),
                     TREACLE_ERR_SCENE);
    assert_int_equal(treacle_scene_diagnostic_count(scene), 4);
    treacle_diagnostic first = treacle_scene_diagnostic(scene, 0);
    assert_string_equal(first.file, "a.yaml");
    assert_int_equal(first.line, 1);
    assert_int_equal(first.column, 9);
    assert_int_equal(first.level, TREACLE_LOG_ERROR);
    treacle_diagnostic last = treacle_scene_diagnostic(scene, 3);
    assert_string_equal(last.file, "--set fps=fast");
    assert_int_equal(last.line, 0);
    assert_string_equal(treacle_scene_report(scene),
                        "a.yaml:1:9: error: frames: must be from 1 to 1000000, got '0'\n"
                        "a.yaml:2:16: error: domain.cell: expected a length such as 3 mm, got a "
                        "time ('2 s')\n"
                        "a.yaml:3:1: error: unknown key 'nmae'; did you mean 'name'?\n"
                        "--set fps=fast: error: fps: expected a frequency such as 24 fps, got "
                        "'fast'\n");
    assert_string_equal(treacle_scene_text(scene), "");
    treacle_estimate estimate;
    assert_int_equal(treacle_scene_estimate(scene, &estimate), TREACLE_ERR_SCENE);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_file_that_is_not_there_is_an_io_error(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_load(ctx, "tests/nowhere.yaml", 0, NULL, &scene),
                     TREACLE_ERR_IO);
    assert_null(scene);
    assert_non_null(strstr(treacle_context_error(ctx), "tests/nowhere.yaml"));
    assert_int_equal(treacle_scene_load(ctx, "tests", 0, NULL, &scene), TREACLE_ERR_IO);
    assert_non_null(strstr(treacle_context_error(ctx), "folder"));
    unit_context_end(ctx);
}

static void test_scene_in_memory_cannot_include(void** state) {
    (void)state;
    static const char text[] = "include: scenes/drop.yaml\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", text, strlen(text), 0, NULL, &scene),
                     TREACLE_ERR_SCENE);
    assert_non_null(strstr(treacle_scene_report(scene), "cannot include files"));
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static void test_estimate_counts_particles_and_what_emitters_bring(void** state) {
    (void)state;
    static const char text[] =
        "domain: {size: [1, 1, 1], cell: 0.05}\n"
        "frames: 25\n"
        "liquids:\n"
        "  - shape: {sphere: {radius: 0.3, centre: [0.5, 0.5, 0.5]}}\n"
        "  - shape: {box: {min: [0.9, 0, 0], max: [3, 1, 1]}}\n" // half of it outside
        "emitters:\n"
        "  - shape: {cylinder: {radius: 5 cm, height: 5 cm, centre: [0.1, 0.9, 0.1]}}\n"
        "    rate: 10 l/s\n"
        "    stop: 0.5 s\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = parse(ctx, text, 0, NULL);
    treacle_estimate e;
    assert_int_equal(treacle_scene_estimate(scene, &e), TREACLE_OK);
    double cell = 0.05 * 0.05 * 0.05;
    double start = 8.0 * (4.0 / 3.0 * acos(-1.0) * 0.027 + 0.1) / cell;
    assert_int_equal(e.cells[0], 20);
    assert_close((double)e.particles, start, 0.01 * start);
    assert_close((double)e.particles_end, start + 8.0 * 0.005 / cell, 0.01 * start);
    assert_true(e.memory > 1e6 && e.memory < 1e9);
    assert_true(e.disk > 1e6 && e.disk < 1e9);
    assert_true(e.seconds > 0.1 && e.seconds < 1e4);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// Memory that fails ------------------------------------------------------------

static treacle_status load_all(treacle_context* ctx, void* data) {
    static const char* const sets[] = {"domain.resolution=40", "liquids[0].marker=x*y"};
    treacle_scene* scene = NULL;
    treacle_estimate estimate;
    treacle_status status = treacle_scene_load(ctx, data, 2, sets, &scene);
    if (status == TREACLE_OK) {
        status = treacle_scene_estimate(scene, &estimate);
    }
    treacle_scene_destroy(scene);
    return status;
}

static treacle_status load_bad(treacle_context* ctx, void* data) {
    treacle_scene* scene = NULL;
    treacle_status status = treacle_scene_load(ctx, data, 0, NULL, &scene);
    treacle_scene_destroy(scene);
    return status == TREACLE_ERR_SCENE ? TREACLE_OK : status;
}

static treacle_status make_reference(treacle_context* ctx, void* data) {
    (void)data;
    char* text = NULL;
    treacle_status status = treacle_scene_reference(ctx, &text);
    treacle_text_free(ctx, text);
    return status;
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    char everything[] = "tests/scene/good/everything.yaml",
         includes[] = "tests/scene/good/include.yaml";
    char many[] = "tests/scene/bad/many_errors.yaml",
         below[] = "tests/scene/bad/include_error_below.yaml";
    ALLOC_FAILURE_CHECK(load_all, everything);
    ALLOC_FAILURE_CHECK(load_all, includes);
    ALLOC_FAILURE_CHECK(load_bad, many);
    ALLOC_FAILURE_CHECK(load_bad, below);
    ALLOC_FAILURE_CHECK(make_reference, NULL);
}

// The manual -------------------------------------------------------------------

// With TREACLE_UPDATE=1 in the environment the page is written anew.
static void test_reference_in_the_manual_is_up_to_date(void** state) {
    (void)state;
    static const char path[] = "docs/manual/scene.md";
    treacle_context* ctx = unit_context(1);
    char* reference = NULL;
    assert_int_equal(treacle_scene_reference(ctx, &reference), TREACLE_OK);
    if (getenv("TREACLE_UPDATE") != NULL) {
        FILE* file = fopen(path, "wb");
        assert_non_null(file);
        fputs(reference, file);
        fclose(file);
    }
    char* manual = unit_read_file(path);
    assert_string_equal(manual, reference);
    free(manual);
    treacle_text_free(ctx, reference);
    unit_context_end(ctx);
}

// Every ```yaml block of the guide is a whole scene and loads without a word.
static void test_scenes_of_the_guide_load(void** state) {
    (void)state;
    char* guide = unit_read_file("docs/manual/scenes.md");
    treacle_context* ctx = unit_context(1);
    int count = 0;
    for (char* at = strstr(guide, "```yaml\n"); at != NULL; at = strstr(at, "```yaml\n")) {
        at += strlen("```yaml\n");
        char* end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        treacle_scene* scene = parse(ctx, at, 0, NULL);
        assert_string_equal(treacle_scene_report(scene), "");
        treacle_scene_destroy(scene);
        at = end + 1;
        count += 1;
    }
    assert_true(count >= 4);
    free(guide);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_arrive_in_the_defs),
        cmocka_unit_test(test_what_is_not_said_has_its_default),
        cmocka_unit_test(test_flat_domain_has_its_plane_in_the_middle_of_the_cells),
        cmocka_unit_test(test_plane_turns_to_its_normal),
        cmocka_unit_test(test_settings_lie_on_top),
        cmocka_unit_test(test_includes_lie_below),
        cmocka_unit_test(test_layout_units_and_comments_do_not_change_the_hash),
        cmocka_unit_test(test_locale_of_the_program_does_not_matter),
        cmocka_unit_test(test_diagnostics_are_sorted_and_complete),
        cmocka_unit_test(test_file_that_is_not_there_is_an_io_error),
        cmocka_unit_test(test_scene_in_memory_cannot_include),
        cmocka_unit_test(test_estimate_counts_particles_and_what_emitters_bring),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_reference_in_the_manual_is_up_to_date),
        cmocka_unit_test(test_scenes_of_the_guide_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
