// A body's faces are no unknowns: they move as its six numbers say. In a term w (d . u)^2 / 2 those
// faces are replaced by rows times y, which makes it a link between liquid and body, or between two
// bodies. Links are found once, from the faces that bodies own: a term with no such face is the
// stencil's business, one with none but faces of one body vanishes. There are few links compared
// with faces, about one for each face of a body's surface, so they run in one thread.
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

// A face of a body that something in the cycle looks at.
typedef struct drag_face {
    int64_t slot;
    int32_t body;
    double row[BODY_MOTIONS];
} drag_face;

typedef struct drag_block {
    double mass[BODY_MOTIONS][BODY_MOTIONS];
    double whole[BODY_MOTIONS][BODY_MOTIONS]; // mass and stresses
    double inverse[BODY_MOTIONS][BODY_MOTIONS];
    int64_t first_entry; // of its links in `entry`
} drag_block;

struct drag_term {
    treacle_context* ctx;
    const viscosity_level* level;
    int32_t body_count;
    drag_block* block; // [body_count + 1]
    int64_t link_count, face_count, entry_count;
    drag_link* link;
    drag_face* face;
    int64_t* entry; // links by body
    tile_ix* tile;  // [tile_count], that hold unknowns of links
    tile_ix tile_count;
};

// ---- Rows -----------------------------------------------------------------------------------

void drag_body_row(const solve_body* body, const grid_domain* domain, int a, const double at[AXES],
                   double row[BODY_MOTIONS]) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    double arm[AXES];
    for (int n = 0; n < AXES; ++n) {
        // Flat grids know no place along their flat axis, and no rotation out of the plane.
        arm[n] = domain->is_active[n] ? at[n] - body->pivot[n] : 0.0;
    }
    memset(row, 0, BODY_MOTIONS * sizeof(double));
    // u_a = v_a + omega_b arm_c - omega_c arm_b, as in lump_assembly.c.
    row[a] = 1.0;
    row[AXES + b] = arm[c];
    row[AXES + c] = -arm[b];
    if (body->is_bound) {
        // Joints leave one motion: its speed at this face is all that there is, kept in the first
        // place.
        double speed = mat6_dot(row, body->free_motion);
        memset(row, 0, BODY_MOTIONS * sizeof(double));
        row[0] = speed;
    }
}

// The row of a face of the level.
static void row_of(const drag_def* def, int64_t slot, int32_t body, double row[BODY_MOTIONS]) {
    const viscosity_level* level = def->level;
    int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS, q = (int)(slot % TILE_CELLS);
    const int32_t* tile = level->map->coord[slot / VISCOSITY_BLOCK].at;
    double at[AXES];
    for (int b = 0; b < AXES; ++b) {
        // In cells of the finest level, in which pivots are given on all levels.
        at[b] = def->scale[b] * (TILE_SIZE * tile[b] + (q >> 3 * b & 7) + (b == a ? 0.0 : 0.5));
    }
    drag_body_row(&def->bodies[body], &level->domain, a, at, row);
}

// The body that a face belongs to, -1 for none.
static int32_t body_at(const viscosity_level* level, int64_t slot) {
    if (slot < 0) {
        return -1;
    }
    int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS;
    const uint16_t* owner = level->weights.owner[a];
    return (int32_t)owner[slot / VISCOSITY_BLOCK * TILE_CELLS + slot % TILE_CELLS] - 1;
}

// ---- Set-up ---------------------------------------------------------------------------------

// The place of a body in a link, added if it is new.
static int place_in(drag_link* link, int32_t body) {
    int at = 0;
    // A term has at most four faces, and so at most four bodies.
    while (at < link->body_count && link->body[at] != body) {
        at += 1;
    }
    if (at == link->body_count) {
        link->body[link->body_count++] = body;
    }
    return at;
}

// The link of a term; false if a single body has all its faces, or it has no weight.
// Splits the faces of a term into those of liquid, kept with their signs, and those of bodies, kept
// as rows.
static bool make_link(const drag_def* def, const stress_term* term, drag_link* out) {
    *out = (drag_link){.weight = (double)term->weight};
    for (int n = 0; n < term->count; ++n) {
        int32_t body = body_at(def->level, term->slot[n]);
        // Unknowns and walls alike: a wall's value is zero in a vector.
        if (body < 0 && term->slot[n] >= 0) {
            out->slot[out->face_count] = term->slot[n];
            out->sign[out->face_count++] = term->sign[n];
        } else if (body >= 0) {
            double row[BODY_MOTIONS];
            int at = place_in(out, body);
            row_of(def, term->slot[n], body, row);
            for (int i = 0; i < BODY_MOTIONS; ++i) {
                out->c[at][i] += term->sign[n] * row[i];
            }
        }
    }
    // All faces of one body: a rigid motion, which has no strain.
    return out->weight > 0.0 && (out->face_count > 0 || out->body_count > 1);
}

