// Keys of rigid bodies and their joints.
#include "defs/rules.h"
#include "defs/schema_parts.h"
#include "math/limits.h"

static const char* const slip_words[] = {"slip", "no-slip", "slip-length", NULL};
static const char* const joint_words[] = {"hinge", "slider", "fixed", NULL};

static void init_body(void* item) {
    *(treacle_body_def*)item = treacle_body_def_default();
}

static void init_joint(void* item) {
    *(treacle_joint_def*)item = treacle_joint_def_default();
}

static const schema_key joint_keys[] = {
    {.name = "kind",
     .type = SCHEMA_ENUM,
     .flags = SCHEMA_REQUIRED | SCHEMA_ALWAYS,
     .offset = offsetof(treacle_joint_def, kind),
     .words = joint_words,
     .help = "what is left to the body: to turn about `axis` through `anchor`, to slide along "
             "`axis`, or nothing"},
    {.name = "to",
     .type = SCHEMA_NAME,
     .offset = offsetof(treacle_joint_def, to),
     .help = "the name of the other body",
     .default_text = "the world"},
    {.name = "anchor",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_joint_def, anchor),
     .unit = UNIT_LENGTH,
     .help = "a point of a hinge's axis, at the start"},
    {.name = "axis",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_joint_def, axis),
     .help = "the direction of a hinge or a slider, at the start; of any length"},
};
const schema_section schema_joint = {
    .name = "joint",
    .help = "What holds a body to another one, or to the world.",
    .keys = joint_keys,
    .key_count = COUNT(joint_keys),
    .bytes = sizeof(treacle_joint_def),
    .init = init_joint,
    .rule = rule_joint,
};

static const schema_key body_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_body_def, shape),
     .help = "its shape, where it is at the start"},
    {.name = "density",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_body_def, density),
     .unit = UNIT_DENSITY,
     .range = WITHIN(LIMIT_DENSITY_LEAST, LIMIT_DENSITY),
     .help = "a thousandth of the liquid's is as good as a thousand times it"},
    {.name = "velocity",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_body_def, velocity),
     .unit = UNIT_SPEED,
     .help = "of its centre of mass, at the start"},
    {.name = "spin",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_body_def, spin),
     .unit = UNIT_SPIN,
     .help = "its rotation at the start"},
    {.name = "friction",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_body_def, friction),
     .range = FROM(0),
     .help = "Coulomb's; of two bodies the root of the product"},
    {.name = "restitution",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_body_def, restitution),
     .range = WITHIN(0, 1),
     .help = "share of the speed that a bounce gives back; of two bodies the larger"},
    {.name = "force",
     .type = SCHEMA_CURVE3,
     .offset = offsetof(treacle_body_def, force),
     .unit = UNIT_FORCE,
     .help = "on its centre of mass, over time",
     .default_text = "none"},
    {.name = "torque",
     .type = SCHEMA_CURVE3,
     .offset = offsetof(treacle_body_def, torque),
     .unit = UNIT_ENERGY,
     .help = "in N m, over time",
     .default_text = "none"},
    {.name = "wall",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_body_def, wall),
     .words = slip_words,
     .help = "as of a solid"},
    {.name = "slip_length",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_body_def, slip_length),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "with `wall: slip-length`"},
    {.name = "contact_angle",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_body_def, contact_angle),
     .unit = UNIT_ANGLE,
     .range = WITHIN(0, ANGLE_MOST),
     .help = "at which a surface with tension meets it; the line of contact does not pull at it",
     .default_text = "90 deg"},
    {.name = "joints",
     .type = SCHEMA_LIST,
     .offset = offsetof(treacle_body_def, joints),
     .count_offset = offsetof(treacle_body_def, joint_count),
     .range = WITHIN(0, 64),
     .of = &schema_joint,
     .help = "what holds it",
     .default_text = "none"},
};
const schema_section schema_body = {
    .name = "body",
    .help = "A rigid body that liquid, gravity, contacts and joints move. The key is a name of "
            "your choice.",
    .keys = body_keys,
    .key_count = COUNT(body_keys),
    .bytes = sizeof(treacle_body_def),
    .name_offset = offsetof(treacle_body_def, name),
    .init = init_body,
};
