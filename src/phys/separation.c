// Liquid that lets go of walls [BBB07 sec. 4].
//
//     0 <= p + a   perp   (u - u_solid) . n >= 0          at walls, n into the liquid   [BBB07 eq.
//     15]
//
// with the adhesion a: the wall pushes, and pulls no stronger than a; or the liquid leaves it, and
// then it is free surface. Discretised at the wall of a cell i, a face at the distance theta h from
// the cell's centre, with x = dt p / (rho_ref h) as in [press.1], x_w at the wall:
//
//     u_n = u*_n + (rho_ref / rho) (x_w - x_i) / theta                                      [sep.1]
//
//     contact   u_n = u_solid    the cell's sum gets     A u_solid
//                               holds while             x_w = x_i + (rho / rho_ref) theta
//                                                             (u_solid - u*_n) >= -b
//     released  x_w = -b        the cell's sum gets     A u*_n - k (x_i + b)                [sep.2]
//                               holds while             u_n >= u_solid
//
// where k = A rho_ref / (rho theta) and b = dt a / (rho_ref h). Which walls are which is found by a
// primal-dual active set: solve, move every wall that broke its condition to the other set, solve
// again. The matrix is an M-matrix whatever the sets are, so this ends after finitely many passes
// [HIK02]; begun with the sets and the pressure of the last step it takes one or two.
// A released wall changes a diagonal and nothing else: the multigrid follows it by a refresh.
//
// differs from [BBB07]: the bound is on the pressure at the wall, half a cell from the unknown, by
// the momentum of the half cell between: so a wall of the grid is of second order, and the
// reaction of the wall is what the unified solve has, too.
//
// A region without free surface cannot open a void: there the pressure is known but for a
// constant, and no wall lets go. In a full closed tank on and off agree.
//
// A solid's surface in a cell has the area and the normal of the difference of what it leaves open
// of opposite faces, A n_a = A_f(high) - A_f(low), and theta is its distance:              [sep.3]
//
// Adhesion acts on liquid that was in contact in the last step. What has let go, or just arrived,
// is held by nothing.
//
// Staggering: x, extra at cells; walls on faces. Symbols: area (A), conductance (k), bound (b),
// u_before (u*_n).
// Properties that tests check: complementarity; a hanging block falls freely; adhesion holds it; a
// full tank does not change; bits do not depend on threads.
#include "phys/separation.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/elementary.h"
#include "phys/projection.h"
#include "phys/solid.h"
#include "solve/pressure_solver.h"
#include "solve/regions.h"

static const double side_theta = 0.5; // sides of the domain lie on faces
static const double theta_min = 0.1;
static const float least_area = 0.01f;   // of a wall, in faces
static const float solid_reach = 2.0f;   // cells, from the middle of a cell that a solid cuts
static const float shallow_reach = 0.6f; // cells, from the middle of a cell that has some liquid
// The sets are sought with a looser solve first.
static const double loose_tolerance = 1e-2;
enum { PASSES_MAX = 16 };

// --- the walls of a geometry --------------------------------------------------------------------

static treacle_status separation_reserve(contact_set* contacts, int64_t count) {
    if (count <= contacts->capacity) {
        return TREACLE_OK;
    }
    int64_t capacity = 2 * count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(contacts->ctx, (size_t)capacity, sizeof(contact), "walls", &block));
    if (contacts->count > 0) {
        memcpy(block, contacts->at, (size_t)contacts->count * sizeof(contact));
    }
    alloc_free(contacts->ctx, contacts->at, (size_t)contacts->capacity * sizeof(contact));
    contacts->at = block;
    contacts->capacity = capacity;
    return TREACLE_OK;
}

// What all walls of cell q share; the rest is for the caller.
static contact contact_of_cell(const contact_params* params, tile_ix tile, int q, int slot,
                               double adhesion) {
    int64_t at = (int64_t)tile * TILE_CELLS + q;
    unsigned bits = (unsigned)params->cell_contact[at] >> slot;
    bool was_in_contact = params->is_first || (bits & CONTACT_HOLDS) != 0;
    contact out = {
        .cell = at,
        .slot = (uint8_t)slot,
        .is_released = (bits & CONTACT_RELEASED) != 0,
        .bound = was_in_contact ? adhesion / params->pressure_unit : 0.0,
    };
    for (int a = 0; a < AXES; ++a) {
        out.high[a] = tile_slot_above(params->map, tile, q, a);
        out.low_fraction[a] = 0.5f;
    }
    return out;
}

