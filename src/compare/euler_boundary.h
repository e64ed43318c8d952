// Liquid on the grid where it meets walls: gaps, and walls that give way as far as there is one.
#pragma once

#include "compare/euler_work.h"

/// A point of a solid's surface: in cells of the grid, with the normal out of the solid.
typedef struct euler_contact {
    float x[AXES], n[AXES];
} euler_contact;
/// The surface of the solid nearest to x; false where it has no normal, in the middle of thin ones.
bool euler_find_contact(tile_sampler* to_solid, const bool is_active[AXES], const float x[AXES],
                        euler_contact* out);

/// The gaps between liquid and walls; part of the surface.
treacle_status euler_find_gaps(euler_work* e) TREACLE_NODISCARD;
/// Walls give way to liquid that has not come up to them [level.6]; part of the forces.
treacle_status euler_close_gaps(euler_work* e) TREACLE_NODISCARD;
/// Nor does velocity beyond the liquid go farther; part of the extrapolation.
void euler_bound_gaps(euler_work* e);
