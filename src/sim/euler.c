// The stages of a step of liquid that moves on the grid; see the header for their order.
#include "sim/euler.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "grid/extrapolate.h"
#include "grid/fraction.h"
#include "grid/tile_sample.h"
#include "phys/grid_strain.h"
#include "phys/rheology.h"
#include "phys/semi_lagrangian.h"
#include "phys/upwind.h"
#include "step/build_tiles.h"
#include "step/find_surface.h"
#include "step/forces.h"
#include "step/law_viscosity.h"

// --- what is carried -----------------------------------------------------------------------------

uint32_t euler_fields(const liquid_setup* setup) {
    bool melts = setup->heat.is_on && setup->heat.latent_unit > 0.0;
    bool has_heat = setup->heat.is_on || setup->heat.has_law || setup->has.buoyancy;
    uint32_t strain = ((1u << STRAIN_PARTS) - 1u) << CARRIED_STRAIN;
    return (has_heat ? 1u << CARRIED_TEMPERATURE : 0u) | (melts ? 1u << CARRIED_MELTED : 0u) |
           (setup->has.elastic ? strain : 0u);
}

grid_place euler_place_of(int carried) {
    return carried < CARRIED_STRAIN ? PLACE_CELL : tensor_place(carried - CARRIED_STRAIN);
}

tensor_field euler_strain(const liquid_state* state) {
    tensor_field out;
    for (int a = 0; a < AXES; ++a) {
        out.cell[a] = state->carried[CARRIED_STRAIN + a];
        out.edge[a] = state->carried[CARRIED_STRAIN + AXES + a];
    }
    return out;
}

static treacle_status take(step_work* w, const char* name, float** out) {
    return step_take_zero(&w->f, &w->state->map, name, out);
}

static face_velocity flow_of(const step_work* w, const liquid_state* state) {
    return (face_velocity){.map = &state->map,
                           .has_viscosity = liquid_is_viscous(w->f.setup),
                           .has_gaps = true,
                           .domain = w->f.setup->domain,
                           .u = state->face_u};
}

static double reach_of(const step_work* w) {
    return liquid_state_fastest(w->before) * w->f.dt / w->f.setup->domain->h;
}

// --- the surface ---------------------------------------------------------------------------------

treacle_status euler_track(step_work* w) {
    euler_work* e = w->euler;
    double reach = reach_of(w);
    if (w->f.is_first) {
        return level_set_copy(&e->level, e->before, e->surface);
    }
    if (!(reach <= LIQUID_REACH_MAX)) {
        return check_fail(w->f.ctx, TREACLE_ERR_DIVERGED, "liquid would cross %g cells in a step",
                          reach);
    }
    face_velocity flow = flow_of(w, w->before);
    flow.keeps_flux = true;
    level_set_motion motion = {&flow, w->f.dt, reach, e->is_reseeded};
    return level_set_advance(&e->level, &motion, e->before, e->surface);
}

typedef struct placed_shape {
    const shape* what;
    vec3 offset; // m
    double cell; // m, of the lattice
} placed_shape;

static float distance_to(const void* data, vec3 x) {
    const placed_shape* s = data;
    return (float)(shape_distance(s->what, vec3_sub(x, s->offset)) / s->cell);
}

static treacle_status combine(step_work* w, const placed_shape* s, bool is_taken) {
    euler_work* e = w->euler;
    box3 bounds = shape_bounds(s->what);
    level_set_part part = {
        .distance = distance_to,
        .data = s,
        .bounds = {vec3_add(bounds.low, s->offset), vec3_add(bounds.high, s->offset)},
        .is_taken = is_taken};
    return level_set_combine(&e->level, &part, e->surface);
}

// Running emitters are full of liquid, sinks that work are empty.
static treacle_status fill_and_drain(step_work* w, bool* has_changed) {
    euler_work* e = w->euler;
    double end = w->f.time + w->f.dt, cell = e->level.lattice->h;
    for (int i = 0; i < w->f.setup->emitter_count && !w->f.is_full; ++i) {
        const emitter* source = &w->f.setup->emitters[i];
        placed_shape s = {source->where, emitter_offset(source, end), cell};
        if (emitter_speed(source, end) > 0.0) {
            TREACLE_TRY(combine(w, &s, false));
            *has_changed = true;
        }
    }
    for (int i = 0; i < e->sink_count; ++i) {
        const sink* drain = &e->sinks[i];
        placed_shape s = {drain->shape, {{0.0, 0.0, 0.0}}, cell};
        if (end >= drain->start && end <= drain->stop) {
            TREACLE_TRY(combine(w, &s, true));
            *has_changed = true;
        }
    }
    return *has_changed ? level_set_settle(&e->level, e->surface) : TREACLE_OK;
}

