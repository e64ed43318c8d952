// Multigrid for viscosity: V(1,1) cycles.
//
// Aggregation fails here: constant blocks see only one in four of the shears that couple two
// components, so rotations become stiff. Instead each level has the factored operator with
// restricted weights, for which rigid motions stay exactly free, and linear interpolation.
//
// What only mass resists, the rigid motions of free lumps, is taken out by a coarse space of its
// own (solve/lump_space.h). Where threads or sheets bend softly the cycle is slow even so: then,
// within the solve, that space is replaced by one with the motions of every connected part of
// every tile.
//
// Bodies are unknowns on all levels, the same six, so they pass between levels as they are; and the
// rigid motions of a free aggregate move the bodies in it, too.
#include "solve/viscosity_solver.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/cycle.h"
#include "solve/lump_space.h"
#include "solve/lump_strength.h"
#include "solve/pcg.h"

enum { MAX_LEVELS = 24 };

struct viscosity_solver {
    treacle_context* ctx;
    const solve_policy* policy;
    solve_facts facts;
    solve_regime regime;
    int level_count;
    viscosity_level level[MAX_LEVELS];
    pcg_vectors vectors;
    int32_t body_count;
    drag_term* drag[MAX_LEVELS]; // of bodies; NULL without
    float* tails;                // [levels - 1][2][body_count][6]: b and x of coarse levels
    double* body_residual;       // [body_count][6]
    vec_space space;             // with bodies
    solve_body_list list;        // of the coarse spaces
    lump_space* lumps;           // may be NULL
    bool has_aggregates;         // lumps is that of aggregates of tiles
    lump_space* free_lumps;      // that of free lumps where lumps is not; may be NULL
    bool has_bodies;             // they were looked for
};

static drag_cycle bodies_of(const cycle_vectors* v) {
    return (drag_cycle){v->b_tail, v->x, v->x_tail};
}

static size_t tail_values(const viscosity_solver* s) {
    return (size_t)s->body_count * BODY_MOTIONS;
}

static cycle_vectors coarse_vectors(const void* data, int l) {
    const viscosity_solver* s = data;
    const viscosity_level* level = &s->level[l];
    // [levels - 1][b, x][bodies][6]: level 1 is the first that keeps its own.
    float* tail = s->tails != NULL ? s->tails + 2 * (size_t)(l - 1) * tail_values(s) : NULL;
    float* second = tail != NULL ? tail + tail_values(s) : NULL;
    // Without bodies there is no tail, and nobody asks for it.
    return (cycle_vectors){level->b, level->x, tail, second};
}

// A sweep reads before it writes, across borders of ranks and at faces of bodies too.
static void begin_at_zero(const viscosity_solver* s, int l, const cycle_vectors* v) {
    vec_set_zero_float(&s->level[l].space, v->x);
    vec_exchange_float(&s->level[l].space, v->x);
    if (s->body_count > 0) {
        memset(v->x_tail, 0, tail_values(s) * sizeof(float));
    }
}

// Faces, then bodies; in reverse bodies, then faces.
static void sweep(const void* data, int l, const cycle_vectors* v, bool is_reverse, bool is_first) {
    const viscosity_solver* s = data;
    // The reverse sweep is the transpose of the forward one, bodies included: else the cycle would
    // not be symmetric, and conjugate gradients not conjugate.
    drag_cycle at = bodies_of(v);
    if (is_first) {
        begin_at_zero(s, l, v);
    }
    if (s->drag[l] != NULL && is_reverse) {
        drag_term_relax(s->drag[l], &at, true);
    }
    viscosity_level_smooth(&s->level[l], v->b, v->x, is_reverse);
    if (s->drag[l] != NULL && !is_reverse) {
        drag_term_relax(s->drag[l], &at, false);
    }
}

// The residual of level l to the next: coarse faces of bodies pass theirs on to them.
static void descend(const void* data, int l, const cycle_vectors* v) {
    const viscosity_solver* s = data;
    viscosity_level_restrict(&s->level[l], v->b, v->x, &s->level[l + 1]);
    if (s->drag[l] != NULL) {
        drag_cycle at = bodies_of(v);
        float* b = s->tails + 2 * (size_t)l * tail_values(s);
        // A body's rows: its own residual, and what the coarse faces that belong to it have
        // collected from liquid around them.
        drag_term_residual(s->drag[l], &at, s->body_residual);
        drag_term_gather(s->drag[l + 1], s->level[l + 1].b, s->body_residual);
        for (size_t i = 0; i < tail_values(s); ++i) {
            b[i] = (float)s->body_residual[i];
        }
    }
}

