#include "mesh/mesh_points.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/elementary.h"

enum { AXIS_COUNT = 3, TILE_CELLS_A_SIDE = 8, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

// Width of a bin in spacings: what the kernels of the mesher reach.
static const double bin_spacings = 3.0;
// The volume of the mean particle, in cells^3, lies between these. A file may say more, and kernels
// of such points would fill all memory; or less, and there would be no end of bins.
static const double smallest_mean = 1e-6, largest_mean = 1000.0;
// Bins along an axis that can be counted.
static const double farthest_bin = 1 << 30;

typedef struct frame_arrays {
    const treacle_array *tile_coord, *tile_first, *position, *volume;
    const uint8_t* material; // NULL: none is hidden
} frame_arrays;

static treacle_status find(treacle_context* ctx, const treacle_frame* frame, treacle_array like,
                           const treacle_array** out) {
    const treacle_array* found = treacle_frame_find(frame, like.name);
    if (found == NULL || found->type != like.type || found->components != like.components ||
        (like.count >= 0 && found->count != like.count)) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "frame %lld has no array '%s' of the kind that a surface needs",
                          (long long)frame->number, like.name);
    }
    *out = found;
    return TREACLE_OK;
}

static bool are_tiles_sound(const frame_arrays* a, const treacle_frame* frame) {
    const int64_t* first = a->tile_first->data;
    const int32_t* tile = a->tile_coord->data;
    int64_t tiles = a->tile_coord->count;
    bool is_sound = first[0] == 0 && first[tiles] == a->position->count;
    for (int64_t t = 0; t < tiles; ++t) {
        is_sound = is_sound && first[t] <= first[t + 1];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            int32_t at = tile[AXIS_COUNT * t + k];
            is_sound = is_sound && at >= 0 && at <= frame->cells[k] / TILE_CELLS_A_SIDE;
        }
    }
    return is_sound;
}

static treacle_status find_arrays(treacle_context* ctx, const treacle_frame* frame,
                                  frame_arrays* out) {
    treacle_array tile = {.name = "tile_coord", TREACLE_TYPE_I32, AXIS_COUNT, -1, NULL};
    TREACLE_TRY(find(ctx, frame, tile, &out->tile_coord));
    treacle_array first = {.name = "tile_first", TREACLE_TYPE_I64, 1, -1, NULL};
    first.count = out->tile_coord->count + 1;
    TREACLE_TRY(find(ctx, frame, first, &out->tile_first));
    treacle_array position = {.name = "position", TREACLE_TYPE_F32, AXIS_COUNT, -1, NULL};
    TREACLE_TRY(find(ctx, frame, position, &out->position));
    treacle_array volume = {.name = "volume", TREACLE_TYPE_F32, 1, -1, NULL};
    volume.count = out->position->count;
    TREACLE_TRY(find(ctx, frame, volume, &out->volume));
    if (!are_tiles_sound(out, frame)) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "frame %lld: its tiles do not fit its particles or its domain",
                          (long long)frame->number);
    }
    return TREACLE_OK;
}

static treacle_status mesh_points_allocate(mesh_points* p, int64_t count) {
    treacle_context* ctx = p->ctx;
    void* block = NULL;
    p->capacity = (size_t)count;
    TREACLE_TRY(alloc_array(ctx, (size_t)count * AXIS_COUNT, sizeof(float), "points", &block));
    p->place = block;
    TREACLE_TRY(alloc_array(ctx, (size_t)count, sizeof(float), "points", &block));
    p->volume = block;
    TREACLE_TRY(alloc_array(ctx, (size_t)count, sizeof(int64_t), "points", &block));
    p->source = block;
    p->count = count;
    return TREACLE_OK;
}

void mesh_points_destroy(mesh_points* p) {
    treacle_context* ctx = p->ctx;
    if (ctx == NULL) {
        return;
    }
    alloc_free(ctx, p->place, p->capacity * AXIS_COUNT * sizeof(float));
    alloc_free(ctx, p->volume, p->capacity * sizeof(float));
    alloc_free(ctx, p->source, p->capacity * sizeof(int64_t));
    alloc_free(ctx, p->bin_at, p->bin_capacity * sizeof(*p->bin_at));
    alloc_free(ctx, p->bin_first, (p->bin_capacity + 1) * sizeof(int64_t));
    *p = (mesh_points){0};
}

// A point before it is sorted.
typedef struct raw_point {
    float place[3];
    float volume;
    int64_t source;
} raw_point;

// Where it goes. Ties keep the frame's order.
typedef struct point_key {
    int32_t bin[3];
    int64_t row;
} point_key;

static int compare_bins(const int32_t a[3], const int32_t b[3]) {
    for (int k = AXIS_COUNT - 1; k >= 0; --k) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

void mesh_points_bin(const mesh_points* p, const float place[3], int32_t bin[3]) {
    TREACLE_ASSERT(p->bin > 0.0);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        bin[k] = (int32_t)floor((double)place[k] / p->bin);
    }
}

