#include "math/expr.h"

#include <math.h>

#include "base/alloc.h"
#include "math/elementary.h"
#include "math/expr_code.h"

void expr_destroy(expr* e) {
    if (e != NULL) {
        alloc_free(e->ctx, e->ops, e->capacity * sizeof(op));
        alloc_free(e->ctx, e, sizeof(*e));
    }
}

bool expr_uses_time(const expr* e) {
    return e->uses_time;
}

bool expr_uses_place(const expr* e) {
    return e->uses_place;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double clamp(double v, double low, double high) {
    return smaller(larger(v, low), high);
}

static double smoothstep(double low, double high, double v) {
    if (low == high) {
        return v < low ? 0.0 : 1.0;
    }
    double s = clamp((v - low) / (high - low), 0.0, 1.0);
    return s * s * (3.0 - 2.0 * s);
}

static double arithmetic(op_code code, double a, double b) {
    switch (code) {
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER:
        return a > b;
    case OP_GREATER_EQUAL:
        return a >= b;
    case OP_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

// `a` are the arguments, the first first.
static double call(op_code code, const double* a) {
    switch (code) {
    case OP_SIN:
        return elementary_sin(a[0]);
    case OP_COS:
        return elementary_cos(a[0]);
    case OP_TAN:
        return elementary_sin(a[0]) / elementary_cos(a[0]);
    case OP_EXP:
        return elementary_exp(a[0]);
    case OP_LOG:
        return elementary_log(a[0]);
    case OP_SQRT:
        return sqrt(a[0]);
    case OP_ABS:
        return fabs(a[0]);
    case OP_FLOOR:
        return floor(a[0]);
    case OP_TANH:
        return elementary_tanh(a[0]);
    case OP_MIN:
        return smaller(a[0], a[1]);
    case OP_MAX:
        return larger(a[0], a[1]);
    case OP_POW:
        return elementary_pow(a[0], a[1]);
    case OP_STEP:
        return a[1] < a[0] ? 0.0 : 1.0;
    case OP_CLAMP:
        return clamp(a[0], a[1], a[2]);
    default:
        return smoothstep(a[0], a[1], a[2]);
    }
}

static int argument_count(op_code code) {
    static const signed char counts[] = {
#define ARGUMENT_COUNT(name, text, arguments) arguments,
        FUNCTION_LIST(ARGUMENT_COUNT)
#undef ARGUMENT_COUNT
    };
    return counts[code - OP_SIN];
}

double expr_eval(const expr* e, vec3 x, double t) {
    TREACLE_ASSERT(e->count > 0 && e->count <= e->capacity);
    double stack[EXPR_STACK_MAX];
    const double variables[] = {x.at[0], x.at[1], x.at[2], t};
    double* top = stack; // the next free place
    for (size_t i = 0; i < e->count; ++i) {
        op_code code = e->ops[i].code;
        if (code == OP_CONSTANT) {
            *top++ = e->ops[i].value;
        } else if (code <= OP_T) {
            *top++ = variables[code - OP_X];
        } else if (code == OP_NEGATE) {
            top[-1] = -top[-1];
        } else if (code < OP_SIN) {
            top -= 1;
            top[-1] = arithmetic(code, top[-1], top[0]);
        } else {
            top -= argument_count(code);
            *top = call(code, top);
            top += 1;
        }
    }
    return stack[0];
}
