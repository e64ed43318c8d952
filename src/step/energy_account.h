// The account of energy of a step: what particles and bodies have at its begin and its end, and
// what every stage between did to it [energy.4].
//
//     begin -> moved -> given -> parts of the flow -> end
//
// Kinetic energy is measured in the masses of whoever has the velocity: particles, then the faces
// of each solve, then particles again. Two measures that follow each other of the same state differ
// by what the change of masses makes: that is `transfer`. `level` is the newest measure.
#pragma once

#include "phys/energy.h"
#include "phys/particle_energy.h"
#include "step/body_grid.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// The energy of particles at the begin of a step, after they have moved, and as the grid gets
/// them.
typedef struct particle_account {
    particle_energy begin, moved, given;
} particle_account;

/// The energy of bodies, J.
typedef struct body_account {
    double begin, given; // kinetic: at the begin, and as the flow gets them
    double gravity;      // work of gravity
    double fallen;       // potential energy that they have lost
} body_account;

/// What forces did, J.
typedef struct force_account {
    double pushed;     // as the flow sees it
    double forced;     // by what differs from gravity, in the masses of particles
    double resting;    // what they give to liquid at rest within a step
    double given_push; // by the caller's push on particles
} force_account;

typedef struct energy_account {
    particle_account particles;
    body_account bodies;
    force_account forces;
    double first;     // J, kinetic energy of liquid and bodies as the first part measured it
    double level;     // J, the same as the last part did
    bool has_part;    // the flow has begun
    energy_part part; // the newest, not yet booked
    energy_push push;
    face_field face_push; // where it is not the same everywhere; NULL: it is
} energy_account;

/// At the begin; and again after the caller has pushed particles.
treacle_status energy_account_begin(const step_frame* f, const particles* p,
                                    const body_state* bodies,
                                    energy_account* out) TREACLE_NODISCARD;
treacle_status energy_account_push(const step_frame* f, const particles* p,
                                   energy_account* out) TREACLE_NODISCARD;
/// When particles and bodies have moved.
treacle_status energy_account_moved(const step_frame* f, const particles* p,
                                    const body_state* bodies, const solid_poses* poses,
                                    energy_account* out) TREACLE_NODISCARD;
/// When some have come and gone.
treacle_status energy_account_given(const step_frame* f, const particles* p,
                                    energy_account* out) TREACLE_NODISCARD;
/// Before forces push the liquid and bodies: out->push is known, but for face_push, which forces
/// are to fill in where they differ from face to face.
treacle_status energy_account_forces(const step_frame* f, const tile_map* map,
                                     const particle_grid* given, const body_state* bodies,
                                     energy_account* out) TREACLE_NODISCARD;
/// After they did; and when velocity has found its way to all faces.
void energy_account_pushed(const step_frame* f, const liquid_state* state,
                           const particle_grid* given, const body_state* bodies,
                           energy_account* out);
void energy_account_flown(const liquid_state* state, const particle_grid* given,
                          energy_account* out);
/// Books what emitters did to liquid that went from `before` to the velocity of now.
void energy_account_emitters(const step_frame* f, const liquid_state* state,
                             const particle_grid* given, float* const before[AXES],
                             const energy_account* account);
/// Books what forces and joints did to bodies that had the energy `before`.
void energy_account_couple(const step_frame* f, const body_state* bodies, const body_grid* grid,
                           double before, energy_account* out);
/// Books the newest part of the flow.
void energy_account_part(const step_frame* f, energy_account* out);

/// A projection that has been solved, with what it moved.
typedef struct account_projection {
    const projection* system;
    const float* const* before; // velocity on faces, m/s
    const liquid_state* after;
    const double* cell_impulse;
    const body_grid* grid;
    const body_motion* motion_before; // of bodies; NULL: none
    const body_state* bodies;
} account_projection;
/// Books it.
treacle_status energy_account_projection(const step_frame* f, const account_projection* flow,
                                         energy_account* out) TREACLE_NODISCARD;

/// The end of a step, in its statistics. ERR_DIVERGED where more was gained than work was done.
treacle_status energy_account_end(const step_frame* f, const particles* p, const body_state* bodies,
                                  const energy_account* account) TREACLE_NODISCARD;
/// The end where the grid carries the liquid.
treacle_status energy_account_end_on_grid(const step_frame* f, const body_state* bodies,
                                          const energy_account* account) TREACLE_NODISCARD;
