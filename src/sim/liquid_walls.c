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
                          .face_rho = face_view_of(w->face_rho),
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

// --- the unified flow ---------------------------------------------------------------------------

// A change of fewer walls than this share waits for the next step.
static const double share_that_waits = 0.01;
// Of pressures and speeds; the solve is no more exact.
static const double wall_tolerance = 1e-3;
enum { UNIFIED_PASSES = 3 };

void liquid_measure_walls(liquid_work* w, const stress_params* liquid, const double* cell_x) {
    double h = w->setup->domain->h;
    wall_flow flow = {.cell_share = liquid->cell_share,
                      .cell_log_mu = w->cell_log_mu,
                      .cell_x = cell_x,
                      .face_u = face_view_of(w->state->face_u),
                      .face_share = liquid->face_share,
                      .mu_scale = w->dt / (w->setup->reference_density * h * h)};
    separation_measure(&w->walls, &flow);
}

static double least_of(const liquid_work* w, const double* cell_x) {
    double largest = 0.0;
    for (int64_t i = 0; i < w->walls.count; ++i) {
        const wall* at = &w->walls.at[i];
        largest = fmax(largest, fmax(fabs(cell_x[at->cell]), fabs(at->u_before)));
    }
    return wall_tolerance * largest;
}

static void copy_faces(const liquid_work* w, float* const from[AXES], float* const to[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        memcpy(to[a], from[a], w->values * sizeof(float));
    }
}

treacle_status liquid_unify_at_walls(liquid_work* w, double* cell_x,
                                     treacle_status (*solve)(liquid_work*, double*)) {
    if (w->walls.count == 0) {
        return solve(w, cell_x);
    }
    int mark = arena_mark(w->scratch);
    float* before[AXES];
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity before the flow",
                               (void**)&before[a]));
    }
    copy_faces(w, w->state->face_u.at, before);
    separation_load(&w->walls, before);
    for (int pass = 1;; ++pass) {
        copy_faces(w, before, w->state->face_u.at);
        separation_hold(&w->walls, w->state->face_u.at);
        wall_set_open(&w->walls, true, w->solid.face_open.at);
        TREACLE_TRY(solve(w, cell_x));
        wall_set_open(&w->walls, false, w->solid.face_open.at);
        int64_t moved = separation_review(&w->walls, least_of(w, cell_x));
        if (pass == UNIFIED_PASSES || (double)moved <= share_that_waits * (double)w->walls.count) {
            separation_settle(&w->walls);
            arena_give_to(w->scratch, mark);
            return TREACLE_OK;
        }
    }
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
