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
// Beside a wall, up to a cell from it, particles are few. The surface that they and their images
// draw there counts with the share b, and the one that continues from further out with the rest:
//
//     b = min(10 (c + 1/2), 10 (9/10 - c), 2 (1 - d)),  from 0 to 1                      [solid.12]
//
// c = cosine of the angle between the gradients of both distances, d = drawn - continued, cells.
// Where liquid meets the wall at an angle the drawn surface knows particles that are too high or
// too low, and gravity brings them back; the continued one does not, and its noise drives waves.
// Where its surface faces the wall, c < -1/2, images fill the gap between both: what has let go
// would be held. Where it lies along the wall, c > 9/10, and where particles are missing, d > 1/2,
// too, it continues from further out. A film on a wall, which cells further out know nothing of,
// stays: where d < -1/2.
//
// Staggering: phi at cells, open on faces. Properties that tests check: planes stay planes; closed
// faces let nothing through; films stay; what is drawn counts where the surface meets a wall, and
// does not where it faces one. References: [BB08 sec. 5.2].
#include "phys/extend_surface.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

// Cells, by which a film stands out from where the surface would meet the wall.
#define FILM_MIN 0.5f
// Cosines between surface and wall from which on it faces the wall, and lies along it, [solid.12].
#define FACING -0.5f
#define ALONG 0.9f

enum { SIDE = BLOCK_SIDE(2, 2), VALUES = BLOCK_VALUES(2, 2), LAYERS = 3 };
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct extend_job {
    const extend_surface_params* params;
    float reach;       // cells nearer to a solid are not known
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

static void look_around(const extend_job* job, tile_ix t, surroundings* out) {
    const extend_surface_params* params = job->params;
    gather_block(params->map, job->from, t, 2, 2, out->phi);
    gather_block(params->map, params->cell_solid_phi, t, 2, 2, out->solid);
    for (int a = 0; a < AXES; ++a) {
        gather_block(params->map, params->face_open.at[a], t, 2, 2, out->open[a]);
    }
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
        look_around(job, (tile_ix)t, &s);
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
        job->to[i] = solid[i] < job->reach ? NAN : job->from[i];
    }
}

// The change of a distance along an axis, across open faces between cells where it is known.
static float extend_surface_slope_at(const float* phi, const float* open, int at, int stride) {
    bool has_low = open[at] > 0.0f && !isnan(phi[at - stride]);
    bool has_high = open[at + stride] > 0.0f && !isnan(phi[at + stride]);
    float low = has_low ? phi[at - stride] : phi[at], high = has_high ? phi[at + stride] : phi[at];
    return has_low && has_high ? 0.5f * (high - low) : high - low;
}

// How the surface lies to the wall: -1 faces it, 1 lies along it; 0 where nobody knows.
static float cosine_at(const extend_job* job, const surroundings* s, int at) {
    float product = 0.0f, surface = 0.0f, solid = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        if (!job->params->map->is_flat[a]) {
            float one = extend_surface_slope_at(s->phi, s->open[a], at, strides[a]);
            float other = 0.5f * (s->solid[at + strides[a]] - s->solid[at - strides[a]]);
            product += one * other;
            surface += one * one;
            solid += other * other;
        }
    }
    float both = sqrtf(surface * solid);
    return both > 0.0f ? product / both : 0.0f;
}

// The share of the drawn surface [solid.12].
static float fraction_of_drawn(float cosine, float above) {
    float angle = 10.0f * fminf(cosine - FACING, ALONG - cosine);
    return fminf(fmaxf(fminf(angle, 2.0f - 2.0f * above), 0.0f), 1.0f);
}

static bool is_beside(const float* solid, int64_t first) {
    bool is_any = false;
    for (int64_t i = first; i < first + TILE_CELLS; ++i) {
        is_any = is_any || (solid[i] >= 0.0f && solid[i] < EXTEND_REACH);
    }
    return is_any;
}

// job->to is as particles have drawn it.
static void mix_tiles(void* data, int64_t begin, int64_t end) {
    const extend_job* job = data;
    const float *solid = job->params->cell_solid_phi, *found = job->from;
    surroundings s;
    for (int64_t t = begin; t < end; ++t) {
        if (!is_beside(solid, t * TILE_CELLS)) {
            continue;
        }
        look_around(job, (tile_ix)t, &s);
        for (int q = 0; q < TILE_CELLS; ++q) {
            int64_t i = t * TILE_CELLS + q;
            bool is_near = solid[i] >= 0.0f && solid[i] < EXTEND_REACH;
            float above = job->to[i] - found[i];
            if (!is_near || isnan(found[i]) || above < -FILM_MIN ||
                !tile_cell_counts(job->params->map, q)) {
                continue;
            }
            int at = BLOCK_INDEX(2, 2, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE,
                                 q / TILE_SIZE / TILE_SIZE);
            job->to[i] = found[i] + fraction_of_drawn(cosine_at(job, &s, at), above) * above;
        }
    }
}

static void take_tiles(void* data, int64_t begin, int64_t end) {
    const extend_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->to[i] = isnan(job->from[i]) ? job->to[i] : job->from[i];
    }
}

// The dummy tile, too.
static void run_held(parallel_fcn* fcn, extend_job job) {
    const tile_map* map = job.params->map;
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, fcn, &job);
    fcn(&job, map->count, (int64_t)map->count + 1);
}

// Continues cell_phi to cells that are nearer to a solid than `reach`; where that is found.
static float* continue_from(const extend_surface_params* params, float reach, const float* cell_phi,
                            float* const room[2]) {
    run_held(forget_tiles, (extend_job){params, reach, cell_phi, room[0]});
    run_held(forget_tiles, (extend_job){params, reach, cell_phi, room[1]});
    for (int layer = 0; layer < LAYERS; ++layer) {
        extend_job job = {params, reach, room[layer % 2], room[(layer + 1) % 2]};
        tile_for(params->map,
                 &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = job.to}}},
                 extend_tiles, &job);
    }
    return room[LAYERS % 2];
}

void extend_surface(const extend_surface_params* params, float* cell_phi, float* const scratch[2]) {
    TREACLE_ASSERT(scratch[0] != NULL && scratch[1] != NULL && scratch[0] != scratch[1]);
    TREACLE_ASSERT(cell_phi != scratch[0] && cell_phi != scratch[1]);
    TREACLE_ASSERT(params->cell_solid_phi != NULL && params->cell_solid_phi != cell_phi);
    const float* found = continue_from(params, EXTEND_REACH, cell_phi, scratch);
    extend_job mix = {params, EXTEND_REACH, found, cell_phi};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_phi}}}, mix_tiles,
             &mix);
    found = continue_from(params, 0.0f, cell_phi, scratch);
    run_held(take_tiles, (extend_job){params, 0.0f, found, cell_phi});
}
