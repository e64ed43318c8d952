// What pushes the liquid during a step.
#pragma once

#include "phys/force.h"
#include "step/energy_account.h"

/// The way that gravity and forces which are the same everywhere add to what flies, m.
void forces_fall(const step_frame* f, double out[AXES]);
/// Gravity and forces on the faces of a map; out->fields come from the scratch arena. The map and
/// cell_buoyancy may be NULL where a caller asks for forces at single places.
treacle_status forces_find(const step_frame* f, const tile_map* map, const float* cell_buoyancy,
                           force_params* out) TREACLE_NODISCARD;
/// They push the liquid on the faces of the state, and bodies; the account gets what they do.
treacle_status forces_push(const step_frame* f, const particle_grid* given, body_state* bodies,
                           liquid_state* state, energy_account* account) TREACLE_NODISCARD;
