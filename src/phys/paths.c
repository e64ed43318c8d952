// Paths of points, dx/dt = u(x), as phys/advect.c has them for particles [G11 eq. 3.12]:
//
//     x_mid = x + dt/2 u(x),   x_end = x + dt u(x_mid)
//
// differs from [G11 Alg. 2]: the sign of dt says which way a path is followed, in both lines; the
// print goes forward to the middle and back to the end.
#include "phys/paths.h"

#include <math.h>

#include "base/check.h"

void paths_gather(const paths* p, tile_ix tile, paths_block* out) {
    TREACLE_ASSERT(tile >= 0 && tile < p->flow->map->count);
    TREACLE_ASSERT(p->reach >= 0.0 && isfinite(p->dt));
    int halo = (int)ceil(p->reach) + 2;
    TREACLE_ASSERT(halo <= VELOCITY_HALO_MAX);
    const grid_domain* domain = p->flow->domain;
    velocity_block block = {.halo = halo, .size = TILE_SIZE + 2 * halo};
    out->ctx = p->flow->map->ctx;
    out->tile = (advect_tile){
        .halo = halo,
        .size = block.size,
        .is_active = {domain->is_active[0], domain->is_active[1], domain->is_active[2]},
        .scheme = p->scheme,
        .dt_over_h = (float)(p->dt / domain->h),
    };
    for (int a = 0; a < AXES; ++a) {
        if (domain->is_active[a]) {
            velocity_gather(p->flow, a, tile, block, out->u[a]);
        }
        out->tile.u[a] = out->u[a];
    }
}

void paths_trace(const paths_block* block, int64_t count, float* x) {
    TREACLE_ASSERT(count >= 0 && (x != NULL || count == 0));
    TREACLE_ASSERT(block->ctx != NULL);
    advect_tile tile = block->tile;
    tile.count = count;
    tile.position = x;
    ISA_CALL(block->ctx, advect_move)(&tile);
}

float paths_component(const paths_block* block, int a, const float x[AXES]) {
    TREACLE_ASSERT(a >= 0 && a < AXES);
    TREACLE_ASSERT(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]));
    const advect_tile* t = &block->tile;
    if (!t->is_active[a]) {
        return 0.0f;
    }
    const int stride[AXES] = {1, t->size, t->size * t->size};
    int low = 0, step[AXES];
    float f[AXES], value[8];
    for (int b = 0; b < AXES; ++b) {
        float g = x[b] + (float)t->halo - (b == a ? 0.0f : 0.5f);
        g = fminf(fmaxf(g, 0.0f), (float)(t->size - 2));
        int at = t->is_active[b] ? (int)g : t->halo;
        f[b] = t->is_active[b] ? g - (float)at : 0.0f;
        step[b] = t->is_active[b] ? stride[b] : 0;
        low += at * stride[b];
    }
    for (int i = 0; i < 8; ++i) {
        value[i] = t->u[a][low + (i & 1) * step[0] + (i >> 1 & 1) * step[1] + (i >> 2) * step[2]];
    }
    for (int b = 0, count = 8; b < AXES; ++b, count /= 2) {
        for (int i = 0; i < count / 2; ++i) {
            value[i] = value[2 * i] + f[b] * (value[2 * i + 1] - value[2 * i]);
        }
    }
    return value[0];
}
