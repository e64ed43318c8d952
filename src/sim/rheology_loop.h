// The loop that finds viscosity and velocity together, as the fixed point and Newton's method share
// it.
#pragma once

#include "grid/face_field.h"
#include "phys/rheology.h"
#include "phys/unified.h"
#include "sim/liquid.h"

/// In the scratch arena.
typedef struct rheology_loop {
    face_field start;   // m/s, what the flow begins with
    face_field before;  // m/s, what the last pass has found
    float* rate;        // 1/s, of that
    float* slope;       // d log mu / d log rate, as far as it is trusted
    float* rate_before; // of the pass before
    float* along;       // how much of the strain before there is in that
    float* cell_share;
    face_field edge_share;
} rheology_loop;

/// Of the velocity on faces.
rheology_params rheology_loop_params(const liquid_work* w, const rheology_loop* loop,
                                     float* const face_u[AXES]);
/// cell_log_mu, and slopes, at rates of shear; `share` of the way from the viscosity that is there.
void rheology_loop_evaluate(liquid_work* w, const rheology_loop* loop, double share);
/// Counts a pass and compares its velocity with that before.
void rheology_loop_count(const liquid_work* w, const rheology_loop* loop, bool is_solved);
void rheology_loop_copy(const liquid_work* w, float* const from[AXES], float* const to[AXES]);
/// Whether the passes are over.
bool rheology_loop_is_over(const liquid_work* w);

/// Newton's method: with the viscosity at cells that of loop->before, as at the first pass.
treacle_status liquid_newton(liquid_work* w, const unified_params* params, double* cell_x,
                             stokes_stats* stats) TREACLE_NODISCARD;
