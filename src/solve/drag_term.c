#include "solve/drag_term.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

// A term that joins bodies to other faces or to each other [drag.1].
typedef struct drag_link {
    double weight;
    int face_count, body_count;
    int64_t slot[STRESS_TERM_FACES];
    double sign[STRESS_TERM_FACES];
    int32_t body[STRESS_TERM_FACES];
    double c[STRESS_TERM_FACES][BODY_MOTIONS];
} drag_link;

typedef struct drag_block {
    double mass[BODY_MOTIONS][BODY_MOTIONS];
    double whole[BODY_MOTIONS][BODY_MOTIONS]; // mass and stresses
    double inverse[BODY_MOTIONS][BODY_MOTIONS];
} drag_block;

struct drag_term {
    treacle_context* ctx;
    const viscosity_level* level;
    int32_t body_count;
    drag_block* block; // [body_count]
    int64_t link_count;
    drag_link* link;
};

// ---- Set-up ---------------------------------------------------------------------------------

// Which face belongs to which body: the number of its row among all rows, from 1 on; 0: to none.
typedef struct owners {
    int32_t* row; // [vector]
    size_t length;
    int64_t row_count;
    const double (**at)[BODY_MOTIONS]; // [row_count]
    int32_t* body;                     // [row_count]
} owners;

static treacle_status owners_create(const viscosity_level* level, int32_t body_count,
                                    const drag_body* bodies, owners* out) {
    treacle_context* ctx = level->ctx;
    for (int32_t b = 0; b < body_count; ++b) {
        out->row_count += bodies[b].count;
    }
    out->length = ((size_t)level->map->count + 1) * VISCOSITY_BLOCK;
    size_t rows = (size_t)out->row_count;
    TREACLE_TRY(
        alloc_zero(ctx, out->length, sizeof(int32_t), "faces of bodies", (void**)&out->row));
    TREACLE_TRY(alloc_array(ctx, rows, sizeof(*out->at), "faces of bodies", (void**)&out->at));
    TREACLE_TRY(alloc_array(ctx, rows, sizeof(int32_t), "faces of bodies", (void**)&out->body));
    int32_t n = 0;
    for (int32_t b = 0; b < body_count; ++b) {
        for (int64_t i = 0; i < bodies[b].count; ++i, ++n) {
            out->at[n] = &bodies[b].row[i];
            out->body[n] = b;
            out->row[bodies[b].slot[i]] = n + 1;
        }
    }
    return TREACLE_OK;
}

static void owners_destroy(treacle_context* ctx, owners* o) {
    alloc_free(ctx, o->row, o->length * sizeof(int32_t));
    alloc_free(ctx, o->at, (size_t)o->row_count * sizeof(*o->at));
    alloc_free(ctx, o->body, (size_t)o->row_count * sizeof(int32_t));
}

static int32_t row_at(const owners* o, int64_t slot) {
    return slot < 0 ? -1 : o->row[slot] - 1;
}

// The place of a body in a link, added if it is new.
static int place_in(drag_link* link, int32_t body) {
    int at = 0;
    while (at < link->body_count && link->body[at] != body) {
        at += 1;
    }
    if (at == link->body_count) {
        link->body[link->body_count++] = body;
    }
    return at;
}

// The link of a term; false if a single body has all its faces, or it has no weight.
static bool make_link(const owners* o, const stress_term* term, drag_link* out) {
    *out = (drag_link){.weight = (double)term->weight};
    for (int n = 0; n < term->count; ++n) {
        int32_t row = row_at(o, term->slot[n]);
        if (row < 0 && term->slot[n] >= 0) {
            out->slot[out->face_count] = term->slot[n];
            out->sign[out->face_count++] = term->sign[n];
        } else if (row >= 0) {
            int at = place_in(out, o->body[row]);
            for (int i = 0; i < BODY_MOTIONS; ++i) {
                out->c[at][i] += term->sign[n] * (*o->at[row])[i];
            }
        }
    }
    return out->weight > 0.0 && (out->face_count > 0 || out->body_count > 1);
}

// Whether `slot` is the first face of the term that a body has: so each term is met once.
static bool is_first_owned(const owners* o, const stress_term* term, int64_t slot) {
    int n = 0;
    while (row_at(o, term->slot[n]) < 0) {
        n += 1;
    }
    return term->slot[n] == slot;
}

// Lists the links of all bodies, or only counts them.
static int64_t list_links(const viscosity_level* level, const owners* o, int32_t body_count,
                          const drag_body* bodies, drag_link* out) {
    int64_t count = 0;
    for (int32_t b = 0; b < body_count; ++b) {
        for (int64_t i = 0; i < bodies[b].count; ++i) {
            term_place places[STRESS_TERMS_OF_FACE];
            stress_terms_of_face(level, bodies[b].slot[i], places);
            for (int n = 0; n < STRESS_TERMS_OF_FACE; ++n) {
                drag_link link;
                if (places[n].tile >= level->map->count) {
                    continue;
                }
                stress_term term = stress_term_at(level, places[n]);
                if (!is_first_owned(o, &term, bodies[b].slot[i]) || !make_link(o, &term, &link)) {
                    continue;
                }
                if (out != NULL) {
                    out[count] = link;
                }
                count += 1;
            }
        }
    }
    return count;
}