static double density_at(const float* rho, int64_t face) {
    return rho != NULL && rho[face] > 0.0f ? (double)rho[face] : 1.0;
}

// Whether a cell of the domain is nearer to liquid than `reach`, in cells.
static bool is_near_liquid(const contact_params* params, tile_ix tile, int q, float reach) {
    int at[AXES];
    tile_cell_at(params->map, tile, q, at);
    const int32_t* cells = params->domain->cells;
    return at[0] < cells[0] && at[1] < cells[1] && at[2] < cells[2] &&
           params->cell_phi[(int64_t)tile * TILE_CELLS + q] < reach;
}

static bool is_liquid_of_domain(const contact_params* params, tile_ix tile, int q) {
    return is_near_liquid(params, tile, q, 0.0f);
}

// A layer of cells of one tile that lies at a side of the domain.
typedef struct side_layer {
    tile_ix tile;
    int axis, end, layer; // layer: local coordinate of its cells
} side_layer;

static void add_side(const contact_params* params, const side_layer* side, int q,
                     contact_set* contacts) {
    int a = side->axis;
    double adhesion = params->domain->separation[a][side->end].adhesion;
    contact w = contact_of_cell(params, side->tile, q, a, adhesion);
    int64_t face = side->end == 0 ? w.cell : w.high[a];
    bool has_face = face < (int64_t)params->map->count * TILE_CELLS;
    double density = has_face ? density_at(params->face_rho.at[a], face) : 1.0;
    w.area = params->solids.cell_id != NULL ? params->solids.cell_open[w.cell] : 1.0f;
    if (!has_face || isinf(density) || !(w.area > least_area)) {
        return;
    }
    w.normal[a] = side->end == 0 ? 1.0f : -1.0f;
    w.low_fraction[a] = side->end == 0 ? 1.0f : 0.0f;
    w.conductance = (float)((double)w.area / (density * side_theta));
    contacts->at[contacts->count++] = w;
}

static treacle_status add_layer(const contact_params* params, const side_layer* side,
                                contact_set* contacts) {
    static const int stride[AXES] = {1, TILE_SIZE, TILE_SIZE * TILE_SIZE};
    TREACLE_TRY(separation_reserve(contacts, contacts->count + TILE_SIZE * TILE_SIZE));
    int b = (side->axis + 1) % AXES, c = (side->axis + 2) % AXES;
    for (int n = 0; n < TILE_SIZE * TILE_SIZE; ++n) {
        int q = side->layer * stride[side->axis] + n % TILE_SIZE * stride[b] +
                n / TILE_SIZE * stride[c];
        if (is_liquid_of_domain(params, side->tile, q)) {
            add_side(params, side, q, contacts);
        }
    }
    return TREACLE_OK;
}

// The open fractions of the two faces of a cell across an axis. A side of the domain is no solid:
// its face counts as open as the one opposite.
static void open_fractions(const contact_params* params, const contact* w, tile_ix tile, int a,
                           double open[2]) {
    int at[AXES];
    tile_cell_at(params->map, tile, (int)(w->cell % TILE_CELLS), at);
    const grid_domain* domain = params->domain;
    open[0] = (double)params->face_open.at[a][w->cell];
    open[1] = (double)params->face_open.at[a][w->high[a]];
    if (domain->is_periodic[a]) {
        return;
    }
    open[0] = at[a] == 0 ? open[1] : open[0];
    open[1] = at[a] == domain->cells[a] - 1 ? open[0] : open[1];
}

