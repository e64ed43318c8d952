// Pressure projection with a free surface [BBB07 sec. 2; BB08 sec. 5.2; S19 eq. 8-12].
//
//     u = u* - (dt / rho) grad p,   div u = 0 in the liquid,   p = 0 on its surface
//
// Discretised with the unknown x = dt p / (rho_ref h), in m/s, at cells with phi < 0, for each one
//
//     sum over faces of  w_f (x_i - x_j)  =  - sum over faces of  +-(A_f u*_f + (1 - A_f) v_f)
//                                                                                       [press.1]
//
// with w_f = A_f rho_ref / rho_f between two liquid cells, A_f the open fraction of the face, and
// v_f the velocity of the solid that closes the rest of it [BBB07 sec. 2.2]. Between a liquid cell
// and air the surface is where phi, linear between the centres, vanishes: at the fraction theta =
// phi_i / (phi_i - phi_j) of the way. There x = 0, hence w_f / theta on the diagonal, the ghost
// fluid [BB08 sec. 5.2]:                                                        [press.2]
//
//     u_f = u*_f - (rho_ref / rho_f) (x_j - x_i)            between liquid cells i, j = i + e_a
//     u_f = u*_f - (rho_ref / rho_f) (0 - x_i) / theta      between liquid i and air j
//
// Beyond an open side of the domain phi is mirrored with its sign turned: the surface is on the
// side. Along an inactive axis there are no faces.
//
// Staggering: x, phi, extra at cells; u, v, w, A, rho on faces. Symbols: face_w, cell_extra,
// face_open (A), face_solid_u (v), face_rho (rho_f / rho_ref), cell_impulse.
// Properties that tests check: hydrostatic pressure is exact for a level surface at any offset; the
// divergence after the solve is the residual; symmetric weights; uniform velocity stays.
#include "phys/projection.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/separation.h"
#include "phys/solid.h"
#include "phys/solid_flow.h"
#include "solve/body_term.h"
#include "solve/pressure_solver.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct project_job {
    const projection* of;
    float* const* face_u;
    double* rhs;
    const double* cell_impulse;
} project_job;

// phi around a tile, mirrored with its sign turned beyond open sides.
static void gather_phi(const projection_params* params, tile_ix tile, float phi[VALUES]) {
    gather_block(params->map, params->cell_phi, tile, 1, 1, phi);
    const grid_domain* domain = params->domain;
    for (int a = 0; a < AXES; ++a) {
        int low = params->map->coord[tile].at[a] * TILE_SIZE - 1;
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        for (int high = 0; high < 2; ++high) {
            int plane = (high ? domain->cells[a] : -1) - low;
            bool is_here = plane >= 0 && plane < SIDE && domain->is_active[a];
            if (!is_here || domain->sides[a][high] != TREACLE_SIDE_OPEN) {
                continue;
            }
            int inside = (high ? plane - 1 : plane + 1) * step_of[a];
            for (int i = 0; i < SIDE * SIDE; ++i) {
                int row = i % SIDE * step_of[b] + i / SIDE * step_of[c];
                phi[row + plane * step_of[a]] = -phi[row + inside];
            }
        }
    }
}

// Where the line between two values is zero. A surface that nearly touches a centre would make its
// weight endless: theta has a least value, which moves such a surface by that much of a cell.
float projection_theta(float inside, float outside) {
    TREACLE_ASSERT(inside <= 0.0f && outside >= 0.0f && inside < outside);
    return fmaxf(inside / (inside - outside), PROJECTION_THETA_MIN);
}

// Weight of a face between cells with phi `low` and `high`: of their link, and on their diagonals.
typedef struct face_weight {
    float link, extra_low, extra_high;
} face_weight;

