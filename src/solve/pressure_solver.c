// Multigrid for pressure: V(1,1) cycles over constant aggregation, made independent of the grid's
// size by a K-cycle on the two levels below the finest (solve/cycle.h).
//
// Constant interpolation makes A' = P^T A P the same kind of operator as A, with links summed over
// coarse faces, but twice too stiff for smooth x': a slope of g a cell has the energy 8 w g^2 in
// the fine faces of a block, and 4 w (2 g)^2 in the four between two blocks. The K-cycle corrects
// this on levels 1 and 2, where it costs an eighth.
#include "solve/pressure_solver.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/body_term.h"
#include "solve/cycle.h"
#include "solve/pcg.h"
#include "solve/pressure_level.h"
#include "solve/regions.h"

enum { MAX_LEVELS = 24 };

struct pressure_solver {
    treacle_context* ctx;
    pressure_system system;
    const solve_policy* policy;
    solve_regime regime;
    int level_count;
    pressure_level level[MAX_LEVELS];
    region_set closed;
    pcg_vectors vectors;
};

// ---- Cycle ----------------------------------------------------------------------------------

// A sweep is Gauss-Seidel over tiles in two colours; see pressure_level.c.
// The hierarchy as the cycle sees it (solve/cycle.h). Bodies keep their values inside the levels,
// so vectors have no tail.
static void sweep_level(const void* data, int l, const cycle_vectors* v, bool is_reverse,
                        bool is_first) {
    const pressure_solver* s = data;
    pressure_level_smooth(&s->level[l], v->b, v->x, is_reverse, is_first);
}

static void descend_level(const void* data, int l, const cycle_vectors* v) {
    const pressure_level* level = &((const pressure_solver*)data)->level[l];
    pressure_level_restrict(level, v->b, v->x, level + 1, (level + 1)->b);
}

static void ascend_level(const void* data, int l, const cycle_vectors* coarse,
                         const cycle_vectors* v) {
    const pressure_level* level = &((const pressure_solver*)data)->level[l];
    pressure_level_prolong(level, level + 1, coarse->x, v->x);
}

static cycle_vectors vectors_of_level(const void* data, int l) {
    const pressure_level* level = &((const pressure_solver*)data)->level[l];
    return (cycle_vectors){.b = level->b, .x = level->x};
}

// Levels with a K-cycle were given two more vectors when they were made.
static bool directions_of_level(const void* data, int l, float* out[2]) {
    const pressure_level* level = &((const pressure_solver*)data)->level[l];
    out[0] = level->k[0];
    out[1] = level->k[1];
    return out[0] != NULL;
}

static double apply_level(const void* data, int l, const float* x, float* y) {
    return pressure_level_apply_float(&((const pressure_solver*)data)->level[l], x, y);
}

static const vec_space* space_of_level(const void* data, int l) {
    return &((const pressure_solver*)data)->level[l].space;
}

static level_ops ops_of(const pressure_solver* s) {
    return (level_ops){.data = s,
                       .level_count = s->level_count,
                       .bottom_sweeps = s->regime.bottom_sweeps,
                       .sweep = sweep_level,
                       .descend = descend_level,
                       .ascend = ascend_level,
                       .vectors = vectors_of_level,
                       .directions = directions_of_level,
                       .apply = apply_level,
                       .space = space_of_level};
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
    level_ops ops = ops_of(data);
    cycle_run(&ops, 0, &(cycle_vectors){.b = r, .x = z});
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
    TREACLE_ASSERT(cell >= 0);
    return solver->closed.label != NULL ? (int)solver->closed.label[cell] : REGION_NONE;
}

const solve_regime* pressure_solver_regime(const pressure_solver* solver) {
    return &solver->regime;
}

int pressure_solver_closed_count(const pressure_solver* solver) {
    return (int)solver->closed.count;
}

// ---- Making and using -----------------------------------------------------------------------

