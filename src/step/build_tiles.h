// The tiles of a step: where particles are, and a band around them.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/step_frame.h"
#include "step/tile_history.h"

/// Shares the tiles out among ranks if they are not, or not evenly; rank_key as in partition_tiles.
/// Then the map and the fields of the new state.
treacle_status build_tiles(const step_frame* f, const liquid_state* before, uint64_t* rank_key,
                           particles* p, liquid_state* out,
                           tile_history* history) TREACLE_NODISCARD;
/// Zeroed fields of the new state on the map that it has, with the pressure of the last step, the
/// first guess of this one; and with which walls may still hold the liquid that they held.
treacle_status build_tiles_fields(const step_frame* f, const liquid_state* before,
                                  liquid_state* out, tile_history* history) TREACLE_NODISCARD;
