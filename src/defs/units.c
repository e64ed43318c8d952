#include "defs/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "math/limits.h"
#include "math/suggest.h"

enum {
    POWER_MAX = 9,     // of one unit
    NESTING_MAX = 4,   // of parentheses
    NAME_LETTERS = 15, // letters of a unit's name
    DIGITS_MAX = 400,
};

//                   m kg s K rad
#define DIM(m, kg, s, K, rad)                                                                      \
    {                                                                                              \
        { (m), (kg), (s), (K), (rad) }                                                             \
    }

static const unit_kind_info kinds[UNIT_KIND_COUNT] = {
    [UNIT_NUMBER] = {"a plain number", "", "0.5", DIM(0, 0, 0, 0, 0), LIMIT_NUMBER},
    [UNIT_LENGTH] = {"a length", "m", "3 mm", DIM(1, 0, 0, 0, 0), LIMIT_LENGTH},
    [UNIT_AREA] = {"an area", "m^2", "4 cm^2", DIM(2, 0, 0, 0, 0), LIMIT_LENGTH* LIMIT_LENGTH},
    [UNIT_VOLUME] = {"a volume", "m^3", "2 l", DIM(3, 0, 0, 0, 0), LIMIT_LENGTH* LIMIT_LENGTH},
    [UNIT_TIME] = {"a time", "s", "0.5 s", DIM(0, 0, 1, 0, 0), LIMIT_TIME},
    [UNIT_SPEED] = {"a speed", "m/s", "20 cm/s", DIM(1, 0, -1, 0, 0), LIMIT_SPEED},
    [UNIT_ACCELERATION] = {"an acceleration", "m/s^2", "9.81 m/s^2", DIM(1, 0, -2, 0, 0),
                           LIMIT_ACCELERATION},
    [UNIT_FREQUENCY] = {"a frequency", "1/s", "24 fps", DIM(0, 0, -1, 0, 0), LIMIT_FREQUENCY},
    [UNIT_ANGLE] = {"an angle", "rad", "45 deg", DIM(0, 0, 0, 0, 1), LIMIT_ANGLE},
    [UNIT_SPIN] = {"an angular velocity", "rad/s", "90 deg/s", DIM(0, 0, -1, 0, 1), LIMIT_SPIN},
    [UNIT_MASS] = {"a mass", "kg", "20 g", DIM(0, 1, 0, 0, 0), LIMIT_FORCE},
    [UNIT_DENSITY] = {"a density", "kg/m^3", "1.4 g/cm^3", DIM(-3, 1, 0, 0, 0), LIMIT_DENSITY},
    [UNIT_FORCE] = {"a force", "N", "2 N", DIM(1, 1, -2, 0, 0), LIMIT_FORCE},
    [UNIT_PRESSURE] = {"a pressure", "Pa", "50 Pa", DIM(-1, 1, -2, 0, 0), LIMIT_PRESSURE},
    [UNIT_VISCOSITY] = {"a dynamic viscosity", "Pa.s", "10 Pa.s", DIM(-1, 1, -1, 0, 0),
                        LIMIT_VISCOSITY},
    [UNIT_KINEMATIC] = {"a kinematic viscosity", "m^2/s", "1000 cSt", DIM(2, 0, -1, 0, 0),
                        LIMIT_VISCOSITY},
    [UNIT_VOLUME_RATE] = {"a volume rate", "m^3/s", "2 l/min", DIM(3, 0, -1, 0, 0),
                          LIMIT_VOLUME_RATE},
    [UNIT_TEMPERATURE] = {"a temperature", "K", "60 degC", DIM(0, 0, 0, 1, 0), LIMIT_TEMPERATURE},
    [UNIT_ENERGY] = {"an energy", "J", "5 kJ", DIM(2, 1, -2, 0, 0), LIMIT_ENERGY},
    [UNIT_POWER] = {"a power", "W", "40 W", DIM(2, 1, -3, 0, 0), LIMIT_POWER},
    [UNIT_EXPANSION] = {"an expansion per kelvin", "1/K", "2e-4 1/K", DIM(0, 0, 0, -1, 0),
                        LIMIT_NUMBER},
    [UNIT_CONDUCTIVITY] = {"a heat conductivity", "W/(m.K)", "0.25 W/(m.K)", DIM(1, 1, -3, -1, 0),
                           LIMIT_CONDUCTIVITY},
    [UNIT_HEAT_CAPACITY] = {"a heat capacity", "J/(kg.K)", "4.2 kJ/(kg.K)", DIM(2, 0, -2, -1, 0),
                            LIMIT_CAPACITY},
    [UNIT_LATENT_HEAT] = {"a latent heat", "J/kg", "334 kJ/kg", DIM(2, 0, -2, 0, 0),
                          LIMIT_CAPACITY},
    [UNIT_HEAT_TRANSFER] = {"a heat transfer", "W/(m^2.K)", "10 W/(m^2.K)", DIM(0, 1, -3, -1, 0),
                            LIMIT_HEAT_TRANSFER},
    [UNIT_HEAT_FLUX] = {"a heat flux", "W/m^2", "2 kW/m^2", DIM(0, 1, -3, 0, 0), LIMIT_HEAT_FLUX},
    [UNIT_TENSION] = {"a surface tension", "N/m", "60 mN/m", DIM(0, 1, -2, 0, 0), LIMIT_TENSION},
};

