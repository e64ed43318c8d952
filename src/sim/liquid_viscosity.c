// The viscosity of the liquid's flow: alone [BB08], or with the pressure in one solve.
#include <math.h>
#include <string.h>

#include "grid/extrapolate.h"
#include "grid/fraction.h"
#include "grid/stagger.h"
#include "grid/tile_ranks.h"
#include "phys/free_flight.h"
#include "phys/release.h"
#include "phys/viscosity.h"
#include "phys/viscosity_comparator.h"
#include "sim/rheology_loop.h"

// Cells that have particles know their viscosity; two layers around them take it over.
enum { VISCOSITY_LAYERS = 2 };
// Comparators do without multigrid: so many times the iterations are allowed.
enum { COMPARATOR_PATIENCE = 20 };

static void mark_known(void* data, int64_t begin, int64_t end) {
    const liquid_work* w = data;
    for (int64_t t = begin; t < end; ++t) {
        memset(&w->valid[t], 0, sizeof(w->valid[t]));
        for (int i = 0; i < TILE_CELLS; ++i) {
            if (w->given.volume[t * TILE_CELLS + i] > 0.0f) {
                tile_mask_add(&w->valid[t], i);
            }
        }
    }
}

// Cells that know none say so.
static void mark_unknown(void* data, int64_t begin, int64_t end) {
    const liquid_work* w = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            bool is_known = tile_mask_has(&w->valid[t], i);
            w->cell_log_mu[t * TILE_CELLS + i] =
                is_known ? w->cell_log_mu[t * TILE_CELLS + i] : VISCOSITY_NONE;
        }
    }
}

treacle_status liquid_spread_viscosity(liquid_work* w) {
    const tile_map* map = &w->state->map;
    tile_for_held(map, 8, mark_known, w);
    extrapolate_params params = {
        .domain = w->setup->domain, .map = map, .place = PLACE_CELL, .layers = VISCOSITY_LAYERS};
    TREACLE_TRY(extrapolate(&params, w->cell_log_mu, w->valid));
    tile_for_held(map, 8, mark_unknown, w);
    for (int i = 0; i < TILE_CELLS; ++i) {
        w->cell_log_mu[(size_t)map->count * TILE_CELLS + (size_t)i] = VISCOSITY_NONE;
    }
    return TREACLE_OK;
}

treacle_status liquid_wall_kinds(liquid_work* w, const wall_kind** out) {
    const solid_set* set = &w->setup->solids;
    wall_kind* walls = NULL;
    *out = NULL;
    if (w->solid.phi == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take(w->scratch, (size_t)set->count, sizeof(*walls), "walls of solids",
                           (void**)&walls));
    for (int i = 0; i < set->count; ++i) {
        const solid* s = &set->solids[i];
        walls[i] = (wall_kind){s->wall, s->slip_length / w->setup->domain->h};
    }
    *out = walls;
    return TREACLE_OK;
}

static treacle_status describe_walls(liquid_work* w, stress_params* out) {
    const solid_set* set = &w->setup->solids;
    TREACLE_TRY(liquid_wall_kinds(w, &out->walls));
    if (out->walls == NULL) {
        return TREACLE_OK;
    }
    for (int i = 0; i < set->count; ++i) {
        out->has_slip_walls = out->has_slip_walls || set->solids[i].wall != TREACLE_WALL_NO_SLIP;
    }
    out->poses = w->poses.to;
    out->cell_solid_phi = w->solid.phi;
    out->cell_solid_id = w->solid.id;
    out->bodies = w->body.flow.at != NULL ? &w->body.flow : NULL;
    return TREACLE_OK;
}

// The velocity of the liquid goes on across what it has let go of.
static treacle_status leave_velocity(liquid_work* w, const release_params* params,
                                     const release_fields* fields) {
    int mark = arena_mark(w->scratch);
    float* extended[AXES];
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity beyond walls",
                               (void**)&extended[a]));
        memcpy(extended[a], w->state->face_u.at[a], w->values * sizeof(float));
    }
    TREACLE_TRY(liquid_extend_faces(w, LIQUID_KERNEL_RADIUS, extended));
    const float* const from[AXES] = {extended[0], extended[1], extended[2]};
    release_velocity(params, fields, from, w->state->face_u.at);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

static treacle_status take_release(liquid_work* w, release_fields* out) {
    const char* what = "liquid without solids";
    TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), what, (void**)&out->cell_phi));
    TREACLE_TRY(
        arena_take(w->scratch, w->values, sizeof(uint16_t), what, (void**)&out->cell_solid_id));
    TREACLE_TRY(arena_take(w->scratch, 2 * w->values, 1, what, (void**)&out->cell_kind));
    for (int n = 0; n < 2 * AXES; ++n) {
        float** open = n < AXES ? &out->face_open.at[n] : &out->face_open_below.at[n - AXES];
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), what, (void**)open));
    }
    return TREACLE_OK;
}