// Whether `slot` is the first face of the term that a body has: so each term is met once.
static bool is_first_owned(const drag_def* def, const stress_term* term, int64_t slot) {
    // It ends: `slot` itself is a body's.
    int n = 0;
    while (body_at(def->level, term->slot[n]) < 0) {
        n += 1;
    }
    return term->slot[n] == slot;
}

// Lists the links at a face, or only counts them.
// From the side of the body: terms without a face of a body are never looked at.
static int64_t list_links_of_face(const drag_def* def, int64_t slot, drag_link* out) {
    int64_t count = 0;
    term_place places[STRESS_TERMS_OF_FACE];
    stress_terms_of_face(def->level, slot, places);
    for (int n = 0; n < STRESS_TERMS_OF_FACE; ++n) {
        drag_link link;
        if (places[n].tile >= def->level->map->count) {
            continue;
        }
        stress_term term = stress_term_at(def->level, places[n]);
        // A term is met from each of its faces that a body has, and kept from the first.
        if (!is_first_owned(def, &term, slot) || !make_link(def, &term, &link)) {
            continue;
        }
        if (out != NULL) {
            out[count] = link;
        }
        count += 1;
    }
    return count;
}

// A body along which liquid slips has no faces of its own. It pulls at faces of the liquid with a
// drag, one link each: a term with one unknown on the liquid's side and the six of the body.
static int64_t list_pulls(const drag_def* def, drag_link* out) {
    int64_t count = 0;
    // Slip is a matter of the finest level: coarse ones see stress between liquid and body only.
    for (int32_t b = 0; b < def->body_count && def->is_finest; ++b) {
        for (int64_t i = 0; i < def->bodies[b].pull_count; ++i, ++count) {
            const body_pull* pull = &def->bodies[b].pull[i];
            if (out != NULL) {
                drag_link* link = &out[count];
                *link = (drag_link){.weight = pull->weight, .face_count = 1, .body_count = 1};
                link->slot[0] = pull->slot;
                // w (u_f - r_f . y)^2 / 2, with the sign on the liquid's side.
                link->sign[0] = -1.0;
                link->body[0] = b;
                row_of(def, pull->slot, b, link->c[0]);
            }
        }
    }
    return count;
}

// Whether a face moves with a body.
static bool is_owned(const viscosity_level* level, int64_t slot) {
    return body_at(level, slot) >= 0;
}

// Lists all links, or only counts them.
static int64_t list_links(const drag_def* def, drag_link* out) {
    const viscosity_level* level = def->level;
    int64_t count = 0;
    for (tile_ix i = 0; i < level->space.active_count; ++i) {
        int64_t begin = (int64_t)level->active[i] * VISCOSITY_BLOCK;
        for (int64_t slot = begin; slot < begin + VISCOSITY_BLOCK; ++slot) {
            if (is_owned(level, slot)) {
                count += list_links_of_face(def, slot, out != NULL ? out + count : NULL);
            }
        }
    }
    return count + list_pulls(def, out != NULL ? out + count : NULL);
}

// Whether the cycle looks at a face of a body: on coarse levels interpolation may look at any.
static bool is_looked_at(const drag_def* def, int64_t slot) {
    term_place places[STRESS_TERMS_OF_FACE];
    // On the finest level only terms read faces of bodies.
    bool is_near = !def->is_finest;
    stress_terms_of_face(def->level, slot, places);
    for (int n = 0; n < STRESS_TERMS_OF_FACE && !is_near; ++n) {
        if (places[n].tile < def->level->map->count) {
            stress_term term = stress_term_at(def->level, places[n]);
            for (int k = 0; k < term.count; ++k) {
                is_near = is_near || stress_term_is_unknown(def->level, term.slot[k]);
            }
        }
    }
    return is_near;
}

