// Advection of the particles of a tile, dx/dt = u(x) [S19 eq. 4], eight at a time; law and schemes:
// phys/advect.c.
#include "phys/advect_kernel.h"

// Where eight places lie along an axis among samples at the integers [0] and at the halves [1].
typedef struct axis_place {
    i32x8 at[2]; // the sample below, times the stride
    f32x8 f[2];  // how far beyond it, 0..1
    int stride;  // to the sample above; 0 along an inactive axis
} axis_place;

TREACLE_ALWAYS_INLINE axis_place place_on_axis(const advect_tile* t, int axis, f32x8 x) {
    int stride = axis == 0 ? 1 : axis == 1 ? t->size : t->size * t->size;
    axis_place out;
    for (int half = 0; half < 2; ++half) {
        if (!t->is_active[axis]) {
            out.at[half] = (i32x8){0} + t->halo * stride;
            out.f[half] = f32x8_set(0.0f);
            continue;
        }
        f32x8 zero = f32x8_set(0.0f), highest = f32x8_set((float)(t->size - 2));
        f32x8 g = x + (float)t->halo - 0.5f * (float)half;
        g = f32x8_select(g > zero, g, zero); // a NaN becomes 0, too
        i32x8 at = i32x8_from_f32x8(f32x8_select(g < highest, g, highest));
        out.at[half] = at * stride;
        out.f[half] = g - f32x8_from_i32x8(at);
    }
    out.stride = t->is_active[axis] ? stride : 0;
    return out;
}

// Samples along x around each place, linear between them.
TREACLE_ALWAYS_INLINE f32x8 along_x(const float* u, const int32_t at[SIMD_LANES], int stride,
                                    f32x8 f) {
    f32x8 pair[2];
    f32x8_load_pairs(u, at, pair);
    return stride == 0 ? pair[0] : pair[0] + f * (pair[1] - pair[0]);
}

// Component a at eight places: linear along every active axis.
TREACLE_ALWAYS_INLINE f32x8 sample(const advect_tile* t, int a, const axis_place p[AXES]) {
    int hx = a != 0, hy = a != 1, hz = a != 2;
    const float* u = t->u[a];
    int32_t at[SIMD_LANES];
    i32x8 lowest = p[0].at[hx] + p[1].at[hy] + p[2].at[hz];
    memcpy(at, &lowest, sizeof(at));
    int dx = p[0].stride, dy = p[1].stride, dz = p[2].stride;
    f32x8 fx = p[0].f[hx], fy = p[1].f[hy], fz = p[2].f[hz];
    f32x8 u00 = along_x(u, at, dx, fx), u10 = along_x(u + dy, at, dx, fx);
    f32x8 u01 = along_x(u + dz, at, dx, fx), u11 = along_x(u + dz + dy, at, dx, fx);
    f32x8 u0 = u00 + fy * (u10 - u00), u1 = u01 + fy * (u11 - u01);
    return u0 + fz * (u1 - u0);
}

// k = dt u(x + c before), in cells; the field is carried along by c frame.
TREACLE_ALWAYS_INLINE void advect_slope_at(const advect_tile* t, const f32x8 x[AXES], float c,
                                           const f32x8 before[AXES], const f32x8 frame[AXES],
                                           f32x8 k[AXES]) {
    axis_place p[AXES];
    for (int a = 0; a < AXES; ++a) {
        p[a] = place_on_axis(t, a, x[a] + c * (before[a] - frame[a]));
    }
    for (int a = 0; a < AXES; ++a) {
        k[a] = t->is_active[a] ? t->dt_over_h * sample(t, a, p) : f32x8_set(0.0f);
    }
}

TREACLE_ALWAYS_INLINE void move(const advect_tile* t, const f32x8 frame[AXES], f32x8 x[AXES]) {
    f32x8 k1[AXES] = {{0}}, k2[AXES], k3[AXES];
    advect_slope_at(t, x, 0.0f, k1, frame, k1);
    if (t->scheme == TREACLE_ADVECTION_EULER) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k1[a];
        }
        return;
    }
    advect_slope_at(t, x, 0.5f, k1, frame, k2);
    if (t->scheme == TREACLE_ADVECTION_RK2) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k2[a];
        }
        return;
    }
    advect_slope_at(t, x, 0.75f, k2, frame, k3);
    for (int a = 0; a < AXES; ++a) {
        x[a] += (2.0f * k1[a] + 3.0f * k2[a] + 4.0f * k3[a]) * (1.0f / 9.0f);
    }
}

void ISA(advect_move)(const advect_tile* tile) {
    TREACLE_ASSERT(tile->count >= 0 && tile->halo > 0);
    TREACLE_ASSERT(tile->size > 2 * tile->halo);
    for (int64_t i = 0; i < tile->count; i += SIMD_LANES) {
        int n = tile->count - i < SIMD_LANES ? (int)(tile->count - i) : SIMD_LANES;
        float* position = tile->position + AXES * i;
        const float* motion = tile->motion != NULL ? tile->motion + 2 * AXES * i : NULL;
        f32x8 x[AXES], frame[AXES] = {{0}}, shift[AXES] = {{0}};
        for (int a = 0; a < AXES; ++a) {
            x[a] = f32x8_load_some(position + a, AXES, n);
            if (motion != NULL) {
                frame[a] = f32x8_load_some(motion + a, 2 * AXES, n);
                shift[a] = f32x8_load_some(motion + AXES + a, 2 * AXES, n);
            }
        }
        move(tile, frame, x);
        for (int a = 0; a < AXES; ++a) {
            f32x8_store_some(position + a, AXES, n, x[a] + shift[a]);
        }
    }
}
