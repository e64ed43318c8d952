// The flow of a step: bodies and emitters take part, then pressure, viscosity, elastic stress.
#pragma once

#include "step/energy_account.h"
#include "step/flow.h"
#include "step/pressure_system.h"

/// What it takes.
typedef struct run_flow_inputs {
    const step_frame* f;
    const wet_faces* wet;
    const solid_poses* poses;
    const tile_history* history;
    face_view past_u; // m/s, of the last step, on its map
    const particles* p;
    const particle_grid* given;
} run_flow_inputs;

/// What it makes, and what it changes.
typedef struct run_flow_outputs {
    liquid_state* state; // velocity, pressure and walls that hold
    solid_grid* solid;   // face_u: bodies move
    body_grid* body;
    body_state* bodies;
    liquid_grid* liquid;
    material_grid* material;
    flow_elastic* elastic;
    pressure_system* system;
    energy_account* account;
    bool* has_warned; // of closed liquid; NULL: nobody listens
} run_flow_outputs;

/// The flow as the def asks for it, or as if it had asked for another kind. ERR_DIVERGED where a
/// solve did not come near its target.
treacle_status run_flow(const run_flow_inputs* in, treacle_flow kind,
                        const run_flow_outputs* out) TREACLE_NODISCARD;
/// One implicit step of viscosity alone, with the viscosity and the velocity that are there.
treacle_status run_flow_viscosity(const run_flow_inputs* in,
                                  const run_flow_outputs* out) TREACLE_NODISCARD;
/// Stretch and spin on the grid of the velocity that is there.
treacle_status run_flow_stretch(const run_flow_inputs* in,
                                const run_flow_outputs* out) TREACLE_NODISCARD;
