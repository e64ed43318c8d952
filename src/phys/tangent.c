// Newton's step for a law mu(g).
//
// The forces of the flow are F(u) = D^T W(mu(u)) D u. About u_k they change with v by
//
//     F'(u_k) v = D^T W_k D v + D^T (d W_k) D u_k,    d W / W = d log mu,
//
//     d log mu = s (D u_k : D v) / (D u_k : D u_k),   s = d log mu / d log g        [rheo.6,
//     rheo.7]
//
// The first part is that of a flow with given viscosity; the second is here. Without it there is
// the fixed point [rheo.4]. All that depends on u_k is kept as fields; an edge takes the mean of
// d log mu over those of its four cells that have liquid, as its viscosity is the geometric mean of
// theirs.
//
// Staggering: u on faces; d log mu and the stress aa at cells, bc at the edges along a.
// Symbols: cell_slope (s), weights (W), change (d log mu).
// Properties that tests check: it is the derivative of the forces.
#include "phys/tangent.h"

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/tangent_kernels.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1), FIELDS = 5 * AXES + 1 };
static const int steps[AXES] = {1, SIDE, SIDE* SIDE};

static size_t tangent_field_length(const tangent_params* params) {
    return ((size_t)params->rate.map->count + 1) * TILE_CELLS;
}

// --- about which velocity ----------------------------------------------------------------------

// A tile with its margin.
typedef struct about_block {
    float u[AXES][VALUES];
    float fraction[AXES][VALUES]; // of edges
    float cell[VALUES];           // fraction of liquid
} about_block;

// What a side that moves, on which an edge along a lies, adds to the difference of velocity there:
// beyond it is the side's, not 0 [visc.6].
static double side_difference(const grid_domain* domain, int a, const int cell[AXES]) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    int on_b = rheology_side(domain, b, cell[b]), on_c = rheology_side(domain, c, cell[c]);
    double along_c = on_b > 0 ? domain->side_u[b][on_b - 1][c] : 0.0;
    double along_b = on_c > 0 ? domain->side_u[c][on_c - 1][b] : 0.0;
    return (on_b == 2 ? along_c : -along_c) + (on_c == 2 ? along_b : -along_b);
}

// The difference of velocity at the edge along a, as the solver has it.
static double difference_at(const float (*u)[VALUES], int a, int at) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    return ((double)u[b][at] - (double)u[b][at - steps[c]]) +
           ((double)u[c][at] - (double)u[c][at - steps[b]]);
}

// How much the shear of an edge counts for the rate of shear, and how steep it is there against the
// solver's difference: a wall that holds is half a cell away.
typedef struct edge_rate {
    double fraction, steep;
} edge_rate;

static edge_rate rate_of_edge(const tangent* tan, const about_block* block, int a,
                              const int cell[AXES], int at) {
    const grid_domain* domain = tan->params.rate.domain;
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    int on_b = rheology_side(domain, b, cell[b]), on_c = rheology_side(domain, c, cell[c]);
    bool has_none = on_b < 0 || on_c < 0 || (on_b > 0 && on_c > 0);
    return (edge_rate){.fraction = has_none ? 0.0 : (double)block->fraction[a][at],
                       .steep = on_b > 0 || on_c > 0 ? 2.0 : 1.0};
}

// 1 over the fractions of the edges along a around a cell.
static double inverse_fraction(const tangent* tan, const about_block* block, int a,
                               const int cell[AXES], int at) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    double sum = 0.0;
    for (int corner = 0; corner < 4; ++corner) {
        int there[AXES] = {cell[0], cell[1], cell[2]};
        there[b] += corner & 1;
        there[c] += corner >> 1;
        int i = at + (corner & 1) * steps[b] + (corner >> 1) * steps[c];
        sum += rate_of_edge(tan, block, a, there, i).fraction;
    }
    return sum > 0.0 ? 1.0 / sum : 0.0;
}

// 1 over the number of cells with liquid around the edge along a.
static double inverse_count(const about_block* block, int a, int at) {
    int b = steps[(a + 1) % AXES], c = steps[(a + 2) % AXES];
    int count = (block->cell[at] > 0.0f) + (block->cell[at - b] > 0.0f) +
                (block->cell[at - c] > 0.0f) + (block->cell[at - b - c] > 0.0f);
    return count > 0 ? 1.0 / count : 0.0;
}

// s over the square of the strain, times h^2.
static double gain_of(const tangent* tan, size_t i) {
    double strain = (double)tan->params.cell_rate[i] * tan->params.rate.domain->h;
    return strain > 0.0 ? (double)tan->params.cell_slope[i] / (strain * strain) : 0.0;
}

static void look_at_cell(const tangent* tan, tile_ix t, int q, const about_block* block) {
    const tile_map* map = tan->params.rate.map;
    const stress_weights* w = tan->params.weights;
    int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6), cell[AXES];
    size_t i = (size_t)t * TILE_CELLS + (size_t)q;
    double gain = gain_of(tan, i);
    tile_cell_at(map, t, q, cell);
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        if (!map->is_flat[a]) {
            double aa = (double)block->u[a][at + steps[a]] - (double)block->u[a][at];
            tan->cell[a][i] = (float)(2.0 * (double)w->cell[i] * aa);
            tan->stretch[a][i] = (float)(2.0 * gain * aa);
        }
        if (!map->is_flat[b] && !map->is_flat[c]) {
            const grid_domain* domain = tan->params.rate.domain;
            double side = domain->has_belts ? side_difference(domain, a, cell) : 0.0;
            double bc = difference_at(block->u, a, at) + side;
            edge_rate rate = rate_of_edge(tan, block, a, cell, at);
            tan->edge[a][i] = (float)((double)w->edge[a][i] * bc * inverse_count(block, a, at));
            tan->shear[a][i] = (float)(rate.fraction * (rate.steep * rate.steep) * bc);
            tan->fraction[a][i] =
                gain != 0.0 ? (float)(gain * inverse_fraction(tan, block, a, cell, at)) : 0.0f;
        }
    }
}