treacle_status euler_emit(step_work* w) {
    euler_work* e = w->euler;
    bool may_change = w->f.setup->emitter_count + e->sink_count > 0, has_changed = false;
    double before = may_change ? level_set_volume(&e->level, e->surface) : 0.0;
    TREACLE_TRY(fill_and_drain(w, &has_changed));
    *e->due = e->due_before;
    if (has_changed) {
        *e->due += level_set_volume(&e->level, e->surface) - before;
    }
    return TREACLE_OK;
}

// --- tiles ---------------------------------------------------------------------------------------

// The box of the grid's cells that the liquid in a tile of the lattice touches; false if none.
static bool wet_box(const level_set* set, tile_ix t, int low[AXES], int high[AXES]) {
    bool is_any = false;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at[AXES];
        if (set->phi[(size_t)t * TILE_CELLS + (size_t)i] >= 0.0f ||
            !tile_cell_counts(&set->map, i)) {
            continue;
        }
        tile_cell_at(&set->map, t, i, at);
        for (int a = 0; a < AXES; ++a) {
            int below = set->map.is_flat[a] ? 0 : (at[a] + 1) / 2 - 1;
            int above = set->map.is_flat[a] ? 0 : at[a] / 2;
            low[a] = is_any && low[a] < below ? low[a] : below;
            high[a] = is_any && high[a] > above ? high[a] : above;
        }
        is_any = true;
    }
    return is_any;
}

static int floor_tile(int cell) {
    return (cell + 16 * TILE_SIZE) / TILE_SIZE - 16;
}

// Tiles with a cell within `band` of a box.
static int64_t add_tiles(const grid_domain* domain, const int low[AXES], const int high[AXES],
                         int band, tile_coord* out) {
    int from[AXES], to[AXES];
    int64_t count = 0;
    for (int a = 0; a < AXES; ++a) {
        int more = domain->is_active[a] ? band : 0;
        from[a] = floor_tile(low[a] - more);
        to[a] = floor_tile(high[a] + more);
    }
    for (int z = from[2]; z <= to[2]; ++z) {
        for (int y = from[1]; y <= to[1]; ++y) {
            for (int x = from[0]; x <= to[0]; ++x) {
                tile_coord at = {{x, y, z}};
                if (tile_coord_wrap(domain, &at)) {
                    out[count++] = at;
                }
            }
        }
    }
    return count;
}

treacle_status euler_build_tiles(step_work* w) {
    enum { AROUND_MAX = 5 * 5 * 5 };
    const level_set* surface = w->euler->surface;
    int band = (int)ceil(w->f.setup->def->step.cfl) + LIQUID_KERNEL_RADIUS + 1;
    tile_coord* tiles = NULL;
    int64_t count = 0;
    TREACLE_TRY(arena_take(w->f.scratch, (size_t)surface->map.count * AROUND_MAX, sizeof(*tiles),
                           "tiles", (void**)&tiles));
    for (tile_ix t = 0; t < surface->map.count; ++t) {
        int low[AXES], high[AXES];
        if (wet_box(surface, t, low, high)) {
            count += add_tiles(w->f.setup->domain, low, high, band, tiles + count);
        }
    }
    treacle_status status =
        tile_map_create(w->f.ctx, w->f.setup->domain, count, tiles, &w->state->map);
    arena_give(w->f.scratch, tiles);
    TREACLE_TRY(status);
    TREACLE_TRY(build_tiles_fields(&w->f, w->before, w->state, &w->made.history));
    return liquid_state_carry(w->state, euler_fields(w->f.setup));
}

// --- fields that come along ----------------------------------------------------------------------

