// The grid side of a simulation: what of it is state, and the stages of a step that work on it.
//
//     build tiles -> particles to grid -> geometry -> forces -> flow -> extrapolate
//       -> grid to particles -> density correction
//
// The state is the velocity on faces, extrapolated: the next step's particles move through it; the
// surface, outside of which they fly; the pressure, the next solve's first guess; and which walls
// hold the liquid, where it may let go. All else lives in the scratch arena during a step.
#pragma once

#include "base/arena.h"
#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_mask.h"
#include "particles/particles.h"
#include "phys/elastic.h"
#include "phys/projection.h"
#include "phys/separation.h"
#include "phys/stress.h"
#include "phys/velocity.h"
#include "step/energy_account.h"
#include "step/flow.h"
#include "step/free_flyers.h"
#include "step/liquid_state.h"
#include "step/solid_cache.h"
#include "treacle/sim.h"

// A divergence below this share of 1/dt is none: where a solve stops if its relative target asks
// for more, as in free fall, where the right-hand side is rounding.
#define LIQUID_DIVERGENCE_MIN 1e-6

/// What the stages of one step share.
typedef struct liquid_work {
    treacle_context* ctx;
    const liquid_setup* setup;
    arena* scratch;
    particles* p;
    const liquid_state* before; // the last step's
    liquid_state* state;        // made by this step
    double time, dt;            // s; time at the step's begin
    bool is_first;              // before the first step: particles keep their velocity
    double gravity[AXES];       // m/s^2, mean over the step
    double fall[AXES];          // m, the way that gravity adds to what flies [path.1]
    treacle_step_stats* stats;
    solid_cache* solid_cache; // of the last step; NULL: none
    bool* has_warned;         // of closed liquid; NULL: nobody listens
    body_state* bodies;       // [bodies], of the new state
    struct euler_work* euler; // NULL: particles carry the liquid

    // Made and used by the stages, from the scratch arena.
    solid_poses poses;
    size_t values; // of a field, dummy tile included
    tile_history history;
    particle_grid given;
    solid_grid solid;
    body_grid body;
    liquid_grid liquid;
    material_grid material;
    flow_elastic elastic;
    tile_mask* valid;
    wall_set walls; // that may let go
    projection_params projection_params;
    projection projection;
    energy_account account;
} liquid_work;

/// What of it every stage may ask for.
static inline step_frame liquid_frame(const liquid_work* w) {
    const double *g = w->gravity, *way = w->fall;
    return (step_frame){.ctx = w->ctx,
                        .scratch = w->scratch,
                        .setup = w->setup,
                        .stats = w->stats,
                        .time = w->time,
                        .dt = w->dt,
                        .is_first = w->is_first,
                        .gravity = {{g[0], g[1], g[2]}, {way[0], way[1], way[2]}}};
}

treacle_status liquid_to_grid(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_geometry(liquid_work* w) TREACLE_NODISCARD;
/// Which faces are open; part of the geometry.
treacle_status liquid_walls(liquid_work* w) TREACLE_NODISCARD;
/// The distance to the surface; part of the geometry.
treacle_status liquid_surface(liquid_work* w) TREACLE_NODISCARD;
/// Velocity on faces that the surface reaches but no particle does; part of the geometry.
treacle_status liquid_reach_surface(liquid_work* w) TREACLE_NODISCARD;
/// Adds what a solve did to the step's statistics; ERR_DIVERGED if it did not converge.
treacle_status liquid_accept(liquid_work* w, const solve_stats* solve, const char* what,
                             treacle_solve_stats* out) TREACLE_NODISCARD;
/// Means of a column of the particles at cells, and their volume.
treacle_status liquid_column_to_grid(liquid_work* w, const float* column,
                                     float* to) TREACLE_NODISCARD;
/// What the viscosity at cells is made of; part of the transfer.
treacle_status liquid_viscosity_to_grid(liquid_work* w) TREACLE_NODISCARD;
/// The viscosity at cells without any shear.
treacle_status liquid_viscosity_at_rest(liquid_work* w) TREACLE_NODISCARD;
/// The law of a material.
strain_law liquid_strain_law(const treacle_elastic_def* def);
/// Room for the elasticity of the step.
treacle_status liquid_elastic_begin(liquid_work* w) TREACLE_NODISCARD;
/// Stretch and spin on the grid, of w->elastic, of the velocity that the flow has just found.
treacle_status liquid_measure_stretch(liquid_work* w) TREACLE_NODISCARD;
/// The particles' strain after the step.
treacle_status liquid_elastic_end(liquid_work* w, const free_flyers* strays) TREACLE_NODISCARD;
/// Faces next to liquid.
wet_faces liquid_wet_faces(const liquid_work* w);
/// What the flow takes and what it changes; cell_x as in projection_apply.
flow_inputs liquid_flow_inputs(const liquid_work* w, bool is_unified);
flow_outputs liquid_flow_outputs(liquid_work* w, double* cell_x);
/// One implicit step of viscosity alone, with the viscosity and the velocity that are there.
treacle_status liquid_thicken(liquid_work* w) TREACLE_NODISCARD;
/// Finds the walls that may let go; part of the flow.
treacle_status liquid_find_walls(liquid_work* w) TREACLE_NODISCARD;
/// Keeps which of them let go, as state and in the statistics; part of the flow.
void liquid_keep_walls(liquid_work* w);
/// Nothing flows into walls that let go; part of the extrapolation.
void liquid_hold_walls(liquid_work* w);
/// Adds to cell_base what laws make of what particles carry; once a step.
treacle_status liquid_find_viscosity(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_flow(liquid_work* w) TREACLE_NODISCARD;
/// The flow as if the def had asked for this kind.
treacle_status liquid_flow_part(liquid_work* w, treacle_flow kind) TREACLE_NODISCARD;
treacle_status liquid_extrapolate(liquid_work* w) TREACLE_NODISCARD;
/// Sets u to fields in the scratch arena, of the velocity that particles carry into the next step:
/// with half of what their motion will ask of the pressure [foresee.1]. For `splitting: second`.
treacle_status liquid_foresee(liquid_work* w, float* u[AXES]) TREACLE_NODISCARD;
treacle_status liquid_to_particles(liquid_work* w) TREACLE_NODISCARD;
/// Frees what the stages hold beside the arena, in whichever stage they stopped.
void liquid_work_finish(liquid_work* w);
