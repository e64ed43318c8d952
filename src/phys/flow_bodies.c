// Rigid bodies in a flow with viscosity [BBB07 sec. 3; BB08 sec. 5].
//
// The stress at a body's surface pushes and turns it, and the body drags the liquid along. Both
// follow from one minimum: [visc.1] or [stokes.1] over the velocity of liquid and the motion V of
// bodies, with 1/2 (V - V*)^T M (V - V*) added for each. On the grid, with w_f of [rigid.1],
//
//     u_f = w_f . V     at faces whose middle lies in a body that liquid sticks to       [rigid.6]
//
// Liquid in the open part of such a face moves with the body: its mass m_f joins the body's,
//
//     M + sum m_f w_f w_f^T,   impulse  M V* + sum m_f w_f u*_f                          [rigid.7]
//
// so nothing of mass or momentum is lost, and a body of the liquid's density rests. What a body
// displaces in cell i is the flow through all that it has of the cell's faces,
//
//     sum over axes of (B_above - B_below) w_a(r_i),   B = what it closes, and all of faces
//     [rigid.6]
//
// and the transpose of that is the pressure's push. A body with a slip length drags faces of the
// liquid by [visc.5] with u_solid = w_f . V; one that slips is felt by the pressure alone.
//
// Staggering: w, m on faces; displacement at cells. Symbols: owner (which body has a face), stuck
// (m_f), closed (B), before, after (V).
// Properties that tests check: momentum of liquid and bodies together is kept; a body of the
// liquid's density rests; a disk settles as fast as theory says.
#include "phys/flow_bodies.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/stagger.h"

static size_t flow_bodies_field_length(const stress_params* p) {
    return (size_t)p->map->count * TILE_CELLS;
}

static int64_t slot_of(int a, int64_t face) {
    return face / TILE_CELLS * VISCOSITY_BLOCK + a * TILE_CELLS + face % TILE_CELLS;
}

static bool is_body(const flow_bodies* bodies, uint16_t id) {
    return id >= bodies->first_solid && id < bodies->first_solid + bodies->count;
}

// Whether a body is near a cell of the tile or closes one of its faces: all else is skipped.
static bool has_body(const stress_params* p, int64_t t) {
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
        bool is_near = is_body(p->bodies, p->cell_solid_id[i]);
        for (int a = 0; a < AXES; ++a) {
            is_near = is_near || is_body(p->bodies, p->bodies->solid[a][i]);
        }
        if (is_near) {
            return true;
        }
    }
    return false;
}

static treacle_status find_tiles(body_coupling* c, const stress_params* p) {
    static const int above[AXES] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                    TILE_NEIGHBOUR(0, 0, 1)};
    tile_ix tiles = p->map->count;
    uint8_t* is_near = NULL;
    TREACLE_TRY(alloc_zero(c->ctx, (size_t)tiles + 1, 1, "tiles with bodies", (void**)&is_near));
    treacle_status status =
        alloc_array(c->ctx, (size_t)tiles, sizeof(tile_ix), "tiles with bodies", (void**)&c->tile);
    c->tile_room = status == TREACLE_OK ? tiles : 0;
    for (tile_ix t = 0; t < tiles && status == TREACLE_OK; ++t) {
        is_near[t] = has_body(p, t) ? 1 : 0;
    }
    for (tile_ix t = 0; t < c->tile_room; ++t) {
        bool is_due = is_near[t] != 0;
        for (int a = 0; a < AXES; ++a) {
            is_due = is_due || is_near[p->map->neighbour[t][above[a]]] != 0;
        }
        if (is_due) {
            c->tile[c->tile_count++] = t;
        }
    }
    alloc_free(c->ctx, is_near, (size_t)tiles + 1);
    return status;
}

// The cells of those tiles, one after the other.
static int64_t cell_count(const body_coupling* c) {
    return (int64_t)c->tile_count * TILE_CELLS;
}

static int64_t cell_at(const body_coupling* c, int64_t n) {
    return (int64_t)c->tile[n / TILE_CELLS] * TILE_CELLS + n % TILE_CELLS;
}

