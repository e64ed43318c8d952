#include "mesh/contour.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"

enum {
    AXIS_COUNT = 3,
    PADDED = BLOCK_SIDE + 1,
    PADDED_SAMPLES = PADDED * PADDED * PADDED,
    EDGES_A_BLOCK = AXIS_COUNT * BLOCK_SAMPLES,
    BLOCK_GRAIN = 16,
    ROUNDS_MAX = 16,
};

// Vertices keep away from the ends of their edges by this fraction: no triangle is without area.
static const float end_margin = 0.01f;

typedef struct block_counts {
    int64_t vertices, triangles; // first of the block's, after the counting: how many before
} block_counts;

typedef struct contour_job {
    const mesh_blocks* b;
    const contour_table* table;
    float iso;
    block_counts* counts; // [count + 1]
    int32_t* active;      // [count], which row of edge_vertex, or -1
    int32_t* edge_vertex; // [active][512][3]
    surface_mesh* out;
} contour_job;

static int padded_index(int x, int y, int z) {
    return (z * PADDED + y) * PADDED + x;
}

static const int axis_stride[3] = {1, PADDED, PADDED* PADDED};

static int corner_offset(int corner) {
    return padded_index(corner & 1, corner >> 1 & 1, corner >> 2);
}

static int case_of(const float* at, float iso) {
    int inside = 0;
    for (int c = 0; c < 8; ++c) {
        inside |= (at[corner_offset(c)] > iso) << c;
    }
    return inside;
}

static bool is_crossed(const float* at, int axis, float iso) {
    return (at[0] > iso) != (at[axis_stride[axis]] > iso);
}

static float fraction_along(float from, float to, float iso) {
    float t = (iso - from) / (to - from);
    return fminf(fmaxf(t, end_margin), 1.0f - end_margin);
}

// Whether anything can cross the block: most blocks are all in or all out.
static bool is_mixed(const float* padded, float iso) {
    bool has_in = false, has_out = false;
    for (int i = 0; i < PADDED_SAMPLES; ++i) {
        has_in = has_in || padded[i] > iso;
        has_out = has_out || !(padded[i] > iso);
    }
    return has_in && has_out;
}

static void count_block(void* data, int64_t begin, int64_t end) {
    contour_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        float v[PADDED_SAMPLES];
        mesh_blocks_gather(job->b, job->b->value, i, 0, 1, v);
        block_counts counts = {0, 0};
        int samples = is_mixed(v, job->iso) ? BLOCK_SAMPLES : 0;
        for (int s = 0; s < samples; ++s) {
            const float* at = v + padded_index(s % 8, s / 8 % 8, s / 64);
            for (int a = 0; a < AXIS_COUNT; ++a) {
                counts.vertices += is_crossed(at, a, job->iso);
            }
            counts.triangles += job->table->count[case_of(at, job->iso)];
        }
        job->counts[i] = counts;
    }
}

static void place_vertices(void* data, int64_t begin, int64_t end) {
    contour_job* job = data;
    const mesh_blocks* b = job->b;
    for (int64_t i = begin; i < end; ++i) {
        if (job->active[i] < 0) {
            continue;
        }
        float v[PADDED_SAMPLES];
        mesh_blocks_gather(b, b->value, i, 0, 1, v);
        int64_t next = job->counts[i].vertices;
        int32_t* vertex_of = job->edge_vertex + (int64_t)EDGES_A_BLOCK * job->active[i];
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const int local[3] = {s % 8, s / 8 % 8, s / 64};
            const float* at = v + padded_index(local[0], local[1], local[2]);
            for (int a = 0; a < AXIS_COUNT; ++a) {
                if (!is_crossed(at, a, job->iso)) {
                    continue;
                }
                float t = fraction_along(at[0], at[axis_stride[a]], job->iso);
                for (int k = 0; k < AXIS_COUNT; ++k) {
                    double x = (double)BLOCK_SIDE * b->at[i][k] + local[k] + b->offset;
                    job->out->place[next][k] = (float)(b->step * (x + (k == a ? (double)t : 0.0)));
                }
                vertex_of[AXIS_COUNT * s + a] = (int32_t)next++;
            }
        }
    }
}

// The vertex on the edge of the cube at `local` of block i; the edge may belong to a neighbour.
static int32_t vertex_at(const contour_job* job, int64_t i, const int local[3], int edge) {
    int low = job->table->corner[edge][0], near = 13, at = 0;
    static const int near_stride[3] = {1, 3, 9}, sample_stride[3] = {1, 8, 64};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int x = local[k] + (low >> k & 1);
        near += x >= BLOCK_SIDE ? near_stride[k] : 0;
        at += (x & (BLOCK_SIDE - 1)) * sample_stride[k];
    }
    int64_t owner = job->b->near[i][near];
    return job
        ->edge_vertex[(int64_t)EDGES_A_BLOCK * job->active[owner] + AXIS_COUNT * at + edge / 4];
}

static void place_triangles(void* data, int64_t begin, int64_t end) {
    contour_job* job = data;
    const contour_table* table = job->table;
    for (int64_t i = begin; i < end; ++i) {
        int64_t next = job->counts[i].triangles;
        if (next == job->counts[i + 1].triangles) {
            continue;
        }
        float v[PADDED_SAMPLES];
        mesh_blocks_gather(job->b, job->b->value, i, 0, 1, v);
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const int local[3] = {s % 8, s / 8 % 8, s / 64};
            int inside = case_of(v + padded_index(local[0], local[1], local[2]), job->iso);
            for (int t = 0; t < table->count[inside]; ++t) {
                for (int c = 0; c < 3; ++c) {
                    job->out->triangle[next][c] =
                        vertex_at(job, i, local, table->edge[inside][t][c]);
                }
                next += 1;
            }
        }
    }
}

