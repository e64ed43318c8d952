#include "scene/schema.h"

#include <string.h>

#include "scene/bind.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ABOVE(low)                                                                                 \
    { .has_min = true, .is_min_open = true, .min = (low) }
#define FROM(low)                                                                                  \
    { .has_min = true, .min = (low) }
#define WITHIN(low, high)                                                                          \
    { .has_min = true, .has_max = true, .min = (low), .max = (high) }
#define UP_TO(low, high)                                                                           \
    { .has_min = true, .has_max = true, .is_min_open = true, .min = (low), .max = (high) }

// In the order of the enums in types.h.
static const char* const side_words[] = {"slip", "no-slip", "open", "periodic", NULL};
static const char* const flow_words[] = {"none", "pressure", "split", "auto", NULL};
static const char* const transfer_words[] = {"pic", "flip", "apic", NULL};
static const char* const kernel_words[] = {"linear", "quadratic", "wide", NULL};
static const char* const surface_words[] = {"smooth", "spheres", NULL};
static const char* const projection_words[] = {"solve", "relax", NULL};
static const char* const advection_words[] = {"euler", "rk2", "rk3", NULL};

// Shapes ---------------------------------------------------------------------

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
     .help = "path of a .ply, .obj or .stl file, in metres; it begins at the scene file, or at the "
             "working folder with `--set`"},
    CENTRE,
};

#define SHAPE_PART(word, title, text_, check_)                                                     \
    static const schema_section word##_section = {.name = title,                                   \
                                                  .help = text_,                                   \
                                                  .keys = word##_keys,                             \
                                                  .key_count = COUNT(word##_keys),                 \
                                                  .bytes = sizeof(shape_spec),                     \
                                                  .check = check_}
SHAPE_PART(box, "box", "A box along the axes: `size` and `centre`, or `min` and `max`.",
           bind_shape_check_box);
SHAPE_PART(sphere, "sphere", "A ball.", NULL);
SHAPE_PART(cylinder, "cylinder", "A cylinder along y.", NULL);
SHAPE_PART(capsule, "capsule", "A cylinder along y with round caps.", NULL);
SHAPE_PART(torus, "torus", "A ring around y.", bind_shape_check_torus);
SHAPE_PART(plane, "plane", "Everything on one side of a plane: by default, all below y = 0.",
           bind_shape_check_plane);
SHAPE_PART(mesh, "mesh",
           "The inside of a closed triangle mesh. A mesh with holes is filled as well as can be, "
           "with a warning. `rotate` and `scale` are about the origin of the file, which `centre` "
           "puts in its place.",
           NULL);

#define PRIMITIVE(word, text_)                                                                     \
    {                                                                                              \
        .name = #word, .type = SCHEMA_SECTION, .flags = SCHEMA_REQUIRED, .choice = 1,              \
        .of = &word##_section, .help = text_                                                       \
    }
#define OPERATION(word, text_)                                                                     \
    {                                                                                              \
        .name = #word, .type = SCHEMA_SHAPES, .flags = SCHEMA_REQUIRED, .choice = 1,               \
        .offset = offsetof(shape_spec, children),                                                  \
        .count_offset = offsetof(shape_spec, child_count), .help = text_                           \
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
    .init = bind_shape_init,
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
    .check = bind_check_ramp,
};

// Sections -------------------------------------------------------------------

#define SIDE(word, axis, end, text_)                                                               \
    {                                                                                              \
        .name = word, .type = SCHEMA_ENUM, .offset = (2 * (axis) + (end)) * sizeof(treacle_side),  \
        .words = side_words, .help = text_                                                         \
    }

