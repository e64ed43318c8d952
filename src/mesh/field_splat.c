#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/mesh_field.h"

enum {
    AXIS_COUNT = 3,
    BLOCK_GRAIN = 4,
    FILTER_ROUNDS = 2,
    AREA_MAX = 40, // cells along a block and its margin; a block is at most 8 / 0.25 cells wide
    PADDED = BLOCK_SIDE + 2,
};

static const double tent = 2.5; // samples from the particle to where its tent ends

typedef struct splat_job {
    const mesh_points* p;
    mesh_blocks* blocks;
    const float* from; // filter: what is read
} splat_job;

// Which cells around a block hold points, and which of them are full.
typedef struct cell_area {
    int32_t low[3]; // first cell
    int side[3];    // cells
    uint8_t has_points[AREA_MAX * AREA_MAX * AREA_MAX];
} cell_area;

static int area_index(const cell_area* a, int x, int y, int z) {
    return (z * a->side[1] + y) * a->side[0] + x;
}

static bool in_area(const cell_area* a, const int32_t cell[3], int out[3]) {
    bool is_inside = true;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = cell[k] - a->low[k];
        is_inside = is_inside && out[k] >= 0 && out[k] < a->side[k];
    }
    return is_inside;
}

static void cell_of(const float place[3], int32_t cell[3]) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        cell[k] = (int32_t)floorf(place[k]);
    }
}

// A cell of the area is full if all 27 around it hold points; at its rim nothing is known.
static bool field_splat_is_full(const cell_area* a, const int32_t cell[3]) {
    int at[3];
    if (!in_area(a, cell, at)) {
        return false;
    }
    for (int n = 0; n < 27; ++n) {
        int x = at[0] + n % 3 - 1, y = at[1] + n / 3 % 3 - 1, z = at[2] + n / 9 - 1;
        bool is_inside =
            x >= 0 && y >= 0 && z >= 0 && x < a->side[0] && y < a->side[1] && z < a->side[2];
        if (!is_inside || a->has_points[area_index(a, x, y, z)] == 0) {
            return false;
        }
    }
    return true;
}

typedef void point_fcn(void* data, const float place[3]);

static void for_points(const splat_job* job, const field_window* w, point_fcn* fcn, void* data) {
    for (int32_t z = w->low[2]; z <= w->high[2]; ++z) {
        for (int32_t y = w->low[1]; y <= w->high[1]; ++y) {
            mesh_run run = mesh_points_row(job->p, w->low[0], w->high[0], y, z);
            for (int64_t j = run.first; j < run.last; ++j) {
                fcn(data, job->p->place + AXIS_COUNT * j);
            }
        }
    }
}

static void mark_cell(void* data, const float place[3]) {
    cell_area* a = data;
    int32_t cell[3];
    int at[3];
    cell_of(place, cell);
    if (in_area(a, cell, at)) {
        a->has_points[area_index(a, at[0], at[1], at[2])] = 1;
    }
}

typedef struct block_splat {
    const cell_area* area;
    const field_window* window;
    double step;
    float* out;
} block_splat;

static void splat_point(void* data, const float place[3]) {
    const block_splat* s = data;
    int32_t cell[3];
    cell_of(place, cell);
    if (field_splat_is_full(s->area, cell)) {
        return;
    }
    float weight[3][BLOCK_SIDE];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        for (int i = 0; i < BLOCK_SIDE; ++i) {
            double x = ((double)place[k] - s->window->corner[k]) / s->step - (double)i;
            weight[k][i] = (float)fmax(1.0 - fabs(x) / tent, 0.0);
        }
    }
    for (int i = 0; i < BLOCK_SAMPLES; ++i) {
        s->out[i] += weight[0][i % BLOCK_SIDE] * weight[1][i / BLOCK_SIDE % BLOCK_SIDE] *
                     weight[2][i / (BLOCK_SIDE * BLOCK_SIDE)];
    }
}

