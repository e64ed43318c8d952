// Comparators: other ways to integrate viscosity, and other free surfaces [BB08 sec. 3, 4, 7].
//
//     M (u - u*) = -(L u' + T u"),    K = L + T                                            [comp.1]
//
// with K the stress of [visc.1], L its part within each component (div mu grad u) and T the part
// between components (div mu grad u^T). In weights w at cells and edges, D the difference,
//
//     (L u)_a = sum over b of D_b^T w D_b u_a       (T u)_a = sum over b of D_b^T w D_a u_b
//
//     explicit     u' = u" = u*                in n sub-steps; stable for n >= largest of K / 2 M
//     IMEX         u' = u, u" = u*             [R04]; decoupled, symmetric
//     decoupled    u' = u, T left out          the classic solve; exact inside for constant mu
//
// Gershgorin's circle of row f gives the bound 4 sum of w around f / m_f on K / M; it is sharp
// inside a liquid: 16 r in a plane, 24 r in space, r = mu dt / (rho h^2).
//
// Surfaces:                                                                                [comp.2]
//     natural        weights by volume: no traction, D n = 0 in sum
//     Neumann        the same weights in L alone: grad u n = 0 for each component, as [FR03]; a
//                    rotation has grad u n != 0 and is stopped
//     Dirichlet      faces of the air keep the velocity that was extrapolated to them before; the
//                    liquid behind is as full as inside
//     Nichols-Hirt   cells are full or empty; at an edge with an empty cell du/dy = -dv/dx: no
//     shear
//                    [NH71], whichever of the two is implicit. 2D. Without T, the decoupled solve
//                    gets du/dy from the dv/dx of before: this one does depend on the step
//
// Staggering: as phys/stress.c. A face with stress and hardly any mass counts as 1 % full.
// Properties that tests check: a natural surface lets a disk rotate, Neumann's stops it at the rate
// of the heat equation; explicit steps grow beyond the bound and not below it.
#include "compare/viscosity_comparator.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "solve/pcg.h"

static const float least_mass = 0.01f;

// --- other surfaces -----------------------------------------------------------------------------

typedef struct block_phi {
    const grid_domain* domain;
    float at[BLOCK_VALUES(1, 0)];
} block_phi;

static const int steps[AXES] = {1, BLOCK_SIDE(1, 0), BLOCK_SIDE(1, 0) * BLOCK_SIDE(1, 0)};

// Whether the cell is full; behind a side of the domain all are.
static bool viscosity_comparator_is_full(const block_phi* phi, int i, const int cell[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        if (!phi->domain->is_periodic[a] && (cell[a] < 0 || cell[a] >= phi->domain->cells[a])) {
            return true;
        }
    }
    return phi->at[i] < 0.0f;
}

static bool is_wet_face(const block_phi* phi, int i, const int cell[AXES], int a) {
    const grid_domain* domain = phi->domain;
    int below[AXES] = {cell[0], cell[1], cell[2]};
    below[a] -= 1;
    bool has_high = cell[a] < domain->cells[a] && viscosity_comparator_is_full(phi, i, cell);
    bool has_low = (cell[a] > 0 || domain->is_periodic[a]) &&
                   viscosity_comparator_is_full(phi, i - steps[a], below);
    return has_high || has_low;
}

// The edge along c: whether all four cells around it are full.
static bool is_full_edge(const block_phi* phi, int i, const int cell[AXES], int c) {
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    bool is_all = true;
    for (int corner = 0; corner < 4; ++corner) {
        int at[AXES] = {cell[0], cell[1], cell[2]};
        at[a] -= corner & 1;
        at[b] -= corner >> 1;
        is_all = is_all && viscosity_comparator_is_full(
                               phi, i - (corner & 1) * steps[a] - (corner >> 1) * steps[b], at);
    }
    return is_all;
}

