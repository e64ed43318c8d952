// Makes ready what of a def has to do with heat.
#pragma once

#include "particles/particles.h"
#include "sim/plan.h"
#include "step/heat_set.h"

/// On failure nothing is held.
treacle_status heat_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                 const sim_plan* plan, heat_setup* out) TREACLE_NODISCARD;
/// The same of the marker that liquid carries.
treacle_status marker_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   const sim_plan* plan, heat_setup* out) TREACLE_NODISCARD;
/// Harmless on a zeroed setup, and twice.
void heat_setup_destroy(treacle_context* ctx, heat_setup* setup);

/// Enthalpy and melted share of newborn rows, from their temperature.
void heat_begin(const heat_setup* setup, const particles* p, particle_ix first);
