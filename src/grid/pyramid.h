// Coarser grids: tile maps of half the resolution, and the order in which tiles may be updated.
//
// A step of the pyramid halves the active axes. Coarse cell I holds the fine cells 2I and 2I + 1
// along a halved axis and the fine cell I along the others; so a coarse tile holds up to eight fine
// tiles, its children:
//
//     child[T][o], o = ox + 2 oy + 4 oz: the fine tile at 2 T + (ox, oy, oz); o = 0 along an axis
//     that is not halved; PYRAMID_NONE where there is no such tile
//
// PYRAMID_EACH: an axis is halved while it has more than one tile; a periodic axis while its number
// of tiles is even and above two, so that the period stays a whole number of tiles and a tile never
// touches itself. PYRAMID_TOGETHER: all active axes are halved or none, so that cells stay cubes;
// it ends when a periodic axis cannot be halved or no axis has more than one tile.
//
// Transfers that reach past a block (solve/stagger_transfer.h) need the fine tiles around the
// children too:
//
//     wide[T][n], n = (x + 1) + 4 (y + 1) + 16 (z + 1): the fine tile at 2 T + (x, y, z), each of
//     -1, 0, 1, 2; along an axis that is not halved at T + 0 only. The fine map's count where there
//     is none: its zero tile
#pragma once

#include "grid/tile_map.h"

enum { PYRAMID_CHILDREN = 8, PYRAMID_WIDE = 64, PYRAMID_NONE = -1, TILE_COLOURS_MAX = 27 };

typedef enum pyramid_rule {
    PYRAMID_EACH,
    PYRAMID_TOGETHER,
} pyramid_rule;

/// Bit of a neighbour in a reach mask (see pyramid_step_create).
#define PYRAMID_REACH(dx, dy, dz) (UINT32_C(1) << TILE_NEIGHBOUR(dx, dy, dz))

typedef struct pyramid_step {
    grid_domain domain;                 // of the coarse grid; its h is doubled
    tile_map map;                       // of the coarse grid
    int shift[AXES];                    // 1 where the axis is halved
    tile_ix fine_count;                 // tiles of the fine map
    tile_ix* parent;                    // [fine_count], PYRAMID_NONE where there is none
    tile_ix (*child)[PYRAMID_CHILDREN]; // [map.count]
    tile_ix (*wide)[PYRAMID_WIDE];      // [map.count]; NULL unless asked for
    struct tile_ranks* wide_ranks;      // which ranks send wide tiles to which; NULL: none do
} pyramid_step;

/// True if at least one axis can still be halved.
bool pyramid_can_coarsen(const grid_domain* domain, pyramid_rule rule);

/// Makes the next coarser map. reach[t] says which parents a fine tile needs: that of the tile
/// itself (PYRAMID_REACH(0, 0, 0)) and those of its neighbours' places, whether or not there is a
/// tile; 0 leaves the tile out.
treacle_status pyramid_step_create(treacle_context* ctx, const grid_domain* domain,
                                   const tile_map* map, const uint32_t* reach, pyramid_rule rule,
                                   pyramid_step* out) TREACLE_NODISCARD;
/// Fills in `wide`. `domain` and `map` are the fine ones.
treacle_status pyramid_step_widen(pyramid_step* step, const grid_domain* domain,
                                  const tile_map* map) TREACLE_NODISCARD;
void pyramid_step_destroy(pyramid_step* step);

/// Which tiles touch, and so must not be updated at the same time.
typedef enum tile_contact {
    TILE_CONTACT_FACE, // those that share a face: 2 colours
    TILE_CONTACT_ANY,  // all 26 neighbours: 8 colours
} tile_contact;

/// Tiles sorted by colour: tile[first[c]] .. tile[first[c + 1] - 1] have colour c and do not touch.
/// Odd periods need more than the usual 2 or 8 colours.
typedef struct tile_colours {
    treacle_context* ctx;
    int count;
    tile_ix tile_count;
    tile_ix first[TILE_COLOURS_MAX + 1];
    tile_ix* tile;
    tile_ix map_count;
    uint8_t* of_tile; // [map_count], the colour of a tile; NULL where tiles are not shared out
} tile_colours;

/// Colours the tiles of `list`, which keep their order within a colour.
treacle_status tile_colours_create(const grid_domain* domain, const tile_map* map,
                                   tile_ix list_count, const tile_ix* list, tile_contact contact,
                                   tile_colours* out) TREACLE_NODISCARD;
void tile_colours_destroy(tile_colours* colours);
