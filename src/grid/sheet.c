#include "grid/sheet.h"

#include <string.h>

#include "grid/fraction_tile.h"
#include "grid/octant.h"
#include "grid/tile_loop.h"

enum {
    LOW = FRACTION_LOW,
    HIGH = FRACTION_HIGH,
    POINTS = FRACTION_POINTS,
    OCTANTS = FRACTION_POINTS - 1, // along an axis, from octant -2 on
    FIELDS = 1 + 2 * AXES,
};
static const float octant_area = 0.25f; // of a side, over h^2

typedef struct sheet_job {
    const sheet_params* params;
    const sheet_fields* out;
} sheet_job;

// Area times squared normals of all octants of a tile.
typedef struct sheet_octants {
    float square[OCTANTS][OCTANTS][OCTANTS][AXES]; // [z][y][x]
} sheet_octants;

static bool is_near_surface(const float* block) {
    bool has_inside = false, has_outside = false;
    for (int i = 0; i < BLOCK_VALUES(LOW, HIGH); ++i) {
        has_inside = has_inside || block[i] < 1.0f;
        has_outside = has_outside || block[i] > -1.0f;
    }
    return has_inside && has_outside;
}

// The corners of an octant, from the cell's centre outward, as grid/fraction_simd.c has them;
// whether they differ in sign.
static bool corners_of(const float* points, const int q[AXES], float f[8]) {
    int from[AXES], step[AXES], below = 0;
    for (int a = 0; a < AXES; ++a) {
        from[a] = q[a] + (q[a] + 1) % 2;
        step[a] = q[a] % 2 == 1 ? 1 : -1;
    }
    for (int i = 0; i < 8; ++i) {
        int x = from[0] + (i & 1) * step[0], y = from[1] + (i >> 1 & 1) * step[1];
        int z = from[2] + (i >> 2) * step[2];
        f[i] = points[(z * POINTS + y) * POINTS + x];
        below += f[i] < 0.0f;
    }
    return below > 0 && below < 8;
}

static void cut_octants(const float* points, sheet_octants* out) {
    for (int z = 0; z < OCTANTS; ++z) {
        for (int y = 0; y < OCTANTS; ++y) {
            for (int x = 0; x < OCTANTS; ++x) {
                float f[8];
                bool is_cut = corners_of(points, (const int[AXES]){x, y, z}, f);
                octant_sheet sheet = is_cut ? octant_surface(f) : (octant_sheet){0};
                memcpy(out->square[z][y][x], sheet.square, sizeof(sheet.square));
            }
        }
    }
}

// The sums over the 8 octants of a box that begins half a cell below the cell along axes with
// shift.
static void sum_box(const sheet_octants* in, const int cell[AXES], const int shift[AXES],
                    float sum[AXES]) {
    sum[0] = sum[1] = sum[2] = 0.0f;
    for (int i = 0; i < 8; ++i) {
        int x = 2 * cell[0] + 2 - shift[0] + (i & 1), y = 2 * cell[1] + 2 - shift[1] + (i >> 1 & 1);
        int z = 2 * cell[2] + 2 - shift[2] + (i >> 2);
        for (int a = 0; a < AXES; ++a) {
            sum[a] += octant_area * in->square[z][y][x][a];
        }
    }
}

static void sheet_fill_cell(const sheet_octants* in, const int cell[AXES], int at,
                            const sheet_fields* tile) {
    float sum[AXES];
    if (tile->cell != NULL) {
        sum_box(in, cell, (const int[AXES]){0, 0, 0}, sum);
        tile->cell[at] = (sum[0] + sum[1]) + sum[2];
    }
    for (int c = 0; c < AXES && tile->edge[0][0] != NULL; ++c) {
        int a = (c + 1) % AXES, b = (c + 2) % AXES;
        sum_box(in, cell, (const int[AXES]){c != 0, c != 1, c != 2}, sum);
        tile->edge[c][0][at] = sum[c] + sum[a]; // L - N_bb
        tile->edge[c][1][at] = sum[c] + sum[b]; // L - N_aa
    }
}

static void fill_boxes(const sheet_octants* in, const tile_map* map, const sheet_fields* tile) {
    for (int q = 0; q < TILE_CELLS; ++q) {
        if (tile_cell_counts(map, q)) {
            const int cell[AXES] = {q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE,
                                    q / TILE_SIZE / TILE_SIZE};
            sheet_fill_cell(in, cell, q, tile);
        }
    }
}

static void list_fields(sheet_fields* fields, float** list[FIELDS]) {
    list[0] = &fields->cell;
    for (int a = 0; a < AXES; ++a) {
        list[1 + 2 * a] = &fields->edge[a][0];
        list[2 + 2 * a] = &fields->edge[a][1];
    }
}

static void fill_tiles(void* data, int64_t begin, int64_t end) {
    const sheet_job* job = data;
    const tile_map* map = job->params->map;
    for (int64_t t = begin; t < end; ++t) {
        float block[BLOCK_VALUES(LOW, HIGH)], points[POINTS * POINTS * POINTS];
        sheet_octants octants;
        sheet_fields tile = *job->out;
        float** list[FIELDS];
        list_fields(&tile, list);
        for (int i = 0; i < FIELDS; ++i) {
            if (*list[i] != NULL) {
                *list[i] += t * TILE_CELLS;
                memset(*list[i], 0, TILE_CELLS * sizeof(float));
            }
        }
        gather_block(map, job->params->phi, (tile_ix)t, LOW, HIGH, block);
        gather_extend(job->params->domain, map->coord[t], (const int[2]){LOW, HIGH}, block);
        if (is_near_surface(block)) {
            ISA_CALL(map->ctx, fraction_refine)(block, points);
            cut_octants(points, &octants);
            fill_boxes(&octants, map, &tile);
        }
    }
}

void sheet_compute(const sheet_params* params, const sheet_fields* out) {
    TREACLE_ASSERT(params->phi != NULL && params->phi != out->cell);
    TREACLE_ASSERT(params->domain != NULL);
    sheet_job job = {params, out};
    tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 4}, fill_tiles, &job);
    sheet_fields fields = *out;
    float** list[FIELDS];
    list_fields(&fields, list);
    for (int i = 0; i < FIELDS; ++i) {
        tile_publish(params->map, &(tile_values){.at = *list[i]});
    }
}
