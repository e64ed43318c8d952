// Liquid that moves on the grid: how it begins, and how it is shown.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "grid/tile_sample.h"
#include "phys/paths.h"
#include "phys/rheology.h"
#include "sim/euler.h"
#include "sim/heat_setup.h"
#include "sim/sim_internal.h"

// --- state ---------------------------------------------------------------------------------------

level_set_work sim_level_work(treacle_sim* sim) {
    return (level_set_work){.ctx = sim->ctx,
                            .grid = &sim->domain,
                            .lattice = &sim->lattice,
                            .scratch = &sim->scratch,
                            .spares = &sim->spares,
                            .seed = sim->def.seed,
                            .per_cell = sim->def.level_set.markers};
}

treacle_status sim_level_create(treacle_sim* sim) {
    if (!sim->plan.is_eulerian) {
        return TREACLE_OK;
    }
    sim->lattice = level_set_domain(&sim->domain);
    TREACLE_TRY(level_set_create(sim->ctx, &sim->lattice, &sim->now.surface));
    TREACLE_TRY(level_set_create(sim->ctx, &sim->lattice, &sim->next.surface));
    return particles_create(sim->ctx, sim->now.particles.column_mask, &sim->shown);
}

euler_work sim_euler_work(treacle_sim* sim) {
    return (euler_work){.level = sim_level_work(sim),
                        .before = &sim->now.surface,
                        .surface = &sim->next.surface,
                        .is_reseeded = sim->next.step % sim->def.level_set.reseed == 0,
                        .sink_count = sim->sink_count,
                        .sinks = sim->sinks,
                        .due_before = sim->now.volume_due,
                        .due = &sim->next.volume_due,
                        .has_warned = &sim->has_warned.of_lost};
}

// --- the start -----------------------------------------------------------------------------------

typedef struct scaled_shape {
    const shape* what;
    double cell; // m
} scaled_shape;

static float liquid_distance(const void* data, vec3 x) {
    const scaled_shape* s = data;
    return (float)(shape_distance(s->what, x) / s->cell);
}

// Solids are cut out by the images of the first step [level.5].
static treacle_status make_surface(treacle_sim* sim, const seed_def* seeding) {
    level_set_work w = sim_level_work(sim);
    for (int i = 0; i < seeding->liquid_count; ++i) {
        scaled_shape s = {seeding->liquids[i].shape, sim->lattice.h};
        level_set_part part = {liquid_distance, &s, shape_bounds(s.what), false};
        TREACLE_TRY(level_set_combine(&w, &part, &sim->now.surface));
    }
    return level_set_settle(&w, &sim->now.surface);
}

typedef struct begin_job {
    const treacle_sim* sim;
    const seed_def* seeding;
} begin_job;

static const seed_liquid* nearest_liquid(const seed_def* seeding, vec3 x) {
    const seed_liquid* best = NULL;
    double least = INFINITY;
    for (int i = 0; i < seeding->liquid_count; ++i) {
        double d = shape_distance(seeding->liquids[i].shape, x);
        if (best == NULL || d < least) {
            best = &seeding->liquids[i];
            least = d;
        }
    }
    return best;
}

static vec3 place_at(const grid_domain* domain, grid_place place, const int at[AXES]) {
    vec3 x;
    for (int a = 0; a < AXES; ++a) {
        x.at[a] = domain->origin[a] + domain->h * (at[a] + (double)place_offset(place, a));
    }
    return x;
}

