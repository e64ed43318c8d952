// Whether what a step works on is sound between two of its stages; see grid/grid_valid.h.
#pragma once

#include "step/step_work.h"

/// The map is valid, and all fields of the tiles that are held are there and finite.
bool liquid_state_is_valid(const liquid_state* state, const grid_domain* domain);
/// Masses are above 0, moments are those of a body, states are finite and turned by a unit
/// quaternion.
bool body_set_is_valid(const body_set* set, const body_state* states);
/// What the stage has made or changed, after it went well: no stage makes a number that is not
/// finite of numbers that are. Where a force brings one in, the flow is not asked.
bool step_work_is_valid(const step_work* w, treacle_stage stage);