// A vector of the cycle has values at faces of bodies, too, though they are no unknowns: sweeps and
// transfers read them as if they were liquid. Only faces that something reads are written.
static int64_t list_faces(const drag_def* def, drag_face* out) {
    const viscosity_level* level = def->level;
    int64_t count = 0;
    for (tile_ix i = 0; i < level->space.active_count; ++i) {
        int64_t begin = (int64_t)level->active[i] * VISCOSITY_BLOCK;
        for (int64_t slot = begin; slot < begin + VISCOSITY_BLOCK; ++slot) {
            if (!is_owned(level, slot) || !is_looked_at(def, slot)) {
                continue;
            }
            if (out != NULL) {
                out[count].slot = slot;
                out[count].body = body_at(level, slot);
                row_of(def, slot, out[count].body, out[count].row);
            }
            count += 1;
        }
    }
    return count;
}

// The block of a body: its mass, and c c^T w of all links that it enters. It is what a relaxation
// of the body alone inverts. A body with one free motion z has the number z^T M z in the first
// place and zeros elsewhere, which mat6_invert leaves alone.
static void fill_blocks(drag_term* term, const solve_body* bodies) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        drag_block* block = &term->block[b];
        memcpy(block->mass, bodies[b].mass, sizeof(block->mass));
        if (bodies[b].is_bound) {
            double mz[BODY_MOTIONS];
            mat6_multiply(bodies[b].mass, bodies[b].free_motion, mz);
            memset(block->mass, 0, sizeof(block->mass));
            block->mass[0][0] = mat6_dot(bodies[b].free_motion, mz);
        }
        memcpy(block->whole, block->mass, sizeof(block->mass));
    }
    for (int64_t l = 0; l < term->link_count; ++l) {
        const drag_link* link = &term->link[l];
        for (int n = 0; n < link->body_count; ++n) {
            drag_block* block = &term->block[link->body[n]];
            for (int i = 0; i < BODY_MOTIONS * BODY_MOTIONS; ++i) {
                int r = i / BODY_MOTIONS, c = i % BODY_MOTIONS;
                block->whole[r][c] += link->weight * link->c[n][r] * link->c[n][c];
            }
            block[1].first_entry += 1;
        }
    }
    for (int32_t b = 0; b < term->body_count; ++b) {
        mat6_invert((const double(*)[BODY_MOTIONS])term->block[b].whole, term->block[b].inverse);
        term->block[b + 1].first_entry += term->block[b].first_entry;
    }
}

// Links by body, as a list of lists: counted in fill_blocks, filled here in the order of links.
static treacle_status list_entries(drag_term* term) {
    int32_t bodies = term->body_count;
    int64_t* next = NULL;
    term->entry_count = term->block[bodies].first_entry;
    TREACLE_TRY(alloc_array(term->ctx, (size_t)term->entry_count, sizeof(int64_t), "drag of bodies",
                            (void**)&term->entry));
    TREACLE_TRY(
        alloc_array(term->ctx, (size_t)bodies, sizeof(int64_t), "drag of bodies", (void**)&next));
    for (int32_t b = 0; b < bodies; ++b) {
        next[b] = term->block[b].first_entry;
    }
    for (int64_t l = 0; l < term->link_count; ++l) {
        for (int n = 0; n < term->link[l].body_count; ++n) {
            term->entry[next[term->link[l].body[n]]++] = l;
        }
    }
    alloc_free(term->ctx, next, (size_t)bodies * sizeof(int64_t));
    return TREACLE_OK;
}

// The tiles whose unknowns a body's links reach. Where an operator is applied again in double
// around bodies, it is these that are done, and no others.
static treacle_status list_touched(drag_term* term) {
    size_t tiles = (size_t)term->level->map->count;
    uint8_t* is_touched = NULL;
    TREACLE_TRY(alloc_zero(term->ctx, tiles, 1, "tiles of bodies", (void**)&is_touched));
    treacle_status status =
        alloc_array(term->ctx, tiles, sizeof(tile_ix), "tiles of bodies", (void**)&term->tile);
    for (int64_t l = 0; l < term->link_count; ++l) {
        for (int n = 0; n < term->link[l].face_count; ++n) {
            is_touched[term->link[l].slot[n] / VISCOSITY_BLOCK] = 1;
        }
    }
    for (tile_ix i = 0; i < term->level->space.active_count && status == TREACLE_OK; ++i) {
        tile_ix t = term->level->active[i];
        if (is_touched[t] != 0) {
            term->tile[term->tile_count++] = t;
        }
    }
    alloc_free(term->ctx, is_touched, tiles);
    return status;
}

