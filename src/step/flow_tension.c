#include "step/flow_tension.h"

#include <math.h>

#include "grid/sheet.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "phys/curvature.h"
#include "step/flow_room.h"
#include "step/to_grid.h"

// --- materials of different tension --------------------------------------------------------------

typedef struct sigma_job {
    const flow_inputs* in;
    float* column; // [particles]
    float* cell;
} sigma_job;

static void fill_column(void* data, int64_t begin, int64_t end) {
    const sigma_job* job = data;
    const uint8_t* material = particles_material(job->in->p);
    const treacle_material_def* materials = job->in->frame.setup->materials;
    for (int64_t i = begin; i < end; ++i) {
        job->column[i] = (float)materials[material[i]].surface_tension;
    }
}

// No particle says what the tension of an empty cell is.
static void forget_empty(void* data, int64_t begin, int64_t end) {
    const sigma_job* job = data;
    const float* volume = job->in->given->volume;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->cell[i] = volume[i] > 0.0f ? job->cell[i] : -1.0f;
    }
}

static treacle_status bring_sigma(const flow_inputs* in, float** out) {
    const tile_map* map = in->wet.map;
    const step_frame* f = &in->frame;
    sigma_job job = {.in = in};
    TREACLE_TRY(step_take_zero(f, map, "surface tension at cells", &job.cell));
    TREACLE_TRY(arena_take(f->scratch, (size_t)in->p->count, sizeof(float),
                           "surface tension of particles", (void**)&job.column));
    particle_for(in->p, &(particle_use){.span = PARTICLES_EACH_NEAR, .grain = 4096, .map = map},
                 fill_column, &job);
    TREACLE_TRY(to_grid_column(f, map, in->p, &in->given->thin, job.column, job.cell));
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, forget_empty, &job);
    arena_give(f->scratch, job.column);
    *out = job.cell;
    return TREACLE_OK;
}

// The strongest; whether materials differ.
static bool is_mixed(const liquid_setup* setup, double* sigma) {
    bool differs = false;
    *sigma = setup->materials[0].surface_tension;
    for (int m = 1; m < setup->material_count; ++m) {
        double other = setup->materials[m].surface_tension;
        differs = differs || other != *sigma;
        *sigma = fmax(*sigma, other);
    }
    return differs;
}

// --- the surface ---------------------------------------------------------------------------------

typedef struct area_job {
    const flow_inputs* in;
    const tension_params* surface;
    float* weight; // areas, and then weights
} area_job;

// Tension times area of the surface of a tile outside of solids.
static double energy_of_tile(void* data, int64_t t) {
    const area_job* job = data;
    const wet_faces* wet = &job->in->wet;
    const float* sigma = job->surface->cell_sigma;
    double sum = 0.0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        int64_t i = t * TILE_CELLS + q;
        int cell[AXES];
        tile_cell_at(wet->map, (tile_ix)t, q, cell);
        bool is_inside = cell[0] < wet->domain->cells[0] && cell[1] < wet->domain->cells[1] &&
                         cell[2] < wet->domain->cells[2];
        double open = wet->solid->open != NULL ? (double)wet->solid->open[i] : 1.0;
        double pull = sigma != NULL && sigma[i] >= 0.0f ? (double)sigma[i] : job->surface->sigma;
        sum += is_inside ? pull * open * (double)job->weight[i] : 0.0;
    }
    return sum;
}

static void weigh_tiles(void* data, int64_t begin, int64_t end) {
    const area_job* job = data;
    const float* phi = job->in->wet.cell_phi;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->weight[i] = tension_weight(job->weight[i], phi[i]);
    }
}

// Curvature where the surface meets sides and solids at their angles: first as if it were straight
// behind them, then with the bend that it has above them.
static treacle_status find_wet_curvature(const flow_inputs* in, float* kappa) {
    const wet_faces* wet = &in->wet;
    const step_frame* f = &in->frame;
    float *phi = NULL, *across = NULL, *bend = NULL;
    wetting_params wetting = {.domain = wet->domain,
                              .map = wet->map,
                              .cell_phi = wet->cell_phi,
                              .cell_solid_phi = wet->solid->phi,
                              .cell_solid = wet->solid->id,
                              .solids = f->setup->solids.solids};
    curvature_params params = {
        .domain = wet->domain, .map = wet->map, .cell_phi = wet->cell_phi, .wetting = &wetting};
    TREACLE_TRY(step_take(f, wet->map, "the surface behind solids", &phi));
    TREACLE_TRY(step_take(f, wet->map, "bends of the surface", &across));
    TREACLE_TRY(step_take_zero(f, wet->map, "bends of the surface", &bend));
    params.cell_wet_phi = phi;
    params.cell_across = across;
    wetting_extend(&wetting, phi);
    curvature_compute(&params, kappa);
    wetting_bend(&wetting, across, bend);
    wetting.cell_bend = bend;
    params.cell_across = NULL;
    params.is_near_only = true;
    wetting_extend(&wetting, phi);
    curvature_compute(&params, kappa);
    arena_give(f->scratch, bend);
    arena_give(f->scratch, across);
    arena_give(f->scratch, phi);
    return TREACLE_OK;
}

static treacle_status find_curvature(const flow_inputs* in, float* kappa) {
    const wet_faces* wet = &in->wet;
    if (wetting_is_needed(wet->domain, in->frame.setup->solids.count)) {
        return find_wet_curvature(in, kappa);
    }
    curvature_compute(
        &(curvature_params){.domain = wet->domain, .map = wet->map, .cell_phi = wet->cell_phi},
        kappa);
    return TREACLE_OK;
}

static treacle_status find_surface_parts(const flow_inputs* in, tension_params* to) {
    const wet_faces* wet = &in->wet;
    double h = wet->domain->h;
    float *kappa = NULL, *weight = NULL;
    TREACLE_TRY(step_take_zero(&in->frame, wet->map, "curvature", &kappa));
    TREACLE_TRY(step_take_zero(&in->frame, wet->map, "areas of the surface", &weight));
    TREACLE_TRY(find_curvature(in, kappa));
    sheet_fields areas = {.cell = weight};
    for (int n = 0; n < 2 * AXES && in->frame.is_stiff_surface; ++n) {
        TREACLE_TRY(
            step_take(&in->frame, wet->map, "areas of the surface", &areas.edge[n / 2][n % 2]));
        to->edge_area[n / 2][n % 2] = areas.edge[n / 2][n % 2];
    }
    sheet_compute(&(sheet_params){wet->domain, wet->map, wet->cell_phi}, &areas);
    area_job job = {in, to, weight};
    in->frame.stats->energy.surface = h * h * tile_sum(wet->map, energy_of_tile, &job);
    tile_for(wet->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, weigh_tiles, &job);
    to->cell_kappa = kappa;
    to->cell_weight = weight;
    return TREACLE_OK;
}

treacle_status flow_tension_find(const flow_inputs* in, tension_params* to) {
    const liquid_setup* setup = in->frame.setup;
    TREACLE_ASSERT(!setup->has.tension || setup->material_count > 0);
    *to = (tension_params){0};
    if (!setup->has.tension || !in->is_unified || in->frame.is_first) { // no time passes there
        return TREACLE_OK;
    }
    float* sigma = NULL;
    if (is_mixed(setup, &to->sigma)) {
        TREACLE_TRY(bring_sigma(in, &sigma));
    }
    to->cell_sigma = sigma;
    return find_surface_parts(in, to);
}
