// The strains of the viscosity operator one by one: which faces enter each, and with what weight.
//
//     A = M + sum over terms of weight d d^T
//
// where d has the entries `sign` at the faces. A tile owns the terms of its cells: kinds 0 .. 2 are
// the stretches along an axis, kinds 3 .. 5 the shears at the edges along an axis. For algorithms
// on the graph of unknowns; the loops over rows are in viscosity_simd.c.
#pragma once

#include "solve/viscosity_level.h"

enum { STRESS_TERM_KINDS = 6, STRESS_TERM_FACES = 4, STRESS_TERMS_OF_FACE = 6 };

typedef struct stress_term {
    float weight;
    int count;                       // 2 or 4
    int64_t slot[STRESS_TERM_FACES]; // in a vector; -1 where there is no tile
    double sign[STRESS_TERM_FACES];
} stress_term;

/// Where a term is: its tile, kind and cell.
typedef struct term_place {
    tile_ix tile; // the map's count where there is none
    int kind, cell;
} term_place;

/// The weight alone, for a first look.
static inline float stress_term_weight(const viscosity_level* level, tile_ix t, int kind, int q) {
    const float* stress = level->stress + (size_t)t * VISCOSITY_STRESS_BLOCK;
    int i = q & 7, j = q >> 3 & 7, k = q >> 6;
    return stress[kind < AXES ? viscosity_cell_at(i, j, k)
                              : viscosity_edge_at(kind - AXES, i, j, k)];
}

/// The faces of a term that lie in its own tile, as places in it; returns their number.
int stress_term_inside(int kind, int q, int faces[STRESS_TERM_FACES]);

/// The term at a place whose tile exists.
stress_term stress_term_at(const viscosity_level* level, term_place at);
/// One of the six plain differences at the edges of a cell; its tile has sheets. Kind: twice the
/// axis of the edge, and which of the two.
stress_term stress_term_sheet(const viscosity_level* level, term_place at);
/// The terms that a face enters; some may be at tiles that do not exist, or have no weight.
void stress_terms_of_face(const viscosity_level* level, int64_t slot,
                          term_place out[STRESS_TERMS_OF_FACE]);

/// True if the slot is an unknown; false for -1.
static inline bool stress_term_is_unknown(const viscosity_level* level, int64_t slot) {
    return slot >= 0 && level->inverse[slot] > 0.0f;
}
