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
#include "phys/energy.h"
#include "phys/projection.h"
#include "phys/separation.h"
#include "phys/stress.h"
#include "phys/velocity.h"
#include "step/body_grid.h"
#include "step/free_flyers.h"
#include "step/liquid_grid.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_cache.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"
#include "step/tile_history.h"
#include "treacle/sim.h"

// A divergence below this share of 1/dt is none: where a solve stops if its relative target asks
// for more, as in free fall, where the right-hand side is rounding.
#define LIQUID_DIVERGENCE_MIN 1e-6
// The energy norm of a unified flow's error over the pressure's tolerance.
#define LIQUID_ENERGY_FACTOR 5.0
/// Elasticity during a step, in the scratch arena; zeroed without elastic material.
typedef struct liquid_elastic {
    tensor_field stress;   // Pa, of particles
    tensor_field stretch;  // 1/s
    float* spin[AXES];     // 1/s
    elastic_motion motion; // of particles
} liquid_elastic;

/// What the particles have, J.
typedef struct particle_energy {
    double kinetic, elastic;
    double pushed; // dt g . momentum / 2
    double height; // minus the potential energy
    double mass;   // kg
} particle_energy;

/// The account of energy while the step is under way; see sim/liquid_energy.c.
typedef struct liquid_account {
    particle_energy begin, moved,
        given; // of particles: at the begin, advected, as the grid gets them
    double bodies_begin, bodies_given; // J, kinetic: at the begin, and as the flow gets them
    double level;      // J, kinetic energy of liquid and bodies as the last part measured it
    double pushed;     // J, work of forces as the flow sees it
    double forced;     // J, work of what differs from gravity, by the masses of particles
    double gravity;    // J, work on bodies
    double resting;    // J, that forces give to liquid at rest within a step
    double given_push; // J, work of the caller's push on particles
    double fallen;     // J, potential energy that bodies have lost
    bool has_part;     // the flow has begun
    energy_part part;  // the newest, not yet booked
    energy_push push;
    face_field face_push; // where it is not the same everywhere; NULL: it is
} liquid_account;

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
    face_field face_rho;            // NULL where all densities are one
    float* cell_log_mu;             // log of Pa s; with viscosity only
    float* cell_base;               // what its mean has beside the portions [rheo.3]
    float** cell_portion;           // [materials], NULL for Newtonian ones
    struct rheology_loop* rheology; // Newton's, while it goes (sim/rheology_loop.h); else NULL
    uint8_t* cell_cut;              // what carries no stress, as in phys/stress.h; NULL: all does
    liquid_elastic elastic;
    tile_mask* valid;
    wall_set walls; // that may let go
    projection_params projection_params;
    projection projection;
    liquid_account account;
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