// The row of a face in all six motions [rigid.1].
static void face_row(const stress_params* p, int32_t b, int a, int64_t face,
                     double row[BODY_MOTIONS]) {
    solve_body free_body = {0};
    int at[AXES];
    double place[AXES];
    memcpy(free_body.pivot, p->bodies->body[b].pivot, sizeof(free_body.pivot));
    tile_cell_at(p->map, (tile_ix)(face / TILE_CELLS), (int)(face % TILE_CELLS), at);
    for (int n = 0; n < AXES; ++n) {
        place[n] = at[n] + (double)place_offset(place_face(a), n);
    }
    drag_body_row(&free_body, p->domain, a, place, row);
}

// --- masses -------------------------------------------------------------------------------------

// Liquid that moves with a body [rigid.7].
static void add_body_liquid(const body_coupling* c, const stress_params* p,
                            const stress_weights* weights, float* const face_u[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        for (int64_t n = 0; n < cell_count(c); ++n) {
            int64_t i = cell_at(c, n);
            double mass = (double)weights->body_liquid[a][i];
            if (weights->owner[a][i] == 0 || !(mass > 0.0)) {
                continue;
            }
            int32_t b = (int32_t)weights->owner[a][i] - 1;
            double row[BODY_MOTIONS];
            face_row(p, b, a, i, row);
            for (int k = 0; k < BODY_MOTIONS; ++k) {
                c->impulse[b * BODY_MOTIONS + k] += mass * row[k] * (double)face_u[a][i];
                for (int m = 0; m < BODY_MOTIONS; ++m) {
                    c->bodies[b].mass[k][m] += mass * row[k] * row[m];
                }
            }
        }
    }
}

static void fill_masses(const body_coupling* c, const stress_params* p,
                        const stress_weights* weights, float* const face_u[AXES]) {
    for (int32_t b = 0; b < c->count; ++b) {
        c->bodies[b] = p->bodies->body[b];
        mat6_multiply((const double(*)[BODY_MOTIONS])c->bodies[b].mass, p->bodies->at[b].before,
                      c->impulse + (size_t)b * BODY_MOTIONS);
    }
    add_body_liquid(c, p, weights, face_u);
    for (int32_t b = 0; b < c->count; ++b) {
        solve_body* body = &c->bodies[b];
        double(*inverse)[BODY_MOTIONS] = body->inverse_mass;
        if (!body->is_bound) {
            mat6_invert((const double(*)[BODY_MOTIONS])body->mass, inverse);
            continue;
        }
        double mz[BODY_MOTIONS]; // [rigid.4]
        mat6_multiply((const double(*)[BODY_MOTIONS])body->mass, body->free_motion, mz);
        double energy = mat6_dot(body->free_motion, mz), scale = energy > 0.0 ? 1.0 / energy : 0.0;
        for (int n = 0; n < BODY_MOTIONS * BODY_MOTIONS; ++n) {
            int row = n / BODY_MOTIONS, column = n % BODY_MOTIONS;
            inverse[row][column] = scale * body->free_motion[row] * body->free_motion[column];
        }
    }
}

// --- displacement -------------------------------------------------------------------------------

// What body b has of a face, as the cell above it sees it or that below [rigid.6].
static double part_of_face(const stress_params* p, const stress_weights* weights, int32_t b, int a,
                           int64_t face, bool is_below) {
    const flow_bodies* bodies = p->bodies;
    bool closes = bodies->solid[a][face] == bodies->first_solid + b;
    bool is_owner = weights->owner[a][face] == b + 1;
    double open = stress_opening(p, a, face, is_below); // all of a face that it has let go of
    return (closes ? fmin((double)bodies->closed[a][face], 1.0 - open) : 0.0) +
           (is_owner ? open : 0.0);
}

// The body that has something of a face, -1 for none. Of two the one that closes it comes first;
// the other is found as the owner.
static int32_t shutter_of(const stress_params* p, int a, int64_t face) {
    const flow_bodies* bodies = p->bodies;
    uint16_t id = bodies->solid[a][face];
    return is_body(bodies, id) ? id - bodies->first_solid : -1;
}