static void begin_tiles(void* data, int64_t begin, int64_t end) {
    const begin_job* job = data;
    const liquid_state* state = &job->sim->now.liquid;
    const heat_curve* curve = job->sim->setup.heat.curve;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!tile_cell_counts(&state->map, (int)(i % TILE_CELLS))) {
            continue;
        }
        for (int a = 0; a < AXES; ++a) {
            vec3 x = place_at(&job->sim->domain, place_face(a), at), u;
            const seed_liquid* l = nearest_liquid(job->seeding, x);
            field_eval(l->velocity, x, 0.0, u.at);
            u = vec3_add(u, vec3_cross(l->spin, vec3_sub(x, l->spin_centre)));
            state->face_u.at[a][i] = job->sim->domain.is_active[a] ? (float)u.at[a] : 0.0f;
        }
        if (state->carried[CARRIED_TEMPERATURE] != NULL) {
            vec3 x = place_at(&job->sim->domain, PLACE_CELL, at);
            double kelvin;
            field_eval(nearest_liquid(job->seeding, x)->temperature, x, 0.0, &kelvin);
            state->carried[CARRIED_TEMPERATURE][i] = (float)kelvin;
            if (state->carried[CARRIED_MELTED] != NULL) {
                state->carried[CARRIED_MELTED][i] =
                    (float)heat_curve_melted(&curve[0], kelvin, 0.0);
            }
        }
    }
}

treacle_status sim_seed_euler(treacle_sim* sim, const seed_def* seeding) {
    TREACLE_TRY(make_surface(sim, seeding));
    euler_work euler = sim_euler_work(sim);
    euler.surface = &sim->now.surface;
    liquid_state none = {0};
    step_work w = {.f = {.ctx = sim->ctx, .setup = &sim->setup, .scratch = &sim->scratch},
                   .before = &none,
                   .state = &sim->now.liquid,
                   .euler = &euler};
    treacle_status status = euler_build_tiles(&w);
    if (status == TREACLE_OK && seeding->liquid_count > 0) {
        begin_job job = {sim, seeding};
        parallel_for(sim->ctx, sim->now.liquid.map.count, 1, begin_tiles, &job);
    }
    arena_give_to(&sim->scratch, 0);
    return status;
}

// --- for pictures --------------------------------------------------------------------------------

// A frame shows points of the liquid, as if particles carried it: the middles of the eight (in 2D
// four) parts of every cell that are inside the surface. They are made for the frame and are no
// state; the id of a point is its place, so what stands still keeps its points.
typedef struct show_job {
    treacle_sim* sim;
    paths_block* block;
    tile_sampler phi, temperature, melted;
    tensor_field strain;
    solid_scene solids; // none: count is 0
} show_job;

static void show_point(show_job* job, particle_ix row, tile_coord tile, const float x[AXES]) {
    const treacle_sim* sim = job->sim;
    const particles* p = &sim->shown;
    particle_birth birth = {.volume = 1.0};
    int parts = 1;
    uint64_t id = 0;
    for (int a = AXES - 1; a >= 0; --a) {
        bool is_active = sim->domain.is_active[a];
        parts *= is_active ? 2 : 1;
        birth.volume *= sim->domain.h;
        birth.position[a] = x[a];
        birth.velocity.at[a] = (double)paths_component(job->block, a, x);
        int64_t at = (int64_t)tile.at[a] * 2 * TILE_SIZE + (int64_t)(2.0f * x[a]);
        id = id * (uint64_t)(2 * sim->domain.cells[a]) + (uint64_t)at;
    }
    birth.id = id;
    birth.volume /= parts;
    birth.place = particles_place(&sim->domain, tile, x);
    memcpy(birth.colour, sim->palette[0], sizeof(birth.colour));
    if (job->temperature.values != NULL) {
        birth.temperature = tile_sample(&job->temperature, tile, x);
    }
    particles_bear(&job->sim->shown, &sim->domain, row, &birth);
    if (p->column[PARTICLE_MELTED] != NULL) {
        particles_f32(p, PARTICLE_MELTED)[row] =
            job->melted.values != NULL ? tile_sample(&job->melted, tile, x) : 0.0f;
    }
    for (int k = 0; p->column[PARTICLE_STRAIN] != NULL && k < STRAIN_PARTS; ++k) {
        tile_sampler part = tile_sampler_of(&sim->domain, &sim->now.liquid.map, tensor_place(k),
                                            tensor_part(&job->strain, k));
        particles_f32(p, PARTICLE_STRAIN)[STRAIN_PARTS * row + k] = tile_sample(&part, tile, x);
    }
}

