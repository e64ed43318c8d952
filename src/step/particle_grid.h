// What particles have given to the grid in a step, [count + 1][512] each, in the scratch arena.
#pragma once

#include "grid/face_field.h"
#include "phys/thin.h"

typedef struct particle_grid {
    face_field face_mass;
    face_field face_u;     // m/s, before the flow; FLIP only
    float* density;        // over the reference
    float* volume;         // in full cells; beside solids, of what a cell can hold
    float* visible_volume; // the same without what thin solids hide; NULL where they do not
    float* buoyancy;       // NULL: none
    float* firm;           // 0..1, of what breaks and is not melted; NULL: none
    double* log_size;      // of particles: log of volume over that of the column; NULL: 0
    float* swell;          // 1/s, at which cells gain volume; NULL: they do not
    float* source;         // m/s, the divergence that this asks for; NULL: none
    thin_view thin;        // particles beside thin solids, at the end of the step
} particle_grid;
