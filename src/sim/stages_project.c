// The pressure stage alone; see treacle/unstable/stages.h.
#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "sim/stages_liquid.h"
#include "step/forces.h"
#include "treacle/unstable/stages.h"

typedef struct place_job {
    const step_work* w;
    const shape* liquid; // NULL: everywhere
} place_job;

static void place_tiles(void* data, int64_t begin, int64_t end) {
    const place_job* job = data;
    const grid_domain* domain = job->w->f.setup->domain;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        vec3 x;
        tile_cell_at(&job->w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            x.at[a] = domain->origin[a] + domain->h * (at[a] + 0.5);
        }
        double phi = job->liquid == NULL ? -INFINITY : shape_distance(job->liquid, x) / domain->h;
        job->w->state->cell_phi[i] =
            fminf(fmaxf((float)phi, -LIQUID_DISTANCE_MAX), LIQUID_DISTANCE_MAX);
    }
}

static treacle_status place_liquid(step_work* w, const treacle_shape* def) {
    place_job job = {.w = w};
    shape* liquid = NULL;
    if (def != NULL) {
        TREACLE_TRY(shape_create(w->f.ctx, def, &liquid));
    }
    job.liquid = liquid;
    tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, place_tiles, &job);
    shape_destroy(liquid);
    return TREACLE_OK;
}

// The fastest face that is open and touches liquid.
static double fastest(const step_work* w) {
    const tile_map* map = &w->state->map;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    float phi[BLOCK_VALUES(1, 0)], most = 0.0f;
    for (int64_t i = 0; i < (int64_t)map->count * TILE_CELLS; ++i) {
        int cell = (int)(i % TILE_CELLS);
        if (cell == 0) {
            gather_block(map, w->state->cell_phi, (tile_ix)(i / TILE_CELLS), 1, 0, phi);
        }
        int at = BLOCK_INDEX(1, 0, cell % TILE_SIZE, cell / TILE_SIZE % TILE_SIZE,
                             cell / TILE_SIZE / TILE_SIZE);
        for (int a = 0; a < AXES; ++a) {
            bool is_wet = phi[at] < 0.0f || phi[at - steps[a]] < 0.0f;
            bool is_open =
                w->made.solid.face_open.at[a][i] > 0.0f && w->f.setup->domain->is_active[a];
            most = is_wet && is_open ? fmaxf(most, fabsf(w->state->face_u.at[a][i])) : most;
        }
    }
    return (double)most;
}

// Bodies take part with their motion at the simulation's time.
static void show_bodies(const step_work* w, double* out) {
    for (int i = 0; out != NULL && i < w->f.setup->bodies.count; ++i) {
        memcpy(out + 6 * i, w->bodies[i].velocity, 3 * sizeof(double));
        memcpy(out + 6 * i + 3, w->bodies[i].spin, 3 * sizeof(double));
    }
}

static treacle_status project(treacle_sim* sim, step_work* w, treacle_stages_projection* flow) {
    curve_eval(&sim->gravity, sim->now.time, w->f.gravity.mean);
    w->f.dt = flow->dt;
    w->f.is_first = w->f.setup->bodies.count == 0;
    TREACLE_TRY(step_to_grid(w));
    TREACLE_TRY(step_geometry(w));
    TREACLE_TRY(place_liquid(w, flow->liquid));
    TREACLE_TRY(stages_sample_faces(w, &flow->velocity, sim->now.time));
    TREACLE_TRY(forces_push(&w->f, &w->made.given, w->bodies, w->state, &w->made.account));
    TREACLE_TRY(step_flow(w));
    flow->solve = w->f.stats->pressure;
    show_bodies(w, flow->bodies);
    flow->max_speed = fastest(w);
    for (int a = 0; a < AXES; ++a) {
        if (flow->after[a] != NULL) {
            stages_spread(w, w->state->face_u.at[a], flow->after[a]);
        }
        if (flow->open[a] != NULL) {
            stages_spread(w, w->made.solid.face_open.at[a], flow->open[a]);
        }
    }
    if (flow->pressure != NULL) {
        stages_spread(w, w->state->cell_pressure, flow->pressure);
    }
    return TREACLE_OK;
}

treacle_status treacle_stages_project(treacle_sim* sim, treacle_stages_projection* flow) {
    TREACLE_TRY(stages_check_flow(sim));
    step_work w;
    treacle_step_stats stats = {0};
    treacle_status status = stages_work_begin(sim, &stats, &w);
    if (status == TREACLE_OK) {
        status = project(sim, &w, flow);
    }
    return stages_work_end(sim, &w, status);
}
