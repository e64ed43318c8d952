#include "mesh/surface_level.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum {
    AXIS_COUNT = 3,
    VERTEX_GRAIN = 4096,
    RINGS = 6,       // of neighbours that what is shape reaches
    BLEND_ROUNDS = 6 // over which noise and shape blend into each other
};

// What of a direction lies in all walls that a vertex lies on.
typedef struct seam_plane {
    float at[3][3];
} seam_plane;

typedef struct level_job {
    const level_def* def;
    float* bend;                // b
    float *now, *before, *next; // u
    float (*up[3])[3];          // normals: now, before, next
    int32_t* plane_of;          // [vertices], -1: none
    seam_plane* planes;
    size_t plane_count;
    float w_now, w_before, w_way; // of a stage
} level_job;

static bool is_free(const level_job* job, int64_t v) {
    return job->def->seams == NULL || job->def->seams->is_free[v] != 0;
}

// Walls -------------------------------------------------------------------------------------------

static seam_plane plane_at(const level_job* job, int64_t v) {
    const mesh_seams* s = job->def->seams;
    const float* x = job->def->m->place[v];
    vec3 at = vec3_make((double)x[0], (double)x[1], (double)x[2]), axes[SEAM_BOUNDS];
    int count = 0;
    for (int i = 0; i < SEAM_BOUNDS && s->bound[v][i] >= 0; ++i) {
        vec3 n = mesh_room_normal(s->room, s->bound[v][i], at);
        for (int k = 0; k < count; ++k) {
            n = vec3_add_scaled(n, -vec3_dot(n, axes[k]), axes[k]);
        }
        if (vec3_length(n) > 0.1) {
            axes[count++] = vec3_normalise(n);
        }
    }
    seam_plane out;
    for (int i = 0; i < AXIS_COUNT; ++i) {
        for (int j = 0; j < AXIS_COUNT; ++j) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < count; ++k) {
                sum -= axes[k].at[i] * axes[k].at[j];
            }
            out.at[i][j] = (float)sum;
        }
    }
    return out;
}

static treacle_status find_planes(level_job* job) {
    const surface_mesh* m = job->def->m;
    void* block = NULL;
    TREACLE_TRY(alloc_array(m->ctx, (size_t)m->vertex_count, sizeof(int32_t), "walls", &block));
    job->plane_of = block;
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        bool is_at =
            job->def->seams != NULL && is_free(job, v) && mesh_seams_bounds(job->def->seams, v) > 0;
        job->plane_of[v] = is_at ? (int32_t)job->plane_count++ : -1;
    }
    TREACLE_TRY(alloc_array(m->ctx, job->plane_count, sizeof(seam_plane), "walls", &block));
    job->planes = block;
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        if (job->plane_of[v] >= 0) {
            job->planes[job->plane_of[v]] = plane_at(job, v);
        }
    }
    return TREACLE_OK;
}

static void keep_to_planes(const level_job* job, int64_t v, float way[3]) {
    if (job->plane_of[v] < 0) {
        return;
    }
    const seam_plane* w = &job->planes[job->plane_of[v]];
    const float x[3] = {way[0], way[1], way[2]};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        way[k] = w->at[k][0] * x[0] + w->at[k][1] * x[1] + w->at[k][2] * x[2];
    }
}

// Heights -----------------------------------------------------------------------------------------

// The mean of the neighbours on the liquid's own surface less the vertex.
static void differ_by(const level_job* job, float (*from)[3], int64_t v, float out[3]) {
    float sum[3] = {0.0f, 0.0f, 0.0f}, count = 0.0f;
    for (int64_t f = job->def->fans->first[v]; f < job->def->fans->first[v + 1]; ++f) {
        int32_t other = job->def->near[f];
        if (is_free(job, other)) {
            count += 1.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                sum[k] += from[other][k];
            }
        }
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = count > 0.0f ? sum[k] / count - from[v][k] : 0.0f;
    }
}

static void find_bend(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way[3] = {0.0f, 0.0f, 0.0f};
        const float* n = job->up[0][v];
        if (is_free(job, v)) {
            differ_by(job, job->def->m->place, v, way);
            keep_to_planes(job, v, way);
        }
        job->bend[v] = way[0] * n[0] + way[1] * n[1] + way[2] * n[2];
    }
}

// The mean of the neighbours less the vertex.
static float differ(const level_job* job, const float* from, int64_t v) {
    float sum = 0.0f, count = 0.0f;
    for (int64_t f = job->def->fans->first[v]; f < job->def->fans->first[v + 1]; ++f) {
        int32_t other = job->def->near[f];
        if (is_free(job, other)) {
            sum += from[other];
            count += 1.0f;
        }
    }
    return count > 0.0f ? sum / count - from[v] : 0.0f;
}

