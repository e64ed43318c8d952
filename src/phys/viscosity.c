// Implicit viscosity with the true free surface [BB08 sec. 5].
//
//     rho (u - u*) / dt = div tau,   tau = mu (grad u + grad u^T),   tau n = 0 on the surface
//
// is the minimum over u of [BB08 eq. 11]
//
//     E(u) = 1/2 sum_f rho V_f (u_f - u*_f)^2 + dt sum_s mu V_s eps : eps                  [visc.1]
//
// with eps = (grad u + grad u^T)/2, V_f the fraction of liquid of the box around a face and V_s
// that around a stress sample: cells for eps_aa, edges for eps_ab. There are no boundary rows at
// the surface: where V_s is 0 there is no stress, and that is the free surface. A rigid motion has
// eps = 0 and costs nothing. The weights are those of phys/stress.c.
//
// Properties that tests check: rigid motion is free; momentum is kept; a film's profile.
#include "phys/viscosity.h"

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "phys/flow_bodies.h"
#include "solve/viscosity_solver.h"

typedef struct visc_job {
    const stress_params* params;
    const energy_push* pushed;
    energy_part* energy;
    stress_weights weights;
    body_coupling bodies;
    size_t length;             // of a vector
    double *rhs, *u, *given_u; // [count + 1][3][512], and of bodies
    float* const* face_u;
} visc_job;

// rhs = M u*, the first guess u*, and the velocities of fixed faces.
static void load_tiles(void* data, int64_t begin, int64_t end) {
    const visc_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            for (int q = 0; q < TILE_CELLS; ++q) {
                size_t i = (size_t)t * TILE_CELLS + (size_t)q;
                size_t at = ((size_t)t * AXES + (size_t)a) * TILE_CELLS + (size_t)q;
                bool is_given = stress_face_state(&job->weights, a, (int64_t)i) == FACE_GIVEN;
                double u = (double)job->face_u[a][i];
                job->rhs[at] = stress_impulse(job->params, &job->weights, a, (int64_t)i, u);
                job->u[at] = u;
                job->given_u[at] =
                    is_given ? stress_given_velocity(job->params, a, (int64_t)i, u) : 0.0;
            }
        }
    }
}

// face_u = the solution where a face is an unknown; what holds it where it is fixed.
static void store_tiles(void* data, int64_t begin, int64_t end) {
    const visc_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            for (int q = 0; q < TILE_CELLS; ++q) {
                size_t i = (size_t)t * TILE_CELLS + (size_t)q;
                size_t at = ((size_t)t * AXES + (size_t)a) * TILE_CELLS + (size_t)q;
                bool is_unknown = job->weights.mass[a][i] > 0.0f || job->u[at] != 0.0;
                if (job->weights.fixed[i] >> a & 1) {
                    job->face_u[a][i] = (float)job->given_u[at];
                } else if (is_unknown) {
                    job->face_u[a][i] = (float)job->u[at];
                }
            }
        }
    }
}

static treacle_status solve(visc_job* job, const solve_params* want, solve_stats* stats) {
    const stress_params* p = job->params;
    treacle_context* ctx = p->map->ctx;
    tile_for(p->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, load_tiles, job);
    viscosity_system system = {.domain = p->domain,
                               .map = p->map,
                               .weights = stress_weights_view(&job->weights),
                               .body_count = job->bodies.count,
                               .bodies = job->bodies.bodies};
    size_t tail = job->length - body_coupling_tail(&job->bodies);
    viscosity_solver* solver = NULL;
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    stress_add_force(p, &job->weights, job->rhs);
    body_coupling_load(&job->bodies, p, false, job->rhs + tail, job->u + tail);
    treacle_status status = viscosity_add_fixed(solver, job->given_u, job->rhs);
    if (status == TREACLE_OK) {
        solve_params params = *want;
        params.is_warm = !viscosity_solver_is_stiff(solver);
        status = viscosity_solve(solver, job->rhs, job->u, &params, stats);
    }
    viscosity_solver_destroy(solver);
    energy_flow flow = {.liquid = p,
                        .weights = &job->weights,
                        .bodies = &job->bodies,
                        .push = job->pushed,
                        .before = job->face_u,
                        .u = job->u,
                        .motion = job->u + tail};
    if (status == TREACLE_OK) {
        status = energy_of_flow(&flow, job->energy);
    }
    if (status == TREACLE_OK) {
        tile_for(p->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, store_tiles, job);
        body_coupling_store(&job->bodies, p, &job->weights, job->u + tail, job->face_u);
    }
    return status;
}

enum { VECTORS = 3 };

treacle_status viscosity_apply(const viscosity_params* params, float* const face_u[AXES],
                               solve_stats* stats, energy_part* energy) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    TREACLE_ASSERT(params->liquid.dt > 0.0 && isfinite(params->liquid.dt));
    TREACLE_ASSERT(stats != NULL && energy != NULL);
    const stress_params* p = &params->liquid;
    treacle_context* ctx = p->map->ctx;
    size_t values = ((size_t)p->map->count + 1) * TILE_CELLS;
    visc_job job = {.params = p, .pushed = &params->pushed, .energy = energy, .face_u = face_u};
    void* vectors = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(stress_weights_create(p, &job.weights), finish);
    TREACLE_TRY_GOTO(body_coupling_create(p, &job.weights, face_u, &job.bodies), finish);
    job.length = AXES * values + body_coupling_tail(&job.bodies);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, VECTORS * job.length, sizeof(double), "viscosity vectors", &vectors),
        finish);
    job.rhs = vectors;
    job.u = job.rhs + job.length;
    job.given_u = job.u + job.length;
    TREACLE_TRY_GOTO(solve(&job, &params->solve, stats), finish);
finish:
    stress_weights_destroy(p, &job.weights);
    alloc_free(ctx, vectors, VECTORS * job.length * sizeof(double));
    body_coupling_destroy(&job.bodies);
    return status;
}