// The ghost fluid: in air the pressure goes on as a line through zero at the surface, so that x_j =
// x_i (theta - 1) / theta, and x_i - x_j = x_i / theta. That leaves a diagonal and no link.
static face_weight weigh_face(float open_over_rho, float low, float high) {
    face_weight w = {0.0f, 0.0f, 0.0f};
    if (low < 0.0f && high < 0.0f) {
        w.link = open_over_rho;
    } else if (low < 0.0f) {
        w.extra_low = open_over_rho / projection_theta(low, high);
    } else if (high < 0.0f) {
        w.extra_high = open_over_rho / projection_theta(high, low);
    }
    return w;
}

// What a tile sees of its own and of its high neighbours' faces across axis a.
typedef struct face_block {
    float open[VALUES], rho[VALUES];
} face_block;

// Where no density is given, or where it is not known, it is that of reference.
static void gather_faces(const projection_params* params, int a, tile_ix tile, face_block* out) {
    gather_block(params->map, params->face_open.at[a], tile, 1, 1, out->open);
    if (params->face_rho.at[a] != NULL) {
        gather_block(params->map, params->face_rho.at[a], tile, 1, 1, out->rho);
    }
    for (int i = 0; i < VALUES; ++i) {
        out->rho[i] = params->face_rho.at[a] != NULL && out->rho[i] > 0.0f ? out->rho[i] : 1.0f;
    }
}

// Calls for every cell of the tile that counts; `at` indexes the block, `cell` the tile.
#define FOR_CELLS(map, cell, at)                                                                   \
    for (int z_ = 0; z_ < tile_layers(map, 2); ++z_)                                               \
        for (int y_ = 0; y_ < tile_layers(map, 1); ++y_)                                           \
            for (int x_ = 0, cell = (z_ * TILE_SIZE + y_) * TILE_SIZE,                             \
                     at = BLOCK_INDEX(1, 1, 0, y_, z_);                                            \
                 x_ < tile_layers(map, 0); ++x_, ++cell, ++at)

// A cell writes the link of its low face and both its faces' parts of the diagonal: nothing of a
// neighbour's.
static void assemble_axis(const projection_params* params, int a, tile_ix tile, const float* phi,
                          const projection* system) {
    face_block faces;
    gather_faces(params, a, tile, &faces);
    float* link = system->face_w[a] + (size_t)tile * TILE_CELLS;
    float* extra = system->cell_extra + (size_t)tile * TILE_CELLS;
    int step = step_of[a];
    FOR_CELLS(params->map, cell, at) {
        float low = faces.open[at] / faces.rho[at];
        float high = faces.open[at + step] / faces.rho[at + step];
        face_weight below = weigh_face(low, phi[at - step], phi[at]);
        face_weight above = weigh_face(high, phi[at], phi[at + step]);
        link[cell] = below.link;
        extra[cell] += below.extra_high + above.extra_low;
    }
}

// Whether there is liquid in a tile or beside it.
static bool has_liquid(const float phi[VALUES]) {
    int count = 0;
    for (int i = 0; i < VALUES; ++i) {
        count += phi[i] < 0.0f;
    }
    return count > 0;
}

static void assemble_tiles(void* data, int64_t begin, int64_t end) {
    const project_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        float phi[VALUES];
        gather_phi(job->of->params, (tile_ix)t, phi);
        bool is_wet = has_liquid(phi); // else all weights are zero, as they are
        for (int a = 0; a < AXES && is_wet; ++a) {
            if (job->of->params->domain->is_active[a]) {
                assemble_axis(job->of->params, a, (tile_ix)t, phi, job->of);
            }
        }
    }
}

