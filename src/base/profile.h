// Stage timers. Time is for people: nothing that is computed may depend on it.
#pragma once

#include <stdint.h>

enum { PROFILE_STAGES_MAX = 32 };

typedef struct profile {
    double seconds[PROFILE_STAGES_MAX]; // by stage, summed over its visits
    int64_t visits[PROFILE_STAGES_MAX];
    double began; // s, of the open stage
    int open;     // stage being timed, or -1
} profile;

/// Seconds of a clock that never goes back; its zero means nothing.
double profile_now(void);

/// Seconds of processor time that the process has used, all threads.
double profile_cpu(void);

void profile_init(profile* p);
/// Ends the open stage, if any, and begins another. Stages do not nest.
void profile_begin(profile* p, int stage);
void profile_end(profile* p);
