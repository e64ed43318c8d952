// Bodies in the Stokes system: what they displace of the liquid, and what its pressure does to
// them. Rows are few and run in one thread, in their order: no thread has a say in the sums.
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "solve/block_ldl.h"
#include "solve/stokes_internal.h"

// With y the motions of bodies and J their rows at cells, the system is A (u, y) + (B, J)^T p = f
// and B u + J y = h. A with bodies in it is the viscosity solver's own; here is J. In the
// preconditioner bodies give way to a pressure. Eliminating y from the coarse model with the block
// K of each body takes W J (K + J^T W J)^-1 J^T W off the Schur weight W.

// A row of J at a cell with a pressure.
typedef struct flow_row {
    int64_t slot;
    int32_t body;
    double at[BODY_MOTIONS];
} flow_row;

struct stokes_bodies {
    treacle_context* ctx;
    const drag_term* drag;
    int32_t count;
    int64_t tail; // of vectors of faces
    int64_t row_count, room;
    flow_row* row; // by cell, then by body
    double* wide;  // vector of faces
    double* sum;   // [count][6]
    block_ldl* schur;
};

// Unknowns of all bodies: six each.
static size_t values_of(const stokes_bodies* b) {
    return (size_t)b->count * BODY_MOTIONS;
}

// ---- Set-up ---------------------------------------------------------------------------------

static int compare_rows(const void* a, const void* b) {
    const flow_row *x = a, *y = b;
    return x->slot != y->slot ? (x->slot > y->slot) - (x->slot < y->slot)
                              : (x->body > y->body) - (x->body < y->body);
}

static void list_rows(const stokes_solver* s, const stokes_system* system) {
    stokes_bodies* b = s->bodies;
    for (int32_t n = 0; n < b->count; ++n) {
        const solve_body* body = &system->bodies[n];
        for (int64_t i = 0; i < body->row_count; ++i) {
            // Cells without a pressure push nobody.
            if (!(s->cells->inverse[body->slot[i]] > 0.0f)) {
                continue;
            }
            flow_row* row = &b->row[b->row_count++];
            *row = (flow_row){.slot = body->slot[i], .body = n};
            // A bound body has one motion, kept in the first of its six places: its row is along
            // that.
            if (body->is_bound) {
                row->at[0] = mat6_dot(body->row[i], body->free_motion);
            } else {
                memcpy(row->at, body->row[i], sizeof(row->at));
            }
        }
    }
    // By cell: rows of several bodies at one cell then lie side by side, which is what couples
    // them.
    sort_items(b->row, (size_t)b->row_count, sizeof(*b->row), compare_rows);
}

// K + J^T W J [stokes.5], found block by block.
typedef struct schur_blocks {
    int64_t count, capacity;
    int32_t (*entry)[2];
    ldl_block *value, *diagonal;
    double (*position)[AXES];
} schur_blocks;

// The block of bodies i > j, made if it is missing. There is room: pairs were counted before.
static ldl_block* block_between(schur_blocks* m, int32_t i, int32_t j) {
    // Searched from the first: bodies that touch are few.
    int64_t at = 0;
    while (at < m->count && (m->entry[at][0] != i || m->entry[at][1] != j)) {
        at += 1;
    }
    if (at == m->count) {
        m->entry[at][0] = i;
        m->entry[at][1] = j;
        m->count += 1;
    }
    return &m->value[at];
}

static void add_product(ldl_block* to, double weight, const double* d, const double* e) {
    for (int r = 0; r < BODY_MOTIONS; ++r) {
        for (int c = 0; c < BODY_MOTIONS; ++c) {
            to->at[r][c] += weight * d[r] * e[c];
        }
    }
}

// Rows of a cell: each with itself and with those of other bodies before it. Without `m` it only
// counts the latter.
static int64_t add_rows(const stokes_solver* s, schur_blocks* m) {
    const stokes_bodies* b = s->bodies;
    int64_t shared = 0;
    for (int64_t i = 0; i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        double weight = (double)s->schur[row->slot];
        if (m != NULL) {
            add_product(&m->diagonal[row->body], weight, row->at, row->at);
        }
        // Those before it at the same cell have lower numbers: row > column, each pair once.
        for (int64_t k = i - 1; k >= 0 && b->row[k].slot == row->slot; --k) {
            shared += 1;
            if (m != NULL) {
                add_product(block_between(m, row->body, b->row[k].body), weight, row->at,
                            b->row[k].at);
            }
        }
    }
    return shared;
}