static const schema_key sides_keys[] = {
    {.name = "all",
     .type = SCHEMA_ENUM,
     .flags = SCHEMA_INPUT_ONLY | SCHEMA_ALONE,
     .words = side_words,
     .spread = 6,
     .help = "all six at once; the other keys then change single ones. `sides: slip` is short for "
             "`sides: {all: slip}`"},
    SIDE("left", 0, 0, "low x"),
    SIDE("right", 0, 1, "high x"),
    SIDE("bottom", 1, 0, "low y"),
    SIDE("top", 1, 1, "high y"),
    SIDE("back", 2, 0, "low z"),
    SIDE("front", 2, 1, "high z"),
};
static const schema_section sides_section = {
    .name = "sides",
    .help = "What liquid finds at each side of the domain: `slip` is a wall along which it slides, "
            "`no-slip` a wall to which it sticks, at an `open` side it leaves for good, and at a "
            "`periodic` one it comes back on the other side (both must say so, and the domain is a "
            "multiple of 16 cells wide there).",
    .keys = sides_keys,
    .key_count = COUNT(sides_keys),
    .bytes = sizeof(treacle_side[3][2]),
    .check = bind_check_sides,
};

static const schema_key domain_keys[] = {
    {.name = "origin",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_PAIR,
     .offset = offsetof(scene_domain, origin),
     .unit = UNIT_LENGTH,
     .help = "the low corner; along a flat axis, where the plane of the picture is"},
    {.name = "size",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED | SCHEMA_PAIR,
     .offset = offsetof(scene_domain, size),
     .unit = UNIT_LENGTH,
     .range = WITHIN(0, 1e6),
     .help = "extent along x, y and z, a multiple of `cell` each; 0 along one axis makes the scene "
             "flat (2D), and so do two numbers instead of three"},
    {.name = "cell",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(scene_domain, cell),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "width of a cell of the grid: half of it is twice the detail and 16 times the work",
     .default_text = ""},
    {.name = "resolution",
     .type = SCHEMA_INT,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(scene_domain, resolution),
     .range = WITHIN(2, 65536),
     .help = "cells along the longest axis, instead of `cell`",
     .default_text = ""},
    {.name = "sides",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_domain, sides),
     .of = &sides_section,
     .help = "what the walls are like"},
};
static const schema_section domain_section = {
    .name = "domain",
    .help = "The box that is simulated. Y is up.",
    .keys = domain_keys,
    .key_count = COUNT(domain_keys),
    .bytes = sizeof(scene_domain),
    .check = bind_check_domain,
};

static const schema_key particles_keys[] = {
    {.name = "per_cell",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_particles_def, per_cell),
     .range = WITHIN(1, 64),
     .help = "particles that fill a cell of liquid; a cube (1, 8, 27) is best, or a square (4, 9, "
             "16) in 2D"},
    {.name = "jitter",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_particles_def, jitter),
     .range = WITHIN(0, 1),
     .help = "how much of its own little box a particle may be shifted in, at random"},
};
static const schema_section particles_section = {
    .name = "particles",
    .help = "How liquid is sampled.",
    .keys = particles_keys,
    .key_count = COUNT(particles_keys),
    .bytes = sizeof(treacle_particles_def),
};

static const schema_key step_keys[] = {
    {.name = "cfl",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, cfl),
     .range = WITHIN(0.1, 5),
     .help = "cells that the fastest particle may cross in a step; less is slower and more exact"},
    {.name = "max_dt",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, max_dt),
     .unit = UNIT_TIME,
     .range = UP_TO(0, 1e3),
     .help = "the longest step"},
    {.name = "min_dt",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, min_dt),
     .unit = UNIT_TIME,
     .range = UP_TO(0, 1e3),
     .help = "a step that fails is tried again with half of its length, down to this"},
};
static const schema_section step_section = {
    .name = "step",
    .help = "The length of time steps.",
    .keys = step_keys,
    .key_count = COUNT(step_keys),
    .bytes = sizeof(treacle_step_def),
    .check = bind_check_step,
};

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
static const schema_section material_section = {
    .name = "material",
    .help = "What a liquid is made of. The key is a name of your choice. A scene without "
            "`materials` has one, `water`.",
    .keys = material_keys,
    .key_count = COUNT(material_keys),
    .bytes = sizeof(treacle_material_def),
    .name_offset = offsetof(treacle_material_def, name),
    .init = init_material,
};

static void init_liquid(void* item) {
    *(treacle_liquid_def*)item = treacle_liquid_def_default();
}

