// The help for single sections of a scene, and that its examples are scenes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "defs/schema.h"
#include "defs/schema_examples.h"
#include "treacle/treacle.h"

enum { DEPTH = 4, TEXT_LENGTH = 4096 };

static treacle_context* make_context(void) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

static void check_example(treacle_context* ctx, const char* section) {
    char chars[TEXT_LENGTH];
    const char* lines = schema_example(section);
    treacle_scene* scene = NULL;
    if (lines == NULL) {
        fail_msg("the %s has no example", section);
    }
    bool has_domain = strncmp(lines, "domain:", 7) == 0 || strstr(lines, "\ndomain:") != NULL;
    snprintf(chars, sizeof(chars), "%s%s",
             has_domain ? "" : "domain: {size: [40 cm, 40 cm, 40 cm], cell: 1 cm}\n", lines);
    // As if it lay there, for the mesh.
    treacle_status status =
        treacle_scene_parse(ctx, "scenes/example.yaml", chars, strlen(chars), 0, NULL, &scene);
    if (status != TREACLE_OK) {
        print_message("%s%s", chars, treacle_scene_report(scene));
    }
    assert_int_equal(status, TREACLE_OK);
    treacle_scene_destroy(scene);
}

static void check_section(treacle_context* ctx, const schema_section* section, int depth) {
    char* told = NULL;
    check_example(ctx, section->name);
    assert_int_equal(treacle_scene_help(ctx, section->name, &told), TREACLE_OK);
    assert_non_null(strstr(told, "example:\n"));
    assert_null(strchr(told, '`'));
    treacle_text_free(ctx, told);
    for (int i = 0; i < section->key_count && depth > 0; ++i) {
        const schema_section* of = section->keys[i].of;
        of = section->keys[i].type == SCHEMA_SHAPE ? &schema_shape : of;
        if (of != NULL) {
            check_section(ctx, of, depth - 1);
        }
    }
}

static void test_every_section_has_help_and_an_example_that_is_right(void** state) {
    (void)state;
    treacle_context* ctx = make_context();
    check_section(ctx, &schema_root, DEPTH);
    check_example(ctx, schema_ramp.name);
    treacle_context_destroy(ctx);
}

static void expect(const char* path, const char* part) {
    treacle_context* ctx = make_context();
    char* told = NULL;
    assert_int_equal(treacle_scene_help(ctx, path, &told), TREACLE_OK);
    if (strstr(told, part) == NULL) {
        fail_msg("%s does not tell '%s' but:\n%s", path, part, told);
    }
    treacle_text_free(ctx, told);
    treacle_context_destroy(ctx);
}

static void test_a_path_leads_to_a_section_or_a_key(void** state) {
    (void)state;
    expect("scene", "frames a second");
    expect("scene.domain.cell", "  cell                number, m, > 0; one is needed\n");
    expect("scene.materials", "  viscosity           number, Pa.s, 0 to 1e+15; default: 0\n");
    expect("scene.liquids.shape.sphere", "  centre              vector, m; default: [0, 0, 0]\n");
    expect("sphere", "radius");
    expect("scene.look.ground_color", "ground_colour");
    expect("step", "default: ");
}

static void test_a_wrong_path_is_refused(void** state) {
    (void)state;
    treacle_context* ctx = make_context();
    char* told = NULL;
    assert_int_equal(treacle_scene_help(ctx, "scene.materils", &told), TREACLE_ERR_USAGE);
    assert_null(told);
    assert_string_equal(treacle_context_error(ctx),
                        "the scene has no key \"materils\"; did you mean materials?");
    assert_int_equal(treacle_scene_help(ctx, "scene.fps.more", &told), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_scene_help(ctx, "scene..fps", &told), TREACLE_ERR_USAGE);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_section_has_help_and_an_example_that_is_right),
        cmocka_unit_test(test_a_path_leads_to_a_section_or_a_key),
        cmocka_unit_test(test_a_wrong_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
