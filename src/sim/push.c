// Accelerations that the caller gives for one step, a row a particle. They act on the copy of the
// state at the begin of each attempt, v' = v + dt a with the dt of that attempt: so the push is
// right whatever the step's length turns out to be, and also if it is begun again.
#include <math.h>

#include "particles/particle_loop.h"
#include "sim/sim_internal.h"

typedef struct push_job {
    const particles* p;
    const float* acceleration; // [rows][3], m/s^2
    double dt[AXES];           // s, 0 along inactive axes
} push_job;

// The largest square of an acceleration in a group; infinite where one is not a number.
static double largest_of_group(void* data, int64_t group) {
    const push_job* job = data;
    double most = 0.0;
    for (particle_ix i = job->p->tile_first[group]; i < job->p->tile_first[group + 1]; ++i) {
        const float* a = job->acceleration + AXES * i;
        double x = (double)a[0], y = (double)a[1], z = (double)a[2];
        double square = (x * x + y * y) + z * z;
        most = isfinite(square) ? fmax(most, square) : INFINITY;
    }
    return most;
}

treacle_status sim_push_begin(treacle_sim* sim, const float* acceleration) {
    sim->push = NULL;
    sim->push_most = 0.0;
    if (acceleration == NULL) {
        return TREACLE_OK;
    }
    if (sim->plan.is_eulerian) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "accelerations push particles, and this liquid is carried by the grid");
    }
    push_job job = {.p = &sim->now.particles, .acceleration = acceleration};
    double most = particle_max(job.p, largest_of_group, &job);
    if (!isfinite(most)) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE, "an acceleration is not a finite number");
    }
    sim->push = acceleration;
    sim->push_most = sqrt(most);
    return TREACLE_OK;
}

static void push_groups(void* data, int64_t begin, int64_t end) {
    const push_job* job = data;
    float* v = particles_f32(job->p, PARTICLE_VELOCITY);
    for (particle_ix i = job->p->tile_first[begin]; i < job->p->tile_first[end]; ++i) {
        for (int a = 0; a < AXES; ++a) {
            particle_ix at = AXES * i + a;
            v[at] = (float)((double)v[at] + job->dt[a] * (double)job->acceleration[at]);
        }
    }
}

void sim_push(treacle_sim* sim, double dt) {
    TREACLE_ASSERT(sim->push != NULL && dt > 0.0);
    TREACLE_ASSERT(sim->next.particles.count == sim->now.particles.count);
    push_job job = {.p = &sim->next.particles, .acceleration = sim->push};
    for (int a = 0; a < AXES; ++a) {
        job.dt[a] = sim->domain.is_active[a] ? dt : 0.0;
    }
    particle_for(job.p,
                 &(particle_use){
                     .span = PARTICLES_OWN_TILES, .grain = 8, .columns = 1u << PARTICLE_VELOCITY},
                 push_groups, &job);
}