treacle_status projection_create(const projection_params* params, projection* out) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->face_open.at[0] != NULL);
    TREACLE_ASSERT(params->body_count >= 0 && (params->bodies != NULL || params->body_count == 0));
    TREACLE_ASSERT(params->first_body <= params->solid_count);
    *out = (projection){.params = params};
    treacle_context* ctx = params->map->ctx;
    size_t values = ((size_t)params->map->count + 1) * TILE_CELLS;
    treacle_status status = TREACLE_OK;
    void* block = NULL;
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY_GOTO(alloc_zero(ctx, values, sizeof(float), "pressure weights", &block), fail);
        out->face_w[a] = block;
    }
    TREACLE_TRY_GOTO(alloc_zero(ctx, values, sizeof(float), "pressure diagonal", &block), fail);
    out->cell_extra = block;
    project_job job = {.of = out};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = out->face_w[0]},
                                    {.at = out->face_w[1]},
                                    {.at = out->face_w[2]},
                                    {.at = out->cell_extra}}},
             assemble_tiles, &job);
    if (params->contacts != NULL) {
        separation_begin(params->contacts, out->cell_extra);
    }
    pressure_system system = {.domain = params->domain,
                              .map = params->map,
                              .link = {out->face_w[0], out->face_w[1], out->face_w[2]},
                              .extra = out->cell_extra,
                              .body_count = params->body_count,
                              .bodies = params->bodies};
    if (params->other == NULL) {
        TREACLE_TRY_GOTO(pressure_solver_create(ctx, &system, &out->solver), fail);
    }
    return TREACLE_OK;
fail:
    projection_destroy(out);
    return status;
}

void projection_destroy(projection* p) {
    if (p->params == NULL) {
        return;
    }
    treacle_context* ctx = p->params->map->ctx;
    size_t bytes = ((size_t)p->params->map->count + 1) * TILE_CELLS * sizeof(float);
    pressure_solver_destroy(p->solver);
    for (int a = 0; a < AXES; ++a) {
        alloc_free(ctx, p->face_w[a], bytes);
    }
    alloc_free(ctx, p->cell_extra, bytes);
    *p = (projection){0};
}

treacle_status projection_solve(const projection* p, double* rhs, double* cell_impulse,
                                solve_stats* stats) {
    TREACLE_ASSERT(rhs != NULL && cell_impulse != NULL && rhs != cell_impulse);
    TREACLE_ASSERT(p->solver != NULL || p->params->other != NULL);
    if (p->params->other != NULL) {
        p->params->other(p, rhs, cell_impulse, stats);
        return TREACLE_OK;
    }
    return pressure_solve(p->solver, rhs, cell_impulse, &p->params->solve, stats);
}

// What liquid brings through the open part of faces.
static void gather_flux(const project_job* job, int a, tile_ix tile, double flux[VALUES]) {
    const projection_params* params = job->of->params;
    float open[VALUES], u[VALUES];
    gather_block(params->map, params->face_open.at[a], tile, 1, 1, open);
    gather_block(params->map, job->face_u[a], tile, 1, 1, u);
    for (int i = 0; i < VALUES; ++i) {
        flux[i] = (double)open[i] * (double)u[i];
    }
}

static bool is_of_body(const projection_params* params, int a, int64_t face) {
    uint16_t id = params->face_id[a] != NULL ? params->face_id[a][face] : SOLID_NONE;
    return id != SOLID_NONE && id >= params->first_body;
}

// What bodies carry through what they close of a face.
static double flow_of_body(const projection_params* params, int a, int64_t face) {
    double closed = 1.0 - (double)params->face_open.at[a][face];
    return is_of_body(params, a, face) ? closed * (double)params->face_solid_u.at[a][face] : 0.0;
}

// Bodies enter here with the velocity that they have before the solve; what the pressure makes of
// it is in their rows.
static double flow_of_bodies(const projection_params* params, tile_ix t, int q) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (params->domain->is_active[a]) {
            sum += flow_of_body(params, a, tile_slot_above(params->map, t, q, a)) -
                   flow_of_body(params, a, (int64_t)t * TILE_CELLS + q);
        }
    }
    return sum;
}

