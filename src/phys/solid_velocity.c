// Velocity inside solids [BBB07 sec. 2.3]. Particles near a wall see faces that the wall closes,
// for which the flow has no velocity. The liquid's is extrapolated to them; along the solid it
// stays, so that liquid slides freely, and across it the solid's own takes its place:
//
//     u <- u - n (n . (u - v)),     n normal to the solid, v its velocity                [solid.7]
//
// The components of u that live on other faces are means of the four nearest ones. The normal comes
// from the distances at the cells around the face. In the middle of a thin solid, where they give
// none, u = v.
//
// Staggering: faces. Symbols: face_u (u). Properties that tests check: sliding
// along a tilted wall is untouched; towards it nothing is left; a moving wall carries its liquid.
#include "phys/solid_velocity.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/stagger.h"
#include "grid/tile_loop.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int u_strides[AXES] = {1, SIDE, SIDE* SIDE};
static const int strides[AXES] = {1, BLOCK_SIDE(2, 2), BLOCK_SIDE(2, 2) * BLOCK_SIDE(2, 2)};

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
        int up = params->map->is_flat[b] ? 0 : u_strides[b], down = -u_strides[a];
        float mean = 0.25f * ((v[0] + v[up]) + (v[down] + v[up + down]));
        out.at[b] = b == a ? (double)v[0] : (double)mean;
    }
    return out;
}

// The normal to the solid at the face, of length 1 or 0: by differences across the face and, along
// it, of the means of both cells.
static vec3 normal_at(const solid_velocity_params* params, const float* phi, int a, int at) {
    vec3 out;
    for (int b = 0; b < AXES; ++b) {
        const float *here = phi + at, *below = here - strides[a];
        float along = 0.25f * ((here[strides[b]] - here[-strides[b]]) +
                               (below[strides[b]] - below[-strides[b]]));
        out.at[b] = (double)(b == a ? here[0] - below[0] : along);
        out.at[b] = params->map->is_flat[b] ? 0.0 : out.at[b];
    }
    return vec3_length(out) > 0.5 ? vec3_normalise(out) : vec3_make(0.0, 0.0, 0.0);
}

typedef struct surroundings {
    float u[AXES][VALUES], phi[BLOCK_VALUES(2, 2)];
} surroundings;

// Sides of the domain that give way have a velocity of their own.
static bool is_at_gap_of_side(const solid_velocity_params* params, tile_ix t, int i, int a) {
    int at[AXES];
    tile_cell_at(params->map, t, i, at);
    bool is_at_side = at[a] == 0 || at[a] == params->domain->cells[a];
    return params->face_give.at[a] != NULL && is_at_side && !params->domain->is_periodic[a];
}

static void constrain_axis(const constrain_job* job, tile_ix t, const surroundings* around, int a) {
    const solid_velocity_params* params = job->params;
    size_t start = (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        size_t q = start + (size_t)i;
        int id = params->cell_id[q];
        if (params->face_open.at[a][q] > 0.0f || id == SOLID_NONE ||
            !tile_cell_counts(params->map, i) || is_at_gap_of_side(params, t, i, a)) {
            continue;
        }
        int x = i % TILE_SIZE, y = i / TILE_SIZE % TILE_SIZE, z = i / TILE_SIZE / TILE_SIZE;
        vec3 n = normal_at(params, around->phi, a, BLOCK_INDEX(2, 2, x, y, z));
        vec3 v = solid_velocity(&params->scene.poses[id], face_place(params, t, i, a));
        vec3 u = velocity_at(params, around->u, a, BLOCK_INDEX(1, 1, x, y, z));
        double across = vec3_dot(n, vec3_sub(u, v));
        bool has_normal = vec3_dot(n, n) > 0.5;
        bool may_leave = params->scene.solids[id].separation.is_on; // see phys/separation.c
        across = may_leave && across > 0.0 ? 0.0 : across;
        if (params->face_give.at[a] != NULL && across < 0.0) {
            across = fmin(across + (double)params->face_give.at[a][q], 0.0);
        }
        job->to[a][q] = (float)(has_normal ? u.at[a] - n.at[a] * across : v.at[a]); // [solid.7]
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

static void constrain_tiles(void* data, int64_t begin, int64_t end) {
    const constrain_job* job = data;
    const solid_velocity_params* params = job->params;
    surroundings around;
    for (int64_t t = begin; t < end; ++t) {
        size_t start = (size_t)t * TILE_CELLS;
        for (int a = 0; a < AXES; ++a) {
            memcpy(job->to[a] + start, job->from[a] + start, TILE_CELLS * sizeof(float));
        }
        if (!has_solid(params->cell_id + start)) {
            continue;
        }
        for (int a = 0; a < AXES; ++a) {
            gather_block(params->map, job->from[a], (tile_ix)t, 1, 1, around.u[a]);
        }
        gather_block(params->map, params->cell_phi, (tile_ix)t, 2, 2, around.phi);
        for (int a = 0; a < AXES; ++a) {
            if (params->domain->is_active[a]) {
                constrain_axis(job, (tile_ix)t, &around, a);
            }
        }
    }
}

typedef struct copy_job {
    const float* from;
    float* to;
} copy_job;

static void copy_tiles(void* data, int64_t begin, int64_t end) {
    const copy_job* job = data;
    memcpy(job->to + begin * TILE_CELLS, job->from + begin * TILE_CELLS,
           (size_t)(end - begin) * TILE_CELLS * sizeof(float));
}

void solid_velocity_constrain(const solid_velocity_params* params, float* const face_u[AXES],
                              float* const scratch[AXES]) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->cell_id != NULL);
    TREACLE_ASSERT(scratch[0] != face_u[0] && scratch[1] != face_u[1] && scratch[2] != face_u[2]);
    constrain_job job = {params, face_u, scratch};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = scratch[0]}, {.at = scratch[1]}, {.at = scratch[2]}}},
             constrain_tiles, &job);
    for (int a = 0; a < AXES; ++a) {
        tile_for(params->map, &(tile_use){.reads = TILE_ALONE, .grain = 16}, copy_tiles,
                 &(copy_job){scratch[a], face_u[a]});
    }
}