static treacle_status fill(drag_term* term, const drag_def* def) {
    TREACLE_TRY(alloc_zero(term->ctx, (size_t)term->body_count + 1, sizeof(*term->block),
                           "drag of bodies", (void**)&term->block));
    int64_t links = list_links(def, NULL), faces = list_faces(def, NULL);
    TREACLE_TRY(alloc_array(term->ctx, (size_t)links, sizeof(*term->link), "drag of bodies",
                            (void**)&term->link));
    term->link_count = list_links(def, term->link);
    TREACLE_TRY(alloc_array(term->ctx, (size_t)faces, sizeof(*term->face), "drag of bodies",
                            (void**)&term->face));
    term->face_count = list_faces(def, term->face);
    fill_blocks(term, def->bodies);
    TREACLE_TRY(list_entries(term));
    return list_touched(term);
}

treacle_status drag_term_create(const drag_def* def, drag_term** out) {
    TREACLE_ASSERT(def->body_count > 0 && def->level->weights.owner[0] != NULL);
    TREACLE_ASSERT(def->scale[0] >= 1.0 && def->scale[1] >= 1.0 && def->scale[2] >= 1.0);
    *out = NULL;
    drag_term* term = NULL;
    TREACLE_TRY(alloc_zero(def->level->ctx, 1, sizeof(*term), "drag of bodies", (void**)&term));
    term->ctx = def->level->ctx;
    term->level = def->level;
    term->body_count = def->body_count;
    treacle_status status = fill(term, def);
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
    treacle_context* ctx = term->ctx;
    alloc_free(ctx, term->block, ((size_t)term->body_count + 1) * sizeof(*term->block));
    alloc_free(ctx, term->link, (size_t)term->link_count * sizeof(*term->link));
    alloc_free(ctx, term->face, (size_t)term->face_count * sizeof(*term->face));
    alloc_free(ctx, term->entry, (size_t)term->entry_count * sizeof(int64_t));
    alloc_free(ctx, term->tile, (size_t)term->level->map->count * sizeof(tile_ix));
    alloc_free(ctx, term, sizeof(*term));
}

int32_t drag_term_body_count(const drag_term* term) {
    return term->body_count;
}

tile_ix drag_term_tiles(const drag_term* term, const tile_ix** tiles) {
    *tiles = term->tile;
    return term->tile_count;
}

const double (*drag_term_mass(const drag_term* term, int32_t body))[BODY_MOTIONS] {
    return (const double(*)[BODY_MOTIONS])term->block[body].mass;
}

const double (*drag_term_block(const drag_term* term, int32_t body))[BODY_MOTIONS] {
    return (const double(*)[BODY_MOTIONS])term->block[body].whole;
}

// ---- Operator -------------------------------------------------------------------------------

// A vector comes in double or rounded to float; what is subtracted is double either way.
static double value_at(const drag_source* x, int64_t slot) {
    return x->wide != NULL ? x->wide[slot] : (double)x->rounded[slot];
}

// Bodies' unknowns lie behind the tiles of a vector, in its tail: six a body.
static void read_motion(const drag_source* x, int32_t body, double out[BODY_MOTIONS]) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        out[i] = value_at(x, x->tail + (int64_t)body * BODY_MOTIONS + i);
    }
}

// Links are few and run in one thread, in their order: no thread has a say in the sums.
static double apply_link(const drag_term* term, const drag_link* link, const drag_source* x,
                         double sign, double* y) {
    // The strain of the term is s of the liquid and t of the bodies. The level's own stencil has s
    // s of the energy and the liquid's pull by s already; what is missing is all that has t in it:
    // w t on liquid, w (s + t) on bodies, and w (2 s + t) t of energy.
    double s = 0.0, t = 0.0;
    for (int n = 0; n < link->face_count; ++n) {
        s += link->sign[n] * value_at(x, link->slot[n]);
    }
    for (int n = 0; n < link->body_count; ++n) {
        double motion[BODY_MOTIONS];
        read_motion(x, link->body[n], motion);
        t += mat6_dot(link->c[n], motion);
    }
    for (int n = 0; n < link->face_count; ++n) {
        if (stress_term_is_unknown(term->level, link->slot[n])) {
            y[link->slot[n]] += sign * (link->weight * link->sign[n] * t);
        }
    }
    for (int n = 0; n < link->body_count; ++n) {
        double* to = y + x->tail + (int64_t)link->body[n] * BODY_MOTIONS;
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            to[i] += sign * (link->weight * (s + t) * link->c[n][i]);
        }
    }
    return link->weight * (2.0 * s + t) * t;
}