// When a pressure is eliminated by W, what bodies feel of it is J^T W J beside their own block K,
// which has their mass and the drag of the liquid on the coarsest level.
static treacle_status fill_schur(const stokes_solver* s, const stokes_system* system,
                                 schur_blocks* m) {
    stokes_bodies* b = s->bodies;
    size_t count = (size_t)b->count;
    const char* what = "flow around bodies";
    const drag_term* coarsest = viscosity_solver_drag(s->viscosity, true);
    // Twice the same walk: counted, then filled. Pairs may repeat, so this is an upper bound.
    m->capacity = add_rows(s, NULL);
    size_t room = (size_t)m->capacity;
    TREACLE_TRY(alloc_zero(s->ctx, room, sizeof(*m->entry), what, (void**)&m->entry));
    TREACLE_TRY(alloc_zero(s->ctx, room, sizeof(*m->value), what, (void**)&m->value));
    TREACLE_TRY(alloc_zero(s->ctx, count, sizeof(*m->diagonal), what, (void**)&m->diagonal));
    TREACLE_TRY(alloc_zero(s->ctx, count, sizeof(*m->position), what, (void**)&m->position));
    for (int32_t n = 0; n < b->count; ++n) {
        // K: on the coarsest level the liquid around a body answers nearly as a whole, so its block
        // is near to its drag; the finest one would be that of a thin layer.
        const double(*block)[BODY_MOTIONS] = drag_term_block(coarsest, n);
        memcpy(m->position[n], system->bodies[n].pivot, sizeof(m->position[n]));
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            memcpy(m->diagonal[n].at[i], block[i], sizeof(block[i]));
        }
    }
    add_rows(s, m);
    ldl_matrix matrix = {.count = b->count,
                         .position = (const double(*)[3])m->position,
                         .entry_count = m->count,
                         .entry = (const int32_t(*)[2])m->entry,
                         .value = m->value,
                         .diagonal = m->diagonal};
    return block_ldl_create(s->ctx, &matrix, &b->schur);
}

static treacle_status create_schur(const stokes_solver* s, const stokes_system* system) {
    schur_blocks m = {0};
    size_t count = (size_t)s->bodies->count;
    treacle_status status = fill_schur(s, system, &m);
    size_t room = (size_t)m.capacity;
    alloc_free(s->ctx, m.entry, room * sizeof(*m.entry));
    alloc_free(s->ctx, m.value, room * sizeof(*m.value));
    alloc_free(s->ctx, m.diagonal, count * sizeof(*m.diagonal));
    alloc_free(s->ctx, m.position, count * sizeof(*m.position));
    return status;
}

treacle_status stokes_bodies_create(stokes_solver* s, const stokes_system* system) {
    stokes_bodies* b = NULL;
    if (system->body_count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(s->ctx, 1, sizeof(*b), "flow around bodies", (void**)&b));
    s->bodies = b;
    b->ctx = s->ctx;
    b->count = system->body_count;
    // The finest level's: that is A. The coarsest one's is for W alone.
    b->drag = viscosity_solver_drag(s->viscosity, false);
    b->tail = ((int64_t)s->map->count + 1) * VISCOSITY_BLOCK;
    for (int32_t n = 0; n < b->count; ++n) {
        b->room += system->bodies[n].row_count;
    }
    TREACLE_TRY(alloc_array(s->ctx, (size_t)b->room, sizeof(*b->row), "flow around bodies",
                            (void**)&b->row));
    list_rows(s, system);
    TREACLE_TRY(vec_create(s->u_space, "images", &b->wide));
    TREACLE_TRY(
        alloc_zero(s->ctx, values_of(b), sizeof(double), "flow around bodies", (void**)&b->sum));
    return create_schur(s, system);
}

void stokes_bodies_destroy(stokes_solver* s) {
    stokes_bodies* b = s->bodies;
    if (b == NULL) {
        return;
    }
    alloc_free(s->ctx, b->row, (size_t)b->room * sizeof(*b->row));
    alloc_free(s->ctx, b->sum, values_of(b) * sizeof(double));
    vec_destroy(s->u_space, b->wide);
    block_ldl_destroy(b->schur);
    alloc_free(s->ctx, b, sizeof(*b));
    s->bodies = NULL;
}

// ---- Operator -------------------------------------------------------------------------------