static void fill_full(const block_splat* s) {
    for (int i = 0; i < BLOCK_SAMPLES; ++i) {
        const int at[3] = {i % BLOCK_SIDE, i / BLOCK_SIDE % BLOCK_SIDE,
                           i / (BLOCK_SIDE * BLOCK_SIDE)};
        int32_t cell[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            cell[k] = (int32_t)floor(s->window->corner[k] + s->step * at[k]);
        }
        s->out[i] = field_splat_is_full(s->area, cell) ? 1.0f : fminf(s->out[i], 1.0f);
    }
}

static void fill_splat(void* data, int64_t begin, int64_t end) {
    const splat_job* job = data;
    mesh_blocks* b = job->blocks;
    cell_area area;
    double reach = tent * b->step;
    for (int64_t i = begin; i < end; ++i) {
        field_window near = mesh_field_window(job->p, b, i, reach);
        field_window wide = mesh_field_window(job->p, b, i, reach + 2.0);
        size_t cells = 1;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            area.low[k] = (int32_t)floor(near.corner[k] - reach) - 1;
            double high = near.corner[k] + b->step * (BLOCK_SIDE - 1) + reach;
            area.side[k] = (int)floor(high) + 2 - area.low[k];
            cells *= (size_t)area.side[k];
        }
        memset(area.has_points, 0, cells);
        for_points(job, &wide, mark_cell, &area);
        block_splat s = {&area, &near, b->step, b->value + BLOCK_SAMPLES * i};
        for_points(job, &near, splat_point, &s);
        fill_full(&s);
    }
}

// (1 2 1) / 4 along each axis.
static void filter(void* data, int64_t begin, int64_t end) {
    const splat_job* job = data;
    mesh_blocks* b = job->blocks;
    for (int64_t i = begin; i < end; ++i) {
        float in[PADDED * PADDED * PADDED];
        mesh_blocks_gather(b, job->from, i, 1, 1, in);
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            int x = s % BLOCK_SIDE, y = s / BLOCK_SIDE % BLOCK_SIDE, z = s / 64;
            float sum = 0.0f;
            for (int n = 0; n < 27; ++n) {
                int dx = n % 3, dy = n / 3 % 3, dz = n / 9;
                int twos = (dx == 1) + (dy == 1) + (dz == 1);
                sum += (float)(1 << twos) * in[((z + dz) * PADDED + y + dy) * PADDED + x + dx];
            }
            b->value[BLOCK_SAMPLES * i + s] = sum * (1.0f / 64.0f);
        }
    }
}

static treacle_status low_pass(const mesh_points* p, mesh_blocks* blocks) {
    void* copy = NULL;
    size_t values = (size_t)blocks->count * BLOCK_SAMPLES;
    TREACLE_TRY(alloc_array(p->ctx, values, sizeof(float), "a filtered volume", &copy));
    splat_job job = {.p = p, .blocks = blocks, .from = copy};
    for (int round = 0; round < FILTER_ROUNDS; ++round) {
        memcpy(copy, blocks->value, values * sizeof(float));
        parallel_for(p->ctx, blocks->count, BLOCK_GRAIN, filter, &job);
    }
    alloc_free(p->ctx, copy, values * sizeof(float));
    return TREACLE_OK;
}

treacle_status mesh_field_splat(const mesh_points* p, const mesh_room* room, double resolution,
                                mesh_field* out) {
    (void)room;
    TREACLE_ASSERT(resolution > 0.0);
    double step = 1.0 / resolution;
    *out = (mesh_field){.iso = 0.5f, .low = 0.1f, .high = 0.9f};
    double reach = fmax((tent + FILTER_ROUNDS + 1) * step, 1.0);
    TREACLE_TRY(mesh_field_blocks(p, step, 0.5, reach, &out->blocks));
    splat_job job = {.p = p, .blocks = &out->blocks};
    parallel_for(p->ctx, out->blocks.count, BLOCK_GRAIN, fill_splat, &job);
    treacle_status status = low_pass(p, &out->blocks);
    if (status != TREACLE_OK) {
        mesh_blocks_destroy(&out->blocks);
    }
    return status;
}
