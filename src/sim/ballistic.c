#include "sim/ballistic.h"

#include <math.h>

#include "math/curve.h"
#include "particles/particle_loop.h"

enum { BLOCK_ROWS = 4096 };

typedef struct push_job {
    const particles* p;
    ballistic_push push;
} push_job;

static void push_rows(void* data, int64_t begin, int64_t end) {
    const push_job* job = data;
    float* position = particles_f32(job->p, PARTICLE_POSITION) + AXES * begin;
    float* velocity = particles_f32(job->p, PARTICLE_VELOCITY) + AXES * begin;
    ISA_CALL(job->p->ctx, ballistic_rows)(end - begin, position, velocity, &job->push);
}

void ballistic_advect(const particles* p, const grid_domain* domain, const treacle_curve* gravity,
                      double from, double to) {
    TREACLE_ASSERT(from <= to);
    TREACLE_ASSERT(gravity->count > 0 && domain->h > 0.0);
    push_job job = {.p = p};
    double kick[AXES], fall[AXES];
    curve_integral(gravity, from, to, kick);
    curve_way(gravity, from, to, fall);
    for (int a = 0; a < AXES; ++a) {
        job.push.kick[a] = domain->is_active[a] ? (float)kick[a] : 0.0f;
        job.push.drift[a] = domain->is_active[a] ? (float)((to - from) / domain->h) : 0.0f;
        job.push.fall[a] = domain->is_active[a] ? (float)(fall[a] / domain->h) : 0.0f;
    }
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = BLOCK_ROWS}, push_rows, &job);
}

static double fastest_of_tile(void* data, int64_t tile) {
    const particles* p = data;
    particle_ix first = p->tile_first[tile];
    const float* velocity = particles_f32(p, PARTICLE_VELOCITY) + AXES * first;
    return (double)ISA_CALL(p->ctx, ballistic_max_squared)(p->tile_first[tile + 1] - first,
                                                           velocity);
}

double ballistic_max_speed(const particles* p) {
    particles view = *p;
    return p->count == 0 ? 0.0 : sqrt(particle_max(p, fastest_of_tile, &view));
}
