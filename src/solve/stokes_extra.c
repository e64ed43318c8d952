// What a linearised law adds to the operator of the Stokes solver.
#include "grid/tile_loop.h"
#include "solve/stokes_internal.h"

// Newton's method for a law of viscosity adds E = d(stress)/du - viscosity to A, about the velocity
// of the pass before. E is the law's own business (phys/tangent.c) and comes as a function that
// adds E v; here it enters residuals and images. It is not symmetric in general, and no part of the
// preconditioner.
typedef struct extra_job {
    const stokes_solver* s;
    const double *u, *about;
    double* r;
    float* image;
} extra_job;

// E is known at own tiles alone; what other ranks have of it they work out themselves.
static void run_own(const stokes_solver* s, parallel_fcn* fcn, extra_job* job) {
    const vec_space* space = &s->faces->space;
    tile_subset active = {space->shared, space->active_count, space->active};
    tile_for_subset(s->ctx, &active, 8, fcn, job);
}

treacle_status stokes_extra_create(stokes_solver* s, const stokes_extra* extra) {
    // Most laws are Newtonian: the vector is made when a law that is not asks for it first.
    bool is_needed = extra != NULL && s->vec.e_u == NULL;
    return is_needed ? vec_create(s->u_space, "what a law adds", &s->vec.e_u) : TREACLE_OK;
}

// m_u = u - about, rounded: the difference is small where that matters.
static void find_difference(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    // m_u is free here: it holds a weighted image only while products are taken.
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            job->s->vec.m_u[i] = inverse[i] > 0.0f ? (float)(job->u[i] - job->about[i]) : 0.0f;
        }
    }
}

// What E added beside unknowns is nobody's: fixed faces have no row.
static void add_to_residual(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            job->r[i] -= inverse[i] > 0.0f ? job->s->vec.e_u[i] : 0.0;
        }
    }
}

// The image of a direction has A z in it already, in float.
static void add_to_image(void* data, int64_t begin, int64_t end) {
    const extra_job* job = data;
    const float* inverse = job->s->faces->inverse;
    for (int64_t n = begin; n < end; ++n) {
        int64_t t = job->s->faces->active[n];
        for (int64_t i = t * VISCOSITY_BLOCK; i < (t + 1) * VISCOSITY_BLOCK; ++i) {
            if (inverse[i] > 0.0f) {
                // Rounded once, after the sum: E and the viscosity part may cancel where a law
                // softens.
                job->image[i] = (float)((double)job->image[i] + job->s->vec.e_u[i]);
            }
        }
    }
}

void stokes_extra_residual(const stokes_solver* s, const stokes_extra* extra, const double* u,
                           double* r) {
    // r = f - A u - E (u - about): A u is in r already.
    if (extra == NULL) {
        return;
    }
    extra_job job = {.s = s, .u = u, .about = extra->about, .r = r};
    // E reads strains, which reach into neighbouring tiles: own ones first, then those of other
    // ranks.
    run_own(s, find_difference, &job);
    vec_exchange_float(&s->faces->space, s->vec.m_u);
    vec_set_zero(s->u_space, s->vec.e_u);
    extra->add(extra->data, s->vec.m_u, s->vec.e_u);
    run_own(s, add_to_residual, &job);
}

void stokes_extra_image(const stokes_solver* s, const stokes_extra* extra, int j) {
    if (extra == NULL) {
        return;
    }
    // The direction is in w_u, with its halo, from the preconditioner on.
    extra_job job = {.s = s, .image = s->dir.q_u[j]};
    vec_set_zero(s->u_space, s->vec.e_u);
    extra->add(extra->data, s->vec.w_u, s->vec.e_u);
    run_own(s, add_to_image, &job);
}
