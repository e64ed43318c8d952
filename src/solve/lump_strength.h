// Which terms of the stress bind faces strongly, for aggregates (solve/lump_labels.h).
//
// Where viscosity varies little, a term is strong that has at least a fraction of the largest
// weight of the cells around it: a liquid that only touches another through slivers is on its own.
// Where stiff and thin liquid lie side by side there may be specks, a few stiff cells that swim:
// then a term is strong that has a fraction of the heaviest term at each of its faces, so that a
// sliver of a speck belongs to the speck, however much stiffer its next cell is.
#pragma once

#include "solve/viscosity_level.h"

typedef struct lump_strength {
    treacle_context* ctx;
    tile_ix tile_count;
    uint8_t* terms; // [tile][512], bit k: the term of kind k is strong
    bool has_specks;
} lump_strength;

/// Whether no face of a tile is an unknown or a body's: nobody asks for its terms.
static inline bool lump_strength_is_empty(const viscosity_level* level, int64_t t) {
    const uint64_t* rows = level->rows[t];
    return (rows[0] | rows[1] | rows[2]) == 0 && level->weights.owner[0] == NULL;
}

/// Stress against mass at the stiffest face with liquid over that at the softest; 0 without any.
double lump_strength_contrast(const viscosity_level* level);
/// The largest ratio of stress across a face that has nearly all of its mass.
double lump_strength_jump(const viscosity_level* level);
/// fraction: of the largest weight around, or with specks of the heaviest term at a face.
treacle_status lump_strength_create(const viscosity_level* level, float fraction, bool has_specks,
                                    lump_strength* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void lump_strength_destroy(lump_strength* strength);

static inline bool lump_strength_has(const lump_strength* s, tile_ix t, int kind, int q) {
    return (s->terms[(size_t)t * TILE_CELLS + (size_t)q] >> kind & 1) != 0;
}

/// Whether all terms of a tile are strong. Kinds 0 to 2 are the stretches, which all have the
/// weight of their cell: the last of them stands for them.
static inline bool lump_strength_has_all(const lump_strength* s, tile_ix t) {
    const uint8_t* terms = s->terms + (size_t)t * TILE_CELLS;
    const unsigned asked = 0x3c;
    unsigned all = asked;
    for (int q = 0; q < TILE_CELLS; ++q) {
        all &= terms[q];
    }
    return all == asked;
}
