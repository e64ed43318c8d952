// Stages in a row: each is timed under its name, what it leaves stale is poisoned in tests, and
// what it has made is looked at in builds with assertions (step/step_valid.h).
#pragma once

#include "base/profile.h"
#include "step/step_work.h"

typedef struct stage_run {
    step_work* w;
    profile* timers;
    uint32_t planned; // bits: treacle_stage; others have nothing to do
} stage_run;

/// After a stage; returns the status that it ended with.
treacle_status stage_end(const stage_run* r, treacle_stage stage,
                         treacle_status status) TREACLE_NODISCARD;

/// Runs a stage of `r` under a name, if it is planned; one that fails ends the function.
#define STAGE(name, call)                                                                          \
    do {                                                                                           \
        if ((r->planned >> TREACLE_STAGE_##name & 1u) != 0) {                                      \
            profile_begin(r->timers, (int)TREACLE_STAGE_##name);                                   \
            TREACLE_TRY(stage_end(r, TREACLE_STAGE_##name, call));                                 \
        }                                                                                          \
    } while (0)