// The solid's surface in a cell: its area is the difference of what is open on both sides
// [sep.3].
static void add_solid(const contact_params* params, tile_ix tile, int q, contact_set* contacts) {
    const contact_solids* solids = &params->solids;
    int64_t cell = (int64_t)tile * TILE_CELLS + q;
    double adhesion = solids->solids[solids->cell_id[cell]].separation.adhesion;
    contact w = contact_of_cell(params, tile, q, CONTACT_OF_SOLID, adhesion);
    double area[AXES] = {0.0}, square = 0.0, flux = 0.0, density = 0.0, weight = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double open[2];
        if (!params->domain->is_active[a]) {
            continue;
        }
        open_fractions(params, &w, tile, a, open);
        area[a] = open[1] - open[0];
        square += area[a] * area[a];
        flux += (1.0 - open[0]) * (double)solids->face_u.at[a][w.cell] -
                (1.0 - open[1]) * (double)solids->face_u.at[a][w.high[a]];
        double sum = open[0] + open[1];
        w.low_fraction[a] = sum > 0.0 ? (float)(open[0] / sum) : 0.5f;
        density += open[0] * density_at(params->face_rho.at[a], w.cell) +
                   open[1] * density_at(params->face_rho.at[a], w.high[a]);
        weight += sum;
    }
    if (!(square > (double)(least_area * least_area)) || !isfinite(density)) {
        return;
    }
    double size = sqrt(square), theta = (double)solids->cell_phi[cell];
    for (int a = 0; a < AXES; ++a) {
        w.normal[a] = (float)(area[a] / size);
    }
    theta = theta < theta_min ? theta_min : theta > 1.0 ? 1.0 : theta;
    w.area = (float)size;
    w.conductance = (float)(size * weight / (density * theta));
    w.u_solid = flux / size;
    w.is_shallow = !(params->cell_phi[cell] < 0.0f);
    contacts->at[contacts->count++] = w;
}

static bool is_near_solid(const contact_solids* solids, int64_t cell) {
    uint16_t id = solids->cell_id[cell];
    return id != SOLID_NONE && solids->solids[id].separation.is_on &&
           fabsf(solids->cell_phi[cell]) < solid_reach;
}

static treacle_status add_solids(const contact_params* params, tile_ix tile,
                                 contact_set* contacts) {
    float reach = params->has_shallow ? shallow_reach : 0.0f;
    for (int q = 0; q < TILE_CELLS; ++q) {
        int64_t cell = (int64_t)tile * TILE_CELLS + q;
        if (is_near_solid(&params->solids, cell) && is_near_liquid(params, tile, q, reach)) {
            TREACLE_TRY(separation_reserve(contacts, contacts->count + 1));
            add_solid(params, tile, q, contacts);
        }
    }
    return TREACLE_OK;
}

static treacle_status add_tile(const contact_params* params, tile_ix t, contact_set* contacts) {
    const grid_domain* domain = params->domain;
    for (int i = 0; i < 2 * AXES; ++i) {
        int a = i / 2, end = i % 2;
        int layer = (end == 0 ? 0 : domain->cells[a] - 1) - params->map->coord[t].at[a] * TILE_SIZE;
        if (domain->separation[a][end].is_on && layer >= 0 && layer < TILE_SIZE) {
            TREACLE_TRY(add_layer(params, &(side_layer){t, a, end, layer}, contacts));
        }
    }
    return params->solids.cell_id != NULL ? add_solids(params, t, contacts) : TREACLE_OK;
}

treacle_status contact_set_create(const contact_params* params, contact_set* out) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->cell_contact != NULL);
    TREACLE_ASSERT(params->pressure_unit > 0.0 && isfinite(params->pressure_unit));
    TREACLE_ASSERT(params->solids.cell_id == NULL ||
                   (params->solids.solids != NULL && params->solids.cell_phi != NULL &&
                    params->solids.cell_open != NULL));
    *out = (contact_set){.ctx = params->map->ctx};
    treacle_status status = TREACLE_OK;
    for (tile_ix t = 0; t < params->map->count && status == TREACLE_OK; ++t) {
        status = add_tile(params, t, out);
    }
    if (status != TREACLE_OK) {
        contact_set_destroy(out);
    }
    return status;
}

void contact_set_destroy(contact_set* contacts) {
    if (contacts->ctx != NULL) {
        alloc_free(contacts->ctx, contacts->at, (size_t)contacts->capacity * sizeof(contact));
    }
    *contacts = (contact_set){0};
}

