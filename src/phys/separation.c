// Liquid that lets go of walls [BBB07 sec. 4].
//
//     0 <= p + a   perp   (u - u_wall) . n >= 0          at walls, n into the liquid   [BBB07 eq.
//     15]
//
// with the adhesion a: the wall pushes, and pulls no stronger than a; or the liquid leaves it, and
// then it is free surface. Discretised at the wall of a cell i, a face at the distance theta h from
// the cell's centre, with x = dt p / (rho_ref h) as in [press.1], x_w at the wall:
//
//     u_n = u*_n + (rho_ref / rho) (x_w - x_i) / theta                                      [sep.1]
//
//     contact   u_n = u_wall    the cell's sum gets     A u_wall
//                               holds while             x_w = x_i + (rho / rho_ref) theta
//                                                             (u_wall - u*_n) >= -b
//     released  x_w = -b        the cell's sum gets     A u*_n - k (x_i + b)                [sep.2]
//                               holds while             u_n >= u_wall
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
#include "phys/projection.h"
#include "solve/pressure_solver.h"
#include "solve/regions.h"

static const double wall_theta = 0.5; // walls of the domain lie on faces
// The sets are sought with a looser solve first.
static const double loose_tolerance = 1e-2;
enum { PASSES_MAX = 16 };

// --- the walls of a geometry --------------------------------------------------------------------

bool separation_is_on(const grid_domain* domain) {
    bool is_on = false;
    for (int a = 0; a < AXES; ++a) {
        is_on = is_on || domain->separation[a][0].is_on || domain->separation[a][1].is_on;
    }
    return is_on;
}

static treacle_status reserve(wall_set* walls, int64_t count) {
    if (count <= walls->capacity) {
        return TREACLE_OK;
    }
    int64_t capacity = 2 * count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(walls->ctx, (size_t)capacity, sizeof(wall), "walls", &block));
    if (walls->count > 0) {
        memcpy(block, walls->at, (size_t)walls->count * sizeof(wall));
    }
    alloc_free(walls->ctx, walls->at, (size_t)walls->capacity * sizeof(wall));
    walls->at = block;
    walls->capacity = capacity;
    return TREACLE_OK;
}

// A layer of cells of one tile that lies at a side of the domain.
typedef struct side_layer {
    tile_ix tile;
    int axis, end, layer; // layer: local coordinate of its cells
} side_layer;

// Index of the cell above local coordinate 7 or below along an axis, maybe in the next tile.
static int64_t high_face(const tile_map* map, const side_layer* side, const int cell[AXES]) {
    int at[AXES] = {cell[0], cell[1], cell[2]}, step[AXES] = {0, 0, 0};
    at[side->axis] = (cell[side->axis] + 1) % TILE_SIZE;
    step[side->axis] = at[side->axis] == 0 ? 1 : 0;
    tile_ix tile = map->neighbour[side->tile][TILE_NEIGHBOUR(step[0], step[1], step[2])];
    return (int64_t)tile * TILE_CELLS + (at[2] * TILE_SIZE + at[1]) * TILE_SIZE + at[0];
}

static void add_wall(const wall_params* params, const side_layer* side, const int cell[AXES],
                     wall_set* walls) {
    int q = (cell[2] * TILE_SIZE + cell[1]) * TILE_SIZE + cell[0];
    int64_t at = (int64_t)side->tile * TILE_CELLS + q;
    int64_t face = side->end == 0 ? at : high_face(params->map, side, cell);
    const float* rho = params->face_rho[side->axis];
    bool is_prescribed = rho != NULL && isinf(rho[face]);
    bool has_face = face < (int64_t)params->map->count * TILE_CELLS;
    if (!(params->cell_phi[at] < 0.0f) || !has_face || is_prescribed) {
        return;
    }
    double density = rho != NULL && rho[face] > 0.0f ? (double)rho[face] : 1.0;
    unsigned bits = (unsigned)params->cell_wall[at] >> side->axis;
    bool was_in_contact = params->is_first || (bits & WALL_CONTACT) != 0;
    double adhesion = params->domain->separation[side->axis][side->end].adhesion;
    walls->at[walls->count++] = (wall){
        .cell = at,
        .face = face,
        .slot = (int8_t)side->axis,
        .sign = (int8_t)(side->end == 0 ? 1 : -1),
        .is_released = (bits & WALL_RELEASED) != 0,
        .area = 1.0f,
        .conductance = (float)(1.0 / (density * wall_theta)),
        .bound = was_in_contact ? adhesion / params->pressure_unit : 0.0,
    };
}

