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
//
// Bodies are unknowns on all levels, the same six, so they pass between levels as they are; and the
// rigid motions of a free aggregate move the bodies in it, too.
#include "solve/viscosity_solver.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_ranks.h"
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
    int32_t body_count;
    drag_term* drag[MAX_LEVELS]; // of bodies; NULL without
    float* tails;                // [levels - 1][2][body_count][6]: b and x of coarse levels
    double* rest;                // [body_count][6]
    vec_space space;             // with bodies
    rigid_body_list list;        // of the coarse spaces
    rigid_space* rigid;          // may be NULL
    bool has_pieces;             // rigid is that of pieces
    rigid_space* bodies;         // that of free bodies where rigid is not; may be NULL
    bool has_bodies;             // they were looked for
};

// Up to this weight of stress against mass the coarser levels do not pay, on few tiles later.
static const double single_weight = 0.201, single_weight_small = 2.0;
// Below this weight of stress against mass rigid motions are no softer than others.
static const double rigid_weight = 10.0;
// More iterations than this and the space of pieces pays.
static const double patience = 20.0;

// A level's vectors: of faces, and of bodies where there are some.
typedef struct level_vectors {
    const float* b;
    float* x;
    const float* b_tail;
    float* x_tail;
} level_vectors;

static drag_cycle bodies_of(const level_vectors* v) {
    return (drag_cycle){v->b_tail, v->x, v->x_tail};
}

static size_t tail_values(const viscosity_solver* s) {
    return (size_t)s->body_count * BODY_MOTIONS;
}

static level_vectors coarse_vectors(const viscosity_solver* s, int l) {
    const viscosity_level* level = &s->level[l];
    float* tail = s->tails != NULL ? s->tails + 2 * (size_t)(l - 1) * tail_values(s) : NULL;
    float* second = tail != NULL ? tail + tail_values(s) : NULL;
    return (level_vectors){level->b, level->x, tail, second};
}

// Faces, then bodies; in reverse bodies, then faces.
static void sweep(const viscosity_solver* s, int l, const level_vectors* v, bool is_reverse) {
    drag_cycle at = bodies_of(v);
    if (s->drag[l] != NULL && is_reverse) {
        drag_term_relax(s->drag[l], &at, true);
    }
    viscosity_level_smooth(&s->level[l], v->b, v->x, is_reverse);
    if (s->drag[l] != NULL && !is_reverse) {
        drag_term_relax(s->drag[l], &at, false);
    }
}

// The residual of level l to the next: coarse faces of bodies pass theirs on to them.
static void descend(const viscosity_solver* s, int l, const level_vectors* v) {
    viscosity_level_restrict(&s->level[l], v->b, v->x, &s->level[l + 1]);
    if (s->drag[l] != NULL) {
        drag_cycle at = bodies_of(v);
        float* b = s->tails + 2 * (size_t)l * tail_values(s);
        drag_term_residual(s->drag[l], &at, s->rest);
        drag_term_gather(s->drag[l + 1], s->level[l + 1].b, s->rest);
        for (size_t i = 0; i < tail_values(s); ++i) {
            b[i] = (float)s->rest[i];
        }
    }
}

static void ascend(const viscosity_solver* s, int l, const level_vectors* coarse,
                   const level_vectors* v) {
    viscosity_level_prolong(&s->level[l], &s->level[l + 1], v->x);
    for (size_t i = 0; i < tail_values(s); ++i) {
        v->x_tail[i] += coarse->x_tail[i];
    }
    if (s->drag[l] != NULL) {
        drag_term_fill(s->drag[l], v->x_tail, v->x);
    }
}

static void cycle(const viscosity_solver* s, int l, const level_vectors* v) {
    bool is_bottom = l + 1 == s->level_count;
    int sweeps = is_bottom && !s->is_single ? BOTTOM_SWEEPS : 1;
    vec_set_zero_float(&s->level[l].space, v->x);
    vec_exchange_float(&s->level[l].space, v->x);
    if (s->body_count > 0) {
        memset(v->x_tail, 0, tail_values(s) * sizeof(float));
    }
    for (int n = 0; n < sweeps; ++n) {
        sweep(s, l, v, false);
    }
    if (!is_bottom) {
        level_vectors coarse = coarse_vectors(s, l + 1);
        descend(s, l, v);
        cycle(s, l + 1, &coarse);
        ascend(s, l, &coarse, v);
    }
    for (int n = 0; n < sweeps; ++n) {
        sweep(s, l, v, true);
    }
}

