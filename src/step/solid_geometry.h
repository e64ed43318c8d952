// What solids leave open of the grid, and how liquid moves along them.
#pragma once

#include "step/body_grid.h"
#include "step/liquid_state.h"
#include "step/solid_cache.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// The fields of solids at the step's end and what they and the sides leave open of faces, and what
/// bodies closed, in the scratch arena. `cache` may be NULL.
treacle_status solid_geometry_find(const step_frame* f, const tile_map* map,
                                   const solid_poses* poses, solid_cache* cache, solid_grid* out,
                                   body_grid* bodies) TREACLE_NODISCARD;
/// cell_volume, in full cells, becomes that of what a cell can hold.
void solid_geometry_normalise(const grid_domain* domain, const tile_map* map,
                              const solid_grid* grid, float* cell_volume);
/// What is solid but for a little is no air that liquid could flow into: closes the faces between
/// it and the liquid [solid.4]. That is cells with a pressure: inside the surface, or with enough
/// liquid where the flow goes by fractions; cell_fraction is NULL where it does not.
void solid_geometry_close_holes(const tile_map* map, const float* cell_phi,
                                const float* cell_fraction, solid_grid* out);
/// Velocity on faces that solids close: along them the liquid's, across them the solid's, or up to
/// face_give, m/s, more where that is not NULL.
treacle_status solid_geometry_slide(const step_frame* f, const solid_poses* poses,
                                    const solid_grid* grid, face_view face_give,
                                    liquid_state* out) TREACLE_NODISCARD;