static treacle_status add_layer(const wall_params* params, const side_layer* side,
                                wall_set* walls) {
    const grid_domain* domain = params->domain;
    TREACLE_TRY(reserve(walls, walls->count + TILE_SIZE * TILE_SIZE));
    int b = (side->axis + 1) % AXES, c = (side->axis + 2) % AXES;
    for (int n = 0; n < TILE_SIZE * TILE_SIZE; ++n) {
        int cell[AXES];
        cell[side->axis] = side->layer;
        cell[b] = n % TILE_SIZE;
        cell[c] = n / TILE_SIZE;
        bool is_inside = true;
        for (int a = 0; a < AXES; ++a) {
            int at = params->map->coord[side->tile].at[a] * TILE_SIZE + cell[a];
            is_inside = is_inside && at < domain->cells[a];
        }
        if (is_inside) {
            add_wall(params, side, cell, walls);
        }
    }
    return TREACLE_OK;
}

treacle_status wall_set_create(const wall_params* params, wall_set* out) {
    const grid_domain* domain = params->domain;
    *out = (wall_set){.ctx = params->map->ctx};
    treacle_status status = TREACLE_OK;
    for (tile_ix t = 0; t < params->map->count && status == TREACLE_OK; ++t) {
        for (int i = 0; i < 2 * AXES && status == TREACLE_OK; ++i) {
            int a = i / 2, end = i % 2;
            int layer =
                (end == 0 ? 0 : domain->cells[a] - 1) - params->map->coord[t].at[a] * TILE_SIZE;
            if (domain->separation[a][end].is_on && layer >= 0 && layer < TILE_SIZE) {
                status = add_layer(params, &(side_layer){t, a, end, layer}, out);
            }
        }
    }
    if (status != TREACLE_OK) {
        wall_set_destroy(out);
    }
    return status;
}

void wall_set_destroy(wall_set* walls) {
    if (walls->ctx != NULL) {
        alloc_free(walls->ctx, walls->at, (size_t)walls->capacity * sizeof(wall));
    }
    *walls = (wall_set){0};
}

int64_t wall_set_released(const wall_set* walls) {
    int64_t count = 0;
    for (int64_t i = 0; i < walls->count; ++i) {
        count += walls->at[i].is_released ? 1 : 0;
    }
    return count;
}

void wall_set_keep(const wall_set* walls, const tile_map* map, uint8_t* cell_wall) {
    memset(cell_wall, 0, ((size_t)map->count + 1) * TILE_CELLS);
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        unsigned bit = w->is_released ? WALL_RELEASED : WALL_CONTACT;
        cell_wall[w->cell] = (uint8_t)(cell_wall[w->cell] | bit << w->slot);
    }
}

void wall_set_open(const wall_set* walls, bool is_open, float* const face_open[AXES]) {
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        face_open[w->slot][w->face] = is_open && w->is_released ? 1.0f : 0.0f;
    }
}

void wall_set_hold(wall_set* walls, float* const face_u[AXES]) {
    for (int64_t i = 0; i < walls->count; ++i) {
        wall* w = &walls->at[i];
        w->is_released = false;
        face_u[w->slot][w->face] = (float)(w->sign * w->u_wall);
    }
}

// --- the active set -----------------------------------------------------------------------------

static void tie(const wall_set* walls, float* cell_extra) {
    for (int64_t i = 0; i < walls->count; ++i) {
        cell_extra[walls->at[i].cell] = walls->at[i].base;
    }
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        cell_extra[w->cell] += w->is_released ? w->conductance : 0.0f;
    }
}

void separation_begin(wall_set* walls, float* cell_extra) {
    for (int64_t i = 0; i < walls->count; ++i) {
        walls->at[i].base = cell_extra[walls->at[i].cell];
    }
    tie(walls, cell_extra);
}

static void load_velocity(const wall_set* walls, float* const face_u[AXES]) {
    for (int64_t i = 0; i < walls->count; ++i) {
        wall* w = &walls->at[i];
        w->u_before = w->sign * (double)face_u[w->slot][w->face];
    }
}

// rhs += what walls do to their cells [sep.2].
static void add_to_rhs(const wall_set* walls, double* rhs) {
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        double area = (double)w->area;
        rhs[w->cell] += w->is_released ? area * w->u_before - (double)w->conductance * w->bound
                                       : area * w->u_wall;
    }
}

