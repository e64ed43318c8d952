// A tile asks the points of the cells around it and writes only itself. Cells far from any point
// are outside; cells that have points in all cells around, two deep, are inside: only the others
// are worth the work, so its cost goes with the surface and not with the volume.
#include "grid/level_liquid.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/level_splat.h"
#include "grid/redistance.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"

enum {
    MARGIN = LEVEL_REACH,
    SIDE = TILE_SIZE + 2 * MARGIN,
    ROWS = SIDE * SIDE,
};

// Where the points of each cell of a tile begin: cell c holds points of[c] .. of[c + 1] - 1,
// counted from the tile's first.
typedef struct cell_starts {
    int64_t of[TILE_CELLS + 1];
} cell_starts;

typedef struct level_job {
    const level_params* params;
    float* phi;
    cell_starts* starts;   // [points tiles]
    tile_mask* occupied;   // [map count + 1]
    tile_ix* points_tile;  // [map count + 1], -1 where there are no points
    int reach[AXES];       // cells to each side that a point reaches
    float inside, outside; // phi where nothing is worth computing
    float ball;            // radius of a ball, or r
} level_job;

static int active_axes(const grid_domain* domain) {
    return domain->is_active[0] + domain->is_active[1] + domain->is_active[2];
}

// r / R such that phi = 0 at the end of a half space: mean depth, over the bump of radius R around
// a point of the surface, of the half inside; and what was measured to be missing, for phi bends
// between cells and means of few points lie beside the normal [geometry.2].
static double half_space_fraction(const level_params* params) {
    static const double depth[] = {0.0, 35.0 / 128.0, 0.2586884, 315.0 / 1280.0};
    static const double bend[] = {0.0, 0.014, 0.014, 0.0167}, scatter[] = {0.0, 0.0, 0.23, 0.53};
    int axes = active_axes(params->domain);
    double points = params->per_cell, fewest = 1.0; // in the cube of side R
    for (int a = 0; a < axes; ++a) {
        points *= (double)params->radius;
        fewest *= 3.0;
    }
    points = points > fewest ? points : fewest;
    return depth[axes] + bend[axes] + scatter[axes] * elementary_pow(points, -1.4);
}

// Sum of `bits` shifted by -n .. n: OR, or AND if `all`.
static uint32_t spread_bits(uint32_t bits, int n, bool all) {
    uint32_t out = bits;
    for (int i = 1; i <= n; ++i) {
        out = all ? out & bits << i & bits >> i : out | bits << i | bits >> i;
    }
    return out;
}

// The same along rows and layers: the box of half width reach[] around every cell.
static void spread_rows(const uint32_t* rows, const int reach[AXES], bool all, uint32_t* out) {
    uint32_t wide[ROWS];
    for (int i = 0; i < ROWS; ++i) {
        wide[i] = spread_bits(rows[i], reach[0], all);
    }
    for (int z = 0; z < SIDE; ++z) {
        for (int y = 0; y < SIDE; ++y) {
            uint32_t sum = wide[z * SIDE + y];
            for (int k = -reach[2]; k <= reach[2]; ++k) {
                for (int j = -reach[1]; j <= reach[1]; ++j) {
                    bool is_there = z + k >= 0 && z + k < SIDE && y + j >= 0 && y + j < SIDE;
                    uint32_t other = is_there ? wide[(z + k) * SIDE + y + j] : 0;
                    sum = all ? sum & other : sum | other;
                }
            }
            out[z * SIDE + y] = sum;
        }
    }
}

// A cell of the margin along one axis: which neighbour holds its points, and how they are placed.
typedef struct axis_cell {
    int side, cell; // side -1, 0, 1 and cell 0..7; side 2: nowhere
    float sign, shift;
} axis_cell;

// Cell i (-MARGIN .. 7 + MARGIN) of a tile; behind the sides of the domain its mirror image.
static axis_cell axis_cell_of(const grid_domain* domain, tile_coord coord, int a, int i) {
    int cells = domain->cells[a], low = coord.at[a] * TILE_SIZE, at = low + i;
    bool can_mirror = !domain->is_periodic[a] && domain->is_active[a];
    bool is_low = can_mirror && at < 0, is_high = can_mirror && at >= cells;
    int local = is_low ? -1 - at - low : is_high ? 2 * cells - 1 - at - low : i;
    int side = local >> 3;
    if (side < -1 || side > 1) {
        return (axis_cell){.side = 2};
    }
    axis_cell out = {side, local & 7, 1.0f, (float)(side * TILE_SIZE)};
    if (is_low || is_high) {
        // x' = 2 wall - x, in the tile's frame.
        float plane = (float)((is_high ? cells : 0) - low);
        out.sign = -1.0f;
        out.shift = 2.0f * plane - out.shift;
    }
    return out;
}

