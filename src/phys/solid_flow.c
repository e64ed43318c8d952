// What solids push out of cells, and how much of it the liquid can follow.
//
// Solids that close the rest of a cell's faces and move with v carry through them
//
//     F = sum over faces of  +- (1 - A_f) v_f
//
// which the liquid must take away through what is open, C = sum of A_f. A rigid solid never asks
// for more than its own speed: v_a is the same on opposite faces, so F = sum of v_a (A_low -
// A_high), and |F| <= |v| C. The same holds for any group of cells, with C the openings around it.
// Two solids that approach, or a solid and a side of the domain, do ask for more, without bound as
// the gap between them closes and is less than a cell, where the grid does not know its width, nor
// whether it is open. What such a gap, and a pocket behind such gaps, gives is bounded:
//
//     F <- F min(1, (v C / F)^2)                                                         [solid.10]
//
// v being the fastest of the solids there: from v C on, the narrower the openings are the more they
// count as closed, and the liquid in them is pressed together as in a closed region. Pockets are
// what hangs together through faces that are open by a half at least, by an eighth, by a
// thirty-second, and reaches no surface through a face that is half open; what is too much is taken
// out of all their cells alike. Cells come first.
//
// Bodies give way: what they close of a cell counts as open, and what they push is in their own
// rows. A pocket gains by a body what it would gain if the body went away straight on: nothing by
// one that it surrounds, the cross-section of a plug.
//
// Staggering: F, C at cells; A, v on faces. Symbols: flow (F), opening (C), speed (v).
// Properties that tests check: one rigid solid is never bounded; a gap that closes asks for no more
// than the solid's speed; a closed pocket takes nothing.
#include "phys/solid_flow.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "math/forest.h"

// A face that is open less is no way out of a pocket; the narrow ones first.
static const double pocket_open[] = {0.5, 0.125, 0.03125};
enum { POCKET_KINDS = sizeof(pocket_open) / sizeof(pocket_open[0]) };

typedef struct pocket {
    double flow, opening, speed;
    int64_t cells;
    bool has_vent; // reaches the surface or an open side
} pocket;

typedef struct flow_job {
    const solid_flow_params* params;
    double* flow;
    double open;     // one of pocket_open
    int32_t* parent; // [count][512], union-find over cells; later the pocket of a root
    pocket* pockets;
    double (*give)[AXES]; // [pockets][bodies], what bodies close of a pocket's faces, outward
} flow_job;

static bool has_pressure(const solid_flow_params* params, int64_t cell) {
    return params->sign * params->cell[cell] > 0.0f;
}

// [solid.10]
static double bounded(double flow, double most) {
    double fraction = fabs(flow) > most ? most / fabs(flow) : 1.0;
    return flow * (fraction * fraction);
}

// --- cells --------------------------------------------------------------------------------------

static double flow_of_cell(const solid_flow_params* params, tile_ix t, int q) {
    double flow = 0.0, opening = 0.0, speed = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (!params->domain->is_active[a]) {
            continue;
        }
        int64_t low = (int64_t)t * TILE_CELLS + q, high = tile_slot_above(params->map, t, q, a);
        solid_face below = params->face(params->data, a, low, false);
        solid_face above = params->face(params->data, a, high, true);
        flow += above.flow - below.flow;
        opening += (below.open + below.give) + (above.open + above.give);
        speed = fmax(speed, fmax(below.speed, above.speed));
    }
    return bounded(flow, speed * opening);
}

static void fill_cells(void* data, int64_t begin, int64_t end) {
    const flow_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int q = (int)(i % TILE_CELLS);
        bool is_due = has_pressure(job->params, i) && tile_cell_counts(job->params->map, q);
        job->flow[i] = is_due ? flow_of_cell(job->params, (tile_ix)(i / TILE_CELLS), q) : 0.0;
    }
}

static double largest_of_tile(void* data, int64_t tile) {
    const flow_job* job = data;
    double most = 0.0;
    for (int64_t i = tile * TILE_CELLS; i < (tile + 1) * TILE_CELLS; ++i) {
        most = fmax(most, fabs(job->flow[i]));
    }
    return most;
}

// --- pockets ------------------------------------------------------------------------------------

// Calls f for each face below a cell with a pressure or above one: the cell's slot, that of the
// cell below, and the face, which has the upper one's.
typedef void pair_fcn(const flow_job* job, int axis, int64_t below, int64_t above);
static void each_pair(const flow_job* job, pair_fcn* f) {
    const solid_flow_params* params = job->params;
    const tile_map* map = params->map;
    int64_t cells = (int64_t)map->count * TILE_CELLS;
    for (int64_t i = 0; i < cells; ++i) {
        int q = (int)(i % TILE_CELLS);
        for (int a = 0; a < AXES && tile_cell_counts(map, q); ++a) {
            if (!params->domain->is_active[a]) {
                continue;
            }
            int64_t below = tile_slot_below(map, i / TILE_CELLS, q, a);
            if (has_pressure(params, i) || has_pressure(params, below)) {
                f(job, a, below, i);
            }
        }
    }
}

static void join_pair(const flow_job* job, int axis, int64_t below, int64_t above) {
    solid_face from_above = job->params->face(job->params->data, axis, above, false);
    solid_face from_below = job->params->face(job->params->data, axis, above, true);
    bool are_both = has_pressure(job->params, below) && has_pressure(job->params, above);
    if (are_both && fmin(from_above.open, from_below.open) >= job->open) {
        forest_unite(job->parent, (int32_t)below, (int32_t)above);
    }
}