static void fill_blocks(drag_term* term, const drag_body* bodies) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        memcpy(term->block[b].mass, bodies[b].mass, sizeof(bodies[b].mass));
        memcpy(term->block[b].whole, bodies[b].mass, sizeof(bodies[b].mass));
    }
    for (int64_t l = 0; l < term->link_count; ++l) {
        const drag_link* link = &term->link[l];
        for (int n = 0; n < link->body_count; ++n) {
            drag_block* block = &term->block[link->body[n]];
            for (int i = 0; i < BODY_MOTIONS * BODY_MOTIONS; ++i) {
                int r = i / BODY_MOTIONS, c = i % BODY_MOTIONS;
                block->whole[r][c] += link->weight * link->c[n][r] * link->c[n][c];
            }
        }
    }
    for (int32_t b = 0; b < term->body_count; ++b) {
        six_invert((const double(*)[BODY_MOTIONS])term->block[b].whole, term->block[b].inverse);
    }
}

static treacle_status fill(drag_term* term, const drag_body* bodies, owners* o) {
    const viscosity_level* level = term->level;
    TREACLE_TRY(owners_create(level, term->body_count, bodies, o));
    TREACLE_TRY(alloc_zero(term->ctx, (size_t)term->body_count, sizeof(*term->block),
                           "drag of bodies", (void**)&term->block));
    int64_t count = list_links(level, o, term->body_count, bodies, NULL);
    TREACLE_TRY(alloc_array(term->ctx, (size_t)count, sizeof(*term->link), "drag of bodies",
                            (void**)&term->link));
    term->link_count = list_links(level, o, term->body_count, bodies, term->link);
    fill_blocks(term, bodies);
    return TREACLE_OK;
}

treacle_status drag_term_create(const viscosity_level* level, int32_t body_count,
                                const drag_body* bodies, drag_term** out) {
    owners o = {0};
    *out = NULL;
    drag_term* term = NULL;
    TREACLE_TRY(alloc_zero(level->ctx, 1, sizeof(*term), "drag of bodies", (void**)&term));
    term->ctx = level->ctx;
    term->level = level;
    term->body_count = body_count;
    treacle_status status = fill(term, bodies, &o);
    owners_destroy(level->ctx, &o);
    if (status != TREACLE_OK) {
        drag_term_destroy(term);
        return status;
    }
    *out = term;
    return TREACLE_OK;
}

void drag_term_destroy(drag_term* term) {
    if (term == NULL) {
        return;
    }
    alloc_free(term->ctx, term->block, (size_t)term->body_count * sizeof(*term->block));
    alloc_free(term->ctx, term->link, (size_t)term->link_count * sizeof(*term->link));
    alloc_free(term->ctx, term, sizeof(*term));
}

int32_t drag_term_body_count(const drag_term* term) {
    return term->body_count;
}

// ---- Operator -------------------------------------------------------------------------------

// What the operator is applied to: one of the two is there.
typedef struct drag_source {
    const double* wide;
    const float* rounded;
    int64_t tail;
} drag_source;

static double value_at(const drag_source* x, int64_t slot) {
    return x->wide != NULL ? x->wide[slot] : (double)x->rounded[slot];
}

static void read_motion(const drag_source* x, int32_t body, double out[BODY_MOTIONS]) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        out[i] = value_at(x, x->tail + (int64_t)body * BODY_MOTIONS + i);
    }
}

// Links are few and run in one thread, in their order: no thread has a say in the sums.
static double apply_link(const drag_term* term, const drag_link* link, const drag_source* x,
                         double* y) {
    double s = 0.0, t = 0.0;
    for (int n = 0; n < link->face_count; ++n) {
        s += link->sign[n] * value_at(x, link->slot[n]);
    }
    for (int n = 0; n < link->body_count; ++n) {
        double motion[BODY_MOTIONS];
        read_motion(x, link->body[n], motion);
        t += six_dot(link->c[n], motion);
    }
    for (int n = 0; n < link->face_count; ++n) {
        if (stress_term_is_unknown(term->level, link->slot[n])) {
            y[link->slot[n]] += link->weight * link->sign[n] * t;
        }
    }
    for (int n = 0; n < link->body_count; ++n) {
        double* to = y + x->tail + (int64_t)link->body[n] * BODY_MOTIONS;
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            to[i] += link->weight * (s + t) * link->c[n][i];
        }
    }
    return link->weight * (2.0 * s + t) * t;
}

static double apply_source(const drag_term* term, const drag_source* x, double* y) {
    double energy = 0.0;
    for (int32_t b = 0; b < term->body_count; ++b) {
        double from[BODY_MOTIONS];
        double* to = y + x->tail + (int64_t)b * BODY_MOTIONS;
        read_motion(x, b, from);
        six_multiply((const double(*)[BODY_MOTIONS])term->block[b].mass, from, to);
        energy += six_dot(from, to);
    }
    for (int64_t l = 0; l < term->link_count; ++l) {
        energy += apply_link(term, &term->link[l], x, y);
    }
    return energy;
}

double drag_term_apply(const drag_term* term, int64_t tail, const double* x, double* y) {
    return apply_source(term, &(drag_source){.wide = x, .tail = tail}, y);
}

double drag_term_apply_rounded(const drag_term* term, int64_t tail, const float* x, double* y) {
    return apply_source(term, &(drag_source){.rounded = x, .tail = tail}, y);
}

void drag_term_diagonal(const drag_term* term, double* tail) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            tail[b * BODY_MOTIONS + i] = term->block[b].whole[i][i];
        }
    }
}

void drag_term_precondition(const drag_term* term, const float* r, float* z) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        double from[BODY_MOTIONS], to[BODY_MOTIONS];
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            from[i] = (double)r[b * BODY_MOTIONS + i];
        }
        six_multiply((const double(*)[BODY_MOTIONS])term->block[b].inverse, from, to);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            z[b * BODY_MOTIONS + i] = (float)to[i];
        }
    }
}
