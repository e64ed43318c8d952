// Keys of solids.
#include "scene/schema_parts.h"

static const char* const wall_words[] = {"slip", "no-slip", "slip-length", NULL};

static void init_solid(void* item) {
    *(treacle_solid_def*)item = treacle_solid_def_default();
}

static const schema_key solid_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_solid_def, shape),
     .help = "what no liquid enters, before it moves"},
    {.name = "inside_out",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_solid_def, inside_out),
     .help = "a container: everything outside of the shape is solid"},
    {.name = "position",
     .type = SCHEMA_CURVE3,
     .offset = offsetof(treacle_solid_def, position),
     .unit = UNIT_LENGTH,
     .help = "how far it is moved from where its shape says, over time",
     .default_text = "not at all"},
    {.name = "rotation",
     .type = SCHEMA_CURVE3,
     .offset = offsetof(treacle_solid_def, rotation),
     .unit = UNIT_ANGLE,
     .help = "how far it is turned about x, then y, then z, through `pivot`, over time",
     .default_text = "not at all"},
    {.name = "velocity",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_solid_def, velocity),
     .unit = UNIT_SPEED,
     .help = "a steady motion, added to `position`"},
    {.name = "spin",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_solid_def, spin),
     .unit = UNIT_SPIN,
     .help = "a steady rotation about `pivot`, on top of `rotation`"},
    {.name = "pivot",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_solid_def, pivot),
     .unit = UNIT_LENGTH,
     .help = "the point about which it turns; it moves along"},
    {.name = "wall",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_solid_def, wall),
     .words = wall_words,
     .help = "how thick liquid moves along it: it slides, sticks, or slides as if it stuck "
             "`slip_length` behind the surface"},
    {.name = "slip_length",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_solid_def, slip_length),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "with `wall: slip-length`"},
};
const schema_section schema_solid = {
    .name = "solid",
    .help = "A body that moves as it is told, or stands still. The key is a name of your choice.",
    .keys = solid_keys,
    .key_count = COUNT(solid_keys),
    .bytes = sizeof(treacle_solid_def),
    .name_offset = offsetof(treacle_solid_def, name),
    .init = init_solid,
    .check = bind_check_solid,
};
