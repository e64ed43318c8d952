// What pressure will do to particles on their way: the second order in time of the splitting.
//
// In a step particles move first and keep their velocity; the flow then turns it [BB08 sec. 7].
// Motion on a circle so loses 1 - cos(w dt) of its speed in every step. Here particles carry
//
//     v = u - (dt/2) grad phi,   div grad phi = - div (u . grad u) = - tr(C C),   C = grad u
//                                                                                     [foresee.1]
//
// instead of u: half of what the motion itself, not gravity or other forces, will ask of the
// pressure. phi = 0 on the surface, so that the next solve takes all of it out again where it finds
// the liquid as it was; but what the motion has turned is now in the middle of the step. Of a
// rotation cos t + (t/2) sin t = 1 - t^4/24 is left.
//
// Where liquid collides C dt is not small, and its square says nothing about the step: tr(C C) dt^2
// is at most FORESEE_MAX, a rotation by half a radian.                                [foresee.2]
//
// Discretised with the system of the projection and x = dt phi/(2 h): sum w (x_i - x_j) =
// (dt h/2) tr(C C) at liquid cells. The diagonal of C is exact there; others are means of the
// differences around the cell, of those between faces whose velocity the flow has found.
//
// Staggering: x, C at cells, u and the impulse on faces. Properties that tests check: a rotation
// keeps its angular momentum; uniform motion and rest stay as they are.
// Where liquid fills a curved wall the pressure of the wall is not foreseen, and nothing is gained.
#include "phys/foresee.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

#define FORESEE_MAX 0.5
// The tolerance of the solve, as a part of the first residual: an error is the gradient of
// something that vanishes on the surface, and the next solve takes that out with the rest.
#define FORESEE_TOLERANCE 0.05
enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct foresee_job {
    const foresee_params* of;
    double* rhs;
} foresee_job;

// Mean of the differences of component a along b, at the four edges around a cell; those that are
// known.
static double foresee_slope_at(const float* u, int a, int b, int at) {
    double sum = 0.0, count = 0.0;
    for (int k = 0; k < 4; ++k) {
        int face = at + (k & 1) * step_of[a] - (k >> 1) * step_of[b];
        double slope = (double)u[face + step_of[b]] - (double)u[face];
        sum += isfinite(slope) ? slope : 0.0;
        count += isfinite(slope) ? 1.0 : 0.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

// tr(C C) h^2
static double source_at(const grid_domain* domain, float (*u)[VALUES], int at) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (!domain->is_active[a]) {
            continue;
        }
        double own = (double)u[a][at + step_of[a]] - (double)u[a][at];
        sum += isfinite(own) ? own * own : 0.0;
        int b = (a + 1) % AXES;
        if (domain->is_active[b]) {
            sum += 2.0 * foresee_slope_at(u[a], a, b, at) * foresee_slope_at(u[b], b, a, at);
        }
    }
    return sum;
}

static void find_sources(void* data, int64_t begin, int64_t end) {
    const foresee_job* job = data;
    const projection_params* system = job->of->system->params;
    const tile_map* map = system->map;
    const grid_domain* domain = system->domain;
    double scale = 0.5 * job->of->dt / domain->h;
    double speed = domain->h / job->of->dt, most = FORESEE_MAX * speed * speed;
    for (int64_t t = begin; t < end; ++t) {
        float u[AXES][VALUES];
        for (int a = 0; a < AXES; ++a) {
            gather_block(map, job->of->u.at[a], (tile_ix)t, 1, 1, u[a]);
        }
        for (int i = 0; i < TILE_CELLS; ++i) {
            size_t cell = (size_t)t * TILE_CELLS + (size_t)i;
            int at = BLOCK_INDEX(1, 1, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                 i / TILE_SIZE / TILE_SIZE);
            bool is_liquid = system->cell_phi[cell] < 0.0f;
            double source = is_liquid ? source_at(domain, u, at) : 0.0;
            job->rhs[cell] = scale * fmin(fmax(source, -most), most);
        }
    }
}

treacle_status foresee_impulse(const foresee_params* params, float* const impulse[AXES],
                               solve_stats* stats) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->system->params != NULL && params->scratch != NULL);
    TREACLE_ASSERT(impulse[0] != NULL && impulse[0] != params->u.at[0]);
    TREACLE_ASSERT(impulse[1] != NULL && impulse[1] != params->u.at[1]);
    TREACLE_ASSERT(impulse[2] != NULL && impulse[2] != params->u.at[2]);
    const tile_map* map = params->system->params->map;
    size_t values = tile_map_values(map);
    foresee_job job = {.of = params};
    double* x = NULL;
    TREACLE_TRY(arena_take_zero(params->scratch, values, sizeof(double), "sources of pressure",
                                (void**)&job.rhs));
    TREACLE_TRY(
        arena_take_zero(params->scratch, values, sizeof(double), "pressure to come", (void**)&x));
    tile_for(
        map,
        &(tile_use){.reads = TILE_AROUND,
                    .grain = 4,
                    .writes = {tile_block(job.rhs, TILE_CELLS * sizeof(double), TILE_TO_HOLDERS)}},
        find_sources, &job);
    projection system = *params->system;
    projection_params cold = *params->system->params;
    cold.solve.is_warm = false;
    cold.solve.relative = fmax(cold.solve.relative, FORESEE_TOLERANCE);
    system.params = &cold;
    TREACLE_TRY(projection_solve(&system, job.rhs, x, stats));
    projection_subtract_gradient(&system, x, impulse);
    return TREACLE_OK;
}