typedef struct surroundings {
    axis_cell axis[AXES][SIDE];
    uint32_t rows[ROWS]; // bit x + MARGIN: the cell has points
} surroundings;

// Whether a cell of the surroundings lies behind a side of the domain.
static bool has_mirror(const surroundings* around) {
    bool is_any = false;
    for (int n = 0; n < AXES * SIDE; ++n) {
        is_any = is_any || around->axis[n / SIDE][n % SIDE].sign != 1.0f;
    }
    return is_any;
}

static void look_around(const level_job* job, tile_ix t, surroundings* out) {
    const level_params* params = job->params;
    const tile_map* map = params->map;
    for (int a = 0; a < AXES; ++a) {
        for (int i = 0; i < SIDE; ++i) {
            out->axis[a][i] = axis_cell_of(params->domain, map->coord[t], a, i - MARGIN);
        }
    }
    uint32_t plain[ROWS];
    tile_mask_rows(map, job->occupied, t, MARGIN, plain);
    if (!has_mirror(out)) {
        memcpy(out->rows, plain, sizeof(plain));
        return;
    }
    for (int z = 0; z < SIDE; ++z) {
        for (int y = 0; y < SIDE; ++y) {
            axis_cell from_y = out->axis[1][y], from_z = out->axis[2][z];
            int row_y = map->is_flat[1] ? y : from_y.side * TILE_SIZE + from_y.cell + MARGIN;
            int row_z = map->is_flat[2] ? z : from_z.side * TILE_SIZE + from_z.cell + MARGIN;
            bool is_there = row_y >= 0 && row_y < SIDE && row_z >= 0 && row_z < SIDE;
            uint32_t row = is_there ? plain[row_z * SIDE + row_y] : 0;
            uint32_t bits = 0;
            for (int x = 0; x < SIDE; ++x) {
                axis_cell from_x = out->axis[0][x];
                int bit = map->is_flat[0] ? x : from_x.side * TILE_SIZE + from_x.cell + MARGIN;
                bits |= bit >= 0 && bit < SIDE ? (row >> bit & 1) << x : 0;
            }
            out->rows[z * SIDE + y] = bits;
        }
    }
}

