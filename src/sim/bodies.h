// Rigid bodies of a simulation, made ready once from the def.
#pragma once

#include "sim/solids.h"
#include "step/body_set.h"

/// Adds bodies to the solids and makes them ready. Zeroed on error.
treacle_status bodies_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* solids,
                             body_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void bodies_destroy(treacle_context* ctx, body_set* set);

/// The largest speed of any point of any body, m/s.
double bodies_fastest(const body_set* set, const body_state* states);
