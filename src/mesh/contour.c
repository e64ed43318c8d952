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

// Vertices keep away from the ends of their edges by this share: no triangle is without area.
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
    uint8_t* is_bound; // [vertices], NULL: nobody asks
} contour_job;

static int padded_index(int x, int y, int z) {
    return (z * PADDED + y) * PADDED + x;
}

static const int axis_stride[3] = {1, PADDED, PADDED* PADDED};

static int corner_offset(int corner) {
    return padded_index(corner & 1, corner >> 1 & 1, corner >> 2);
}

// A block with the samples behind it: how far above the surface's value, and how far from what
// bounds the liquid. A sample is inside if both are above 0.
typedef struct cube_values {
    float value[PADDED_SAMPLES], clip[PADDED_SAMPLES];
    bool is_inside[PADDED_SAMPLES];
    bool is_mixed; // whether anything can cross the block: most are all in or all out
} cube_values;

static void gather_values(const contour_job* job, int64_t block, cube_values* out) {
    const mesh_blocks* b = job->b;
    mesh_blocks_gather(b, b->value, block, 0, 1, out->value);
    if (b->clip != NULL) {
        mesh_blocks_gather(b, b->clip, block, 0, 1, out->clip);
    }
    int inside = 0;
    for (int i = 0; i < PADDED_SAMPLES; ++i) {
        out->value[i] -= job->iso;
        out->is_inside[i] = out->value[i] > 0.0f && (b->clip == NULL || out->clip[i] > 0.0f);
        inside += out->is_inside[i];
    }
    out->is_mixed = inside > 0 && inside < PADDED_SAMPLES;
}

static int case_of(const cube_values* v, int at) {
    int inside = 0;
    for (int c = 0; c < 8; ++c) {
        inside |= v->is_inside[at + corner_offset(c)] << c;
    }
    return inside;
}

static bool is_crossed(const cube_values* v, int at, int axis) {
    return v->is_inside[at] != v->is_inside[at + axis_stride[axis]];
}

// Where an edge leaves the liquid, from its low end: by the field, or by what bounds it if that
// comes first.
typedef struct edge_crossing {
    float fraction;
    bool is_bound;
} edge_crossing;

static edge_crossing crossing_of(const contour_job* job, const cube_values* v, int low, int high) {
    int in = v->is_inside[low] ? low : high, out = in == low ? high : low;
    float t = v->value[out] > 0.0f ? 2.0f : v->value[in] / (v->value[in] - v->value[out]);
    edge_crossing e = {t, false};
    if (job->b->clip != NULL && !(v->clip[out] > 0.0f)) {
        float bound = v->clip[in] / (v->clip[in] - v->clip[out]);
        e = bound < t ? (edge_crossing){bound, true} : e;
    }
    e.fraction = fminf(fmaxf(e.fraction, end_margin), 1.0f - end_margin);
    e.fraction = in == low ? e.fraction : 1.0f - e.fraction;
    return e;
}

