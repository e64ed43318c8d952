// Keys of materials.
#include "scene/schema_parts.h"

static const char* const rheology_words[] = {"newtonian", "power-law",        "carreau",
                                             "bingham",   "herschel-bulkley", NULL};

#define RHEOLOGY(field) offsetof(treacle_rheology_def, field)
static const schema_key rheology_keys[] = {
    {.name = "law",
     .type = SCHEMA_ENUM,
     .flags = SCHEMA_ALONE,
     .offset = RHEOLOGY(law),
     .words = rheology_words,
     .help = "how viscosity follows from the rate of shear g: `power-law` is consistency "
             "g^(exponent - 1), `carreau` goes from `viscosity` to `viscosity_infinite`, `bingham` "
             "is `viscosity` + yield_stress/g, `herschel-bulkley` consistency g^(exponent - 1) + "
             "yield_stress/g"},
    {.name = "consistency",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(consistency),
     .range = UP_TO(0, 1e12),
     .help = "in Pa s^n with n the exponent: the stress at a rate of 1/s"},
    {.name = "exponent",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(exponent),
     .range = WITHIN(0.01, 10),
     .help = "below 1 the material thins when it is sheared, above 1 it thickens"},
    {.name = "yield_stress",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(yield_stress),
     .unit = UNIT_PRESSURE,
     .range = WITHIN(0, 1e12),
     .help = "shear stress below which it does not flow"},
    {.name = "viscosity_infinite",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(viscosity_infinite),
     .unit = UNIT_VISCOSITY,
     .range = WITHIN(0, 1e15),
     .help = "of `carreau`, at the highest rates"},
    {.name = "time",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(time),
     .unit = UNIT_TIME,
     .range = WITHIN(0, 1e9),
     .help = "of `carreau`: it begins to thin at a rate of 1/time"},
    {.name = "critical_rate",
     .type = SCHEMA_REAL,
     .offset = RHEOLOGY(critical_rate),
     .unit = UNIT_FREQUENCY,
     .range = WITHIN(1e-9, 1e6),
     .help = "g is sqrt(g^2 + critical_rate^2) in all laws, so that nothing is infinite at rest: "
             "what should stand still creeps by less than this"},
};
static const schema_section rheology_section = {
    .name = "rheology",
    .help = "What the viscosity of a material does when it is sheared. Without it, nothing: the "
            "material is Newtonian.",
    .keys = rheology_keys,
    .key_count = COUNT(rheology_keys),
    .bytes = sizeof(treacle_rheology_def),
    .check = bind_check_rheology,
};

static void init_material(void* item) {
    *(treacle_material_def*)item = treacle_material_def_default();
}

// In the order of the enums in types.h.
static const char* const rate_words[] = {"corotational", "convected", "fixed", NULL};
static const char* const decay_words[] = {"deviator", "whole", NULL};

#define ELASTIC(field) offsetof(treacle_elastic_def, field)