const viscosity_level* viscosity_solver_finest(const viscosity_solver* solver) {
    return &solver->level[0];
}

static const vec_space* space_of(const viscosity_solver* s) {
    return s->body_count > 0 ? &s->space : &s->level[0].space;
}

// Where the unknowns of bodies begin in a vector.
static int64_t tail_of(const viscosity_solver* s) {
    return ((int64_t)s->level[0].map->count + 1) * VISCOSITY_BLOCK;
}

// Adds what bodies do to y = A x; returns x . y, which is `energy` without them.
static double add_bodies_to(const viscosity_solver* s, const drag_source* x, double energy,
                            double* y) {
    if (s->drag[0] == NULL) {
        return energy;
    }
    memset(y + tail_of(s), 0, (size_t)s->space.tail * sizeof(double));
    return energy + drag_term_add(s->drag[0], x, 1.0, y);
}

static double apply(const void* data, const double* x, double* y) {
    const viscosity_solver* s = data;
    double energy = viscosity_level_apply(&s->level[0], x, y);
    return add_bodies_to(s, &(drag_source){.wide = x, .tail = tail_of(s)}, energy, y);
}

static double apply_rounded(const void* data, const float* x, double* y) {
    const viscosity_solver* s = data;
    double energy = viscosity_level_apply_rounded(&s->level[0], x, y);
    return add_bodies_to(s, &(drag_source){.rounded = x, .tail = tail_of(s)}, energy, y);
}

static void diagonal(const void* data, double* d) {
    const viscosity_solver* s = data;
    viscosity_level_diagonal(&s->level[0], d);
    if (s->drag[0] != NULL) {
        drag_term_diagonal(s->drag[0], d + tail_of(s));
    }
}

static void precondition(const void* data, const float* r, float* z) {
    const viscosity_solver* s = data;
    level_vectors v = {r, z, NULL, NULL};
    if (s->body_count > 0) {
        v.b_tail = r + tail_of(s);
        v.x_tail = z + tail_of(s);
    }
    cycle(s, 0, &v);
    if (s->rigid != NULL) {
        if (s->body_count > 0) {
            drag_cycle at = bodies_of(&v);
            drag_term_residual(s->drag[0], &at, s->rest);
        }
        rigid_space_correct(s->rigid, &(rigid_vectors){r, z, s->rest, v.x_tail});
    }
    if (s->drag[0] != NULL) {
        drag_term_clear(s->drag[0], z);
    }
}

linop viscosity_solver_linop(const viscosity_solver* solver) {
    return (linop){.space = space_of(solver),
                   .data = solver,
                   .unknowns = solver->level[0].unknowns + (double)tail_values(solver),
                   .apply = apply,
                   .apply_rounded = apply_rounded,
                   .diagonal = diagonal,
                   .precondition = precondition,
                   .is_flexible = solver->rigid != NULL};
}

const drag_term* viscosity_solver_drag(const viscosity_solver* solver, bool is_coarsest) {
    return solver->drag[is_coarsest ? solver->level_count - 1 : 0];
}

// Bodies on level l, while its owners stand.
static treacle_status add_bodies(viscosity_solver* s, const viscosity_system* system, int l) {
    drag_def def = {.level = &s->level[l],
                    .scale = {1.0, 1.0, 1.0},
                    .is_finest = l == 0,
                    .body_count = system->body_count,
                    .bodies = system->bodies};
    if (system->body_count == 0) {
        return TREACLE_OK;
    }
    for (int n = 1; n <= l; ++n) {
        for (int a = 0; a < AXES; ++a) {
            def.scale[a] *= s->level[n].step.shift[a] != 0 ? 2.0 : 1.0;
        }
    }
    return drag_term_create(&def, &s->drag[l]);
}

static treacle_status make_tails(viscosity_solver* s, const viscosity_system* system) {
    const viscosity_level* level = &s->level[0];
    s->body_count = system->body_count;
    if (s->body_count == 0) {
        return TREACLE_OK;
    }
    size_t values = tail_values(s), levels = (size_t)s->level_count;
    TREACLE_TRY(
        vec_space_create(s->ctx, level->map->count, VISCOSITY_BLOCK, (int)values, &s->space));
    s->space.active = level->space.active;
    s->space.active_count = level->space.active_count;
    TREACLE_TRY(alloc_zero(s->ctx, 2 * levels * values, sizeof(float), "motions of bodies",
                           (void**)&s->tails));
    s->list = (rigid_body_list){system->body_count, system->bodies};
    return alloc_zero(s->ctx, values, sizeof(double), "motions of bodies", (void**)&s->rest);
}

