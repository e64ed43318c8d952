// A layer reads only samples known before it and writes only samples that were not, so values need
// no second copy and the order of tiles does not matter; the masks have two copies.
#include "grid/extrapolate.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"

enum { MARGIN = 2, SIDE = BLOCK_SIDE(MARGIN, MARGIN) };

typedef struct layer_job {
    const extrapolate_params* params;
    int field_count;
    float* const* fields;
    const tile_mask* known;
    tile_mask* next;
} layer_job;

static bool extrapolate_is_full(const tile_mask* mask) {
    uint64_t all = ~UINT64_C(0);
    for (int z = 0; z < TILE_SIZE; ++z) {
        all &= mask->layer[z];
    }
    return all == ~UINT64_C(0);
}

// Padded rows of known samples to the unknown samples next to them. A flat axis repeats
// the row itself and adds nothing.
static tile_mask find_front(const uint32_t* rows, const tile_mask* inside) {
    tile_mask front;
    for (int z = 0; z < TILE_SIZE; ++z) {
        front.layer[z] = 0;
        for (int y = 0; y < TILE_SIZE; ++y) {
            const uint32_t* row = rows + (z + MARGIN) * SIDE + y + MARGIN;
            uint32_t near = *row << 1 | *row >> 1 | row[-1] | row[1] | row[-SIDE] | row[SIDE];
            uint32_t bits = (near & ~*row) >> MARGIN & tile_mask_row(inside, y, z);
            front.layer[z] |= (uint64_t)bits << (8 * y);
        }
    }
    return front;
}

// Where the sample of a cell of the surroundings of a tile is. Of values only known ones may be
// read: another thread may be writing the others.
static size_t index_of(const layer_job* job, tile_ix t, const int cell[AXES]) {
    int side[AXES];
    for (int a = 0; a < AXES; ++a) {
        side[a] = block_side_of(cell[a]);
    }
    tile_ix tile = job->params->map->neighbour[t][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    return (size_t)tile * TILE_CELLS + (size_t)(block_row_at(cell[1], cell[2]) + (cell[0] & 7));
}

// The sample next to sample q of a tile along an axis: mostly one of the same tile.
static size_t index_beside(const tile_map* map, tile_ix t, int q, int axis, int side) {
    int step = side * (1 << 3 * axis), at = (q >> 3 * axis & 7) + side;
    if (at >= 0 && at < TILE_SIZE) {
        return (size_t)t * TILE_CELLS + (size_t)(q + step);
    }
    static const int places[AXES] = {1, 3, 9};
    tile_ix next = map->neighbour[t][TILE_SELF + side * places[axis]];
    return (size_t)next * TILE_CELLS + (size_t)(q - 7 * step);
}

static float extrapolate_slope_at(const layer_job* job, tile_ix t, const int cell[AXES]) {
    const float* slope = job->params->slope;
    return slope != NULL ? slope[index_of(job, t, cell)] : 0.0f;
}

// Whether something stands between the sample of a cell and its neighbour along an axis.
static bool is_blocked(const layer_job* job, tile_ix t, const int cell[AXES], int along, int side) {
    const extrapolate_params* params = job->params;
    if (params->cell_across == NULL || along == params->axis) {
        return false;
    }
    int upper[AXES] = {cell[0], cell[1], cell[2]};
    upper[along] += side > 0 ? 1 : 0;
    uint8_t here = params->cell_across[index_of(job, t, upper)];
    upper[params->axis] -= params->map->is_flat[params->axis] ? 0 : 1;
    return ((here | params->cell_across[index_of(job, t, upper)]) >> along & 1) != 0;
}

// A sample that is not known yet, and the rows of find_front.
typedef struct front_cell {
    tile_ix tile;
    int at[AXES];
    const uint32_t* rows;
} front_cell;

// What the known neighbours of a cell say, which are *count.
static float value_from_known(const layer_job* job, const float* values, const front_cell* of,
                              float* count) {
    tile_ix t = of->tile;
    const int* cell = of->at;
    const uint32_t* rows = of->rows;
    const uint32_t* row = rows + (cell[2] + MARGIN) * SIDE + cell[1] + MARGIN;
    int bit = cell[0] + MARGIN;
    float slope = extrapolate_slope_at(job, t, cell);
    float sum = 0.0f, line_sum = 0.0f, line_count = 0.0f;
    *count = 0.0f;
    for (int side = -1; side <= 1; side += 2) {
        const uint32_t is_known[AXES] = {*row >> (bit + side), row[side] >> bit,
                                         row[side * SIDE] >> bit};
        const uint32_t is_known_behind[AXES] = {*row >> (bit + 2 * side), row[2 * side] >> bit,
                                                row[2 * side * SIDE] >> bit};
        for (int a = 0; a < AXES; ++a) {
            if ((is_known[a] & 1) != 0 && !is_blocked(job, t, cell, a, side)) {
                int other[AXES] = {cell[0], cell[1], cell[2]};
                other[a] += side;
                float near = values[index_of(job, t, other)];
                sum += near;
                *count += 1.0f;
                if (slope > 0.0f && (is_known_behind[a] & 1) != 0 &&
                    !is_blocked(job, t, other, a, side)) {
                    other[a] += side;
                    line_sum += near + (near - values[index_of(job, t, other)]);
                    line_count += 1.0f;
                }
            }
        }
    }
    float mean = sum / *count;
    return line_count > 0.0f ? mean + slope * (line_sum / line_count - mean) : mean;
}

// Whether a sample of a tile or of one across its sides is known: only those are looked at.
static bool is_near_known(const layer_job* job, tile_ix t) {
    static const int near[] = {TILE_SELF,
                               TILE_NEIGHBOUR(-1, 0, 0),
                               TILE_NEIGHBOUR(1, 0, 0),
                               TILE_NEIGHBOUR(0, -1, 0),
                               TILE_NEIGHBOUR(0, 1, 0),
                               TILE_NEIGHBOUR(0, 0, -1),
                               TILE_NEIGHBOUR(0, 0, 1)};
    bool is_near = false;
    for (size_t n = 0; n < sizeof(near) / sizeof(near[0]) && !is_near; ++n) {
        is_near = !tile_mask_is_empty(&job->known[job->params->map->neighbour[t][near[n]]]);
    }
    return is_near;
}

// The same as value_from_known where nothing has a slope or stands between samples, which is nearly
// everywhere.
static float mean_of_known(const layer_job* job, const float* values, const front_cell* of,
                           float* count) {
    const int* cell = of->at;
    const uint32_t* row = of->rows + (cell[2] + MARGIN) * SIDE + cell[1] + MARGIN;
    int bit = cell[0] + MARGIN, q = (cell[2] * TILE_SIZE + cell[1]) * TILE_SIZE + cell[0];
    float sum = 0.0f;
    *count = 0.0f;
    for (int side = -1; side <= 1; side += 2) {
        const uint32_t is_known[AXES] = {*row >> (bit + side), row[side] >> bit,
                                         row[side * SIDE] >> bit};
        for (int a = 0; a < AXES; ++a) {
            if ((is_known[a] & 1) != 0) {
                sum += values[index_beside(job->params->map, of->tile, q, a, side)];
                *count += 1.0f;
            }
        }
    }
    return sum / *count;
}

// Fills in sample i of a tile, which is next to one that is known.
static void advance_cell(const layer_job* job, const front_cell* cell, int i, bool is_plain) {
    tile_ix t = cell->tile;
    float count = 0.0f;
    for (int f = 0; f < job->field_count; ++f) {
        float value = is_plain ? mean_of_known(job, job->fields[f], cell, &count)
                               : value_from_known(job, job->fields[f], cell, &count);
        float* out = &job->fields[f][(size_t)t * TILE_CELLS + (size_t)i];
        *out = count > 0.0f ? value : *out;
    }
    if (count > 0.0f) {
        tile_mask_add(&job->next[t], i);
    }
}

static void advance_tile(const layer_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    job->next[t] = job->known[t];
    if (extrapolate_is_full(&job->known[t]) || !is_near_known(job, t)) {
        return;
    }
    uint32_t rows[SIDE * SIDE];
    tile_mask_rows(map, job->known, t, MARGIN, rows);
    tile_mask inside = tile_mask_inside(job->params->domain, job->params->place, map->coord[t]);
    tile_mask front = find_front(rows, &inside);
    if (tile_mask_is_empty(&front)) {
        return;
    }
    bool is_flat = map->is_flat[0] || map->is_flat[1] || map->is_flat[2];
    bool is_plain = job->params->slope == NULL && job->params->cell_across == NULL && !is_flat;
    for (int z = 0; z < TILE_SIZE; ++z) {
        for (uint64_t bits = front.layer[z]; bits != 0; bits &= bits - 1) {
            int i = z * TILE_SIZE * TILE_SIZE + __builtin_ctzll(bits);
            front_cell cell = {t, {i & 7, i >> 3 & 7, i >> 6}, rows};
            advance_cell(job, &cell, i, is_plain);
        }
    }
}

static void advance_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        advance_tile(data, (tile_ix)t);
    }
}

