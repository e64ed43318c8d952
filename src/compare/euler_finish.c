// After the flow: velocity and fields go on beyond the surface, and what is measured.
#include "compare/euler_finish.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "compare/euler_boundary.h"
#include "compare/outer_flow.h"
#include "grid/extrapolate.h"
#include "grid/fraction.h"
#include "grid/tile_loop.h"

// Cells: so far beyond the surface velocity has no divergence.
#define OUTER_REACH 1.5f

// --- velocity beyond the surface -----------------------------------------------------------------

typedef struct held_job {
    const euler_work* e;
    float* const* found; // NAN: not by the flow
    uint8_t* const* is_held;
} held_job;

static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const held_job* job = data;
    const step_work* w = job->e->w;
    const grid_domain* domain = w->f.setup->domain;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            bool is_closed = !(w->made.solid.face_open.at[a][i] > 0.0f);
            bool is_side = grid_domain_side_at(domain, a, at[a], domain->cells[a]) != 0;
            job->is_held[a][i] = is_closed || is_side || !isnan(job->found[a][i]);
        }
    }
}

static treacle_status find_outer_flow(euler_work* e) {
    step_work* w = e->w;
    int mark = arena_mark(w->f.scratch);
    float *found[AXES], *room = NULL;
    uint8_t* is_held[AXES];
    TREACLE_TRY(step_take(&w->f, &w->state->map, "outer velocity", &room));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(step_take(&w->f, &w->state->map, "outer velocity", &found[a]));
        TREACLE_TRY(arena_take(w->f.scratch, tile_map_values(&w->state->map), 1, "outer velocity",
                               (void**)&is_held[a]));
        memset(is_held[a] + tile_map_values(&w->state->map) - TILE_CELLS, 1, TILE_CELLS);
    }
    wet_faces wet = w->made.wet;
    wet.surface = euler_surface_of(e);
    wet_faces_copy(&wet, face_view_of(w->state->face_u), found);
    held_job held = {e, found, is_held};
    tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, hold_tiles, &held);
    outer_flow params = {.domain = w->f.setup->domain,
                         .map = &w->state->map,
                         .cell_phi = w->state->cell_phi,
                         .face_is_held = {is_held[0], is_held[1], is_held[2]},
                         .reach = OUTER_REACH,
                         .cell_room = room};
    outer_flow_project(&params, w->state->face_u.at);
    arena_give_to(w->f.scratch, mark);
    return TREACLE_OK;
}

// --- fields --------------------------------------------------------------------------------------

typedef struct free_job {
    const euler_work* e;
    grid_place place;
    tile_mask* known;
} free_job;

// Samples inside the surface are free, as [G11 sec. 3.1] has it; the lattice knows them all.
static void mark_free(void* data, int64_t begin, int64_t end) {
    const free_job* job = data;
    const step_work* w = job->e->w;
    const euler_work* e = job->e;
    const tile_map* map = &w->state->map;
    tile_sampler phi =
        tile_sampler_of(e->level.lattice, &e->surface->map, PLACE_CELL, e->surface->phi);
    tile_sampler to_solid = tile_sampler_of(w->f.setup->domain, map, PLACE_CELL, w->made.solid.phi);
    for (int64_t t = begin; t < end; ++t) {
        tile_mask inside = tile_mask_inside(w->f.setup->domain, job->place, map->coord[t]);
        memset(&job->known[t], 0, sizeof(job->known[t]));
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(map, (tile_ix)t, i, at);
            for (int a = 0; a < AXES; ++a) {
                at[a] = 2 * at[a] + place_half(job->place, a);
            }
            bool is_free = tile_mask_has(&inside, i) && tile_sample_at(&phi, at) < 0.0f;
            if (is_free && w->made.solid.phi != NULL) { // images are not free
                float x[AXES];
                for (int a = 0; a < AXES; ++a) {
                    x[a] = w->f.setup->domain->is_active[a] ? 0.5f * (float)at[a] : 0.5f;
                }
                is_free = tile_sample(&to_solid, (tile_coord){{0, 0, 0}}, x) > -0.01f;
            }
            if (is_free) {
                tile_mask_add(&job->known[t], i);
            }
        }
    }
}