int64_t contact_set_released(const contact_set* contacts) {
    TREACLE_ASSERT(contacts->count >= 0 && contacts->count <= contacts->capacity);
    int64_t count = 0;
    for (int64_t i = 0; i < contacts->count; ++i) {
        count += contacts->at[i].is_released ? 1 : 0;
    }
    return count;
}

void contact_set_keep(const contact_set* contacts, const tile_map* map, uint8_t* cell_contact) {
    TREACLE_ASSERT(cell_contact != NULL && contacts->count <= contacts->capacity);
    memset(cell_contact, 0, ((size_t)map->count + 1) * TILE_CELLS);
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        unsigned bit = w->is_released ? CONTACT_RELEASED : CONTACT_HOLDS;
        cell_contact[w->cell] = (uint8_t)(cell_contact[w->cell] | bit << w->slot);
    }
}

// The face on a side of the domain.
static int64_t face_of(const contact* w) {
    return w->low_fraction[w->slot] > 0.5f ? w->cell : w->high[w->slot];
}

static void put_velocity(const contact* w, double u, float* const face_u[AXES]) {
    if (w->slot != CONTACT_OF_SOLID) {
        face_u[w->slot][face_of(w)] = (float)((double)w->normal[w->slot] * u);
    }
}

void contact_set_open(const contact_set* contacts, bool is_open, float* const face_open[AXES]) {
    TREACLE_ASSERT(face_open[0] != NULL && face_open[1] != NULL && face_open[2] != NULL);
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        if (w->slot != CONTACT_OF_SOLID) {
            face_open[w->slot][face_of(w)] = is_open && w->is_released ? 1.0f : 0.0f;
        }
    }
}

// --- the active set -----------------------------------------------------------------------------

static void tie(const contact_set* contacts, float* cell_extra) {
    for (int64_t i = 0; i < contacts->count; ++i) {
        cell_extra[contacts->at[i].cell] = contacts->at[i].diagonal;
    }
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        cell_extra[w->cell] += w->is_released && !w->is_shallow ? w->conductance : 0.0f;
    }
}

void separation_begin(contact_set* contacts, float* cell_extra) {
    TREACLE_ASSERT(cell_extra != NULL && contacts->count <= contacts->capacity);
    for (int64_t i = 0; i < contacts->count; ++i) {
        contacts->at[i].diagonal = cell_extra[contacts->at[i].cell];
    }
    tie(contacts, cell_extra);
}

// The velocity of the liquid at a wall, along the normal.
static double speed_at(const contact* w, const float* const face_u[AXES]) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (w->normal[a] != 0.0f) {
            double low = (double)w->low_fraction[a];
            double u = low * (double)face_u[a][w->cell];
            u += (1.0 - low) * (double)face_u[a][w->high[a]];
            sum += (double)w->normal[a] * u;
        }
    }
    return sum;
}

static void load_velocity(const contact_set* contacts, float* const face_u[AXES]) {
    const float* const u[AXES] = {face_u[0], face_u[1], face_u[2]};
    for (int64_t i = 0; i < contacts->count; ++i) {
        contacts->at[i].u_before = speed_at(&contacts->at[i], u);
    }
}

// rhs += what released walls do to their cells beside what they would do in contact, which the
// divergence holds [sep.2].
static void add_to_rhs(const contact_set* contacts, double* rhs) {
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        double more = (double)w->area * (w->u_before - w->u_solid);
        bool is_free = w->is_released && !w->is_shallow;
        rhs[w->cell] += is_free ? more - (double)w->conductance * w->bound : 0.0;
    }
}

// x at a wall in contact [sep.1].
static double contact_x(const contact* w, const double* cell_impulse) {
    double resistance = (double)w->area / (double)w->conductance;
    return cell_impulse[w->cell] + resistance * (w->u_solid - w->u_before);
}

// u_n at a released wall [sep.1].
static double released_u(const contact* w, const double* cell_impulse) {
    double resistance = (double)w->area / (double)w->conductance;
    return w->u_before - (w->bound + cell_impulse[w->cell]) / resistance;
}

