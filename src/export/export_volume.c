#include "export/export_volume.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

enum { AXIS_COUNT = 3, TILES_MAX = 1 << 28 };

static size_t box_count(const export_volume* v) {
    return (size_t)v->size[0] * (size_t)v->size[1] * (size_t)v->size[2];
}

void export_volume_destroy(export_volume* v) {
    size_t cells = (size_t)v->tile_count * VOLUME_TILE_CELLS;
    if (v->ctx == NULL) {
        return;
    }
    alloc_free(v->ctx, v->number, box_count(v) * sizeof(int32_t));
    alloc_free(v->ctx, v->tile, (size_t)v->tile_count * sizeof(*v->tile));
    for (int f = 0; f < VOLUME_FIELD_COUNT; ++f) {
        alloc_free(v->ctx, v->value[f], cells * sizeof(float));
        alloc_free(v->ctx, v->weight[f], cells * sizeof(float));
    }
    *v = (export_volume){0};
}

static int32_t tile_of_cell(int32_t cell) {
    return (cell - (cell < 0 ? VOLUME_TILE_WIDTH - 1 : 0)) / VOLUME_TILE_WIDTH;
}

static size_t box_slot(const export_volume* v, const int32_t tile[3]) {
    size_t slot = 0;
    for (int k = AXIS_COUNT - 1; k >= 0; --k) {
        slot = slot * (size_t)v->size[k] + (size_t)(tile[k] - v->low[k]);
    }
    return slot;
}

int32_t export_volume_find(const export_volume* v, const int32_t tile[3]) {
    TREACLE_ASSERT(v->number != NULL || v->tile_count == 0);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        if (tile[k] < v->low[k] || tile[k] >= v->low[k] + v->size[k]) {
            return -1;
        }
    }
    return v->number[box_slot(v, tile)];
}

static int32_t cell_at(const export_volume* v, double x, int axis) {
    return (int32_t)floor((x - v->origin[axis]) / v->cell);
}

// The cells that the kernels of any field reach: one more to every side than its own.
static void tiles_around(const export_volume* v, const float x[3], int32_t low[3],
                         int32_t high[3]) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int32_t cell = cell_at(v, (double)x[k], k);
        low[k] = tile_of_cell(cell - 1);
        high[k] = tile_of_cell(cell + 1);
    }
}

static treacle_status make_box(export_volume* v, const export_geometry* p) {
    double tiles = 1.0;
    for (int k = 0; k < AXIS_COUNT && p->point_count > 0; ++k) {
        int32_t low = cell_at(v, (double)p->low[k], k) - 1;
        int32_t high = cell_at(v, (double)p->high[k], k) + 1;
        v->low[k] = tile_of_cell(low);
        v->size[k] = tile_of_cell(high) - v->low[k] + 1;
        tiles *= v->size[k];
    }
    if (tiles > TILES_MAX) {
        *v = (export_volume){0};
        return check_fail(p->ctx, TREACLE_ERR_LIMIT,
                          "a volume over %g tiles of 8 cells: at most %d are possible", tiles,
                          TILES_MAX);
    }
    void* block = NULL;
    TREACLE_TRY(alloc_array(v->ctx, box_count(v), sizeof(int32_t), "a volume's tiles", &block));
    v->number = block;
    memset(v->number, 0xff, box_count(v) * sizeof(int32_t));
    return TREACLE_OK;
}

// Tiles that any particle reaches get number 0 for the time being.
static void mark_tiles(export_volume* v, const export_geometry* p) {
    for (int64_t i = 0; i < p->point_count; ++i) {
        int32_t low[3], high[3], at[3];
        tiles_around(v, p->value[EXPORT_POSITION] + AXIS_COUNT * i, low, high);
        for (at[2] = low[2]; at[2] <= high[2]; ++at[2]) {
            for (at[1] = low[1]; at[1] <= high[1]; ++at[1]) {
                for (at[0] = low[0]; at[0] <= high[0]; ++at[0]) {
                    v->number[box_slot(v, at)] = 0;
                }
            }
        }
    }
}

static treacle_status number_tiles(export_volume* v) {
    void* block = NULL;
    size_t slots = box_count(v);
    int64_t count = 0;
    for (size_t s = 0; s < slots; ++s) {
        count += v->number[s] == 0;
    }
    TREACLE_TRY(alloc_array(v->ctx, (size_t)count, sizeof(*v->tile), "a volume's tiles", &block));
    v->tile = block;
    for (size_t s = 0; s < slots; ++s) {
        if (v->number[s] == 0) {
            size_t x = s % (size_t)v->size[0], rest = s / (size_t)v->size[0];
            v->tile[v->tile_count][0] = v->low[0] + (int32_t)x;
            v->tile[v->tile_count][1] = v->low[1] + (int32_t)(rest % (size_t)v->size[1]);
            v->tile[v->tile_count][2] = v->low[2] + (int32_t)(rest / (size_t)v->size[1]);
            v->number[s] = (int32_t)v->tile_count;
            v->tile_count += 1;
        }
    }
    return TREACLE_OK;
}

