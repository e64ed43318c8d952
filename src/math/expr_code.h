// The stack program of an expression: shared by its compiler and its machine, private to them.
#pragma once

#include "math/expr.h"

// Functions: name, arguments.
#define FUNCTION_LIST(X)                                                                           \
    X(SIN, "sin", 1)                                                                               \
    X(COS, "cos", 1)                                                                               \
    X(TAN, "tan", 1)                                                                               \
    X(EXP, "exp", 1)                                                                               \
    X(LOG, "log", 1)                                                                               \
    X(SQRT, "sqrt", 1)                                                                             \
    X(ABS, "abs", 1)                                                                               \
    X(FLOOR, "floor", 1)                                                                           \
    X(TANH, "tanh", 1)                                                                             \
    X(MIN, "min", 2)                                                                               \
    X(MAX, "max", 2)                                                                               \
    X(POW, "pow", 2)                                                                               \
    X(STEP, "step", 2)                                                                             \
    X(CLAMP, "clamp", 3)                                                                           \
    X(SMOOTHSTEP, "smoothstep", 3)

typedef enum op_code {
    OP_CONSTANT,
    OP_X,
    OP_Y,
    OP_Z,
    OP_T,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
#define OP_ENUM(name, text, arguments) OP_##name,
    FUNCTION_LIST(OP_ENUM)
#undef OP_ENUM
} op_code;

typedef struct op {
    op_code code;
    double value; // of a constant
} op;

struct expr {
    treacle_context* ctx;
    bool uses_time, uses_place;
    size_t count, capacity;
    op* ops;
};
