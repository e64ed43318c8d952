// Particles do not enter solids.
#pragma once

#include "particles/particles.h"
#include "phys/solid.h"

typedef struct collide_params {
    const grid_domain* domain;
    solid_scene from, to; // the solids at the begin and at the end of the motion
    const particles* p;   // POSITION at the end; rows are sorted as at the begin
    const float* before;  // [count][3], POSITION at the begin
    double reach;         // cells, bound on what any particle has moved
} collide_params;

/// How near a particle may come to a solid, in cells.
#define COLLIDE_GAP 0.02

/// Puts particles whose path in the frame of a solid meets it where they slide along it instead;
/// none that was outside at the begin is inside at the end, but where solids close on each other.
void collide_particles(const collide_params* params);

/// v of a particle at x that touches a solid loses the part that points into the solid.
void collide_stop(const collide_params* params, vec3 x, float v[AXES]);
