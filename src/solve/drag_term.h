// Bodies in the viscosity operator: faces that move as a rigid body does.
//
//     u_f = r_f . y_b   at the faces of body b,  y_b its six unknowns, in the tail of a vector
//
// with r_f the row of the face: its axis, and its arm from the body's pivot crossed with it. With P
// the map from unknowns to all faces the operator is P^T A P + M: symmetric and positive as A is,
// and without stress for a rigid motion of liquid and bodies together. A is a sum of terms w d d^T
// (solve/stress_term.h). Those whose faces all belong to one body see a rigid motion and vanish;
// those that join a body to something else are the links that are kept here [drag.1]:
//
//     w (s + t)^2 / 2,   s = sum of sign u over other faces,   t = sum over bodies of c_b . y_b,
//     c_b = sum of sign r_f over the faces of b
//
// Every level of the multigrid has such a term: coarse faces belong to the body that all fixed fine
// faces on them belong to, so a body is never lost, and a rigid motion of all is free on all levels
// [drag.2]. In the cycle the faces of bodies hold r_f . y, so that the loops over liquid rows and
// the interpolation need not know of bodies. A sweep is followed, or in reverse preceded, by an
// exact solve for the six unknowns of each body in turn.
#pragma once

#include "solve/solve_body.h"
#include "solve/stress_term.h"

/// The row of face a at a place in cells of the finest level; along flat axes arms are zero. Of a
/// bound body: how fast the face moves with its only motion.
void drag_body_row(const solve_body* body, const grid_domain* domain, int a, const double at[AXES],
                   double row[BODY_MOTIONS]);

typedef struct drag_term drag_term;

/// The term of a level whose weights have owners; `scale` is the width of its cells in the finest
/// one's, along each axis. Pulls count on the finest level only. `bodies` may go afterwards; the
/// level must outlive the term.
typedef struct drag_def {
    const viscosity_level* level;
    double scale[AXES];
    bool is_finest;
    int32_t body_count;
    const solve_body* bodies;
} drag_def;
treacle_status drag_term_create(const drag_def* def, drag_term** out) TREACLE_NODISCARD;
/// Accepts NULL.
void drag_term_destroy(drag_term* term);
int32_t drag_term_body_count(const drag_term* term);

/// A vector in double or, where that is NULL, in float; it is zero at faces of bodies, and its tail
/// begins at `tail`.
typedef struct drag_source {
    const double* wide;
    const float* rounded;
    int64_t tail;
} drag_source;
/// y += sign times what bodies add to A x, at unknowns and in the tail. Returns what they add to
/// x . A x.
double drag_term_add(const drag_term* term, const drag_source* x, double sign, double* y);
void drag_term_diagonal(const drag_term* term, double* tail);

/// In a cycle: x holds the motion of bodies at their faces, and their unknowns are apart.
typedef struct drag_cycle {
    const float* b; // [bodies][6]
    float* x;       // vector
    float* y;       // [bodies][6]
} drag_cycle;
/// y += the inverse of each body's block times its residual, body after body or in reverse.
void drag_term_relax(const drag_term* term, const drag_cycle* at, bool is_reverse);
/// Faces of bodies in x get their motion.
void drag_term_fill(const drag_term* term, const float* y, float* x);
/// Faces of bodies in x become zero.
void drag_term_clear(const drag_term* term, float* x);
/// out = b - rows of bodies.
void drag_term_residual(const drag_term* term, const drag_cycle* at, double* out);
/// sum += r . row over the faces of bodies.
void drag_term_gather(const drag_term* term, const float* r, double* sum);

/// The tiles that hold unknowns which a body acts on; for loops in double over them.
tile_ix drag_term_tiles(const drag_term* term, const tile_ix** tiles);
/// The mass of a body, and its mass with all stresses at its faces.
const double (*drag_term_mass(const drag_term* term, int32_t body))[BODY_MOTIONS];
const double (*drag_term_block(const drag_term* term, int32_t body))[BODY_MOTIONS];