static const schema_key elastic_keys[] = {
    {.name = "shear_modulus",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = ELASTIC(shear_modulus),
     .unit = UNIT_PRESSURE,
     .range = ABOVE(0),
     .help = "stiffness against shear: a third of Young's modulus"},
    {.name = "mu_e",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED | SCHEMA_INPUT_ONLY,
     .choice = 1,
     .offset = ELASTIC(mu_e),
     .unit = UNIT_PRESSURE,
     .range = ABOVE(0),
     .help = "twice the shear modulus, as the thesis has it; instead of `shear_modulus`",
     .default_text = ""},
    {.name = "relaxation_time",
     .type = SCHEMA_REAL,
     .choice = 2,
     .offset = ELASTIC(relaxation_time),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .infinite = "never",
     .help = "in which strain above the yield point falls to 37 %; `never` for what always springs "
             "back, 0 for what gives way at once",
     .default_text = "never"},
    {.name = "alpha",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_INPUT_ONLY,
     .choice = 2,
     .offset = ELASTIC(alpha),
     .unit = UNIT_FREQUENCY,
     .range = FROM(0),
     .help = "rate of elastic decay, 1 / `relaxation_time`, instead of it",
     .default_text = ""},
    {.name = "yield_stress",
     .type = SCHEMA_REAL,
     .choice = 3,
     .offset = ELASTIC(yield_stress),
     .unit = UNIT_PRESSURE,
     .range = FROM(0),
     .infinite = "none",
     .help = "shear stress below which nothing is forgotten; `none` for what never yields"},
    {.name = "gamma",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_INPUT_ONLY,
     .choice = 3,
     .offset = ELASTIC(gamma),
     .unit = UNIT_NUMBER,
     .range = FROM(0),
     .infinite = "none",
     .help = "plastic yield point, a strain: `yield_stress` / (1.414 `shear_modulus`), instead of "
             "it",
     .default_text = ""},
    {.name = "rate",
     .type = SCHEMA_ENUM,
     .offset = ELASTIC(rate),
     .words = rate_words,
     .help = "how strain turns with the material: with its rotation, with its whole deformation "
             "(polymer solutions: Oldroyd-B), or not at all, which is wrong and there to show it"},
    {.name = "decay",
     .type = SCHEMA_ENUM,
     .offset = ELASTIC(decay),
     .words = decay_words,
     .help = "what of the strain is forgotten: its deviator or the whole of it; of `convected` "
             "strain always the whole"},
};
static const schema_section elastic_section = {
    .name = "elastic",
    .help = "What springs back. Three numbers, in people's words or in the thesis' [G11].",
    .keys = elastic_keys,
    .key_count = COUNT(elastic_keys),
    .bytes = sizeof(treacle_elastic_def),
    .check = bind_check_elastic,
};

static const schema_key material_keys[] = {
    {.name = "preset",
     .type = SCHEMA_PRESET,
     .flags = SCHEMA_INPUT_ONLY | SCHEMA_ALONE,
     .help = "a material of the library, from which the other keys then differ; `sauce: ketchup` "
             "is short for `sauce: {preset: ketchup}`",
     .default_text = ""},
    {.name = "density",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_material_def, density),
     .unit = UNIT_DENSITY,
     .range = UP_TO(0, 1e6),
     .help = "mass of a volume"},
    {.name = "viscosity",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_material_def, viscosity),
     .unit = UNIT_VISCOSITY,
     .other_unit = UNIT_KINEMATIC,
     .other_factor = offsetof(treacle_material_def, density),
     .range = WITHIN(0, 1e15),
     .help = "dynamic viscosity (Pa.s, cP): water 0.001, olive oil 0.08, honey 10; a kinematic one "
             "(m^2/s, cSt) is multiplied by the density"},
    {.name = "rheology",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_material_def, rheology),
     .of = &rheology_section,
     .help = "what shear does to the viscosity"},
    {.name = "colour",
     .type = SCHEMA_COLOUR,
     .offset = offsetof(treacle_material_def, colour),
     .help = "red, green and blue from 0 to 1 (linear), or \"#rrggbb\" as in paint programs"},
    {.name = "expansion",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_material_def, expansion),
     .unit = UNIT_EXPANSION,
     .range = WITHIN(0, 1),
     .help = "buoyancy of warm liquid: the share of its weight that it loses per kelvin"},
    {.name = "reference_temperature",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_material_def, reference_temperature),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "at which `expansion` makes no buoyancy"},
    {.name = "marker_buoyancy",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_material_def, marker_buoyancy),
     .help = "the share of its weight that liquid loses per unit of its `marker`"},
    {.name = "elastic",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_material_def, elastic),
     .of = &elastic_section,
     .help = "makes it a gel, a dough or a slime"},
};
const schema_section schema_material = {
    .name = "material",
    .help = "What a liquid is made of. The key is a name of your choice. A scene without "
            "`materials` has one, `water`.",
    .keys = material_keys,
    .key_count = COUNT(material_keys),
    .bytes = sizeof(treacle_material_def),
    .name_offset = offsetof(treacle_material_def, name),
    .init = init_material,
};
