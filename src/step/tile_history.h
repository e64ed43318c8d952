// Where the tiles of a step were in the last one, and what goes with them from step to step.
#pragma once

#include "base/arena.h"
#include "grid/tile_map.h"

typedef struct tile_history {
    const tile_map* from; // of the last step
    const tile_map* to;   // of this step
    tile_ix* tile;        // [tiles], the same tile in `from`; its count: none
    struct tile_ranks*
        ranks; // which ranks send tiles of the last step to which; NULL: all have all
} tile_history;

/// The tiles of `to` among those of `from`, in the scratch arena; both maps must stay where they
/// are. tile_history_finish frees what is not in the arena.
treacle_status tile_history_find(const tile_map* from, const tile_map* to, arena* scratch,
                                 tile_history* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one, and twice.
void tile_history_finish(tile_history* history);

/// Copies a field of the last step to one of this step, in tiles that both steps have.
void tile_history_remap(const tile_history* history, const void* from, void* to, size_t tile_bytes);