// Counts to first items; which blocks have vertices.
static block_counts number_items(contour_job* job, int64_t* active) {
    block_counts sum = {0, 0};
    *active = 0;
    for (int64_t i = 0; i < job->b->count; ++i) {
        block_counts here = job->counts[i];
        job->counts[i] = sum;
        job->active[i] = here.vertices > 0 ? (int32_t)(*active)++ : -1;
        sum.vertices += here.vertices;
        sum.triangles += here.triangles;
    }
    job->counts[job->b->count] = sum;
    return sum;
}

static treacle_status fill_mesh(contour_job* job) {
    const mesh_blocks* b = job->b;
    int64_t active = 0;
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, count_block, job);
    block_counts sum = number_items(job, &active);
    if (sum.vertices > INT32_MAX || sum.triangles > INT32_MAX) {
        return check_fail(b->ctx, TREACLE_ERR_LIMIT,
                          "the surface would have %lld vertices: choose a lower resolution",
                          (long long)sum.vertices);
    }
    TREACLE_TRY(surface_mesh_create(b->ctx, sum.vertices, sum.triangles, job->out));
    void* block = NULL;
    size_t edges = (size_t)active * EDGES_A_BLOCK;
    treacle_status status = alloc_array(b->ctx, edges, sizeof(int32_t), "edges", &block);
    if (status != TREACLE_OK) {
        surface_mesh_destroy(job->out);
        return status;
    }
    job->edge_vertex = block;
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, place_vertices, job);
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, place_triangles, job);
    alloc_free(b->ctx, block, edges * sizeof(int32_t));
    return TREACLE_OK;
}

treacle_status contour_mesh(const mesh_blocks* b, const contour_table* table, float iso,
                            surface_mesh* out) {
    TREACLE_ASSERT(b->count >= 0 && b->step > 0.0);
    TREACLE_ASSERT(!isnan(iso));
    contour_job job = {.b = b, .table = table, .iso = iso, .out = out};
    *out = (surface_mesh){0};
    void* counts = NULL;
    void* active = NULL;
    size_t blocks = (size_t)b->count;
    treacle_status status =
        alloc_array(b->ctx, blocks + 1, sizeof(block_counts), "counts of blocks", &counts);
    if (status == TREACLE_OK) {
        status = alloc_array(b->ctx, blocks, sizeof(int32_t), "counts of blocks", &active);
    }
    if (status == TREACLE_OK) {
        job.counts = counts;
        job.active = active;
        status = fill_mesh(&job);
    }
    alloc_free(b->ctx, counts, (blocks + 1) * sizeof(block_counts));
    alloc_free(b->ctx, active, blocks * sizeof(int32_t));
    return status;
}

// The vertex on an edge of the cube at `local`, in samples from the block's first.
static void edge_place(const contour_job* job, const float* at, const int local[3], int edge,
                       double out[3]) {
    int a = edge / 4, low = job->table->corner[edge][0], high = job->table->corner[edge][1];
    float t = fraction_along(at[corner_offset(low)], at[corner_offset(high)], job->iso);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = local[k] + (low >> k & 1) + (k == a ? (double)t : 0.0);
    }
}

// Six times the volume between the block's triangles and the origin of all samples.
static double volume_of(void* data, int64_t i) {
    const contour_job* job = data;
    float v[PADDED_SAMPLES];
    mesh_blocks_gather(job->b, job->b->value, i, 0, 1, v);
    double sum = 0.0;
    int samples = is_mixed(v, job->iso) ? BLOCK_SAMPLES : 0;
    for (int s = 0; s < samples; ++s) {
        const int local[3] = {s % 8, s / 8 % 8, s / 64};
        const float* at = v + padded_index(local[0], local[1], local[2]);
        int inside = case_of(at, job->iso);
        for (int t = 0; t < job->table->count[inside]; ++t) {
            double p[3][3];
            for (int c = 0; c < 3; ++c) {
                edge_place(job, at, local, job->table->edge[inside][t][c], p[c]);
                for (int k = 0; k < AXIS_COUNT; ++k) {
                    p[c][k] += (double)BLOCK_SIDE * job->b->at[i][k];
                }
            }
            sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                   p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                   p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        }
    }
    return sum;
}

double contour_volume(const mesh_blocks* b, const contour_table* table, float iso) {
    TREACLE_ASSERT(b->step > 0.0 && !isnan(iso));
    contour_job job = {.b = b, .table = table, .iso = iso};
    double cube = b->step * b->step * b->step;
    return parallel_sum(b->ctx, b->count, volume_of, &job) * cube / 6.0;
}

float contour_match_volume(const mesh_blocks* b, const contour_table* table, const float range[2],
                           double volume) {
    TREACLE_ASSERT(range[0] < range[1]);
    TREACLE_ASSERT(volume >= 0.0);
    // Regula falsi; an end that stays for two rounds counts half (Illinois). The volume falls with
    // the value.
    double x[2] = {(double)range[0], (double)range[1]}, excess[2];
    for (int i = 0; i < 2; ++i) {
        excess[i] = contour_volume(b, table, range[i]) - volume;
    }
    if (excess[0] <= 0.0 || excess[1] >= 0.0) {
        return excess[0] <= 0.0 ? range[0] : range[1];
    }
    double value = x[0];
    int last = -1;
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        value = (x[0] * excess[1] - x[1] * excess[0]) / (excess[1] - excess[0]);
        double here = contour_volume(b, table, (float)value) - volume;
        if (fabs(here) <= 1e-4 * volume) {
            break;
        }
        int side = here > 0.0 ? 0 : 1;
        x[side] = value;
        excess[side] = here;
        excess[1 - side] *= side == last ? 0.5 : 1.0;
        last = side;
    }
    return (float)value;
}
