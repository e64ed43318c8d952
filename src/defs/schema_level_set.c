// Keys of the surface of liquid that the grid carries.
#include <stddef.h>

#include "defs/schema_parts.h"

static const schema_key level_set_keys[] = {
    {.name = "markers",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_level_set_def, markers),
     .range = WITHIN(1, 64),
     .help = "in each of its cells near the surface, on both sides; they keep the surface from "
             "shrinking"},
    {.name = "reseed",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_level_set_def, reseed),
     .range = WITHIN(1, 1000000),
     .help = "every so many steps markers are made where they are missing"},
    {.name = "cfl",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_level_set_def, cfl),
     .range = WITHIN(0.1, 5),
     .help = "cells that the surface may cross in a step, at most `step: {cfl}`; above 0.5 liquid "
             "that lands or splashes loses volume"},
};
const schema_section schema_level_set = {
    .name = "level_set",
    .help = "The surface of liquid with `motion: eulerian`: distances on cells half as wide as the "
            "domain's, kept in place by markers.",
    .keys = level_set_keys,
    .key_count = COUNT(level_set_keys),
    .bytes = sizeof(treacle_level_set_def),
};