static void look_at_tiles(void* data, int64_t begin, int64_t end) {
    const tangent* tan = data;
    const rheology_params* p = &tan->params.rate;
    about_block block;
    for (int64_t t = begin; t < end; ++t) {
        tan->is_wet[t] = tile_has_positive(p->cell_fraction + t * TILE_CELLS) ? 1 : 0;
        gather_block(p->map, p->cell_fraction, (tile_ix)t, 1, 1, block.cell);
        for (int a = 0; a < AXES; ++a) {
            gather_block(p->map, p->face_u.at[a], (tile_ix)t, 1, 1, block.u[a]);
            gather_block(p->map, p->edge_fraction.at[a], (tile_ix)t, 1, 1, block.fraction[a]);
        }
        for (int q = 0; q < TILE_CELLS; ++q) {
            if (tile_cell_counts(p->map, q)) {
                look_at_cell(tan, (tile_ix)t, q, &block);
            }
        }
    }
}

treacle_status tangent_create(const tangent_params* params, tangent* out) {
    TREACLE_ASSERT(params->weights != NULL && params->weights->cell != NULL);
    TREACLE_ASSERT(params->cell_rate != NULL && params->cell_slope != NULL);
    TREACLE_ASSERT(params->rate.face_u.at[0] != NULL);
    const tile_map* map = params->rate.map;
    size_t values = tangent_field_length(params);
    *out = (tangent){.params = *params};
    TREACLE_TRY(alloc_zero(map->ctx, FIELDS * values, sizeof(float), "the law's tangent",
                           (void**)&out->block));
    treacle_status status =
        alloc_zero(map->ctx, (size_t)map->count + 1, 1, "tiles with liquid", (void**)&out->is_wet);
    if (status != TREACLE_OK) {
        tangent_destroy(out);
        return status;
    }
    for (int a = 0; a < AXES; ++a) {
        out->cell[a] = out->block + (size_t)a * values;
        out->edge[a] = out->block + (size_t)(AXES + a) * values;
        out->stretch[a] = out->block + (size_t)(2 * AXES + a) * values;
        out->shear[a] = out->block + (size_t)(3 * AXES + a) * values;
        out->fraction[a] = out->block + (size_t)(4 * AXES + a) * values;
    }
    out->change = out->block + 5 * AXES * values;
    tile_for(map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = out->block, .fields = 5 * AXES},
                                    tile_block(out->is_wet, 1, TILE_TO_HOLDERS)}},
             look_at_tiles, out);
    return TREACLE_OK;
}

void tangent_destroy(tangent* t) {
    if (t->block != NULL) {
        const tile_map* map = t->params.rate.map;
        alloc_free(map->ctx, t->block, FIELDS * tangent_field_length(&t->params) * sizeof(float));
        alloc_free(map->ctx, t->is_wet, (size_t)map->count + 1);
    }
    *t = (tangent){0};
}

// --- its product with a velocity, tile by tile (tangent_simd.c) ---------------------------------

typedef struct product_job {
    const tangent* tan;
    const float* u; // [tile][axis][512]
    double* y;
} product_job;

static void change_tiles(void* data, int64_t begin, int64_t end) {
    const product_job* job = data;
    const tangent* tan = job->tan;
    for (int64_t t = begin; t < end; ++t) {
        if (tan->is_wet[t] != 0) { // else nothing changes, and that stands there
            ISA_CALL(tan->params.rate.map->ctx, tangent_change)(tan, job->u, (tile_ix)t);
        }
    }
}

// Whether viscosity may change in a tile or beside it: small liquids have a band of tiles around
// them that is as large as they are.
static bool is_near_liquid(const tangent* tan, int64_t t) {
    bool is_near = false;
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        is_near = is_near || tan->is_wet[tan->params.rate.map->neighbour[t][n]] != 0;
    }
    return is_near;
}

static void add_tiles(void* data, int64_t begin, int64_t end) {
    const product_job* job = data;
    const tangent* tan = job->tan;
    for (int64_t t = begin; t < end; ++t) {
        if (is_near_liquid(tan, t)) {
            ISA_CALL(tan->params.rate.map->ctx, tangent_force)
            (tan, (tile_ix)t, job->y + (size_t)t * AXES * TILE_CELLS);
        }
    }
}

void tangent_add(void* of, const float* u, double* y) {
    TREACLE_ASSERT(u != NULL && y != NULL);
    TREACLE_ASSERT(((const tangent*)of)->block != NULL);
    const tangent* tan = of;
    const tile_map* map = tan->params.rate.map;
    product_job job = {tan, u, y};
    tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = tan->change}}},
             change_tiles, &job);
    tile_for(map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {tile_block(y, (size_t)AXES * TILE_CELLS * sizeof(double),
                                               TILE_TO_HOLDERS)}},
             add_tiles, &job);
}
