// Heat in a step: from particles to cells, what comes and goes, conduction, and back as increments.
//
// Cells have the heat capacity of their particles, weighted by the kernel; a particle gets
// c sum w dE/C. So what the grid gains the particles gain, to rounding, wherever they are.
//
// The marker goes the same way, with volume for heat capacity [marker.1].
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "grid/gather.h"
#include "math/elementary.h"
#include "phys/g2p.h"
#include "phys/heat_exchange.h"
#include "phys/p2g.h"
#include "sim/liquid.h"

// Lines of cells serve where heat goes no farther than about a cell in a step.
#define LOD_DIFFUSION_MAX 1.0
// Of the implicit solve; what it leaves undone is a little late, not lost.
#define HEAT_TOLERANCE 1e-8
// The share of open volume below which a cell is behind the surface of a solid.
#define BEHIND 0.01f
#define PI 3.14159265358979323846
enum { HEAT_ITERATIONS_MAX = 500, RANGES = 4 };

typedef struct heat_work {
    liquid_work* w;
    const heat_setup* heat;
    treacle_heat_def surface; // what it does
    particle_column column;   // temperature or marker
    double reference;         // of the curves
    double* came;             // of the step's statistics
    float *temperature, *capacity, *melted, *latent, *range[RANGES], *conductivity, *wet;
    float *conductance[AXES], *gain;
    double* before;
    heat_cells cells;
    conduction_params params;
} heat_work;

static treacle_status take(const heat_work* hw, const char* name, float** out) {
    return arena_take_zero(hw->w->scratch, hw->w->values, sizeof(float), name, (void**)out);
}

// --- to cells ------------------------------------------------------------------------------------

static p2g_params transfer_of(const heat_work* hw) {
    return (p2g_params){
        .domain = hw->w->setup->domain, .map = &hw->w->state->map, .from = hw->w->p};
}

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    double h = hw->w->setup->domain->h, volume = h * h * h;
    float per_capacity = (float)(hw->heat->capacity_unit * volume);
    float per_latent = (float)(hw->heat->latent_unit * volume);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        hw->capacity[i] *= per_capacity;
        if (hw->latent != NULL) {
            hw->latent[i] *= per_latent;
        }
        bool is_there = hw->capacity[i] > 0.0f;
        bool is_inside = hw->w->state->cell_phi[i] < 0.0f;
        float part = fminf(hw->w->given.volume[i], 1.0f);
        hw->wet[i] = !is_there ? 0.0f : is_inside ? 1.0f : part;
        if (is_there && !hw->heat->has_conductivities) {
            hw->conductivity[i] = hw->heat->conductivity[0];
        }
        hw->cells.energy[i] =
            is_there
                ? (double)hw->capacity[i] * ((double)hw->temperature[i] - hw->reference) +
                      (hw->latent == NULL ? 0.0 : (double)hw->latent[i] * (double)hw->melted[i])
                : 0.0;
    }
}

typedef struct material_job {
    const particles* p;
    const heat_setup* heat;
    int which; // of the ranges; RANGES: conductivity
    float* out;
} material_job;

static void fill_by_material(void* data, int64_t begin, int64_t end) {
    const material_job* job = data;
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* c = &job->heat->curve[material[i]];
        const double range[RANGES] = {c->melt[0], c->melt[1], c->freeze[0], c->freeze[1]};
        job->out[i] =
            job->which == RANGES ? job->heat->conductivity[material[i]] : (float)range[job->which];
    }
}

// What differs by material, as cells see it; weighted by latent heat, or by volume.
static treacle_status bring_by_material(heat_work* hw, int which, float* to) {
    liquid_work* w = hw->w;
    float *column = NULL, *unused = NULL;
    int mark = arena_mark(w->scratch);
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "what differs",
                           (void**)&column));
    TREACLE_TRY(take(hw, "weights", &unused));
    material_job job = {w->p, hw->heat, which, column};
    particle_row_for(w->p, 4096, fill_by_material, &job);
    p2g_params params = transfer_of(hw);
    p2g_column from = {.value = column, .weight = which == RANGES ? NULL : hw->heat->latent};
    treacle_status status = p2g_weighted(&params, &from, to, unused);
    arena_give_to(w->scratch, mark);
    return status;
}

