// Advection of particles [S19 eq. 4]: dx/dt = u(x) over one step, u on faces, linear between them.
//
//     euler  x + dt k1
//     rk2    x + dt k2                          k1 = u(x),  k2 = u(x + dt/2 k1)
//     rk3    x + dt (2 k1 + 3 k2 + 4 k3) / 9    k3 = u(x + 3/4 dt k2)
//
// [S19 eq. 4] prints the first; the third (Ralston's) is the default, since a circle drawn by the
// first widens with every turn. Positions are in cells, local to the tile: a step far from the
// origin is as fine as one near it.
//
// Properties that tests check: order 1, 2, 3; particles of a rotating disc return; the result does
// not depend on which tile a particle is in.
#include "phys/advect.h"

#include <math.h>

#include "base/parallel.h"

enum { ADVECT_SIZE_MAX = TILE_SIZE + 2 * VELOCITY_HALO_MAX };

typedef struct advect_job {
    const face_velocity* field;
    const particles* p;
    treacle_advection scheme;
    double dt_over_h;
    velocity_block block;
} advect_job;

typedef struct sampler {
    const advect_job* job;
    float (*u)[ADVECT_SIZE_MAX * ADVECT_SIZE_MAX * ADVECT_SIZE_MAX];
} sampler;

// One component at x: linear in every active axis.
static float sample_component(const sampler* s, int a, const float x[AXES]) {
    const bool* is_active = s->job->field->domain->is_active;
    int n = s->job->block.size, at[AXES];
    float f[AXES];
    for (int b = 0; b < AXES; ++b) {
        float g = x[b] - (a == b ? 0.0f : 0.5f) + (float)s->job->block.halo;
        float low = floorf(g);
        low = fminf(fmaxf(low, 0.0f), (float)(n - 2));
        at[b] = is_active[b] ? (int)low : s->job->block.halo;
        f[b] = is_active[b] ? g - low : 0.0f;
    }
    const float* u = s->u[a] + (at[2] * n + at[1]) * n + at[0];
    int dx = is_active[0] ? 1 : 0, dy = is_active[1] ? n : 0, dz = is_active[2] ? n * n : 0;
    float u00 = u[0] + f[0] * (u[dx] - u[0]);
    float u10 = u[dy] + f[0] * (u[dy + dx] - u[dy]);
    float u01 = u[dz] + f[0] * (u[dz + dx] - u[dz]);
    float u11 = u[dz + dy] + f[0] * (u[dz + dy + dx] - u[dz + dy]);
    float u0 = u00 + f[1] * (u10 - u00), u1 = u01 + f[1] * (u11 - u01);
    return u0 + f[2] * (u1 - u0);
}

// k = dt u(x + c k_before), in cells.
static void slope_at(const sampler* s, const float x[AXES], float c, const float before[AXES],
                     float k[AXES]) {
    float at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = x[a] + c * before[a];
    }
    for (int a = 0; a < AXES; ++a) {
        bool moves = s->job->field->domain->is_active[a];
        k[a] = moves ? (float)s->job->dt_over_h * sample_component(s, a, at) : 0.0f;
    }
}

static void move(const sampler* s, float x[AXES]) {
    float k1[AXES] = {0}, k2[AXES], k3[AXES];
    slope_at(s, x, 0.0f, k1, k1);
    if (s->job->scheme == TREACLE_ADVECTION_EULER) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k1[a];
        }
        return;
    }
    slope_at(s, x, 0.5f, k1, k2);
    if (s->job->scheme == TREACLE_ADVECTION_RK2) {
        for (int a = 0; a < AXES; ++a) {
            x[a] += k2[a];
        }
        return;
    }
    slope_at(s, x, 0.75f, k2, k3);
    for (int a = 0; a < AXES; ++a) {
        x[a] += (2.0f * k1[a] + 3.0f * k2[a] + 4.0f * k3[a]) * (1.0f / 9.0f);
    }
}

static void advect_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const advect_job* job = data;
    (void)worker;
    float u[AXES][ADVECT_SIZE_MAX * ADVECT_SIZE_MAX * ADVECT_SIZE_MAX];
    sampler s = {.job = job, .u = u};
    for (int64_t t = begin; t < end; ++t) {
        tile_ix tile = tile_map_find(job->field->map, job->p->tile[t]);
        for (int a = 0; a < AXES; ++a) {
            velocity_gather(job->field, a, tile, job->block, u[a]);
        }
        float* x = particles_f32(job->p, PARTICLE_POSITION);
        for (particle_ix i = job->p->tile_first[t]; i < job->p->tile_first[t + 1]; ++i) {
            move(&s, x + AXES * i);
        }
    }
}

void advect_particles(const face_velocity* field, const particles* p, treacle_advection scheme,
                      double dt, double reach) {
    int halo = (int)ceil(reach) + 2;
    TREACLE_ASSERT(halo <= VELOCITY_HALO_MAX);
    advect_job job = {.field = field,
                      .p = p,
                      .scheme = scheme,
                      .dt_over_h = dt / field->domain->h,
                      .block = {.halo = halo, .size = TILE_SIZE + 2 * halo}};
    parallel_for(p->ctx, p->tile_count, 1, advect_tiles, &job);
}
