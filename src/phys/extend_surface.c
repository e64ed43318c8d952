// The pressure of a cell that a wall cuts needs the distance to the surface even if the cell's
// middle is in the solid: the ghost fluid [press.2] puts p = 0 where the distance, linear between
// middles, vanishes. There it continues straight from the outside, across open faces f,
//
//     phi_i = mean over f of  2 phi_j - phi_k,     j and k the next two cells beyond f   [solid.6]
//
// layer by layer, where j is further from the solid than i; so that a plane stays a plane and
// liquid at rest stays at rest whatever the slope of its container. Where k is not known, phi_j
// counts. Nothing comes through closed faces: the two sides of a thin solid do not see each other
// [solid.4].
//
// Beside a wall, too, particles are fewer than the surface's kernel needs, and where surface and
// wall meet at an angle their images do not continue it: there, too, it continues from further out.
// A film on a wall, which cells further out know nothing of, stays: where the particles' own
// distance is less by more than half a cell. Were the lesser of both taken everywhere, the noise of
// both would lift the surface at the wall and drive a vortex there.
//
// Staggering: phi at cells, open on faces. Properties that tests check: planes stay planes; closed
// faces let nothing through; films stay. References: [BB08 sec. 5.2].
#include "phys/extend_surface.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

// Cells, by which a film stands out from where the surface would meet the wall.
#define FILM_MIN 0.5f

enum { SIDE = BLOCK_SIDE(2, 2), VALUES = BLOCK_VALUES(2, 2), LAYERS = 3 };
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct extend_job {
    const extend_surface_params* params;
    const float* from; // NAN where it is not known
    float* to;
} extend_job;

typedef struct surroundings {
    float phi[VALUES], solid[VALUES], open[AXES][VALUES];
} surroundings;

// What the cells along a step say of the cell `at`; NAN if nothing.
static float look(const surroundings* s, int at, int step) {
    int next = at + step, after = next + step;
    if (isnan(s->phi[next]) || s->solid[next] <= s->solid[at]) {
        return NAN;
    }
    float slope = isnan(s->phi[after]) ? 0.0f : s->phi[next] - s->phi[after];
    return s->phi[next] + fminf(fmaxf(slope, -1.0f), 1.0f);
}

static float extended(const extend_job* job, const surroundings* s, int at) {
    float sum = 0.0f, count = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        for (int side = 0; side < 2 && !job->params->map->is_flat[a]; ++side) {
            float open = s->open[a][side == 0 ? at : at + strides[a]];
            float value = open > 0.0f ? look(s, at, side == 0 ? -strides[a] : strides[a]) : NAN;
            sum += isnan(value) ? 0.0f : value;
            count += isnan(value) ? 0.0f : 1.0f;
        }
    }
    return count > 0.0f ? sum / count : NAN; // [solid.6]
}

static bool has_unknown(const float* phi) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (isnan(phi[i])) {
            return true;
        }
    }
    return false;
}

static void extend_tiles(void* data, int64_t begin, int64_t end) {
    const extend_job* job = data;
    const extend_surface_params* params = job->params;
    surroundings s;
    for (int64_t t = begin; t < end; ++t) {
        size_t start = (size_t)t * TILE_CELLS;
        memcpy(job->to + start, job->from + start, TILE_CELLS * sizeof(float));
        if (!has_unknown(job->from + start)) {
            continue;
        }
        gather_block(params->map, job->from, (tile_ix)t, 2, 2, s.phi);
        gather_block(params->map, params->cell_solid_phi, (tile_ix)t, 2, 2, s.solid);
        for (int a = 0; a < AXES; ++a) {
            gather_block(params->map, params->face_open.at[a], (tile_ix)t, 2, 2, s.open[a]);
        }
        for (int i = 0; i < TILE_CELLS; ++i) {
            if (isnan(job->from[start + (size_t)i]) && tile_cell_counts(params->map, i)) {
                int at = BLOCK_INDEX(2, 2, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                     i / TILE_SIZE / TILE_SIZE);
                job->to[start + (size_t)i] = extended(job, &s, at);
            }
        }
    }
}

// What is near solids is not known.
static void forget_tiles(void* data, int64_t begin, int64_t end) {
    const extend_job* job = data;
    const float* solid = job->params->cell_solid_phi;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->to[i] = solid[i] < EXTEND_REACH ? NAN : job->from[i];
    }
}

static void take_tiles(void* data, int64_t begin, int64_t end) {
    const extend_job* job = data;
    const float *solid = job->params->cell_solid_phi, *found = job->from;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool is_film = solid[i] >= 0.0f && job->to[i] < found[i] - FILM_MIN;
        job->to[i] = isnan(found[i]) || is_film ? job->to[i] : found[i];
    }
}

// The dummy tile, too.
static void run_held(parallel_fcn* fcn, extend_job job) {
    const tile_map* map = job.params->map;
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, fcn, &job);
    fcn(&job, map->count, (int64_t)map->count + 1);
}

void extend_surface(const extend_surface_params* params, float* cell_phi, float* const scratch[2]) {
    TREACLE_ASSERT(scratch[0] != NULL && scratch[1] != NULL && scratch[0] != scratch[1]);
    TREACLE_ASSERT(cell_phi != scratch[0] && cell_phi != scratch[1]);
    TREACLE_ASSERT(params->cell_solid_phi != NULL && params->cell_solid_phi != cell_phi);
    run_held(forget_tiles, (extend_job){params, cell_phi, scratch[0]});
    run_held(forget_tiles, (extend_job){params, cell_phi, scratch[1]});
    for (int layer = 0; layer < LAYERS; ++layer) {
        extend_job job = {params, scratch[layer % 2], scratch[(layer + 1) % 2]};
        tile_for(params->map,
                 &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = job.to}}},
                 extend_tiles, &job);
    }
    run_held(take_tiles, (extend_job){params, scratch[LAYERS % 2], cell_phi});
}
