// Whether a simulation can be made from a def.
#pragma once

#include "base/compiler.h"
#include "treacle/sim.h"

/// Checks what sim_create does not find out by itself. ERR_SCENE with the field that is wrong.
treacle_status sim_check_def(treacle_context* ctx, const treacle_sim_def* def) TREACLE_NODISCARD;
