// Faces on the sides of the domain, and all others that are closed.
#pragma once

#include "step/liquid_state.h"
#include "step/solid_grid.h"

/// Closes the faces of sides that are not open, and those beyond the domain. grid->face_open holds
/// what solids leave open, if there are any. A side that a solid stands in moves by the fraction
/// that the solid has of it: what comes into a cell through the side leaves it on the other face,
/// and the liquid beside it need not make room [press.1].
void side_faces_close(const grid_domain* domain, const tile_map* map, solid_grid* grid);
/// Closed faces move as their solid does, or not at all; walls that may let go have to be asked.
void side_faces_hold(const grid_domain* domain, const solid_grid* grid, liquid_state* out);
/// Faces on sides that let go get no velocity out of the domain, wherever theirs comes from.
void side_faces_bound(const grid_domain* domain, liquid_state* out);
