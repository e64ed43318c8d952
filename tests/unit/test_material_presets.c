// The materials library, and its page in the manual: docs/manual/materials.md is what this test
// prints. TREACLE_UPDATE=1 writes it anew.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "treacle/treacle.h"
#include "unit/unit.h"

enum { PAGE_MAX = 1 << 16 };
static const char page_path[] = "docs/manual/materials.md";

static const char* const laws[] = {"Newtonian", "power law", "Carreau", "Bingham",
                                   "Herschel-Bulkley"};

static void test_names_find_their_presets(void** state) {
    (void)state;
    assert_true(treacle_material_preset_count() >= 17);
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_preset* p = treacle_material_preset_at(i);
        assert_ptr_equal(treacle_material_preset_find(p->name), p);
        assert_string_equal(p->material.name, p->name);
        assert_true(strlen(p->source) > 10);
        assert_true(p->material.merges);
    }
    assert_null(treacle_material_preset_find("mud"));
    assert_null(treacle_material_preset_at(-1));
    assert_string_equal(treacle_material_preset_suggest("hony"), "honey");
}

// Newtonian rows with a law of temperature give their own viscosity at their own temperature.
static void test_temperature_laws_agree_with_their_rows(void** state) {
    (void)state;
    int count = 0;
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_preset* p = treacle_material_preset_at(i);
        if (p->vogel[1] != 0.0) {
            double mu = pow(10.0, p->vogel[0] + p->vogel[1] / (p->temperature - p->vogel[2]));
            assert_close(mu / p->material.viscosity, 1.0, 0.01);
            count += 1;
        }
    }
    assert_true(count >= 6);
}

static void test_every_preset_makes_a_scene(void** state) {
    (void)state;
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        treacle_context* ctx = unit_context(1);
        char text[512];
        snprintf(
            text, sizeof(text),
            "domain: {size: [1, 1], cell: 0.125}\n"
            "liquids: [{shape: {sphere: {radius: 0.3, centre: [0.5, 0.5, 0]}}, material: %s}]\n",
            treacle_material_preset_at(i)->name);
        treacle_scene* scene = NULL;
        assert_int_equal(treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &scene),
                         TREACLE_OK);
        const treacle_sim_def* sim = treacle_scene_sim(scene);
        assert_int_equal(sim->material_count, 1);
        const treacle_material_preset* p = treacle_material_preset_at(i);
        assert_string_equal(sim->materials[0].name, p->name);
        // A scene without materials has water of its own, without viscosity.
        double density = i == 0 ? 1000.0 : p->material.density;
        assert_close(sim->materials[0].density, density, 0.0);
        treacle_scene_destroy(scene);
        unit_context_end(ctx);
    }
}