static treacle_status bring_melted(heat_work* hw) {
    p2g_params params = transfer_of(hw);
    p2g_column melted = {.value = particles_f32(hw->w->p, PARTICLE_MELTED),
                         .weight = hw->heat->latent};
    TREACLE_TRY(take(hw, "latent heat", &hw->latent));
    TREACLE_TRY(take(hw, "melted shares", &hw->melted));
    TREACLE_TRY(p2g_weighted(&params, &melted, hw->melted, hw->latent));
    for (int k = 0; k < RANGES && hw->heat->has_ranges; ++k) {
        TREACLE_TRY(take(hw, "ranges of melting", &hw->range[k]));
        TREACLE_TRY(bring_by_material(hw, k, hw->range[k]));
    }
    return TREACLE_OK;
}

// Liquid on the grid has its heat there, and is of one material.
static treacle_status find_in_cells(heat_work* hw) {
    liquid_work* w = hw->w;
    const float* melted = w->state->carried[CARRIED_MELTED];
    memcpy(hw->temperature, w->state->carried[CARRIED_TEMPERATURE], w->values * sizeof(float));
    if (melted != NULL) {
        TREACLE_TRY(take(hw, "latent heat", &hw->latent));
        TREACLE_TRY(take(hw, "melted shares", &hw->melted));
        memcpy(hw->melted, melted, w->values * sizeof(float));
    }
    for (size_t i = 0; i < w->values - TILE_CELLS; ++i) {
        hw->capacity[i] = hw->heat->capacity[0] * w->given.volume[i];
        if (hw->latent != NULL) {
            hw->latent[i] = hw->heat->latent[0] * w->given.volume[i];
        }
    }
    return TREACLE_OK;
}

static treacle_status find_at_particles(heat_work* hw) {
    liquid_work* w = hw->w;
    p2g_params params = transfer_of(hw);
    p2g_column temperature = {.value = particles_f32(w->p, hw->column),
                              .weight = hw->heat->capacity,
                              .reference = (float)hw->surface.air};
    TREACLE_TRY(p2g_weighted(&params, &temperature, hw->temperature, hw->capacity));
    if (hw->heat->latent_unit > 0.0) {
        TREACLE_TRY(bring_melted(hw));
    }
    if (hw->heat->has_conductivities) {
        TREACLE_TRY(bring_by_material(hw, RANGES, hw->conductivity));
    }
    return TREACLE_OK;
}

static treacle_status bring_to_cells(heat_work* hw) {
    TREACLE_TRY(take(hw, "temperature", &hw->temperature));
    TREACLE_TRY(take(hw, "heat capacity", &hw->capacity));
    TREACLE_TRY(take(hw, "conductivity", &hw->conductivity));
    TREACLE_TRY(take(hw, "wet cells", &hw->wet));
    TREACLE_TRY(hw->w->euler != NULL ? find_in_cells(hw) : find_at_particles(hw));
    parallel_for(hw->w->ctx, hw->w->state->map.count, 8, scale_tiles, hw);
    return TREACLE_OK;
}

// --- conductance of faces ------------------------------------------------------------------------

typedef struct face_job {
    const heat_work* hw;
    int axis;
} face_job;

// Cells, between the places that two neighbours know of; so far from a solid as they are.
static double distance_of(double low, double high) {
    bool is_near = fmin(low, high) < 1.0;
    double slope = fmin(fmax(high - low, -1.0), 1.0);
    return is_near ? fmax(1.0 + slope * (heat_wall_shift(high) - heat_wall_shift(low)), 0.1) : 1.0;
}

static void conduct_tiles(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    const heat_work* hw = job->hw;
    const tile_map* map = &hw->w->state->map;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    double h = hw->w->setup->domain->h;
    bool has_solids = hw->w->setup->solids.count > 0;
    for (int64_t t = begin; t < end; ++t) {
        float wet[BLOCK_VALUES(1, 0)], k[BLOCK_VALUES(1, 0)];
        float room[BLOCK_VALUES(1, 0)], near[BLOCK_VALUES(1, 0)];
        gather_block(map, hw->wet, (tile_ix)t, 1, 0, wet);
        if (has_solids) {
            gather_block(map, hw->w->solid.open, (tile_ix)t, 1, 0, room);
            gather_block(map, hw->w->solid.phi, (tile_ix)t, 1, 0, near);
        }
        gather_block(map, hw->conductivity, (tile_ix)t, 1, 0, k);
        float* out = hw->conductance[job->axis] + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at = BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                 i / TILE_SIZE / TILE_SIZE);
            int low = at - steps[job->axis];
            double sum = (double)k[at] + (double)k[low];
            double mean = sum > 0.0 ? 2.0 * (double)k[at] * (double)k[low] / sum : 0.0;
            // Behind a wall's surface cells have what kernels bring there, and follow the liquid.
            bool is_behind = has_solids && (room[at] < BEHIND) != (room[low] < BEHIND);
            double open = has_solids && !is_behind
                              ? (double)hw->w->solid.face_open.at[job->axis][t * TILE_CELLS + i]
                              : 1.0;
            double apart = has_solids ? distance_of((double)near[low], (double)near[at]) : 1.0;
            out[i] = (float)(mean * h * open / apart * (double)fminf(wet[at], wet[low]));
        }
    }
}

