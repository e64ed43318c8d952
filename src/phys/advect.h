// Particles move with the liquid.
#pragma once

#include "particles/particles.h"
#include "phys/velocity.h"

/// Moves POSITION through the field, which stands still during the step. Positions may leave their
/// tile afterwards; the next sort carries them over. `reach` is a bound on what any particle moves,
/// in cells, at most 5.
void advect_particles(const face_velocity* field, const particles* p, treacle_advection scheme,
                      double dt, double reach);
