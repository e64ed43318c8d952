// Keys of heat: where it comes from and goes to, and what it does to viscosity.
#include "defs/rules.h"
#include "defs/schema_parts.h"

// In the order of the enums in types.h.
static const char* const law_words[] = {"none", "linear", "quadratic", "arrhenius",
                                        "vft",  "table",  NULL};
static const char* const of_words[] = {"temperature", "marker", NULL};
static const char* const method_words[] = {"auto", "lod", "adi", "implicit", NULL};
static const char* const at_words[] = {"left", "right", "bottom", "top", "back", "front", NULL};

#define LAW(field) offsetof(treacle_viscosity_law, field)

static const schema_key law_keys[] = {
    {.name = "kind",
     .type = SCHEMA_ENUM,
     .flags = SCHEMA_REQUIRED,
     .offset = LAW(kind),
     .words = law_words,
     .help = "`linear` and `quadratic`: from `low` to `high` in the zone `from` `to`; `arrhenius`: "
             "`viscosity` times exp(`activation` (1/T - 1/`reference`)); `vft`: 10^(`a` + `b` / (T "
             "- `c`)); `table`: points of `table`"},
    {.name = "of",
     .type = SCHEMA_ENUM,
     .offset = LAW(of),
     .words = of_words,
     .help = "what it depends on: the temperature, or the `marker` that liquid carries (water "
             "content, cure)"},
    {.name = "from",
     .type = SCHEMA_REAL,
     .offset = LAW(from),
     .unit = UNIT_TEMPERATURE,
     .help = "where the zone begins; a plain number is in kelvin, or in units of the marker"},
    {.name = "to",
     .type = SCHEMA_REAL,
     .offset = LAW(to),
     .unit = UNIT_TEMPERATURE,
     .help = "where it ends"},
    {.name = "low",
     .type = SCHEMA_REAL,
     .offset = LAW(low),
     .unit = UNIT_VISCOSITY,
     .range = UP_TO(0, 1e15),
     .help = "viscosity at `from` and below"},
    {.name = "high",
     .type = SCHEMA_REAL,
     .offset = LAW(high),
     .unit = UNIT_VISCOSITY,
     .range = UP_TO(0, 1e15),
     .help = "viscosity at `to` and above"},
    {.name = "activation",
     .type = SCHEMA_REAL,
     .offset = LAW(activation),
     .unit = UNIT_TEMPERATURE,
     .help = "activation energy over the gas constant"},
    {.name = "reference",
     .type = SCHEMA_REAL,
     .offset = LAW(reference),
     .unit = UNIT_TEMPERATURE,
     .range = ABOVE(0),
     .help = "at which an `arrhenius` law gives the material's `viscosity`"},
    {.name = "a", .type = SCHEMA_REAL, .offset = LAW(a), .help = "of `vft`, decimal logarithm"},
    {.name = "b",
     .type = SCHEMA_REAL,
     .offset = LAW(b),
     .unit = UNIT_TEMPERATURE,
     .help = "of `vft`"},
    {.name = "c",
     .type = SCHEMA_REAL,
     .offset = LAW(c),
     .unit = UNIT_TEMPERATURE,
     .help = "of `vft`: where viscosity would be infinite"},
    {.name = "least",
     .type = SCHEMA_REAL,
     .offset = LAW(least),
     .unit = UNIT_VISCOSITY,
     .range = UP_TO(0, 1e15),
     .help = "no law goes below"},
    {.name = "most",
     .type = SCHEMA_REAL,
     .offset = LAW(most),
     .unit = UNIT_VISCOSITY,
     .range = UP_TO(0, 1e15),
     .help = "no law goes above"},
    {.name = "table",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_BY_TEMPERATURE,
     .offset = LAW(table),
     .unit = UNIT_VISCOSITY,
     .range = UP_TO(0, 1e15),
     .help = "points [temperature, viscosity], joined linearly in the logarithm",
     .default_text = ""},
};
const schema_section schema_viscosity_law = {
    .name = "viscosity_law",
    .help = "How viscosity follows from the temperature, or from another number that liquid "
            "carries. Of the temperature it must not rise anywhere.",
    .keys = law_keys,
    .key_count = COUNT(law_keys),
    .bytes = sizeof(treacle_viscosity_law),
    .rule = rule_viscosity_law,
    .is_idle = rule_has_no_law,
    .needs = rule_law_needs,
};

// In the order of the enum in types.h.
static const char* const convection_words[] = {"semi-lagrangian", "upwind", NULL};

