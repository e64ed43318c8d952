// Behind lump_space.c: aggregates tile by tile, and the factor of E = Z^T A Z.
#pragma once

#include "solve/block_ldl.h"
#include "solve/lump_labels.h"

enum {
    LUMP_NO_PLACE = 0xff,
    LUMP_MIXED = 0xfe,        // of a row: more than one place
    LUMP_ROW = TILE_SIZE / 2, // half a row of the tile: the width of an octant
    LUMP_ROWS = VISCOSITY_BLOCK / LUMP_ROW,
};

typedef struct lump_map {
    treacle_context* ctx;
    int32_t count;          // aggregates
    double (*centre)[AXES]; // [count], in cells
    tile_ix used;           // tiles with a face of an aggregate
    tile_ix* tile;          // [used]
    int32_t* first;         // [used + 1], of a tile's list
    int32_t* list;          // aggregates, tile after tile
    int64_t* block;         // [used], of a tile with a mixed row in `place`, -1 for others
    int64_t blocks;
    uint8_t* place; // [blocks][3][512], in the list, or LUMP_NO_PLACE
    uint8_t* row;   // [used][384], the place that all unknowns of a row have, or LUMP_MIXED
    const solve_body_list* bodies;
    int32_t* body; // [bodies], the aggregate that moves it, -1: none
} lump_map;

/// only_free leaves out the aggregates that are held. Labels are renumbered to match. The bodies
/// must outlive the map.
typedef struct lump_map_def {
    const viscosity_level* level;
    const solve_body_list* bodies;
    bool only_free;
} lump_map_def;
treacle_status lump_map_create(const lump_map_def* def, lump_labels* labels,
                               lump_map* out) TREACLE_NODISCARD;
void lump_map_destroy(lump_map* map);

/// The arm from the centre of aggregate g to face n of tile t, in cells; zero along an inactive
/// axis. The faces of a row have arms that differ by one along x.
static inline void lump_map_arm(const lump_map* map, const viscosity_level* level, tile_ix t, int n,
                                int32_t g, double arm[AXES]) {
    const int32_t* tile = level->map->coord[t].at;
    int a = n / TILE_CELLS, q = n % TILE_CELLS;
    for (int b = 0; b < AXES; ++b) {
        double at = TILE_SIZE * tile[b] + (q >> 3 * b & 7) + (b == a ? 0.0 : 0.5);
        arm[b] = level->domain.is_active[b] ? at - map->centre[g][b] : 0.0;
    }
}

/// The motion of a body, y = T g, that motion g of its aggregate gives it; and sum += T^T y.
void lump_map_move_body(const lump_map* map, const viscosity_level* level, int32_t b,
                        const double g[BLOCK_SIZE], double y[BLOCK_SIZE]);
void lump_map_push_body(const lump_map* map, const viscosity_level* level, int32_t b,
                        const double y[BLOCK_SIZE], double sum[BLOCK_SIZE]);

treacle_status lump_assembly_factor(const viscosity_level* level, const lump_labels* labels,
                                    const lump_map* map, block_ldl** out) TREACLE_NODISCARD;
