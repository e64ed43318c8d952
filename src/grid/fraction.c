#include "grid/fraction.h"

#include <string.h>

#include "grid/fraction_tile.h"
#include "grid/tile_loop.h"

enum { LOW = FRACTION_LOW, HIGH = FRACTION_HIGH, FIELDS = 1 + 4 * AXES };

typedef struct fraction_job {
    const fraction_params* params;
    const fraction_fields* out;
} fraction_job;

// 1 if the block is inside throughout, 0 if outside, -1 if the surface may cut an octant of it: no
// point of a cell is further than sqrt(3)/2 from the centre.
static int side_of(const float* block) {
    int has_near_inside = 0, has_near_outside = 0;
    for (int i = 0; i < BLOCK_VALUES(LOW, HIGH); ++i) {
        has_near_inside |= block[i] < 1.0f;
        has_near_outside |= block[i] > -1.0f;
    }
    return !has_near_inside ? 0 : !has_near_outside ? 1 : -1;
}

static void fill_even(float* tile, const int layers[AXES], float value) {
    bool is_whole = layers[0] * layers[1] * layers[2] == TILE_CELLS;
    for (int i = 0; i < TILE_CELLS && is_whole; ++i) {
        tile[i] = value;
    }
    for (int z = 0; z < layers[2] && !is_whole; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            for (int x = 0; x < layers[0]; ++x) {
                tile[(z * TILE_SIZE + y) * TILE_SIZE + x] = value;
            }
        }
    }
}

// All fields of the struct, NULL or not.
static void list_fields(fraction_fields* fields, float** list[FIELDS]) {
    list[0] = &fields->cell;
    for (int a = 0; a < AXES; ++a) {
        list[1 + a] = &fields->face.at[a];
        list[1 + AXES + a] = &fields->edge.at[a];
        list[1 + 2 * AXES + a] = &fields->tent.at[a];
        list[1 + 3 * AXES + a] = &fields->area.at[a];
    }
}

static void fill_tile(const fraction_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    const int layers[AXES] = {tile_layers(map, 0), tile_layers(map, 1), tile_layers(map, 2)};
    float block[BLOCK_VALUES(LOW, HIGH)];
    gather_block(map, job->params->phi, t, LOW, HIGH, block);
    gather_extend(job->params->domain, map->coord[t], (const int[2]){LOW, HIGH}, block);
    int side = side_of(block);
    bool is_flat = layers[0] * layers[1] * layers[2] < TILE_CELLS;
    fraction_fields tile = *job->out;
    float** list[FIELDS];
    list_fields(&tile, list);
    for (int i = 0; i < FIELDS; ++i) {
        if (*list[i] == NULL) {
            continue;
        }
        *list[i] += (size_t)t * TILE_CELLS;
        if (is_flat) {
            memset(*list[i], 0, TILE_CELLS * sizeof(float));
        }
        if (side >= 0) {
            fill_even(*list[i], layers, (float)side);
        }
    }
    if (side < 0) {
        ISA_CALL(map->ctx, fraction_tile)(block, layers, &tile);
    }
}

static void fraction_fill_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        fill_tile(data, (tile_ix)t);
    }
}

void fraction_compute(const fraction_params* params, const fraction_fields* out) {
    TREACLE_ASSERT(params->phi != NULL && params->phi != out->cell);
    TREACLE_ASSERT(params->domain != NULL);
    fraction_job job = {params, out};
    tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 4}, fraction_fill_tiles, &job);
    fraction_fields fields = *out;
    float** list[FIELDS];
    list_fields(&fields, list);
    for (int i = 0; i < FIELDS; ++i) {
        tile_publish(params->map, &(tile_values){.at = *list[i]});
    }
}
