// Multigrid for pressure: V(1,1) cycles over constant aggregation, made independent of the grid's
// size by a K-cycle [NV08] on the two levels below the finest.
//
//     level l:  x = S b            one sweep of Gauss-Seidel from zero
//               b' = P^T (b - A x) sums over 2 x 2 x 2 blocks
//               x' ~ A'^-1 b'      recursion
//               x += P x'
//               x = S^T ...        the same sweep in reverse order
//
// Constant interpolation makes A' = P^T A P the same kind of operator as A, with links summed over
// coarse faces, but twice too stiff for smooth x'. The K-cycle corrects this: on levels 1 and 2 the
// recursion is two steps of conjugate gradients, each preconditioned by a cycle, which find the
// right length by themselves. The price is a preconditioner that depends on its argument a little,
// so the outer loop is the flexible one.
#include "solve/pressure_solver.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_ranks.h"
#include "solve/body_term.h"
#include "solve/pcg.h"
#include "solve/pressure_level.h"
#include "solve/regions.h"

enum {
    MAX_LEVELS = 24,
    LAST_K_LEVEL = 2,
    CROWD = 16,         // bodies, beyond which their systems are the cost of a sweep at the bottom
    BOTTOM_SWEEPS = 10, // forward, and as many back
    BOTTOM_SWEEPS_CROWDED = 4,
};

// Up to this share of links in every diagonal the coarser levels do not pay.
static const double single_share = 0.5;

// Of the sum of a body's rows over all cells: less than this is rounding.
static const double held_floor = 1e-9;

struct pressure_solver {
    treacle_context* ctx;
    pressure_system system;
    bool is_single; // the diagonal is so strong that a sweep and its reverse do
    int level_count;
    pressure_level level[MAX_LEVELS];
    region_set closed;
    pcg_vectors vectors;
};

// ---- Cycle ----------------------------------------------------------------------------------

static void cycle(const pressure_solver* s, int l, const float* b, float* x);

static void solve_bottom(const pressure_level* level, int sweeps, const float* b, float* x) {
    for (int n = 0; n < sweeps; ++n) {
        pressure_level_smooth(level, b, x, false, n == 0);
    }
    for (int n = 0; n < sweeps; ++n) {
        pressure_level_smooth(level, b, x, true, false);
    }
}

// Two steps of conjugate gradients on level l, whose b it uses up. With z1 = B b, q1 = A z1 and
// z2 = B (b - a q1), x is the combination of z1 and z2 of least energy error.
static void k_cycle(const pressure_solver* s, int l) {
    const pressure_level* level = &s->level[l];
    const vec_space* space = &level->space;
    float *z1 = level->k[0], *q1 = level->k[1], *z2 = level->x;
    cycle(s, l, level->b, z1);
    double energy1 = pressure_level_apply_float(level, z1, q1);
    double slope1 = vec_dot_float(space, z1, level->b);
    if (!(energy1 > 0.0)) {
        vec_set_zero_float(space, z2);
        return;
    }
    vec_combine_float(space, (float)(-slope1 / energy1), q1, 1.0f, level->b);
    cycle(s, l, level->b, z2);
    double energy2 = pressure_level_apply_float(level, z2, NULL);
    double cross = vec_dot_float(space, z2, q1);
    double slope2 = vec_dot_float(space, z2, level->b);
    double reduced = energy2 - cross * cross / energy1;
    double c2 = reduced > 0.0 ? slope2 / reduced : 0.0;
    double c1 = (slope1 - cross * c2) / energy1;
    vec_combine_float(space, (float)c1, z1, (float)c2, z2);
}

static void cycle(const pressure_solver* s, int l, const float* b, float* x) {
    const pressure_level *level = &s->level[l], *coarse = level + 1;
    if (l + 1 == s->level_count) {
        bool is_crowded = level->bodies != NULL && level->bodies->body_count > CROWD;
        int sweeps = is_crowded ? BOTTOM_SWEEPS_CROWDED : BOTTOM_SWEEPS;
        solve_bottom(level, s->is_single ? 1 : sweeps, b, x);
        return;
    }
    pressure_level_smooth(level, b, x, false, true);
    pressure_level_restrict(level, b, x, coarse, coarse->b);
    if (coarse->k[0] != NULL) {
        k_cycle(s, l + 1);
    } else {
        cycle(s, l + 1, coarse->b, coarse->x);
    }
    pressure_level_prolong(level, coarse, coarse->x, x);
    pressure_level_smooth(level, b, x, true, false);
}

