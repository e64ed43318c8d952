#include "unit.h"

#include "math/suggest.h"

static void test_distances_count_letters(void** state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {{"", "", 0},
                 {"abc", "abc", 0},
                 {"abc", "abd", 1},
                 {"abc", "ab", 1},
                 {"abc", "xabc", 1},
                 {"abc", "acb", 1},
                 {"", "abc", 3},
                 {"kitten", "sitting", 3},
                 {"viscosity", "viscostiy", 1},
                 {"Gravity", "gravity", 0},
                 {"ab", "ba", 1},
                 {"abcdef", "badcfe", 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        assert_int_equal(suggest_distance(cases[i].a, cases[i].b, 9), cases[i].distance);
        assert_int_equal(suggest_distance(cases[i].b, cases[i].a, 9), cases[i].distance);
        for (int limit = 0; limit < cases[i].distance; ++limit) {
            assert_int_equal(suggest_distance(cases[i].a, cases[i].b, limit), limit + 1);
        }
    }
}

static void test_the_nearest_word_is_meant(void** state) {
    (void)state;
    static const char* const words[] = {"viscosity", "velocity", "volume", "x", "y", "min", "max"};
    assert_string_equal(suggest_word("viscocity", words, 7), "viscosity");
    assert_string_equal(suggest_word("velosity", words, 7), "velocity");
    assert_string_equal(suggest_word("VOLUME", words, 7), "volume");
    assert_string_equal(suggest_word("mni", words, 7), "min");
    assert_null(suggest_word("temperature", words, 7));
    assert_null(suggest_word("q", words, 7)); // not x, though one letter away
    assert_null(suggest_word("", words, 7));
    assert_null(suggest_word("abc", words, 0));
}

static void test_long_words_are_left_alone(void** state) {
    (void)state;
    char longest[1000];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    const char* const words[] = {longest};
    assert_null(suggest_word(longest, words, 1));
    longest[SUGGEST_LENGTH_MAX] = '\0';
    assert_string_equal(suggest_word(longest, words, 1), longest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_count_letters),
        cmocka_unit_test(test_the_nearest_word_is_meant),
        cmocka_unit_test(test_long_words_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