/// The account of energy: at the begin, after the advection, when tiles are built, at the end.
treacle_status liquid_account_begin(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_account_moved(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_account_given(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_account_end(liquid_work* w) TREACLE_NODISCARD;
/// After particles were pushed at the begin.
treacle_status liquid_account_given_push(liquid_work* w) TREACLE_NODISCARD;
/// The end where the grid carries the liquid.
treacle_status liquid_account_euler(liquid_work* w) TREACLE_NODISCARD;
/// Before forces push, and after they did; and when velocity has found its way to all faces.
treacle_status liquid_account_forces(liquid_work* w) TREACLE_NODISCARD;
void liquid_account_pushed(liquid_work* w);
void liquid_account_flown(liquid_work* w);
/// Books what emitters did to liquid that went from `before` to the velocity of now.
void liquid_account_emitters(liquid_work* w, float* const before[AXES]);
/// Books the newest part of the flow.
void liquid_account_part(liquid_work* w);
/// Books a projection that went from `before` to the velocity of now, and moved bodies.
treacle_status liquid_account_projection(liquid_work* w, const float* const before[AXES],
                                         const body_motion* bodies,
                                         const double* cell_x) TREACLE_NODISCARD;
/// Books what forces and joints did to bodies that had the energy `before`.
void liquid_account_couple(liquid_work* w, double before);
/// Kinetic energy of a body and of all, J.
double liquid_energy_of_body(const liquid_work* w, int i);
double liquid_energy_of_bodies(const liquid_work* w);

/// Gravity and what else pushes bodies.
void liquid_push_bodies(liquid_work* w);
/// Rows and masses of bodies; part of the flow, before it.
treacle_status liquid_couple_bodies(liquid_work* w) TREACLE_NODISCARD;
/// The motions that a flow with viscosity begins with are those of now; and those that it has found
/// become those of the state.
void liquid_note_bodies(liquid_work* w);
void liquid_take_bodies(liquid_work* w);
/// What bodies close of faces moves as they do now.
void liquid_hold_bodies(liquid_work* w);
/// The pressure x moves bodies.
void liquid_drag_bodies(liquid_work* w, const double* x);
/// The velocity of the last step on the tiles of this one; on new tiles that of the particles.
void liquid_carry_velocity(liquid_work* w, float* const out[AXES]);
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
/// Two layers of cells around those with particles take their viscosity over; others have none.
treacle_status liquid_spread_viscosity(liquid_work* w) TREACLE_NODISCARD;
/// A solve that advances the velocity on faces by viscosity, with that of cell_log_mu. cell_x as in
/// projection_apply, where it finds the pressure, too.
typedef treacle_status liquid_solve_fcn(liquid_work* w, double* cell_x);
/// Sets the viscosity at cells and solves; again and again, from the same velocity, where the
/// viscosity depends on what comes out.
treacle_status liquid_with_rheology(liquid_work* w, liquid_solve_fcn* solve,
                                    double* cell_x) TREACLE_NODISCARD;
/// One implicit step of viscosity; part of the flow.
treacle_status liquid_thicken(liquid_work* w, double* cell_x) TREACLE_NODISCARD;
/// How liquid moves along each solid, in the scratch arena; NULL without solids.
treacle_status liquid_wall_kinds(liquid_work* w, const wall_kind** out) TREACLE_NODISCARD;
/// Pressure and viscosity in one solve; fills share. cell_x as in projection_apply.
treacle_status liquid_unify(liquid_work* w, double* cell_x) TREACLE_NODISCARD;
/// Where bodies touch that do not merge, and whether they are pressed together: where not, the
/// surface goes between them. Part of the flow, before it.
treacle_status liquid_find_contacts(liquid_work* w) TREACLE_NODISCARD;
/// NAN as stretch and spin where no stress passes between them.
void liquid_cut_stretch(liquid_work* w);
/// The law of a material.
strain_law liquid_strain_law(const treacle_elastic_def* def);
/// Room for the elasticity of the step.
treacle_status liquid_elastic_begin(liquid_work* w) TREACLE_NODISCARD;
/// The solve with elastic stress in it; again, from the same velocity, while material yields.
treacle_status liquid_with_elasticity(liquid_work* w, liquid_solve_fcn* solve,
                                      double* cell_x) TREACLE_NODISCARD;
/// Stretch and spin on the grid, of w->elastic, of the velocity that the flow has just found.
treacle_status liquid_measure_stretch(liquid_work* w) TREACLE_NODISCARD;
/// The particles' strain after the step.
treacle_status liquid_elastic_end(liquid_work* w, const free_flyers* strays) TREACLE_NODISCARD;
/// Extends the velocity of faces next to liquid by some layers.
treacle_status liquid_extend_wet(liquid_work* w, int layers) TREACLE_NODISCARD;
/// A copy of the velocity on faces next to liquid, which the flow has found; NAN elsewhere.
void liquid_found_velocity(liquid_work* w, float* const out[AXES]);
/// Finds the walls that may let go; part of the flow.
treacle_status liquid_find_walls(liquid_work* w) TREACLE_NODISCARD;
/// What they answer to a unified solve.
void liquid_measure_walls(liquid_work* w, const stress_params* liquid, const double* cell_x);
/// Solves the unified flow by `solve` until at most few walls still change; part of the flow.
treacle_status liquid_unify_at_walls(liquid_work* w, double* cell_x,
                                     treacle_status (*solve)(liquid_work*,
                                                             double*)) TREACLE_NODISCARD;
/// Keeps which of them let go, as state and in the statistics; part of the flow.
void liquid_keep_walls(liquid_work* w);
/// Nothing flows into walls that let go; part of the extrapolation.
void liquid_hold_walls(liquid_work* w);
treacle_status liquid_push(liquid_work* w) TREACLE_NODISCARD;
/// Heat comes, goes and spreads; particles get what it changes.
treacle_status liquid_heat(liquid_work* w) TREACLE_NODISCARD;
/// Adds to cell_base what laws make of what particles carry; once a step.
treacle_status liquid_find_viscosity(liquid_work* w) TREACLE_NODISCARD;
treacle_status liquid_flow(liquid_work* w) TREACLE_NODISCARD;
/// The flow as if the def had asked for this kind.
treacle_status liquid_flow_part(liquid_work* w, treacle_flow kind) TREACLE_NODISCARD;
treacle_status liquid_extrapolate(liquid_work* w) TREACLE_NODISCARD;
/// Sets u to fields in the scratch arena, of the velocity that particles carry into the next step:
/// with half of what their motion will ask of the pressure [foresee.1]. For `splitting: second`.
treacle_status liquid_foresee(liquid_work* w, float* u[AXES]) TREACLE_NODISCARD;
/// Extends other values than the velocity from the same faces.
treacle_status liquid_extend_faces(liquid_work* w, int layers,
                                   float* const values[AXES]) TREACLE_NODISCARD;
treacle_status liquid_to_particles(liquid_work* w) TREACLE_NODISCARD;
/// Frees what the stages hold beside the arena, in whichever stage they stopped.
void liquid_work_finish(liquid_work* w);
