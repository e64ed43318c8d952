// What a velocity changes in the viscosity of a tile, and what that adds to the forces; the law is
// in phys/tangent.c. A quarter of chocolate_pour was spent here before rows of eight were lanes.
#include "phys/tangent_kernels.h"

#include "grid/gather.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1), ROW = TILE_SIZE };
static const int steps[AXES] = {1, SIDE, SIDE* SIDE};

static bool has_edges(const tile_map* map, int a) {
    return !map->is_flat[(a + 1) % AXES] && !map->is_flat[(a + 2) % AXES];
}

TREACLE_ALWAYS_INLINE f64x8 load(const float* from) {
    return f64x8_from_f32x8(f32x8_load(from));
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
        f64x8 part = load(stretch + row * ROW) * (load(u + steps[a]) - load(u));
        f64x8_store(sum + row * ROW, f64x8_load(sum + row * ROW) + part);
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
            f64x8_store(product,
                        load(shear) * ((load(ub) - load(low_c)) + (load(uc) - load(low_b))));
            product[ROW] = (double)shear[ROW] * (((double)ub[ROW] - (double)low_c[ROW]) +
                                                 ((double)uc[ROW] - (double)low_b[ROW]));
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
        f64x8 around =
            (f64x8_load(p) + f64x8_load(p + b)) + (f64x8_load(p + c) + f64x8_load(p + b + c));
        f64x8_store(sum + row * ROW,
                    f64x8_load(sum + row * ROW) + load(fraction + row * ROW) * around);
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
            f->pull[at] = (double)f->stress[at] * (double)f->change[at];
            f64x8_store(f->pull + at + 1, load(f->stress + at + 1) * load(f->change + at + 1));
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
            f64x8 change = (load(here) + load(low)) + (load(here - c) + load(low - c));
            f64x8_store(f->pull + at, load(f->stress + at) * change);
            here += ROW;
            low += ROW;
            double last = ((double)*here + (double)*low) + ((double)here[-c] + (double)low[-c]);
            f->pull[at + ROW] = (double)f->stress[at + ROW] * last;
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
            if (last[0] == ROW) {
                f64x8 change = f64x8_load(pull + high) - f64x8_load(pull + low);
                f64x8_store(to, f64x8_load(to) - change);
            } else {
                to[0] -= pull[high] - pull[low];
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