// What solids carry through a face. Bodies are pushed: their motion is no matter of [solid.10].
static solid_face face_of_solids(const void* data, int a, int64_t face, bool is_below) {
    const projection_params* params = data;
    (void)is_below;
    bool is_body = is_of_body(params, a, face);
    double open = (double)params->face_open.at[a][face], closed = 1.0 - open;
    double u = closed > 0.0 && !is_body ? (double)params->face_solid_u.at[a][face] : 0.0;
    return (solid_face){.open = open,
                        .give = is_body ? closed : 0.0,
                        .body = is_body ? params->face_id[a][face] - params->first_body : 0,
                        .flow = closed * u,
                        .speed = fabs(u)};
}

// rhs = minus what solids push out of liquid cells, but for bodies.
static treacle_status push_cells(const project_job* job) {
    const projection_params* params = job->of->params;
    solid_flow_params solids = {.domain = params->domain,
                                .map = params->map,
                                .cell = params->cell_phi,
                                .sign = -1.0f,
                                .body_count = params->solid_count - params->first_body,
                                .face = face_of_solids,
                                .data = params};
    if (params->face_solid_u.at[0] == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(solid_flow_compute(&solids, job->rhs));
    for (int64_t i = 0; i < (int64_t)params->map->count * TILE_CELLS; ++i) {
        job->rhs[i] = -job->rhs[i];
    }
    return TREACLE_OK;
}

// rhs = minus the divergence of face_u, times the cell width, in liquid cells [press.1].
static void diverge_tiles(void* data, int64_t begin, int64_t end) {
    const project_job* job = data;
    const projection_params* params = job->of->params;
    for (int64_t t = begin; t < end; ++t) {
        const float* phi = params->cell_phi + (size_t)t * TILE_CELLS;
        double* rhs = job->rhs + (size_t)t * TILE_CELLS;
        for (int a = 0; a < AXES; ++a) {
            if (!params->domain->is_active[a]) {
                continue;
            }
            double flux[VALUES];
            gather_flux(job, a, (tile_ix)t, flux);
            int step = step_of[a];
            FOR_CELLS(params->map, cell, at) {
                rhs[cell] += phi[cell] < 0.0f ? flux[at] - flux[at + step] : 0.0;
            }
        }
        FOR_CELLS(params->map, cell, at) {
            bool is_due = params->face_id[0] != NULL && phi[cell] < 0.0f;
            rhs[cell] -= is_due ? flow_of_bodies(params, (tile_ix)t, cell) : 0.0;
        }
    }
}

static void gather_x(const tile_map* map, const double* cell_impulse, tile_ix tile,
                     double x[VALUES]) {
    for (int z = -1; z <= TILE_SIZE; ++z) {
        for (int y = -1; y <= TILE_SIZE; ++y) {
            const tile_ix* from = block_row_tiles(map, tile, y, z);
            for (int i = -1; i <= TILE_SIZE; ++i) {
                size_t start = (size_t)from[block_side_of(i) + 1] * TILE_CELLS;
                x[BLOCK_INDEX(1, 1, i, y, z)] =
                    cell_impulse[start + (size_t)(block_row_at(y, z) + (i & 7))];
            }
        }
    }
}

void projection_gather(const projection* p, tile_ix tile, const double* cell_impulse, float* phi,
                       double* x) {
    TREACLE_ASSERT(tile >= 0 && tile < p->params->map->count);
    TREACLE_ASSERT(phi != NULL && x != NULL);
    gather_phi(p->params, tile, phi);
    gather_x(p->params->map, cell_impulse, tile, x);
}

// The change of velocity through one face, in units of x over density [press.2].
static double gradient_at(float low_phi, float high_phi, double low_x, double high_x) {
    if (low_phi < 0.0f && high_phi < 0.0f) {
        return high_x - low_x;
    }
    if (low_phi < 0.0f) {
        return -low_x / (double)projection_theta(low_phi, high_phi);
    }
    return high_phi < 0.0f ? high_x / (double)projection_theta(high_phi, low_phi) : 0.0;
}

static void correct_tiles(void* data, int64_t begin, int64_t end) {
    const project_job* job = data;
    const projection_params* params = job->of->params;
    for (int64_t t = begin; t < end; ++t) {
        float phi[VALUES];
        double x[VALUES];
        projection_gather(job->of, (tile_ix)t, job->cell_impulse, phi, x);
        bool is_wet = has_liquid(phi); // else there is no gradient
        for (int a = 0; a < AXES && is_wet; ++a) {
            if (!params->domain->is_active[a]) {
                continue;
            }
            face_block faces;
            gather_faces(params, a, (tile_ix)t, &faces);
            float* u = job->face_u[a] + (size_t)t * TILE_CELLS;
            int step = step_of[a];
            FOR_CELLS(params->map, cell, at) {
                double gradient = gradient_at(phi[at - step], phi[at], x[at - step], x[at]);
                bool is_open = faces.open[at] > 0.0f;
                u[cell] -= is_open ? (float)(gradient / (double)faces.rho[at]) : 0.0f;
            }
        }
    }
}

void projection_subtract_gradient(const projection* p, const double* cell_impulse,
                                  float* const face_u[AXES]) {
    TREACLE_ASSERT(cell_impulse != NULL);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    project_job job = {.of = p, .face_u = face_u, .cell_impulse = cell_impulse};
    tile_for(p->params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = face_u[0]}, {.at = face_u[1]}, {.at = face_u[2]}}},
             correct_tiles, &job);
}