// Layers around the liquid in which a field must be known for the next step. Differences against
// the flow ask for cells as far away as a step has substeps, a cell a substep along any axis, and
// the liquid itself comes as far: layers count such steps, too.
static int layers_of(const euler_work* e, int carried) {
    const step_work* w = e->w;
    const bool* is_active = w->f.setup->domain->is_active;
    int axes = is_active[0] + is_active[1] + is_active[2];
    int cells = (int)ceil(w->f.setup->def->step.cfl);
    bool is_upwind = w->f.setup->def->heat.convection == TREACLE_CONVECTION_UPWIND;
    int far = is_upwind && carried < CARRIED_STRAIN ? 2 * axes * cells : cells;
    return far + LIQUID_KERNEL_RADIUS + 1;
}

static treacle_status extend_fields(euler_work* e) {
    step_work* w = e->w;
    extrapolate_params params = {.domain = w->f.setup->domain, .map = &w->state->map};
    free_job job = {.e = e, .known = w->made.wet.known};
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        if (w->state->carried[f] != NULL) {
            params.place = job.place = euler_place_of(f);
            params.layers = layers_of(e, f);
            tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, mark_free,
                     &job);
            TREACLE_TRY(extrapolate(&params, w->state->carried[f], w->made.wet.known));
        }
    }
    return TREACLE_OK;
}

// --- measures ------------------------------------------------------------------------------------

typedef struct energy_job {
    const euler_work* e;
    double mass;           // kg, of a full cell
    const float* fraction; // of cells inside the surface
} energy_job;

// The mass of the liquid in a cell, kg, as far as solids leave it open.
static double mass_in(const energy_job* job, int64_t i) {
    const step_work* w = job->e->w;
    int at[AXES];
    tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    double open = w->made.solid.open != NULL ? (double)w->made.solid.open[i] : 1.0;
    return euler_is_in_domain(job->e, at) ? job->mass * open * (double)job->fraction[i] : 0.0;
}

static double enthalpy_of_tile(void* data, int64_t t) {
    const energy_job* job = data;
    const liquid_state* state = job->e->w->state;
    const float *temperature = state->carried[CARRIED_TEMPERATURE],
                *melted = state->carried[CARRIED_MELTED];
    const heat_curve* curve = &job->e->w->f.setup->heat.curve[0];
    double sum = 0.0;
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
        double mass = mass_in(job, i), fraction = melted != NULL ? (double)melted[i] : 0.0;
        sum += mass > 0.0 ? mass * heat_curve_energy(curve, (double)temperature[i], fraction) : 0.0;
    }
    return sum;
}

static double energy_of_tile(void* data, int64_t t) {
    const energy_job* job = data;
    const liquid_state* state = job->e->w->state;
    double sum = 0.0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        double mass = mass_in(job, t * TILE_CELLS + q), square = 0.0;
        for (int a = 0; mass > 0.0 && a < AXES; ++a) {
            bool is_active = job->e->w->f.setup->domain->is_active[a];
            double low = (double)state->face_u.at[a][t * TILE_CELLS + q];
            double high = is_active
                              ? (double)state->face_u.at[a][tile_slot_above(&state->map, t, q, a)]
                              : low;
            square += 0.5 * (low * low + high * high);
        }
        sum += 0.5 * mass * square;
    }
    return sum;
}

typedef struct cut_job {
    const euler_work* e;
    float* phi;
} cut_job;