static const schema_key liquid_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_liquid_def, shape),
     .help = "where it is at the start"},
    {.name = "material",
     .type = SCHEMA_MATERIAL,
     .offset = offsetof(treacle_liquid_def, material),
     .help = "a name from `materials`",
     .default_text = "the first"},
    {.name = "velocity",
     .type = SCHEMA_FIELD3,
     .offset = offsetof(treacle_liquid_def, velocity),
     .unit = UNIT_SPEED,
     .help = "at the start"},
    {.name = "spin",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_liquid_def, spin),
     .unit = UNIT_SPIN,
     .help = "rotation about `spin_centre`, added to `velocity`"},
    {.name = "spin_centre",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_liquid_def, spin_centre),
     .unit = UNIT_LENGTH,
     .help = "a point of the axis"},
    {.name = "temperature",
     .type = SCHEMA_FIELD,
     .offset = offsetof(treacle_liquid_def, temperature),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "at the start"},
    {.name = "marker",
     .type = SCHEMA_FIELD,
     .offset = offsetof(treacle_liquid_def, marker),
     .help = "a number that the liquid carries along; see `marker_buoyancy`"},
};
static const schema_section liquid_section = {
    .name = "liquid",
    .help = "Liquid that is there from the start.",
    .keys = liquid_keys,
    .key_count = COUNT(liquid_keys),
    .bytes = sizeof(treacle_liquid_def),
    .init = init_liquid,
};

static void init_emitter(void* item) {
    *(treacle_emitter_def*)item = treacle_emitter_def_default();
}

static const schema_key emitter_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_emitter_def, shape),
     .help = "the nozzle"},
    {.name = "material",
     .type = SCHEMA_MATERIAL,
     .offset = offsetof(treacle_emitter_def, material),
     .help = "a name from `materials`",
     .default_text = "the first"},
    {.name = "direction",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_emitter_def, direction),
     .unit = UNIT_NUMBER,
     .help = "of the stream; any length"},
    {.name = "speed",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_emitter_def, speed),
     .unit = UNIT_SPEED,
     .range = FROM(0),
     .help = "of the stream",
     .default_text = ""},
    {.name = "rate",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_emitter_def, rate),
     .unit = UNIT_VOLUME_RATE,
     .range = FROM(0),
     .help = "volume a second, instead of `speed`; a flat scene is one cell thick",
     .default_text = ""},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_emitter_def, start),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it opens"},
    {.name = "stop",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_emitter_def, stop),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it closes",
     .default_text = "never"},
    {.name = "temperature",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_emitter_def, temperature),
     .unit = UNIT_TEMPERATURE,
     .range = FROM(0),
     .help = "of the liquid"},
    {.name = "marker",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_emitter_def, marker),
     .help = "a number that the liquid carries along"},
};
static const schema_section emitter_section = {
    .name = "emitter",
    .help = "An inflow: liquid streams out of the shape.",
    .keys = emitter_keys,
    .key_count = COUNT(emitter_keys),
    .bytes = sizeof(treacle_emitter_def),
    .init = init_emitter,
    .check = bind_check_emitter,
};

static void init_sink(void* item) {
    *(treacle_sink_def*)item = treacle_sink_def_default();
}

static const schema_key sink_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_sink_def, shape),
     .help = "liquid that enters it is gone"},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_sink_def, start),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it opens"},
    {.name = "stop",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_sink_def, stop),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it closes",
     .default_text = "never"},
};
static const schema_section sink_section = {
    .name = "sink",
    .help = "A volume in which liquid vanishes.",
    .keys = sink_keys,
    .key_count = COUNT(sink_keys),
    .bytes = sizeof(treacle_sink_def),
    .init = init_sink,
    .check = bind_check_sink,
};

static void init_force(void* item) {
    *(treacle_force_def*)item = treacle_force_def_default();
}