static void fraction_cell(const comparator_surface* s, const block_phi* phi, size_t i, int at) {
    bool is_dirichlet = s->kind == TREACLE_VISCOSITY_DIRICHLET;
    int cell[AXES];
    tile_cell_at(s->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), cell);
    s->fraction.cell[i] = is_dirichlet || phi->at[at] < 0.0f ? 1.0f : 0.0f;
    for (int a = 0; a < AXES; ++a) {
        bool is_wet = is_wet_face(phi, at, cell, a);
        s->fraction.face.at[a][i] = is_wet ? 1.0f : 0.0f;
        s->fraction.edge.at[a][i] = is_dirichlet || is_full_edge(phi, at, cell, a) ? 1.0f : 0.0f;
        if (is_dirichlet) {
            s->face_rho.at[a][i] = is_wet ? s->face_rho.at[a][i] : INFINITY;
        }
    }
}

static void fraction_tiles(void* data, int64_t begin, int64_t end) {
    const comparator_surface* s = data;
    for (int64_t t = begin; t < end; ++t) {
        block_phi phi = {.domain = s->domain};
        gather_block(s->map, s->cell_phi, (tile_ix)t, 1, 0, phi.at);
        for (int z = 0; z < tile_layers(s->map, 2); ++z) {
            for (int y = 0; y < tile_layers(s->map, 1); ++y) {
                for (int x = 0; x < tile_layers(s->map, 0); ++x) {
                    int q = (z * TILE_SIZE + y) * TILE_SIZE + x;
                    fraction_cell(s, &phi, (size_t)t * TILE_CELLS + (size_t)q,
                                  BLOCK_INDEX(1, 0, x, y, z));
                }
            }
        }
    }
}

void comparator_fractions(const comparator_surface* surface) {
    TREACLE_ASSERT(surface->cell_phi != NULL && surface->fraction.cell != NULL);
    TREACLE_ASSERT(surface->kind != TREACLE_VISCOSITY_DIRICHLET || surface->face_rho.at[0] != NULL);
    if (surface->kind == TREACLE_VISCOSITY_DIRICHLET ||
        surface->kind == TREACLE_VISCOSITY_NICHOLS_HIRT) {
        comparator_surface job = *surface;
        tile_for(surface->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, fraction_tiles,
                 &job);
    }
}

// --- the operator -------------------------------------------------------------------------------

// Vectors are [count + 1][3][512] with a zero tile at the end.
typedef struct comp_job {
    const stress_params* params;
    stress_weights weights; // of one sub-step
    double fraction;        // of a sub-step in the step
    float* const* face_u;
    double *u, *rhs, *out, *diagonal;
    double* wide; // a direction of conjugate gradients, in their solve
    bool has_lagged_shear;
} comp_job;

// A place: a cell of a tile, which neighbours are counted from.
typedef struct comp_place {
    const tile_map* map;
    tile_ix tile;
    int q;
} comp_place;

// The cell so many steps along axes a and b; in the zero tile where there is none.
static comp_place shifted(comp_place from, const int by[AXES]) {
    int at[AXES] = {from.q & 7, from.q >> 3 & 7, from.q >> 6}, side[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] += by[a];
        side[a] = at[a] >> 3;
        at[a] &= 7;
    }
    from.tile = from.map->neighbour[from.tile][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    from.q = (at[2] << 6) + (at[1] << 3) + at[0];
    return from;
}

static size_t scalar_at(comp_place at) {
    return (size_t)at.tile * TILE_CELLS + (size_t)at.q;
}

static size_t slot_at(comp_place at, int a) {
    return ((size_t)at.tile * AXES + (size_t)a) * TILE_CELLS + (size_t)at.q;
}

static comp_place along(comp_place from, int a, int by) {
    int shift[AXES] = {0};
    shift[a] = by;
    return shifted(from, shift);
}

// L u and T u at a face, and the sum of the weights around it.
typedef struct comp_row {
    double within, between, weights;
} comp_row;

