#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/mesh_field.h"

enum { AXIS_COUNT = 3, BLOCK_GRAIN = 4 };

// r over the radius of the mean: the surface of a half space of even density is where it ends.
static const float half_space = 0.268f;

typedef struct level_job {
    const mesh_points* p;
    mesh_blocks* blocks;
} level_job;

// Sums of a block: weight, and weight times place, from the block's first sample.
typedef struct level_sums {
    float weight[BLOCK_SAMPLES];
    float place[3][BLOCK_SAMPLES];
} level_sums;

static void add_point(level_sums* sums, const float d[3], float step, float radius) {
    float inverse = 1.0f / (radius * radius);
    for (int z = 0; z < BLOCK_SIDE; ++z) {
        float dz = d[2] - step * (float)z;
        for (int y = 0; y < BLOCK_SIDE; ++y) {
            float dy = d[1] - step * (float)y, rest = 1.0f - (dy * dy + dz * dz) * inverse;
            if (rest <= 0.0f) {
                continue;
            }
            for (int x = 0; x < BLOCK_SIDE; ++x) {
                float dx = d[0] - step * (float)x;
                float q = fmaxf(rest - dx * dx * inverse, 0.0f), w = q * q * q;
                int at = (z * BLOCK_SIDE + y) * BLOCK_SIDE + x;
                sums->weight[at] += w;
                sums->place[0][at] += w * dx;
                sums->place[1][at] += w * dy;
                sums->place[2][at] += w * dz;
            }
        }
    }
}

static float distance_to(const level_sums* sums, int at, float radius) {
    if (!(sums->weight[at] > 1e-6f)) {
        return radius;
    }
    float square = 0.0f;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        float u = sums->place[k][at] / sums->weight[at];
        square += u * u;
    }
    return sqrtf(square) - half_space * radius;
}

static void fill_level(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    const mesh_points* p = job->p;
    mesh_blocks* b = job->blocks;
    float radius = (float)p->bin;
    for (int64_t i = begin; i < end; ++i) {
        level_sums sums = {{0}, {{0}}};
        field_window w = mesh_field_window(p, b, i, p->bin);
        for (int32_t z = w.low[2]; z <= w.high[2]; ++z) {
            for (int32_t y = w.low[1]; y <= w.high[1]; ++y) {
                mesh_run run = mesh_points_row(p, w.low[0], w.high[0], y, z);
                for (int64_t j = run.first; j < run.last; ++j) {
                    float d[3];
                    for (int k = 0; k < AXIS_COUNT; ++k) {
                        d[k] = (float)((double)p->place[AXIS_COUNT * j + k] - w.corner[k]);
                    }
                    add_point(&sums, d, (float)b->step, radius);
                }
            }
        }
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            b->value[BLOCK_SAMPLES * i + s] = -distance_to(&sums, s, radius);
        }
    }
}

// The array `surface` of a frame, if it and its tiles are what they should be.
static const treacle_array* find_surface(const treacle_frame* frame, const treacle_array** tiles) {
    const treacle_array* phi = treacle_frame_find(frame, "surface");
    *tiles = treacle_frame_find(frame, "grid_tile");
    bool is_sound = phi != NULL && *tiles != NULL && phi->type == TREACLE_TYPE_F32 &&
                    phi->components == 1 && (*tiles)->type == TREACLE_TYPE_I32 &&
                    (*tiles)->components == AXIS_COUNT && (*tiles)->count > 0 &&
                    phi->count == (*tiles)->count * BLOCK_SAMPLES;
    return is_sound ? phi : NULL;
}

static treacle_status field_level_list_tiles(block_list* list, const treacle_array* tiles) {
    const int32_t* tile = tiles->data;
    for (int64_t t = 0; t < tiles->count; ++t) {
        double low[3], high[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            // One sample inside, because a list's boxes are widened by one.
            low[k] = (double)BLOCK_SIDE * tile[AXIS_COUNT * t + k];
            high[k] = low[k] + BLOCK_SIDE - 1.0;
        }
        TREACLE_TRY(block_list_add(list, 1.0, low, high));
    }
    return TREACLE_OK;
}

// Values are cut to half a cell on either side, so that the surface at a wall, behind which there
// are no samples, is half way between the last cell and the first that is missing: at the wall.
static void copy_tiles(const treacle_frame* frame, const treacle_array* phi,
                       const treacle_array* tiles, mesh_blocks* b) {
    const int32_t* tile = tiles->data;
    const float* value = phi->data;
    for (int64_t t = 0; t < tiles->count; ++t) {
        const int32_t* at = tile + AXIS_COUNT * t;
        int64_t i = mesh_blocks_find(b, at);
        for (int s = 0; s < BLOCK_SAMPLES && i >= 0; ++s) {
            const int cell[3] = {s % BLOCK_SIDE, s / BLOCK_SIDE % BLOCK_SIDE, s / 64};
            bool is_inside = true;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                is_inside = is_inside && BLOCK_SIDE * at[k] + cell[k] < frame->cells[k];
            }
            float x = fminf(fmaxf(value[BLOCK_SAMPLES * t + s], -0.5f), 0.5f);
            b->value[BLOCK_SAMPLES * i + s] = is_inside ? -x : -0.5f;
        }
    }
}

static treacle_status copy_surface(const mesh_points* p, const treacle_array* phi,
                                   const treacle_array* tiles, mesh_blocks* out) {
    block_list list = {.ctx = p->ctx};
    treacle_status status = field_level_list_tiles(&list, tiles);
    if (status == TREACLE_OK) {
        status = mesh_blocks_create(&list, 1.0, -0.5f, out);
    }
    block_list_destroy(&list);
    TREACLE_TRY(status);
    out->offset = 0.5;
    copy_tiles(p->frame, phi, tiles, out);
    return TREACLE_OK;
}

treacle_status mesh_field_level(const mesh_points* p, const mesh_room* room, double resolution,
                                mesh_field* out) {
    (void)room;
    TREACLE_ASSERT(resolution > 0.0);
    *out = (mesh_field){.iso = 0.0f, .low = -0.45f, .high = 0.45f};
    const treacle_array* tiles = NULL;
    const treacle_array* phi = find_surface(p->frame, &tiles);
    if (phi != NULL) {
        return copy_surface(p, phi, tiles, &out->blocks);
    }
    float radius = (float)p->bin;
    out->low = -0.3f * radius;
    out->high = half_space * radius;
    TREACLE_TRY(mesh_field_blocks(p, 1.0 / resolution, 0.5, p->bin, &out->blocks));
    out->blocks.outside = -radius;
    level_job job = {p, &out->blocks};
    parallel_for(p->ctx, out->blocks.count, BLOCK_GRAIN, fill_level, &job);
    return TREACLE_OK;
}