// rhs += what shrinkage asks for [shrink.2].
static void ask_tiles(void* data, int64_t begin, int64_t end) {
    const project_job* job = data;
    const projection_params* params = job->of->params;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->rhs[i] += params->cell_phi[i] < 0.0f ? (double)params->cell_source[i] : 0.0;
    }
}

treacle_status projection_divergence(const projection* p, float* const face_u[AXES],
                                     double* divergence) {
    TREACLE_ASSERT(divergence != NULL);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    project_job job = {.of = p, .face_u = face_u, .rhs = divergence};
    TREACLE_TRY(push_cells(&job));
    tile_for(p->params->map,
             &(tile_use){
                 .reads = TILE_AROUND,
                 .grain = 4,
                 .writes = {tile_block(divergence, TILE_CELLS * sizeof(double), TILE_TO_HOLDERS)}},
             diverge_tiles, &job);
    if (p->params->cell_source != NULL) {
        tile_for(p->params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, ask_tiles, &job);
    }
    return TREACLE_OK;
}

void projection_body_impulses(const projection* p, const double* cell_impulse,
                              double (*out)[BODY_MOTIONS]) {
    TREACLE_ASSERT(cell_impulse != NULL && (out != NULL || p->params->body_count == 0));
    memset(out, 0, (size_t)p->params->body_count * sizeof(*out));
    if (p->solver != NULL && p->params->body_count > 0) {
        body_term_multiply(pressure_solver_finest(p->solver)->bodies, cell_impulse, out);
    }
}

treacle_status projection_apply(const projection* p, float* const face_u[AXES],
                                double* cell_impulse, solve_stats* stats) {
    TREACLE_ASSERT(cell_impulse != NULL && stats != NULL);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    if (p->params->contacts != NULL) {
        return separation_project(p, face_u, cell_impulse, stats);
    }
    treacle_context* ctx = p->params->map->ctx;
    size_t values = ((size_t)p->params->map->count + 1) * TILE_CELLS;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, values, sizeof(double), "divergence", &block));
    double* rhs = block;
    treacle_status status = projection_divergence(p, face_u, rhs);
    if (status == TREACLE_OK) {
        status = projection_solve(p, rhs, cell_impulse, stats);
    }
    if (status == TREACLE_OK) {
        projection_subtract_gradient(p, cell_impulse, face_u);
    }
    alloc_free(ctx, rhs, values * sizeof(double));
    return status;
}
