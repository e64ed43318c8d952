// Rigid bodies in the flow: forces first, then what the pressure or the whole flow does to them.
#pragma once

#include "phys/projection.h"
#include "step/body_grid.h"
#include "step/liquid_state.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Gravity moves bodies.
void couple_bodies_push(const step_frame* f, body_state* bodies);
/// Rows and masses of bodies on the grid, in the scratch arena; their own forces and joints to the
/// world change their motion. face_rho is the density of the liquid; NULL: 1. Nothing without
/// bodies and before the first step.
treacle_status couple_bodies(const step_frame* f, const liquid_state* state, face_view face_rho,
                             body_state* bodies, body_grid* out) TREACLE_NODISCARD;
/// What bodies closed of faces moves as they do now.
void couple_bodies_hold(const step_frame* f, const tile_map* map, const body_state* bodies,
                        const body_grid* grid, solid_grid* out);
/// The motions that a flow with viscosity begins with are those of now; and those that it has found
/// become those of the state.
void couple_bodies_note(const step_frame* f, const body_state* bodies, body_grid* out);
void couple_bodies_take(const step_frame* f, const body_grid* grid, body_state* bodies);
/// The pressure x moves bodies.
void couple_bodies_drag(const step_frame* f, const projection* pressure, const double* cell_impulse,
                        body_grid* grid, body_state* bodies);
