// Rigid bodies in a flow with viscosity: from their state to the unknowns of a solve and back.
#pragma once

#include "phys/stress.h"
#include "solve/drag_term.h"

/// How the flow moves a body: velocity in m/s, and spin times the cell width.
typedef struct flow_motion {
    double before[BODY_MOTIONS];
    double guess[BODY_MOTIONS]; // without gravity, of which thick liquid leaves little
    double after[BODY_MOTIONS]; // made by the flow
    double forced;              // J, work of its own force and torque
} flow_motion;

/// As stress_params has them.
typedef struct flow_bodies {
    int32_t count;
    int first_solid;             // the solid that is body 0
    const float* closed[AXES];   // 0..1, what solids close of a face
    const uint16_t* solid[AXES]; // which does
    const solve_body* body;      // [count], masses over reference_density h^3 (phys/rigid_body.h)
    flow_motion* at;             // [count]
} flow_bodies;

/// What a solve needs of bodies.
typedef struct body_coupling {
    treacle_context* ctx;
    int32_t count;
    solve_body* bodies; // [count], with the liquid that moves with them
    double* impulse;    // [count][6], of bodies and of liquid that moves with them, before
    tile_ix tile_count, tile_room;
    tile_ix* tile; // that bodies are near
    int64_t pull_room, row_room;
    body_pull* pull;
    int64_t* cell;
    double (*row)[BODY_MOTIONS];
} body_coupling;

/// face_u is the velocity before the flow. Zeroed without bodies.
treacle_status body_coupling_create(const stress_params* params, const stress_weights* weights,
                                    float* const face_u[AXES],
                                    body_coupling* out) TREACLE_NODISCARD;
/// Harmless on a zeroed coupling.
void body_coupling_destroy(body_coupling* coupling);
/// Values that vectors of faces have beyond their tiles.
size_t body_coupling_tail(const body_coupling* coupling);
/// The tails of right-hand side and first guess: `before`, or where the flow is stiff `guess`.
void body_coupling_load(const body_coupling* coupling, const stress_params* params, bool is_stiff,
                        double* f, double* u);
/// The motion of a body, of the tail of a solution.
void body_coupling_motion(const body_coupling* coupling, int32_t body, const double* tail,
                          double motion[BODY_MOTIONS]);
/// How fast a face moves that goes with a body.
double body_coupling_speed(const body_coupling* coupling, const stress_params* params, int32_t body,
                           const double* tail, int axis, int64_t face);
/// What slip lengths of bodies take from a solution: the sum of weight (u - r . y)^2.
double body_coupling_drag(const body_coupling* coupling, const stress_params* params,
                          const double* u, const double* tail);
/// The motions after the flow, and the velocity of faces that move with bodies.
void body_coupling_store(const body_coupling* coupling, const stress_params* params,
                         const stress_weights* weights, const double* u, float* const face_u[AXES]);
