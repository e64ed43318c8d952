// In which of its ways a system is solved: what it is, held against the policy, once.
#pragma once

#include "solve/policy.h"

/// What a system is. Of the finest level; zero where a kind of unknown is missing.
typedef struct solve_facts {
    bool has_faces;   // velocities are unknowns
    bool has_cells;   // pressures, or temperatures, are
    int64_t tiles;    // with unknowns
    int32_t bodies;   // rigid ones
    double links;     // cells alone: the largest fraction of links in a diagonal
    double stiffness; // faces: the largest weight of stress against mass, mu dt / (rho h^2)
    double contrast;  // faces: of stress against mass, between faces with liquid
    double jump;      // faces: the largest ratio of stress across one that has nearly all its mass
    double softest;   // both: the least 2 w_c that a full cell would have; infinite without one
    double side;      // both: cells along the longest side of the domain
} solve_facts;

enum { SOLVE_REGIME_NAME = 48 };

typedef struct solve_regime {
    bool is_single;            // the diagonal is so strong that one sweep and its reverse do
    bool is_thick;             // lumps of liquid may be free: the cycle gets their rigid motions
    bool is_stacked;           // the motions of aggregates of tiles are there from the beginning
    bool has_small_aggregates; // those aggregates end at necks and at octants of tiles
    bool has_specks;           // specks of stiff liquid may swim in thin liquid
    bool has_pressure_cycle;   // waves of pressure cross mass, not viscosity alone
    int bottom_sweeps;         // on the coarsest level, forward and as many back
    char name[SOLVE_REGIME_NAME];
} solve_regime;

/// The name says what differs from plain multigrid, in this order:
///
///     cells alone   "levels" or "single", "+bodies" or "+crowd"
///     faces         "small " up to few_tiles, then "thin" (one sweep), "soft" or "thick" (lumps),
///                   "+aggregates" from the start, "+specks", "+bodies"
///     both          the same, and "stiff" for "thick" where pressure has no cycle
solve_regime regime_of(const solve_policy* policy, const solve_facts* facts);
/// The name when a slow loop has added the aggregates of tiles: "+slow" at its end.
void regime_note_slow(solve_regime* regime);
