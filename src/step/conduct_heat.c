#include "step/conduct_heat.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "math/elementary.h"
#include "phys/even_out.h"
#include "phys/g2p.h"
#include "phys/heat_exchange.h"
#include "step/heat_grid.h"

// Lines of cells serve where heat goes no farther than about a cell in a step.
#define LOD_DIFFUSION_MAX 1.0
// Of the implicit solve; what it leaves undone is a little late, not lost.
#define HEAT_TOLERANCE 1e-8
enum { HEAT_ITERATIONS_MAX = 500 };

typedef struct heat_work {
    const heat_place* at;
    const heat_kind* kind;
    heat_grid grid;
    float* gain;    // K, of cells
    double* before; // J, of cells
    heat_cells cells;
    conduction_params params;
} heat_work;

// --- what comes and goes -------------------------------------------------------------------------

static treacle_conduction method_of(const heat_work* hw) {
    treacle_conduction asked = hw->kind->surface.method;
    double h = hw->at->f->setup->domain->h;
    bool is_small = hw->kind->heat->diffusivity * hw->at->f->dt <= LOD_DIFFUSION_MAX * h * h;
    return asked != TREACLE_CONDUCTION_AUTO ? asked
           : is_small                       ? TREACLE_CONDUCTION_LOD
                                            : TREACLE_CONDUCTION_IMPLICIT;
}

static void describe(heat_work* hw) {
    const step_frame* f = hw->at->f;
    const liquid_state* state = hw->at->state;
    const heat_setup* heat = hw->kind->heat;
    const heat_grid* g = &hw->grid;
    hw->params = (conduction_params){
        .domain = f->setup->domain,
        .map = &state->map,
        .capacity = g->capacity,
        .melt = {.latent = g->latent, .melted = g->melted},
        .method = method_of(hw),
        .dt = f->dt,
        .solve = {.relative = HEAT_TOLERANCE, .max_iterations = HEAT_ITERATIONS_MAX},
    };
    for (int i = 0; i < heat->material_count; ++i) {
        if (heat->latent[i] > 0.0f) {
            hw->params.melt.same = heat->curve[i];
        }
    }
    hw->params.melt.same.reference = hw->kind->reference;
    for (int a = 0; a < AXES; ++a) {
        hw->params.conductance[a] = g->conductance[a];
        hw->params.exchange[a] = hw->cells.exchange[a];
        hw->params.outside[a] = hw->cells.outside[a];
    }
    for (int k = 0; k < HEAT_RANGES; ++k) {
        hw->params.melt.range[k] = g->range[k];
    }
    hw->cells.domain = f->setup->domain;
    hw->cells.map = &state->map;
    hw->cells.scratch = f->scratch;
    hw->cells.phi = state->cell_phi;
    hw->cells.wet = g->wet;
    hw->cells.conductivity = g->conductivity;
    hw->cells.temperature = g->temperature;
    hw->cells.conduction = &hw->params;
    hw->cells.dt = f->dt;
}

// The mean over the step.
static double mean_of(const step_frame* f, const treacle_curve* curve) {
    return curve_integral_scalar(curve, f->time, f->time + f->dt) / f->dt;
}

static treacle_status run_source(heat_work* hw, const heat_source* source) {
    const step_frame* f = hw->at->f;
    double end = f->time + f->dt, middle = f->time + 0.5 * f->dt;
    double share = (fmin(end, source->stop) - fmax(f->time, source->start)) / f->dt;
    if (!(share > 0.0)) {
        return TREACLE_OK;
    }
    if (source->power.count == 0) {
        heat_exchange_hold(&hw->cells, source->where, curve_eval_scalar(&source->temperature, end));
        return TREACLE_OK;
    }
    double power = share * mean_of(f, &source->power);
    if (source->is_rate) {
        heat_exchange_rate(&hw->cells, source->where, power);
        return TREACLE_OK;
    }
    if (source->where != NULL) {
        return heat_exchange_power(&hw->cells, source->where, power);
    }
    double place[AXES];
    curve_eval(&source->place, middle, place);
    heat_exchange_radiant(&hw->cells, vec3_from(place), power);
    return TREACLE_OK;
}

