// The guard of the state: what a step has made is looked at before it replaces what there was.
//
// Two things end a step as diverged: a number that is not finite, and a speed at which the next
// step would have to be shorter than step.min_dt. One pass over the new state finds both, with the
// largest speed that the statistics show; only where there is something to say a second one looks
// for the place.
#pragma once

#include <math.h>

#include "base/simd.h"
#include "sim/sim_internal.h"

/// The largest speeds of a state; INFINITY where a number of it is not finite.
typedef struct guard_speeds {
    double particles, faces, bodies; // m/s, the largest
} guard_speeds;

/// The largest size of any of them; infinite or NaN if one of them is.
ISA_DECLARE(float, guard_largest, (int64_t count, const float* values));

static inline double guard_fastest(const guard_speeds* speeds) {
    return fmax(fmax(speeds->particles, speeds->faces), speeds->bodies);
}

guard_speeds guard_measure(const treacle_sim* sim, const sim_state* state);
/// `status` with a sentence that says where, if a number of the state is not finite.
treacle_status guard_finite(const treacle_sim* sim, const sim_state* state,
                            const guard_speeds* speeds, treacle_status status) TREACLE_NODISCARD;
/// ERR_DIVERGED with a sentence that says what is too fast, and where, if a step from that state
/// on would be shorter than min_dt.
treacle_status guard_pace(const treacle_sim* sim, const sim_state* state,
                          const guard_speeds* speeds) TREACLE_NODISCARD;
