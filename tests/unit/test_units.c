#include "defs/units.h"
#include "unit/unit.h"

typedef struct good_case {
    const char* text;
    double value;
    unit_kind kind;
} good_case;

static void test_quantities_are_read_in_si(void** state) {
    (void)state;
    static const good_case cases[] = {
        {"3 mm", 0.003, UNIT_LENGTH},
        {"3mm", 0.003, UNIT_LENGTH},
        {"0.7 mm", 0.0007, UNIT_LENGTH},
        {"1 in", 0.0254, UNIT_LENGTH},
        {"10 Pa.s", 10.0, UNIT_VISCOSITY},
        {"10 Pa*s", 10.0, UNIT_VISCOSITY},
        {"10 Pa·s", 10.0, UNIT_VISCOSITY},
        {"1 N.s/m^2", 1.0, UNIT_VISCOSITY},
        {"1 cP", 1e-3, UNIT_VISCOSITY},
        {"1000 cSt", 1e-3, UNIT_KINEMATIC},
        {"60 degC", 333.15, UNIT_TEMPERATURE},
        {"60 °C", 333.15, UNIT_TEMPERATURE},
        {"24 fps", 24.0, UNIT_FREQUENCY},
        {"24 1/s", 24.0, UNIT_FREQUENCY},
        {"24/s", 24.0, UNIT_FREQUENCY},
        {"1 turn", 6.283185307179586, UNIT_ANGLE},
        {"60 rpm", 6.283185307179586, UNIT_SPIN},
        {"1.4 g/cm^3", 1400.0, UNIT_DENSITY},
        {"1.4 g/cm3", 1400.0, UNIT_DENSITY},
        {"1.4 g cm-3", 0.0, UNIT_KIND_COUNT}, // a space does not multiply
        {"1400 kg/m³", 1400.0, UNIT_DENSITY},
        {"9.81 m/s^2", 9.81, UNIT_ACCELERATION},
        {"9.81 m.s^-2", 9.81, UNIT_ACCELERATION},
        {"2 l/min", 2e-3 / 60.0, UNIT_VOLUME_RATE},
        {"50 %", 0.5, UNIT_NUMBER},
        {"-1e-3 m", -1e-3, UNIT_LENGTH},
        {"+.5 s", 0.5, UNIT_TIME},
        {"5. s", 5.0, UNIT_TIME},
        {"1E+2 m", 100.0, UNIT_LENGTH},
        {"1 um", 1e-6, UNIT_LENGTH},
        {"1 µm", 1e-6, UNIT_LENGTH},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        unit_quantity q;
        unit_error error;
        bool is_good = unit_parse(cases[i].text, &q, &error);
        if (cases[i].kind == UNIT_KIND_COUNT) {
            assert_false(is_good);
            continue;
        }
        if (!is_good) {
            print_message("%s: %s\n", cases[i].text, error.text);
        }
        assert_true(is_good);
        assert_true(q.has_unit);
        assert_close(q.value, cases[i].value, 1e-12 * (1.0 + cases[i].value));
        assert_true(unit_dim_equal(q.dim, unit_kind_get(cases[i].kind)->dim));
    }
}

