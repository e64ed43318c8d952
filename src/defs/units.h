// Quantities: a number and a unit, "3 mm", "10 Pa.s", "1000 kg/m^3".
//
//     quantity := number [unit]                   without a unit: SI
//     unit     := [/] factor ((. | * | /) factor)*      from left to right: J/kg.K is (J/kg) K
//     factor   := name [[^] integer] | 1 | ( unit )
//
// Also understood: superscripts, the middle dot, the degree sign and the micro sign of Unicode.
// A temperature in degC or degF that stands alone is shifted to kelvin; inside a larger unit it is
// a difference.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { UNIT_BASES = 5 };

/// Exponents of metre, kilogram, second, kelvin and radian. The angle is a dimension of its own
/// here, so that 45 deg is not a length.
typedef struct unit_dim {
    int8_t power[UNIT_BASES];
} unit_dim;

/// What kinds of quantity keys can ask for.
typedef enum unit_kind {
    UNIT_NUMBER, // a pure number; % is allowed
    UNIT_LENGTH,
    UNIT_AREA,
    UNIT_VOLUME,
    UNIT_TIME,
    UNIT_SPEED,
    UNIT_ACCELERATION,
    UNIT_FREQUENCY,
    UNIT_ANGLE,
    UNIT_SPIN,
    UNIT_MASS,
    UNIT_DENSITY,
    UNIT_FORCE,
    UNIT_PRESSURE,
    UNIT_VISCOSITY,
    UNIT_KINEMATIC,
    UNIT_VOLUME_RATE,
    UNIT_TEMPERATURE,
    UNIT_ENERGY,
    UNIT_POWER,
    UNIT_EXPANSION,
    UNIT_CONDUCTIVITY,
    UNIT_HEAT_CAPACITY,
    UNIT_LATENT_HEAT,
    UNIT_HEAT_TRANSFER,
    UNIT_HEAT_FLUX,
    UNIT_TENSION,
    UNIT_KIND_COUNT,
} unit_kind;

typedef struct unit_kind_info {
    const char* name;    // "a length"
    const char* si;      // "m"
    const char* example; // "3 mm"
    unit_dim dim;
    double most; // the largest size of any number of the kind, in SI
} unit_kind_info;
const unit_kind_info* unit_kind_get(unit_kind kind);

/// A row of the table of units, for the manual.
typedef struct unit_info {
    const char* name;
    unit_dim dim;
    double factor; // to SI: factor times ten to the power of exponent
    int exponent;
    double offset; // added after the factor; temperatures
} unit_info;
int unit_count(void);
const unit_info* unit_get(int index);

typedef struct unit_quantity {
    double value; // in SI
    bool has_unit;
    unit_dim dim; // zero without a unit
} unit_quantity;

/// What is wrong with a quantity.
typedef struct unit_error {
    int column;           // from 1, in bytes
    bool is_not_a_number; // the text does not even begin like one
    char text[256];
} unit_error;

/// False with *error filled: not a number, unknown unit, not finite, something left over.
bool unit_parse(const char* text, unit_quantity* out, unit_error* error);
/// A whole decimal number. False if it is anything else or does not fit.
bool unit_parse_whole(const char* text, int64_t* out);

bool unit_dim_equal(unit_dim a, unit_dim b);
/// "a time", or "a quantity in m^2 kg" where it has no name.
void unit_dim_describe(unit_dim dim, char* out, int capacity);
/// The shortest text that reads back as the same double: "0.1", "1e-06". At most 32 characters.
void unit_print_number(double value, char out[32]);
