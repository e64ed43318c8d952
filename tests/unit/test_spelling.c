// Words that are spelt in two ways.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "defs/spelling.h"
#include "treacle/treacle.h"

static void test_words_go_both_ways(void** state) {
    static const char* const pairs[][2] = {{"colour", "color"},
                                           {"ground_colour", "ground_color"},
                                           {"spin_centre", "spin_center"},
                                           {"light-grey", "light-gray"}};
    char word[SPELLING_MAX];
    (void)state;
    for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); ++k) {
        assert_true(spelling_house(pairs[k][1], word));
        assert_string_equal(word, pairs[k][0]);
        assert_true(spelling_other(pairs[k][0], word));
        assert_string_equal(word, pairs[k][1]);
        assert_false(spelling_house(pairs[k][0], word));
        assert_false(spelling_other(pairs[k][1], word));
    }
    assert_false(spelling_house("viscosity", word));
    assert_false(
        spelling_house("a_color_whose_name_is_longer_than_any_key_of_a_scene_ever_will_be", word));
}

static void parse(treacle_context* ctx, const char* chars, const char* set, treacle_scene** out) {
    treacle_status status = treacle_scene_parse(ctx, "scene", chars, strlen(chars), 1, &set, out);
    if (status != TREACLE_OK) {
        print_message("%s", treacle_scene_report(*out));
    }
    assert_int_equal(status, TREACLE_OK);
}

static void test_a_layer_replaces_a_key_that_is_spelt_otherwise(void** state) {
    static const char house[] =
        "{domain: {size: [1, 1, 1], cell: 0.1}, output: {preview_by: colour},"
        " look: {ground_colour: [0, 0, 0]}}";
    static const char other[] =
        "{domain: {size: [1, 1, 1], cell: 0.1}, output: {preview_by: color},"
        " look: {ground_color: [0, 0, 0]}}";
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_scene *a = NULL, *b = NULL;
    (void)state;
    def.threads = 1;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    parse(ctx, house, "look.ground_color=[0.5, 0.25, 0.5]", &a);
    parse(ctx, other, "look={ground_colour: [0.5, 0.25, 0.5]}", &b);
    assert_string_equal(treacle_scene_text(a), treacle_scene_text(b));
    assert_non_null(strstr(treacle_scene_text(a), "ground_colour: [0.5, 0.25, 0.5]"));
    assert_true(treacle_scene_hash(a) == treacle_scene_hash(b));
    treacle_scene_destroy(a);
    treacle_scene_destroy(b);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_go_both_ways),
        cmocka_unit_test(test_a_layer_replaces_a_key_that_is_spelt_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