static void add_cells(const comp_job* job, const double* u, comp_place here, int a, comp_row* row) {
    comp_place below = along(here, a, -1), above = along(here, a, 1);
    double high = (double)job->weights.cell[scalar_at(here)];
    double low = (double)job->weights.cell[scalar_at(below)];
    double at = u[slot_at(here, a)];
    double sum = high * (at - u[slot_at(above, a)]) + low * (at - u[slot_at(below, a)]);
    row->within += sum;
    row->between += sum;
    row->weights += high + low;
}

static void add_edges(const comp_job* job, const double* u, comp_place here, const int ab[2],
                      comp_row* row) {
    int a = ab[0], b = ab[1], c = AXES - a - b, back[AXES] = {0};
    comp_place below = along(here, b, -1), above = along(here, b, 1);
    back[a] = -1;
    back[b] = 1;
    comp_place left = along(here, a, -1), corner = shifted(here, back);
    double low = (double)job->weights.edge[c][scalar_at(here)];
    double high = (double)job->weights.edge[c][scalar_at(above)];
    double at = u[slot_at(here, a)];
    row->within += low * (at - u[slot_at(below, a)]) + high * (at - u[slot_at(above, a)]);
    row->between += low * (u[slot_at(here, b)] - u[slot_at(left, b)]) -
                    high * (u[slot_at(above, b)] - u[slot_at(corner, b)]);
    row->weights += low + high;
}

static comp_row row_at(const comp_job* job, const double* u, comp_place here, int a) {
    const bool* is_active = job->params->domain->is_active;
    comp_row row = {0};
    add_cells(job, u, here, a, &row);
    for (int b = 0; b < AXES; ++b) {
        if (b != a && is_active[b]) {
            add_edges(job, u, here, (const int[2]){a, b}, &row);
        }
    }
    return row;
}

// Whether a face of the tile is an unknown: it is free and has mass or stress.
static bool is_unknown(const comp_job* job, size_t i, int a) {
    return job->params->domain->is_active[a] && !(job->weights.fixed[i] >> a & 1) &&
           job->weights.mass[a][i] > 0.0f;
}

// --- sweeps over tiles --------------------------------------------------------------------------

typedef void comp_fcn(const comp_job* job, comp_place here, int a);
typedef struct comp_loop {
    const comp_job* job;
    comp_fcn* face;
} comp_loop;

static void loop_tiles(void* data, int64_t begin, int64_t end) {
    const comp_loop* for_faces = data;
    const tile_map* map = for_faces->job->params->map;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            comp_place here = {map, (tile_ix)t, q};
            bool is_layer = (q & 7) < tile_layers(map, 0) && (q >> 3 & 7) < tile_layers(map, 1) &&
                            q >> 6 < tile_layers(map, 2);
            for (int a = 0; is_layer && a < AXES; ++a) {
                for_faces->face(for_faces->job, here, a);
            }
        }
    }
}

static void for_faces(const comp_job* job, comp_fcn* face) {
    comp_loop data = {job, face};
    tile_for(job->params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, loop_tiles, &data);
}

// Weights of one sub-step; masses that are not too small.
static void scale_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here);
    float factor = (float)job->fraction;
    job->weights.edge[a][i] *= factor;
    job->weights.cell[i] *= a == 0 ? factor : 1.0f;
}

static void floor_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here);
    bool has_stress = row_at(job, job->u, here, a).weights > 0.0;
    bool is_free = !(job->weights.fixed[i] >> a & 1) && job->params->face_open.at[a][i] > 0.0f;
    if (is_free && has_stress && job->weights.mass[a][i] < least_mass) {
        job->weights.mass[a][i] = least_mass;
    }
}

static void load_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here);
    bool is_open = job->params->face_open.at[a][i] > 0.0f; // walls stand still
    job->u[slot_at(here, a)] = is_open ? (double)job->face_u[a][i] : 0.0;
}

static void store_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here);
    if (is_unknown(job, i, a)) {
        job->face_u[a][i] = (float)job->u[slot_at(here, a)];
    }
}

