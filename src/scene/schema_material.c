// Keys of materials.
#include "scene/schema_parts.h"

static void init_material(void* item) {
    *(treacle_material_def*)item = treacle_material_def_default();
}

static const schema_key material_keys[] = {
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
