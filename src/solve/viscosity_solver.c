// Multigrid for viscosity: V(1,1) cycles.
//
// Aggregation fails here: constant blocks see only one in four of the shears that couple two
// components, so rotations become stiff. Instead each level has the factored operator with
// restricted weights, for which rigid motions stay exactly free, and linear interpolation.
//
// What only mass resists, the rigid motions of free bodies, is taken out by a coarse space of its
// own (solve/rigid_space.h). Where threads or sheets bend softly the cycle is slow even so: then,
// within the solve, that space is replaced by one with the motions of every connected piece of
// every tile.
#include "solve/viscosity_solver.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/pcg.h"
#include "solve/rigid_space.h"

enum {
    MAX_LEVELS = 24,
    BOTTOM_SWEEPS = 20, // forward, and as many back
    SMALL_TILES = 16,
};

struct viscosity_solver {
    treacle_context* ctx;
    bool is_single; // the mass is so strong that a sweep and its reverse do
    int level_count;
    viscosity_level level[MAX_LEVELS];
    pcg_vectors vectors;
    drag_term* drag;     // of bodies; may be NULL
    vec_space space;     // with them
    rigid_space* rigid;  // may be NULL
    bool has_pieces;     // rigid is that of pieces
    rigid_space* bodies; // that of free bodies where rigid is not; may be NULL
    bool has_bodies;     // they were looked for
};

// Up to this weight of stress against mass the coarser levels do not pay, on few tiles later.
static const double single_weight = 0.201, single_weight_small = 2.0;
// Below this weight of stress against mass rigid motions are no softer than others.
static const double rigid_weight = 10.0;
// More iterations than this and the space of pieces pays.
static const double patience = 20.0;

static void cycle(const viscosity_solver* s, int l, const float* b, float* x) {
    const viscosity_level *level = &s->level[l], *coarse = level + 1;
    bool is_bottom = l + 1 == s->level_count;
    int sweeps = is_bottom && !s->is_single ? BOTTOM_SWEEPS : 1;
    vec_set_zero_float(&level->space, x);
    for (int n = 0; n < sweeps; ++n) {
        viscosity_level_smooth(level, b, x, false);
    }
    if (!is_bottom) {
        viscosity_level_restrict(level, b, x, coarse);
        cycle(s, l + 1, coarse->b, coarse->x);
        viscosity_level_prolong(level, coarse, x);
    }
    for (int n = 0; n < sweeps; ++n) {
        viscosity_level_smooth(level, b, x, true);
    }
}

const viscosity_level* viscosity_solver_finest(const viscosity_solver* solver) {
    return &solver->level[0];
}

static const vec_space* space_of(const viscosity_solver* s) {
    return s->drag != NULL ? &s->space : &s->level[0].space;
}

// Where the unknowns of bodies begin in a vector.
static int64_t tail_of(const viscosity_solver* s) {
    return ((int64_t)s->level[0].map->count + 1) * VISCOSITY_BLOCK;
}

static double apply(const void* data, const double* x, double* y) {
    const viscosity_solver* s = data;
    double energy = viscosity_level_apply(&s->level[0], x, y);
    return s->drag == NULL ? energy : energy + drag_term_apply(s->drag, tail_of(s), x, y);
}

static double apply_rounded(const void* data, const float* x, double* y) {
    const viscosity_solver* s = data;
    double energy = viscosity_level_apply_rounded(&s->level[0], x, y);
    return s->drag == NULL ? energy : energy + drag_term_apply_rounded(s->drag, tail_of(s), x, y);
}

static void diagonal(const void* data, double* d) {
    const viscosity_solver* s = data;
    viscosity_level_diagonal(&s->level[0], d);
    if (s->drag != NULL) {
        drag_term_diagonal(s->drag, d + tail_of(s));
    }
}

static void precondition(const void* data, const float* r, float* z) {
    const viscosity_solver* s = data;
    cycle(s, 0, r, z);
    if (s->rigid != NULL) {
        rigid_space_correct(s->rigid, r, z);
    }
    if (s->drag != NULL) {
        drag_term_precondition(s->drag, r + tail_of(s), z + tail_of(s));
    }
}