// x += P x' for liquid; for bodies the coarse correction itself.
static void ascend(const void* data, int l, const cycle_vectors* coarse, const cycle_vectors* v) {
    const viscosity_solver* s = data;
    viscosity_level_prolong(&s->level[l], &s->level[l + 1], v->x);
    // The six unknowns are the same ones on all levels: the correction is added as it is, and the
    // fine faces of the body get its motion rather than an interpolation of it.
    for (size_t i = 0; i < tail_values(s); ++i) {
        v->x_tail[i] += coarse->x_tail[i];
    }
    if (s->drag[l] != NULL) {
        drag_term_fill(s->drag[l], v->x_tail, v->x);
    }
}

// What cycle.c knows of viscosity.
static level_ops ops_of(const viscosity_solver* s) {
    return (level_ops){.data = s,
                       .level_count = s->level_count,
                       .bottom_sweeps = s->regime.bottom_sweeps,
                       .sweep = sweep,
                       .descend = descend,
                       .ascend = ascend,
                       .vectors = coarse_vectors};
}

const viscosity_level* viscosity_solver_finest(const viscosity_solver* solver) {
    return &solver->level[0];
}

// Vectors end with the bodies' unknowns, so their space is another one than that of the faces.
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
    // The loop over faces knows nothing of the tail.
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

// A cycle, and then the motions of lumps. In this order the coarse space sees the residual that the
// cycle has left; a second correction before it would make the whole symmetric for twice the price,
// and flexible conjugate gradients do without.
static void precondition(const void* data, const float* r, float* z) {
    const viscosity_solver* s = data;
    cycle_vectors v = {r, z, NULL, NULL};
    if (s->body_count > 0) {
        v.b_tail = r + tail_of(s);
        v.x_tail = z + tail_of(s);
    }
    level_ops ops = ops_of(s);
    cycle_run(&ops, 0, &v);
    if (s->lumps != NULL) {
        // body_residual = the bodies' rows of r - A z, which the motions of lumps that carry bodies
        // need.
        if (s->body_count > 0) {
            drag_cycle at = bodies_of(&v);
            drag_term_residual(s->drag[0], &at, s->body_residual);
        }
        lump_space_correct(s->lumps, &(lump_vectors){r, z, s->body_residual, v.x_tail});
    }
    // Outside of a cycle vectors are zero at the faces of bodies.
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
                   // The correction by lumps comes after the cycle and not also before it: cheaper,
                   // and not symmetric.
                   .is_flexible = solver->lumps != NULL};
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

// Room for the six unknowns of each body on every level, and a space of vectors that end with them.
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
    s->list = (solve_body_list){system->body_count, system->bodies};
    return alloc_zero(s->ctx, values, sizeof(double), "motions of bodies",
                      (void**)&s->body_residual);
}

// All that regime_of asks about velocities is known once the finest level stands.
// Facts are measured on the finest level alone, once, and are the same on all ranks.
static void find_regime(viscosity_solver* s, int32_t bodies) {
    // Lumps and depth are decided by the stiffest cell: one stiff lump in thin liquid is what they
    // are for.
    const viscosity_level* finest = &s->level[0];
    // Sheets are stiffer than what they enclose, and no specks: they are one with it.
    bool has_sheets = finest->sheets.of != NULL;
    s->facts = (solve_facts){.has_faces = true,
                             .tiles = finest->space.active_count,
                             .bodies = bodies,
                             .stiffness = viscosity_level_largest(finest),
                             .contrast = has_sheets ? 1.0 : lump_strength_contrast(finest),
                             .jump = has_sheets ? 1.0 : lump_strength_jump(finest)};
    s->regime = regime_of(s->policy, &s->facts);
}

static lump_def lumps_of(const viscosity_solver* s, lump_scope scope) {
    return (lump_def){&s->level[0], &s->list, &s->policy->lump, &s->regime, scope};
}