// out = u - K u / M
static void explicit_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here), at = slot_at(here, a);
    job->out[at] = job->u[at];
    if (is_unknown(job, i, a)) {
        comp_row row = row_at(job, job->u, here, a);
        job->out[at] -= (row.within + row.between) / (double)job->weights.mass[a][i]; // [comp.1]
    }
}

// rhs = M u - T u - L (of fixed faces); the diagonal of M + L.
static void imex_face(const comp_job* job, comp_place here, int a) {
    size_t i = scalar_at(here), at = slot_at(here, a);
    job->rhs[at] = job->diagonal[at] = 0.0;
    if (is_unknown(job, i, a)) {
        comp_row row = row_at(job, job->u, here, a);
        job->rhs[at] = (double)job->weights.mass[a][i] * job->u[at] - row.between;
        job->diagonal[at] = (double)job->weights.mass[a][i] + row.weights;
    }
}

// What du/dy = -dv/dx at the edges without stress adds to the right-hand side [comp.2].
static double lagged_shear(const comp_job* job, comp_place here, int a) {
    double weight = fmax((double)job->weights.cell[scalar_at(here)],
                         (double)job->weights.cell[scalar_at(along(here, a, -1))]);
    double sum = 0.0;
    for (int b = 0; b < AXES; ++b) {
        if (b == a || !job->params->domain->is_active[b]) {
            continue;
        }
        int c = AXES - a - b, back[AXES] = {0};
        comp_place above = along(here, b, 1);
        back[a] = -1;
        back[b] = 1;
        double low = job->u[slot_at(here, b)] - job->u[slot_at(along(here, a, -1), b)];
        double high = job->u[slot_at(above, b)] - job->u[slot_at(shifted(here, back), b)];
        sum += job->weights.edge[c][scalar_at(here)] > 0.0f ? 0.0 : low;
        sum -= job->weights.edge[c][scalar_at(above)] > 0.0f ? 0.0 : high;
    }
    return weight * sum;
}

static void decoupled_face(const comp_job* job, comp_place here, int a) {
    imex_face(job, here, a);
    size_t i = scalar_at(here), at = slot_at(here, a);
    if (is_unknown(job, i, a)) {
        job->rhs[at] = (double)job->weights.mass[a][i] * job->u[at];
        job->rhs[at] += job->has_lagged_shear ? lagged_shear(job, here, a) : 0.0;
    }
}

// out = the velocities of faces that are no unknowns
static void held_face(const comp_job* job, comp_place here, int a) {
    size_t at = slot_at(here, a);
    job->out[at] = is_unknown(job, scalar_at(here), a) ? 0.0 : job->u[at];
}

static void subtract_held_face(const comp_job* job, comp_place here, int a) {
    if (is_unknown(job, scalar_at(here), a)) {
        job->rhs[slot_at(here, a)] -= row_at(job, job->out, here, a).within;
    }
}

static void drop_held_face(const comp_job* job, comp_place here, int a) {
    if (!is_unknown(job, scalar_at(here), a)) {
        job->u[slot_at(here, a)] = 0.0;
    }
}

static void restore_held_face(const comp_job* job, comp_place here, int a) {
    if (!is_unknown(job, scalar_at(here), a)) {
        job->u[slot_at(here, a)] = job->out[slot_at(here, a)];
    }
}

// --- the solve of M + L -------------------------------------------------------------------------

typedef struct lap_job {
    const comp_job* job;
    const double* x;
    double* y;
} lap_job;

static double lap_of_tile(void* data, int64_t t) {
    const lap_job* lap = data;
    const comp_job* job = lap->job;
    double sum = 0.0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        comp_place here = {job->params->map, (tile_ix)t, q};
        for (int a = 0; a < AXES; ++a) {
            size_t i = scalar_at(here), at = slot_at(here, a);
            double y = 0.0;
            if (is_unknown(job, i, a)) {
                y = (double)job->weights.mass[a][i] * lap->x[at] +
                    row_at(job, lap->x, here, a).within;
            }
            lap->y[at] = y;
            sum += y * lap->x[at];
        }
    }
    return sum;
}