static int flat_axis(const treacle_frame* frame) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        if (frame->cells[k] == 1) {
            return k;
        }
    }
    return -1;
}

static void find_materials(const treacle_frame* frame, const treacle_mesh_def* def,
                           frame_arrays* a) {
    const treacle_array* found = treacle_frame_find(frame, "material");
    bool is_alike = found != NULL && found->type == TREACLE_TYPE_U8 && found->components == 1 &&
                    found->count == a->position->count;
    a->material = is_alike && def->hidden_count > 0 ? found->data : NULL;
}

static bool is_hidden(const treacle_mesh_def* def, const frame_arrays* a, int64_t row) {
    return a->material != NULL && a->material[row] < def->hidden_count &&
           def->hidden[a->material[row]] != 0;
}

static int64_t count_shown(const treacle_mesh_def* def, const frame_arrays* a) {
    int64_t shown = 0;
    for (int64_t i = 0; i < a->position->count; ++i) {
        shown += !is_hidden(def, a, i);
    }
    return shown;
}

// All rows of the frame that are shown as points in the domain, each `copies` times.
static void unpack(const mesh_points* p, const treacle_mesh_def* def, const frame_arrays* a,
                   raw_point* out) {
    const treacle_frame* frame = p->frame;
    const int64_t* first = a->tile_first->data;
    const int32_t* tile = a->tile_coord->data;
    const float *position = a->position->data, *volume = a->volume->data;
    int flat = flat_axis(frame), copies = flat < 0 ? 1 : 2 * def->flat_cells;
    float middle = 0.25f * (float)(copies - 1);
    double scale = 1.0 / (frame->cell * frame->cell * frame->cell);
    int64_t at = 0;
    for (int64_t t = 0; t < a->tile_coord->count; ++t) {
        for (int64_t i = first[t]; i < first[t + 1]; ++i) {
            for (int c = 0; c < copies && !is_hidden(def, a, i); ++c) {
                raw_point* q = &out[at];
                for (int k = 0; k < AXIS_COUNT; ++k) {
                    q->place[k] = (float)(TILE_CELLS_A_SIDE * tile[AXIS_COUNT * t + k]) +
                                  position[AXIS_COUNT * i + k];
                    q->place[k] += k == flat ? 0.5f * (float)c - middle : 0.0f;
                }
                q->volume = (float)((double)volume[i] * (flat < 0 ? scale : 0.5 * scale));
                q->source = i;
                at += 1;
            }
        }
    }
}

static bool are_finite(const raw_point* points, int64_t count) {
    bool is_finite = true;
    for (int64_t i = 0; i < count; ++i) {
        is_finite = is_finite && isfinite(points[i].volume) && points[i].volume > 0.0f;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            is_finite = is_finite && fabsf(points[i].place[k]) < 1e7f;
        }
    }
    return is_finite;
}

static double mean_volume(const raw_point* points, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        sum += (double)points[i].volume;
    }
    return count > 0 ? sum / (double)count : 0.125;
}

// Whether the points' bins can be numbered and their surface drawn.
static bool are_in_reach(const mesh_points* p, const raw_point* points, double volume) {
    double farthest = 0.0;
    for (int64_t i = 0; i < p->count; ++i) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            farthest = fmax(farthest, fabs((double)points[i].place[k]));
        }
    }
    return volume >= smallest_mean && volume <= largest_mean && farthest < farthest_bin * p->bin;
}

static treacle_status list_bins(mesh_points* p, const raw_point* points, const point_key* keys) {
    int64_t bins = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        bins += i == 0 || compare_bins(keys[i].bin, keys[i - 1].bin) != 0;
    }
    void* block = NULL;
    p->bin_capacity = (size_t)bins;
    TREACLE_TRY(alloc_array(p->ctx, (size_t)bins, sizeof(*p->bin_at), "bins", &block));
    p->bin_at = block;
    TREACLE_TRY(alloc_array(p->ctx, (size_t)bins + 1, sizeof(int64_t), "bins", &block));
    p->bin_first = block;
    for (int64_t i = 0; i < p->count; ++i) {
        const raw_point* from = &points[keys[i].row];
        if (i == 0 || compare_bins(keys[i].bin, keys[i - 1].bin) != 0) {
            p->bin_first[p->bin_count] = i;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                p->bin_at[p->bin_count][k] = keys[i].bin[k];
            }
            p->bin_count += 1;
        }
        for (int k = 0; k < AXIS_COUNT; ++k) {
            p->place[AXIS_COUNT * i + k] = from->place[k];
        }
        p->volume[i] = from->volume;
        p->source[i] = from->source;
    }
    p->bin_first[p->bin_count] = p->count;
    return TREACLE_OK;
}