// Gives the points of cell (x, y, z) of the surroundings, counted from the margin, to the sums.
static void splat_cell(const level_job* job, tile_ix t, const surroundings* around,
                       const int cell[AXES], float (*sums)[SPLAT_VALUES]) {
    const tile_points* points = job->params->points;
    splat_source source = {0};
    int side[AXES], at[AXES];
    for (int a = 0; a < AXES; ++a) {
        axis_cell from = around->axis[a][cell[a]];
        side[a] = from.side;
        at[a] = from.cell;
        source.sign[a] = from.sign;
        source.shift[a] = from.shift;
        source.cell[a] = cell[a] - MARGIN;
        source.reach[a] = job->reach[a];
    }
    tile_ix other = job->params->map->neighbour[t][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    tile_ix i = job->points_tile[other];
    const int64_t* start = job->starts[i].of + (at[2] * TILE_SIZE + at[1]) * TILE_SIZE + at[0];
    source.count = start[1] - start[0];
    source.position = points->position + AXES * (points->tile_first[i] + start[0]);
    source.inverse_square = 1.0f / (job->params->radius * job->params->radius);
    if (job->params->kind == LEVEL_SMOOTH) {
        ISA_CALL(job->params->map->ctx, splat_smooth)(&source, sums);
    } else {
        ISA_CALL(job->params->map->ctx, splat_nearest)(&source, sums);
    }
}

static float level_of_sums(const level_job* job, float (*sums)[SPLAT_VALUES], int at) {
    if (job->params->kind == LEVEL_SPHERES) {
        return fminf(sqrtf(sums[0][at]) - job->ball, job->outside);
    }
    float x = sums[1][at], y = sums[2][at], z = sums[3][at];
    bool has_any = sums[0][at] > 1e-6f;
    float distance = has_any ? sqrtf(x * x + y * y + z * z) / sums[0][at] - job->ball : 0.0f;
    return has_any ? fminf(distance, job->outside) : job->outside;
}

static void splat_rows(const level_job* job, tile_ix t, const surroundings* around,
                       const uint32_t* wanted, float (*sums)[SPLAT_VALUES]) {
    for (int z = 0; z < SIDE; ++z) {
        for (int y = 0; y < SIDE; ++y) {
            uint32_t bits = around->rows[z * SIDE + y] & wanted[z * SIDE + y];
            for (int x = 0; x < SIDE; ++x) {
                if (bits >> x & 1) {
                    splat_cell(job, t, around, (const int[AXES]){x, y, z}, sums);
                }
            }
        }
    }
}

// Keeps of padded rows the bits of the tile itself (of layer 0 along flat axes). True if any.
static bool keep_own(const tile_map* map, uint32_t* rows) {
    uint32_t any = 0, own = ((1u << tile_layers(map, 0)) - 1) << MARGIN;
    for (int z = 0; z < SIDE; ++z) {
        for (int y = 0; y < SIDE; ++y) {
            bool is_own = y >= MARGIN && y < MARGIN + tile_layers(map, 1) && z >= MARGIN &&
                          z < MARGIN + tile_layers(map, 2);
            rows[z * SIDE + y] &= is_own ? own : 0;
            any |= rows[z * SIDE + y];
        }
    }
    return any != 0;
}

// Whether all cells of the surroundings have points, or none has: inside of liquid, and far from
// it, nothing is worth looking at.
static bool is_even(const surroundings* around, bool has_points) {
    uint32_t others = 0;
    for (int i = 0; i < ROWS; ++i) {
        others |= around->rows[i] ^ (has_points ? (1u << SIDE) - 1 : 0);
    }
    return others == 0;
}

static void fill_phi(const level_job* job, tile_ix t, float value) {
    for (size_t i = (size_t)t * TILE_CELLS; i < ((size_t)t + 1) * TILE_CELLS; ++i) {
        job->phi[i] = value;
    }
}

static void evaluate_tile(const level_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    const int two[AXES] = {map->is_flat[0] ? 0 : 2, map->is_flat[1] ? 0 : 2,
                           map->is_flat[2] ? 0 : 2};
    surroundings around;
    uint32_t near[ROWS], deep[ROWS], wanted[ROWS], open[ROWS];
    look_around(job, t, &around);
    bool is_full = is_even(&around, true);
    if (is_full || is_even(&around, false)) {
        fill_phi(job, t, is_full ? job->inside : job->outside);
        return;
    }
    spread_rows(around.rows, job->reach, false, near);
    spread_rows(around.rows, two, true, deep);
    for (int i = 0; i < ROWS; ++i) {
        open[i] = near[i] & ~deep[i];
    }
    float sums[SPLAT_SUMS][SPLAT_VALUES];
    bool has_open = keep_own(map, open);
    if (has_open) {
        for (int k = 0; k < SPLAT_SUMS; ++k) {
            for (int i = 0; i < SPLAT_VALUES; ++i) {
                sums[k][i] = job->params->kind == LEVEL_SMOOTH ? 0.0f : 1e6f;
            }
        }
        spread_rows(open, job->reach, false, wanted);
        splat_rows(job, t, &around, wanted, sums);
    }
    float* phi = job->phi + (size_t)t * TILE_CELLS;
    const float* volume = job->params->cell_volume;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int x = i & 7, row = ((i >> 6) + MARGIN) * SIDE + (i >> 3 & 7) + MARGIN;
        bool is_deep = deep[row] >> (x + MARGIN) & 1, is_open = open[row] >> (x + MARGIN) & 1;
        phi[i] = is_deep ? job->inside : job->outside;
        if (is_open) {
            phi[i] = level_of_sums(job, sums, (i >> 3) * SPLAT_STRIDE + x + SPLAT_PAD);
            float crowd = volume != NULL ? volume[(size_t)t * TILE_CELLS + (size_t)i] : 0.0f;
            phi[i] = fminf(phi[i], fmaxf(LEVEL_CROWD - crowd, job->inside));
        }
    }
}

static void evaluate_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        evaluate_tile(data, (tile_ix)t);
    }
}