static const schema_key heat_keys[] = {
    {.name = "convection",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_heat_def, convection),
     .words = convection_words,
     .help = "with `motion: eulerian`, how heat moves with the liquid: by looking back along its "
             "path, or by differences against the flow, which blur more"},
    {.name = "method",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_heat_def, method),
     .words = method_words,
     .help =
         "of conduction: `lod` goes along one axis after the other, `adi` corrects it, "
         "`implicit` takes all at once; `auto`: `lod` where heat goes no farther than a cell in "
         "a step, else `implicit`"},
    {.name = "air",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_def, air),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "temperature of the surroundings"},
    {.name = "loss",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_def, loss),
     .unit = UNIT_HEAT_TRANSFER,
     .range = FROM(0),
     .help = "of the free surface to the air: still air 5 to 10, wind 50"},
    {.name = "emissivity",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_def, emissivity),
     .range = WITHIN(0, 1),
     .help = "how well the free surface radiates heat away: lava and wax 0.9, metals 0.1"},
    {.name = "speed",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_def, speed),
     .range = WITHIN(0.001, 1e6),
     .help = "how many times as fast as in nature heat is conducted, comes, is lost, melts and "
             "sets, while the liquid moves as it does. A cheat, for films: 1 is nature. For time "
             "that goes faster for both see `time_lapse`"},
};
const schema_section schema_heat = {
    .name = "heat",
    .help = "Heat flows where something heats or cools, or where liquids of different temperature "
            "have a "
            "`conductivity`.",
    .keys = heat_keys,
    .key_count = COUNT(heat_keys),
    .bytes = sizeof(treacle_heat_def),
};

static void init_source(void* item) {
    *(treacle_heat_source_def*)item = treacle_heat_source_def_default();
}

static const schema_key source_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_heat_source_def, shape),
     .help = "liquid in it is heated"},
    {.name = "place",
     .type = SCHEMA_CURVE3,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_heat_source_def, place),
     .unit = UNIT_LENGTH,
     .help = "a point that radiates onto the surface that faces it, instead of `shape`",
     .default_text = ""},
    {.name = "power",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 2,
     .offset = offsetof(treacle_heat_source_def, power),
     .unit = UNIT_POWER,
     .help = "heat a second in all; negative: it cools",
     .default_text = ""},
    {.name = "temperature",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 2,
     .offset = offsetof(treacle_heat_source_def, temperature),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "at which liquid in the shape is held, instead of `power`",
     .default_text = ""},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_source_def, start),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it begins"},
    {.name = "stop",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_source_def, stop),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it ends",
     .default_text = "never"},
    {.name = "aim",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_heat_source_def, aim),
     .unit = UNIT_NUMBER,
     .help = "of a lamp: where it points, any length; `[0, 0, 0]`: it shines all round"},
    {.name = "angle",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_source_def, angle),
     .unit = UNIT_ANGLE,
     .range = UP_TO(0, 3.14159265358979323846),
     .help = "of a lamp, from `aim` to the edge of its cone, in which all of its power is"},
    {.name = "shadows",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_heat_source_def, shadows),
     .help = "whether liquid, solids and bodies stand in the way of a point's light"},
};
const schema_section schema_heat_source = {
    .name = "heat_source",
    .help =
        "Heat that comes, or goes: in a part of space, or from a point that radiates: a flame, or "
        "a lamp with its cone.",
    .keys = source_keys,
    .key_count = COUNT(source_keys),
    .bytes = sizeof(treacle_heat_source_def),
    .init = init_source,
    .rule = rule_heat_source,
};

static void init_heat_side(void* item) {
    *(treacle_heat_wall_def*)item = treacle_heat_wall_def_default();
}

static const schema_key heat_side_keys[] = {
    {.name = "side",
     .type = SCHEMA_ENUM,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_heat_wall_def, side),
     .words = at_words,
     .help = "of the domain"},
    {.name = "temperature",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_heat_wall_def, temperature),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "at which the wall is held",
     .default_text = ""},
    {.name = "flux",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_heat_wall_def, flux),
     .unit = UNIT_HEAT_FLUX,
     .help = "heat that it gives to liquid that touches it, instead of `temperature`",
     .default_text = ""},
    {.name = "contact",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_heat_wall_def, contact),
     .unit = UNIT_HEAT_TRANSFER,
     .range = ABOVE(0),
     .help = "how well heat passes from the wall to the liquid",
     .default_text = "perfectly"},
};
const schema_section schema_heat_wall = {
    .name = "heat_wall",
    .help = "A side of the domain that heats or cools. Others let no heat through.",
    .keys = heat_side_keys,
    .key_count = COUNT(heat_side_keys),
    .bytes = sizeof(treacle_heat_wall_def),
    .init = init_heat_side,
};
