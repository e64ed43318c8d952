#include "step/conduct_heat.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "phys/heat_exchange.h"
#include "phys/marker.h"
#include "step/shrink.h"
#include "step/warm.h"

// Lines of cells serve where heat goes no farther than about a cell in a step.
#define LOD_DIFFUSION_MAX 1.0
// The tolerance of the implicit solve; what it leaves undone is a little late, not lost.
#define HEAT_TOLERANCE 1e-8
enum { HEAT_ITERATIONS_MAX = 500 };

typedef struct heat_work {
    const heat_place* at;
    const heat_kind* kind;
    heat_grid grid;
    double* before; // J, of cells
    heat_cells cells;
    conduction_params params;
} heat_work;

// --- what comes and goes -------------------------------------------------------------------------

static treacle_conduction method_of(const heat_work* hw) {
    treacle_conduction asked = hw->kind->surface.method;
    double h = hw->at->f->setup->domain->h;
    bool is_small = hw->kind->heat->diffusivity * hw->kind->dt <= LOD_DIFFUSION_MAX * h * h;
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
        .dt = hw->kind->dt,
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
    hw->cells.dt = hw->kind->dt;
}

// The mean over the step.
static double mean_of(const step_frame* f, const treacle_curve* curve) {
    return curve_integral_scalar(curve, f->time, f->time + f->dt) / f->dt;
}

static void light_from(heat_work* hw, const heat_source* source, heat_lamp* lamp) {
    const heat_place* at = hw->at;
    shade in_the_way = {
        .domain = at->f->setup->domain, .map = &at->state->map, .cell_phi = at->state->cell_phi};
    if (at->f->setup->solids.count > 0) {
        in_the_way.solids = solid_scene_of(&at->f->setup->solids, at->poses->to);
    }
    lamp->aim = source->aim;
    lamp->edge = source->edge;
    lamp->shade = source->is_shaded ? &in_the_way : NULL;
    heat_exchange_radiant(&hw->cells, lamp);
}

static treacle_status run_source(heat_work* hw, const heat_source* source) {
    const step_frame* f = hw->at->f;
    double end = f->time + f->dt, middle = f->time + 0.5 * f->dt;
    double fraction = (fmin(end, source->stop) - fmax(f->time, source->start)) / f->dt;
    if (!(fraction > 0.0)) {
        return TREACLE_OK;
    }
    if (source->power.count == 0) {
        heat_exchange_hold(&hw->cells, source->where, curve_eval_scalar(&source->temperature, end));
        return TREACLE_OK;
    }
    double power = fraction * mean_of(f, &source->power);
    if (source->is_rate) {
        heat_exchange_rate(&hw->cells, source->where, power);
        return TREACLE_OK;
    }
    if (source->where != NULL) {
        return heat_exchange_power(&hw->cells, source->where, power);
    }
    double place[AXES];
    curve_eval(&source->place, middle, place);
    light_from(hw, source, &(heat_lamp){.place = vec3_from(place), .power = power});
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
        const heat_boundary* from = &hw->kind->heat->solids[i];
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
    for (int i = 0; i < heat->boundary_count; ++i) {
        const heat_boundary* from = &heat->boundaries[i];
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
    heat_gained gained = {hw.grid.capacity, hw.before, hw.cells.energy};
    return warm(at, kind, &gained);
}

static treacle_status step_marker(const heat_place* at) {
    const step_frame* f = at->f;
    const treacle_marker_def* def = &f->setup->def->marker;
    heat_kind kind = {.heat = &f->setup->marker,
                      .surface = {.method = def->method, .air = def->air, .loss = def->loss},
                      .column = PARTICLE_MARKER,
                      .dt = f->dt};
    if (kind.heat->is_on) {
        TREACLE_TRY(conduct(at, &kind, &f->stats->marker_in));
    }
    if (kind.heat->grows) {
        marker_cure(at->p, f->setup->material_count, f->setup->materials, f->dt);
    }
    return TREACLE_OK;
}

static treacle_status step_heat(const heat_place* at) {
    const step_frame* f = at->f;
    heat_kind kind = {.heat = &f->setup->heat,
                      .surface = f->setup->def->heat,
                      .column = PARTICLE_TEMPERATURE,
                      .reference = HEAT_REFERENCE,
                      .dt = f->dt * f->setup->def->heat.speed}; // [heat.12]
    return kind.heat->is_on ? conduct(at, &kind, &f->stats->heat_in) : TREACLE_OK;
}

treacle_status conduct_heat(const step_frame* f, particle_grid* given, const solid_poses* poses,
                            const solid_grid* solids, liquid_state* state, particles* p) {
    TREACLE_ASSERT(f->dt > 0.0 && isfinite(f->dt));
    TREACLE_ASSERT(given->volume != NULL);
    if (!liquid_has_heat(f->setup)) {
        return TREACLE_OK;
    }
    heat_place at = {f, p, state, given, poses, solids};
    int mark = arena_mark(f->scratch);
    treacle_status status = step_heat(&at);
    arena_give_to(f->scratch, mark);
    if (status == TREACLE_OK) {
        status = step_marker(&at);
    }
    arena_give_to(f->scratch, mark);
    return status == TREACLE_OK ? shrink_find(f, &state->map, solids, p, given) : status;
}