// By how much a wall breaks its condition, m/s; <= 0: it does not.
static double violation(const contact* w, const double* cell_impulse) {
    return w->is_released ? w->u_solid - released_u(w, cell_impulse)
                          : -w->bound - contact_x(w, cell_impulse);
}

// Differences below this are the solve's, m/s.
static double noise(const contact_set* contacts, const double* cell_impulse, double tolerance) {
    double largest = 0.0;
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        largest = fmax(largest, fmax(fabs(cell_impulse[w->cell]), fabs(w->u_before)));
    }
    return tolerance * largest;
}

// Moves walls to the other set; returns how many.
static int64_t flip(const contact_set* contacts, const pressure_solver* solver,
                    const double* cell_impulse, double least) {
    int64_t count = 0;
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        bool is_free = !w->is_shallow && pressure_solver_region_of(solver, w->cell) == REGION_NONE;
        if (is_free && violation(w, cell_impulse) > least) {
            w->is_released = !w->is_released;
            count += 1;
        }
    }
    return count;
}

static void store_velocity(const contact_set* contacts, const double* cell_impulse,
                           float* const face_u[AXES]) {
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        double u = w->is_released ? released_u(w, cell_impulse) : w->u_solid;
        put_velocity(w, u, face_u);
        w->u_after = u;
        w->pull = w->bound;
        w->bound = w->is_released ? 0.0 : w->bound + contact_x(w, cell_impulse);
    }
}

static void add_stats(const solve_stats* pass, solve_stats* sum) {
    int iterations = sum->iterations + pass->iterations;
    double seconds = sum->seconds + pass->seconds;
    *sum = *pass;
    sum->iterations = iterations;
    sum->seconds = seconds;
}

typedef struct set_search {
    const projection* p;
    contact_set* contacts;
    const double* divergence;
    double *rhs, *cell_impulse;
    size_t values;
} set_search;

// Liquid that has just let go falls freely: its first guess is the pressure of the wall that held
// it, and as good as zero for a solve that stops at the absolute target.
static bool is_rounding(const set_search* s) {
    double largest = 0.0;
    for (size_t i = 0; i < s->values; ++i) {
        largest = fmax(largest, fabs(s->rhs[i]));
    }
    return largest <= s->p->params->solve.absolute;
}

static treacle_status solve_pass(const set_search* s, double tolerance, solve_stats* stats) {
    solve_params params = s->p->params->solve;
    params.relative = tolerance;
    memcpy(s->rhs, s->divergence, s->values * sizeof(double));
    add_to_rhs(s->contacts, s->rhs);
    if (is_rounding(s)) {
        memset(s->cell_impulse, 0, s->values * sizeof(double));
    }
    solve_stats pass;
    TREACLE_TRY(pressure_solve(s->p->solver, s->rhs, s->cell_impulse, &params, &pass));
    add_stats(&pass, stats);
    s->contacts->passes += 1;
    return TREACLE_OK;
}

static treacle_status search(const set_search* s, solve_stats* stats) {
    double target = s->p->params->solve.relative, tolerance = fmax(target, loose_tolerance);
    *stats = (solve_stats){0};
    s->contacts->passes = 0;
    for (;;) {
        TREACLE_TRY(solve_pass(s, tolerance, stats));
        bool is_last = s->contacts->passes >= PASSES_MAX && tolerance == target;
        if (is_last || stats->is_broken) {
            return TREACLE_OK;
        }
        double least = noise(s->contacts, s->cell_impulse, target);
        int64_t moved = flip(s->contacts, s->p->solver, s->cell_impulse, least);
        if (moved == 0 && tolerance == target) {
            return TREACLE_OK;
        }
        tolerance = moved == 0 || s->contacts->passes >= PASSES_MAX ? target : tolerance;
        if (moved > 0) {
            tie(s->contacts, s->p->cell_extra);
            TREACLE_TRY(pressure_solver_refresh(s->p->solver));
        }
    }
}

// Where the sets have changed since the system was made.
static treacle_status follow_sets(const projection* p, contact_set* contacts) {
    if (!contacts->is_stale) {
        return TREACLE_OK;
    }
    contacts->is_stale = false;
    tie(contacts, p->cell_extra);
    return pressure_solver_refresh(p->solver);
}

