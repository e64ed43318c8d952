// What a run will take, from its own first steps and from a coarser copy of it.
#pragma once

#include "base/context.h"
#include "treacle/types.h"

/// What has been spent so far, in any unit: seconds, or work that is counted.
typedef double forecast_clock(const treacle_context* ctx);

/// What it takes to simulate `frames` frames after the first, by that clock, of which it may spend
/// about `spend`. `rows` is how many particles there will be. 0 if not a step could be made.
treacle_status forecast_run(treacle_context* ctx, const treacle_sim_def* def, int64_t frames,
                            double rows, double spend, forecast_clock* clock,
                            double* out) TREACLE_NODISCARD;