static treacle_status touch_solids(heat_work* hw) {
    const step_frame* f = hw->at->f;
    const solid_grid* grid = hw->at->solids;
    heat_touch* touch = NULL;
    int count = hw->kind->heat->solid_count;
    if (count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(
        arena_take(f->scratch, (size_t)count, sizeof(*touch), "touch of solids", (void**)&touch));
    for (int i = 0; i < count; ++i) {
        const heat_wall* from = &hw->kind->heat->solids[i];
        touch[i] = (heat_touch){.is_held = from->temperature.count > 0,
                                .has_flux = from->flux.count > 0,
                                .contact = from->contact};
        if (touch[i].is_held) {
            touch[i].temperature = curve_eval_scalar(&from->temperature, f->time + f->dt);
        } else if (touch[i].has_flux) {
            touch[i].flux = mean_of(f, &from->flux);
        }
    }
    heat_solids solids = {.count = count,
                          .touch = touch,
                          .cell_id = grid->id,
                          .cell_phi = grid->phi,
                          .cell_open = grid->open,
                          .face_open = face_view_of(grid->face_open)};
    heat_exchange_solids(&hw->cells, &solids);
    return TREACLE_OK;
}

static treacle_status exchange(heat_work* hw) {
    const step_frame* f = hw->at->f;
    const heat_setup* heat = hw->kind->heat;
    double end = f->time + f->dt;
    for (int i = 0; i < heat->source_count; ++i) {
        TREACLE_TRY(run_source(hw, &heat->sources[i]));
    }
    for (int i = 0; i < heat->wall_count; ++i) {
        const heat_wall* from = &heat->walls[i];
        heat_side side = {.axis = from->axis, .end = from->end, .contact = from->contact};
        side.is_held = from->temperature.count > 0;
        if (side.is_held) {
            side.temperature = curve_eval_scalar(&from->temperature, end);
        } else {
            side.flux = mean_of(f, &from->flux);
        }
        heat_exchange_side(&hw->cells, &side);
    }
    heat_exchange_air(&hw->cells, &hw->kind->surface);
    return touch_solids(hw);
}

// --- back to the particles -----------------------------------------------------------------------

static void find_gain(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double change = hw->cells.energy[i] - hw->before[i];
        bool is_there = hw->grid.capacity[i] > 0.0f;
        hw->gain[i] = is_there ? (float)(change / (double)hw->grid.capacity[i]) : 0.0f;
    }
}

typedef struct warm_job {
    const heat_setup* heat;
    const particles* p;
    const float* gain; // K, of each row
} warm_job;

static void warm_rows(void* data, int64_t begin, int64_t end) {
    const warm_job* job = data;
    double* enthalpy = particles_f64(job->p, PARTICLE_ENTHALPY);
    float* temperature = particles_f32(job->p, PARTICLE_TEMPERATURE);
    float* melted = particles_f32(job->p, PARTICLE_MELTED);
    float* strain = particles_f32(job->p, PARTICLE_STRAIN);
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* curve = &job->heat->curve[material[i]];
        enthalpy[i] += curve->capacity * (double)job->gain[i];
        heat_state state = heat_curve_at(curve, enthalpy[i], (double)melted[i]);
        temperature[i] = (float)state.temperature;
        if (strain != NULL) {
            strain_melt((double)melted[i], state.melted, strain + STRAIN_PARTS * i);
        }
        melted[i] = (float)state.melted;
    }
}

static void add_rows(void* data, int64_t begin, int64_t end) {
    const warm_job* job = data;
    float* marker = particles_f32(job->p, PARTICLE_MARKER);
    for (int64_t i = begin; i < end; ++i) {
        marker[i] += job->gain[i];
    }
}