treacle_status separation_project(const projection* p, float* const face_u[AXES],
                                  double* cell_impulse, solve_stats* stats) {
    TREACLE_ASSERT(p->params->contacts != NULL && cell_impulse != NULL);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    treacle_context* ctx = p->params->map->ctx;
    contact_set* contacts = p->params->contacts;
    size_t values = ((size_t)p->params->map->count + 1) * TILE_CELLS;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 2 * values, sizeof(double), "divergence", &block));
    double* divergence = block;
    load_velocity(contacts, face_u);
    treacle_status status = projection_divergence(p, face_u, divergence);
    set_search s = {p, contacts, divergence, divergence + values, cell_impulse, values};
    if (status == TREACLE_OK) {
        status = follow_sets(p, contacts);
    }
    if (status == TREACLE_OK) {
        status = search(&s, stats);
    }
    if (status == TREACLE_OK) {
        projection_subtract_gradient(p, cell_impulse, face_u);
        store_velocity(contacts, cell_impulse, face_u);
    }
    alloc_free(ctx, block, 2 * values * sizeof(double));
    return status;
}

// --- with viscosity in the same solve -----------------------------------------------------------

void separation_load(contact_set* contacts, float* const face_u[AXES]) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    load_velocity(contacts, face_u);
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        w->answer = 0.0;
    }
    contacts->is_stale = true;
}

void separation_hold(const contact_set* contacts, float* const face_u[AXES]) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        put_velocity(w, w->is_released ? w->u_before : w->u_solid, face_u);
    }
}

// The stretch of a cell along the normal of its wall, times h: of the differences across it.
static double stretch_of(const contact* w, const contact_flow* flow) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double n = (double)w->normal[a];
        sum +=
            n * n * ((double)flow->face_u.at[a][w->high[a]] - (double)flow->face_u.at[a][w->cell]);
    }
    return sum;
}

// The fraction of liquid of the boxes around the faces that the velocity at the wall comes from.
static double wet_fraction(const contact* w, const contact_flow* flow) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double n = (double)w->normal[a], low = (double)w->low_fraction[a];
        sum += n * n *
               (low * (double)flow->face_fraction.at[a][w->cell] +
                (1.0 - low) * (double)flow->face_fraction.at[a][w->high[a]]);
    }
    return sum;
}

// What a wall pushes with, over the mass of a full cell, m/s: the momentum of the liquid between
// the wall and the middle of the cell [sep.4].
static double reaction(const contact* w, const contact_flow* flow) {
    double mass = (double)w->area * (double)(w->area / w->conductance) * wet_fraction(w, flow);
    double fraction = (double)flow->cell_fraction[w->cell];
    double mu = elementary_exp((double)flow->cell_log_mu[w->cell]);
    double stress = 2.0 * flow->mu_scale * mu * stretch_of(w, flow);
    return mass * (w->u_solid - w->u_before) +
           (double)w->area * fraction * (flow->cell_impulse[w->cell] - stress);
}

void separation_measure(contact_set* contacts, const contact_flow* flow) {
    TREACLE_ASSERT(flow->mu_scale >= 0.0 && flow->cell_impulse != NULL);
    TREACLE_ASSERT(flow->cell_fraction != NULL && flow->cell_log_mu != NULL);
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        w->answer = w->is_released ? speed_at(w, flow->face_u.at) : reaction(w, flow);
    }
}

int64_t separation_review(contact_set* contacts, double least) {
    TREACLE_ASSERT(least >= 0.0 && isfinite(least));
    int64_t count = 0;
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        double short_of =
            w->is_released ? w->u_solid - w->answer : -(double)w->area * w->bound - w->answer;
        if (short_of > least) {
            w->is_released = !w->is_released;
            w->answer = 0.0;
            count += 1;
        }
    }
    contacts->is_stale = contacts->is_stale || count > 0;
    return count;
}

void separation_reduce_bounds(contact_set* contacts) {
    for (int64_t i = 0; i < contacts->count; ++i) {
        contact* w = &contacts->at[i];
        double left = w->bound + w->answer / (double)w->area;
        w->bound = w->is_released ? 0.0 : fmax(left, 0.0);
    }
}