// ---- Operator -------------------------------------------------------------------------------

static double apply(const void* data, const double* x, double* y) {
    const pressure_solver* s = data;
    return pressure_level_apply(&s->level[0], x, y);
}

static double apply_rounded(const void* data, const float* x, double* y) {
    const pressure_solver* s = data;
    return pressure_level_apply_rounded(&s->level[0], x, y);
}

static void diagonal(const void* data, double* d) {
    const pressure_solver* s = data;
    pressure_level_diagonal(&s->level[0], d);
}

static void precondition(const void* data, const float* r, float* z) {
    cycle(data, 0, r, z);
}

linop pressure_solver_linop(const pressure_solver* solver) {
    return (linop){.space = &solver->level[0].space,
                   .data = solver,
                   .unknowns = solver->level[0].unknowns,
                   .apply = apply,
                   .apply_rounded = apply_rounded,
                   .diagonal = diagonal,
                   .precondition = precondition,
                   .is_flexible = true};
}

treacle_status pressure_solver_project(const pressure_solver* solver, double* v) {
    return regions_project(&solver->closed, v);
}

const pressure_level* pressure_solver_finest(const pressure_solver* solver) {
    return &solver->level[0];
}

int pressure_solver_region_of(const pressure_solver* solver, int64_t cell) {
    return solver->closed.label != NULL ? (int)solver->closed.label[cell] : REGION_NONE;
}

int pressure_solver_closed_count(const pressure_solver* solver) {
    return (int)solver->closed.count;
}

// ---- Making and using -----------------------------------------------------------------------

// Whether a level one coarser would still be coarsened: the bottom needs no K-cycle.
static bool is_above_bottom(const grid_domain* domain) {
    bool is_above = false;
    for (int a = 0; a < AXES; ++a) {
        int32_t tiles = domain->tiles[a];
        is_above = is_above || (domain->is_periodic[a] ? tiles % 4 == 0 && tiles > 4
                                                       : domain->is_active[a] && tiles > 2);
    }
    return is_above;
}

// Fine levels are shared out among ranks; everybody has the coarse ones, from the first on whose
// tiles have children on several ranks. Bodies reach anywhere: with them everybody has all.
static void share_levels(pressure_solver* s) {
    bool is_shared = s->system.body_count == 0;
    for (int l = 0; l < s->level_count && is_shared; ++l) {
        pressure_level_share(&s->level[l]);
        is_shared = s->level[l].space.shared != NULL;
    }
}

static treacle_status build_levels(pressure_solver* s) {
    const pressure_system* system = &s->system;
    TREACLE_TRY(pressure_level_create(s->ctx, system->domain, system->map, system->link,
                                      system->extra, &s->level[0]));
    s->level_count = 1;
    if (system->body_count > 0) {
        body_term* bodies = NULL;
        TREACLE_TRY(body_term_create(&s->level[0], system->body_count, system->bodies, &bodies));
        TREACLE_TRY(pressure_level_attach(&s->level[0], bodies));
    }
    s->is_single = pressure_level_link_share(&s->level[0]) <= single_share;
    while (s->level_count < MAX_LEVELS && !s->is_single) {
        const pressure_level* fine = &s->level[s->level_count - 1];
        if (!pyramid_can_coarsen(&fine->domain, PYRAMID_EACH) || fine->space.active_count == 0) {
            break;
        }
        bool has_k_cycle = s->level_count <= LAST_K_LEVEL && is_above_bottom(&fine->domain);
        TREACLE_TRY(pressure_level_coarsen(fine, has_k_cycle, &s->level[s->level_count]));
        s->level_count += 1;
    }
    share_levels(s);
    return TREACLE_OK;
}

// What the bodies' rows make of a constant in each closed region, and when that is nothing.
static void see_regions(const pressure_solver* s, double* row, double* floor) {
    const body_term* bodies = s->level[0].bodies;
    for (int64_t n = 0; n < bodies->row_count; ++n) {
        int32_t region = s->closed.label[bodies->site[bodies->row_site[n]].slot];
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            size_t at = (size_t)bodies->row_body[n] * BODY_MOTIONS + (size_t)i;
            floor[at] += held_floor * fabs(bodies->row[n][i]);
            if (region >= 0) {
                row[at * (size_t)s->closed.count + (size_t)region] += bodies->row[n][i];
            }
        }
    }
}