static treacle_status add_field(export_volume* v, volume_field f) {
    void* block = NULL;
    size_t cells = (size_t)v->tile_count * VOLUME_TILE_CELLS;
    TREACLE_TRY(alloc_zero(v->ctx, cells, sizeof(float), "a volume", &block));
    v->value[f] = block;
    TREACLE_TRY(alloc_zero(v->ctx, cells, sizeof(float), "a volume", &block));
    v->weight[f] = block;
    return TREACLE_OK;
}

// Where a cell's value is in the field's array.
static size_t cell_slot(const export_volume* v, const int32_t cell[3]) {
    int32_t tile[3];
    size_t inside = 0;
    for (int k = AXIS_COUNT - 1; k >= 0; --k) {
        tile[k] = tile_of_cell(cell[k]);
        inside = inside * VOLUME_TILE_WIDTH + (size_t)(cell[k] - VOLUME_TILE_WIDTH * tile[k]);
    }
    return (size_t)v->number[box_slot(v, tile)] * VOLUME_TILE_CELLS + inside;
}

// A particle's value to the eight samples around it, by a tent; samples of the field lie at the
// cell's middle, or at the middle of its low face along one axis.
static void splat(export_volume* v, volume_field f, const float x[3], float value, float weight) {
    int32_t base[3];
    double t[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double at = ((double)x[k] - v->origin[k]) / v->cell - (k == (int)f ? 0.0 : 0.5);
        base[k] = (int32_t)floor(at);
        t[k] = at - base[k];
    }
    for (int corner = 0; corner < 8; ++corner) {
        int32_t cell[3];
        double w = (double)weight;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            int up = corner >> k & 1;
            cell[k] = base[k] + up;
            w *= up != 0 ? t[k] : 1.0 - t[k];
        }
        size_t slot = cell_slot(v, cell);
        v->value[f][slot] += (float)(w * (double)value);
        v->weight[f][slot] += (float)w;
    }
}

static float ball_volume(float radius) {
    return 4.18879020478639f * radius * radius * radius;
}

static void splat_all(export_volume* v, const export_geometry* p) {
    const float* velocity = p->value[EXPORT_VELOCITY];
    const float* density = p->value[EXPORT_DENSITY];
    const float* temperature = p->value[EXPORT_TEMPERATURE];
    for (int64_t i = 0; i < p->point_count; ++i) {
        const float* x = p->value[EXPORT_POSITION] + AXIS_COUNT * i;
        float volume = ball_volume(p->value[EXPORT_PSCALE][i]);
        for (int k = 0; k < AXIS_COUNT && v->value[VOLUME_VELOCITY_X] != NULL; ++k) {
            splat(v, (volume_field)k, x, velocity[AXIS_COUNT * i + k], volume);
        }
        splat(v, VOLUME_DENSITY, x, density == NULL ? 1.0f : density[i], volume);
        if (v->value[VOLUME_TEMPERATURE] != NULL) {
            splat(v, VOLUME_TEMPERATURE, x, temperature[i], volume);
        }
    }
}

// Means of what came to a sample; the density is per volume of the cell, and at most the liquid's.
static void divide(export_volume* v) {
    double cube = v->cell * v->cell * v->cell;
    size_t cells = (size_t)v->tile_count * VOLUME_TILE_CELLS;
    for (int f = 0; f < VOLUME_FIELD_COUNT; ++f) {
        for (size_t i = 0; i < cells && v->value[f] != NULL; ++i) {
            double weight = (double)v->weight[f][i];
            double by = f == VOLUME_DENSITY ? fmax(weight, cube) : weight;
            v->value[f][i] = weight > 0.0 ? (float)((double)v->value[f][i] / by) : 0.0f;
        }
    }
}

static treacle_status export_volume_fill(export_volume* v, const export_geometry* p) {
    TREACLE_TRY(make_box(v, p));
    mark_tiles(v, p);
    TREACLE_TRY(number_tiles(v));
    for (int f = 0; f < VOLUME_FIELD_COUNT; ++f) {
        bool is_there = f == VOLUME_DENSITY       ? true
                        : f == VOLUME_TEMPERATURE ? p->value[EXPORT_TEMPERATURE] != NULL
                                                  : p->value[EXPORT_VELOCITY] != NULL;
        if (is_there) {
            TREACLE_TRY(add_field(v, (volume_field)f));
        }
    }
    splat_all(v, p);
    divide(v);
    return TREACLE_OK;
}

treacle_status export_volume_create(const treacle_frame* frame, const export_geometry* particles,
                                    const export_geometry* surface, export_volume* out) {
    TREACLE_ASSERT(particles != surface && particles->triangles == NULL);
    *out = (export_volume){.ctx = particles->ctx, .cell = frame->cell, .surface = surface};
    const double* at = frame->origin;
    const double turned[3] = {at[0], -at[2], at[1]};
    memcpy(out->origin, particles->is_z_up ? turned : at, sizeof(out->origin));
    treacle_status status = export_volume_fill(out, particles);
    if (status != TREACLE_OK) {
        export_volume_destroy(out);
    }
    return status;
}
