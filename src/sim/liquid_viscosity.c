// The viscosity of the liquid's flow: pressure, viscosity, pressure [BB08].
#include <string.h>

#include "base/parallel.h"
#include "grid/extrapolate.h"
#include "grid/stagger.h"
#include "phys/viscosity.h"
#include "sim/liquid.h"

// Cells that have particles know their viscosity; two layers around them take it over.
enum { VISCOSITY_LAYERS = 2 };

static void mark_known(void* data, int64_t begin, int64_t end, int worker) {
    const liquid_work* w = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        memset(&w->valid[t], 0, sizeof(w->valid[t]));
        for (int i = 0; i < TILE_CELLS; ++i) {
            if (w->cell_volume[t * TILE_CELLS + i] > 0.0f) {
                tile_mask_add(&w->valid[t], i);
            }
        }
    }
}

// Cells that know none say so.
static void mark_unknown(void* data, int64_t begin, int64_t end, int worker) {
    const liquid_work* w = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            bool is_known = tile_mask_has(&w->valid[t], i);
            w->cell_log_mu[t * TILE_CELLS + i] =
                is_known ? w->cell_log_mu[t * TILE_CELLS + i] : VISCOSITY_NONE;
        }
    }
}

static treacle_status spread_viscosity(liquid_work* w) {
    const tile_map* map = &w->state->map;
    parallel_for(w->ctx, map->count, 8, mark_known, w);
    extrapolate_params params = {
        .domain = w->setup->domain, .map = map, .place = PLACE_CELL, .layers = VISCOSITY_LAYERS};
    TREACLE_TRY(extrapolate(&params, w->cell_log_mu, w->valid));
    parallel_for(w->ctx, map->count, 8, mark_unknown, w);
    for (int i = 0; i < TILE_CELLS; ++i) {
        w->cell_log_mu[(size_t)map->count * TILE_CELLS + (size_t)i] = VISCOSITY_NONE;
    }
    return TREACLE_OK;
}

static treacle_status take_fractions(liquid_work* w, fraction_fields* out) {
    float** fields[] = {&out->cell,    &out->face[0], &out->face[1], &out->face[2],
                        &out->edge[0], &out->edge[1], &out->edge[2]};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "shares of liquid",
                                    (void**)fields[i]));
    }
    fraction_params params = {w->setup->domain, &w->state->map, w->cell_phi};
    fraction_compute(&params, out);
    return TREACLE_OK;
}

treacle_status liquid_thicken(liquid_work* w) {
    int mark = arena_mark(w->scratch);
    const treacle_pressure_def* pressure = &w->setup->def->pressure;
    viscosity_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_log_mu = w->cell_log_mu,
        .face_open = {w->face_open[0], w->face_open[1], w->face_open[2]},
        .face_rho = {w->face_rho[0], w->face_rho[1], w->face_rho[2]},
        .dt = w->dt,
        .reference_density = w->setup->reference_density,
        .solve = {.norm = SOLVE_NORM_2,
                  .relative = pressure->tolerance,
                  .max_iterations = pressure->max_iterations},
    };
    TREACLE_TRY(spread_viscosity(w));
    TREACLE_TRY(liquid_extend_wet(w, LIQUID_KERNEL_RADIUS));
    TREACLE_TRY(take_fractions(w, &params.volume));
    solve_stats solve;
    TREACLE_TRY(viscosity_apply(&params, w->state->face_u, &solve));
    arena_give_to(w->scratch, mark);
    return liquid_accept(w, &solve, "viscosity", &w->stats->viscosity);
}
