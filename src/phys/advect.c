// Advection of particles [S19 eq. 4]: dx/dt = u(x) over one step, u on faces, linear between them.
//
//     euler  x + dt k1
//     rk2    x + dt k2                          k1 = u(x),  k2 = u(x + dt/2 k1)
//     rk3    x + dt (2 k1 + 3 k2 + 4 k3) / 9    k3 = u(x + 3/4 dt k2)
//
// [S19 eq. 4] prints the first; the third (Ralston's) is the default, since a circle drawn by the
// first widens with every turn. Positions are in cells, local to the tile: a step far from the
// origin is as fine as one near it. Through what flies free the field is carried along [path.2].
//
// Properties that tests check: order 1, 2, 3; particles of a rotating disc return; the result does
// not depend on which tile a particle is in.
#include "phys/advect.h"

#include <math.h>

#include "particles/particle_loop.h"
#include "phys/advect_kernel.h"

enum { ADVECT_SIZE_MAX = TILE_SIZE + 2 * VELOCITY_HALO_MAX };

typedef struct advect_job {
    const face_velocity* field;
    const particles* p;
    const lump_motions* lumps;
    advect_tile tile; // what all tiles share
} advect_job;

static void advect_tiles(void* data, int64_t begin, int64_t end) {
    const advect_job* job = data;
    float u[AXES][ADVECT_SIZE_MAX * ADVECT_SIZE_MAX * ADVECT_SIZE_MAX];
    velocity_block block = {.halo = job->tile.halo, .size = job->tile.size};
    for (int64_t t = begin; t < end; ++t) {
        particle_ix first = job->p->tile_first[t];
        tile_ix at = tile_map_find(job->field->map, job->p->tile[t]);
        advect_tile tile = job->tile;
        for (int a = 0; a < AXES; ++a) {
            velocity_gather(job->field, a, at, block, u[a]);
            tile.u[a] = u[a];
        }
        tile.count = job->p->tile_first[t + 1] - first;
        tile.position = particles_f32(job->p, PARTICLE_POSITION) + AXES * first;
        bool is_carried = job->lumps != NULL && job->lumps->is_moved[t] != 0;
        tile.motion = is_carried ? job->lumps->motion[first].frame : NULL;
        ISA_CALL(job->p->ctx, advect_move)(&tile);
    }
}

void advect_particles(const face_velocity* field, const particles* p, const advect_params* params) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->reach >= 0.0);
    TREACLE_ASSERT(field->u.at[0] != NULL && field->u.at[1] != NULL && field->u.at[2] != NULL);
    int halo = (int)ceil(params->reach) + 2;
    TREACLE_ASSERT(halo <= VELOCITY_HALO_MAX);
    const grid_domain* domain = field->domain;
    advect_job job = {.field = field, .p = p, .lumps = params->lumps};
    job.tile = (advect_tile){
        .halo = halo,
        .size = TILE_SIZE + 2 * halo,
        .is_active = {domain->is_active[0], domain->is_active[1], domain->is_active[2]},
        .scheme = params->scheme,
        .dt_over_h = (float)(params->dt / domain->h),
    };
    particle_for(p,
                 &(particle_use){
                     .span = PARTICLES_OWN_TILES, .grain = 1, .columns = 1u << PARTICLE_POSITION},
                 advect_tiles, &job);
}
