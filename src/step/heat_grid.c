#include "step/heat_grid.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "phys/heat_exchange.h"
#include "phys/p2g.h"

// The fraction of open volume below which a cell is behind the surface of a solid.
#define BEHIND 0.01f

static p2g_params transfer_of(const heat_place* at) {
    return (p2g_params){.domain = at->f->setup->domain, .map = &at->state->map, .from = at->p};
}

// --- to cells ------------------------------------------------------------------------------------

typedef struct grid_job {
    const heat_place* at;
    const heat_kind* kind;
    heat_grid* out;
    double* energy;
    int axis;
} grid_job;

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const grid_job* job = data;
    const heat_setup* heat = job->kind->heat;
    const heat_grid* g = job->out;
    double h = job->at->f->setup->domain->h, volume = h * h * h;
    float per_capacity = (float)(heat->capacity_unit * volume);
    float per_latent = (float)(heat->latent_unit * volume);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        g->capacity[i] *= per_capacity;
        if (g->latent != NULL) {
            g->latent[i] *= per_latent;
        }
        bool is_there = g->capacity[i] > 0.0f;
        bool is_inside = job->at->state->cell_phi[i] < 0.0f;
        float part = fminf(job->at->given->volume[i], 1.0f);
        g->wet[i] = !is_there ? 0.0f : is_inside ? 1.0f : part;
        if (is_there && !heat->has_conductivities) {
            g->conductivity[i] = heat->conductivity[0];
        }
        job->energy[i] =
            is_there ? (double)g->capacity[i] * ((double)g->temperature[i] - job->kind->reference) +
                           (g->latent == NULL ? 0.0 : (double)g->latent[i] * (double)g->melted[i])
                     : 0.0;
    }
}

typedef struct material_job {
    const particles* p;
    const heat_setup* heat;
    int which; // of the ranges; HEAT_RANGES: conductivity
    float* out;
} material_job;

static void fill_by_material(void* data, int64_t begin, int64_t end) {
    const material_job* job = data;
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* c = &job->heat->curve[material[i]];
        const double range[HEAT_RANGES] = {c->melt[0], c->melt[1], c->freeze[0], c->freeze[1]};
        job->out[i] = job->which == HEAT_RANGES ? job->heat->conductivity[material[i]]
                                                : (float)range[job->which];
    }
}

// What differs by material, as cells see it; weighted by latent heat, or by volume.
static treacle_status bring_by_material(const grid_job* job, int which, float* to) {
    const heat_setup* heat = job->kind->heat;
    const particles* p = job->at->p;
    arena* scratch = job->at->f->scratch;
    float *column = NULL, *unused = NULL;
    int mark = arena_mark(scratch);
    TREACLE_TRY(
        arena_take(scratch, (size_t)p->count, sizeof(float), "what differs", (void**)&column));
    TREACLE_TRY(step_take_zero(job->at->f, &job->at->state->map, "weights", &unused));
    material_job of = {p, heat, which, column};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, fill_by_material, &of);
    p2g_params params = transfer_of(job->at);
    p2g_column from = {.value = column, .weight = which == HEAT_RANGES ? NULL : heat->latent};
    treacle_status status = p2g_weighted(&params, &from, to, unused);
    arena_give_to(scratch, mark);
    return status;
}

static treacle_status bring_melted(const grid_job* job) {
    const heat_setup* heat = job->kind->heat;
    heat_grid* out = job->out;
    p2g_params params = transfer_of(job->at);
    p2g_column melted = {.value = particles_f32(job->at->p, PARTICLE_MELTED),
                         .weight = heat->latent};
    TREACLE_TRY(step_take_zero(job->at->f, &job->at->state->map, "latent heat", &out->latent));
    TREACLE_TRY(step_take_zero(job->at->f, &job->at->state->map, "melted shares", &out->melted));
    TREACLE_TRY(p2g_weighted(&params, &melted, out->melted, out->latent));
    for (int k = 0; k < HEAT_RANGES && heat->has_ranges; ++k) {
        TREACLE_TRY(
            step_take_zero(job->at->f, &job->at->state->map, "ranges of melting", &out->range[k]));
        TREACLE_TRY(bring_by_material(job, k, out->range[k]));
    }
    return TREACLE_OK;
}

// Liquid on the grid has its heat there, and is of one material.
static treacle_status find_in_cells(const grid_job* job) {
    const heat_setup* heat = job->kind->heat;
    const liquid_state* state = job->at->state;
    const float* volume = job->at->given->volume;
    heat_grid* out = job->out;
    size_t values = tile_map_values(&state->map);
    const float* melted = state->carried[CARRIED_MELTED];
    memcpy(out->temperature, state->carried[CARRIED_TEMPERATURE], values * sizeof(float));
    if (melted != NULL) {
        TREACLE_TRY(step_take_zero(job->at->f, &job->at->state->map, "latent heat", &out->latent));
        TREACLE_TRY(
            step_take_zero(job->at->f, &job->at->state->map, "melted shares", &out->melted));
        memcpy(out->melted, melted, values * sizeof(float));
    }
    for (size_t i = 0; i < values - TILE_CELLS; ++i) {
        out->capacity[i] = heat->capacity[0] * volume[i];
        if (out->latent != NULL) {
            out->latent[i] = heat->latent[0] * volume[i];
        }
    }
    return TREACLE_OK;
}