treacle_status extrapolate_fields(const extrapolate_params* params, int field_count,
                                  float* const* fields, tile_mask* valid) {
    TREACLE_ASSERT(params->layers >= 0 && field_count > 0);
    TREACLE_ASSERT(fields != NULL && valid != NULL);
    TREACLE_ASSERT(params->cell_across == NULL || (params->axis >= 0 && params->axis < AXES));
    treacle_context* ctx = params->map->ctx;
    size_t count = (size_t)params->map->count + 1;
    tile_mask* other = NULL;
    TREACLE_TRY(
        alloc_array(ctx, count, sizeof(*other), "the front of extrapolation", (void**)&other));
    other[count - 1] = valid[count - 1];
    layer_job job = {params, field_count, fields, valid, other};
    for (int layer = 0; layer < params->layers; ++layer) {
        job.known = layer % 2 == 0 ? valid : other;
        job.next = layer % 2 == 0 ? other : valid;
        tile_for(
            params->map,
            &(tile_use){.reads = TILE_AROUND,
                        .grain = 8,
                        .writes = {tile_block(job.next, sizeof(tile_mask), TILE_TO_NEIGHBOURS)}},
            advance_tiles, &job);
        for (int f = 0; f < field_count; ++f) {
            tile_publish(params->map,
                         &(tile_values){.at = fields[f], .readers = TILE_TO_NEIGHBOURS});
        }
    }
    if (params->layers % 2 != 0) {
        tile_copy(params->map, valid, other, sizeof(*other));
    }
    alloc_free(ctx, other, count * sizeof(*other));
    tile_publish(params->map, &(tile_values){.at = valid, .tile_bytes = sizeof(tile_mask)});
    for (int f = 0; f < field_count; ++f) {
        tile_publish(params->map, &(tile_values){.at = fields[f]});
    }
    return TREACLE_OK;
}

treacle_status extrapolate(const extrapolate_params* params, float* values, tile_mask* valid) {
    TREACLE_ASSERT(values != NULL && values != params->slope);
    return extrapolate_fields(params, 1, &values, valid);
}
