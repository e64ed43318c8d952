#include "compare/euler_show.h"

#include <string.h>

#include "phys/paths.h"

// A frame shows points of the liquid, as if particles carried it: the middles of the eight (in 2D
// four) parts of every cell that are inside the surface. They are made for the frame and are no
// state; the id of a point is its place, so what stands still keeps its points.
typedef struct show_job {
    const grid_domain* domain;
    const tile_map* map;
    const euler_picture* picture;
    paths_block* block;
    tile_sampler phi, temperature, melted;
    tensor_field strain;
} show_job;

static void show_point(show_job* job, particle_ix row, tile_coord tile, const float x[AXES]) {
    const grid_domain* domain = job->domain;
    particles* p = job->picture->points;
    particle_birth birth = {.volume = 1.0};
    int parts = 1;
    uint64_t id = 0;
    for (int a = AXES - 1; a >= 0; --a) {
        bool is_active = domain->is_active[a];
        parts *= is_active ? 2 : 1;
        birth.volume *= domain->h;
        birth.position[a] = x[a];
        birth.velocity.at[a] = (double)paths_component(job->block, a, x);
        int64_t at = (int64_t)tile.at[a] * 2 * TILE_SIZE + (int64_t)(2.0f * x[a]);
        id = id * (uint64_t)(2 * domain->cells[a]) + (uint64_t)at;
    }
    birth.id = id;
    birth.volume /= parts;
    birth.place = particles_place(domain, tile, x);
    memcpy(birth.colour, job->picture->colour, sizeof(birth.colour));
    if (job->temperature.values != NULL) {
        birth.temperature = tile_sample(&job->temperature, tile, x);
    }
    particle_init(p, domain, row, &birth);
    if (p->column[PARTICLE_MELTED] != NULL) {
        particles_f32(p, PARTICLE_MELTED)[row] =
            job->melted.values != NULL ? tile_sample(&job->melted, tile, x) : 0.0f;
    }
    for (int k = 0; p->column[PARTICLE_STRAIN] != NULL && k < STRAIN_PARTS; ++k) {
        tile_sampler part =
            tile_sampler_of(domain, job->map, tensor_place(k), tensor_part(&job->strain, k));
        particles_f32(p, PARTICLE_STRAIN)[STRAIN_PARTS * row + k] = tile_sample(&part, tile, x);
    }
}

static bool is_in_liquid(show_job* job, tile_coord tile, const float x[AXES]) {
    const grid_domain* domain = job->domain;
    const solid_scene* solids = &job->picture->solids;
    float at[AXES];
    bool is_inside = true;
    // The lattice tile at twice the coordinate begins where this tile does.
    tile_coord home = tile;
    for (int a = 0; a < AXES; ++a) {
        float place = (float)(tile.at[a] * TILE_SIZE) + x[a];
        is_inside = is_inside && place < (float)domain->cells[a];
        home.at[a] = domain->is_active[a] ? 2 * tile.at[a] : 0;
        at[a] = domain->is_active[a] ? 2.0f * x[a] + 0.5f : 0.5f;
    }
    if (!is_inside || !(tile_sample(&job->phi, home, at) < 0.0f)) {
        return false;
    }
    double distance = 1.0; // behind solids there are images only
    if (solids->count > 0) {
        solid_nearest(solids, particles_place(domain, tile, x), &distance);
    }
    return distance > 0.0;
}

static treacle_status show_tile(show_job* job, const paths* flow, tile_ix t) {
    tile_coord tile = job->map->coord[t];
    paths_gather(flow, t, job->block);
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (!tile_cell_counts(job->map, i)) {
            continue;
        }
        for (int k = 0; k < 8; ++k) {
            float x[AXES];
            bool counts = true;
            for (int a = 0; a < AXES; ++a) {
                bool is_active = job->domain->is_active[a];
                x[a] = (float)(i >> 3 * a & 7) +
                       (is_active ? 0.25f + 0.5f * (float)(k >> a & 1) : 0.5f);
                counts = counts && (is_active || (k >> a & 1) == 0);
            }
            particle_ix row;
            if (counts && is_in_liquid(job, tile, x)) {
                TREACLE_TRY(particles_append(job->picture->points, tile, 1, &row));
                show_point(job, row, tile, x);
            }
        }
    }
    return TREACLE_OK;
}

treacle_status euler_show(const euler_work* e, const euler_picture* picture) {
    TREACLE_ASSERT(picture->points != NULL && picture->points != e->w->p);
    TREACLE_ASSERT(picture->solids.count == 0 || picture->solids.poses != NULL);
    const step_work* w = e->w;
    const grid_domain* domain = w->f.setup->domain;
    const liquid_state* state = w->state;
    face_velocity flow = euler_flow_of(e, state);
    paths here = {.flow = &flow, .reach = 0.0};
    show_job job = {.domain = domain,
                    .map = &state->map,
                    .picture = picture,
                    .phi = euler_surface_of(e),
                    .strain = euler_strain(state)};
    job.temperature =
        tile_sampler_of(domain, &state->map, PLACE_CELL, state->carried[CARRIED_TEMPERATURE]);
    job.melted = tile_sampler_of(domain, &state->map, PLACE_CELL, state->carried[CARRIED_MELTED]);
    particles_clear(picture->points);
    TREACLE_TRY(arena_take(w->f.scratch, 1, sizeof(*job.block), "velocity", (void**)&job.block));
    for (tile_ix t = 0; t < state->map.count; ++t) {
        TREACLE_TRY(show_tile(&job, &here, t));
    }
    particle_sorter sorter = {domain, w->f.scratch};
    particle_sort_stats sorted;
    return particle_sort(picture->points, &sorter, &sorted);
}