static double lap_apply(const void* data, const double* x, double* y) {
    const comp_job* job = data;
    lap_job lap = {job, x, y};
    return parallel_sum(job->params->map->ctx, job->params->map->count, lap_of_tile, &lap);
}

static double lap_apply_rounded(const void* data, const float* x, double* y) {
    const comp_job* job = data;
    size_t length = ((size_t)job->params->map->count + 1) * AXES * TILE_CELLS;
    for (size_t i = 0; i < length; ++i) {
        job->wide[i] = (double)x[i];
    }
    return lap_apply(data, job->wide, y);
}

static void lap_diagonal(const void* data, double* d) {
    const comp_job* job = data;
    memcpy(d, job->diagonal,
           ((size_t)job->params->map->count + 1) * AXES * TILE_CELLS * sizeof(double));
}

static void lap_precondition(const void* data, const float* r, float* z) {
    const comp_job* job = data;
    size_t length = ((size_t)job->params->map->count + 1) * AXES * TILE_CELLS;
    for (size_t i = 0; i < length; ++i) {
        z[i] = job->diagonal[i] > 0.0 ? (float)((double)r[i] / job->diagonal[i]) : 0.0f;
    }
}

static double unknowns_of_tile(void* data, int64_t t) {
    const comp_job* job = data;
    double count = 0.0;
    for (int i = 0; i < AXES * TILE_CELLS; ++i) {
        count += job->diagonal[t * AXES * TILE_CELLS + i] > 0.0;
    }
    return count;
}

static treacle_status solve_space(comp_job* job, const vec_space* space, const solve_params* params,
                                  solve_stats* stats) {
    treacle_context* ctx = job->params->map->ctx;
    pcg_vectors vectors = {0};
    TREACLE_TRY(vec_create(space, "directions in double", &job->wide));
    treacle_status status = pcg_vectors_create(space, &vectors);
    if (status != TREACLE_OK) {
        vec_destroy(space, job->wide);
        return status;
    }
    linop op = {.space = space,
                .data = job,
                .unknowns = parallel_sum(ctx, job->params->map->count, unknowns_of_tile, job),
                .apply = lap_apply,
                .apply_rounded = lap_apply_rounded,
                .diagonal = lap_diagonal,
                .precondition = lap_precondition};
    *stats = pcg_solve(&op, &vectors, params, job->rhs, job->u);
    pcg_vectors_destroy(space, &vectors);
    vec_destroy(space, job->wide);
    return TREACLE_OK;
}

// (M + L) u = rhs
static treacle_status solve_within(comp_job* job, const solve_params* want, solve_stats* stats) {
    const tile_map* map = job->params->map;
    vec_space space = {0};
    void* block = NULL;
    TREACLE_TRY(vec_space_create(map->ctx, map->count, AXES * TILE_CELLS, 0, &space));
    treacle_status status =
        alloc_array(map->ctx, (size_t)map->count, sizeof(tile_ix), "all tiles", &block);
    if (status == TREACLE_OK) {
        tile_ix* active = block;
        for (tile_ix t = 0; t < map->count; ++t) {
            active[t] = t;
        }
        space.active = active;
        space.active_count = map->count;
        solve_params params = *want;
        params.is_warm = true;
        status = solve_space(job, &space, &params, stats);
    }
    alloc_free(map->ctx, block, (size_t)map->count * sizeof(tile_ix));
    vec_space_destroy(&space);
    return status;
}

// --- a step -------------------------------------------------------------------------------------

static double circle_of_tile(void* data, int64_t t) {
    const comp_job* job = data;
    double largest = 0.0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        comp_place here = {job->params->map, (tile_ix)t, q};
        for (int a = 0; a < AXES; ++a) {
            size_t i = scalar_at(here);
            if (is_unknown(job, i, a)) {
                double weights = row_at(job, job->u, here, a).weights;
                largest = fmax(largest, 4.0 * weights / (double)job->weights.mass[a][i]);
            }
        }
    }
    return largest;
}