linop viscosity_solver_linop(const viscosity_solver* solver) {
    int32_t bodies = solver->drag != NULL ? drag_term_body_count(solver->drag) : 0;
    return (linop){.space = space_of(solver),
                   .data = solver,
                   .unknowns = solver->level[0].unknowns + bodies * (double)BODY_MOTIONS,
                   .apply = apply,
                   .apply_rounded = apply_rounded,
                   .diagonal = diagonal,
                   .precondition = precondition,
                   .is_flexible = solver->rigid != NULL};
}

static treacle_status build_levels(viscosity_solver* s, const viscosity_system* system) {
    TREACLE_TRY(viscosity_level_create(s->ctx, system->domain, system->map, &system->weights,
                                       &s->level[0]));
    s->level_count = 1;
    bool is_small = s->level[0].space.active_count <= SMALL_TILES;
    bool is_soft =
        viscosity_level_largest(&s->level[0]) <= (is_small ? single_weight_small : single_weight);
    s->is_single =
        system->depth == VISCOSITY_DEPTH_FIT ? is_soft : system->depth == VISCOSITY_DEPTH_ONE;
    if (s->is_single) {
        viscosity_level_sweep_once(&s->level[0]);
    }
    while (s->level_count < MAX_LEVELS && !s->is_single) {
        viscosity_level* fine = &s->level[s->level_count - 1];
        if (!pyramid_can_coarsen(&fine->domain, PYRAMID_TOGETHER) ||
            fine->space.active_count == 0) {
            break;
        }
        TREACLE_TRY(viscosity_level_coarsen(fine, &s->level[s->level_count]));
        viscosity_level_end_setup(fine);
        s->level_count += 1;
    }
    viscosity_level_end_setup(&s->level[s->level_count - 1]);
    return TREACLE_OK;
}

treacle_status viscosity_solver_create(treacle_context* ctx, const viscosity_system* system,
                                       viscosity_solver** out) {
    *out = NULL;
    viscosity_solver* s = NULL;
    treacle_status status;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the viscosity solver", (void**)&s));
    s->ctx = ctx;
    TREACLE_TRY_GOTO(build_levels(s, system), fail);
    if (viscosity_level_largest(&s->level[0]) > rigid_weight) {
        TREACLE_TRY_GOTO(
            rigid_space_create(&s->level[0], system->weights.whole, RIGID_SCOPE_GRID, &s->rigid),
            fail);
        s->has_bodies = true;
    }
    *out = s;
    return TREACLE_OK;
fail:
    viscosity_solver_destroy(s);
    return status;
}

treacle_status viscosity_solver_add_bodies(viscosity_solver* solver, int32_t body_count,
                                           const drag_body* bodies) {
    const viscosity_level* level = &solver->level[0];
    TREACLE_TRY(vec_space_create(solver->ctx, level->map->count, VISCOSITY_BLOCK,
                                 body_count * BODY_MOTIONS, &solver->space));
    solver->space.active = level->space.active;
    solver->space.active_count = level->space.active_count;
    return drag_term_create(level, body_count, bodies, &solver->drag);
}

void viscosity_solver_destroy(viscosity_solver* solver) {
    if (solver == NULL) {
        return;
    }
    rigid_space_destroy(solver->rigid);
    rigid_space_destroy(solver->bodies);
    pcg_vectors_destroy(space_of(solver), &solver->vectors);
    drag_term_destroy(solver->drag);
    vec_space_destroy(&solver->space);
    for (int l = solver->level_count - 1; l >= 0; --l) {
        viscosity_level_destroy(&solver->level[l]);
    }
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

treacle_status viscosity_add_fixed(const viscosity_solver* solver, const double* fixed,
                                   double* rhs) {
    const vec_space* space = space_of(solver);
    double* change = NULL;
    TREACLE_TRY(vec_create(space, "forces of walls", &change));
    apply(solver, fixed, change);
    vec_add_scaled(space, -1.0, change, rhs);
    vec_destroy(space, change);
    return TREACLE_OK;
}

typedef struct mask_job {
    const viscosity_level* level;
    double* v;
} mask_job;

static void mask_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const mask_job* job = data;
    (void)worker;
    for (int64_t q = begin * VISCOSITY_BLOCK; q < end * VISCOSITY_BLOCK; ++q) {
        job->v[q] = job->level->inverse[q] > 0.0f ? job->v[q] : 0.0;
    }
}

