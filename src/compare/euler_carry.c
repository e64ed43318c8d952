#include "compare/euler_carry.h"

#include <math.h>
#include <string.h>

#include "compare/semi_lagrangian.h"
#include "compare/upwind.h"
#include "grid/fraction.h"
#include "grid/tile_loop.h"
#include "phys/rheology.h"
#include "step/law_viscosity.h"

static treacle_status euler_carry_take(euler_work* e, const char* name, float** out) {
    step_work* w = e->w;
    return step_take_zero(&w->f, &w->state->map, name, out);
}

// Temperature by differences against the flow, on the old tiles, then copied to the new ones.
static treacle_status convect_upwind(euler_work* e, const float* from, float* to) {
    step_work* w = e->w;
    const tile_map* map = &w->before->map;
    face_velocity flow = euler_flow_of(e, w->before);
    size_t values = ((size_t)map->count + 1) * TILE_CELLS;
    int steps = upwind_substeps(&flow, w->f.dt), mark = arena_mark(w->f.scratch);
    float* room[2];
    for (int i = 0; i < 2; ++i) {
        TREACLE_TRY(
            arena_take_zero(w->f.scratch, values, sizeof(float), "convection", (void**)&room[i]));
    }
    memcpy(room[0], from, values * sizeof(float));
    for (int i = 0; i < steps; ++i) {
        upwind_step(&flow, w->f.dt / steps, room[i % 2], room[(i + 1) % 2]);
    }
    for (tile_ix t = 0; t < w->state->map.count; ++t) {
        tile_ix at = tile_map_find(map, w->state->map.coord[t]);
        if (at < map->count) {
            memcpy(to + (size_t)t * TILE_CELLS, room[steps % 2] + (size_t)at * TILE_CELLS,
                   TILE_CELLS * sizeof(float));
        }
    }
    arena_give_to(w->f.scratch, mark);
    return TREACLE_OK;
}

static treacle_status move_fields(euler_work* e) {
    step_work* w = e->w;
    semi_field fields[CARRIED_COUNT];
    face_velocity flow = euler_flow_of(e, w->before);
    semi_params params = {.domain = w->f.setup->domain,
                          .flow = &flow,
                          .to = &w->state->map,
                          .dt = w->f.dt,
                          .reach = euler_reach(e),
                          .fields = fields};
    bool is_upwind = w->f.setup->def->heat.convection == TREACLE_CONVECTION_UPWIND;
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        const float* from = w->before->carried[f];
        float* to = w->state->carried[f];
        if (from == NULL || to == NULL) {
            continue;
        }
        if (f < CARRIED_STRAIN && is_upwind) {
            TREACLE_TRY(convect_upwind(e, from, to));
        } else {
            fields[params.count++] = (semi_field){euler_place_of(f), from, to};
        }
    }
    semi_lagrangian(&params, w->state->face_u.at);
    return TREACLE_OK;
}

// At the start fields are what liquids begin with, on the same tiles.
static treacle_status keep_fields(euler_work* e) {
    step_work* w = e->w;
    size_t bytes = tile_map_values(&w->state->map) * sizeof(float);
    TREACLE_ASSERT(w->before->map.count == w->state->map.count);
    for (int a = 0; a < AXES; ++a) {
        memcpy(w->state->face_u.at[a], w->before->face_u.at[a], bytes);
    }
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        if (w->state->carried[f] != NULL) {
            memcpy(w->state->carried[f], w->before->carried[f], bytes);
        }
    }
    return TREACLE_OK;
}

// What comes out of emitters has their temperature and no strain.
typedef struct fresh_job {
    const euler_work* e;
    const emitter* source;
    vec3 offset;
} fresh_job;

static void refresh_tiles(void* data, int64_t begin, int64_t end) {
    const fresh_job* job = data;
    const liquid_state* state = job->e->w->state;
    const grid_domain* domain = job->e->w->f.setup->domain;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        vec3 x;
        tile_cell_at(&state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            x.at[a] = domain->origin[a] + domain->h * (at[a] + 0.5) - job->offset.at[a];
        }
        if (shape_distance(job->source->where, x) > 0.5 * domain->h) {
            continue;
        }
        for (int f = 0; f < CARRIED_COUNT; ++f) {
            float value = f == CARRIED_TEMPERATURE ? job->source->temperature : 0.0f;
            if (f == CARRIED_MELTED) {
                const heat_curve* curve = &job->e->w->f.setup->heat.curve[0];
                value = (float)heat_curve_melted(curve, (double)job->source->temperature, 0.0);
            }
            if (state->carried[f] != NULL) {
                state->carried[f][i] = value;
            }
        }
    }
}

