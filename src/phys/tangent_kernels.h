// The product of a law's tangent with a velocity, one tile at a time: the inner loops of
// phys/tangent.c, which a solve runs once an iteration.
#pragma once

#include "base/simd.h"
#include "phys/tangent.h"

/// tan->change of a tile from a velocity [rheo.6]; u is [tile][axis][512].
ISA_DECLARE(void, tangent_change, (const tangent* tan, const float* u, tile_ix t));
/// y, the tile's [axis][512], gets the forces of tan->change around it [rheo.7].
ISA_DECLARE(void, tangent_force, (const tangent* tan, tile_ix t, double* y));