// Temperature by differences against the flow, on the old tiles, then copied to the new ones.
static treacle_status convect_upwind(step_work* w, const float* from, float* to) {
    const tile_map* map = &w->before->map;
    face_velocity flow = flow_of(w, w->before);
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

static treacle_status move_fields(step_work* w) {
    semi_field fields[CARRIED_COUNT];
    face_velocity flow = flow_of(w, w->before);
    semi_params params = {.domain = w->f.setup->domain,
                          .flow = &flow,
                          .to = &w->state->map,
                          .dt = w->f.dt,
                          .reach = reach_of(w),
                          .fields = fields};
    bool is_upwind = w->f.setup->def->heat.convection == TREACLE_CONVECTION_UPWIND;
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        const float* from = w->before->carried[f];
        float* to = w->state->carried[f];
        if (from == NULL || to == NULL) {
            continue;
        }
        if (f < CARRIED_STRAIN && is_upwind) {
            TREACLE_TRY(convect_upwind(w, from, to));
        } else {
            fields[params.count++] = (semi_field){euler_place_of(f), from, to};
        }
    }
    semi_lagrangian(&params, w->state->face_u.at);
    return TREACLE_OK;
}

// At the start fields are what liquids begin with, on the same tiles.
static treacle_status keep_fields(step_work* w) {
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
    const step_work* w;
    const emitter* source;
    vec3 offset;
} fresh_job;

static void refresh_tiles(void* data, int64_t begin, int64_t end) {
    const fresh_job* job = data;
    const liquid_state* state = job->w->state;
    const grid_domain* domain = job->w->f.setup->domain;
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
                const heat_curve* curve = &job->w->f.setup->heat.curve[0];
                value = (float)heat_curve_melted(curve, (double)job->source->temperature, 0.0);
            }
            if (state->carried[f] != NULL) {
                state->carried[f][i] = value;
            }
        }
    }
}

static void refresh(step_work* w) {
    double end = w->f.time + w->f.dt;
    for (int i = 0; i < w->f.setup->emitter_count; ++i) {
        fresh_job job = {w, &w->f.setup->emitters[i],
                         emitter_offset(&w->f.setup->emitters[i], end)};
        if (emitter_speed(job.source, end) > 0.0) {
            parallel_for(w->f.ctx, w->state->map.count, 4, refresh_tiles, &job);
        }
    }
}

typedef struct describe_job {
    const step_work* w;
    double base, portion; // of the viscosity
} describe_job;

static void describe_tiles(void* data, int64_t begin, int64_t end) {
    const describe_job* job = data;
    const step_work* w = job->w;
    const treacle_material_def* m = &w->f.setup->materials[0];
    const float* temperature = w->state->carried[CARRIED_TEMPERATURE];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!euler_is_in_domain(w, at)) {
            w->made.given.volume[i] =
                0.0f; // beyond the sides the surface goes on, but nothing is there
        }
        w->made.given.density[i] = 1.0f;
        for (int a = 0; a < AXES; ++a) {
            w->made.given.face_mass.at[a][i] = 1.0f;
        }
        if (w->made.material.base != NULL) {
            w->made.material.base[i] = (float)job->base;
        }
        if (w->made.material.portion != NULL && w->made.material.portion[0] != NULL) {
            w->made.material.portion[0][i] = (float)job->portion;
        }
        if (w->made.given.buoyancy != NULL) {
            double above = (double)temperature[i] - m->reference_temperature;
            w->made.given.buoyancy[i] = (float)(m->expansion * above);
        }
    }
}

// As step/material_grid.c has it for particles of one material.
static treacle_status describe_viscosity(step_work* w, describe_job* job) {
    const liquid_setup* setup = w->f.setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    bool is_geometric = mean == TREACLE_VISCOSITY_GEOMETRIC;
    bool has_rate = rheology_is_needed(&setup->materials[0]);
    bool is_later = has_rate || setup->heat.law[0].def.kind != TREACLE_LAW_NONE;
    double mu = fmax(setup->materials[0].viscosity, VISCOSITY_LEAST);
    job->base = is_later       ? 0.0
                : is_geometric ? (double)setup->log_mu[0]
                               : rheology_to_mean(mean, mu);
    job->portion = 1.0;
    TREACLE_TRY(take(w, "viscosity at cells", &w->made.material.log_mu));
    TREACLE_TRY(take(w, "viscosity at cells", &w->made.material.base));
    TREACLE_TRY(arena_take_zero(w->f.scratch, 1, sizeof(*w->made.material.portion),
                                "portions of materials", (void**)&w->made.material.portion));
    return has_rate ? take(w, "viscosity at cells", &w->made.material.portion[0]) : TREACLE_OK;
}