#define PI 3.14159265358979323846

// Name, dimension, factor, power of ten, offset.
static const unit_info units[] = {
    {"%", DIM(0, 0, 0, 0, 0), 1, -2, 0},
    {"m", DIM(1, 0, 0, 0, 0), 1, 0, 0},
    {"km", DIM(1, 0, 0, 0, 0), 1, 3, 0},
    {"dm", DIM(1, 0, 0, 0, 0), 1, -1, 0},
    {"cm", DIM(1, 0, 0, 0, 0), 1, -2, 0},
    {"mm", DIM(1, 0, 0, 0, 0), 1, -3, 0},
    {"um", DIM(1, 0, 0, 0, 0), 1, -6, 0},
    {"nm", DIM(1, 0, 0, 0, 0), 1, -9, 0},
    {"in", DIM(1, 0, 0, 0, 0), 0.0254, 0, 0},
    {"ft", DIM(1, 0, 0, 0, 0), 0.3048, 0, 0},
    {"l", DIM(3, 0, 0, 0, 0), 1, -3, 0},
    {"L", DIM(3, 0, 0, 0, 0), 1, -3, 0},
    {"dl", DIM(3, 0, 0, 0, 0), 1, -4, 0},
    {"cl", DIM(3, 0, 0, 0, 0), 1, -5, 0},
    {"ml", DIM(3, 0, 0, 0, 0), 1, -6, 0},
    {"mL", DIM(3, 0, 0, 0, 0), 1, -6, 0},
    {"ul", DIM(3, 0, 0, 0, 0), 1, -9, 0},
    {"s", DIM(0, 0, 1, 0, 0), 1, 0, 0},
    {"ms", DIM(0, 0, 1, 0, 0), 1, -3, 0},
    {"us", DIM(0, 0, 1, 0, 0), 1, -6, 0},
    {"min", DIM(0, 0, 1, 0, 0), 60, 0, 0},
    {"h", DIM(0, 0, 1, 0, 0), 3600, 0, 0},
    {"Hz", DIM(0, 0, -1, 0, 0), 1, 0, 0},
    {"kHz", DIM(0, 0, -1, 0, 0), 1, 3, 0},
    {"fps", DIM(0, 0, -1, 0, 0), 1, 0, 0},
    {"kg", DIM(0, 1, 0, 0, 0), 1, 0, 0},
    {"g", DIM(0, 1, 0, 0, 0), 1, -3, 0},
    {"mg", DIM(0, 1, 0, 0, 0), 1, -6, 0},
    {"t", DIM(0, 1, 0, 0, 0), 1, 3, 0},
    {"lb", DIM(0, 1, 0, 0, 0), 0.45359237, 0, 0},
    {"N", DIM(1, 1, -2, 0, 0), 1, 0, 0},
    {"mN", DIM(1, 1, -2, 0, 0), 1, -3, 0},
    {"kN", DIM(1, 1, -2, 0, 0), 1, 3, 0},
    {"dyn", DIM(1, 1, -2, 0, 0), 1, -5, 0},
    {"Pa", DIM(-1, 1, -2, 0, 0), 1, 0, 0},
    {"mPa", DIM(-1, 1, -2, 0, 0), 1, -3, 0},
    {"hPa", DIM(-1, 1, -2, 0, 0), 1, 2, 0},
    {"kPa", DIM(-1, 1, -2, 0, 0), 1, 3, 0},
    {"MPa", DIM(-1, 1, -2, 0, 0), 1, 6, 0},
    {"GPa", DIM(-1, 1, -2, 0, 0), 1, 9, 0},
    {"bar", DIM(-1, 1, -2, 0, 0), 1, 5, 0},
    {"mbar", DIM(-1, 1, -2, 0, 0), 1, 2, 0},
    {"atm", DIM(-1, 1, -2, 0, 0), 101325, 0, 0},
    {"psi", DIM(-1, 1, -2, 0, 0), 6894.757293168361, 0, 0},
    {"P", DIM(-1, 1, -1, 0, 0), 1, -1, 0},
    {"cP", DIM(-1, 1, -1, 0, 0), 1, -3, 0},
    {"St", DIM(2, 0, -1, 0, 0), 1, -4, 0},
    {"cSt", DIM(2, 0, -1, 0, 0), 1, -6, 0},
    {"J", DIM(2, 1, -2, 0, 0), 1, 0, 0},
    {"mJ", DIM(2, 1, -2, 0, 0), 1, -3, 0},
    {"kJ", DIM(2, 1, -2, 0, 0), 1, 3, 0},
    {"MJ", DIM(2, 1, -2, 0, 0), 1, 6, 0},
    {"cal", DIM(2, 1, -2, 0, 0), 4.184, 0, 0},
    {"kcal", DIM(2, 1, -2, 0, 0), 4184, 0, 0},
    {"W", DIM(2, 1, -3, 0, 0), 1, 0, 0},
    {"mW", DIM(2, 1, -3, 0, 0), 1, -3, 0},
    {"kW", DIM(2, 1, -3, 0, 0), 1, 3, 0},
    {"MW", DIM(2, 1, -3, 0, 0), 1, 6, 0},
    {"rad", DIM(0, 0, 0, 0, 1), 1, 0, 0},
    {"mrad", DIM(0, 0, 0, 0, 1), 1, -3, 0},
    {"deg", DIM(0, 0, 0, 0, 1), PI / 180, 0, 0},
    {"turn", DIM(0, 0, 0, 0, 1), 2 * PI, 0, 0},
    {"rpm", DIM(0, 0, -1, 0, 1), 2 * PI / 60, 0, 0},
    {"K", DIM(0, 0, 0, 1, 0), 1, 0, 0},
    {"mK", DIM(0, 0, 0, 1, 0), 1, -3, 0},
    {"degC", DIM(0, 0, 0, 1, 0), 1, 0, 273.15},
    {"degF", DIM(0, 0, 0, 1, 0), 5.0 / 9.0, 0, 255.37222222222222},
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

const unit_kind_info* unit_kind_get(unit_kind kind) {
    TREACLE_ASSERT((int)kind >= 0 && kind < UNIT_KIND_COUNT);
    return &kinds[kind];
}

int unit_count(void) {
    return UNITS;
}

const unit_info* unit_get(int index) {
    TREACLE_ASSERT(index >= 0 && index < UNITS);
    return &units[index];
}

bool unit_dim_equal(unit_dim a, unit_dim b) {
    return memcmp(a.power, b.power, sizeof(a.power)) == 0;
}

void unit_dim_describe(unit_dim dim, char* out, int capacity) {
    TREACLE_ASSERT(out != NULL && capacity > 0);
    static const char* const base[UNIT_BASES] = {"m", "kg", "s", "K", "rad"};
    for (int i = 0; i < UNIT_KIND_COUNT; ++i) {
        if (unit_dim_equal(kinds[i].dim, dim)) {
            snprintf(out, (size_t)capacity, "%s", kinds[i].name);
            return;
        }
    }
    int length = snprintf(out, (size_t)capacity, "a quantity in");
    for (int b = 0; b < UNIT_BASES && length < capacity; ++b) {
        if (dim.power[b] == 1) {
            length += snprintf(out + length, (size_t)(capacity - length), " %s", base[b]);
        } else if (dim.power[b] != 0) {
            length += snprintf(out + length, (size_t)(capacity - length), " %s^%d", base[b],
                               dim.power[b]);
        }
    }
}

void unit_print_number(double value, char out[32]) {
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(out, 32, "%.0f", value + 0.0);
        return;
    }
    for (int digits = 1; digits <= 17; ++digits) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value) {
            break;
        }
    }
    char* exponent = strchr(out, 'e'); // 1e-06 is shorter as 1e-6
    if (exponent != NULL && exponent[2] == '0') {
        memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
    }
}