static treacle_status build_levels(viscosity_solver* s, const viscosity_system* system) {
    TREACLE_TRY(viscosity_level_create(s->ctx, system->domain, system->map, &system->weights,
                                       &s->level[0]));
    s->level_count = 1;
    TREACLE_TRY(add_bodies(s, system, 0));
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
        TREACLE_TRY(add_bodies(s, system, s->level_count - 1));
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
    TREACLE_TRY_GOTO(make_tails(s, system), fail);
    if (viscosity_level_largest(&s->level[0]) > rigid_weight) {
        TREACLE_TRY_GOTO(rigid_space_create(&s->level[0], &s->list, RIGID_SCOPE_GRID, &s->rigid),
                         fail);
        s->has_bodies = true;
    }
    *out = s;
    return TREACLE_OK;
fail:
    viscosity_solver_destroy(s);
    return status;
}

void viscosity_solver_destroy(viscosity_solver* solver) {
    if (solver == NULL) {
        return;
    }
    rigid_space_destroy(solver->rigid);
    rigid_space_destroy(solver->bodies);
    pcg_vectors_destroy(space_of(solver), &solver->vectors);
    vec_space_destroy(&solver->space);
    size_t values = tail_values(solver), levels = (size_t)solver->level_count;
    alloc_free(solver->ctx, solver->tails, 2 * levels * values * sizeof(float));
    alloc_free(solver->ctx, solver->rest, values * sizeof(double));
    for (int l = solver->level_count - 1; l >= 0; --l) {
        drag_term_destroy(solver->drag[l]);
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
    vec_share(space, rhs);
    vec_destroy(space, change);
    return TREACLE_OK;
}

typedef struct mask_job {
    const viscosity_level* level;
    double* v;
} mask_job;

static void mask_tiles(void* data, int64_t begin, int64_t end) {
    const mask_job* job = data;
    for (int64_t q = begin * VISCOSITY_BLOCK; q < end * VISCOSITY_BLOCK; ++q) {
        job->v[q] = job->level->inverse[q] > 0.0f ? job->v[q] : 0.0;
    }
}

static void mask(const viscosity_level* level, double* v) {
    tile_for_held(level->map, 8, mask_tiles, &(mask_job){level, v});
    memset(v + (size_t)level->map->count * VISCOSITY_BLOCK, 0, VISCOSITY_BLOCK * sizeof(double));
}

// x += the rigid motions that b - A x asks for. After that the residual has no part in them, and
// the correction in every cycle keeps it so.
static void start_rigid(viscosity_solver* solver, const double* b, double* x) {
    double* r = solver->vectors.q;
    apply(solver, x, r);
    vec_subtract_from(space_of(solver), b, r);
    rigid_space_project(solver->rigid, tail_of(solver), r, x);
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
    return rigid_space_create(&solver->level[0], &solver->list, RIGID_SCOPE_TILE, &solver->rigid);
}

treacle_status viscosity_solver_move_bodies(viscosity_solver* solver, const double* r, double* x,
                                            bool* has_moved) {
    const viscosity_level* level = &solver->level[0];
    if (!solver->has_bodies) {
        TREACLE_TRY(rigid_space_create(level, &solver->list, RIGID_SCOPE_GRID, &solver->bodies));
        solver->has_bodies = true;
    }
    const rigid_space* bodies =
        solver->rigid != NULL && !solver->has_pieces ? solver->rigid : solver->bodies;
    *has_moved = bodies != NULL;
    if (bodies != NULL) {
        rigid_space_project(bodies, tail_of(solver), r, x);
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

static treacle_status solve(viscosity_solver* solver, double* rhs, double* u,
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

treacle_status viscosity_solve(viscosity_solver* solver, double* rhs, double* u,
                               const solve_params* params, solve_stats* stats) {
    treacle_status status = solve(solver, rhs, u, params, stats);
    vec_share(space_of(solver), rhs);
    vec_share(space_of(solver), u);
    return status;
}