// Whether a level one coarser would still be coarsened: the bottom needs no K-cycle.
// With two tiles an axis, or with a periodic axis that has four, the next level is the last one.
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
// From the finest level down, as far as levels have ranks of their own; below, every rank has all.
static void distribute_levels(pressure_solver* s) {
    // As soon as one level is everybody's all below it are: its vectors are gathered once on the
    // way down, and coarse levels are too small to be worth a message.
    bool is_distributed = s->system.body_count == 0;
    for (int l = 0; l < s->level_count && is_distributed; ++l) {
        pressure_level_distribute(&s->level[l]);
        is_distributed = s->level[l].space.shared != NULL;
    }
}

// Asks the finest level how strong its diagonals are, and how many bodies it has.
static solve_regime find_regime(const pressure_solver* s) {
    solve_facts facts = {.has_cells = true,
                         .tiles = s->level[0].space.active_count,
                         .bodies = s->system.body_count,
                         .links = pressure_level_link_fraction(&s->level[0])};
    return regime_of(s->policy, &facts);
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
    // Bodies first: their rows count in the regime, and coarse levels take theirs from the finer
    // one.
    s->regime = find_regime(s);
    while (s->level_count < MAX_LEVELS && !s->regime.is_single) {
        const pressure_level* fine = &s->level[s->level_count - 1];
        // Each axis coarsens for itself: a flat pan still has levels along its sides.
        if (!pyramid_can_coarsen(&fine->domain, PYRAMID_EACH) || fine->space.active_count == 0) {
            break;
        }
        // K-cycles double the visits of all levels below: on two levels only, the coarsest of which
        // costs 1/64 of the finest.
        bool has_k_cycle =
            s->level_count <= s->policy->cycle.last_k_level && is_above_bottom(&fine->domain);
        TREACLE_TRY(pressure_level_coarsen(fine, has_k_cycle, &s->level[s->level_count]));
        s->level_count += 1;
    }
    distribute_levels(s);
    return TREACLE_OK;
}

// What the bodies' rows make of a constant in each closed region, and when that is nothing.
static void see_regions(const pressure_solver* s, double* row, double* floor) {
    // A row that sums to zero over a region sees no constant there, up to the rounding of the sum,
    // which is a fraction of the sum of magnitudes.
    const body_term* bodies = s->level[0].bodies;
    double fraction = s->policy->rounding.region_held;
    for (int64_t n = 0; n < bodies->row_count; ++n) {
        int32_t region = s->closed.label[bodies->site[bodies->row_site[n]].slot];
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            size_t at = (size_t)bodies->row_body[n] * BODY_MOTIONS + (size_t)i;
            floor[at] += fraction * fabs(bodies->row[n][i]);
            if (region >= 0) {
                row[at * (size_t)s->closed.count + (size_t)region] += bodies->row[n][i];
            }
        }
    }
}

static treacle_status hold_regions(pressure_solver* s) {
    // Without bodies every closed region keeps its constant, and without regions there is none to
    // hold.
    if (s->level[0].bodies == NULL || s->closed.count == 0) {
        return TREACLE_OK;
    }
    // A motion of a body is a row over regions: the net push of a unit pressure in each.
    size_t rows = (size_t)s->level[0].bodies->body_count * BODY_MOTIONS;
    size_t values = rows * ((size_t)s->closed.count + 1);
    double* row = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, values, sizeof(double), "held regions", (void**)&row));
    // One block for both: the rows by region, and behind them a floor each.
    double* floor = row + rows * (size_t)s->closed.count;
    see_regions(s, row, floor);
    treacle_status status = regions_hold(&s->closed, (int32_t)rows, row, floor);
    alloc_free(s->ctx, row, values * sizeof(double));
    return status;
}