// Where liquid has let go of solids they are not there for the flow [sep.5].
static treacle_status leave_solids(liquid_work* w, const fraction_fields* share,
                                   stress_params* out) {
    release_params params = {.domain = w->setup->domain,
                             .map = &w->state->map,
                             .walls = &w->walls,
                             .cell_phi = w->state->cell_phi,
                             .cell_solid_phi = w->solid.phi,
                             .cell_solid_id = w->solid.id,
                             .face_open = face_view_of(w->solid.face_open)};
    release_fields fields = {0};
    TREACLE_TRY(take_release(w, &fields));
    release_compute(&params, &fields);
    out->cell_solid_id = fields.cell_solid_id;
    out->face_open = face_view_of(fields.face_open);
    out->face_open_below = face_view_of(fields.face_open_below);
    TREACLE_TRY(leave_velocity(w, &params, &fields));
    fraction_compute(&(fraction_params){params.domain, params.map, fields.cell_phi}, share);
    release_trim(&params, &fields, share);
    w->liquid.is_current = w->liquid.is_current && share != &w->liquid.fraction;
    return TREACLE_OK;
}

static treacle_status take_shares(liquid_work* w, bool has_tents, fraction_fields* out) {
    float** const fields[] = {
        &out->cell,       &out->edge.at[0], &out->edge.at[1], &out->edge.at[2], &out->face.at[0],
        &out->face.at[1], &out->face.at[2], &out->tent.at[0], &out->tent.at[1], &out->tent.at[2]};
    size_t count = sizeof(fields) / sizeof(fields[0]) - (has_tents ? 0 : AXES);
    for (size_t i = 0; i < count; ++i) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "shares of liquid",
                                    (void**)fields[i]));
    }
    return TREACLE_OK;
}

// What both flows know about the liquid; its fields come from the scratch arena. Shares that are
// known already stay.
static treacle_status describe(liquid_work* w, const fraction_fields* share, stress_params* out) {
    *out = (stress_params){
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_share = share->cell,
        .edge_share = face_view_of(share->edge),
        .face_share = face_view_of(share->tent.at[0] != NULL ? share->tent : share->face),
        .face_open = face_view_of(w->solid.face_open),
        .face_rho = face_view_of(w->face_rho),
        .face_solid_u = face_view_of(w->solid.face_u),
        .cell_log_mu = w->cell_log_mu,
        .mean = w->setup->def->viscosity_solve.mean,
        .stress = w->elastic.stress.cell[0] != NULL && !w->is_first ? &w->elastic.stress : NULL,
        .cell_cut = w->cell_cut,
        .dt = w->dt,
        .reference_density = w->setup->reference_density,
    };
    TREACLE_TRY(describe_walls(w, out));
    if (w->solid.phi != NULL && release_is_needed(&w->walls)) {
        TREACLE_TRY(leave_solids(w, share, out));
    } else if (share != &w->liquid.fraction || !w->liquid.is_current) {
        fraction_params params = {w->setup->domain, &w->state->map, w->state->cell_phi};
        fraction_compute(&params, share);
        w->liquid.is_current = w->liquid.is_current || share == &w->liquid.fraction;
    }
    return liquid_spread_viscosity(w);
}

// Another free surface than that of the shares; part of the comparators.
static treacle_status change_surface(liquid_work* w, const fraction_fields* share,
                                     stress_params* liquid) {
    comparator_surface surface = {.domain = w->setup->domain,
                                  .map = &w->state->map,
                                  .cell_phi = w->state->cell_phi,
                                  .kind = w->setup->def->viscosity_solve.surface,
                                  .share = *share};
    for (int a = 0; a < AXES && surface.kind == TREACLE_VISCOSITY_DIRICHLET; ++a) {
        float* rho = NULL;
        TREACLE_TRY(
            arena_take(w->scratch, w->values, sizeof(float), "density of the air", (void**)&rho));
        for (size_t i = 0; i < w->values; ++i) {
            rho[i] = w->face_rho.at[a] != NULL ? w->face_rho.at[a][i] : 1.0f;
        }
        liquid->face_rho.at[a] = surface.face_rho.at[a] = rho;
    }
    comparator_shares(&surface);
    return TREACLE_OK;
}

