// The loop of a flow around elastic stress: what particles bring depends on the stretch that the
// solve finds where material yields [elastic.2].
#pragma once

#include "step/flow_room.h"

/// Fields are in the scratch arena; none without elastic material.
typedef struct flow_yield {
    face_field start; // m/s, what every pass begins with
    float* mu;        // Pa s, [particles]: what elasticity adds
    int most;         // passes
    double change;    // of mu, relative
    bool is_over;
} flow_yield;

treacle_status flow_yield_begin(const flow_inputs* in, const flow_outputs* out,
                                flow_yield* loop) TREACLE_NODISCARD;
/// The stretch to begin with: what particles expect.
void flow_yield_start(const flow_inputs* in, const flow_outputs* out, flow_yield* loop);
/// Stress of particles, and the viscosity they add, to the grid; and the velocity that every pass
/// begins with.
treacle_status flow_yield_set(const flow_inputs* in, const flow_outputs* out,
                              const flow_yield* loop) TREACLE_NODISCARD;
/// Counts a pass and takes the stretch that it found to the particles.
treacle_status flow_yield_judge(const flow_inputs* in, const flow_outputs* out,
                                flow_yield* loop) TREACLE_NODISCARD;

/// The viscosity that a solve sees: with elasticity, if that adds to it.
static inline float* flow_yield_viscosity(const flow_outputs* out) {
    return out->elastic->log_mu != NULL ? out->elastic->log_mu : out->material->log_mu;
}
/// Stretch and spin on the grid of the velocity that a flow has just found.
treacle_status flow_measure_stretch(const flow_inputs* in,
                                    const flow_outputs* out) TREACLE_NODISCARD;