static const schema_key force_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .offset = offsetof(treacle_force_def, shape),
     .help = "where it acts",
     .default_text = "everywhere"},
    {.name = "acceleration",
     .type = SCHEMA_FIELD3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_force_def, acceleration),
     .unit = UNIT_ACCELERATION,
     .help = "what it does to the velocity, each second"},
    {.name = "strength",
     .type = SCHEMA_CURVE,
     .offset = offsetof(treacle_force_def, strength),
     .help = "multiplies it, over time"},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_force_def, start),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it begins"},
    {.name = "stop",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_force_def, stop),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it ends",
     .default_text = "never"},
};
static const schema_section force_section = {
    .name = "force",
    .help = "An acceleration in a part of space and time: wind, a stirring hand.",
    .keys = force_keys,
    .key_count = COUNT(force_keys),
    .bytes = sizeof(treacle_force_def),
    .init = init_force,
    .check = bind_check_force,
};

static const schema_key pressure_keys[] = {
    {.name = "method",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_pressure_def, method),
     .words = projection_words,
     .help = "`solve`: the linear system by multigrid; `relax`: sweeps, slow, for comparison"},
    {.name = "tolerance",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_pressure_def, tolerance),
     .range = UP_TO(0, 1),
     .help = "at which residual the solver stops"},
    {.name = "max_iterations",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_pressure_def, max_iterations),
     .range = WITHIN(1, 100000),
     .help = "after which it gives up"},
};
static const schema_section pressure_section = {
    .name = "pressure",
    .help = "How the pressure is found.",
    .keys = pressure_keys,
    .key_count = COUNT(pressure_keys),
    .bytes = sizeof(treacle_pressure_def),
};

static const schema_key output_keys[] = {
    {.name = "state_every",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_output_def, state_every),
     .range = WITHIN(0, 1000000000),
     .help = "keep the full state of every so many frames for good; 0 keeps the last two only"},
};
static const schema_section output_section = {
    .name = "output",
    .help = "What is written.",
    .keys = output_keys,
    .key_count = COUNT(output_keys),
    .bytes = sizeof(treacle_output_def),
};

// The root -------------------------------------------------------------------

static void init_root(void* item) {
    scene_root* root = item;
    treacle_sim_def sim = treacle_sim_def_default();
    *root = (scene_root){.sim = sim, .output = {.frames = 120}};
    memcpy(root->domain.sides, sim.domain.sides, sizeof(sim.domain.sides));
}

#define SIM(field) offsetof(scene_root, sim.field)