static treacle_status thicken(liquid_work* w, const stress_params* liquid, solve_stats* stats) {
    const treacle_viscosity_def* def = &w->setup->def->viscosity_solve;
    solve_params solve = {.norm = SOLVE_NORM_2,
                          .relative = w->setup->def->pressure.tolerance,
                          .max_iterations = w->setup->def->pressure.max_iterations};
    if (def->method == TREACLE_VISCOSITY_IMPLICIT) {
        viscosity_params params = {*liquid, solve, w->account.push};
        return viscosity_apply(&params, w->state->face_u.at, stats, &w->account.part);
    }
    solve.max_iterations *= COMPARATOR_PATIENCE;
    comparator_params params = {.liquid = *liquid,
                                .method = def->method,
                                .substeps = def->substeps,
                                .has_lagged_shear = def->surface == TREACLE_VISCOSITY_NICHOLS_HIRT,
                                .solve = solve};
    int* substeps = &w->stats->viscosity_substeps;
    if (!def->free_flight) {
        return comparator_apply(&params, w->state->face_u.at, substeps, stats);
    }
    free_flight_params flight_params = {.domain = w->setup->domain,
                                        .map = &w->state->map,
                                        .cell_phi = w->state->cell_phi,
                                        .face_open = face_view_of(w->solid.face_open),
                                        .face_rho = face_view_of(w->face_rho)};
    free_flight flight;
    TREACLE_TRY(free_flight_begin(&flight_params, w->state->face_u.at, &flight));
    treacle_status status = comparator_apply(&params, w->state->face_u.at, substeps, stats);
    if (status == TREACLE_OK) {
        free_flight_end(&flight, w->state->face_u.at);
    }
    free_flight_finish(&flight);
    return status;
}

treacle_status liquid_thicken(liquid_work* w, double* cell_x) {
    (void)cell_x;
    int mark = arena_mark(w->scratch);
    fraction_fields share = {0};
    stress_params liquid;
    solve_stats solve;
    TREACLE_TRY(take_shares(w, false, &share));
    TREACLE_TRY(describe(w, &share, &liquid));
    TREACLE_TRY(liquid_extend_wet(w, LIQUID_KERNEL_RADIUS));
    TREACLE_TRY(change_surface(w, &share, &liquid));
    TREACLE_TRY(thicken(w, &liquid, &solve));
    arena_give_to(w->scratch, mark);
    return liquid_accept(w, &solve, "viscosity", &w->stats->viscosity);
}

// --- unified ------------------------------------------------------------------------------------

void liquid_carry_velocity(liquid_work* w, float* const out[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        tile_copy(&w->state->map, out[a], w->state->face_u.at[a], TILE_CELLS * sizeof(float));
        if (w->before->map.count > 0) {
            tile_history_carry(&w->history, w->before->face_u.at[a], out[a],
                               TILE_CELLS * sizeof(float));
        }
    }
}

static treacle_status guess_velocity(liquid_work* w, const float* out[AXES]) {
    float* u[AXES];
    if (w->before->map.count == 0 || w->rheology != NULL) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity of the last step",
                               (void**)&u[a]));
        out[a] = u[a];
    }
    liquid_carry_velocity(w, u);
    return TREACLE_OK;
}

static treacle_status accept(liquid_work* w, const stokes_stats* solve) {
    treacle_solve_stats before = w->stats->flow; // of the passes before
    w->stats->flow = (treacle_solve_stats){.iterations = before.iterations + solve->iterations,
                                           .residual = solve->energy,
                                           .seconds = before.seconds + solve->seconds,
                                           .converged = solve->is_converged};
    if (solve->is_broken || (!solve->is_converged && !(solve->energy < UNIFIED_ENERGY_MAX))) {
        return check_fail(w->ctx, TREACLE_ERR_DIVERGED,
                          "the solve of pressure and viscosity stopped at a relative error of %g "
                          "after %d iterations",
                          solve->energy, solve->iterations);
    }
    return TREACLE_OK;
}

// A loop around the solve that goes on from where it ended cannot be more exact than it; but
// rounding ends what a solve can do.
static double energy_target(const liquid_work* w) {
    const treacle_sim_def* def = w->setup->def;
    double target = LIQUID_ENERGY_FACTOR * def->pressure.tolerance;
    double loop = fmax(0.5 * def->viscosity_solve.tolerance, 0.01 * target);
    return w->rheology != NULL ? fmin(target, loop) : target;
}

treacle_status liquid_unify(liquid_work* w, double* cell_x) {
    int mark = arena_mark(w->scratch);
    const treacle_pressure_def* pressure = &w->setup->def->pressure;
    const double* g = w->gravity;
    unified_params params = {.push = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * w->dt,
                             .tolerance = energy_target(w),
                             .max_iterations = pressure->max_iterations,
                             .pushed = w->account.push};
    stokes_stats solve;
    TREACLE_TRY(describe(w, &w->liquid.fraction, &params.liquid));
    params.face_box = face_view_of(w->liquid.fraction.face);
    TREACLE_TRY(guess_velocity(w, params.guess_u.at));
    TREACLE_TRY(w->rheology != NULL ? liquid_newton(w, &params, cell_x, &solve)
                                    : unified_apply(&params, w->state->face_u.at, cell_x, &solve,
                                                    &w->account.part));
    liquid_measure_walls(w, &params.liquid, cell_x);
    arena_give_to(w->scratch, mark);
    return accept(w, &solve);
}