static pocket* pocket_of(const flow_job* job, int64_t cell) {
    return &job->pockets[job->parent[cell]];
}

// One side of a face, along the axis times sign as the pocket of the cell sees it.
typedef struct face_side {
    int axis;
    double sign;
    bool has_liquid; // beyond it
} face_side;

static void open_to(const flow_job* job, int64_t cell, const solid_face* face, face_side side) {
    if (has_pressure(job->params, cell)) {
        pocket* p = pocket_of(job, cell);
        p->opening += face->open;
        p->speed = fmax(p->speed, face->speed);
        p->has_vent = p->has_vent || (!side.has_liquid && face->open >= pocket_open[0]);
        if (face->give > 0.0) {
            int64_t of = (int64_t)job->parent[cell] * job->params->body_count + face->body;
            job->give[of][side.axis] += side.sign * face->give;
        }
    }
}

static void open_pair(const flow_job* job, int axis, int64_t below, int64_t above) {
    solid_face from_above = job->params->face(job->params->data, axis, above, false);
    solid_face from_below = job->params->face(job->params->data, axis, above, true);
    bool has_below = has_pressure(job->params, below), has_above = has_pressure(job->params, above);
    if (has_below && has_above && job->parent[below] == job->parent[above]) {
        from_above.open = from_below.open = 0.0; // within the pocket
    }
    open_to(job, below, &from_below, (face_side){axis, 1.0, has_above});
    open_to(job, above, &from_above, (face_side){axis, -1.0, has_below});
}

// parent becomes the number of a cell's pocket; returns how many there are.
static int32_t number_pockets(const flow_job* job, int64_t cells) {
    int32_t count = 0;
    for (int64_t i = 0; i < cells; ++i) {
        if (job->parent[i] == (int32_t)i) {
            job->parent[i] = has_pressure(job->params, i) ? count++ : 0;
        } else {
            // A root is lower than what hangs on it, and has its number already; the cells between
            // have it, too.
            job->parent[i] = job->parent[job->parent[i]];
        }
    }
    return count;
}

static double most_of(const flow_job* job, int32_t n) {
    const pocket* p = &job->pockets[n];
    double opening = p->opening;
    int bodies = job->params->body_count;
    for (int b = 0; b < bodies; ++b) {
        const double* give = job->give[(int64_t)n * bodies + b];
        opening += fabs(give[0]) + fabs(give[1]) + fabs(give[2]);
    }
    return p->speed * opening;
}

static void bound_pocket_flows(const flow_job* job, int64_t cells) {
    for (int64_t i = 0; i < cells; ++i) {
        if (has_pressure(job->params, i)) {
            pocket_of(job, i)->flow += job->flow[i];
            pocket_of(job, i)->cells += 1;
        }
    }
    for (int64_t i = 0; i < cells; ++i) {
        if (has_pressure(job->params, i) && !pocket_of(job, i)->has_vent) {
            const pocket* p = pocket_of(job, i);
            double excess = p->flow - bounded(p->flow, most_of(job, job->parent[i]));
            job->flow[i] -= excess / (double)p->cells;
        }
    }
}

static void label_pockets(const flow_job* job, int64_t cells) {
    for (int64_t i = 0; i < cells; ++i) {
        job->parent[i] = (int32_t)i;
    }
    each_pair(job, join_pair);
}

static treacle_status bound_labelled(flow_job* job, int64_t cells) {
    treacle_context* ctx = job->params->map->ctx;
    size_t count = (size_t)number_pockets(job, cells);
    size_t pairs = count * (size_t)job->params->body_count;
    treacle_status status;
    job->give = NULL;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(pocket), "pockets", (void**)&job->pockets));
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, pairs, sizeof(*job->give), "pockets beside bodies", (void**)&job->give),
        finish);
    each_pair(job, open_pair);
    bound_pocket_flows(job, cells);
finish:
    alloc_free(ctx, job->give, pairs * sizeof(*job->give));
    alloc_free(ctx, job->pockets, count * sizeof(pocket));
    return status;
}

static treacle_status bound_pockets(flow_job* job) {
    treacle_context* ctx = job->params->map->ctx;
    int64_t cells = (int64_t)job->params->map->count * TILE_CELLS;
    TREACLE_TRY(alloc_array(ctx, (size_t)cells, sizeof(int32_t), "pockets", (void**)&job->parent));
    treacle_status status = TREACLE_OK;
    for (int n = 0; n < POCKET_KINDS && status == TREACLE_OK; ++n) {
        job->open = pocket_open[n];
        label_pockets(job, cells);
        status = bound_labelled(job, cells);
    }
    alloc_free(ctx, job->parent, (size_t)cells * sizeof(int32_t));
    return status;
}

treacle_status solid_flow_compute(const solid_flow_params* params, double* flow) {
    TREACLE_ASSERT(flow != NULL && params->cell != NULL);
    TREACLE_ASSERT(params->face != NULL && params->sign != 0.0f);
    TREACLE_ASSERT(params->body_count >= 0);
    flow_job job = {.params = params, .flow = flow};
    tile_for(
        params->map,
        &(tile_use){.reads = TILE_AROUND,
                    .grain = 8,
                    .writes = {tile_block(flow, TILE_CELLS * sizeof(double), TILE_TO_HOLDERS)}},
        fill_cells, &job);
    bool is_any = tile_max(params->map, largest_of_tile, &job) > 0.0;
    return is_any ? bound_pockets(&job) : TREACLE_OK;
}