// From the finest down, until the grid is a tile or the regime wants one level only.
static treacle_status build_levels(viscosity_solver* s, const viscosity_system* system) {
    TREACLE_TRY(viscosity_level_create(s->ctx, system->domain, system->map, &system->weights,
                                       &s->level[0]));
    s->level_count = 1;
    TREACLE_TRY(add_bodies(s, system, 0));
    find_regime(s, system->body_count);
    // Repeated sweeps at the surface are for what coarse levels make of it.
    if (s->regime.is_single) {
        viscosity_level_sweep_once(&s->level[0]);
    }
    while (s->level_count < MAX_LEVELS && !s->regime.is_single) {
        viscosity_level* fine = &s->level[s->level_count - 1];
        // All axes together: the factor of stresses, 1/4, is that of differences over twice the
        // width, and an axis that stayed fine would need another one for each stress.
        if (!pyramid_can_coarsen(&fine->domain, PYRAMID_TOGETHER) ||
            fine->space.active_count == 0) {
            break;
        }
        TREACLE_TRY(viscosity_level_coarsen(fine, &s->level[s->level_count]));
        // Its weights have been restricted: the packed copy is all that sweeps read.
        viscosity_level_end_setup(fine);
        s->level_count += 1;
        TREACLE_TRY(add_bodies(s, system, s->level_count - 1));
    }
    viscosity_level_end_setup(&s->level[s->level_count - 1]);
    return TREACLE_OK;
}