// Reading --------------------------------------------------------------------

typedef struct cursor {
    const char* begin;
    const char* at;
    const char* number; // as it stands in the text
    size_t number_length;
    unit_error* error;
    bool is_bad;
} cursor;

static void units_fail(cursor* c, const char* at, const char* format, const char* detail) {
    if (!c->is_bad) {
        c->is_bad = true;
        c->error->column = (int)(at - c->begin) + 1;
        snprintf(c->error->text, sizeof(c->error->text), format, detail);
    }
}

static void skip_spaces(cursor* c) {
    while (*c->at == ' ' || *c->at == '\t') {
        c->at += 1;
    }
}

static bool accept(cursor* c, const char* word) {
    size_t length = strlen(word);
    bool is_there = strncmp(c->at, word, length) == 0;
    c->at += is_there ? length : 0;
    return is_there;
}

static const char* skip_digits(const char* at) {
    while (isdigit((unsigned char)*at)) {
        at += 1;
    }
    return at;
}

// [+-] digits [. digits] [e [+-] digits]: the end, or `at` if there is no number.
static const char* skip_number(const char* at) {
    const char* begin = at;
    at += *at == '+' || *at == '-';
    const char* whole = at;
    at = skip_digits(at);
    bool has_digits = at > whole;
    if (*at == '.' && (has_digits || isdigit((unsigned char)at[1]))) {
        const char* end = skip_digits(at + 1);
        has_digits = has_digits || end > at + 1;
        at = end;
    }
    if (!has_digits) {
        return begin;
    }
    if (*at == 'e' || *at == 'E') {
        const char* exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        at = isdigit((unsigned char)*exponent) ? skip_digits(exponent) : at;
    }
    return at;
}