static treacle_status hold_regions(pressure_solver* s) {
    if (s->level[0].bodies == NULL || s->closed.count == 0) {
        return TREACLE_OK;
    }
    size_t rows = (size_t)s->level[0].bodies->body_count * BODY_MOTIONS;
    size_t values = rows * ((size_t)s->closed.count + 1);
    double* row = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, values, sizeof(double), "held regions", (void**)&row));
    double* floor = row + rows * (size_t)s->closed.count;
    see_regions(s, row, floor);
    treacle_status status = regions_hold(&s->closed, (int32_t)rows, row, floor);
    alloc_free(s->ctx, row, values * sizeof(double));
    return status;
}

treacle_status pressure_solver_create(treacle_context* ctx, const pressure_system* system,
                                      pressure_solver** out) {
    *out = NULL;
    pressure_solver* s = NULL;
    treacle_status status;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the pressure solver", (void**)&s));
    s->ctx = ctx;
    s->system = *system;
    TREACLE_TRY_GOTO(build_levels(s), fail);
    TREACLE_TRY_GOTO(regions_create(&s->level[0], &s->closed), fail);
    TREACLE_TRY_GOTO(hold_regions(s), fail);
    *out = s;
    return TREACLE_OK;
fail:
    pressure_solver_destroy(s);
    return status;
}

static void destroy_levels(pressure_solver* solver) {
    pcg_vectors_destroy(&solver->level[0].space, &solver->vectors);
    regions_destroy(&solver->closed);
    for (int l = solver->level_count - 1; l >= 0; --l) {
        pressure_level_destroy(&solver->level[l]);
    }
    solver->level_count = 0;
}

void pressure_solver_destroy(pressure_solver* solver) {
    if (solver == NULL) {
        return;
    }
    destroy_levels(solver);
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

// Bodies hold copies of the diagonals beside them, and the factors of what these make of them:
// their levels are made anew.
treacle_status pressure_solver_refresh(pressure_solver* solver) {
    bool is_same = solver->system.body_count == 0;
    for (int l = 0; l < solver->level_count && is_same; ++l) {
        const pressure_level* fine = l > 0 ? &solver->level[l - 1] : NULL;
        TREACLE_TRY(pressure_level_refresh(&solver->level[l], fine, &is_same));
    }
    bool is_single = pressure_level_link_share(&solver->level[0]) <= single_share;
    if (!is_same || is_single != solver->is_single) {
        destroy_levels(solver);
        TREACLE_TRY(build_levels(solver));
    }
    regions_destroy(&solver->closed);
    TREACLE_TRY(regions_create(&solver->level[0], &solver->closed));
    return hold_regions(solver);
}

typedef struct mask_job {
    const pressure_level* level;
    double* v;
} mask_job;

static void mask_tiles(void* data, int64_t begin, int64_t end) {
    const mask_job* job = data;
    for (int64_t q = begin * TILE_CELLS; q < end * TILE_CELLS; ++q) {
        job->v[q] = job->level->inverse[q] > 0.0f ? job->v[q] : 0.0;
    }
}

static void mask(const pressure_level* level, double* v) {
    tile_for_held(level->map, 16, mask_tiles, &(mask_job){level, v});
    memset(v + (size_t)level->map->count * TILE_CELLS, 0, TILE_CELLS * sizeof(double));
}

treacle_status pressure_solve(pressure_solver* solver, double* rhs, double* x,
                              const solve_params* params, solve_stats* stats) {
    const pressure_level* level = &solver->level[0];
    linop op = pressure_solver_linop(solver);
    if (solver->vectors.p == NULL) {
        TREACLE_TRY(pcg_vectors_create(&level->space, &solver->vectors));
    }
    mask(level, rhs);
    mask(level, x);
    double dropped;
    TREACLE_TRY(regions_project_told(&solver->closed, rhs, &dropped));
    *stats = pcg_solve(&op, &solver->vectors, params, rhs, x);
    stats->dropped = dropped;
    vec_share(&level->space, rhs);
    vec_share(&level->space, x);
    return regions_project(&solver->closed, x);
}
