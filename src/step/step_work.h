// What a step works on and what its stages make, for the code that keeps their order. Stages take
// of it what they ask for and never see it (src/step).
#pragma once

#include "step/run_flow.h"
#include "step/solid_cache.h"

/// In the order in which stages make them; in the scratch arena, but for what step_work_finish
/// frees.
typedef struct step_products {
    solid_poses poses;
    tile_history history;
    particle_grid given;
    material_grid material;
    flow_elastic elastic;
    solid_grid solid;
    body_grid body;
    liquid_grid liquid;
    wet_faces wet;
    pressure_system system;
    energy_account account;
} step_products;

typedef struct step_work {
    step_frame f;
    particles* p;               // of the new state
    const liquid_state* before; // the last step's
    liquid_state* state;        // made by this step
    body_state* bodies;         // [bodies], of the new state
    solid_cache* cache;         // of the last step; NULL: none
    bool* has_warned;           // of closed liquid; NULL: nobody listens
    step_products made;
} step_work;

/// Frees what products hold beside the arena, in whichever stage they stopped.
void step_work_finish(step_work* w);

// Groups of stages that belong together.

/// Particles, and what of their material the flow asks for, come to the grid.
treacle_status step_to_grid(step_work* w) TREACLE_NODISCARD;
/// What solids and sides leave open.
treacle_status step_solids(step_work* w) TREACLE_NODISCARD;
/// The surface and its volume.
treacle_status step_surface(step_work* w) TREACLE_NODISCARD;
/// What follows on faces: holes are closed, density, and velocity as far as the surface reaches.
treacle_status step_faces(step_work* w) TREACLE_NODISCARD;
/// All three.
treacle_status step_geometry(step_work* w) TREACLE_NODISCARD;
/// Heat, and what viscosity follows from it.
treacle_status step_heat(step_work* w) TREACLE_NODISCARD;
treacle_status step_flow(step_work* w) TREACLE_NODISCARD;
/// What the flow takes and makes.
run_flow_inputs step_flow_inputs(const step_work* w);
run_flow_outputs step_flow_outputs(step_work* w);
/// Velocity goes on into the air and along solids; give as in solid_geometry_slide.
treacle_status step_extrapolate(step_work* w, face_view give) TREACLE_NODISCARD;
treacle_status step_to_particles(step_work* w) TREACLE_NODISCARD;
