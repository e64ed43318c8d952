// Where the tiles of a step were in the last one.
#pragma once

#include "grid/tile_map.h"

typedef struct tile_history {
    tile_ix* tile;            // [tiles], the same tile in the last step's map; its count: none
    struct tile_ranks* ranks; // who tells whom of the last step's tiles; NULL: all have all
} tile_history;
