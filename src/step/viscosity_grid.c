#include "step/viscosity_grid.h"

#include <math.h>

#include "grid/extrapolate.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "phys/stress.h"

enum { VISCOSITY_LAYERS = 2 };

static void mark_known(void* data, int64_t begin, int64_t end) {
    const viscosity_grid* v = data;
    for (int64_t t = begin; t < end; ++t) {
        v->known[t] = tile_mask_positive(v->cell_volume + t * TILE_CELLS);
    }
}

// Cells that know none say so.
static void mark_unknown(void* data, int64_t begin, int64_t end) {
    const viscosity_grid* v = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            float* log_mu = &v->cell_log_mu[t * TILE_CELLS + i];
            *log_mu = tile_mask_has(&v->known[t], i) ? *log_mu : VISCOSITY_NONE;
        }
    }
}

treacle_status viscosity_spread(const viscosity_grid* v) {
    TREACLE_ASSERT(v->known != NULL && v->cell_volume != NULL && v->cell_log_mu != NULL);
    TREACLE_ASSERT(v->cell_volume != v->cell_log_mu);
    tile_for(v->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mark_known, (void*)v);
    extrapolate_params params = {
        .domain = v->domain, .map = v->map, .place = PLACE_CELL, .layers = VISCOSITY_LAYERS};
    TREACLE_TRY(extrapolate(&params, v->cell_log_mu, v->known));
    tile_for(v->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mark_unknown, (void*)v);
    for (int i = 0; i < TILE_CELLS; ++i) {
        v->cell_log_mu[(size_t)v->map->count * TILE_CELLS + (size_t)i] = VISCOSITY_NONE;
    }
    return TREACLE_OK;
}

typedef struct slope_job {
    const float* cell_log_mu;
    float log_thick;
    float* slope;
} slope_job;

static void find_slopes(void* data, int64_t begin, int64_t end) {
    const slope_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float over = job->cell_log_mu[i] - job->log_thick + 1.0f;
        job->slope[i] = fminf(fmaxf(over, 0.0f), 1.0f);
    }
}

// In the split, faces that the liquid only touches get their velocity by extrapolation before they
// take part in the viscosity solve: as the mean of their neighbours it would slow down what
// rotates, 1.5 % in 25 thick steps. So thick liquid keeps its slope outside, where mu dt/(rho h^2)
// >= 1, that is where viscosity has smoothed the velocity within the step. The unified flow finds
// the velocity of these faces itself; but with steps of second order, which lose little else, the
// slope counts there, too.
bool viscosity_keeps_slope(const liquid_setup* setup) {
    const treacle_sim_def* def = setup->def;
    bool is_second = def->step.splitting == TREACLE_SPLITTING_SECOND;
    return def->flow == TREACLE_FLOW_SPLIT || (def->flow == TREACLE_FLOW_UNIFIED && is_second);
}

treacle_status viscosity_slopes(const viscosity_grid* v, const liquid_setup* setup, double thick,
                                arena* scratch, float** out) {
    TREACLE_ASSERT(thick > 0.0 && scratch != NULL);
    size_t values = ((size_t)v->map->count + 1) * TILE_CELLS;
    *out = NULL;
    if (!viscosity_keeps_slope(setup) || v->cell_log_mu == NULL || setup->other.cut != NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(viscosity_spread(v));
    TREACLE_TRY(arena_take(scratch, values, sizeof(float), "slopes", (void**)out));
    slope_job job = {v->cell_log_mu, (float)elementary_log(thick), *out};
    tile_for(v->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, find_slopes, &job);
    return TREACLE_OK;
}
