// Keys of shapes and of fields.
#include <string.h>

#include "defs/rules.h"
#include "defs/schema_parts.h"

static const char centre_help[] = "where the middle is";

#define CENTRE                                                                                     \
    {                                                                                              \
        .name = "centre", .type = SCHEMA_VEC3, .flags = SCHEMA_INPUT_ONLY,                         \
        .offset = offsetof(shape_spec, centre), .unit = UNIT_LENGTH, .help = centre_help           \
    }

static const schema_key box_keys[] = {
    {.name = "size",
     .type = SCHEMA_VEC3,
     .offset = offsetof(shape_spec, size),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .flags = SCHEMA_ALWAYS,
     .help = "extent along x, y and z; with `centre`",
     .default_text = ""},
    CENTRE,
    {.name = "min",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_INPUT_ONLY,
     .offset = offsetof(shape_spec, min),
     .unit = UNIT_LENGTH,
     .help = "the low corner; with `max`, instead of `size` and `centre`",
     .default_text = ""},
    {.name = "max",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_INPUT_ONLY,
     .offset = offsetof(shape_spec, max),
     .unit = UNIT_LENGTH,
     .help = "the high corner",
     .default_text = ""},
};

#define RADIUS(what)                                                                               \
    {                                                                                              \
        .name = "radius", .type = SCHEMA_REAL, .flags = SCHEMA_REQUIRED,                           \
        .offset = offsetof(shape_spec, radius), .unit = UNIT_LENGTH, .range = ABOVE(0),            \
        .help = what                                                                               \
    }

static const schema_key sphere_keys[] = {RADIUS("radius of the ball"), CENTRE};

static const schema_key cylinder_keys[] = {
    RADIUS("radius of the round ends"),
    {.name = "height",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(shape_spec, height),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "length along y; `rotate` turns it"},
    CENTRE,
};

static const schema_key capsule_keys[] = {
    RADIUS("radius of the body and of its round caps"),
    {.name = "height",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(shape_spec, height),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "length along y, between the middles of the caps"},
    CENTRE,
};

static const schema_key torus_keys[] = {
    RADIUS("radius of the ring, around y"),
    {.name = "thickness",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(shape_spec, thickness),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "radius of the tube"},
    CENTRE,
};

static const schema_key plane_keys[] = {
    {.name = "point",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_INPUT_ONLY,
     .offset = offsetof(shape_spec, point),
     .unit = UNIT_LENGTH,
     .help = "a point of the plane"},
    {.name = "normal",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_INPUT_ONLY,
     .offset = offsetof(shape_spec, normal),
     .unit = UNIT_NUMBER,
     .help = "points out of the shape, which is everything on the other side"},
};

static const schema_key mesh_keys[] = {
    {.name = "file",
     .type = SCHEMA_MESH,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(shape_spec, file),
     .help = "path of a .ply, .obj, .stl, .gltf, .glb or .vdb file (VDB needs a build with "
             "OpenVDB), in metres; it begins at the scene file, or at the working folder with "
             "`--set`. With a run of `#` for a number, as in wave_####.ply, a sequence"},
    CENTRE,
    {.name = "first",
     .type = SCHEMA_INT,
     .offset = offsetof(shape_spec, frames.first),
     .range = WITHIN(0, 999999999),
     .help = "number of the first mesh of a sequence"},
    {.name = "last",
     .type = SCHEMA_INT,
     .offset = offsetof(shape_spec, frames.last),
     .range = WITHIN(0, 999999999),
     .help = "number of the last mesh of a sequence",
     .default_text = ""},
    {.name = "fps",
     .type = SCHEMA_REAL,
     .offset = offsetof(shape_spec, frames.fps),
     .unit = UNIT_FREQUENCY,
     .range = ABOVE(0),
     .help = "meshes a second of a sequence",
     .default_text = ""},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(shape_spec, frames.start),
     .unit = UNIT_TIME,
     .help = "when the first mesh of a sequence is there"},
    {.name = "repeat",
     .type = SCHEMA_BOOL,
     .offset = offsetof(shape_spec, frames.repeat),
     .help = "after the last mesh of a sequence comes the first again, as many times as need be; "
             "otherwise the first and the last stay before and after"},
};

#define SHAPE_PART(word, title, text_)                                                             \
    const schema_section schema_##word = {.name = title,                                           \
                                          .help = text_,                                           \
                                          .keys = word##_keys,                                     \
                                          .key_count = COUNT(word##_keys),                         \
                                          .bytes = sizeof(shape_spec)}