static void do_stage(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way = is_free(job, v) ? differ(job, job->now, v) + job->bend[v] : 0.0f;
        job->next[v] = job->w_now * job->now[v] + job->w_before * job->before[v] + job->w_way * way;
    }
}

// The largest eigenvalue of L is 2; 0.9 is to spare.
static void set_stage(level_job* job, int stage) {
    const float whole = 0.9f; // s of the method over (N^2 + N)/2
    job->w_now = (float)(2 * stage - 1) / (float)stage;
    job->w_before = (float)(1 - stage) / (float)stage;
    job->w_way = job->w_now * whole;
}

static void run_stages(level_job* job) {
    const surface_mesh* m = job->def->m;
    for (int j = 1; j <= job->def->rounds; ++j) {
        set_stage(job, j);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, do_stage, job);
        float* swap = job->before;
        job->before = job->now;
        job->now = job->next;
        job->next = swap;
    }
}

// Normals -----------------------------------------------------------------------------------------

static void turn_stage(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    float(*now)[3] = job->up[0], (*before)[3] = job->up[1], (*next)[3] = job->up[2];
    for (int64_t v = begin; v < end; ++v) {
        float way[3] = {0.0f, 0.0f, 0.0f};
        if (is_free(job, v)) {
            differ_by(job, now, v, way);
        }
        for (int k = 0; k < AXIS_COUNT; ++k) {
            next[v][k] =
                job->w_now * now[v][k] + job->w_before * before[v][k] + job->w_way * way[k];
        }
        keep_to_planes(job, v, next[v]);
    }
}

static void begin_up(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->up[0][v][k] = job->def->m->normal[v][k];
        }
        keep_to_planes(job, v, job->up[0][v]);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->up[1][v][k] = job->up[0][v][k];
        }
    }
}

static void finish_up(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        const float* n = job->up[0][v];
        vec3 up = vec3_normalise(vec3_make((double)n[0], (double)n[1], (double)n[2]));
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->def->up[v][k] = (float)up.at[k];
        }
    }
}

static void find_up(level_job* job) {
    const surface_mesh* m = job->def->m;
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, begin_up, job);
    for (int j = 1; j <= job->def->rounds; ++j) {
        set_stage(job, j);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, turn_stage, job);
        float(*swap)[3] = job->up[1];
        job->up[1] = job->up[0];
        job->up[0] = job->up[2];
        job->up[2] = swap;
    }
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, finish_up, job);
    job->up[0] = job->def->up;
}

// Noise and shape ---------------------------------------------------------------------------------

static void spread_farthest(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float most = job->before[v];
        for (int64_t f = job->def->fans->first[v]; f < job->def->fans->first[v + 1]; ++f) {
            int32_t other = job->def->near[f];
            most = is_free(job, other) ? fmaxf(most, job->before[other]) : most;
        }
        job->next[v] = most;
    }
}

static void blend(void* data, int64_t begin, int64_t end) {
    const level_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        job->next[v] = job->before[v] + 0.5f * differ(job, job->before, v);
    }
}

// What goes too far to be noise stays, and all around it.
static void gate(level_job* job, float* out) {
    const surface_mesh* m = job->def->m;
    float noise = (float)job->def->noise;
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        job->before[v] = fminf(fabsf(job->now[v]) / noise, 2.0f);
    }
    for (int round = 0; round < RINGS + BLEND_ROUNDS; ++round) {
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, round < RINGS ? spread_farthest : blend,
                     job);
        float* swap = job->before;
        job->before = job->next;
        job->next = swap;
    }
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        float t = fminf(fmaxf(job->before[v] - 1.0f, 0.0f), 1.0f);
        float part = 1.0f - t * t * (3.0f - 2.0f * t);
        out[v] = is_free(job, v) && part > 0.0f ? part * job->now[v] : 0.0f;
    }
}

treacle_status surface_level_find(const level_def* def, float* out) {
    TREACLE_ASSERT(def->rounds >= 0 && def->noise > 0.0);
    const surface_mesh* m = def->m;
    size_t count = (size_t)m->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(m->ctx, 4 * count, sizeof(float), "a level surface", &block));
    float* values = block;
    level_job job = {.def = def,
                     .bend = values,
                     .now = values + count,
                     .before = values + 2 * count,
                     .next = values + 3 * count,
                     .up = {def->up, def->spare[0], def->spare[1]}};
    treacle_status status = find_planes(&job);
    if (status == TREACLE_OK) {
        find_up(&job);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, find_bend, &job);
        run_stages(&job);
        gate(&job, out);
    }
    alloc_free(m->ctx, job.planes, job.planes == NULL ? 0 : job.plane_count * sizeof(seam_plane));
    alloc_free(m->ctx, job.plane_of, job.plane_of == NULL ? 0 : count * sizeof(int32_t));
    alloc_free(m->ctx, block, 4 * count * sizeof(float));
    return status;
}
