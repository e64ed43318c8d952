// The loop of a flow that finds viscosity and velocity together, where one depends on the other:
// the fixed point [rheo.4], or Newton's method [rheo.7] where nothing is elastic and pressure and
// viscosity are one solve.
#pragma once

#include "phys/rheology.h"
#include "phys/unified.h"
#include "step/flow_room.h"

typedef enum flow_rheology_kind {
    FLOW_RHEOLOGY_GIVEN, // the viscosity is there
    FLOW_RHEOLOGY_NONE,  // it does not depend on the flow
    FLOW_RHEOLOGY_FIXED_POINT,
    FLOW_RHEOLOGY_NEWTON,
} flow_rheology_kind;

/// Fields are in the scratch arena; none without rheology.
typedef struct flow_rheology {
    flow_rheology_kind kind;
    face_field start;     // m/s, what every pass begins with
    face_field before;    // m/s, what the last pass has found
    float* rate;          // 1/s, of that
    float* slope;         // d log mu / d log rate, as far as it is trusted
    float* rate_before;   // of the pass before
    float* along;         // how much of the strain before there is in that
    float* cell_fraction; // of liquid
    face_field edge_fraction;
    bool is_plain; // Newton's method has failed: the fixed point goes on
    bool is_over;
} flow_rheology;

treacle_status flow_rheology_begin(const flow_inputs* in, const flow_outputs* out,
                                   flow_rheology* loop) TREACLE_NODISCARD;
/// The viscosity to begin with: at rest, or that of the last step's flow.
treacle_status flow_rheology_start(const flow_inputs* in, const flow_outputs* out,
                                   flow_rheology* loop) TREACLE_NODISCARD;
/// The viscosity of what the last pass has found, and the velocity that every pass begins with.
void flow_rheology_set(const flow_inputs* in, const flow_outputs* out, const flow_rheology* loop);
/// Counts a pass and compares its velocity with that before. is_solved: the solve met its target.
void flow_rheology_judge(const flow_inputs* in, const flow_outputs* out, bool is_solved,
                         flow_rheology* loop);

/// For Newton's method, instead of flow_rheology_judge: forgets a solve that found nothing, and
/// lets the fixed point go on from where it began.
void flow_rheology_retreat(const flow_inputs* in, const flow_outputs* out, flow_rheology* loop);

/// For Newton's method: keeps the velocity of now as that with which every pass begins.
void flow_rheology_keep_start(const flow_inputs* in, const flow_outputs* out,
                              const flow_rheology* loop);
/// For Newton's method: the state about which the next solve is linearised.
unified_pass flow_rheology_pass(const flow_inputs* in, const flow_rheology* loop);
