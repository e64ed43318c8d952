// One step of the conduction of heat, or of the diffusion of anything else that is carried.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"
#include "phys/heat_curve.h"
#include "solve/solve_stats.h"

/// Ranges of melting of cells; NULL arrays: `same` holds everywhere.
typedef struct conduction_melt {
    const float* latent;   // J at cells; NULL: nothing melts
    const float* melted;   // 0..1 at cells, before the step
    heat_curve same;       // its melt, freeze and reference
    const float* range[4]; // K at cells: melt[0], melt[1], freeze[0], freeze[1]
} conduction_melt;

/// All fields are [count + 1][512], zero in the dummy tile.
typedef struct conduction_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* capacity;          // J/K at cells; 0: nothing there
    const float* conductance[AXES]; // W/K at low faces; 0 at sides that are not periodic
    const float* exchange[AXES];    // W/K at cells, with what is beyond them along an axis; or NULL
    const float* outside[AXES];     // K, what that is
    conduction_melt melt;
    treacle_conduction method; // not AUTO
    double dt;                 // s
    solve_params solve;        // of the implicit method
} conduction_params;

/// energy (J, at cells) after the step, in place; what came from outside is added to exchanged, J.
/// Interior flows cancel to rounding: the sum of energy changes by the sum of what was exchanged.
/// stats is that of the last linear solve; zero without one.
treacle_status conduction_step(const conduction_params* params, double* energy, double* exchanged,
                               solve_stats* stats) TREACLE_NODISCARD;
/// K, of a cell with this energy; melted and the like as in params.
double conduction_temperature(const conduction_params* params, size_t cell, double energy);
/// J, of a cell that is brought to this temperature.
double conduction_energy(const conduction_params* params, size_t cell, double temperature);