treacle_status viscosity_solver_create(treacle_context* ctx, const viscosity_system* system,
                                       viscosity_solver** out) {
    TREACLE_ASSERT(system->domain != NULL && system->map != NULL);
    TREACLE_ASSERT(system->body_count >= 0 && (system->body_count == 0 || system->bodies != NULL));
    TREACLE_ASSERT(system->body_count == 0 || system->weights.owner[0] != NULL);
    *out = NULL;
    viscosity_solver* s = NULL;
    treacle_status status;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the viscosity solver", (void**)&s));
    s->ctx = ctx;
    s->policy = solve_policy_or_default(system->policy);
    TREACLE_TRY_GOTO(build_levels(s, system), fail);
    TREACLE_TRY_GOTO(make_tails(s, system), fail);
    // Thin liquid has no motion that is softer than others, so nobody looks for lumps.
    if (s->regime.is_thick) {
        lump_def def = lumps_of(s, LUMP_SCOPE_GRID);
        TREACLE_TRY_GOTO(lump_space_create(&def, &s->lumps), fail);
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
    lump_space_destroy(solver->lumps);
    lump_space_destroy(solver->free_lumps);
    pcg_vectors_destroy(space_of(solver), &solver->vectors);
    vec_space_destroy(&solver->space);
    size_t values = tail_values(solver), levels = (size_t)solver->level_count;
    alloc_free(solver->ctx, solver->tails, 2 * levels * values * sizeof(float));
    alloc_free(solver->ctx, solver->body_residual, values * sizeof(double));
    for (int l = solver->level_count - 1; l >= 0; --l) {
        drag_term_destroy(solver->drag[l]);
        viscosity_level_destroy(&solver->level[l]);
    }
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

treacle_status viscosity_add_fixed(const viscosity_solver* solver, const double* fixed,
                                   double* rhs) {
    TREACLE_ASSERT(fixed != rhs);
    const vec_space* space = space_of(solver);
    // A acts on fixed faces as on others; only rows of unknowns are kept of what it gives.
    double* change = NULL;
    TREACLE_TRY(vec_create(space, "forces of walls", &change));
    apply(solver, fixed, change);
    vec_add_scaled(space, -1.0, change, rhs);
    vec_publish(space, rhs);
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
    tile_for(level->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mask_tiles,
             &(mask_job){level, v});
    memset(v + (size_t)level->map->count * VISCOSITY_BLOCK, 0, VISCOSITY_BLOCK * sizeof(double));
}

// x += the rigid motions that b - A x asks for. After that the residual has no part in them, and
// the correction in every cycle keeps it so.
static void start_lumps(viscosity_solver* solver, const double* b, double* x) {
    // The loop has not begun: its vectors are free.
    double* r = solver->vectors.q;
    apply(solver, x, r);
    vec_subtract_from(space_of(solver), b, r);
    lump_space_project(solver->lumps, tail_of(solver), r, x);
}

static solve_stats viscosity_solver_run(viscosity_solver* solver, double* rhs, double* u,
                                        solve_params params) {
    linop op = viscosity_solver_linop(solver);
    // The motions of lumps that b asks for are exact from the start, whatever the guess was: the
    // loop begins at a residual without momentum.
    if (solver->lumps != NULL) {
        if (!params.is_warm) {
            vec_set_zero(op.space, u);
        }
        start_lumps(solver, rhs, u);
        params.is_warm = true;
    }
    return pcg_solve(&op, &solver->vectors, &params, rhs, u);
}

const solve_facts* viscosity_solver_facts(const viscosity_solver* solver) {
    return &solver->facts;
}

const solve_regime* viscosity_solver_regime(const viscosity_solver* solver) {
    return &solver->regime;
}

bool viscosity_solver_is_stiff(const viscosity_solver* solver) {
    return solver->lumps != NULL;
}

bool viscosity_solver_has_aggregates(const viscosity_solver* solver) {
    return solver->has_aggregates;
}

treacle_status viscosity_solver_add_aggregates(viscosity_solver* solver) {
    // The space of lumps is kept: at the end of a solve it gives them their exact momentum, which
    // aggregates of tiles cannot, since E of aggregates has stresses in it.
    lump_space_destroy(solver->free_lumps);
    solver->free_lumps = solver->lumps;
    solver->lumps = NULL;
    solver->has_aggregates = true;
    lump_def def = lumps_of(solver, LUMP_SCOPE_TILE);
    return lump_space_create(&def, &solver->lumps);
}

treacle_status viscosity_solver_move_lumps(viscosity_solver* solver, const double* r, double* x,
                                           bool* has_moved) {
    TREACLE_ASSERT(r != x);
    if (!solver->has_bodies) {
        lump_def def = lumps_of(solver, LUMP_SCOPE_GRID);
        TREACLE_TRY(lump_space_create(&def, &solver->free_lumps));
        solver->has_bodies = true;
    }
    // The lumps are in `lumps` unless aggregates have taken its place.
    const lump_space* bodies =
        solver->lumps != NULL && !solver->has_aggregates ? solver->lumps : solver->free_lumps;
    *has_moved = bodies != NULL;
    if (bodies != NULL) {
        lump_space_project(bodies, tail_of(solver), r, x);
    }
    return TREACLE_OK;
}

// `stats` of a solve that went on from where `before` ended.
static void prepend(const solve_stats* before, solve_stats* stats) {
    // The last residual of the one is the first of the other: it is there once.
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
    // Operators read neighbours unasked: vectors are zero beside unknowns.
    mask(level, rhs);
    mask(level, u);
    first.policy = solver->policy;
    first.patience = solver->has_aggregates ? 0.0 : solver->policy->slow.patience;
    *stats = viscosity_solver_run(solver, rhs, u, first);
    if (!stats->is_slow) {
        return TREACLE_OK;
    }
    solve_params rest = *params;
    solve_stats before = *stats;
    rest.policy = solver->policy;
    rest.is_warm = true;
    // One budget for both parts of a solve.
    rest.max_iterations -= before.iterations;
    // The loop has left the residual in rhs: b = r + A u.
    apply(solver, u, solver->vectors.q);
    vec_add_scaled(space_of(solver), 1.0, solver->vectors.q, rhs);
    TREACLE_TRY(viscosity_solver_add_aggregates(solver));
    // Told to whoever reads the statistics: this solve took another way than it began with.
    regime_note_slow(&solver->regime);
    *stats = viscosity_solver_run(solver, rhs, u, rest);
    prepend(&before, stats);
    return TREACLE_OK;
}

treacle_status viscosity_solve(viscosity_solver* solver, double* rhs, double* u,
                               const solve_params* params, solve_stats* stats) {
    TREACLE_ASSERT(rhs != u && params->max_iterations >= 0 && params->relative >= 0.0);
    TREACLE_VALIDATE(viscosity_solver_is_valid(solver));
    treacle_status status = solve(solver, rhs, u, params, stats);
    memcpy(stats->regime, solver->regime.name, sizeof(stats->regime));
    // The loop has worked on own tiles: callers read those of others, too.
    vec_publish(space_of(solver), rhs);
    vec_publish(space_of(solver), u);
    return status;
}

bool viscosity_solver_is_valid(const viscosity_solver* solver) {
    bool is_valid = solver->level_count >= 1 && solver->level_count <= MAX_LEVELS &&
                    solver->regime.bottom_sweeps > 0 &&
                    (!solver->regime.is_single || solver->level_count == 1);
    for (int l = 0; l < solver->level_count && is_valid; ++l) {
        // Bodies are on all levels or on none: their six unknowns pass between levels as they are.
        is_valid = viscosity_level_is_valid(&solver->level[l]) &&
                   (solver->drag[l] != NULL) == (solver->body_count > 0);
    }
    return is_valid;
}