// Sub-steps for which explicit integration is stable, by Gershgorin's circles.
static int needed_substeps(const comp_job* job) {
    static const double most = 1e6;
    double circle =
        parallel_max(job->params->map->ctx, job->params->map->count, circle_of_tile, (void*)job);
    return (int)fmin(fmax(ceil(0.5 * circle * (1.0 - 1e-6)), 1.0), most);
}

static void swap(double** a, double** b) {
    double* kept = *a;
    *a = *b;
    *b = kept;
}

static treacle_status implicit_step(comp_job* job, const comparator_params* params,
                                    solve_stats* stats) {
    for_faces(job, params->method == TREACLE_VISCOSITY_IMEX ? imex_face : decoupled_face);
    for_faces(job, held_face);
    for_faces(job, subtract_held_face);
    for_faces(job, drop_held_face);
    TREACLE_TRY(solve_within(job, &params->solve, stats));
    for_faces(job, restore_held_face);
    return TREACLE_OK;
}

static double finite_of_tile(void* data, int64_t t) {
    const comp_job* job = data;
    bool is_finite = true;
    for (int i = 0; i < AXES * TILE_CELLS; ++i) {
        is_finite = is_finite && fabs(job->u[t * AXES * TILE_CELLS + i]) < 1e30;
    }
    return is_finite ? 0.0 : 1.0;
}

static treacle_status run_steps(comp_job* job, const comparator_params* params, int* substeps,
                                solve_stats* stats) {
    const tile_map* map = params->liquid.map;
    bool is_explicit = params->method == TREACLE_VISCOSITY_EXPLICIT;
    for_faces(job, floor_face);
    for_faces(job, load_face);
    int needed = is_explicit ? needed_substeps(job) : 1;
    *substeps = params->substeps > 0 ? params->substeps : needed;
    *stats = (solve_stats){.is_converged = true};
    job->fraction = 1.0 / *substeps;
    for_faces(job, scale_face);
    for (int k = 0; k < *substeps; ++k) {
        if (is_explicit) {
            for_faces(job, explicit_face);
            swap(&job->u, &job->out);
        } else {
            TREACLE_TRY(implicit_step(job, params, stats));
        }
    }
    stats->is_broken = parallel_max(map->ctx, map->count, finite_of_tile, job) > 0.0;
    if (!stats->is_broken) {
        for_faces(job, store_face);
    }
    return TREACLE_OK;
}

enum { VECTORS = 4 };

treacle_status comparator_apply(const comparator_params* params, float* const face_u[AXES],
                                int* substeps, solve_stats* stats) {
    TREACLE_ASSERT(params->method != TREACLE_VISCOSITY_IMPLICIT && params->substeps >= 0);
    TREACLE_ASSERT(params->liquid.dt > 0.0 && isfinite(params->liquid.dt));
    TREACLE_ASSERT(substeps != NULL && stats != NULL);
    const stress_params* p = &params->liquid;
    treacle_context* ctx = p->map->ctx;
    size_t length = ((size_t)p->map->count + 1) * AXES * TILE_CELLS;
    comp_job job = {.params = p, .face_u = face_u, .has_lagged_shear = params->has_lagged_shear};
    void* vectors = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(stress_weights_create(p, &job.weights), finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, VECTORS * length, sizeof(double), "viscosity vectors", &vectors), finish);
    job.u = vectors;
    job.rhs = job.u + length;
    job.out = job.rhs + length;
    job.diagonal = job.out + length;
    TREACLE_TRY_GOTO(run_steps(&job, params, substeps, stats), finish);
finish:
    stress_weights_destroy(p, &job.weights);
    alloc_free(ctx, vectors, VECTORS * length * sizeof(double));
    return status;
}
