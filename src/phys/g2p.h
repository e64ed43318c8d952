// Grid to particles: velocity and, for APIC, its gradient.
#pragma once

#include "particles/particles.h"
#include "phys/thin.h"
#include "phys/velocity.h"

typedef struct g2p_params {
    const face_velocity* now;    // after the flow solve, extrapolated
    const face_velocity* before; // as it came from the particles, extrapolated; FLIP only
    const particles* to;         // VELOCITY and, if affine, AFFINE are written
    treacle_kernel kernel;
    bool is_affine;
    bool keeps_velocity;   // sets AFFINE only: particles already have the velocity they begin with
    const float* keep;     // [materials]: FLIP's fraction; NULL for PIC and APIC
    const thin_view* thin; // what is hidden by thin solids; NULL: nothing. Its rows are written
} g2p_params;

/// Velocities of particles from the grid, after which they are the new state.
void g2p_velocity(const g2p_params* params);

/// The velocity and its slope at the rows of a view, into the rows; particles are left alone.
void g2p_thin(const face_velocity* field, const particles* p, treacle_kernel kernel,
              const thin_view* view);

/// out[row] = cell values at the particles, by the linear kernel that p2g_scalar has.
void g2p_scalar(const face_velocity* on, const particles* at, const float* cell, float* out);