static void count_block(void* data, int64_t begin, int64_t end) {
    contour_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        cube_values v;
        gather_values(job, i, &v);
        block_counts counts = {0, 0};
        int samples = v.is_mixed ? BLOCK_SAMPLES : 0;
        for (int s = 0; s < samples; ++s) {
            int at = padded_index(s % 8, s / 8 % 8, s / 64);
            for (int a = 0; a < AXIS_COUNT; ++a) {
                counts.vertices += is_crossed(&v, at, a);
            }
            counts.triangles += job->table->count[case_of(&v, at)];
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
        cube_values v;
        gather_values(job, i, &v);
        int64_t next = job->counts[i].vertices;
        int32_t* vertex_of = job->edge_vertex + (int64_t)EDGES_A_BLOCK * job->active[i];
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const int local[3] = {s % 8, s / 8 % 8, s / 64};
            int at = padded_index(local[0], local[1], local[2]);
            for (int a = 0; a < AXIS_COUNT; ++a) {
                if (!is_crossed(&v, at, a)) {
                    continue;
                }
                edge_crossing e = crossing_of(job, &v, at, at + axis_stride[a]);
                for (int k = 0; k < AXIS_COUNT; ++k) {
                    double x = (double)BLOCK_SIDE * b->at[i][k] + local[k] + b->offset;
                    job->out->place[next][k] =
                        (float)(b->step * (x + (k == a ? (double)e.fraction : 0.0)));
                }
                if (job->is_bound != NULL) {
                    job->is_bound[next] = e.is_bound ? 1 : 0;
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
        cube_values v;
        gather_values(job, i, &v);
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const int local[3] = {s % 8, s / 8 % 8, s / 64};
            int inside = case_of(&v, padded_index(local[0], local[1], local[2]));
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

static treacle_status fill_mesh(contour_job* job, bool is_marked) {
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
    if (is_marked) {
        status = alloc_zero(b->ctx, (size_t)sum.vertices, 1, "walls of vertices", &block);
        job->is_bound = status == TREACLE_OK ? block : NULL;
        block = job->edge_vertex;
    }
    if (status != TREACLE_OK) {
        alloc_free(b->ctx, block, edges * sizeof(int32_t));
        surface_mesh_destroy(job->out);
        return status;
    }
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, place_vertices, job);
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, place_triangles, job);
    alloc_free(b->ctx, block, edges * sizeof(int32_t));
    return TREACLE_OK;
}

static treacle_status draw(contour_job* job, bool is_marked) {
    const mesh_blocks* b = job->b;
    *job->out = (surface_mesh){0};
    void* counts = NULL;
    void* active = NULL;
    size_t blocks = (size_t)b->count;
    treacle_status status =
        alloc_array(b->ctx, blocks + 1, sizeof(block_counts), "counts of blocks", &counts);
    if (status == TREACLE_OK) {
        status = alloc_array(b->ctx, blocks, sizeof(int32_t), "counts of blocks", &active);
    }
    if (status == TREACLE_OK) {
        job->counts = counts;
        job->active = active;
        status = fill_mesh(job, is_marked);
    }
    alloc_free(b->ctx, counts, (blocks + 1) * sizeof(block_counts));
    alloc_free(b->ctx, active, blocks * sizeof(int32_t));
    return status;
}

treacle_status contour_mesh(const mesh_blocks* b, const contour_table* table, float iso,
                            surface_mesh* out) {
    TREACLE_ASSERT(b->count >= 0 && b->step > 0.0);
    TREACLE_ASSERT(!isnan(iso));
    contour_job job = {.b = b, .table = table, .iso = iso, .out = out};
    return draw(&job, false);
}

treacle_status contour_mesh_marked(const mesh_blocks* b, const contour_table* table, float iso,
                                   surface_mesh* out, uint8_t** is_bound) {
    TREACLE_ASSERT(b->count >= 0 && b->step > 0.0);
    TREACLE_ASSERT(!isnan(iso));
    contour_job job = {.b = b, .table = table, .iso = iso, .out = out};
    treacle_status status = draw(&job, true);
    *is_bound = job.is_bound;
    return status;
}

// The vertex on an edge of the cube at `local`, in samples from the block's first.
static void edge_place(const contour_job* job, const cube_values* v, const int local[3], int edge,
                       double out[3]) {
    int a = edge / 4, low = job->table->corner[edge][0], high = job->table->corner[edge][1];
    int at = padded_index(local[0], local[1], local[2]);
    edge_crossing e = crossing_of(job, v, at + corner_offset(low), at + corner_offset(high));
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = local[k] + (low >> k & 1) + (k == a ? (double)e.fraction : 0.0);
    }
}

// Six times the volume between the block's triangles and the origin of all samples.
static double volume_of(void* data, int64_t i) {
    const contour_job* job = data;
    cube_values v;
    gather_values(job, i, &v);
    double sum = 0.0;
    int samples = v.is_mixed ? BLOCK_SAMPLES : 0;
    for (int s = 0; s < samples; ++s) {
        const int local[3] = {s % 8, s / 8 % 8, s / 64};
        int inside = case_of(&v, padded_index(local[0], local[1], local[2]));
        for (int t = 0; t < job->table->count[inside]; ++t) {
            double p[3][3];
            for (int c = 0; c < 3; ++c) {
                edge_place(job, &v, local, job->table->edge[inside][t][c], p[c]);
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