static treacle_status find_at_particles(const grid_job* job) {
    const heat_setup* heat = job->kind->heat;
    heat_grid* out = job->out;
    p2g_params params = transfer_of(job->at);
    p2g_column temperature = {.value = particles_f32(job->at->p, job->kind->column),
                              .weight = heat->capacity,
                              .reference = (float)job->kind->surface.air};
    TREACLE_TRY(p2g_weighted(&params, &temperature, out->temperature, out->capacity));
    if (heat->latent_unit > 0.0) {
        TREACLE_TRY(bring_melted(job));
    }
    if (heat->has_conductivities) {
        TREACLE_TRY(bring_by_material(job, HEAT_RANGES, out->conductivity));
    }
    return TREACLE_OK;
}

// --- conductance of faces ------------------------------------------------------------------------

// Cells, between the places that two neighbours know of; so far from a solid as they are.
static double distance_of(double low, double high) {
    bool is_near = fmin(low, high) < 1.0;
    double slope = fmin(fmax(high - low, -1.0), 1.0);
    return is_near ? fmax(1.0 + slope * (heat_solid_shift(high) - heat_solid_shift(low)), 0.1)
                   : 1.0;
}

static void conduct_tiles(void* data, int64_t begin, int64_t end) {
    const grid_job* job = data;
    const tile_map* map = &job->at->state->map;
    const solid_grid* solids = job->at->solids;
    const heat_grid* g = job->out;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    double h = job->at->f->setup->domain->h;
    bool has_solids = job->at->f->setup->solids.count > 0;
    for (int64_t t = begin; t < end; ++t) {
        float wet[BLOCK_VALUES(1, 0)], k[BLOCK_VALUES(1, 0)];
        float room[BLOCK_VALUES(1, 0)], near[BLOCK_VALUES(1, 0)];
        gather_block(map, g->wet, (tile_ix)t, 1, 0, wet);
        if (has_solids) {
            gather_block(map, solids->open, (tile_ix)t, 1, 0, room);
            gather_block(map, solids->phi, (tile_ix)t, 1, 0, near);
        }
        gather_block(map, g->conductivity, (tile_ix)t, 1, 0, k);
        float* out = g->conductance[job->axis] + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at = BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                 i / TILE_SIZE / TILE_SIZE);
            int low = at - steps[job->axis];
            double sum = (double)k[at] + (double)k[low];
            double mean = sum > 0.0 ? 2.0 * (double)k[at] * (double)k[low] / sum : 0.0;
            // Behind a wall's surface cells have what kernels bring there, and follow the liquid.
            bool is_behind = has_solids && (room[at] < BEHIND) != (room[low] < BEHIND);
            double open = has_solids && !is_behind
                              ? (double)solids->face_open.at[job->axis][t * TILE_CELLS + i]
                              : 1.0;
            double distance = has_solids ? distance_of((double)near[low], (double)near[at]) : 1.0;
            out[i] = (float)(mean * h * open / distance * (double)fminf(wet[at], wet[low]));
        }
    }
}

// --- all of it -----------------------------------------------------------------------------------

static treacle_status make_conductance(grid_job* job) {
    const step_frame* f = job->at->f;
    for (job->axis = 0; job->axis < AXES; ++job->axis) {
        TREACLE_TRY(step_take_zero(job->at->f, &job->at->state->map, "conductance",
                                   &job->out->conductance[job->axis]));
        if (f->setup->domain->is_active[job->axis]) {
            tile_for(&job->at->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4},
                     conduct_tiles, job);
        }
    }
    return TREACLE_OK;
}

treacle_status heat_grid_find(const heat_place* at, const heat_kind* kind, double* energy,
                              heat_grid* out) {
    TREACLE_ASSERT(energy != NULL && at->given->volume != NULL);
    TREACLE_ASSERT(kind->heat != NULL && kind->heat->material_count > 0);
    TREACLE_ASSERT(kind->column == PARTICLE_TEMPERATURE || kind->column == PARTICLE_MARKER);
    *out = (heat_grid){0};
    grid_job job = {.at = at, .kind = kind, .out = out, .energy = energy};
    TREACLE_TRY(step_take_zero(at->f, &at->state->map, "temperature", &out->temperature));
    TREACLE_TRY(step_take_zero(at->f, &at->state->map, "heat capacity", &out->capacity));
    TREACLE_TRY(step_take_zero(at->f, &at->state->map, "conductivity", &out->conductivity));
    TREACLE_TRY(step_take_zero(at->f, &at->state->map, "wet cells", &out->wet));
    bool is_on_grid = at->state->carried[CARRIED_TEMPERATURE] != NULL;
    TREACLE_TRY(is_on_grid ? find_in_cells(&job) : find_at_particles(&job));
    tile_for(&at->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, scale_tiles, &job);
    return make_conductance(&job);
}
