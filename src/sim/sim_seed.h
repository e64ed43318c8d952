// The liquid that a simulation begins with.
#pragma once

#include "sim/sim_internal.h"

/// Seeds the liquids of the def into the empty store of `now`, sorted.
treacle_status sim_seed(treacle_sim* sim, const treacle_sim_def* def) TREACLE_NODISCARD;
/// Where ranks are distributed: shares out the tiles of a store's groups, of which there may be
/// several for a tile.
treacle_status sim_partition_tiles(treacle_sim* sim, const particles* p) TREACLE_NODISCARD;
/// Where solids are; bodies as they are now.
void sim_pose_solids(const treacle_sim* sim, double time, solid_pose* poses);
