// Grid to particles [S19 eq. 15, 16, 17, 19]; the law is in phys/transfer.h.
//
//     PIC    u_p = sum w u
//     FLIP   u_p = alpha (u_p - sum w u_before) + sum w u
//     APIC   u_p = sum w u,  c_pa = sum s u_a
//
// differs from [S19 eq. 17]: none in form; but the fraction that the footnote derives from
// viscosity, min(6 dt nu / dx^2, 1), is the fraction of PIC, not of FLIP as eq. 17 would have it.
//
// Properties that tests check: linear velocity fields come back exactly; with p2g angular momentum
// is kept in APIC; bits do not depend on threads.
#include "phys/g2p.h"

#include "particles/particle_loop.h"
#include "phys/transfer.h"

static const velocity_block whole_block = {.halo = BLOCK_HALO, .size = BLOCK_SIZE};

// Slopes are in cells within kernels, and per metre in the column: hence 1 / h.
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

static transfer_place g2p_place_of(const grid_domain* domain, treacle_kernel kernel, int a) {
    transfer_place place = {.kernel = kernel, .offset = {0.5, 0.5, 0.5}};
    for (int b = 0; b < AXES; ++b) {
        place.is_active[b] = domain->is_active[b];
    }
    place.offset[a] = domain->is_active[a] ? 0.0 : 0.5;
    return place;
}

static thin_tile thin_of_tile(const thin_view* view, const particles* p, int a, tile_ix tile) {
    thin_tile out = {.first = p->tile_first[tile], .which = a};
    if (view != NULL) {
        out.members = thin_particles_between(view, out.first, p->tile_first[tile + 1], &out.count);
    }
    return out;
}

// What particles beside thin solids take, as long as they have their old velocity.
static void gather_thin(const g2p_params* params, const transfer_place* place,
                        const thin_tile* thin, const float* now, const float* before) {
    const particles* p = params->to;
    const float* position = particles_f32(p, PARTICLE_POSITION) + AXES * thin->first;
    int a = thin->which;
    if (params->keep != NULL) {
        thin_gather(thin, position, place, before);
        for (int64_t r = 0; r < thin->count; ++r) {
            thin->members[r].before[a] = thin->members[r].value[a];
        }
    }
    thin_gather(thin, position, place, now);
    for (int64_t r = 0; r < thin->count && params->keep != NULL; ++r) {
        thin_particle* one = &thin->members[r];
        float own = particles_f32(p, PARTICLE_VELOCITY)[AXES * one->particle + a];
        one->value[a] +=
            params->keep[particles_material(p)[one->particle]] * (own - one->before[a]);
    }
}

// After the kernel, which has given these particles what all samples around them say: of those that
// a thin solid hides they must not know.
static void give_thin(const g2p_params* params, const thin_tile* thin) {
    const particles* p = params->to;
    float scale = (float)(1.0 / params->now->domain->h);
    int a = thin->which;
    for (int64_t r = 0; r < thin->count; ++r) {
        const thin_particle* one = &thin->members[r];
        if (!params->keeps_velocity) {
            particles_f32(p, PARTICLE_VELOCITY)[AXES * one->particle + a] = one->value[a];
        }
        for (int b = 0; b < AXES && params->is_affine; ++b) {
            particles_f32(p, PARTICLE_AFFINE)[AXES * (AXES * one->particle + a) + b] =
                one->slope[a][b] * scale;
        }
    }
}

// A component at a time: its block of samples and the weights of all particles stay in the cache.
static void gather_component(const g2p_params* params, int a, tile_ix tile) {
    transfer_place place = g2p_place_of(params->now->domain, params->kernel, a);
    float now[BLOCK_CELLS + BLOCK_TAIL] = {0}, before[BLOCK_CELLS + BLOCK_TAIL] = {0};
    tile_ix at = tile_map_find(params->now->map, params->to->tile[tile]);
    velocity_gather(params->now, a, at, whole_block, now);
    if (params->keep != NULL) {
        velocity_gather(params->before, a, at, whole_block, before);
    }
    thin_tile thin = thin_of_tile(params->thin, params->to, a, tile);
    gather_thin(params, &place, &thin, now, before);
    transfer_target target = target_of_tile(params, a, tile);
    ISA_CALL(params->to->ctx, transfer_gather)(&target, &place, now, before);
    give_thin(params, &thin);
}

static void gather_tiles(void* data, int64_t begin, int64_t end) {
    const g2p_params* params = data;
    for (int64_t tile = begin; tile < end; ++tile) {
        for (int a = 0; a < AXES; ++a) {
            gather_component(params, a, (tile_ix)tile);
        }
    }
}

void g2p_velocity(const g2p_params* params) {
    TREACLE_ASSERT(params->keep == NULL || params->before != NULL);
    TREACLE_ASSERT(params->before == NULL || params->before->map == params->now->map);
    TREACLE_ASSERT(!params->is_affine || params->to->column[PARTICLE_AFFINE] != NULL);
    TREACLE_ASSERT(params->now->u.at[0] != NULL && params->now->u.at[1] != NULL &&
                   params->now->u.at[2] != NULL);
    if (params->thin != NULL && params->thin->count > 0) { // whose members nobody gathers
        particle_for(params->to, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1},
                     gather_tiles, (void*)params);
        return;
    }
    particle_for(params->to,
                 &(particle_use){.span = PARTICLES_OWN_TILES,
                                 .grain = 1,
                                 .columns = 1u << PARTICLE_VELOCITY | 1u << PARTICLE_AFFINE},
                 gather_tiles, (void*)params);
}

typedef struct thin_job {
    const face_velocity* field;
    const particles* p;
    treacle_kernel kernel;
    const thin_view* view;
} thin_job;

static void gather_thin_tiles(void* data, int64_t begin, int64_t end) {
    const thin_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        thin_tile thin = thin_of_tile(job->view, job->p, 0, (tile_ix)t);
        tile_ix at = thin.count > 0 ? tile_map_find(job->field->map, job->p->tile[t]) : 0;
        for (int a = 0; a < AXES && thin.count > 0; ++a) {
            float block[BLOCK_CELLS + BLOCK_TAIL] = {0};
            transfer_place place = g2p_place_of(job->field->domain, job->kernel, a);
            velocity_gather(job->field, a, at, whole_block, block);
            thin.which = a;
            thin_gather(&thin, particles_f32(job->p, PARTICLE_POSITION) + AXES * thin.first, &place,
                        block);
        }
    }
}

void g2p_thin(const face_velocity* field, const particles* p, treacle_kernel kernel,
              const thin_view* view) {
    TREACLE_ASSERT(view != NULL && field->u.at[0] != NULL);
    thin_job job = {field, p, kernel, view};
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4}, gather_thin_tiles,
                 &job);
}

typedef struct scalar_job {
    const face_velocity* on;
    const particles* at;
    const float* cell;
    float* out;
} scalar_job;

static void gather_scalar(void* data, int64_t begin, int64_t end) {
    const scalar_job* job = data;
    const particles* p = job->at;
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
    TREACLE_ASSERT(cell != NULL && (out != NULL || at->count == 0));
    TREACLE_ASSERT(on->map != NULL && on->domain != NULL);
    scalar_job job = {on, at, cell, out};
    particle_for(
        at,
        &(particle_use){
            .span = PARTICLES_OWN_TILES, .grain = 1, .values = out, .value_bytes = sizeof(float)},
        gather_scalar, &job);
}
