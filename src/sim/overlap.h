// Bodies that are inside others, or inside solids, at the start.
#pragma once

#include "step/body_set.h"
#include "step/solid_set.h"

/// Calls `visit` for all that bodies are in at the start.
treacle_status overlaps_visit(treacle_context* ctx, const grid_domain* domain,
                              const solid_set* solids, const body_set* set,
                              treacle_overlap_fcn* visit, void* user) TREACLE_NODISCARD;
/// ERR_SCENE with names and depth if there is any.
treacle_status overlaps_refuse(treacle_context* ctx, const treacle_sim_def* def,
                               const grid_domain* domain, const solid_set* solids,
                               const body_set* set) TREACLE_NODISCARD;
