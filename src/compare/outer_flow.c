// Velocity that is extrapolated goes on as it was at the surface, and so it does diverge: where
// liquid is drawn out or lands beside a wall, what moves into it would lose volume. Around the
// surface a pressure takes that out again, with the velocities of the liquid and of walls held and
// air beyond [G11 sec. 3.6 extrapolates only]:
//
//     d_c = sum of flow out of the cell's faces,   q_c = d_c / (number of its free faces)
//     u_f <- u_f + w (q_above - q_below)                                                  [semi.4]
//
// Jacobi's iteration with a fixed number of passes: cells here are one or two from the air beyond,
// so few are enough, and what is left does not matter much.
//
// differs from [G11]: it is missing there. Staggering: q at cells, u at faces.
//
// Properties that tests check: what is held stays; a uniform flow stays; of the divergence in the
// band little is left.
#include "compare/outer_flow.h"

#include <string.h>

#include "grid/stagger.h"
#include "grid/tile_loop.h"

enum { PASSES = 12 };
static const float relaxation = 0.8f;

typedef struct outer_job {
    const outer_flow* params;
    float* const* face_u;
} outer_job;

static bool is_in_domain(const grid_domain* domain, const int at[AXES]) {
    return at[0] < domain->cells[0] && at[1] < domain->cells[1] && at[2] < domain->cells[2];
}

// q of a cell; 0 where it is not wanted.
static float excess(const outer_job* job, int64_t t, int q) {
    const outer_flow* p = job->params;
    int64_t slot = t * TILE_CELLS + q;
    float sum = 0.0f, free_faces = 0.0f;
    int at[AXES];
    tile_cell_at(p->map, (tile_ix)t, q, at);
    if (!(p->cell_phi[slot] < p->reach) || !is_in_domain(p->domain, at)) {
        return 0.0f;
    }
    for (int a = 0; a < AXES; ++a) {
        if (p->domain->is_active[a]) {
            int64_t above = tile_slot_above(p->map, t, q, a);
            sum += job->face_u[a][above] - job->face_u[a][slot];
            free_faces += p->face_is_held[a][above] ? 0.0f : 1.0f;
            free_faces += p->face_is_held[a][slot] ? 0.0f : 1.0f;
        }
    }
    return free_faces > 0.0f ? sum / free_faces : 0.0f;
}

static void outer_flow_measure_tiles(void* data, int64_t begin, int64_t end) {
    const outer_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int q = (int)(i % TILE_CELLS);
        bool counts = tile_cell_counts(job->params->map, q);
        job->params->cell_room[i] = counts ? excess(job, i / TILE_CELLS, q) : 0.0f;
    }
}

static void push_tiles(void* data, int64_t begin, int64_t end) {
    const outer_job* job = data;
    const outer_flow* p = job->params;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int64_t t = i / TILE_CELLS;
        int q = (int)(i % TILE_CELLS);
        for (int a = 0; a < AXES; ++a) {
            if (p->domain->is_active[a] && !p->face_is_held[a][i]) {
                int64_t below = tile_slot_below(p->map, t, q, a);
                job->face_u[a][i] += relaxation * (p->cell_room[i] - p->cell_room[below]);
            }
        }
    }
}

void outer_flow_project(const outer_flow* params, float* const face_u[AXES]) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->cell_room != NULL &&
                   params->cell_room != params->cell_phi);
    TREACLE_ASSERT(params->reach >= 0.0f);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    outer_job job = {params, face_u};
    memset(params->cell_room + (size_t)params->map->count * TILE_CELLS, 0,
           TILE_CELLS * sizeof(float));
    for (int i = 0; i < PASSES; ++i) {
        tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4},
                 outer_flow_measure_tiles, &job);
        tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, push_tiles,
                 &job); // [semi.4]
    }
}