// "0.7 mm" is the double nearest to 0.0007, not 0.7 times the double nearest to 0.001.
static void test_decimal_units_round_once(void** state) {
    (void)state;
    static const char* const texts[][2] = {{"0.7 mm", "0.0007"},  {"2.3 um", "0.0000023"},
                                           {"1.1 km", "1100"},    {"0.3 cSt", "0.0000003"},
                                           {"17.9 kPa", "17900"}, {"1e300 mm", "1e297"},
                                           {"1e310 mm", "1e307"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        unit_quantity a, b;
        unit_error error;
        assert_true(unit_parse(texts[i][0], &a, &error));
        assert_true(unit_parse(texts[i][1], &b, &error));
        assert_memory_equal(&a.value, &b.value, sizeof(double));
    }
}

static void test_difference_of_temperature_is_not_shifted(void** state) {
    (void)state;
    unit_quantity q;
    unit_error error;
    assert_true(unit_parse("2 W/(m.degC)", &q, &error));
    assert_close(q.value, 2.0, 0.0);
    unit_quantity kelvin;
    assert_true(unit_parse("2 W/(m.K)", &kelvin, &error));
    assert_true(unit_dim_equal(q.dim, kelvin.dim));
    assert_true(unit_parse("32 degF", &q, &error));
    assert_close(q.value, 273.15, 1e-9);
}

static void test_units_divide_from_left_to_right(void** state) {
    (void)state;
    unit_quantity a, b;
    unit_error error;
    assert_true(unit_parse("1 J/kg.K", &a, &error));
    assert_true(unit_parse("1 J/kg*K", &b, &error));
    assert_true(unit_dim_equal(a.dim, b.dim));
    assert_true(unit_parse("1 J/(kg.K)", &b, &error));
    assert_false(unit_dim_equal(a.dim, b.dim));
    assert_true(unit_parse("1 J/kg/K", &a, &error));
    assert_true(unit_dim_equal(a.dim, b.dim));
}

static void test_what_is_not_a_quantity_is_refused(void** state) {
    (void)state;
    static const char* const texts[] = {
        "",      " ",      "mm",        "nan",     "NaN",     "inf",     "-inf",  "infinity",
        ".nan",  "0x10",   "1e999",     "1,5",     "1_000",   "1'000",   "1e-3x", "3 mm mm",
        "3 m m", "--3",    "+-3",       "3 m^",    "3 m^99",  "3 m/",    "3 /",   "3 ()",
        "3 (m",  "3 m)",   "3 ((((((m", "1e",      "3 m^0.5", "3 qq",    "1.2.3", ".",
        "-",     "e5",     "1e400 mm",  "3 m//s",  "3 m..s",  "3 m^--2", "1 1",   "3 m 4",
        "3 m!",  "3 \x01", "3 1",       "0x1p3 m", "1e308 km"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        unit_quantity q;
        unit_error error = {0};
        if (unit_parse(texts[i], &q, &error)) {
            print_message("'%s' was read as %g\n", texts[i], q.value);
            fail();
        }
        assert_true(error.column >= 1 && error.text[0] != '\0');
    }
}

static void test_numbers_read_back_as_they_were(void** state) {
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; ++i) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value, again;
        memcpy(&value, &bits, sizeof(value));
        if (value != value || value - value != 0.0) {
            continue;
        }
        char text[32];
        unit_quantity q;
        unit_error error;
        unit_print_number(value, text);
        assert_true(unit_parse(text, &q, &error));
        again = q.value;
        assert_memory_equal(&value, &again, sizeof(value));
    }
    char text[32];
    unit_print_number(0.1, text);
    assert_string_equal(text, "0.1");
    unit_print_number(1e6, text);
    assert_string_equal(text, "1000000");
}

static void test_whole_numbers_are_whole_and_fit(void** state) {
    (void)state;
    int64_t value = 0;
    assert_true(unit_parse_whole("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_true(unit_parse_whole("-12", &value));
    assert_int_equal(value, -12);
    assert_true(unit_parse_whole("007", &value));
    assert_int_equal(value, 7);
    static const char* const texts[] = {
        "", "9223372036854775808", "1.0", "1e3", "0x10", " 12", "12 ", "-", "+-1", "1_0"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        assert_false(unit_parse_whole(texts[i], &value));
    }
}

static void test_every_unit_has_a_kind_or_none_and_every_example_is_right(void** state) {
    (void)state;
    for (int k = 0; k < UNIT_KIND_COUNT; ++k) {
        const unit_kind_info* kind = unit_kind_get((unit_kind)k);
        unit_quantity q;
        unit_error error;
        assert_true(unit_parse(kind->example, &q, &error));
        assert_true(unit_dim_equal(q.dim, kind->dim));
        char text[64] = "1 ";
        strcat(text, kind->si);
        assert_true(unit_parse(kind->si[0] == '\0' ? "1" : text, &q, &error));
        assert_close(q.value, 1.0, 0.0);
    }
}

static void test_units_without_a_name_are_spelt_out(void** state) {
    (void)state;
    unit_quantity q;
    unit_error error;
    char text[96];
    assert_true(unit_parse("1 kg^2/s", &q, &error));
    unit_dim_describe(q.dim, text, sizeof(text));
    assert_string_equal(text, "a quantity in kg^2 s^-1");
    unit_dim_describe(unit_kind_get(UNIT_TIME)->dim, text, sizeof(text));
    assert_string_equal(text, "a time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantities_are_read_in_si),
        cmocka_unit_test(test_decimal_units_round_once),
        cmocka_unit_test(test_difference_of_temperature_is_not_shifted),
        cmocka_unit_test(test_units_divide_from_left_to_right),
        cmocka_unit_test(test_what_is_not_a_quantity_is_refused),
        cmocka_unit_test(test_numbers_read_back_as_they_were),
        cmocka_unit_test(test_whole_numbers_are_whole_and_fit),
        cmocka_unit_test(test_every_unit_has_a_kind_or_none_and_every_example_is_right),
        cmocka_unit_test(test_units_without_a_name_are_spelt_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
