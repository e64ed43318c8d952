// Makes ready what of a def has to do with heat.
#pragma once

#include "particles/particles.h"
#include "step/heat_set.h"

/// Whether heat flows in such a simulation, and whether viscosity changes.
bool heat_is_on(const treacle_sim_def* def);
bool heat_has_law(const treacle_sim_def* def);
/// ERR_SCENE with a sentence for what makes no sense.
treacle_status heat_check(treacle_context* ctx, const treacle_sim_def* def) TREACLE_NODISCARD;

/// The same of the marker: whether it changes but by being carried, what is wrong, made ready.
bool marker_is_on(const treacle_sim_def* def);
treacle_status marker_check(treacle_context* ctx, const treacle_sim_def* def) TREACLE_NODISCARD;
treacle_status marker_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   heat_setup* out) TREACLE_NODISCARD;

/// On failure nothing is held.
treacle_status heat_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                 heat_setup* out) TREACLE_NODISCARD;
/// Harmless on a zeroed setup, and twice.
void heat_setup_destroy(treacle_context* ctx, heat_setup* setup);

/// Enthalpy and melted share of newborn rows, from their temperature.
void heat_begin(const heat_setup* setup, const particles* p, particle_ix first);
