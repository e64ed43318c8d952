// What a solve of a flow knows about the liquid, its walls and its stress.
#pragma once

#include "step/flow_room.h"

/// How liquid moves along each solid, in the scratch arena; NULL without solids.
treacle_status flow_slip_kinds(const flow_inputs* in, const slip_kind** out) TREACLE_NODISCARD;
/// Describes the liquid, with fractions that are worked out where they are not known yet; where it
/// has let go of solids, these are not there [sep.5] and the velocity goes on across them. Spreads
/// the viscosity. Fields come from the scratch arena.
treacle_status flow_describe(const flow_inputs* in, const flow_outputs* out, liquid_grid* liquid,
                             stress_params* to) TREACLE_NODISCARD;