static bool is_word_without_digits(const char* at, const char* word) {
    at += *at == '+' || *at == '-';
    at += *at == '.';
    return strncasecmp(at, word, strlen(word)) == 0 && !isalpha((unsigned char)at[strlen(word)]);
}

static void read_number(cursor* c) {
    const char* begin = c->at;
    const char* end = skip_number(begin);
    if (is_word_without_digits(begin, "nan") || is_word_without_digits(begin, "inf") ||
        is_word_without_digits(begin, "infinity")) {
        units_fail(c, begin, "nan and inf are not allowed%s", "");
        return;
    }
    if (end == begin) {
        units_fail(c, begin, "'%.60s' is not a number", begin);
        c->error->is_not_a_number = true;
        return;
    }
    if (end - begin == 1 && *begin == '0' && (*end == 'x' || *end == 'X')) {
        units_fail(c, begin, "hexadecimal numbers are not allowed: '%.60s'", begin);
        return;
    }
    if (*end == ',' || *end == '_' || *end == '\'') {
        units_fail(c, end,
                   "write a number without separators and with a decimal point, as 1234.5%s", "");
        return;
    }
    c->number = begin;
    c->number_length = (size_t)(end - begin);
    c->at = end;
}

// The number times ten to the power of `shift`, rounded once: 0.7 mm is 0.0007 to the last bit.
static double shifted_number(cursor* c, int shift) {
    char digits[DIGITS_MAX + 16];
    size_t length = c->number_length;
    if (length >= DIGITS_MAX) {
        units_fail(c, c->number, "the number is too long%s", "");
        return 0.0;
    }
    memcpy(digits, c->number, length);
    digits[length] = '\0';
    char* e = strpbrk(digits, "eE");
    long exponent = e == NULL ? 0 : strtol(e + 1, NULL, 10);
    exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
    sprintf(e == NULL ? digits + length : e, "e%ld", exponent + shift);
    double value = strtod(digits, NULL);
    if (!isfinite(value)) {
        units_fail(c, c->number, "the number '%.60s' is too large", c->number);
    }
    return value;
}

