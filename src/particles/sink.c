#include "particles/sink.h"

#include <math.h>

#include "particles/particle_loop.h"

treacle_status sink_init(treacle_context* ctx, const treacle_sink_def* def,
                         const grid_domain* domain, sink* out) {
    TREACLE_ASSERT(domain->h > 0.0);
    *out = (sink){.domain = *domain, .start = def->start, .stop = def->stop};
    if (isnan(def->start) || !(def->stop >= def->start)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "sink works from %g s to %g s: expected a stop that is not before the "
                          "start",
                          def->start, def->stop);
    }
    return shape_create(ctx, def->shape, &out->shape);
}

void sink_finish(sink* s) {
    shape_destroy(s->shape);
    *s = (sink){0};
}

typedef struct absorb_job {
    const shape* shape;
    const grid_domain* domain;
    const particles* p;
    uint8_t* is_removed;
} absorb_job;

static void mark_group(const absorb_job* job, tile_ix group) {
    const particles* p = job->p;
    const float* position = particles_f32(p, PARTICLE_POSITION);
    for (particle_ix particle = p->tile_first[group]; particle < p->tile_first[group + 1];
         ++particle) {
        vec3 place = particles_place(job->domain, p->tile[group], position + AXES * particle);
        bool is_inside = vec3_is_finite(place) && shape_is_inside(job->shape, place);
        job->is_removed[particle] = is_inside;
    }
}

static void mark(void* data, int64_t begin, int64_t end) {
    const absorb_job* job = data;
    for (int64_t group = begin; group < end; ++group) {
        if (particle_ranks_has(job->p, (tile_ix)group)) {
            mark_group(job, (tile_ix)group);
        }
    }
}

treacle_status sink_absorb(const sink* s, double time, particles* p, arena* scratch,
                           int64_t* count) {
    TREACLE_ASSERT(count != NULL && scratch != NULL);
    TREACLE_ASSERT(s->shape != NULL);
    *count = 0;
    if (!(time >= s->start && time <= s->stop) || p->count == 0) {
        return TREACLE_OK;
    }
    absorb_job job = {.shape = s->shape, .domain = &s->domain, .p = p};
    TREACLE_TRY(
        arena_take(scratch, (size_t)p->count, 1, "rows to absorb", (void**)&job.is_removed));
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = p->tile_count / 256 + 1},
                 mark, &job);
    particle_ix before = p->count;
    treacle_status status = particle_ranks_remove(p, job.is_removed, scratch);
    arena_give(scratch, job.is_removed);
    *count = before - p->count;
    return status;
}
