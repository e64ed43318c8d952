// Bodies in the viscosity operator: faces that move as a rigid body does.
//
//     u_f = r_f . y_b   at the faces of body b,  y_b its six unknowns, in the tail of a vector
//
// With P the map from unknowns to all faces the operator is P^T A P + M: symmetric and positive as
// A is, and without stress for a rigid motion of liquid and bodies together. A is a sum of terms w
// d d^T (solve/stress_term.h). Those whose faces all belong to one body see a rigid motion and
// vanish; those that join a body to something else are the links that are kept here [drag.1]:
//
//     w (s + t)^2 / 2,   s = sum of sign u over other faces,   t = sum over bodies of c_b . y_b,
//     c_b = sum of sign r_f over the faces of b
//
// The preconditioner of the tail is the inverse of the block of 6 x 6 of each body, M + sum of w c
// c^T.
#pragma once

#include "solve/six.h"
#include "solve/stress_term.h"

typedef struct drag_body {
    int64_t count;
    const int64_t* slot;               // [count], faces in a vector, each once; fixed in the level
    const double (*row)[BODY_MOTIONS]; // [count]
    double mass[BODY_MOTIONS][BODY_MOTIONS]; // of the motions
} drag_body;

typedef struct drag_term drag_term;

/// `bodies` may go afterwards; the level must outlive the term.
treacle_status drag_term_create(const viscosity_level* level, int32_t body_count,
                                const drag_body* bodies, drag_term** out) TREACLE_NODISCARD;
/// Accepts NULL.
void drag_term_destroy(drag_term* term);
int32_t drag_term_body_count(const drag_term* term);

/// y += what bodies add to A x, at unknowns; tail of y = the rows of bodies. Returns what they add
/// to x . A x. The tail begins at `tail`.
double drag_term_apply(const drag_term* term, int64_t tail, const double* x, double* y);
double drag_term_apply_rounded(const drag_term* term, int64_t tail, const float* x, double* y);
void drag_term_diagonal(const drag_term* term, double* tail);
/// z = (6 x 6 blocks)^-1 r of the tail.
void drag_term_precondition(const drag_term* term, const float* r, float* z);