static void warm_by(const heat_work* hw, const float* gain) {
    warm_job job = {hw->kind->heat, hw->at->p, gain};
    bool is_heat = hw->kind->column == PARTICLE_TEMPERATURE;
    particle_row_for(hw->at->p, 4096, is_heat ? warm_rows : add_rows, &job);
}

static void warm_tiles(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    const heat_curve* curve = &hw->kind->heat->curve[0];
    float *temperature = hw->at->state->carried[CARRIED_TEMPERATURE],
          *melted = hw->at->state->carried[CARRIED_MELTED];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double share = melted != NULL ? (double)melted[i] : 0.0;
        double energy = heat_curve_energy(curve, (double)temperature[i], share);
        if (hw->gain[i] != 0.0f) {
            heat_state state =
                heat_curve_at(curve, energy + curve->capacity * (double)hw->gain[i], share);
            temperature[i] = (float)state.temperature;
            if (melted != NULL) {
                melted[i] = (float)state.melted;
            }
        }
    }
}

static treacle_status warm_cells(heat_work* hw) {
    TREACLE_TRY(step_take_zero(hw->at->f, &hw->at->state->map, "gain of cells", &hw->gain));
    parallel_for(hw->at->f->ctx, hw->at->state->map.count, 8, find_gain, hw);
    parallel_for(hw->at->f->ctx, hw->at->state->map.count, 8, warm_tiles, hw);
    return TREACLE_OK;
}

static treacle_status warm_particles(heat_work* hw) {
    const step_frame* f = hw->at->f;
    const tile_map* map = &hw->at->state->map;
    const particles* p = hw->at->p;
    float* gain = NULL;
    TREACLE_TRY(step_take_zero(hw->at->f, &hw->at->state->map, "gain of cells", &hw->gain));
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, sizeof(float), "gain of particles",
                           (void**)&gain));
    parallel_for(f->ctx, map->count, 8, find_gain, hw);
    face_velocity on = {.map = map, .domain = f->setup->domain};
    g2p_scalar(&on, p, hw->gain, gain);
    warm_by(hw, gain);
    return TREACLE_OK;
}

// --- the step ------------------------------------------------------------------------------------

static double exchanged_by_tile(void* data, int64_t tile) {
    const heat_work* hw = data;
    double sum = 0.0;
    for (int64_t i = tile * TILE_CELLS; i < (tile + 1) * TILE_CELLS; ++i) {
        sum += hw->cells.exchanged[i];
    }
    return sum;
}

static treacle_status take_energies(heat_work* hw) {
    const heat_place* at = hw->at;
    size_t values = tile_map_values(&at->state->map);
    double** doubles[] = {&hw->before, &hw->cells.energy, &hw->cells.exchanged};
    for (int k = 0; k < 3; ++k) {
        TREACLE_TRY(arena_take_zero(at->f->scratch, values, sizeof(double), "energies",
                                    (void**)doubles[k]));
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(step_take_zero(at->f, &at->state->map, "exchange", &hw->cells.exchange[a]));
        TREACLE_TRY(step_take_zero(at->f, &at->state->map, "outside", &hw->cells.outside[a]));
    }
    return TREACLE_OK;
}

static treacle_status even_out_particles(const heat_work* hw) {
    const step_frame* f = hw->at->f;
    const heat_kind* kind = hw->kind;
    even_out_params params = {.domain = f->setup->domain,
                              .map = &hw->at->state->map,
                              .p = hw->at->p,
                              .value = particles_f32(hw->at->p, kind->column),
                              .capacity = kind->heat->capacity,
                              .reference = (float)kind->surface.air,
                              .diffusivity = kind->heat->least_diffusivity,
                              .cell_solid_phi = hw->at->solids->phi};
    float* change = NULL;
    TREACLE_TRY(even_out(&params, f->dt, f->scratch, &change));
    if (change != NULL) {
        warm_by(hw, change);
    }
    return TREACLE_OK;
}