// Bodies at the faces of a cell, each once; returns how many.
static int bodies_at_cell(const stress_params* p, const stress_weights* weights, tile_ix t, int q,
                          int32_t out[4 * AXES]) {
    int count = 0;
    for (int n = 0; n < 4 * AXES; ++n) {
        int a = n % AXES;
        bool is_high = n / AXES % 2 == 1;
        int64_t here = (int64_t)t * TILE_CELLS + q;
        int64_t face = is_high ? tile_slot_above(p->map, t, q, a) : here;
        if (!p->domain->is_active[a] || face >= (int64_t)flow_bodies_field_length(p)) {
            continue;
        }
        int32_t b = n < 2 * AXES ? shutter_of(p, a, face) : (int32_t)weights->owner[a][face] - 1;
        int at = 0;
        while (at < count && out[at] != b) {
            at += 1;
        }
        if (b >= 0 && at == count) {
            out[count++] = b;
        }
    }
    return count;
}

// The row of a cell; false if it is zero.
static bool cell_row(const stress_params* p, const stress_weights* weights, int32_t b, tile_ix t,
                     int q, double row[BODY_MOTIONS]) {
    bool is_any = false;
    memset(row, 0, BODY_MOTIONS * sizeof(double));
    for (int a = 0; a < AXES; ++a) {
        int64_t low = (int64_t)t * TILE_CELLS + q, high = tile_slot_above(p->map, t, q, a);
        if (!p->domain->is_active[a]) {
            continue;
        }
        bool is_here = high < (int64_t)flow_bodies_field_length(p);
        double above = is_here ? part_of_face(p, weights, b, a, high, true) : 0.0;
        double below = part_of_face(p, weights, b, a, low, false);
        double difference = above - below, w[BODY_MOTIONS];
        face_row(p, b, a, low, w); // along its own axis a row does not change
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            row[n] += difference * w[n];
        }
        is_any = is_any || difference != 0.0;
    }
    return is_any;
}

static bool is_cell(const tile_map* map, int q) {
    return (q & 7) < tile_layers(map, 0) && (q >> 3 & 7) < tile_layers(map, 1) &&
           q >> 6 < tile_layers(map, 2);
}

// Rows of all bodies by body, or only their numbers. first[b] is where those of body b go.
static void list_flows(const body_coupling* c, const stress_params* p,
                       const stress_weights* weights, const int64_t* first) {
    for (int32_t b = 0; b < c->count; ++b) {
        c->bodies[b].row_count = 0;
    }
    for (int64_t k = 0; k < cell_count(c); ++k) {
        int64_t i = cell_at(c, k);
        tile_ix t = (tile_ix)(i / TILE_CELLS);
        int q = (int)(i % TILE_CELLS);
        int32_t bodies[4 * AXES];
        int count = is_cell(p->map, q) ? bodies_at_cell(p, weights, t, q, bodies) : 0;
        for (int n = 0; n < count; ++n) {
            double row[BODY_MOTIONS];
            if (!cell_row(p, weights, bodies[n], t, q, row)) {
                continue;
            }
            int64_t at = c->bodies[bodies[n]].row_count++;
            if (first != NULL) {
                c->cell[first[bodies[n]] + at] = i;
                memcpy(c->row[first[bodies[n]] + at], row, sizeof(row));
            }
        }
    }
}

static treacle_status fill_flows(body_coupling* c, const stress_params* p,
                                 const stress_weights* weights) {
    int64_t* first = NULL;
    size_t count = (size_t)c->count;
    list_flows(c, p, weights, NULL);
    TREACLE_TRY(alloc_array(c->ctx, count, sizeof(int64_t), "flow around bodies", (void**)&first));
    for (int32_t b = 0; b < c->count; ++b) {
        first[b] = c->row_room;
        c->row_room += c->bodies[b].row_count;
    }
    size_t room = (size_t)c->row_room;
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_array(c->ctx, room, sizeof(int64_t), "flow around bodies", (void**)&c->cell), finish);
    TREACLE_TRY_GOTO(
        alloc_array(c->ctx, room, sizeof(*c->row), "flow around bodies", (void**)&c->row), finish);
    list_flows(c, p, weights, first);
    for (int32_t b = 0; b < c->count; ++b) {
        c->bodies[b].slot = c->cell + first[b];
        c->bodies[b].row = (const double(*)[BODY_MOTIONS])(c->row + first[b]);
    }