treacle_status pressure_solver_create(treacle_context* ctx, const pressure_system* system,
                                      pressure_solver** out) {
    TREACLE_ASSERT(system->domain != NULL && system->map != NULL && system->extra != NULL);
    TREACLE_ASSERT(system->body_count >= 0 && (system->body_count == 0 || system->bodies != NULL));
    *out = NULL;
    pressure_solver* s = NULL;
    treacle_status status;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the pressure solver", (void**)&s));
    s->ctx = ctx;
    // By value: refresh makes levels anew from it.
    s->system = *system;
    s->policy = solve_policy_or_default(system->policy);
    TREACLE_TRY_GOTO(build_levels(s), fail);
    // Regions need the diagonals of the finest level, and which of them bodies hold needs both.
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
    // From the coarsest up: coarse body terms refer to finer ones.
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
        // Links stand, so colours, steps between levels and active tiles do, unless a tile has
        // gained its first unknown or lost its last: then everything is made anew.
        const pressure_level* fine = l > 0 ? &solver->level[l - 1] : NULL;
        TREACLE_TRY(pressure_level_refresh(&solver->level[l], fine, &is_same));
    }
    if (!is_same || find_regime(solver).is_single != solver->regime.is_single) {
        destroy_levels(solver);
        TREACLE_TRY(build_levels(solver));
    }
    regions_destroy(&solver->closed);
    // An extra that has come or gone opens or closes a region.
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
        // Operators read neighbours without asking whether they are unknowns: there vectors must be
        // zero.
        job->v[q] = job->level->inverse[q] > 0.0f ? job->v[q] : 0.0;
    }
}

static void mask(const pressure_level* level, double* v) {
    tile_for(level->map, &(tile_use){.reads = TILE_ALONE, .grain = 16}, mask_tiles,
             &(mask_job){level, v});
    memset(v + (size_t)level->map->count * TILE_CELLS, 0, TILE_CELLS * sizeof(double));
}

treacle_status pressure_solve(pressure_solver* solver, double* rhs, double* x,
                              const solve_params* params, solve_stats* stats) {
    TREACLE_ASSERT(rhs != x && params->max_iterations >= 0 && params->relative >= 0.0);
    TREACLE_VALIDATE(pressure_solver_is_valid(solver));
    const pressure_level* level = &solver->level[0];
    // Loops of one's own (stokes_solver.c) need no vectors of conjugate gradients: made at first
    // use.
    linop op = pressure_solver_linop(solver);
    if (solver->vectors.p == NULL) {
        TREACLE_TRY(pcg_vectors_create(&level->space, &solver->vectors));
    }
    mask(level, rhs);
    mask(level, x);
    // The system of a closed region is singular: what of b lies along its constants has no
    // solution. What is dropped is told, since in a tight container it is the flow that was asked
    // for.
    double dropped;
    TREACLE_TRY(regions_project_told(&solver->closed, rhs, &dropped));
    solve_params own = *params;
    own.policy = solver->policy;
    *stats = pcg_solve(&op, &solver->vectors, &own, rhs, x);
    stats->dropped = dropped;
    memcpy(stats->regime, solver->regime.name, sizeof(stats->regime));
    vec_publish(&level->space, rhs);
    vec_publish(&level->space, x);
    // Any constant solves: without a mean, the solution does not depend on the guess.
    return regions_project(&solver->closed, x);
}

// Every level for itself: what joins them, links that are sums of links, would cost as much as
// making them.
bool pressure_solver_is_valid(const pressure_solver* solver) {
    bool is_valid = solver->level_count >= 1 && solver->level_count <= MAX_LEVELS &&
                    solver->regime.bottom_sweeps > 0 &&
                    (!solver->regime.is_single || solver->level_count == 1);
    for (int l = 0; l < solver->level_count && is_valid; ++l) {
        const pressure_level* level = &solver->level[l];
        // Aggregates have an unknown each, so no level has more of them than the one above it.
        is_valid =
            pressure_level_is_valid(level) && (l == 0 || level->unknowns <= (level - 1)->unknowns);
    }
    return is_valid;
}
