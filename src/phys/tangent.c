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

// --- how viscosity changes ---------------------------------------------------------------------

typedef struct change_job {
    const tangent* tan;
    const float* u; // [tile][axis][512]
} change_job;

typedef struct change_block {
    float u[AXES][VALUES];
    float shear[VALUES];
    double product[VALUES]; // at edges
} change_block;

// The part of the stretch along a.
static void add_stretch(const change_job* job, tile_ix t, int a, const change_block* block,
                        double* sum) {
    const float* stretch = job->tan->stretch[a] + (size_t)t * TILE_CELLS;
    const float* u = block->u[a];
    int layers = tile_layers(job->tan->params.rate.map, 2) * TILE_SIZE * TILE_SIZE;
    for (int q = 0; q < layers; ++q) {
        int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
        sum[q] += (double)stretch[q] * ((double)u[at + steps[a]] - (double)u[at]);
    }
}

// The part of the shear at edges along a.
static void add_shear(const change_job* job, tile_ix t, int a, change_block* block, double* sum) {
    const tile_map* map = job->tan->params.rate.map;
    const float* fraction = job->tan->fraction[a] + (size_t)t * TILE_CELLS;
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    int layers = tile_layers(map, 2);
    gather_block(map, job->tan->shear[a], t, 1, 1, block->shear);
    for (int z = 0; z < layers + (layers > 1); ++z) {
        for (int y = 0; y <= TILE_SIZE; ++y) {
            for (int x = 0; x <= TILE_SIZE; ++x) {
                int at = BLOCK_INDEX(1, 1, x, y, z);
                block->product[at] = (double)block->shear[at] *
                                     difference_at((const float(*)[VALUES])block->u, a, at);
            }
        }
    }
    for (int q = 0; q < layers * TILE_SIZE * TILE_SIZE; ++q) {
        int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
        const double* p = block->product + at;
        sum[q] +=
            (double)fraction[q] * ((p[0] + p[steps[b]]) + (p[steps[c]] + p[steps[b] + steps[c]]));
    }
}

static void change_tile(const change_job* job, tile_ix t, change_block* block) {
    const rheology_params* p = &job->tan->params.rate;
    double sum[TILE_CELLS] = {0};
    for (int a = 0; a < AXES; ++a) {
        gather_source source = {p->map, job->u + a * TILE_CELLS, AXES * TILE_CELLS};
        gather_strided(&source, t, 1, 1, block->u[a]);
    }
    for (int a = 0; a < AXES; ++a) {
        bool has_edges = !p->map->is_flat[(a + 1) % AXES] && !p->map->is_flat[(a + 2) % AXES];
        if (!p->map->is_flat[a]) {
            add_stretch(job, t, a, block, sum);
        }
        if (has_edges) {
            add_shear(job, t, a, block, sum);
        }
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        size_t i = (size_t)t * TILE_CELLS + (size_t)q;
        job->tan->change[i] = p->cell_fraction[i] > 0.0f ? (float)sum[q] : 0.0f; // [rheo.6]
    }
}

static void change_tiles(void* data, int64_t begin, int64_t end) {
    const change_job* job = data;
    change_block block;
    for (int64_t t = begin; t < end; ++t) {
        if (job->tan->is_wet[t] != 0) { // else nothing changes, and that stands there
            change_tile(job, (tile_ix)t, &block);
        }
    }
}

// --- and forces --------------------------------------------------------------------------------

typedef struct force_block {
    float change[VALUES]; // of log mu
    float stress[VALUES];
    double pull[VALUES]; // change of a stress
} force_block;

// pull = stress times change at the cells of the block that the tile's faces touch.
static void pull_of_cells(force_block* f, int layers) {
    for (int z = layers > 1 ? -1 : 0; z < layers; ++z) {
        for (int y = -1; y < TILE_SIZE; ++y) {
            int row = BLOCK_INDEX(1, 1, -1, y, z);
            for (int at = row; at <= row + TILE_SIZE; ++at) {
                f->pull[at] = (double)f->stress[at] * (double)f->change[at];
            }
        }
    }
}

// At the edges along a; the stress has 1 over the number of cells that change.
static void pull_of_edges(force_block* f, int layers, int a) {
    int b = steps[(a + 1) % AXES], c = steps[(a + 2) % AXES];
    for (int z = 0; z < layers + (layers > 1); ++z) {
        for (int y = 0; y <= TILE_SIZE; ++y) {
            int row = BLOCK_INDEX(1, 1, 0, y, z);
            for (int at = row; at <= row + TILE_SIZE; ++at) {
                double change = ((double)f->change[at] + (double)f->change[at - b]) +
                                ((double)f->change[at - c] + (double)f->change[at - b - c]);
                f->pull[at] = (double)f->stress[at] * change;
            }
        }
    }
}

// y -= pull here less there, or there less here where the step goes up.
static void add_difference(const force_block* f, const int last[AXES], int step, double* y) {
    int low = step < 0 ? step : 0, high = step < 0 ? 0 : step;
    for (int k = 0; k < last[2]; ++k) {
        for (int j = 0; j < last[1]; ++j) {
            for (int i = 0; i < last[0]; ++i) {
                int at = BLOCK_INDEX(1, 1, i, j, k);
                y[(k * TILE_SIZE + j) * TILE_SIZE + i] -= f->pull[at + high] - f->pull[at + low];
            }
        }
    }
}

typedef struct add_job {
    const tangent* tan;
    double* y;
} add_job;

static void add_tile(const add_job* job, tile_ix t, const int last[AXES], force_block* f) {
    const tangent* tan = job->tan;
    const tile_map* map = tan->params.rate.map;
    double* y = job->y + (size_t)t * AXES * TILE_CELLS;
    gather_block(map, tan->change, t, 1, 1, f->change);
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        if (!map->is_flat[a]) {
            gather_block(map, tan->cell[a], t, 1, 1, f->stress);
            pull_of_cells(f, last[2]);
            add_difference(f, last, -steps[a], y + (size_t)a * TILE_CELLS);
        }
        if (!map->is_flat[b] && !map->is_flat[c]) {
            gather_block(map, tan->edge[a], t, 1, 1, f->stress);
            pull_of_edges(f, last[2], a);
            add_difference(f, last, steps[c], y + (size_t)b * TILE_CELLS);
            add_difference(f, last, steps[b], y + (size_t)c * TILE_CELLS);
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
    const add_job* job = data;
    const tile_map* map = job->tan->params.rate.map;
    const int last[AXES] = {tile_layers(map, 0), tile_layers(map, 1), tile_layers(map, 2)};
    force_block f;
    for (int64_t t = begin; t < end; ++t) {
        if (is_near_liquid(job->tan, t)) {
            add_tile(job, (tile_ix)t, last, &f);
        }
    }
}

void tangent_add(void* of, const float* u, double* y) {
    TREACLE_ASSERT(u != NULL && y != NULL);
    TREACLE_ASSERT(((const tangent*)of)->block != NULL);
    const tangent* tan = of;
    const tile_map* map = tan->params.rate.map;
    tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = tan->change}}},
             change_tiles, &(change_job){tan, u});
    tile_for(map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {tile_block(y, (size_t)AXES * TILE_CELLS * sizeof(double),
                                               TILE_TO_HOLDERS)}},
             add_tiles, &(add_job){tan, y});
}