// y += sign (the bodies' part of A x): masses first, then links. Returns x . of it.
double drag_term_add(const drag_term* term, const drag_source* x, double sign, double* y) {
    double energy = 0.0;
    for (int32_t b = 0; b < term->body_count; ++b) {
        double from[BODY_MOTIONS], product[BODY_MOTIONS];
        double* to = y + x->tail + (int64_t)b * BODY_MOTIONS;
        read_motion(x, b, from);
        mat6_multiply((const double(*)[BODY_MOTIONS])term->block[b].mass, from, product);
        energy += mat6_dot(from, product);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            to[i] += sign * product[i];
        }
    }
    for (int64_t l = 0; l < term->link_count; ++l) {
        energy += apply_link(term, &term->link[l], x, sign, y);
    }
    return energy;
}

// The diagonal of bodies is that of their blocks; links have put their squares there.
void drag_term_diagonal(const drag_term* term, double* tail) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            tail[b * BODY_MOTIONS + i] = term->block[b].whole[i][i];
        }
    }
}

// ---- In the cycle ---------------------------------------------------------------------------

static void motion_in_cycle(const drag_cycle* at, int32_t body, double out[BODY_MOTIONS]) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        out[i] = (double)at->y[body * BODY_MOTIONS + i];
    }
}

// b - A x in the six equations of one body, from the links that it enters. In double: what liquid
// and body exchange cancels to many digits when both move as one.
static void residual_of_body(const drag_term* term, const drag_cycle* at, int32_t b,
                             double out[BODY_MOTIONS]) {
    double motion[BODY_MOTIONS], product[BODY_MOTIONS];
    motion_in_cycle(at, b, motion);
    mat6_multiply((const double(*)[BODY_MOTIONS])term->block[b].mass, motion, product);
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        out[i] = (double)at->b[b * BODY_MOTIONS + i] - product[i];
    }
    for (int64_t e = term->block[b].first_entry; e < term->block[b + 1].first_entry; ++e) {
        const drag_link* link = &term->link[term->entry[e]];
        double strain = 0.0;
        const double* c = link->c[0];
        for (int n = 0; n < link->face_count; ++n) {
            strain += link->sign[n] * (double)at->x[link->slot[n]];
        }
        for (int n = 0; n < link->body_count; ++n) {
            motion_in_cycle(at, link->body[n], motion);
            strain += mat6_dot(link->c[n], motion);
            c = link->body[n] == b ? link->c[n] : c;
        }
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            out[i] -= link->weight * strain * c[i];
        }
    }
}

// One body after the other, as Gauss and Seidel have it: a body sees the new motion of those before
// it. In reverse after the reverse sweep over liquid, so that the whole cycle stays symmetric.
void drag_term_relax(const drag_term* term, const drag_cycle* at, bool is_reverse) {
    for (int32_t n = 0; n < term->body_count; ++n) {
        int32_t b = is_reverse ? term->body_count - 1 - n : n;
        double rest[BODY_MOTIONS], change[BODY_MOTIONS];
        residual_of_body(term, at, b, rest);
        mat6_multiply((const double(*)[BODY_MOTIONS])term->block[b].inverse, rest, change);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            at->y[b * BODY_MOTIONS + i] += (float)change[i];
        }
    }
    drag_term_fill(term, at->y, at->x);
}

// Faces of bodies get the motion of their body: sweeps and transfers then read them like any
// others.
void drag_term_fill(const drag_term* term, const float* y, float* x) {
    for (int64_t i = 0; i < term->face_count; ++i) {
        const drag_face* face = &term->face[i];
        double speed = 0.0;
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            speed += face->row[n] * (double)y[face->body * BODY_MOTIONS + n];
        }
        x[face->slot] = (float)speed;
    }
}

// And lose it again, since outside of a cycle vectors hold unknowns and nothing else.
void drag_term_clear(const drag_term* term, float* x) {
    for (int64_t i = 0; i < term->face_count; ++i) {
        x[term->face[i].slot] = 0.0f;
    }
}

void drag_term_residual(const drag_term* term, const drag_cycle* at, double* out) {
    for (int32_t b = 0; b < term->body_count; ++b) {
        residual_of_body(term, at, b, out + (size_t)b * BODY_MOTIONS);
    }
}

// What restriction has brought to coarse faces of a body belongs to the body: their rows
// transposed.
void drag_term_gather(const drag_term* term, const float* r, double* sum) {
    for (int64_t i = 0; i < term->face_count; ++i) {
        const drag_face* face = &term->face[i];
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            sum[face->body * BODY_MOTIONS + n] += (double)r[face->slot] * face->row[n];
        }
    }
}
