// What a linearised law adds to the operator of the Stokes solver.
#include "grid/tile_ranks.h"
#include "solve/stokes_internal.h"

typedef struct extra_job {
    const stokes_solver* s;
    const double *u, *about;
    double* r;
    float* image;
} extra_job;

static void run_own(const stokes_solver* s, parallel_fcn* fcn, extra_job* job) {
    const vec_space* space = &s->faces->space;
    tile_range own = tile_ranks_list(space->shared, space->active_count, space->active);
    tile_for_range(s->ctx, own, 8, fcn, job);
}

treacle_status stokes_extra_create(stokes_solver* s, const stokes_extra* extra) {
    bool is_needed = extra != NULL && s->e_u == NULL;
    return is_needed ? vec_create(s->u_space, "what a law adds", &s->e_u) : TREACLE_OK;
}

// m_u = u - about, rounded: the difference is small where that matters.
static void find_difference(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            job->s->m_u[i] = inverse[i] > 0.0f ? (float)(job->u[i] - job->about[i]) : 0.0f;
        }
    }
}

static void add_to_residual(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            job->r[i] -= inverse[i] > 0.0f ? job->s->e_u[i] : 0.0;
        }
    }
}

static void add_to_image(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            if (inverse[i] > 0.0f) {
                job->image[i] = (float)((double)job->image[i] + job->s->e_u[i]);
            }
        }
    }
}

void stokes_extra_residual(const stokes_solver* s, const stokes_extra* extra, const double* u,
                           double* r) {
    if (extra == NULL) {
        return;
    }
    extra_job job = {.s = s, .u = u, .about = extra->about, .r = r};
    run_own(s, find_difference, &job);
    vec_exchange_float(&s->faces->space, s->m_u);
    vec_set_zero(s->u_space, s->e_u);
    extra->add(extra->data, s->m_u, s->e_u);
    run_own(s, add_to_residual, &job);
}

void stokes_extra_image(const stokes_solver* s, const stokes_extra* extra, int j) {
    if (extra == NULL) {
        return;
    }
    extra_job job = {.s = s, .image = s->q_u[j]};
    vec_set_zero(s->u_space, s->e_u);
    extra->add(extra->data, s->w_u, s->e_u);
    run_own(s, add_to_image, &job);
}