typedef struct product {
    double factor;
    int exponent; // of ten, beside the factor
    int power[UNIT_BASES];
    const unit_info* alone; // the unit, if it is the only one, with exponent 1
    int units;              // how many so far
} product;

static bool is_name_char(char c) {
    return isalpha((unsigned char)c) || c == '%';
}

// Spellings beside those of the table.
static bool read_symbol(cursor* c, char name[NAME_LETTERS + 1]) {
    static const char* const symbols[][2] = {
        {"\u00b0C", "degC"}, {"\u00b0F", "degF"}, {"\u00b0", "deg"},  {"\u00b5m", "um"},
        {"\u03bcm", "um"},   {"\u00b5s", "us"},   {"\u03bcs", "us"},  {"\u00b5l", "ul"},
        {"\u03bcl", "ul"},   {"Celsius", "degC"}, {"celsius", "degC"}};
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        if (accept(c, symbols[i][0])) {
            strcpy(name, symbols[i][1]);
            return true;
        }
    }
    return false;
}

static void read_name(cursor* c, char name[NAME_LETTERS + 1]) {
    if (read_symbol(c, name)) {
        return;
    }
    const char* end = c->at;
    while (is_name_char(*end)) {
        end += 1;
    }
    size_t length = (size_t)(end - c->at);
    if (length == 0) {
        units_fail(c, c->at,
                   *c->at == '\0' ? "a unit is missing at the end%s" : "'%.40s' is not a unit",
                   c->at);
    } else if (length > NAME_LETTERS) {
        units_fail(c, c->at, "unknown unit '%.40s'", c->at);
    } else {
        memcpy(name, c->at, length);
        name[length] = '\0';
        c->at = end;
    }
}

