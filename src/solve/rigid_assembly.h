// Behind rigid_space.c: aggregates tile by tile, and the factor of E = Z^T A Z.
#pragma once

#include "solve/block_ldl.h"
#include "solve/rigid_labels.h"

enum {
    RIGID_NO_PLACE = 0xff,
    RIGID_MIXED = 0xfe, // of a row: more than one place
    RIGID_ROWS = VISCOSITY_BLOCK / TILE_SIZE,
};

typedef struct rigid_map {
    treacle_context* ctx;
    int32_t count;          // aggregates
    double (*centre)[AXES]; // [count], in cells
    tile_ix used;           // tiles with a face of an aggregate
    tile_ix* tile;          // [used]
    int32_t* first;         // [used + 1], of a tile's list
    int32_t* list;          // aggregates, tile after tile
    int64_t* block;         // [used], of a tile with a mixed row in `place`, -1 for others
    int64_t blocks;
    uint8_t* place; // [blocks][3][512], in the list, or RIGID_NO_PLACE
    uint8_t* row;   // [used][192], the place that all unknowns of a row have, or RIGID_MIXED
} rigid_map;

/// only_free leaves out the aggregates that are held. Labels are renumbered to match.
treacle_status rigid_map_create(const viscosity_level* level, bool only_free, rigid_labels* labels,
                                rigid_map* out) TREACLE_NODISCARD;
void rigid_map_destroy(rigid_map* map);

/// The arm from the centre of aggregate g to face n of tile t, in cells; zero along an inactive
/// axis. The faces of a row have arms that differ by one along x.
static inline void rigid_map_arm(const rigid_map* map, const viscosity_level* level, tile_ix t,
                                 int n, int32_t g, double arm[AXES]) {
    const int32_t* tile = level->map->coord[t].at;
    int a = n / TILE_CELLS, q = n % TILE_CELLS;
    for (int b = 0; b < AXES; ++b) {
        double at = TILE_SIZE * tile[b] + (q >> 3 * b & 7) + (b == a ? 0.0 : 0.5);
        arm[b] = level->domain.is_active[b] ? at - map->centre[g][b] : 0.0;
    }
}

treacle_status rigid_assembly_factor(const viscosity_level* level, const rigid_labels* labels,
                                     const rigid_map* map, block_ldl** out) TREACLE_NODISCARD;