static void index_tiles(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    const tile_points* points = job->params->points;
    for (int64_t i = begin; i < end; ++i) {
        int64_t first = points->tile_first[i], count = points->tile_first[i + 1] - first, p = 0;
        tile_ix t = tile_map_find(job->params->map, points->tile[i]);
        if (!tile_ranks_holds(job->params->map, t)) {
            continue;
        }
        tile_mask mask = {{0}};
        for (int c = 0; c < TILE_CELLS; ++c) {
            int64_t start = p;
            while (p < count && tile_points_cell(points->position + AXES * (first + p)) <= c) {
                ++p;
            }
            job->starts[i].of[c] = start;
            if (p > start) {
                tile_mask_add(&mask, c);
            }
        }
        job->starts[i].of[TILE_CELLS] = count;
        job->occupied[t] = mask;
        job->points_tile[t] = (tile_ix)i;
    }
}

typedef struct shift_job {
    float* phi;
    float by, limit;
} shift_job;

static void shift_tiles(void* data, int64_t begin, int64_t end) {
    const shift_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float phi = job->phi[i] + job->by;
        job->phi[i] = phi > job->limit ? job->limit : phi < -job->limit ? -job->limit : phi;
    }
}

static treacle_status evaluate(const level_params* params, float* phi, level_job* job) {
    treacle_context* ctx = params->map->ctx;
    size_t tiles = (size_t)params->map->count + 1, with_points = (size_t)params->points->tile_count;
    TREACLE_TRY(
        alloc_array(ctx, with_points, sizeof(cell_starts), "points by cell", (void**)&job->starts));
    TREACLE_TRY(
        alloc_zero(ctx, tiles, sizeof(tile_mask), "cells with points", (void**)&job->occupied));
    TREACLE_TRY(
        alloc_array(ctx, tiles, sizeof(tile_ix), "tiles with points", (void**)&job->points_tile));
    for (size_t t = 0; t < tiles; ++t) {
        job->points_tile[t] = -1;
    }
    job->phi = phi;
    parallel_for(ctx, params->points->tile_count, 8, index_tiles, job);
    tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = phi}}},
             evaluate_tiles, job);
    return TREACLE_OK;
}

static level_job job_of(const level_params* params) {
    level_job job = {.params = params};
    bool is_smooth = params->kind == LEVEL_SMOOTH;
    float support = is_smooth ? params->radius : params->radius + LEVEL_CLOSING;
    job.ball = is_smooth ? (float)half_space_fraction(params) * params->radius : support;
    int reach = support > 1.5f ? 2 : 1;
    for (int a = 0; a < AXES; ++a) {
        job.reach[a] = params->domain->is_active[a] ? reach : 0;
    }
    job.inside = -job.ball;
    job.outside = (float)reach + 0.5f - job.ball;
    return job;
}

treacle_status level_liquid(const level_params* params, float* phi) {
    TREACLE_ASSERT(params->radius > 0.0f && params->per_cell > 0.0);
    TREACLE_ASSERT(params->limit >= 2.0f);
    TREACLE_ASSERT(phi != NULL && phi != params->cell_volume);
    treacle_context* ctx = params->map->ctx;
    level_job job = job_of(params);
    treacle_status status = evaluate(params, phi, &job);
    alloc_free(ctx, job.starts, (size_t)params->points->tile_count * sizeof(cell_starts));
    alloc_free(ctx, job.occupied, ((size_t)params->map->count + 1) * sizeof(tile_mask));
    alloc_free(ctx, job.points_tile, ((size_t)params->map->count + 1) * sizeof(tile_ix));
    TREACLE_TRY(status);
    float shift = params->kind == LEVEL_SPHERES ? LEVEL_CLOSING : 0.0f;
    redistance_params again = {params->domain, params->map, params->limit + shift};
    TREACLE_TRY(redistance(&again, phi));
    if (params->kind == LEVEL_SPHERES) {
        shift_job move = {phi, shift, params->limit};
        tile_for(params->map, &(tile_use){.reads = TILE_ALONE, .grain = 32}, shift_tiles, &move);
    }
    return TREACLE_OK;
}

float level_radius_default(const grid_domain* domain, level_kind kind, double per_cell) {
    TREACLE_ASSERT(per_cell > 0.0);
    int axes = active_axes(domain);
    double spacing = elementary_pow(per_cell, -1.0 / axes);
    if (kind == LEVEL_SMOOTH) {
        double radius = 3.0 * spacing;
        return (float)(radius < 1.5 ? 1.5 : radius > 2.5 ? 2.5 : radius);
    }
    return (float)(0.48 * spacing); // measured: the surface of a pool is where it was filled to
}
