// Convection of a scalar at cells by differences against the flow.
#pragma once

#include "phys/velocity.h"

/// Steps of equal length that dt is cut into, so that the flow crosses at most a cell in each.
int upwind_substeps(const face_velocity* flow, double dt);
/// One step of dt: out = in moved by the flow; both [tiles + 1][512] on its map.
void upwind_step(const face_velocity* flow, double dt, const float* in, float* out);
