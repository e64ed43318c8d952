// Grid to particles [S19 eq. 15, 16, 17, 19]; the law is in phys/transfer.h.
//
//     PIC   u_p = sum w u                          FLIP  u_p = alpha (u_p - sum w u_before) + sum w
//     u APIC  u_p = sum w u,  c_pa = sum s u_a
//
// differs from [S19 eq. 17]: none in form; but the share that the footnote derives from viscosity,
// min(6 dt nu / dx^2, 1), is the share of PIC, not of FLIP as eq. 17 would have it.
//
// Properties that tests check: linear velocity fields come back exactly; with p2g angular momentum
// is kept in APIC; bits do not depend on threads.
#include "phys/g2p.h"

#include "base/parallel.h"
#include "phys/transfer.h"

static const velocity_block whole_block = {.halo = BLOCK_HALO, .size = BLOCK_SIZE};

static transfer_target target_of_tile(const g2p_params* params, int a, tile_ix tile) {
    const particles* p = params->to;
    particle_ix first = p->tile_first[tile];
    transfer_target t = {
        .count = p->tile_first[tile + 1] - first,
        .position = particles_f32(p, PARTICLE_POSITION) + AXES * first,
        .material = particles_material(p) + first,
        .value = particles_f32(p, PARTICLE_VELOCITY) + AXES * first + a,
        .value_stride = AXES,
        .keep = params->keep,
        .keeps_value = params->keeps_velocity,
    };
    if (params->is_affine) {
        t.slope = particles_f32(p, PARTICLE_AFFINE) + AXES * AXES * first + AXES * a;
        t.slope_stride = AXES * AXES;
        t.slope_scale = (float)(1.0 / params->now->domain->h);
    }
    return t;
}

static void gather_component(const g2p_params* params, int a, tile_ix tile) {
    const grid_domain* domain = params->now->domain;
    transfer_place place = {.kernel = params->kernel, .offset = {0.5, 0.5, 0.5}};
    for (int b = 0; b < AXES; ++b) {
        place.is_active[b] = domain->is_active[b];
    }
    place.offset[a] = domain->is_active[a] ? 0.0 : 0.5;
    float now[BLOCK_CELLS + BLOCK_TAIL] = {0}, before[BLOCK_CELLS + BLOCK_TAIL] = {0};
    tile_ix at = tile_map_find(params->now->map, params->to->tile[tile]);
    velocity_gather(params->now, a, at, whole_block, now);
    if (params->keep != NULL) {
        velocity_gather(params->before, a, at, whole_block, before);
    }
    transfer_target target = target_of_tile(params, a, tile);
    ISA_CALL(params->to->ctx, transfer_gather)(&target, &place, now, before);
}

static void gather_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const g2p_params* params = data;
    (void)worker;
    for (int64_t tile = begin; tile < end; ++tile) {
        for (int a = 0; a < AXES; ++a) {
            gather_component(params, a, (tile_ix)tile);
        }
    }
}

void g2p_velocity(const g2p_params* params) {
    parallel_for(params->to->ctx, params->to->tile_count, 1, gather_tiles, (void*)params);
}

typedef struct scalar_job {
    const face_velocity* on;
    const particles* at;
    const float* cell;
    float* out;
} scalar_job;

static void gather_scalar(void* data, int64_t begin, int64_t end, int worker) {
    const scalar_job* job = data;
    const particles* p = job->at;
    (void)worker;
    transfer_place place = {.kernel = TREACLE_KERNEL_LINEAR, .offset = {0.5, 0.5, 0.5}};
    for (int b = 0; b < AXES; ++b) {
        place.is_active[b] = job->on->domain->is_active[b];
    }
    for (int64_t tile = begin; tile < end; ++tile) {
        float block[BLOCK_CELLS + BLOCK_TAIL] = {0};
        particle_ix first = p->tile_first[tile];
        velocity_gather_cells(job->on, job->cell, tile_map_find(job->on->map, p->tile[tile]),
                              whole_block, block);
        transfer_target target = {.count = p->tile_first[tile + 1] - first,
                                  .position = particles_f32(p, PARTICLE_POSITION) + AXES * first,
                                  .material = particles_material(p) + first,
                                  .value = job->out + first,
                                  .value_stride = 1};
        ISA_CALL(p->ctx, transfer_gather)(&target, &place, block, block);
    }
}

void g2p_scalar(const face_velocity* on, const particles* at, const float* cell, float* out) {
    scalar_job job = {on, at, cell, out};
    parallel_for(at->ctx, at->tile_count, 1, gather_scalar, &job);
}
