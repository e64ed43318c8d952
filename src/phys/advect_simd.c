// Advection of the particles of a tile, dx/dt = u(x) [S19 eq. 4]; law and schemes: phys/advect.c.
#include "phys/advect_kernel.h"

// Where a place lies along an axis among samples at the integers [0] and at the halves [1].
typedef struct axis_place {
    int at[2];  // the sample below, times the stride
    float f[2]; // how far beyond it, 0..1
    int stride; // to the sample above; 0 along an inactive axis
} axis_place;

static inline axis_place place_on_axis(const advect_tile* t, int axis, float x) {
    int stride = axis == 0 ? 1 : axis == 1 ? t->size : t->size * t->size;
    axis_place out;
    if (!t->is_active[axis]) {
        return (axis_place){.at = {t->halo * stride, t->halo * stride}};
    }
    float highest = (float)(t->size - 2);
    for (int half = 0; half < 2; ++half) {
        float g = x + (float)t->halo - 0.5f * (float)half;
        g = g > 0.0f ? g : 0.0f; // a NaN becomes 0, too
        float low = g < highest ? g : highest;
        int at = (int)low;
        out.at[half] = at * stride;
        out.f[half] = g - (float)at;
    }
    out.stride = stride;
    return out;
}

// Component a at a place: linear along every active axis.
static inline float sample(const advect_tile* t, int a, const axis_place p[AXES]) {
    int hx = a != 0, hy = a != 1, hz = a != 2;
    const float* u = t->u[a] + p[0].at[hx] + p[1].at[hy] + p[2].at[hz];
    int dx = p[0].stride, dy = p[1].stride, dz = p[2].stride;
    float fx = p[0].f[hx], fy = p[1].f[hy], fz = p[2].f[hz];
    float u00 = u[0] + fx * (u[dx] - u[0]);
    float u10 = u[dy] + fx * (u[dy + dx] - u[dy]);
    float u01 = u[dz] + fx * (u[dz + dx] - u[dz]);
    float u11 = u[dz + dy] + fx * (u[dz + dy + dx] - u[dz + dy]);
    float u0 = u00 + fy * (u10 - u00), u1 = u01 + fy * (u11 - u01);
    return u0 + fz * (u1 - u0);
}

// k = dt u(x + c before), in cells.
static inline void slope_at(const advect_tile* t, const float x[AXES], float c,
                            const float before[AXES], float k[AXES]) {
    axis_place p[AXES];
    for (int a = 0; a < AXES; ++a) {
        p[a] = place_on_axis(t, a, x[a] + c * before[a]);
    }
    for (int a = 0; a < AXES; ++a) {
        k[a] = t->is_active[a] ? t->dt_over_h * sample(t, a, p) : 0.0f;
    }
}

static inline void move(const advect_tile* t, float x[AXES]) {
    float k1[AXES] = {0}, k2[AXES], k3[AXES];
    slope_at(t, x, 0.0f, k1, k1);
    if (t->scheme == TREACLE_ADVECTION_EULER) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k1[a];
        }
        return;
    }
    slope_at(t, x, 0.5f, k1, k2);
    if (t->scheme == TREACLE_ADVECTION_RK2) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k2[a];
        }
        return;
    }
    slope_at(t, x, 0.75f, k2, k3);
    for (int a = 0; a < AXES; ++a) {
        x[a] += (2.0f * k1[a] + 3.0f * k2[a] + 4.0f * k3[a]) * (1.0f / 9.0f);
    }
}

void ISA(advect_move)(const advect_tile* tile) {
    for (int64_t i = 0; i < tile->count; ++i) {
        move(tile, tile->position + AXES * i);
    }
}