treacle_status euler_carry(step_work* w) {
    describe_job job = {.w = w};
    TREACLE_TRY(w->f.is_first ? keep_fields(w) : move_fields(w));
    refresh(w);
    level_set_to_cells(&w->euler->level, w->euler->surface, &w->state->map, w->state->cell_phi);
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take(w, "masses on faces", &w->made.given.face_mass.at[a]));
    }
    TREACLE_TRY(take(w, "densities at cells", &w->made.given.density));
    TREACLE_TRY(take(w, "volumes at cells", &w->made.given.volume));
    if (w->f.setup->has.buoyancy) {
        TREACLE_TRY(take(w, "buoyancy at cells", &w->made.given.buoyancy));
    }
    if (liquid_is_viscous(w->f.setup)) {
        TREACLE_TRY(describe_viscosity(w, &job));
    }
    fraction_params params = {w->f.setup->domain, &w->state->map, w->state->cell_phi};
    fraction_compute(&params, &(fraction_fields){.cell = w->made.given.volume});
    parallel_for(w->f.ctx, w->state->map.count, 8, describe_tiles, &job);
    bool comes_later = liquid_has_heat(w->f.setup) && !w->f.is_first;
    return comes_later
               ? TREACLE_OK
               : law_viscosity_add(&w->f, w->state, w->p, &w->made.given, &w->made.material);
}

// --- geometry ------------------------------------------------------------------------------------

treacle_status euler_geometry(step_work* w) {
    step_products* m = &w->made;
    TREACLE_TRY(step_solids(w));
    if (w->f.setup->def->fill == TREACLE_FILL_ALL) {
        find_surface_nowhere(w->state);
    } else {
        TREACLE_TRY(euler_surface(w));
    }
    m->wet.surface = euler_surface_of(w);
    TREACLE_TRY(find_surface_volume(&w->f, w->state, &m->solid, NULL));
    return step_faces(w);
}

treacle_status euler_extrapolate(step_work* w) {
    return step_extrapolate(w, face_view_of(w->euler->face_give));
}

// --- forces --------------------------------------------------------------------------------------

static grid_strain_params strain_of(const step_work* w) {
    return (grid_strain_params){.domain = w->f.setup->domain,
                                .map = &w->state->map,
                                .law = &w->f.setup->strain_laws[0],
                                .density = w->f.setup->materials[0].density,
                                .dt = w->f.dt};
}

treacle_status euler_push(step_work* w) {
    TREACLE_TRY(forces_push(&w->f, &w->made.given, w->bodies, w->state, &w->made.account));
    if (w->f.setup->has.elastic) {
        grid_strain_params params = strain_of(w);
        tensor_field strain = euler_strain(w->state);
        grid_strain_push(&params, &strain, w->state->face_u.at);
    }
    return euler_close_gaps(w);
}

// --- after the flow ------------------------------------------------------------------------------

// Before velocity is extrapolated: solids still have their own.
treacle_status euler_strain_step(step_work* w) {
    if (!w->f.setup->has.elastic || w->f.is_first) {
        return TREACLE_OK;
    }
    tensor_field strain = euler_strain(w->state), before;
    flow_elastic* e = &w->made.elastic;
    int mark = arena_mark(w->f.scratch);
    for (int a = 0; a < AXES; ++a) {
        float** const rooms[] = {&before.cell[a], &before.edge[a], &e->stretch.cell[a],
                                 &e->stretch.edge[a], &e->spin[a]};
        for (size_t k = 0; k < sizeof(rooms) / sizeof(rooms[0]); ++k) {
            TREACLE_TRY(take(w, "strain", rooms[k]));
        }
        memcpy(before.cell[a], strain.cell[a], tile_map_values(&w->state->map) * sizeof(float));
        memcpy(before.edge[a], strain.edge[a], tile_map_values(&w->state->map) * sizeof(float));
    }
    run_flow_inputs takes = step_flow_inputs(w);
    run_flow_outputs makes = step_flow_outputs(w);
    TREACLE_TRY(run_flow_stretch(&takes, &makes));
    grid_strain_params params = strain_of(w);
    grid_strain_motion motion = {&e->stretch, e->spin};
    grid_strain_advance(&params, &motion, &before, &strain);
    grid_strain_walls(&params, &strain);
    w->made.elastic = (flow_elastic){0};
    arena_give_to(w->f.scratch, mark);
    return TREACLE_OK;
}