static void test_keys_override_the_preset(void** state) {
    (void)state;
    static const char text[] = "domain: {size: [1, 1], cell: 0.125}\n"
                               "materials:\n"
                               "  thick: {viscosity: 20, preset: honey}\n"
                               "  sauce: ketchup\n"
                               "  mild: {preset: ketchup, rheology: {yield_stress: 5 Pa}}\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    const treacle_material_def* m = treacle_scene_sim(scene)->materials;
    assert_string_equal(m[0].name, "thick");
    assert_close(m[0].density, 1420.0, 0.0);
    assert_close(m[0].viscosity, 20.0, 0.0);
    assert_string_equal(m[1].name, "sauce");
    assert_int_equal(m[1].rheology.law, TREACLE_RHEOLOGY_HERSCHEL_BULKLEY);
    assert_close(m[2].rheology.yield_stress, 5.0, 0.0);
    assert_close(m[2].rheology.consistency, 18.7, 0.0);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// --- the page -----------------------------------------------------------------------------------

static const char head[] =
    "# Materials\n\n"
    "This page lists the real liquids that the library knows, its presets. In a scene a preset is "
    "a material's name, or a key of a material of your\nown:\n\n"
    "```yaml\n"
    "liquids:\n"
    "  - {shape: {sphere: {radius: 3 cm}}, material: honey}   # the preset as it is\n"
    "materials:\n"
    "  cold honey: {preset: honey, viscosity: 70 Pa.s}        # from which this one differs\n"
    "  sauce: ketchup                                         # short for {preset: ketchup}\n"
    "```\n\n"
    "A name in `materials` goes before a preset of the same name. `treacle materials honey` tells "
    "all about one preset,\n`treacle materials --json` is for scripts. The laws are explained in "
    "[rheology](../math/rheology.md).\n\n"
    "| name | what | at | density, kg/m^3 | flow | viscosity at 1/s, Pa s | at 100/s |\n"
    "|---|---|---|---|---|---|---|\n";

static int write_flow(char* out, size_t room, const treacle_material_def* m) {
    const treacle_rheology_def* r = &m->rheology;
    switch (r->law) {
    case TREACLE_RHEOLOGY_POWER_LAW:
        return snprintf(out, room, "%s: K %g, n %g", laws[r->law], r->consistency, r->exponent);
    case TREACLE_RHEOLOGY_CARREAU:
        return snprintf(out, room, "%s: %g to %g Pa s, time %g s, n %g", laws[r->law], m->viscosity,
                        r->viscosity_infinite, r->time, r->exponent);
    case TREACLE_RHEOLOGY_BINGHAM:
        return snprintf(out, room, "%s: %g Pa s, yield %g Pa", laws[r->law], m->viscosity,
                        r->yield_stress);
    case TREACLE_RHEOLOGY_HERSCHEL_BULKLEY:
        return snprintf(out, room, "%s: K %g, n %g, yield %g Pa", laws[r->law], r->consistency,
                        r->exponent, r->yield_stress);
    case TREACLE_RHEOLOGY_NEWTONIAN:
        break;
    }
    return snprintf(out, room, "%s", laws[r->law]);
}

static void write_page(char page[PAGE_MAX]) {
    size_t n = (size_t)snprintf(page, PAGE_MAX, "%s", head);
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_preset* p = treacle_material_preset_at(i);
        n += (size_t)snprintf(page + n, PAGE_MAX - n, "| `%s` | %s | %.0f C | %g | ", p->name,
                              p->text, p->temperature - 273.15, p->material.density);
        n += (size_t)write_flow(page + n, PAGE_MAX - n, &p->material);
        n += (size_t)snprintf(page + n, PAGE_MAX - n, " | %.4g | %.4g |\n",
                              treacle_material_viscosity(&p->material, 1.0),
                              treacle_material_viscosity(&p->material, 100.0));
    }
    n += (size_t)snprintf(page + n, PAGE_MAX - n, "\n## Sources\n\n");
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_preset* p = treacle_material_preset_at(i);
        n += (size_t)snprintf(page + n, PAGE_MAX - n, "- `%s`%s: %s.", p->name,
                              p->is_typical ? " (typical figures)" : "", p->source);
        if (p->vogel[1] != 0.0) {
            n += (size_t)snprintf(page + n, PAGE_MAX - n,
                                  " With temperature: log10(mu / Pa s) = %g + %g / (T/K - %g).",
                                  p->vogel[0], p->vogel[1], p->vogel[2]);
        }
        n += (size_t)snprintf(page + n, PAGE_MAX - n, "\n");
    }
    assert_true(n < PAGE_MAX);
}

static void test_the_manual_shows_the_table(void** state) {
    (void)state;
    static char page[PAGE_MAX], file_text[PAGE_MAX];
    write_page(page);
    if (getenv("TREACLE_UPDATE") != NULL) {
        FILE* file = fopen(page_path, "wb");
        assert_non_null(file);
        fputs(page, file);
        fclose(file);
    }
    FILE* file = fopen(page_path, "rb");
    assert_non_null(file);
    size_t length = fread(file_text, 1, PAGE_MAX - 1, file);
    fclose(file);
    file_text[length] = '\0';
    assert_string_equal(file_text, page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_find_their_presets),
        cmocka_unit_test(test_temperature_laws_agree_with_their_rows),
        cmocka_unit_test(test_every_preset_makes_a_scene),
        cmocka_unit_test(test_keys_override_the_preset),
        cmocka_unit_test(test_the_manual_shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