static void refresh(euler_work* e) {
    step_work* w = e->w;
    double end = w->f.time + w->f.dt;
    for (int i = 0; i < w->f.setup->emitter_count; ++i) {
        fresh_job job = {e, &w->f.setup->emitters[i],
                         emitter_offset(&w->f.setup->emitters[i], end)};
        if (emitter_speed(job.source, end) > 0.0) {
            tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, refresh_tiles,
                     &job);
        }
    }
}

typedef struct describe_job {
    const euler_work* e;
    double newtonian, shear_part; // of the viscosity
} describe_job;

static void describe_tiles(void* data, int64_t begin, int64_t end) {
    const describe_job* job = data;
    const step_work* w = job->e->w;
    const treacle_material_def* m = &w->f.setup->materials[0];
    const float* temperature = w->state->carried[CARRIED_TEMPERATURE];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!euler_is_in_domain(job->e, at)) {
            w->made.given.volume[i] =
                0.0f; // beyond the sides the surface goes on, but nothing is there
        }
        w->made.given.density[i] = 1.0f;
        for (int a = 0; a < AXES; ++a) {
            w->made.given.face_mass.at[a][i] = 1.0f;
        }
        if (w->made.material.newtonian != NULL) {
            w->made.material.newtonian[i] = (float)job->newtonian;
        }
        if (w->made.material.shear_part != NULL && w->made.material.shear_part[0] != NULL) {
            w->made.material.shear_part[0][i] = (float)job->shear_part;
        }
        if (w->made.given.buoyancy != NULL) {
            double above = (double)temperature[i] - m->reference_temperature;
            w->made.given.buoyancy[i] = (float)(m->expansion * above);
        }
    }
}

// As step/material_grid.c has it for particles of one material.
static treacle_status describe_viscosity(euler_work* e, describe_job* job) {
    step_work* w = e->w;
    const liquid_setup* setup = w->f.setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    bool is_geometric = mean == TREACLE_VISCOSITY_GEOMETRIC;
    bool has_rate = rheology_is_needed(&setup->materials[0]);
    bool is_later = has_rate || setup->heat.law[0].def.kind != TREACLE_LAW_NONE;
    double mu = fmax(setup->materials[0].viscosity, VISCOSITY_LEAST);
    job->newtonian = is_later       ? 0.0
                     : is_geometric ? (double)setup->log_mu[0]
                                    : rheology_to_mean(mean, mu);
    job->shear_part = 1.0;
    TREACLE_TRY(euler_carry_take(e, "viscosity at cells", &w->made.material.log_mu));
    TREACLE_TRY(euler_carry_take(e, "viscosity at cells", &w->made.material.newtonian));
    TREACLE_TRY(arena_take_zero(w->f.scratch, 1, sizeof(*w->made.material.shear_part),
                                "portions of materials", (void**)&w->made.material.shear_part));
    return has_rate ? euler_carry_take(e, "viscosity at cells", &w->made.material.shear_part[0])
                    : TREACLE_OK;
}

treacle_status euler_carry(euler_work* e) {
    TREACLE_ASSERT(e->w->state->map.ctx != NULL && e->w->state->cell_phi != NULL);
    TREACLE_ASSERT(e->surface != e->before);
    step_work* w = e->w;
    describe_job job = {.e = e};
    TREACLE_TRY(w->f.is_first ? keep_fields(e) : move_fields(e));
    refresh(e);
    level_set_to_cells(&e->level, e->surface, &w->state->map, w->state->cell_phi);
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(euler_carry_take(e, "masses on faces", &w->made.given.face_mass.at[a]));
    }
    TREACLE_TRY(euler_carry_take(e, "densities at cells", &w->made.given.density));
    TREACLE_TRY(euler_carry_take(e, "volumes at cells", &w->made.given.volume));
    if (w->f.setup->has.buoyancy) {
        TREACLE_TRY(euler_carry_take(e, "buoyancy at cells", &w->made.given.buoyancy));
    }
    if (liquid_is_viscous(w->f.setup)) {
        TREACLE_TRY(describe_viscosity(e, &job));
    }
    fraction_params params = {w->f.setup->domain, &w->state->map, w->state->cell_phi};
    fraction_compute(&params, &(fraction_fields){.cell = w->made.given.volume});
    tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, describe_tiles, &job);
    bool comes_later = liquid_has_heat(w->f.setup) && !w->f.is_first;
    return comes_later
               ? TREACLE_OK
               : law_viscosity_add(&w->f, w->state, w->p, &w->made.given, &w->made.material);
}
