// Walls that the liquid may let go of: between the state and the law.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/liquid.h"

treacle_status liquid_find_walls(liquid_work* w) {
    if (w->state->cell_wall == NULL) {
        return TREACLE_OK;
    }
    const grid_domain* domain = w->setup->domain;
    wall_params params = {.domain = domain,
                          .map = &w->state->map,
                          .cell_phi = w->state->cell_phi,
                          .face_rho = face_view_of(w->material.face_rho),
                          .face_open = face_view_of(w->solid.face_open),
                          .solids = {.solids = w->setup->solids.solids,
                                     .cell_phi = w->solid.phi,
                                     .cell_id = w->solid.id,
                                     .cell_open = w->solid.open,
                                     .face_u = face_view_of(w->solid.face_u)},
                          .cell_wall = w->state->cell_wall,
                          .is_first = w->is_first,
                          .has_shallow = w->setup->def->flow == TREACLE_FLOW_UNIFIED,
                          .pressure_unit = w->setup->reference_density * domain->h / w->dt};
    return wall_set_create(&params, &w->walls);
}

void liquid_keep_walls(liquid_work* w) {
    if (w->walls.ctx == NULL) {
        return;
    }
    wall_set_keep(&w->walls, &w->state->map, w->state->cell_wall);
    w->stats->walls_released = wall_set_released(&w->walls);
    w->stats->walls_held = w->walls.count - w->stats->walls_released;
}

typedef struct hold_job {
    const liquid_work* w;
    int axis;
} hold_job;

// Faces on the sides get no velocity out of the domain, wherever theirs comes from.
static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const hold_job* job = data;
    const grid_domain* domain = job->w->setup->domain;
    const tile_map* map = &job->w->state->map;
    for (int64_t t = begin; t < end; ++t) {
        float* u = job->w->state->face_u.at[job->axis] + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(map, (tile_ix)t, i, at);
            bool is_low = at[job->axis] == 0 && domain->separation[job->axis][0].is_on;
            bool is_high =
                at[job->axis] == domain->cells[job->axis] && domain->separation[job->axis][1].is_on;
            u[i] = (is_low && u[i] < 0.0f) || (is_high && u[i] > 0.0f) ? 0.0f : u[i];
        }
    }
}

void liquid_hold_walls(liquid_work* w) {
    for (int a = 0; a < AXES && w->state->cell_wall != NULL; ++a) {
        hold_job job = {w, a};
        parallel_for(w->ctx, w->state->map.count, 8, hold_tiles, &job);
    }
}
