// Makes ready what stages need to know of a def.
#pragma once

#include "sim/plan.h"
#include "step/step_setup.h"

treacle_status liquid_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   const sim_plan* plan, const grid_domain* domain,
                                   liquid_setup* out) TREACLE_NODISCARD;
/// Harmless on a zeroed setup, and twice.
void liquid_setup_destroy(treacle_context* ctx, liquid_setup* setup);
