// What the files of the schema share: short forms for rows, and the sections that the root names.
#pragma once

#include "scene/bind.h"
#include "scene/schema.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ABOVE(low)                                                                                 \
    { .has_min = true, .is_min_open = true, .min = (low) }
#define FROM(low)                                                                                  \
    { .has_min = true, .min = (low) }
#define WITHIN(low, high)                                                                          \
    { .has_min = true, .has_max = true, .min = (low), .max = (high) }
#define UP_TO(low, high)                                                                           \
    { .has_min = true, .has_max = true, .is_min_open = true, .min = (low), .max = (high) }

extern const schema_section schema_domain;
extern const schema_section schema_material;
extern const schema_section schema_liquid;
extern const schema_section schema_emitter;
extern const schema_section schema_sink;
extern const schema_section schema_force;
extern const schema_section schema_heat;
extern const schema_section schema_heat_source;
extern const schema_section schema_heat_wall;
extern const schema_section schema_viscosity_law;
extern const schema_section schema_level_set;
extern const schema_section schema_marker;
extern const schema_section schema_marker_source;
extern const schema_section schema_drop;
extern const schema_section schema_solid;
extern const schema_section schema_body;
extern const schema_section schema_look;
extern const schema_section schema_camera;