static treacle_status make_conductance(heat_work* hw) {
    for (int a = 0; a < AXES; ++a) {
        face_job job = {hw, a};
        TREACLE_TRY(take(hw, "conductance", &hw->conductance[a]));
        if (hw->w->setup->domain->is_active[a]) {
            parallel_for(hw->w->ctx, hw->w->state->map.count, 4, conduct_tiles, &job);
        }
    }
    return TREACLE_OK;
}

// --- the step ------------------------------------------------------------------------------------

static treacle_conduction method_of(const heat_work* hw) {
    treacle_conduction asked = hw->surface.method;
    double h = hw->w->setup->domain->h;
    bool is_small = hw->heat->diffusivity * hw->w->dt <= LOD_DIFFUSION_MAX * h * h;
    return asked != TREACLE_CONDUCTION_AUTO ? asked
           : is_small                       ? TREACLE_CONDUCTION_LOD
                                            : TREACLE_CONDUCTION_IMPLICIT;
}

static void describe(heat_work* hw) {
    const liquid_work* w = hw->w;
    hw->params = (conduction_params){
        .domain = w->setup->domain,
        .map = &w->state->map,
        .capacity = hw->capacity,
        .melt = {.latent = hw->latent, .melted = hw->melted},
        .method = method_of(hw),
        .dt = w->dt,
        .solve = {.relative = HEAT_TOLERANCE, .max_iterations = HEAT_ITERATIONS_MAX},
    };
    for (int i = 0; i < hw->heat->material_count; ++i) {
        if (hw->heat->latent[i] > 0.0f) {
            hw->params.melt.same = hw->heat->curve[i];
        }
    }
    hw->params.melt.same.reference = hw->reference;
    for (int a = 0; a < AXES; ++a) {
        hw->params.conductance[a] = hw->conductance[a];
        hw->params.exchange[a] = hw->cells.exchange[a];
        hw->params.outside[a] = hw->cells.outside[a];
    }
    for (int k = 0; k < RANGES; ++k) {
        hw->params.melt.range[k] = hw->range[k];
    }
    hw->cells.domain = w->setup->domain;
    hw->cells.map = &w->state->map;
    hw->cells.scratch = w->scratch;
    hw->cells.phi = w->state->cell_phi;
    hw->cells.wet = hw->wet;
    hw->cells.conductivity = hw->conductivity;
    hw->cells.temperature = hw->temperature;
    hw->cells.conduction = &hw->params;
    hw->cells.dt = w->dt;
}

// The mean over the step.
static double mean_of(const heat_work* hw, const treacle_curve* curve) {
    return curve_integral_scalar(curve, hw->w->time, hw->w->time + hw->w->dt) / hw->w->dt;
}

static treacle_status run_source(heat_work* hw, const heat_source* source) {
    double end = hw->w->time + hw->w->dt, middle = hw->w->time + 0.5 * hw->w->dt;
    double share = (fmin(end, source->stop) - fmax(hw->w->time, source->start)) / hw->w->dt;
    if (!(share > 0.0)) {
        return TREACLE_OK;
    }
    if (source->power.count == 0) {
        heat_exchange_hold(&hw->cells, source->where, curve_eval_scalar(&source->temperature, end));
        return TREACLE_OK;
    }
    double power = share * mean_of(hw, &source->power);
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
    liquid_work* w = hw->w;
    heat_touch* touch = NULL;
    int count = hw->heat->solid_count;
    if (count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(
        arena_take(w->scratch, (size_t)count, sizeof(*touch), "touch of solids", (void**)&touch));
    for (int i = 0; i < count; ++i) {
        const heat_wall* from = &hw->heat->solids[i];
        touch[i] = (heat_touch){.is_held = from->temperature.count > 0,
                                .has_flux = from->flux.count > 0,
                                .contact = from->contact};
        if (touch[i].is_held) {
            touch[i].temperature = curve_eval_scalar(&from->temperature, w->time + w->dt);
        } else if (touch[i].has_flux) {
            touch[i].flux = mean_of(hw, &from->flux);
        }
    }
    heat_solids solids = {.count = count,
                          .touch = touch,
                          .cell_id = w->solid.id,
                          .cell_phi = w->solid.phi,
                          .cell_open = w->solid.open,
                          .face_open = face_view_of(w->solid.face_open)};
    heat_exchange_solids(&hw->cells, &solids);
    return TREACLE_OK;
}

static treacle_status exchange(heat_work* hw) {
    const heat_setup* heat = hw->heat;
    double end = hw->w->time + hw->w->dt;
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
            side.flux = mean_of(hw, &from->flux);
        }
        heat_exchange_side(&hw->cells, &side);
    }
    heat_exchange_air(&hw->cells, &hw->surface);
    return touch_solids(hw);
}