static void mask(const viscosity_level* level, double* v) {
    parallel_for(level->ctx, level->map->count, 8, mask_tiles, &(mask_job){level, v});
    memset(v + (size_t)level->map->count * VISCOSITY_BLOCK, 0, VISCOSITY_BLOCK * sizeof(double));
}

// x += the rigid motions that b - A x asks for. After that the residual has no part in them, and
// the correction in every cycle keeps it so.
static void start_rigid(viscosity_solver* solver, const double* b, double* x) {
    double* r = solver->vectors.q;
    apply(solver, x, r);
    vec_subtract_from(space_of(solver), b, r);
    rigid_space_project(solver->rigid, r, x);
}

static solve_stats run(viscosity_solver* solver, double* rhs, double* u, solve_params params) {
    linop op = viscosity_solver_linop(solver);
    if (solver->rigid != NULL) {
        if (!params.is_warm) {
            vec_set_zero(op.space, u);
        }
        start_rigid(solver, rhs, u);
        params.is_warm = true;
    }
    return pcg_solve(&op, &solver->vectors, &params, rhs, u);
}

bool viscosity_solver_is_stiff(const viscosity_solver* solver) {
    return solver->rigid != NULL;
}

bool viscosity_solver_has_pieces(const viscosity_solver* solver) {
    return solver->has_pieces;
}

treacle_status viscosity_solver_add_pieces(viscosity_solver* solver) {
    rigid_space_destroy(solver->bodies);
    solver->bodies = solver->rigid;
    solver->rigid = NULL;
    solver->has_pieces = true;
    return rigid_space_create(&solver->level[0], solver->level[0].weights.whole, RIGID_SCOPE_TILE,
                              &solver->rigid);
}

treacle_status viscosity_solver_move_bodies(viscosity_solver* solver, const double* r, double* x,
                                            bool* has_moved) {
    const viscosity_level* level = &solver->level[0];
    if (!solver->has_bodies) {
        TREACLE_TRY(
            rigid_space_create(level, level->weights.whole, RIGID_SCOPE_GRID, &solver->bodies));
        solver->has_bodies = true;
    }
    const rigid_space* bodies =
        solver->rigid != NULL && !solver->has_pieces ? solver->rigid : solver->bodies;
    *has_moved = bodies != NULL;
    if (bodies != NULL) {
        rigid_space_project(bodies, r, x);
    }
    return TREACLE_OK;
}

// `stats` of a solve that went on from where `before` ended.
static void prepend(const solve_stats* before, solve_stats* stats) {
    int kept = before->history_count - 1, room = SOLVE_HISTORY - kept;
    int added = stats->history_count < room ? stats->history_count : room;
    memmove(stats->history + kept, stats->history, (size_t)added * sizeof(double));
    memcpy(stats->history, before->history, (size_t)kept * sizeof(double));
    stats->history_count = kept + added;
    stats->iterations += before->iterations;
    stats->seconds += before->seconds;
}

treacle_status viscosity_solve(viscosity_solver* solver, double* rhs, double* u,
                               const solve_params* params, solve_stats* stats) {
    const viscosity_level* level = &solver->level[0];
    solve_params first = *params;
    if (solver->vectors.p == NULL) {
        TREACLE_TRY(pcg_vectors_create(space_of(solver), &solver->vectors));
    }
    mask(level, rhs);
    mask(level, u);
    first.patience = solver->has_pieces ? 0.0 : patience;
    *stats = run(solver, rhs, u, first);
    if (!stats->is_slow) {
        return TREACLE_OK;
    }
    solve_params rest = *params;
    solve_stats before = *stats;
    rest.is_warm = true;
    rest.max_iterations -= before.iterations;
    apply(solver, u, solver->vectors.q);
    vec_add_scaled(space_of(solver), 1.0, solver->vectors.q, rhs);
    TREACLE_TRY(viscosity_solver_add_pieces(solver));
    *stats = run(solver, rhs, u, rest);
    prepend(&before, stats);
    return TREACLE_OK;
}