finish:
    alloc_free(c->ctx, first, count * sizeof(int64_t));
    return status;
}

// --- slip lengths -------------------------------------------------------------------------------

// The body that drags a face of the liquid, -1 for none.
static int32_t dragger_of(const stress_params* p, const stress_weights* weights, int a,
                          int64_t face) {
    bool is_dragged = weights->drag[a] != NULL && weights->drag[a][face] > 0.0f;
    int32_t b = is_dragged ? (int32_t)p->cell_solid_id[face] - p->bodies->first_solid : -1;
    return b < p->bodies->count ? b : -1;
}

static void list_pulls(body_coupling* c, const stress_params* p, const stress_weights* weights) {
    for (int32_t b = 0, at = 0; b < c->count; ++b) {
        solve_body* body = &c->bodies[b];
        body->pull = c->pull + at;
        for (int64_t i = 0; i < AXES * cell_count(c) && at < c->pull_room; ++i) {
            int a = (int)(i / cell_count(c));
            int64_t face = cell_at(c, i % cell_count(c));
            if (dragger_of(p, weights, a, face) == b) {
                c->pull[at++] = (body_pull){slot_of(a, face), (double)weights->drag[a][face]};
                body->pull_count += 1;
            }
        }
    }
}

static treacle_status fill_pulls(body_coupling* c, const stress_params* p,
                                 const stress_weights* weights) {
    for (int a = 0; a < AXES; ++a) {
        for (int64_t n = 0; n < cell_count(c); ++n) {
            c->pull_room += dragger_of(p, weights, a, cell_at(c, n)) >= 0 ? 1 : 0;
        }
    }
    TREACLE_TRY(alloc_array(c->ctx, (size_t)c->pull_room, sizeof(*c->pull), "drag of bodies",
                            (void**)&c->pull));
    list_pulls(c, p, weights);
    return TREACLE_OK;
}

// --- all together -------------------------------------------------------------------------------

static treacle_status flow_bodies_fill(body_coupling* c, const stress_params* p,
                                       const stress_weights* weights, float* const face_u[AXES]) {
    size_t count = (size_t)c->count;
    TREACLE_TRY(
        alloc_zero(c->ctx, count, sizeof(*c->bodies), "bodies in the flow", (void**)&c->bodies));
    TREACLE_TRY(alloc_zero(c->ctx, count * BODY_MOTIONS, sizeof(double), "bodies in the flow",
                           (void**)&c->impulse));
    TREACLE_TRY(find_tiles(c, p));
    fill_masses(c, p, weights, face_u);
    TREACLE_TRY(fill_flows(c, p, weights));
    return fill_pulls(c, p, weights);
}

treacle_status body_coupling_create(const stress_params* params, const stress_weights* weights,
                                    float* const face_u[AXES], body_coupling* out) {
    TREACLE_ASSERT(params->bodies == NULL || params->bodies->count >= 0);
    TREACLE_ASSERT(params->bodies == NULL || params->bodies->first_solid >= 0);
    *out = (body_coupling){.ctx = params->map->ctx};
    if (params->bodies == NULL) {
        return TREACLE_OK;
    }
    out->count = params->bodies->count;
    treacle_status status = flow_bodies_fill(out, params, weights, face_u);
    if (status != TREACLE_OK) {
        body_coupling_destroy(out);
    }
    return status;
}

void body_coupling_destroy(body_coupling* coupling) {
    size_t count = (size_t)coupling->count, rows = (size_t)coupling->row_room;
    if (coupling->ctx != NULL) {
        treacle_context* ctx = coupling->ctx;
        alloc_free(ctx, coupling->bodies, count * sizeof(*coupling->bodies));
        alloc_free(ctx, coupling->impulse, count * BODY_MOTIONS * sizeof(double));
        alloc_free(ctx, coupling->pull, (size_t)coupling->pull_room * sizeof(*coupling->pull));
        alloc_free(ctx, coupling->cell, rows * sizeof(int64_t));
        alloc_free(ctx, coupling->row, rows * sizeof(*coupling->row));
        alloc_free(ctx, coupling->tile, (size_t)coupling->tile_room * sizeof(tile_ix));
    }
    *coupling = (body_coupling){0};
}