// The surface with solids cut out: behind theirs there are only images.
static void cut_tiles(void* data, int64_t begin, int64_t end) {
    const cut_job* job = data;
    const step_work* w = job->e->w;
    const level_set* set = job->e->surface;
    tile_sampler to_solid =
        tile_sampler_of(w->f.setup->domain, &w->state->map, PLACE_CELL, w->made.solid.phi);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        float x[AXES];
        tile_cell_at(&set->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            x[a] = w->f.setup->domain->is_active[a] ? 0.5f * (float)at[a] : 0.5f;
        }
        float s = 2.0f * tile_sample(&to_solid, (tile_coord){{0, 0, 0}}, x);
        job->phi[i] = fmaxf(set->phi[i], -s);
    }
}

static treacle_status measure_volume(euler_work* e) {
    step_work* w = e->w;
    level_set cut = *e->surface;
    cut_job job = {.e = e};
    if (w->made.solid.phi == NULL) {
        w->f.stats->volume = level_set_volume(&e->level, e->surface);
        return TREACLE_OK;
    }
    size_t values = ((size_t)cut.map.count + 1) * TILE_CELLS;
    TREACLE_TRY(arena_take(w->f.scratch, values, sizeof(float), "the surface", (void**)&job.phi));
    tile_for(&cut.map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, cut_tiles, &job);
    memcpy(job.phi + values - TILE_CELLS, cut.phi + values - TILE_CELLS,
           TILE_CELLS * sizeof(float));
    cut.phi = job.phi;
    w->f.stats->volume = level_set_volume(&e->level, &cut);
    arena_give(w->f.scratch, job.phi);
    return TREACLE_OK;
}

static treacle_status euler_finish_measure(euler_work* e) {
    step_work* w = e->w;
    double h = w->f.setup->domain->h;
    float* fraction = NULL;
    TREACLE_TRY(step_take(&w->f, &w->state->map, "shares of cells", &fraction));
    fraction_params params = {w->f.setup->domain, &w->state->map, w->state->cell_phi};
    fraction_compute(&params, &(fraction_fields){.cell = fraction});
    energy_job job = {e, w->f.setup->materials[0].density * h * h * h, fraction};
    w->f.stats->kinetic_energy = parallel_sum(w->f.ctx, w->state->map.count, energy_of_tile, &job);
    if (w->f.setup->heat.is_on) {
        w->f.stats->enthalpy = parallel_sum(w->f.ctx, w->state->map.count, enthalpy_of_tile, &job);
    }
    w->f.stats->particles = e->surface->markers.count;
    arena_give(w->f.scratch, fraction);
    return measure_volume(e);
}

// What is missing of the volume that should be there; said once when it is much. Through open sides
// it may have left.
static void count_lost(euler_work* e) {
    step_work* w = e->w;
    double volume = w->f.stats->volume;
    if (w->f.is_first || isnan(e->due_before) || grid_domain_has_open_side(w->f.setup->domain)) {
        *e->due = volume;
        return;
    }
    double lost = *e->due - volume;
    w->f.stats->volume_lost = lost;
    if (lost > EULER_LOSS_MOST * *e->due && !*e->has_warned) {
        *e->has_warned = true;
        log_message(w->f.ctx, TREACLE_LOG_WARNING,
                    "at %g s the grid has lost %.3g %% of the liquid's volume, %.3g of %.3g m^3: "
                    "smaller cells or a smaller level_set.cfl lose less, 'motion: particles' "
                    "loses nothing",
                    w->f.time + w->f.dt, 100.0 * lost / *e->due, lost, *e->due);
    }
}

treacle_status euler_finish(euler_work* e) {
    TREACLE_ASSERT(e->w->made.wet.map == &e->w->state->map);
    TREACLE_ASSERT(e->due != NULL);
    euler_bound_gaps(e);
    TREACLE_TRY(find_outer_flow(e));
    TREACLE_TRY(extend_fields(e));
    TREACLE_TRY(euler_finish_measure(e));
    count_lost(e);
    return TREACLE_OK;
}