static bool is_in_liquid(show_job* job, tile_coord tile, const float x[AXES]) {
    const treacle_sim* sim = job->sim;
    float at[AXES];
    bool is_inside = true;
    // The lattice tile at twice the coordinate begins where this tile does.
    tile_coord home = tile;
    for (int a = 0; a < AXES; ++a) {
        float place = (float)(tile.at[a] * TILE_SIZE) + x[a];
        is_inside = is_inside && place < (float)sim->domain.cells[a];
        home.at[a] = sim->domain.is_active[a] ? 2 * tile.at[a] : 0;
        at[a] = sim->domain.is_active[a] ? 2.0f * x[a] + 0.5f : 0.5f;
    }
    if (!is_inside || !(tile_sample(&job->phi, home, at) < 0.0f)) {
        return false;
    }
    double distance = 1.0; // behind solids there are images only
    if (job->solids.count > 0) {
        solid_nearest(&job->solids, particles_place(&sim->domain, tile, x), &distance);
    }
    return distance > 0.0;
}

static treacle_status show_tile(show_job* job, const paths* flow, tile_ix t) {
    const treacle_sim* sim = job->sim;
    tile_coord tile = sim->now.liquid.map.coord[t];
    paths_gather(flow, t, job->block);
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (!tile_cell_counts(&sim->now.liquid.map, i)) {
            continue;
        }
        for (int k = 0; k < 8; ++k) {
            float x[AXES];
            bool counts = true;
            for (int a = 0; a < AXES; ++a) {
                bool is_active = sim->domain.is_active[a];
                x[a] = (float)(i >> 3 * a & 7) +
                       (is_active ? 0.25f + 0.5f * (float)(k >> a & 1) : 0.5f);
                counts = counts && (is_active || (k >> a & 1) == 0);
            }
            particle_ix row;
            if (counts && is_in_liquid(job, tile, x)) {
                TREACLE_TRY(particles_append(&job->sim->shown, tile, 1, &row));
                show_point(job, row, tile, x);
            }
        }
    }
    return TREACLE_OK;
}

treacle_status sim_show_euler(treacle_sim* sim) {
    const liquid_state* state = &sim->now.liquid;
    face_velocity flow = {.map = &state->map,
                          .domain = &sim->domain,
                          .has_viscosity = liquid_is_viscous(&sim->setup),
                          .has_gaps = true,
                          .u = state->face_u};
    paths here = {.flow = &flow, .reach = 0.0};
    show_job job = {.sim = sim, .strain = euler_strain(state)};
    job.phi =
        tile_sampler_of(&sim->lattice, &sim->now.surface.map, PLACE_CELL, sim->now.surface.phi);
    job.temperature =
        tile_sampler_of(&sim->domain, &state->map, PLACE_CELL, state->carried[CARRIED_TEMPERATURE]);
    job.melted =
        tile_sampler_of(&sim->domain, &state->map, PLACE_CELL, state->carried[CARRIED_MELTED]);
    particles_clear(&sim->shown);
    solid_pose* poses = NULL;
    int solid_count = sim->setup.solids.count;
    TREACLE_TRY(arena_take_zero(&sim->scratch, (size_t)solid_count, sizeof(*poses), "poses",
                                (void**)&poses));
    sim_pose_solids(sim, sim->now.time, poses);
    job.solids = (solid_scene){solid_count, sim->setup.solids.solids, poses};
    treacle_status status =
        arena_take(&sim->scratch, 1, sizeof(*job.block), "velocity", (void**)&job.block);
    for (tile_ix t = 0; status == TREACLE_OK && t < state->map.count; ++t) {
        status = show_tile(&job, &here, t);
    }
    particle_sorter sorter = {&sim->domain, &sim->scratch, &sim->spares};
    particle_sort_stats sorted;
    if (status == TREACLE_OK) {
        status = particle_sort(&sim->shown, &sorter, &sorted);
    }
    arena_give_to(&sim->scratch, 0);
    return status;
}
