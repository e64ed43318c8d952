// The tiles that a step needs: those with points, and those near them.
#pragma once

#include "grid/tile_points.h"

enum { TILE_BAND_MAX = 8 };

/// Makes the map of all tiles that have a cell at most `band` (0..8) cells, along every axis, from
/// a cell with a point, as far as the domain allows them, its far layer included. Cells are looked
/// at one by one, so a tile comes in only if it is within reach, not merely next door.
treacle_status tile_band_create(treacle_context* ctx, const grid_domain* domain,
                                const tile_points* points, int band,
                                tile_map* out) TREACLE_NODISCARD;
/// Makes the map of all tiles of the domain, its far layer included.
treacle_status tile_band_whole(treacle_context* ctx, const grid_domain* domain,
                               tile_map* out) TREACLE_NODISCARD;