// What came from outside goes to *came.
static treacle_status conduct(const heat_place* at, const heat_kind* kind, double* came) {
    heat_work hw = {.at = at, .kind = kind};
    const tile_map* map = &at->state->map;
    solve_stats solve;
    TREACLE_TRY(take_energies(&hw));
    TREACLE_TRY(heat_grid_find(at, kind, hw.cells.energy, &hw.grid));
    describe(&hw);
    memcpy(hw.before, hw.cells.energy, tile_map_values(map) * sizeof(double));
    TREACLE_TRY(exchange(&hw));
    TREACLE_TRY(conduction_step(&hw.params, hw.cells.energy, hw.cells.exchanged, &solve));
    *came = parallel_sum(at->f->ctx, map->count, exchanged_by_tile, &hw);
    if (solve.is_broken) {
        return check_fail(at->f->ctx, TREACLE_ERR_DIVERGED, "%s",
                          kind->column == PARTICLE_MARKER ? "the diffusion of the marker diverged"
                                                          : "the conduction of heat diverged");
    }
    if (at->state->carried[CARRIED_TEMPERATURE] != NULL) {
        return warm_cells(&hw);
    }
    TREACLE_TRY(warm_particles(&hw));
    return even_out_particles(&hw);
}

typedef struct cure_job {
    const liquid_setup* setup;
    const particles* p;
    double dt;
} cure_job;

// m += (target - m) (1 - exp(-rate dt))                                                 [marker.2]
static void cure_rows(void* data, int64_t begin, int64_t end) {
    const cure_job* job = data;
    float* marker = particles_f32(job->p, PARTICLE_MARKER);
    float share[LIQUID_MATERIALS_MAX];
    for (int m = 0; m < job->setup->material_count; ++m) {
        share[m] = (float)(1.0 - elementary_exp(-job->setup->materials[m].marker_rate * job->dt));
    }
    for (int64_t i = begin; i < end; ++i) {
        uint8_t m = particles_material(job->p)[i];
        marker[i] += share[m] * ((float)job->setup->materials[m].marker_target - marker[i]);
    }
}

static treacle_status step_marker(const heat_place* at) {
    const step_frame* f = at->f;
    const treacle_marker_def* def = &f->setup->def->marker;
    heat_kind kind = {.heat = &f->setup->marker,
                      .surface = {.method = def->method, .air = def->air, .loss = def->loss},
                      .column = PARTICLE_MARKER};
    if (kind.heat->is_on) {
        TREACLE_TRY(conduct(at, &kind, &f->stats->marker_in));
    }
    if (kind.heat->grows) {
        cure_job job = {f->setup, at->p, f->dt};
        particle_row_for(at->p, 4096, cure_rows, &job);
    }
    return TREACLE_OK;
}

static treacle_status step_heat(const heat_place* at) {
    const step_frame* f = at->f;
    heat_kind kind = {.heat = &f->setup->heat,
                      .surface = f->setup->def->heat,
                      .column = PARTICLE_TEMPERATURE,
                      .reference = HEAT_REFERENCE};
    return kind.heat->is_on ? conduct(at, &kind, &f->stats->heat_in) : TREACLE_OK;
}

treacle_status conduct_heat(const step_frame* f, const particle_grid* given,
                            const solid_grid* solids, liquid_state* state, particles* p) {
    if (!liquid_has_heat(f->setup)) {
        return TREACLE_OK;
    }
    heat_place at = {f, p, state, given, solids};
    int mark = arena_mark(f->scratch);
    treacle_status status = step_heat(&at);
    arena_give_to(f->scratch, mark);
    if (status == TREACLE_OK) {
        status = step_marker(&at);
    }
    arena_give_to(f->scratch, mark);
    return status;
}
