// What a velocity changes in the viscosity of a tile, and what that adds to the forces; the law is
// in phys/tangent.c. A quarter of chocolate_pour was spent here before rows of eight were lanes.
#include "phys/tangent_kernels.h"

#include "grid/gather.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1), ROW = TILE_SIZE };
static const int steps[AXES] = {1, SIDE, SIDE* SIDE};

static bool has_edges(const tile_map* map, int a) {
    return !map->is_flat[(a + 1) % AXES] && !map->is_flat[(a + 2) % AXES];
}

// --- how viscosity changes ---------------------------------------------------------------------

typedef struct change_block {
    float u[AXES][VALUES];
    float shear[VALUES];
    double product[VALUES]; // at edges
} change_block;

// The part of the stretch along a.
static void add_stretch(const tangent* tan, tile_ix t, int a, const change_block* block,
                        double* sum) {
    const float* stretch = tan->stretch[a] + (size_t)t * TILE_CELLS;
    int rows = tile_layers(tan->params.rate.map, 2) * ROW;
    for (int row = 0; row < rows; ++row) {
        const float* u = block->u[a] + BLOCK_INDEX(1, 1, 0, row % ROW, row / ROW);
        const float* next = u + steps[a];
        for (int i = 0; i < ROW; ++i) {
            sum[row * ROW + i] += (double)stretch[row * ROW + i] * ((double)next[i] - (double)u[i]);
        }
    }
}

// The products of shears at the edges along a.
static void find_products(int layers, int a, change_block* block) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    for (int z = 0; z < layers + (layers > 1); ++z) {
        for (int y = 0; y <= ROW; ++y) {
            int at = BLOCK_INDEX(1, 1, 0, y, z);
            const float *shear = block->shear + at, *ub = block->u[b] + at, *uc = block->u[c] + at;
            const float *low_c = ub - steps[c], *low_b = uc - steps[b];
            double* product = block->product + at;
            for (int i = 0; i <= ROW; ++i) {
                product[i] = (double)shear[i] * (((double)ub[i] - (double)low_c[i]) +
                                                 ((double)uc[i] - (double)low_b[i]));
            }
        }
    }
}

// The part of the shear at edges along a.
static void add_shear(const tangent* tan, tile_ix t, int a, change_block* block, double* sum) {
    const tile_map* map = tan->params.rate.map;
    const float* fraction = tan->fraction[a] + (size_t)t * TILE_CELLS;
    int b = steps[(a + 1) % AXES], c = steps[(a + 2) % AXES], layers = tile_layers(map, 2);
    gather_block(map, tan->shear[a], t, 1, 1, block->shear);
    find_products(layers, a, block);
    for (int row = 0; row < layers * ROW; ++row) {
        const double* p = block->product + BLOCK_INDEX(1, 1, 0, row % ROW, row / ROW);
        for (int i = 0; i < ROW; ++i) {
            sum[row * ROW + i] +=
                (double)fraction[row * ROW + i] * ((p[i] + p[i + b]) + (p[i + c] + p[i + b + c]));
        }
    }
}

void ISA(tangent_change)(const tangent* tan, const float* u, tile_ix t) {
    const rheology_params* p = &tan->params.rate;
    change_block block;
    double sum[TILE_CELLS] = {0};
    TREACLE_ASSERT(u != NULL && t >= 0 && t < p->map->count);
    for (int a = 0; a < AXES; ++a) {
        gather_source source = {p->map, u + a * TILE_CELLS, AXES * TILE_CELLS};
        gather_strided(&source, t, 1, 1, block.u[a]);
    }
    for (int a = 0; a < AXES; ++a) {
        if (!p->map->is_flat[a]) {
            add_stretch(tan, t, a, &block, sum);
        }
        if (has_edges(p->map, a)) {
            add_shear(tan, t, a, &block, sum);
        }
    }
    const float* fraction = p->cell_fraction + (size_t)t * TILE_CELLS;
    float* change = tan->change + (size_t)t * TILE_CELLS;
    for (int q = 0; q < TILE_CELLS; ++q) {
        change[q] = fraction[q] > 0.0f ? (float)sum[q] : 0.0f; // [rheo.6]
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
        for (int y = -1; y < ROW; ++y) {
            int at = BLOCK_INDEX(1, 1, -1, y, z);
            for (int i = at; i <= at + ROW; ++i) {
                f->pull[i] = (double)f->stress[i] * (double)f->change[i];
            }
        }
    }
}

// At the edges along a; the stress has 1 over the number of cells that change.
static void pull_of_edges(force_block* f, int layers, int a) {
    int b = steps[(a + 1) % AXES], c = steps[(a + 2) % AXES];
    for (int z = 0; z < layers + (layers > 1); ++z) {
        for (int y = 0; y <= ROW; ++y) {
            int at = BLOCK_INDEX(1, 1, 0, y, z);
            const float *here = f->change + at, *low = here - b;
            for (int i = 0; i <= ROW; ++i) {
                double change =
                    ((double)here[i] + (double)low[i]) + ((double)here[i - c] + (double)low[i - c]);
                f->pull[at + i] = (double)f->stress[at + i] * change;
            }
        }
    }
}

// y -= pull here less there, or there less here where the step goes up.
static void add_difference(const force_block* f, const int last[AXES], int step, double* y) {
    int low = step < 0 ? step : 0, high = step < 0 ? 0 : step;
    for (int k = 0; k < last[2]; ++k) {
        for (int j = 0; j < last[1]; ++j) {
            const double* pull = f->pull + BLOCK_INDEX(1, 1, 0, j, k);
            double* to = y + (k * ROW + j) * ROW;
            for (int i = 0; i < last[0]; ++i) {
                to[i] -= pull[i + high] - pull[i + low];
            }
        }
    }
}

void ISA(tangent_force)(const tangent* tan, tile_ix t, double* y) {
    const tile_map* map = tan->params.rate.map;
    const int last[AXES] = {tile_layers(map, 0), tile_layers(map, 1), tile_layers(map, 2)};
    force_block f;
    TREACLE_ASSERT(y != NULL && t >= 0 && t < map->count);
    gather_block(map, tan->change, t, 1, 1, f.change);
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        if (!map->is_flat[a]) {
            gather_block(map, tan->cell[a], t, 1, 1, f.stress);
            pull_of_cells(&f, last[2]);
            add_difference(&f, last, -steps[a], y + (size_t)a * TILE_CELLS);
        }
        if (has_edges(map, a)) {
            gather_block(map, tan->edge[a], t, 1, 1, f.stress);
            pull_of_edges(&f, last[2], a);
            add_difference(&f, last, steps[c], y + (size_t)b * TILE_CELLS);
            add_difference(&f, last, steps[b], y + (size_t)c * TILE_CELLS);
        }
    }
}
