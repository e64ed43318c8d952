// The one loop over tiles: it says how far it reads and what it writes, and the rest follows.
//
// A loop writes only the tile that it is at. Which tiles a rank does, and what ranks then send to
// one another, follows from how far the loop reads (grid/tile_ranks.h says who owns what):
//
//     reads              a rank does                       then
//     TILE_ALONE         all tiles whose values it holds   nothing is sent: the owner of a tile and
//                                                          whoever holds a copy do the same
//     TILE_AROUND        its own tiles                     `writes` go to the ranks that may read
//                                                          them
//     TILE_ANYWHERE      all tiles of the map              nothing is sent; only where every rank
//                                                          holds all values
//
//     tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = phi}}}, fcn,
//     &job);
//
// With one rank, or where a map is not shared out, each is a plain loop over all tiles.
//
// The declaration is checked where the environment has TREACLE_POISON. On distributed ranks what a
// rank must not read is filled with NaN after every loop that sends. And a loop that claims to read
// its own tile alone finds no neighbours in the map while it runs, on one rank, too: one that looks
// at them all the same ends with another state, which the golden tests see.
#pragma once

#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "grid/tile_ranks.h"

typedef enum tile_reads {
    TILE_ALONE,   // the tile that the loop is at
    TILE_AROUND,  // that tile and the 26 around it
    TILE_ANYWHERE // any tile of the map
} tile_reads;

/// To which ranks a loop's values go.
typedef enum tile_readers {
    TILE_TO_HOLDERS,    // those that hold copies of the tile: neighbours, or all
    TILE_TO_NEIGHBOURS, // those that own a tile beside it, for loops that repeat
    TILE_TO_ALL         // all of them: a few bytes a tile
} tile_readers;

/// Values that a loop writes, one block of tile_bytes a tile.
typedef struct tile_values {
    void* at;          // NULL: none
    size_t tile_bytes; // 0: floats, one a cell
    int64_t fields;    // so many fields, one behind the other; 0: one
    tile_readers readers;
} tile_values;

/// One block of bytes a tile.
static inline tile_values tile_block(void* at, size_t tile_bytes, tile_readers readers) {
    return (tile_values){.at = at, .tile_bytes = tile_bytes, .readers = readers};
}

enum { TILE_WRITES_MAX = 6 };

typedef struct tile_use {
    tile_reads reads;
    int64_t grain;                       // tiles that a thread takes at a time
    tile_values writes[TILE_WRITES_MAX]; // of a loop that reads TILE_AROUND and whose result others
                                         // read
} tile_use;

/// Runs fcn over tiles as `use` says.
void tile_for(const tile_map* map, const tile_use* use, parallel_fcn* fcn, void* data);

/// Sends values that no loop of this kind has written to the ranks that read them.
void tile_publish(const tile_map* map, const tile_values* values);

/// An ascending list of tiles, as a level of a solver has those with unknowns.
typedef struct tile_subset {
    const tile_map* shared; // the map that is shared out among ranks; NULL: it is all here
    int64_t count;
    const tile_ix* tile;
} tile_subset;

/// Runs fcn over the places in the list that have this rank's own tiles. A loop of a solver sends
/// its vector where it is read next (vec_space), so nothing is sent here.
void tile_for_subset(treacle_context* ctx, const tile_subset* subset, int64_t grain,
                     parallel_fcn* fcn, void* data);

/// What the loops above and those over particles are made of: parallel_for over a range of indices
/// that its caller has chosen.
void tile_for_range(treacle_context* ctx, tile_range range, int64_t grain, parallel_fcn* fcn,
                    void* data);

/// Zeroes the values of tiles that this rank holds, and those of the dummy tile; or copies them.
void tile_clear(const tile_map* map, void* data, size_t tile_bytes);
void tile_copy(const tile_map* map, void* to, const void* from, size_t tile_bytes);

/// As parallel_sum and parallel_max over all tiles; each rank asks for its own.
double tile_sum(const tile_map* map, parallel_term_fcn* fcn, void* data);
double tile_max(const tile_map* map, parallel_term_fcn* fcn, void* data);
/// The same over a range; where it is shared out, each rank has a range of its own.
double tile_sum_range(treacle_context* ctx, tile_range own, bool is_distributed,
                      parallel_term_fcn* fcn, void* data);
double tile_max_range(treacle_context* ctx, tile_range own, bool is_distributed,
                      parallel_term_fcn* fcn, void* data);
