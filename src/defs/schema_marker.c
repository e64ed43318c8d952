// Keys of the marker, a number that liquid carries: water content, cure.
#include "defs/rules.h"
#include "defs/schema_parts.h"

// In the order of the enum in types.h.
static const char* const method_words[] = {"auto", "lod", "adi", "implicit", NULL};

static const schema_key marker_keys[] = {
    {.name = "method",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_marker_def, method),
     .words = method_words,
     .help = "of its diffusion, as of [heat](#heat)"},
    {.name = "air",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_marker_def, air),
     .help = "towards which the free surface goes"},
    {.name = "loss",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_marker_def, loss),
     .unit = UNIT_SPEED,
     .range = FROM(0),
     .help = "how fast the free surface goes there: what leaves a square metre in a second, for "
             "each unit of difference"},
};
const schema_section schema_marker = {
    .name = "marker",
    .help =
        "The `marker` is a number that liquid carries: its water content, how far it has cured. "
        "It spreads by the `marker_diffusivity` of materials, grows by their `marker_rate` and "
        "by `marker_sources`, and leaves through the free surface: so things dry. A "
        "[viscosity_law](#viscosity_law) `of: marker` makes of it what flows and what stands.",
    .keys = marker_keys,
    .key_count = COUNT(marker_keys),
    .bytes = sizeof(treacle_marker_def),
};

static void init_source(void* item) {
    *(treacle_marker_source_def*)item = treacle_marker_source_def_default();
}

static const schema_key source_keys[] = {
    {.name = "shape",
     .type = SCHEMA_SHAPE,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_marker_source_def, shape),
     .help = "where it works"},
    {.name = "rate",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_marker_source_def, rate),
     .unit = UNIT_FREQUENCY,
     .help = "what the marker gains in a second; negative: loses",
     .default_text = ""},
    {.name = "value",
     .type = SCHEMA_CURVE,
     .flags = SCHEMA_REQUIRED,
     .choice = 1,
     .offset = offsetof(treacle_marker_source_def, value),
     .help = "at which it is held, instead of `rate`",
     .default_text = ""},
    {.name = "start",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_marker_source_def, start),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it begins"},
    {.name = "stop",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_marker_source_def, stop),
     .unit = UNIT_TIME,
     .range = FROM(0),
     .help = "when it ends",
     .default_text = "never"},
};
const schema_section schema_marker_source = {
    .name = "marker_source",
    .help = "A part of space in which the `marker` of liquid grows, falls or is held.",
    .keys = source_keys,
    .key_count = COUNT(source_keys),
    .bytes = sizeof(treacle_marker_source_def),
    .init = init_source,
    .rule = rule_marker_source,
};
