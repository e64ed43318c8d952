// Heat at cells during a step, from particles or as the grid carries it. Cells have the heat
// capacity of their particles, weighted by the kernel.
//
// The marker goes the same way, with volume for heat capacity [marker.1].
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// What of the two it is.
typedef struct heat_kind {
    const heat_setup* heat;
    treacle_heat_def surface; // what it does
    particle_column column;   // temperature or marker
    double reference;         // of the curves
    double dt;                // s, that pass for it while f->dt pass for the motion
} heat_kind;

/// Where it flows.
typedef struct heat_place {
    const step_frame* f;
    const particles* p;
    const liquid_state* state; // its carried temperature is not NULL where the grid carries heat
    const particle_grid* given;
    const solid_poses* poses;
    const solid_grid* solids;
} heat_place;

/// The four temperatures between which liquid melts and freezes.
enum { HEAT_RANGES = 4 };

/// [count + 1][512] each, in the scratch arena.
typedef struct heat_grid {
    float* temperature;        // K
    float* capacity;           // J/K
    float *melted, *latent;    // 0..1 and J; NULL: nothing melts
    float* range[HEAT_RANGES]; // K; NULL: the same everywhere
    float* conductivity;       // W/(m K)
    float* wet;                // 0..1, how much of a cell's faces conducts
    float* conductance[AXES];  // W/K, of faces
} heat_grid;

/// energy, J, of cells comes zeroed.
treacle_status heat_grid_find(const heat_place* at, const heat_kind* kind, double* energy,
                              heat_grid* out) TREACLE_NODISCARD;
