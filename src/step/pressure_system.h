// The linear system of a step's pressure, and the walls that liquid may let go of in it.
#pragma once

#include "phys/projection.h"
#include "phys/separation.h"
#include "step/body_grid.h"
#include "step/liquid_state.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Stays where it is while it is in use: its parts point to each other.
typedef struct pressure_system {
    contact_set contacts;
    projection_params params;
    projection projection;
} pressure_system;

/// The system of the geometry as it is. face_rho NULL: all densities are one. Where densities
/// differ its projection is made when it is first asked for, unless it has bodies or walls that let
/// go: what these are changes until then.
treacle_status pressure_system_create(const step_frame* f, const liquid_state* state,
                                      const solid_grid* grid, const body_grid* bodies,
                                      face_view face_rho, pressure_system* out) TREACLE_NODISCARD;
/// Makes the projection, if there is none yet. The unified flow needs none where it converges, and
/// where emitters run the density correction has one of its own.
treacle_status pressure_system_ask(pressure_system* system) TREACLE_NODISCARD;
/// Harmless on a zeroed system, and twice.
void pressure_system_destroy(pressure_system* system);
/// Keeps which walls hold the liquid, as state and in the statistics.
void pressure_system_keep_contacts(const step_frame* f, const pressure_system* system,
                                   liquid_state* out);