// One pass of a radix sort, which keeps the order of equals: by DIGIT_BITS bits of bin - low.
static void sort_pass(const point_key* from, point_key* to, int64_t count, int axis, int32_t low,
                      int shift) {
    int64_t first[DIGITS + 1] = {0};
    for (int64_t i = 0; i < count; ++i) {
        first[(((uint32_t)(from[i].bin[axis] - low) >> shift) & (DIGITS - 1)) + 1] += 1;
    }
    for (int d = 0; d < DIGITS; ++d) {
        first[d + 1] += first[d];
    }
    for (int64_t i = 0; i < count; ++i) {
        to[first[((uint32_t)(from[i].bin[axis] - low) >> shift) & (DIGITS - 1)]++] = from[i];
    }
}

// By (z, y, x): the last pass counts most. The result is in one of the two.
static point_key* sort_keys(point_key* keys, point_key* spare, int64_t count) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (int64_t i = 0; i < count; ++i) {
            low = keys[i].bin[k] < low ? keys[i].bin[k] : low;
            high = keys[i].bin[k] > high ? keys[i].bin[k] : high;
        }
        uint32_t width = count > 0 ? (uint32_t)high - (uint32_t)low : 0;
        for (int shift = 0; shift < 32 && width >> shift != 0; shift += DIGIT_BITS) {
            sort_pass(keys, spare, count, k, low, shift);
            point_key* swap = keys;
            keys = spare;
            spare = swap;
        }
    }
    return keys;
}

static treacle_status bin_points(mesh_points* p, const raw_point* points) {
    void* block = NULL;
    size_t count = (size_t)p->count, bytes = 2 * count * sizeof(point_key);
    TREACLE_TRY(alloc_array(p->ctx, 2 * count, sizeof(point_key), "points", &block));
    point_key* keys = block;
    for (int64_t i = 0; i < p->count; ++i) {
        mesh_points_bin(p, points[i].place, keys[i].bin);
        keys[i].row = i;
    }
    treacle_status status = list_bins(p, points, sort_keys(keys, keys + count, p->count));
    alloc_free(p->ctx, block, bytes);
    return status;
}

static treacle_status sort_points(mesh_points* p, const treacle_mesh_def* def,
                                  const frame_arrays* arrays, raw_point* points) {
    unpack(p, def, arrays, points);
    if (!are_finite(points, p->count)) {
        return check_fail(p->ctx, TREACLE_ERR_FORMAT,
                          "frame %lld has particles that are nowhere, or without volume",
                          (long long)p->frame->number);
    }
    double volume = mean_volume(points, p->count);
    p->spacing = elementary_pow(volume, 1.0 / 3.0);
    p->bin = bin_spacings * p->spacing;
    if (!are_in_reach(p, points, volume)) {
        return check_fail(
            p->ctx, TREACLE_ERR_FORMAT,
            "frame %lld has particles of %g cells on average, at which no surface can "
            "be drawn",
            (long long)p->frame->number, volume);
    }
    return bin_points(p, points);
}

treacle_status mesh_points_create(treacle_context* ctx, const treacle_frame* frame,
                                  const treacle_mesh_def* def, mesh_points* out) {
    *out = (mesh_points){.ctx = ctx, .frame = frame};
    frame_arrays arrays = {0};
    TREACLE_TRY(find_arrays(ctx, frame, &arrays));
    find_materials(frame, def, &arrays);
    int copies = flat_axis(frame) >= 0 ? 2 * def->flat_cells : 1;
    int64_t count = count_shown(def, &arrays) * copies;
    void* points = NULL;
    treacle_status status = mesh_points_allocate(out, count);
    if (status == TREACLE_OK) {
        status = alloc_array(ctx, (size_t)count, sizeof(raw_point), "points", &points);
    }
    if (status == TREACLE_OK) {
        status = sort_points(out, def, &arrays, points);
    }
    alloc_free(ctx, points, (size_t)count * sizeof(raw_point));
    if (status != TREACLE_OK) {
        mesh_points_destroy(out);
    }
    return status;
}

int64_t mesh_points_find(const mesh_points* p, const int32_t at[3]) {
    int64_t low = 0, high = p->bin_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare_bins(p->bin_at[middle], at) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

mesh_run mesh_points_row(const mesh_points* p, int32_t x0, int32_t x1, int32_t y, int32_t z) {
    TREACLE_ASSERT(x0 <= x1);
    const int32_t from[3] = {x0, y, z}, to[3] = {x1 + 1, y, z};
    return (mesh_run){p->bin_first[mesh_points_find(p, from)],
                      p->bin_first[mesh_points_find(p, to)]};
}

void mesh_points_around(const mesh_points* p, const int32_t bin[3], mesh_run runs[MESH_RUNS]) {
    for (int row = 0; row < MESH_RUNS; ++row) {
        int32_t y = bin[1] + row % 3 - 1, z = bin[2] + row / 3 - 1;
        runs[row] = mesh_points_row(p, bin[0] - 1, bin[0] + 1, y, z);
    }
}