void stokes_bodies_add(const stokes_solver* s, const stokes_vectors* x, double sign,
                       const stokes_vectors* y) {
    const stokes_bodies* b = s->bodies;
    if (b == NULL) {
        return;
    }
    // A's part first, then J y to the divergence and J^T p to the bodies: one the transpose of the
    // other.
    drag_term_add(b->drag, &(drag_source){.wide = x->u, .tail = b->tail}, sign, y->u);
    for (int64_t i = 0; i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        int64_t at = b->tail + (int64_t)row->body * BODY_MOTIONS;
        y->p[row->slot] += sign * mat6_dot(row->at, x->u + at);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            y->u[at + n] += sign * (row->at[n] * x->p[row->slot]);
        }
    }
}

// The image of a direction with bodies. Tiles that links reach are done again in double with the
// links in them; all others have their image from the loop over tiles.
void stokes_bodies_image(const stokes_solver* s, int j) {
    const stokes_bodies* b = s->bodies;
    if (b == NULL) {
        return;
    }
    const tile_ix* tiles = NULL;
    int64_t count = drag_term_tiles(b->drag, &tiles);
    const float *z_u = s->vec.w_u, *z_p = s->vec.w_p;
    stokes_job image = stokes_job_of(s);
    image.u_float = z_u;
    image.p_float = z_p;
    image.to = b->wide;
    // Around bodies the stress of the liquid and that of the body cancel: their sum is taken in
    // double and rounded once.
    stokes_run_tiles(s, ISA_CALL(s->ctx, stokes_loop_image_wide), &image, count, tiles);
    // The loop over tiles writes faces; the bodies' rows begin at zero.
    memset(b->wide + b->tail, 0, (size_t)s->u_space->tail * sizeof(double));
    drag_term_add(b->drag, &(drag_source){.rounded = z_u, .tail = b->tail}, 1.0, b->wide);
    for (int64_t i = 0; i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        int64_t at = b->tail + (int64_t)row->body * BODY_MOTIONS;
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            b->wide[at + n] += row->at[n] * (double)z_p[row->slot];
        }
    }
    for (int64_t i = 0; i < count * VISCOSITY_BLOCK; ++i) {
        int64_t at = (int64_t)tiles[i / VISCOSITY_BLOCK] * VISCOSITY_BLOCK + i % VISCOSITY_BLOCK;
        s->dir.q_u[j][at] = (float)b->wide[at];
    }
    for (int64_t i = b->tail; i < b->tail + s->u_space->tail; ++i) {
        s->dir.q_u[j][i] = (float)b->wide[i];
    }
}

// What the motion of bodies displaces is part of the divergence.
void stokes_bodies_defect(const stokes_solver* s, int j) {
    const stokes_bodies* b = s->bodies;
    // Few rows, in their order, by one thread.
    for (int64_t i = 0; b != NULL && i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        const float* y = s->vec.w_u + b->tail + (int64_t)row->body * BODY_MOTIONS;
        double flow = 0.0;
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            flow += row->at[n] * (double)y[n];
        }
        // Both hold B z_u here, t less r_p: what is displaced belongs to either.
        s->dir.q_p[j][row->slot] += (float)flow;
        s->vec.t_p[row->slot] += (float)flow;
    }
}

// Woodbury's: less W J (K + J^T W J)^-1 J^T W t.
void stokes_bodies_schur(const stokes_solver* s, float* z) {
    const stokes_bodies* b = s->bodies;
    if (b == NULL) {
        return;
    }
    memset(b->sum, 0, values_of(b) * sizeof(double));
    for (int64_t i = 0; i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        double* sum = b->sum + (size_t)row->body * BODY_MOTIONS;
        // z = W t stands in z already; this finds what the bodies take of it.
        double push = (double)s->schur[row->slot] * (double)s->vec.t_p[row->slot];
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            sum[n] += row->at[n] * push;
        }
    }
    // sum = J^T W t; then (K + J^T W J)^-1 of it, which is how the bodies would move; and W J of
    // that is the pressure which their giving way takes off.
    block_ldl_solve(b->schur, b->sum);
    for (int64_t i = 0; i < b->row_count; ++i) {
        const flow_row* row = &b->row[i];
        double flow = mat6_dot(row->at, b->sum + (size_t)row->body * BODY_MOTIONS);
        z[row->slot] -= (float)((double)s->schur[row->slot] * flow);
    }
}