static const unit_info* find_unit(const char* name) {
    for (int i = 0; i < UNITS; ++i) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

// What people write instead of our names.
static const char* other_spelling(const char* name) {
    static const char* const pairs[][2] = {
        {"sec", "s"},       {"second", "s"},    {"seconds", "s"},   {"minute", "min"},
        {"minutes", "min"}, {"hour", "h"},      {"hours", "h"},     {"hr", "h"},
        {"meter", "m"},     {"meters", "m"},    {"metre", "m"},     {"metres", "m"},
        {"inch", "in"},     {"inches", "in"},   {"foot", "ft"},     {"feet", "ft"},
        {"micron", "um"},   {"liter", "l"},     {"litre", "l"},     {"liters", "l"},
        {"litres", "l"},    {"gram", "g"},      {"grams", "g"},     {"kilo", "kg"},
        {"degree", "deg"},  {"degrees", "deg"}, {"radians", "rad"}, {"C", "degC"},
        {"F", "degF"},      {"kelvin", "K"},    {"Kelvin", "K"},    {"pascal", "Pa"},
        {"newton", "N"},    {"watt", "W"},      {"joule", "J"},     {"percent", "%"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        if (strcmp(pairs[i][0], name) == 0) {
            return pairs[i][1];
        }
    }
    return NULL;
}

static void fail_unknown(cursor* c, const char* at, const char* name) {
    const char* names[UNITS];
    for (int i = 0; i < UNITS; ++i) {
        names[i] = units[i].name;
    }
    const char* near = other_spelling(name);
    near = near == NULL ? suggest_word(name, names, UNITS) : near;
    char detail[80] = "";
    if (near != NULL) {
        snprintf(detail, sizeof(detail), "; did you mean '%s'?", near);
    }
    char whole[160];
    snprintf(whole, sizeof(whole), "'%s'%s", name, detail);
    units_fail(c, at, "unknown unit %s", whole);
}

static int read_exponent(cursor* c) {
    if (accept(c, "\u00b2")) {
        return 2;
    }
    if (accept(c, "\u00b3")) {
        return 3;
    }
    bool has_caret = accept(c, "^");
    const char* begin = c->at;
    bool is_negative = *begin == '-';
    const char* digits = begin + (*begin == '-' || *begin == '+');
    if (!isdigit((unsigned char)*digits)) {
        if (has_caret) {
            units_fail(c, begin, "a whole number is missing after '^'%s", "");
        }
        return 1;
    }
    c->at = skip_digits(digits);
    if (c->at - digits > 1 || *digits - '0' > POWER_MAX) {
        units_fail(c, begin, "the exponent of a unit is at most 9%s", "");
    }
    return is_negative ? -(*digits - '0') : *digits - '0';
}

static void multiply(product* p, const unit_info* unit, int exponent) {
    for (int i = 0; i < abs(exponent); ++i) {
        p->factor = exponent > 0 ? p->factor * unit->factor : p->factor / unit->factor;
    }
    for (int b = 0; b < UNIT_BASES; ++b) {
        p->power[b] += exponent * unit->dim.power[b];
    }
    p->exponent += exponent * unit->exponent;
    p->units += 1;
    p->alone = p->units == 1 && exponent == 1 ? unit : NULL;
}

static void read_unit(cursor* c, product* p, int sign, int depth);

static void read_factor(cursor* c, product* p, int sign, int depth) {
    skip_spaces(c);
    if (accept(c, "(")) {
        if (depth >= NESTING_MAX) {
            units_fail(c, c->at - 1, "too many parentheses in the unit%s", "");
            return;
        }
        read_unit(c, p, sign, depth + 1);
        skip_spaces(c);
        if (!accept(c, ")")) {
            units_fail(c, c->at, "a ')' is missing in the unit%s", "");
        }
        return;
    }
    if (*c->at == '1' && !isdigit((unsigned char)c->at[1])) {
        c->at += 1;
        return;
    }
    char name[NAME_LETTERS + 1] = "";
    const char* begin = c->at;
    read_name(c, name);
    const unit_info* unit = c->is_bad ? NULL : find_unit(name);
    if (unit == NULL) {
        fail_unknown(c, begin, name);
        return;
    }
    multiply(p, unit, sign * read_exponent(c));
}

static void read_unit(cursor* c, product* p, int sign, int depth) {
    int next = accept(c, "/") ? -sign : sign;
    do {
        read_factor(c, p, next, depth);
        skip_spaces(c);
        if (accept(c, ".") || accept(c, "*") || accept(c, "\u00b7")) {
            next = sign;
        } else if (accept(c, "/")) {
            next = -sign;
        } else {
            return;
        }
    } while (!c->is_bad);
}

static void units_finish(cursor* c, const product* p, unit_quantity* out) {
    for (int b = 0; b < UNIT_BASES; ++b) {
        if (abs(p->power[b]) > INT8_MAX) {
            units_fail(c, c->begin, "the exponents of the unit are too large%s", "");
        }
        out->dim.power[b] = (int8_t)p->power[b];
    }
    out->value = shifted_number(c, p->exponent) * p->factor;
    out->value += p->alone != NULL ? p->alone->offset : 0.0;
    if (!isfinite(out->value)) {
        units_fail(c, c->begin, "the quantity '%.60s' is too large", c->begin);
    }
}

bool unit_parse(const char* text, unit_quantity* out, unit_error* error) {
    TREACLE_ASSERT(text != NULL && error != NULL);
    cursor c = {.begin = text, .at = text, .error = error};
    *out = (unit_quantity){0};
    *error = (unit_error){0};
    skip_spaces(&c);
    read_number(&c);
    skip_spaces(&c);
    out->has_unit = !c.is_bad && *c.at != '\0';
    product p = {.factor = 1.0};
    if (out->has_unit) {
        const char* begin = c.at;
        read_unit(&c, &p, 1, 0);
        skip_spaces(&c);
        if (*c.at != '\0') {
            units_fail(&c, c.at, "unexpected '%.40s' after the quantity", c.at);
        }
        if (p.units == 0) {
            units_fail(&c, begin, "'%.40s' is not a unit", begin);
        }
    }
    if (!c.is_bad) {
        units_finish(&c, &p, out);
    }
    return !c.is_bad;
}

bool unit_parse_whole(const char* text, int64_t* out) {
    TREACLE_ASSERT(text != NULL);
    bool is_negative = *text == '-';
    const char* at = text + (*text == '-' || *text == '+');
    uint64_t value = 0;
    if (*at == '\0' || strspn(at, "0123456789") != strlen(at)) {
        return false;
    }
    for (; *at != '\0'; ++at) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    *out = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}
