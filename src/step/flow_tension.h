// The surface of the liquid as the unified flow feels it: its curvature, area and tension.
#pragma once

#include "phys/tension.h"
#include "step/flow.h"

/// Fields are in the scratch arena. All NULL where nothing has surface tension, before the first
/// step, and where the flow is not the unified one. Counts the energy of the surface in the
/// statistics of the step.
treacle_status flow_tension_find(const flow_inputs* in, tension_params* to) TREACLE_NODISCARD;
