// What a thread of thick liquid lays on a belt that runs under it: the fluid mechanical sewing
// machine [Brun12]. docs/math/coiling.md explains the patterns.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The patterns, from the fastest belt to the slowest.
typedef enum treacle_pattern {
    TREACLE_PATTERN_STRAIGHT,           ///< the thread does not swing
    TREACLE_PATTERN_MEANDERS,           ///< to and fro
    TREACLE_PATTERN_W,                  ///< to and fro, with loops on one side
    TREACLE_PATTERN_ALTERNATING_LOOPS,  ///< loops on both sides in turn
    TREACLE_PATTERN_TRANSLATED_COILING, ///< coils that are drawn apart
    TREACLE_PATTERN_DOUBLE_COILING,     ///< the same with every other coil alike
    TREACLE_PATTERN_OTHER,              ///< none of these
    TREACLE_PATTERN_COUNT
} treacle_pattern;
TREACLE_API const char* treacle_pattern_name(treacle_pattern pattern);

/// Where the thread meets the belt at a moment, as seen from the nozzle.
typedef struct treacle_contact {
    double time;   ///< s
    double along;  ///< m, the way the belt runs
    double across; ///< m
} treacle_contact;

/// What the contact point does over time.
typedef struct treacle_sewing {
    treacle_pattern pattern;
    double frequency;     ///< Hz, that takes the place of a coil's; 0 if straight
    double across, along; ///< Hz, of the largest swing in each direction
    double width, length; ///< m, amplitudes of those
    double turns;         ///< of the frequency that were seen
} treacle_sewing;

/// From the spectra across and along the belt. `radius`, m, > 0, is that of the coil on a belt at
/// rest: what swings by less than a tenth of it is straight. Times are evenly spaced and increase;
/// ERR_USAGE if there are fewer than 16 or they do not.
TREACLE_API treacle_status treacle_sewing_classify(treacle_context* ctx, double radius,
                                                   int64_t count, const treacle_contact* contacts,
                                                   treacle_sewing* out);

#ifdef __cplusplus
}
#endif
