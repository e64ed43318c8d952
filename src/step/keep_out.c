#include "step/keep_out.h"

#include <string.h>

#include "phys/collide.h"

treacle_status keep_out_look(const step_frame* f, const particles* p, const solid_pose* poses,
                             treacle_kernel kernel, thin_view* out) {
    TREACLE_ASSERT(f->setup->solids.count == 0 || poses != NULL);
    thin_params params = {.domain = f->setup->domain,
                          .scene = solid_scene_of(&f->setup->solids, poses),
                          .p = p,
                          .kernel = kernel,
                          .scratch = f->scratch};
    return thin_look(&params, out);
}

treacle_status keep_out_begin(const step_frame* f, const particles* p, float** start) {
    *start = NULL;
    if (f->setup->solids.count == 0) {
        return TREACLE_OK;
    }
    size_t bytes = AXES * sizeof(float);
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, bytes, "places", (void**)start));
    if (p->count > 0) {
        memcpy(*start, particles_f32(p, PARTICLE_POSITION), (size_t)p->count * bytes);
    }
    return TREACLE_OK;
}

static collide_params collide_of(const step_frame* f, const solid_poses* poses,
                                 const particles* p) {
    return (collide_params){.domain = f->setup->domain,
                            .from = solid_scene_of(&f->setup->solids, poses->from),
                            .to = solid_scene_of(&f->setup->solids, poses->to),
                            .p = p,
                            .reach = LIQUID_REACH_MAX};
}

void keep_out_move(const step_frame* f, const solid_poses* poses, const float* start,
                   particles* p) {
    TREACLE_ASSERT(start == NULL || (poses->from != NULL && poses->to != NULL));
    if (start != NULL) {
        collide_params params = collide_of(f, poses, p);
        params.before = start;
        collide_particles(&params);
    }
}

void keep_out_stop(const step_frame* f, const solid_poses* poses, const free_flyers* flyers,
                   particles* p) {
    TREACLE_ASSERT(f->setup->solids.count == 0 || (poses->from != NULL && poses->to != NULL));
    TREACLE_ASSERT(flyers->count <= p->count);
    collide_params params = collide_of(f, poses, p);
    for (int64_t i = 0; params.to.count > 0 && i < flyers->count; ++i) {
        particle_ix particle = flyers->particle[i];
        const float* position = particles_f32(p, PARTICLE_POSITION) + AXES * particle;
        float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * particle;
        tile_coord tile = p->tile[free_flyers_tile(p, particle)];
        collide_stop(&params, particles_place(f->setup->domain, tile, position), v);
    }
}