// --- back to the particles -----------------------------------------------------------------------

static void find_gain(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double change = hw->cells.energy[i] - hw->before[i];
        bool is_there = hw->capacity[i] > 0.0f;
        hw->gain[i] = is_there ? (float)(change / (double)hw->capacity[i]) : 0.0f;
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
    warm_job job = {hw->heat, hw->w->p, gain};
    bool is_heat = hw->column == PARTICLE_TEMPERATURE;
    particle_row_for(hw->w->p, 4096, is_heat ? warm_rows : add_rows, &job);
}

static void warm_tiles(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    const heat_curve* curve = &hw->heat->curve[0];
    float *temperature = hw->w->state->carried[CARRIED_TEMPERATURE],
          *melted = hw->w->state->carried[CARRIED_MELTED];
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
    TREACLE_TRY(take(hw, "gain of cells", &hw->gain));
    parallel_for(hw->w->ctx, hw->w->state->map.count, 8, find_gain, hw);
    parallel_for(hw->w->ctx, hw->w->state->map.count, 8, warm_tiles, hw);
    return TREACLE_OK;
}

static treacle_status warm_particles(heat_work* hw) {
    liquid_work* w = hw->w;
    float* gain = NULL;
    TREACLE_TRY(take(hw, "gain of cells", &hw->gain));
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "gain of particles",
                           (void**)&gain));
    parallel_for(w->ctx, w->state->map.count, 8, find_gain, hw);
    face_velocity on = {.map = &w->state->map, .domain = w->setup->domain};
    g2p_scalar(&on, w->p, hw->gain, gain);
    warm_by(hw, gain);
    return TREACLE_OK;
}

// --- what cells do not see -----------------------------------------------------------------------

// Increments leave alone what differs between particles of a cell; conduction does not. With S for
// "to the cells and back",
//
//     T_p -= share (1 - S)^2 T_p,     share = 1 - exp(-pi^2 k dt / h^2)                   [heat.9]
//
// takes away what the grid cannot hold, as fast as waves of two cells decay, and next to nothing of
// what it can: once (1 - S) would be as much diffusion again. Sums of heat stay.
typedef struct even_job {
    const float* value; // of particles, K
    const float* whole; // of particles, 0..1, how much of this is good; NULL: all
    float *mean, *part; // of particles, K
    double share;
} even_job;

static void find_part(void* data, int64_t begin, int64_t end) {
    const even_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        float whole = job->whole == NULL ? 1.0f : job->whole[i];
        job->part[i] = whole * (job->mean[i] - job->value[i]);
    }
}

static void give_part(void* data, int64_t begin, int64_t end) {
    const even_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->mean[i] = (float)(job->share * ((double)job->part[i] - (double)job->mean[i]));
    }
}

// Where a solid cuts kernels off S does not leave slopes as they are, and less of this is better.
#define NEAR_SOLIDS 0.2f

static void find_whole(void* data, int64_t begin, int64_t end) {
    const heat_work* hw = data;
    const float* phi = hw->w->solid.phi;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        hw->gain[i] = phi[i] >= 0.999f ? 1.0f : NEAR_SOLIDS;
    }
}

static treacle_status there_and_back(heat_work* hw, const float* column, float reference,
                                     float* out) {
    liquid_work* w = hw->w;
    p2g_params params = transfer_of(hw);
    p2g_column from = {.value = column, .weight = hw->heat->capacity, .reference = reference};
    TREACLE_TRY(p2g_weighted(&params, &from, hw->gain, hw->wet));
    face_velocity on = {.map = &w->state->map, .domain = w->setup->domain};
    g2p_scalar(&on, w->p, hw->gain, out);
    return TREACLE_OK;
}

