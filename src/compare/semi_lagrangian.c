// Semi-Lagrangian advection [G11 sec. 3.3.1, eq. 3.12 and 3.13], for velocity, heat and strain:
//
//     q(x, t + dt) = q(x_b, t),     x_b = x - dt u(x - dt/2 u(x)),                        [semi.1]
//
// linear between samples. Velocity beyond the sides of the domain is as phys/velocity.h mirrors it;
// other fields go on with their last value. Faces beyond them have no velocity: they would follow
// each other, and no flow holds them.
//
// Properties that tests check: a constant stays, a linear field is shifted exactly by a constant
// flow, paths in a linear flow are those of [semi.1], values stay between the least and the
// largest.
#include "compare/semi_lagrangian.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "grid/tile_mask.h"
#include "grid/tile_sample.h"

typedef struct semi_job {
    const semi_params* params;
    float* const* velocity;
    paths back;
} semi_job;

// Where the flow comes from to the samples of a tile.
static void trace(const semi_params* p, const paths_block* block, grid_place place,
                  float x[TILE_CELLS][AXES]) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        const int cell[AXES] = {i & 7, i >> 3 & 7, i >> 6};
        for (int a = 0; a < AXES; ++a) {
            bool is_active = p->domain->is_active[a];
            x[i][a] = is_active ? (float)cell[a] + place_offset(place, a) : 0.5f;
        }
    }
    paths_trace(block, TILE_CELLS, x[0]);
}

static void move_velocity(const semi_job* job, tile_ix t, const paths_block* block) {
    float x[TILE_CELLS][AXES];
    for (int a = 0; a < AXES; ++a) {
        if (!job->params->domain->is_active[a]) {
            continue;
        }
        float* to = job->velocity[a] + (size_t)t * TILE_CELLS;
        const semi_params* p = job->params;
        tile_mask inside = tile_mask_inside(p->domain, place_face(a), p->to->coord[t]);
        trace(p, block, place_face(a), x);
        for (int i = 0; i < TILE_CELLS; ++i) {
            if (tile_cell_counts(p->to, i)) {
                to[i] = tile_mask_has(&inside, i) ? paths_component(block, a, x[i]) : 0.0f;
            }
        }
    }
}

static void move_field(const semi_job* job, tile_ix t, const semi_field* f,
                       const float x[TILE_CELLS][AXES]) {
    const semi_params* p = job->params;
    tile_sampler from = tile_sampler_of(p->domain, p->flow->map, f->place, f->from);
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (tile_cell_counts(p->to, i)) {
            f->to[(size_t)t * TILE_CELLS + (size_t)i] = tile_sample(&from, p->to->coord[t], x[i]);
        }
    }
}

static void move_tiles(void* data, int64_t begin, int64_t end) {
    const semi_job* job = data;
    const semi_params* p = job->params;
    paths_block block;
    float x[TILE_CELLS][AXES];
    for (int64_t t = begin; t < end; ++t) {
        tile_ix from = tile_map_find(p->flow->map, p->to->coord[t]);
        if (from == p->flow->map->count) {
            continue;
        }
        paths_gather(&job->back, from, &block);
        move_velocity(job, (tile_ix)t, &block);
        for (int k = 0; k < p->count; ++k) {
            if (k == 0 || p->fields[k].place != p->fields[k - 1].place) {
                trace(p, &block, p->fields[k].place, x);
            }
            move_field(job, (tile_ix)t, &p->fields[k], (const float(*)[AXES])x);
        }
    }
}

void semi_lagrangian(const semi_params* params, float* const velocity[AXES]) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->reach >= 0.0 && params->count >= 0);
    TREACLE_ASSERT(velocity[0] != params->flow->u.at[0]);
    semi_job job = {
        params, velocity, {params->flow, -params->dt, params->reach, TREACLE_ADVECTION_RK2}};
    tile_for(params->to, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, move_tiles, &job);
}
