// Solids of a simulation: made ready once from the def.
#pragma once

#include "grid/domain.h"
#include "step/solid_set.h"
#include "treacle/sim.h"

/// Zeroed on error.
treacle_status solids_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void solids_destroy(treacle_context* ctx, solid_set* set);