static treacle_status even_out(heat_work* hw) {
    liquid_work* w = hw->w;
    const particles* p = w->p;
    double cells = PI / w->setup->domain->h;
    even_job job = {.value = particles_f32(p, hw->column)};
    job.share = 1.0 - elementary_exp(-hw->heat->least_diffusivity * w->dt * cells * cells);
    if (!(job.share > 1e-4)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take(w->scratch, (size_t)p->count, sizeof(float), "means at particles",
                           (void**)&job.mean));
    TREACLE_TRY(arena_take(w->scratch, (size_t)p->count, sizeof(float), "rest of particles",
                           (void**)&job.part));
    if (w->solid.phi != NULL) {
        float* whole = NULL;
        TREACLE_TRY(arena_take(w->scratch, (size_t)p->count, sizeof(float), "nearness of solids",
                               (void**)&whole));
        parallel_for(w->ctx, w->state->map.count, 8, find_whole, hw);
        face_velocity on = {.map = &w->state->map, .domain = w->setup->domain};
        g2p_scalar(&on, p, hw->gain, whole);
        job.whole = whole;
    }
    TREACLE_TRY(there_and_back(hw, job.value, (float)hw->surface.air, job.mean));
    particle_row_for(p, 4096, find_part, &job);
    TREACLE_TRY(there_and_back(hw, job.part, 0.0f, job.mean));
    particle_row_for(p, 4096, give_part, &job);
    warm_by(hw, job.mean);
    return TREACLE_OK;
}

static double exchanged_by_tile(void* data, int64_t tile) {
    const heat_work* hw = data;
    double sum = 0.0;
    for (int64_t i = tile * TILE_CELLS; i < (tile + 1) * TILE_CELLS; ++i) {
        sum += hw->cells.exchanged[i];
    }
    return sum;
}

static treacle_status take_energies(heat_work* hw) {
    double** doubles[] = {&hw->before, &hw->cells.energy, &hw->cells.exchanged};
    for (int k = 0; k < 3; ++k) {
        TREACLE_TRY(arena_take_zero(hw->w->scratch, hw->w->values, sizeof(double), "energies",
                                    (void**)doubles[k]));
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take(hw, "exchange", &hw->cells.exchange[a]));
        TREACLE_TRY(take(hw, "outside", &hw->cells.outside[a]));
    }
    return TREACLE_OK;
}

static treacle_status conduct(heat_work* hw) {
    liquid_work* w = hw->w;
    solve_stats solve;
    TREACLE_TRY(take_energies(hw));
    TREACLE_TRY(bring_to_cells(hw));
    TREACLE_TRY(make_conductance(hw));
    describe(hw);
    memcpy(hw->before, hw->cells.energy, w->values * sizeof(double));
    TREACLE_TRY(exchange(hw));
    TREACLE_TRY(conduction_step(&hw->params, hw->cells.energy, hw->cells.exchanged, &solve));
    *hw->came = parallel_sum(w->ctx, w->state->map.count, exchanged_by_tile, hw);
    if (solve.is_broken) {
        return check_fail(w->ctx, TREACLE_ERR_DIVERGED, "%s",
                          hw->column == PARTICLE_MARKER ? "the diffusion of the marker diverged"
                                                        : "the conduction of heat diverged");
    }
    if (w->euler != NULL) {
        return warm_cells(hw);
    }
    TREACLE_TRY(warm_particles(hw));
    return even_out(hw);
}

// --- the marker ----------------------------------------------------------------------------------

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

static treacle_status step_marker(liquid_work* w) {
    const treacle_marker_def* def = &w->setup->def->marker;
    heat_work hw = {.w = w,
                    .heat = &w->setup->marker,
                    .surface = {.method = def->method, .air = def->air, .loss = def->loss},
                    .column = PARTICLE_MARKER,
                    .came = &w->stats->marker_in};
    if (hw.heat->is_on) {
        TREACLE_TRY(conduct(&hw));
    }
    if (hw.heat->grows) {
        cure_job job = {w->setup, w->p, w->dt};
        particle_row_for(w->p, 4096, cure_rows, &job);
    }
    return TREACLE_OK;
}

static treacle_status step_heat(liquid_work* w) {
    heat_work hw = {.w = w,
                    .heat = &w->setup->heat,
                    .surface = w->setup->def->heat,
                    .column = PARTICLE_TEMPERATURE,
                    .reference = HEAT_REFERENCE,
                    .came = &w->stats->heat_in};
    return hw.heat->is_on ? conduct(&hw) : TREACLE_OK;
}

treacle_status liquid_heat(liquid_work* w) {
    if (!liquid_has_heat(w->setup)) {
        return TREACLE_OK;
    }
    int mark = arena_mark(w->scratch);
    treacle_status status = step_heat(w);
    arena_give_to(w->scratch, mark);
    if (status == TREACLE_OK) {
        status = step_marker(w);
    }
    arena_give_to(w->scratch, mark);
    return status == TREACLE_OK ? liquid_find_viscosity(w) : status;
}