size_t body_coupling_tail(const body_coupling* coupling) {
    size_t values = (size_t)coupling->count * BODY_MOTIONS;
    return (values + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
}

void body_coupling_load(const body_coupling* coupling, const stress_params* params, bool is_stiff,
                        double* f, double* u) {
    TREACLE_ASSERT(coupling->count == 0 || (f != NULL && u != NULL && f != u));
    TREACLE_ASSERT(coupling->count == 0 || params->bodies != NULL);
    for (int32_t b = 0; b < coupling->count; ++b) {
        const flow_motion* motion = &params->bodies->at[b];
        const solve_body* body = &coupling->bodies[b];
        const double* impulse = coupling->impulse + (size_t)b * BODY_MOTIONS;
        const double* from = is_stiff ? motion->guess : motion->before;
        double *to = f + (size_t)b * BODY_MOTIONS, *guess = u + (size_t)b * BODY_MOTIONS;
        if (body->is_bound) {
            double square = mat6_dot(body->free_motion, body->free_motion);
            to[0] += mat6_dot(body->free_motion, impulse);
            guess[0] = square > 0.0 ? mat6_dot(body->free_motion, from) / square : 0.0;
            continue;
        }
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            to[n] += impulse[n];
            guess[n] = from[n];
        }
    }
}

void body_coupling_motion(const body_coupling* coupling, int32_t body, const double* tail,
                          double motion[BODY_MOTIONS]) {
    TREACLE_ASSERT(body >= 0 && body < coupling->count);
    const solve_body* at = &coupling->bodies[body];
    const double* y = tail + (size_t)body * BODY_MOTIONS;
    for (int n = 0; n < BODY_MOTIONS; ++n) {
        motion[n] = at->is_bound ? y[0] * at->free_motion[n] : y[n];
    }
}

double body_coupling_speed(const body_coupling* coupling, const stress_params* params, int32_t body,
                           const double* tail, int axis, int64_t face) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    TREACLE_ASSERT(face >= 0 && face < (int64_t)tile_map_values(params->map));
    double row[BODY_MOTIONS], motion[BODY_MOTIONS];
    face_row(params, body, axis, face, row);
    body_coupling_motion(coupling, body, tail, motion);
    return mat6_dot(row, motion);
}

double body_coupling_drag(const body_coupling* coupling, const stress_params* params,
                          const double* u, const double* tail) {
    TREACLE_ASSERT(u != NULL && (coupling->count == 0 || tail != NULL));
    double sum = 0.0;
    for (int32_t b = 0; b < coupling->count; ++b) {
        for (int64_t i = 0; i < coupling->bodies[b].pull_count; ++i) {
            const body_pull* pull = &coupling->bodies[b].pull[i];
            int a = (int)(pull->slot / TILE_CELLS % AXES);
            int64_t face = pull->slot / VISCOSITY_BLOCK * TILE_CELLS + pull->slot % TILE_CELLS;
            double slip = u[pull->slot] - body_coupling_speed(coupling, params, b, tail, a, face);
            sum += pull->weight * (slip * slip);
        }
    }
    return sum;
}

void body_coupling_store(const body_coupling* coupling, const stress_params* params,
                         const stress_weights* weights, const double* u,
                         float* const face_u[AXES]) {
    TREACLE_ASSERT(coupling->count == 0 || (params->bodies != NULL && weights->owner[0] != NULL));
    for (int32_t b = 0; b < coupling->count; ++b) {
        body_coupling_motion(coupling, b, u, params->bodies->at[b].after);
    }
    for (int a = 0; a < AXES && coupling->count > 0; ++a) {
        for (int64_t n = 0; n < cell_count(coupling); ++n) {
            int64_t i = cell_at(coupling, n);
            int32_t b = (int32_t)weights->owner[a][i] - 1;
            double row[BODY_MOTIONS];
            if (b >= 0) {
                face_row(params, b, a, i, row);
                face_u[a][i] = (float)mat6_dot(row, params->bodies->at[b].after);
            }
        }
    }
}
