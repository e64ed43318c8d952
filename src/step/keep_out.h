// Particles and solids: what particles see of the grid beside thin ones, and how they are kept out.
#pragma once

#include "phys/thin.h"
#include "step/free_flyers.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Particles beside thin solids, which stand as in `poses`; in the scratch arena.
treacle_status keep_out_look(const step_frame* f, const particles* p, const solid_pose* poses,
                             treacle_kernel kernel, thin_view* out) TREACLE_NODISCARD;
/// A copy of all positions in the scratch arena; NULL without solids.
treacle_status keep_out_begin(const step_frame* f, const particles* p,
                              float** start) TREACLE_NODISCARD;
/// Keeps particles that have moved from `start` out of solids, which move between the two poses.
void keep_out_move(const step_frame* f, const solid_poses* poses, const float* start, particles* p);
/// Those outside the surface that touch a solid do not fly into it.
void keep_out_stop(const step_frame* f, const solid_poses* poses, const free_flyers* flyers,
                   particles* p);
