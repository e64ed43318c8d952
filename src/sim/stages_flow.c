// The flow of a step on a liquid that is given on the grid; see treacle/unstable/stages.h.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/elementary.h"
#include "phys/stress.h"
#include "sim/sim_internal.h"
#include "step/move_solids.h"
#include "treacle/unstable/stages.h"

// All tiles that the domain allows.
static treacle_status make_tiles(treacle_sim* sim, liquid_state* out) {
    const grid_domain* domain = &sim->domain;
    int32_t count[AXES];
    size_t total = 1;
    for (int a = 0; a < AXES; ++a) {
        bool has_far = domain->is_active[a] && !domain->is_periodic[a];
        count[a] = has_far ? domain->cells[a] / TILE_SIZE + 1 : domain->tiles[a];
        total *= (size_t)count[a];
    }
    tile_coord* coords = NULL;
    TREACLE_TRY(alloc_array(sim->ctx, total, sizeof(*coords), "tiles", (void**)&coords));
    for (size_t i = 0; i < total; ++i) {
        int32_t n = (int32_t)i;
        coords[i] = (tile_coord){{n % count[0], n / count[0] % count[1], n / count[0] / count[1]}};
    }
    treacle_status status = liquid_state_create(sim->ctx, domain, (int64_t)total, coords, out);
    alloc_free(sim->ctx, coords, total * sizeof(*coords));
    return status;
}

// Where value i of the tiles is in a dense array with `more` places beyond the cells of active
// axes; -1 if it is not there.
static int64_t dense_index(const step_work* w, int64_t i, int more) {
    const grid_domain* domain = w->f.setup->domain;
    int at[AXES];
    int64_t index = 0;
    tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    for (int a = AXES - 1; a >= 0; --a) {
        int side = domain->cells[a] + (domain->is_active[a] ? more : 0);
        if (at[a] >= side) {
            return -1;
        }
        index = index * side + at[a];
    }
    return index;
}

// The cell of the domain that is nearest to value i of the tiles, in a dense array.
static int64_t nearest_index(const step_work* w, int64_t i) {
    const grid_domain* domain = w->f.setup->domain;
    int at[AXES];
    int64_t index = 0;
    tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    for (int a = AXES - 1; a >= 0; --a) {
        int last = domain->cells[a] - 1;
        index = index * domain->cells[a] + (at[a] < last ? at[a] : last);
    }
    return index;
}

static int64_t value_count(const step_work* w) {
    return (int64_t)w->state->map.count * TILE_CELLS;
}

static void load_cells(step_work* w, const treacle_stages_liquid* liquid) {
    double unit = w->f.setup->reference_density * w->f.setup->domain->h; // of the state's pressure
    for (int64_t i = 0; i < value_count(w); ++i) {
        int64_t at = nearest_index(w, i);
        float phi = liquid->distance[at];
        w->state->cell_phi[i] = fmaxf(fminf(phi, LIQUID_DISTANCE_MAX), -LIQUID_DISTANCE_MAX);
        w->made.given.volume[i] = phi < 1.0f ? 1.0f : 0.0f;
        if (w->made.material.log_mu != NULL) {
            double mu = liquid->viscosity == NULL ? w->f.setup->materials[0].viscosity
                                                  : (double)liquid->viscosity[at];
            w->made.material.log_mu[i] = (float)elementary_log(fmax(mu, VISCOSITY_LEAST));
        }
        if (liquid->pressure != NULL) {
            w->state->cell_pressure[i] = (float)((double)liquid->pressure[at] / unit);
        }
    }
}

static void load_faces(step_work* w, const treacle_stages_liquid* liquid) {
    for (int64_t i = 0; i < value_count(w); ++i) {
        int64_t at = dense_index(w, i, 1);
        for (int a = 0; a < AXES && at >= 0; ++a) {
            w->state->face_u.at[a][i] =
                liquid->velocity[a] != NULL ? liquid->velocity[a][at] : 0.0f;
        }
    }
}

static void store(const step_work* w, const treacle_stages_liquid* liquid) {
    double unit = w->f.setup->reference_density * w->f.setup->domain->h;
    for (int64_t i = 0; i < value_count(w); ++i) {
        int64_t face = dense_index(w, i, 1), cell = dense_index(w, i, 0);
        for (int a = 0; a < AXES && face >= 0; ++a) {
            if (liquid->velocity[a] != NULL) {
                liquid->velocity[a][face] = w->state->face_u.at[a][i];
            }
            if (liquid->share[a] != NULL) {
                liquid->share[a][face] = w->made.liquid.fraction.tent.at[a] != NULL
                                             ? w->made.liquid.fraction.tent.at[a][i]
                                             : 0.0f;
            }
        }
        if (cell >= 0 && liquid->pressure != NULL) {
            liquid->pressure[cell] = (float)((double)w->state->cell_pressure[i] * unit);
        }
    }
}

static treacle_status stages_flow_take(step_work* w, const char* what, float** out) {
    return step_take_zero(&w->f, &w->state->map, what, out);
}

static treacle_status run_part(step_work* w, treacle_stages_part part) {
    run_flow_inputs takes = step_flow_inputs(w);
    run_flow_outputs makes = step_flow_outputs(w);
    switch (part) {
    case TREACLE_STAGES_FLOW:
        break;
    case TREACLE_STAGES_PRESSURE:
        return run_flow(&takes, TREACLE_FLOW_PRESSURE, &makes);
    case TREACLE_STAGES_VISCOSITY:
        return run_flow_viscosity(&takes, &makes);
    }
    return run_flow(&takes, w->f.setup->def->flow, &makes); // faces know their velocity already
}

static treacle_status flow(treacle_sim* sim, const treacle_stages_liquid* liquid, step_work* w) {
    TREACLE_TRY(make_tiles(sim, w->state));
    TREACLE_TRY(stages_flow_take(w, "volumes at cells", &w->made.given.volume));
    if (liquid_is_viscous(w->f.setup)) {
        TREACLE_TRY(stages_flow_take(w, "viscosity at cells", &w->made.material.log_mu));
    }
    load_cells(w, liquid);
    load_faces(w, liquid);
    TREACLE_TRY(move_solids(&w->f, w->before, w->bodies, &w->made.poses));
    TREACLE_TRY(step_solids(w));
    TREACLE_TRY(run_part(w, liquid->part));
    store(w, liquid);
    return TREACLE_OK;
}

treacle_status treacle_stages_flow(treacle_sim* sim, const treacle_stages_liquid* liquid,
                                   treacle_step_stats* out) {
    *out = (treacle_step_stats){.dt = liquid->dt};
    bool is_usable = sim->def.flow != TREACLE_FLOW_NONE && sim->material_count > 0 &&
                     liquid->dt > 0.0 && isfinite(liquid->dt);
    if (!is_usable) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "a flow of %g s: expected more than 0 s, a material, and a flow other "
                          "than none",
                          liquid->dt);
    }
    liquid_state_destroy(&sim->next.liquid);
    liquid_state none = {0};
    step_work w = {.f = {.ctx = sim->ctx,
                         .setup = &sim->setup,
                         .scratch = &sim->scratch,
                         .time = sim->now.time,
                         .dt = liquid->dt,
                         .stats = out,
                         .gravity = {.mean = {liquid->push / liquid->dt}}},
                   .p = &sim->now.particles,
                   .before = &none,
                   .state = &sim->next.liquid};
    treacle_status status = flow(sim, liquid, &w);
    step_work_finish(&w);
    liquid_state_destroy(&sim->next.liquid);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}