static const schema_key root_keys[] = {
    {.name = "include",
     .type = SCHEMA_INCLUDE,
     .flags = SCHEMA_INPUT_ONLY,
     .help = "a scene file, or a list of them, on top of which this one lies",
     .default_text = ""},
    {.name = "name",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_ALWAYS,
     .offset = offsetof(scene_root, output.name),
     .help = "of the scene, used in file names",
     .default_text = "the file's"},
    {.name = "frames",
     .type = SCHEMA_INT64,
     .offset = offsetof(scene_root, output.frames),
     .range = WITHIN(1, 1000000),
     .help = "how many to simulate; frame 1 is the start"},
    {.name = "fps",
     .type = SCHEMA_REAL,
     .offset = SIM(fps),
     .unit = UNIT_FREQUENCY,
     .range = WITHIN(0.001, 1e6),
     .help = "frames a second"},
    {.name = "seed",
     .type = SCHEMA_INT64,
     .offset = SIM(seed),
     .range = FROM(0),
     .help = "another number gives other random choices"},
    {.name = "domain",
     .type = SCHEMA_SECTION,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(scene_root, domain),
     .of = &domain_section,
     .help = "the box that is simulated"},
    {.name = "gravity",
     .type = SCHEMA_CURVE3,
     .offset = SIM(gravity),
     .unit = UNIT_ACCELERATION,
     .range = WITHIN(-1e6, 1e6),
     .help = "may change over time"},
    {.name = "particles",
     .type = SCHEMA_SECTION,
     .offset = SIM(particles),
     .of = &particles_section,
     .help = "how liquid is sampled"},
    {.name = "step",
     .type = SCHEMA_SECTION,
     .offset = SIM(step),
     .of = &step_section,
     .help = "the length of time steps"},
    {.name = "flow",
     .type = SCHEMA_ENUM,
     .offset = SIM(flow),
     .words = flow_words,
     .help =
         "`split`: pressure, viscosity, pressure; `pressure`: without viscosity; `auto`: `split` "
         "if a material has viscosity; `none`: particles that fly freely"},
    {.name = "transfer",
     .type = SCHEMA_ENUM,
     .offset = SIM(transfer),
     .words = transfer_words,
     .help = "between particles and grid: `apic` keeps rotation, `flip` is lively and noisy, `pic` "
             "calm and thick"},
    {.name = "flip_blend",
     .type = SCHEMA_REAL,
     .offset = SIM(flip_blend),
     .range = WITHIN(0, 1),
     .help = "with `transfer: flip`, how much of it is FLIP; the rest is PIC"},
    {.name = "flip_from_viscosity",
     .type = SCHEMA_BOOL,
     .offset = SIM(flip_from_viscosity),
     .help = "with `transfer: flip`, the share of PIC follows from the viscosity: damping in place "
             "of a viscosity solve"},
    {.name = "kernel",
     .type = SCHEMA_ENUM,
     .offset = SIM(kernel),
     .words = kernel_words,
     .help = "how far a particle reaches on the grid; `wide` is for one particle a cell"},
    {.name = "advection",
     .type = SCHEMA_ENUM,
     .offset = SIM(advection),
     .words = advection_words,
     .help = "how paths of particles are followed: Euler, or Runge-Kutta of order 2 or 3"},
    {.name = "surface",
     .type = SCHEMA_ENUM,
     .offset = SIM(surface),
     .words = surface_words,
     .help = "how the surface follows from the particles: `smooth` is flat where the liquid is, "
             "`spheres` a union of balls"},
    {.name = "pressure",
     .type = SCHEMA_SECTION,
     .offset = SIM(pressure),
     .of = &pressure_section,
     .help = "how the pressure is found"},
    {.name = "density_correction",
     .type = SCHEMA_BOOL,
     .offset = SIM(density_correction),
     .help = "moves particles apart so that the volume is kept"},
    {.name = "reseed",
     .type = SCHEMA_BOOL,
     .offset = SIM(reseed),
     .help = "splits and merges particles so that cells keep about `per_cell`"},
    {.name = "materials",
     .type = SCHEMA_MAP,
     .offset = SIM(materials),
     .count_offset = SIM(material_count),
     .range = WITHIN(1, 256),
     .of = &material_section,
     .help = "what liquids are made of, by name",
     .default_text = "`water`"},
    {.name = "liquids",
     .type = SCHEMA_LIST,
     .offset = SIM(liquids),
     .count_offset = SIM(liquid_count),
     .range = WITHIN(0, 16384),
     .of = &liquid_section,
     .help = "liquid that is there from the start",
     .default_text = "none"},
    {.name = "emitters",
     .type = SCHEMA_LIST,
     .offset = SIM(emitters),
     .count_offset = SIM(emitter_count),
     .range = WITHIN(0, 16384),
     .of = &emitter_section,
     .help = "inflows",
     .default_text = "none"},
    {.name = "sinks",
     .type = SCHEMA_LIST,
     .offset = SIM(sinks),
     .count_offset = SIM(sink_count),
     .range = WITHIN(0, 16384),
     .of = &sink_section,
     .help = "where liquid vanishes",
     .default_text = "none"},
    {.name = "forces",
     .type = SCHEMA_LIST,
     .offset = SIM(forces),
     .count_offset = SIM(force_count),
     .range = WITHIN(0, 16384),
     .of = &force_section,
     .help = "accelerations in parts of space and time",
     .default_text = "none"},
    {.name = "output",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_root, output),
     .of = &output_section,
     .help = "what is written"},
};

const schema_section schema_root = {
    .name = "scene",
    .help = "The top level of the file.",
    .keys = root_keys,
    .key_count = COUNT(root_keys),
    .bytes = sizeof(scene_root),
    .init = init_root,
    .check = bind_check_root,
};

const schema_key* schema_find(const schema_section* section, const char* key) {
    for (int i = 0; i < section->key_count; ++i) {
        if (strcmp(section->keys[i].name, key) == 0) {
            return &section->keys[i];
        }
    }
    return NULL;
}
