// Makes the setup of scalar transport (step/heat_set.h) from a def: once for heat, once for the
// marker.
#pragma once

#include "particles/particles.h"
#include "sim/plan.h"
#include "step/heat_set.h"

/// On failure nothing is held.
treacle_status heat_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                 const sim_plan* plan, heat_setup* out) TREACLE_NODISCARD;
/// Makes the setup of the marker instead of that of heat.
treacle_status marker_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   const sim_plan* plan, heat_setup* out) TREACLE_NODISCARD;
/// Harmless on a zeroed setup, and twice.
void heat_setup_destroy(treacle_context* ctx, heat_setup* setup);

/// Fills in the enthalpy and the melted fraction of the particles from `first` on, by their
/// temperature.
void heat_begin(const heat_setup* setup, const particles* p, particle_ix first);
