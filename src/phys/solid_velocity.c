// Velocity inside solids [BBB07 sec. 2.3]. Particles near a wall see faces that the wall closes,
// for which the flow has no velocity. The liquid's is extrapolated to them; along the solid it
// stays, so that liquid slides freely, and across it the solid's own takes its place:
//
//     u <- u - n (n . (u - v)),     n normal to the solid, v its velocity                [solid.7]
//
// The components of u that live on other faces are means of the four nearest ones. In the middle of
// a solid, where there is no normal, u = v.
//
// Staggering: faces. Symbols: face_u (u). Properties that tests check: sliding
// along a tilted wall is untouched; towards it nothing is left; a moving wall carries its liquid.
#include "phys/solid_velocity.h"

#include <string.h>

#include "base/parallel.h"
#include "grid/gather.h"
#include "grid/stagger.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct constrain_job {
    const solid_velocity_params* params;
    float* const* from;
    float* const* to;
} constrain_job;

static vec3 face_place(const solid_velocity_params* params, tile_ix tile, int i, int a) {
    int at[AXES];
    tile_cell_at(params->map, tile, i, at);
    vec3 x;
    for (int b = 0; b < AXES; ++b) {
        double offset = (double)place_offset(place_face(a), b);
        x.at[b] = params->domain->origin[b] + params->domain->h * (at[b] + offset);
    }
    return x;
}

// All components at the face of axis a at block index `at`.
static vec3 velocity_at(const solid_velocity_params* params, const float (*u)[VALUES], int a,
                        int at) {
    vec3 out;
    for (int b = 0; b < AXES; ++b) {
        const float* v = u[b] + at;
        int up = params->map->is_flat[b] ? 0 : strides[b];
        float mean = 0.25f * ((v[0] + v[up]) + (v[-strides[a]] + v[up - strides[a]]));
        out.at[b] = b == a ? (double)v[0] : (double)mean;
    }
    return out;
}

// Component a of what is left of u beside the solid [solid.7].
static double constrained(const solid_velocity_params* params, int id, vec3 x, vec3 u, int a) {
    const solid* s = &params->scene.solids[id];
    const solid_pose* pose = &params->scene.poses[id];
    vec3 v = solid_velocity(pose, x);
    vec3 n = solid_normal(s, pose, x, 1e-3 * params->domain->h);
    double across = vec3_dot(n, vec3_sub(u, v));
    across = s->separation.is_on && across > 0.0 ? 0.0 : across; // it may leave
    return vec3_dot(n, n) > 0.5 ? u.at[a] - n.at[a] * across : v.at[a];
}

static void constrain_axis(const constrain_job* job, tile_ix t, const float (*u)[VALUES], int a) {
    const solid_velocity_params* params = job->params;
    size_t start = (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        size_t q = start + (size_t)i;
        int id = params->cell_id[q];
        if (params->face_open[a][q] > 0.0f || id == SOLID_NONE ||
            !tile_cell_counts(params->map, i)) {
            continue;
        }
        int at =
            BLOCK_INDEX(1, 1, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE);
        vec3 x = face_place(params, t, i, a);
        job->to[a][q] = (float)constrained(params, id, x, velocity_at(params, u, a, at), a);
    }
}

static bool has_solid(const uint16_t* id) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (id[i] != SOLID_NONE) {
            return true;
        }
    }
    return false;
}

static void constrain_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const constrain_job* job = data;
    const solid_velocity_params* params = job->params;
    (void)worker;
    float u[AXES][VALUES];
    for (int64_t t = begin; t < end; ++t) {
        size_t start = (size_t)t * TILE_CELLS;
        for (int a = 0; a < AXES; ++a) {
            memcpy(job->to[a] + start, job->from[a] + start, TILE_CELLS * sizeof(float));
        }
        if (!has_solid(params->cell_id + start)) {
            continue;
        }
        for (int a = 0; a < AXES; ++a) {
            gather_block(params->map, job->from[a], (tile_ix)t, 1, 1, u[a]);
        }
        for (int a = 0; a < AXES; ++a) {
            if (params->domain->is_active[a]) {
                constrain_axis(job, (tile_ix)t, (const float(*)[VALUES])u, a);
            }
        }
    }
}

void solid_velocity_constrain(const solid_velocity_params* params, float* const face_u[AXES],
                              float* const scratch[AXES]) {
    constrain_job job = {params, face_u, scratch};
    size_t values = (size_t)params->map->count * TILE_CELLS;
    parallel_for(params->map->ctx, params->map->count, 4, constrain_tiles, &job);
    for (int a = 0; a < AXES; ++a) {
        memcpy(face_u[a], scratch[a], values * sizeof(float));
    }
}