SHAPE_PART(box, "box", "A box along the axes: `size` and `centre`, or `min` and `max`.");
SHAPE_PART(sphere, "sphere", "A ball.");
SHAPE_PART(cylinder, "cylinder", "A cylinder along y.");
SHAPE_PART(capsule, "capsule", "A cylinder along y with round caps.");
SHAPE_PART(torus, "torus", "A ring around y.");
SHAPE_PART(plane, "plane", "Everything on one side of a plane: by default, all below y = 0.");
SHAPE_PART(mesh, "mesh",
           "The inside of a closed triangle mesh. A mesh with holes is filled as well as can be, "
           "with a warning. `rotate` and `scale` are about the origin of the file, which `centre` "
           "puts in its place. A sequence of meshes, for a solid that changes its shape, has the "
           "same vertices and triangles all along; between two meshes vertices go straight.");

#define PRIMITIVE(word, text_)                                                                     \
    {                                                                                              \
        .name = #word, .type = SCHEMA_SECTION, .flags = SCHEMA_REQUIRED, .choice = 1,              \
        .of = &schema_##word, .help = text_                                                        \
    }
#define OPERATION(word, text_)                                                                     \
    {                                                                                              \
        .name = #word, .type = SCHEMA_SHAPES, .flags = SCHEMA_REQUIRED, .choice = 1,               \
        .offset = offsetof(shape_spec, children),                                                  \
        .count_offset = offsetof(shape_spec, child_count), .help = text_                           \
    }

void schema_shape_spec(const treacle_shape* def, shape_spec* out) {
    *out = (shape_spec){
        .radius = def->radius,
        .height = def->height,
        .thickness = def->thickness,
        .normal = {0.0, 1.0, 0.0},
        .file = def->file,
        .frames = def->frames,
        .scale = def->scale,
        .child_count = def->child_count,
        .children = def->children,
    };
    memcpy(out->size, def->size, sizeof(out->size));
    memcpy(out->move, def->move, sizeof(out->move));
    memcpy(out->rotate, def->rotate, sizeof(out->rotate));
}

static void init_shape(void* item) {
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_BOX);
    schema_shape_spec(&def, item);
}

static const schema_key shape_keys[] = {
    PRIMITIVE(box, "a box"),
    PRIMITIVE(sphere, "a ball"),
    PRIMITIVE(cylinder, "a cylinder"),
    PRIMITIVE(capsule, "a cylinder with round caps"),
    PRIMITIVE(torus, "a ring"),
    PRIMITIVE(plane, "a half space"),
    PRIMITIVE(mesh, "a mesh from a file"),
    OPERATION(union, "all of the listed shapes together"),
    OPERATION(intersection, "what is in all of the listed shapes"),
    OPERATION(difference, "the first of the listed shapes without the others"),
    {.name = "move",
     .type = SCHEMA_VEC3,
     .offset = offsetof(shape_spec, move),
     .unit = UNIT_LENGTH,
     .help = "shifts the shape, last of all"},
    {.name = "rotate",
     .type = SCHEMA_VEC3,
     .offset = offsetof(shape_spec, rotate),
     .unit = UNIT_ANGLE,
     .help = "turns the shape about x, then y, then z; about its own centre, or about the origin "
             "if it is a union, intersection or difference"},
    {.name = "scale",
     .type = SCHEMA_REAL,
     .offset = offsetof(shape_spec, scale),
     .unit = UNIT_NUMBER,
     .range = ABOVE(0),
     .help = "makes it larger, about the same point"},
};

const schema_section schema_shape = {
    .name = "shape",
    .help = "A volume. Exactly one of box to difference, and beside it where it is.",
    .keys = shape_keys,
    .key_count = COUNT(shape_keys),
    .bytes = sizeof(shape_spec),
    .init = init_shape,
};

// Fields ---------------------------------------------------------------------

static const schema_key ramp_keys[] = {
    {.name = "from",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_field, from),
     .unit = UNIT_LENGTH,
     .help = "where the ramp begins"},
    {.name = "to",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_field, to),
     .unit = UNIT_LENGTH,
     .help = "where it ends"},
    {.name = "a",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_field, value_a),
     .help = "value at `from` and before it"},
    {.name = "b",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_field, value_b),
     .help = "value at `to` and beyond it"},
};
const schema_section schema_ramp = {
    .name = "ramp",
    .help = "A field that changes linearly between two points.",
    .keys = ramp_keys,
    .key_count = COUNT(ramp_keys),
    .bytes = sizeof(treacle_field),
    .rule = rule_ramp,
};
