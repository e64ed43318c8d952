#include "solve/cycle.h"

#include "base/check.h"

// Two steps of conjugate gradients on level l, whose b they use up. With z1 = B b, q1 = A z1 and
// z2 = B (b - a q1), x is the combination of z1 and z2 of least energy error:
//
//     minimise E(c1, c2) = 1/2 x . A x - b . x,  x = c1 z1 + c2 z2.
//
// z2 is not made orthogonal to z1: the 2 x 2 system is solved by elimination instead, with
// `cross` = z2 . A z1 and `reduced` the energy that z2 has beyond its part along z1. slope2 is
// measured against the residual that the first step has left, which is orthogonal to z1.
static void k_cycle(const level_ops* ops, int l, float* const k[2]) {
    const vec_space* space = ops->space(ops->data, l);
    cycle_vectors own = ops->vectors(ops->data, l), first = own;
    float *z1 = k[0], *q1 = k[1], *z2 = own.x, *b = (float*)own.b;
    first.x = z1;
    cycle_run(ops, l, &first);
    double energy1 = ops->apply(ops->data, l, z1, q1);
    double slope1 = vec_dot_float(space, z1, b);
    if (!(energy1 > 0.0)) { // b is zero here, or all that it has is in the null space
        vec_set_zero_float(space, z2);
        return;
    }
    vec_combine_float(space, (float)(-slope1 / energy1), q1, 1.0f, b);
    cycle_run(ops, l, &own);
    double energy2 = ops->apply(ops->data, l, z2, NULL);
    double cross = vec_dot_float(space, z2, q1);
    double slope2 = vec_dot_float(space, z2, b);
    double reduced = energy2 - cross * cross / energy1;
    double c2 = reduced > 0.0 ? slope2 / reduced : 0.0; // 0: z2 says nothing that z1 has not said
    double c1 = (slope1 - cross * c2) / energy1;
    vec_combine_float(space, (float)c1, z1, (float)c2, z2);
}

void cycle_run(const level_ops* ops, int l, const cycle_vectors* v) {
    TREACLE_ASSERT(l >= 0 && l < ops->level_count && ops->bottom_sweeps > 0);
    TREACLE_ASSERT(v->b != NULL && v->x != NULL && v->b != v->x);
    bool is_bottom = l + 1 == ops->level_count;
    int sweeps = is_bottom ? ops->bottom_sweeps : 1;
    for (int n = 0; n < sweeps; ++n) {
        ops->sweep(ops->data, l, v, false, n == 0);
    }
    if (!is_bottom) {
        cycle_vectors coarse = ops->vectors(ops->data, l + 1);
        float* k[2];
        ops->descend(ops->data, l, v);
        if (ops->directions != NULL && ops->directions(ops->data, l + 1, k)) {
            k_cycle(ops, l + 1, k);
        } else {
            cycle_run(ops, l + 1, &coarse);
        }
        ops->ascend(ops->data, l, &coarse, v);
    }
    for (int n = 0; n < sweeps; ++n) {
        ops->sweep(ops->data, l, v, true, false);
    }
}
