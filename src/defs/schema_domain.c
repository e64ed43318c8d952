// Keys of the domain and its sides.
#include "defs/schema_parts.h"

// In the order of the enum in types.h.
static const char* const side_words[] = {"slip", "no-slip", "open", "periodic", NULL};

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
const schema_section schema_sides = {
    .name = "sides",
    .help = "What liquid finds at each side of the domain: `slip` is a wall along which it slides, "
            "`no-slip` a wall to which it sticks, at an `open` side it leaves for good, and at a "
            "`periodic` one it comes back on the other side (both must say so, and the domain is a "
            "multiple of 16 cells wide there).",
    .keys = sides_keys,
    .key_count = COUNT(sides_keys),
    .bytes = sizeof(treacle_side[3][2]),
};

#define SEPARATION(word, axis, end, text_)                                                         \
    {                                                                                              \
        .name = word, .type = SCHEMA_RELEASE, .unit = UNIT_PRESSURE, .range = FROM(0),             \
        .offset = (2 * (axis) + (end)) * sizeof(treacle_separation), .help = text_                 \
    }

static const schema_key separation_keys[] = {
    {.name = "all",
     .type = SCHEMA_RELEASE,
     .flags = SCHEMA_INPUT_ONLY | SCHEMA_ALONE,
     .unit = UNIT_PRESSURE,
     .range = FROM(0),
     .spread = 6,
     .help = "all six at once; the other keys then change single ones. `separation: on` is short "
             "for `separation: {all: on}`"},
    SEPARATION("left", 0, 0, "low x"),
    SEPARATION("right", 0, 1, "high x"),
    SEPARATION("bottom", 1, 0, "low y"),
    SEPARATION("top", 1, 1, "high y"),
    SEPARATION("back", 2, 0, "low z"),
    SEPARATION("front", 2, 1, "high z"),
};
static const schema_section separation_section = {
    .name = "separation",
    .help = "Whether liquid lets go of each side that is a wall: `off`, suction holds it for ever; "
            "`on`, it comes off where the pressure would fall below zero; or a pressure, the "
            "tension that the wall bears before it comes off. At open and periodic sides there is "
            "nothing to let go of.",
    .keys = separation_keys,
    .key_count = COUNT(separation_keys),
    .bytes = sizeof(treacle_separation[3][2]),
};

#define SLIP(word, axis, end, text_)                                                               \
    {                                                                                              \
        .name = word, .type = SCHEMA_REAL, .unit = UNIT_LENGTH, .range = FROM(0),                  \
        .offset = (2 * (axis) + (end)) * sizeof(double), .help = text_                             \
    }

static const schema_key slip_keys[] = {
    SLIP("left", 0, 0, "low x"), SLIP("right", 0, 1, "high x"), SLIP("bottom", 1, 0, "low y"),
    SLIP("top", 1, 1, "high y"), SLIP("back", 2, 0, "low z"),   SLIP("front", 2, 1, "high z"),
};
static const schema_section slip_section = {
    .name = "slip_length",
    .help = "How far behind each `no-slip` side thick liquid would be at rest: 0 where it sticks "
            "for good, more where it slides a little.",
    .keys = slip_keys,
    .key_count = COUNT(slip_keys),
    .bytes = sizeof(double[3][2]),
};

#define BELT(word, axis, end, text_)                                                               \
    {                                                                                              \
        .name = word, .type = SCHEMA_CURVE3, .unit = UNIT_SPEED,                                   \
        .offset = (2 * (axis) + (end)) * sizeof(treacle_curve), .help = text_,                     \
        .default_text = "at rest"                                                                  \
    }

static const schema_key belt_keys[] = {
    BELT("left", 0, 0, "low x"), BELT("right", 0, 1, "high x"), BELT("bottom", 1, 0, "low y"),
    BELT("top", 1, 1, "high y"), BELT("back", 2, 0, "low z"),   BELT("front", 2, 1, "high z"),
};
static const schema_section belt_section = {
    .name = "surface_velocity",
    .help = "How fast each `no-slip` side moves in its own plane, over time, as a belt does: thick "
            "liquid is taken along. What points across the side does not count. Belts that are "
            "not the same everywhere, and turning tables, are [solids](#solid).",
    .keys = belt_keys,
    .key_count = COUNT(belt_keys),
    .bytes = sizeof(treacle_curve[3][2]),
};

#define ANGLE(word, axis, end, text_)                                                              \
    {                                                                                              \
        .name = word, .type = SCHEMA_REAL, .unit = UNIT_ANGLE, .range = WITHIN(0, ANGLE_MOST),     \
        .offset = (2 * (axis) + (end)) * sizeof(double), .help = text_, .default_text = "90 deg"   \
    }

static const schema_key angle_keys[] = {
    {.name = "all",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_INPUT_ONLY | SCHEMA_ALONE,
     .unit = UNIT_ANGLE,
     .range = WITHIN(0, ANGLE_MOST),
     .spread = 6,
     .help = "all six at once; the other keys then change single ones. `contact_angle: 60 deg` is "
             "short for `contact_angle: {all: 60 deg}`"},
    ANGLE("left", 0, 0, "low x"),
    ANGLE("right", 0, 1, "high x"),
    ANGLE("bottom", 1, 0, "low y"),
    ANGLE("top", 1, 1, "high y"),
    ANGLE("back", 2, 0, "low z"),
    ANGLE("front", 2, 1, "high z"),
};
static const schema_section angle_section = {
    .name = "contact_angle",
    .help = "The angle, through the liquid, at which the surface of a liquid with "
            "`surface_tension` meets each side that is a wall: below 90 deg it spreads (water on "
            "clean glass 0 to 30 deg), above it beads (water on wax 105 deg). Without surface "
            "tension it does nothing.",
    .keys = angle_keys,
    .key_count = COUNT(angle_keys),
    .bytes = sizeof(double[3][2]),
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
     .help = "extent along x, y and z, each rounded to whole cells; 0 along one axis makes the "
             "scene flat (2D), and so do two numbers instead of three"},
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
     .of = &schema_sides,
     .help = "what the walls are like"},
    {.name = "separation",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_domain, separation),
     .of = &separation_section,
     .help = "whether liquid lets go of the walls"},
    {.name = "slip_length",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_domain, slip_length),
     .of = &slip_section,
     .help = "how far thick liquid slides along walls to which it sticks"},
    {.name = "surface_velocity",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_domain, surface_velocity),
     .of = &belt_section,
     .help = "walls that move in their own plane"},
    {.name = "contact_angle",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_domain, contact_angle),
     .of = &angle_section,
     .help = "at which a surface with tension meets the walls"},
};
const schema_section schema_domain = {
    .name = "domain",
    .help = "The box that is simulated. Y is up.",
    .keys = domain_keys,
    .key_count = COUNT(domain_keys),
    .bytes = sizeof(scene_domain),
};