// x at a wall in contact [sep.1].
static double contact_x(const wall* w, const double* cell_x) {
    double resistance = (double)w->area / (double)w->conductance;
    return cell_x[w->cell] + resistance * (w->u_wall - w->u_before);
}

// u_n at a released wall [sep.1].
static double released_u(const wall* w, const double* cell_x) {
    double resistance = (double)w->area / (double)w->conductance;
    return w->u_before - (w->bound + cell_x[w->cell]) / resistance;
}

// By how much a wall breaks its condition, m/s; <= 0: it does not.
static double violation(const wall* w, const double* cell_x) {
    return w->is_released ? w->u_wall - released_u(w, cell_x) : -w->bound - contact_x(w, cell_x);
}

// Differences below this are the solve's, m/s.
static double noise(const wall_set* walls, const double* cell_x, double tolerance) {
    double largest = 0.0;
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        largest = fmax(largest, fmax(fabs(cell_x[w->cell]), fabs(w->u_before)));
    }
    return tolerance * largest;
}

// Moves walls to the other set; returns how many.
static int64_t flip(const wall_set* walls, const pressure_solver* solver, const double* cell_x,
                    double least) {
    int64_t count = 0;
    for (int64_t i = 0; i < walls->count; ++i) {
        wall* w = &walls->at[i];
        bool is_free = pressure_solver_region_of(solver, w->cell) == REGION_NONE;
        if (is_free && violation(w, cell_x) > least) {
            w->is_released = !w->is_released;
            count += 1;
        }
    }
    return count;
}

static void store_velocity(const wall_set* walls, const double* cell_x, float* const face_u[AXES]) {
    for (int64_t i = 0; i < walls->count; ++i) {
        wall* w = &walls->at[i];
        double u = w->is_released ? released_u(w, cell_x) : w->u_wall;
        face_u[w->slot][w->face] = (float)(w->sign * u);
        w->bound = w->is_released ? 0.0 : w->bound + contact_x(w, cell_x);
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
    wall_set* walls;
    const double* divergence;
    double *rhs, *cell_x;
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
    add_to_rhs(s->walls, s->rhs);
    if (is_rounding(s)) {
        memset(s->cell_x, 0, s->values * sizeof(double));
    }
    solve_stats pass;
    TREACLE_TRY(pressure_solve(s->p->solver, s->rhs, s->cell_x, &params, &pass));
    add_stats(&pass, stats);
    s->walls->passes += 1;
    return TREACLE_OK;
}

static treacle_status search(const set_search* s, solve_stats* stats) {
    double target = s->p->params->solve.relative, tolerance = fmax(target, loose_tolerance);
    *stats = (solve_stats){0};
    s->walls->passes = 0;
    for (;;) {
        TREACLE_TRY(solve_pass(s, tolerance, stats));
        bool is_last = s->walls->passes >= PASSES_MAX && tolerance == target;
        if (is_last || stats->is_broken) {
            return TREACLE_OK;
        }
        double least = noise(s->walls, s->cell_x, target);
        int64_t moved = flip(s->walls, s->p->solver, s->cell_x, least);
        if (moved == 0 && tolerance == target) {
            return TREACLE_OK;
        }
        tolerance = moved == 0 || s->walls->passes >= PASSES_MAX ? target : tolerance;
        if (moved > 0) {
            tie(s->walls, s->p->cell_extra);
            TREACLE_TRY(pressure_solver_refresh(s->p->solver));
        }
    }
}

treacle_status separation_project(const projection* p, float* const face_u[AXES], double* cell_x,
                                  solve_stats* stats) {
    treacle_context* ctx = p->params->map->ctx;
    wall_set* walls = p->params->walls;
    size_t values = ((size_t)p->params->map->count + 1) * TILE_CELLS;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 2 * values, sizeof(double), "divergence", &block));
    double* divergence = block;
    load_velocity(walls, face_u);
    projection_divergence(p, face_u, divergence);
    set_search s = {p, walls, divergence, divergence + values, cell_x, values};
    treacle_status status = search(&s, stats);
    if (status == TREACLE_OK) {
        projection_subtract_gradient(p, cell_x, face_u);
        store_velocity(walls, cell_x, face_u);
    }
    alloc_free(ctx, block, 2 * values * sizeof(double));
    return status;
}
