// Checks of a def that a program hands over, by the table of keys: the same ranges and rules that a
// scene file has to keep.
#pragma once

#include "base/compiler.h"
#include "treacle/sim.h"

/// ERR_SCENE with a sentence that names the key as a scene file would, "materials[0].density", for
/// the first number outside its range and the first section whose keys do not go together. Shapes
/// and the domain are checked where they are made.
treacle_status def_check(treacle_context* ctx, const treacle_sim_def* def) TREACLE_NODISCARD;
