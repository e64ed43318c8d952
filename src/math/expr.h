// Arithmetic expressions of place and time: text in, a small stack program out.
//
//     expression := comparison
//     comparison := sum ((< | <= | > | >= | == | !=) sum)?          1 where it holds, else 0
//     sum        := product ((+ | -) product)*
//     product    := unary ((* | /) unary)*
//     unary      := (- | +) unary | power
//     power      := primary (^ unary)?                              -2^2 = -4, 2^3^2 = 2^9
//     primary    := number | name | name ( list ) | ( expression )
//
// Names: x y z (m), t (s), pi, e. Functions: sin cos tan exp log sqrt abs floor tanh of one
// argument; min max pow step(edge, v) of two; clamp(v, low, high) smoothstep(low, high, v) of
// three. Evaluation uses math/elementary.h: the same bits everywhere.
#pragma once

#include "base/context.h"
#include "math/vec3.h"

enum {
    EXPR_LENGTH_MAX = 4096, // characters
    EXPR_DEPTH_MAX = 64,    // of parentheses, signs and powers inside each other
    EXPR_STACK_MAX = 128,   // numbers waiting for an operator
};

typedef struct expr expr;

/// What is wrong with a text, and where.
typedef struct expr_error {
    int column; // from 1
    char text[256];
} expr_error;

/// ERR_SCENE or ERR_LIMIT with the same sentence in the context's error ("column 5: ...") and in
/// *error, which may be NULL. *out is then NULL.
treacle_status expr_create(treacle_context* ctx, const char* text, expr_error* error,
                           expr** out) TREACLE_NODISCARD;
/// Accepts NULL.
void expr_destroy(expr* e);

/// May be inf or NaN, as arithmetic goes.
double expr_eval(const expr* e, vec3 x, double t);
/// Whether the text names t.
bool expr_uses_time(const expr* e);
/// Whether it names x, y or z.
bool expr_uses_place(const expr* e);
