// What the files of the schema share: short forms for rows.
#pragma once

#include <stddef.h>

#include "defs/schema.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ABOVE(low)                                                                                 \
    { .has_min = true, .is_min_open = true, .min = (low) }
#define FROM(low)                                                                                  \
    { .has_min = true, .min = (low) }
#define WITHIN(low, high)                                                                          \
    { .has_min = true, .has_max = true, .min = (low), .max = (high) }
#define UP_TO(low, high)                                                                           \
    { .has_min = true, .has_max = true, .is_min_open = true, .min = (low), .max = (high) }

/// rad, of contact angles: pi, rounded up so that 180 deg is within.
#define ANGLE_MOST 3.1415926535897936

/// Kinds of looks, in the order of treacle_look_kind.
extern const char* const schema_look_words[];
