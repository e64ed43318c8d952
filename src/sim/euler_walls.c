// Liquid on the grid where it meets the sides of the domain.
//
// The flow knows cells: one that is partly liquid and next to a wall rests on it. The surface knows
// better: there may be a gap g between liquid and wall. If the wall stood still for liquid that
// still falls, the gap would never close, for the velocity in it goes to zero at the wall; the
// liquid above would be pressed together, and a film of air would stay. So at a gap the wall gives
// way, as fast as liquid comes, and no farther than the gap is wide:
//
//     v = min(g / dt, max(0, u* + 2 dt P)),   P = p / (rho h) in the cell before it      [level.6]
//
// u* is the liquid's velocity before the flow, P the last step's pressure: with both, liquid moves
// as at a free surface, half a cell away. Liquid that lands has g = 0 and keeps its volume.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "grid/tile_sample.h"
#include "phys/outer_flow.h"
#include "sim/euler.h"

// Cells of the lattice: a film of air that is thinner, between a wall and liquid, is none; and
// markers of air that are nearer to a wall say nothing, for they cannot get away from there.
#define FILM_MAX 0.1f
#define MARKER_CLEARANCE 0.5f
// Cells: so far beyond the surface velocity has no divergence.
#define OUTER_REACH 1.5f

typedef struct side_job {
    const liquid_work* w;
    int axis;
    float* out; // velocity on faces
} side_job;

// -1 for a face or sample on the low side of the domain, if that is a wall, 1 on the high one, else
// 0; `last` is the index of those on the high one.
static int side_of(const grid_domain* domain, int axis, int at, int last) {
    bool has_walls = domain->is_active[axis] && !domain->is_periodic[axis];
    if (has_walls && at == 0) {
        return domain->sides[axis][0] == TREACLE_SIDE_OPEN ? 0 : -1;
    }
    if (has_walls && at == last) {
        return domain->sides[axis][1] == TREACLE_SIDE_OPEN ? 0 : 1;
    }
    return 0;
}

static tile_sampler surface_of(const liquid_work* w) {
    const euler_work* e = w->euler;
    return tile_sampler_of(e->level.lattice, &e->surface->map, PLACE_CELL, e->surface->phi);
}

// The gap before a face on a side, m: the least at its middle, edges and corners. Where liquid
// touches any of it there is none, or it would drain away along its rim.
static double gap_at(tile_sampler* phi, const liquid_work* w, int axis, const int face[AXES]) {
    float least = LEVEL_LIMIT;
    for (int k = 0; k < 27; ++k) {
        const int step[AXES] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int at[AXES];
        bool is_on_face = step[axis] == 0;
        for (int a = 0; a < AXES; ++a) {
            at[a] = 2 * face[a] + place_half(place_face(axis), a) + step[a];
            is_on_face = is_on_face && (step[a] == 0 || w->setup->domain->is_active[a]);
        }
        least = is_on_face ? fminf(least, tile_sample_at(phi, at)) : least;
    }
    return 0.5 * w->setup->domain->h * fmax((double)least, 0.0);
}

static void close_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const side_job* job = data;
    const liquid_work* w = job->w;
    const tile_map* map = &w->state->map;
    const int a = job->axis;
    (void)worker;
    tile_sampler phi = surface_of(w);
    tile_sampler pressure =
        tile_sampler_of(w->setup->domain, map, PLACE_CELL, w->state->cell_pressure);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        int side = side_of(w->setup->domain, a, at[a], w->setup->domain->cells[a]);
        if (side == 0 || !tile_cell_counts(map, (int)(i % TILE_CELLS))) {
            continue;
        }
        double gap = gap_at(&phi, w, a, at);
        at[a] -= side > 0 ? 1 : 0;
        double pushed = 2.0 * w->dt * fmax((double)tile_sample_at(&pressure, at), 0.0);
        double comes = side * (double)w->state->face_u[a][i] + pushed;
        job->out[i] = (float)(side * fmin(gap / w->dt, fmax(comes, 0.0))); // [level.6]
    }
}

treacle_status euler_close_gaps(liquid_work* w) {
    bool has_solids = w->cell_solid_phi != NULL;
    for (int a = 0; a < AXES; ++a) {
        if (!has_solids) {
            TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "velocity of walls",
                                        (void**)&w->face_solid_u[a]));
        }
        side_job job = {w, a, w->face_solid_u[a]};
        parallel_for(w->ctx, w->state->map.count, 8, close_tiles, &job);
    }
    return TREACLE_OK;
}

static void bound_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const side_job* job = data;
    const liquid_work* w = job->w;
    const tile_map* map = &w->state->map;
    const int a = job->axis;
    (void)worker;
    tile_sampler phi = surface_of(w);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        int side = side_of(w->setup->domain, a, at[a], w->setup->domain->cells[a]);
        if (side != 0 && tile_cell_counts(map, (int)(i % TILE_CELLS))) {
            double most = gap_at(&phi, w, a, at) / w->dt, u = side * (double)job->out[i];
            job->out[i] = (float)(side * fmin(u, most));
        }
    }
}

void euler_bound_gaps(liquid_work* w) {
    for (int a = 0; a < AXES; ++a) {
        side_job job = {w, a, w->state->face_u[a]};
        parallel_for(w->ctx, w->state->map.count, 8, bound_tiles, &job);
    }
}

typedef struct held_job {
    const liquid_work* w;
    float* const* found; // NAN: not by the flow
    uint8_t* const* is_held;
} held_job;

static void hold_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const held_job* job = data;
    const liquid_work* w = job->w;
    const grid_domain* domain = w->setup->domain;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            bool is_closed = !(w->face_open[a][i] > 0.0f);
            bool is_wall = side_of(domain, a, at[a], domain->cells[a]) != 0;
            job->is_held[a][i] = is_closed || is_wall || !isnan(job->found[a][i]);
        }
    }
}

treacle_status euler_outer_flow(liquid_work* w) {
    int mark = arena_mark(w->scratch);
    float *found[AXES], *room = NULL;
    uint8_t* is_held[AXES];
    TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "outer velocity", (void**)&room));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(
            arena_take(w->scratch, w->values, sizeof(float), "outer velocity", (void**)&found[a]));
        TREACLE_TRY(arena_take(w->scratch, w->values, 1, "outer velocity", (void**)&is_held[a]));
        memset(is_held[a] + w->values - TILE_CELLS, 1, TILE_CELLS);
    }
    liquid_found_velocity(w, found);
    held_job held = {w, found, is_held};
    parallel_for(w->ctx, w->state->map.count, 8, hold_tiles, &held);
    outer_flow params = {.domain = w->setup->domain,
                         .map = &w->state->map,
                         .cell_phi = w->cell_phi,
                         .face_is_held = {is_held[0], is_held[1], is_held[2]},
                         .reach = OUTER_REACH,
                         .cell_room = room};
    outer_flow_project(&params, w->state->face_u);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

float euler_distance_at(const liquid_work* w, int axis, const int face[AXES]) {
    tile_sampler phi = surface_of(w);
    int at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = 2 * face[a] + place_half(place_face(axis), a);
    }
    return tile_sample_at(&phi, at);
}

// --- films and markers ---------------------------------------------------------------------------

// A sample on a side that has liquid just before it is liquid, too.
static void wet_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const side_job* job = data;
    const level_set* set = job->w->euler->surface;
    const grid_domain* lattice = job->w->euler->level.lattice;
    (void)worker;
    tile_sampler phi = surface_of(job->w);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&set->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        job->out[i] = set->phi[i];
        for (int a = 0; a < AXES; ++a) {
            int side = side_of(lattice, a, at[a], lattice->cells[a] - 1);
            if (side == 0 || !(set->phi[i] > 0.0f && set->phi[i] < FILM_MAX)) {
                continue;
            }
            int before[AXES] = {at[0], at[1], at[2]};
            before[a] -= side;
            float inner = tile_sample_at(&phi, before);
            bool is_film = set->phi[i] - inner > 0.8f;
            job->out[i] = is_film ? inner : job->out[i];
        }
    }
}

typedef struct clear_job {
    const liquid_work* w;
    uint8_t* is_removed; // [markers]
} clear_job;

static bool is_at_side(const grid_domain* lattice, tile_coord tile, const float x[AXES]) {
    bool is_near = false;
    for (int a = 0; a < AXES; ++a) {
        float at = (float)(tile.at[a] * TILE_SIZE) + x[a] - 0.5f; // 0 on the low side
        int last = lattice->cells[a] - 1;
        is_near = is_near || (at < MARKER_CLEARANCE && side_of(lattice, a, 0, last) != 0) ||
                  (at > (float)last - MARKER_CLEARANCE && side_of(lattice, a, last, last) != 0);
    }
    return is_near;
}

static void find_stuck(void* data, int64_t begin, int64_t end, int worker) {
    const clear_job* job = data;
    const particles* m = &job->w->euler->surface->markers;
    const grid_domain* lattice = job->w->euler->level.lattice;
    (void)worker;
    for (int64_t g = begin; g < end; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            job->is_removed[i] =
                particles_material(m)[i] == LEVEL_OUTSIDE && is_at_side(lattice, m->tile[g], x);
        }
    }
}

treacle_status euler_touch(liquid_work* w) {
    euler_work* e = w->euler;
    level_set* set = e->surface;
    size_t values = (size_t)set->map.count * TILE_CELLS;
    int mark = arena_mark(w->scratch);
    side_job films = {.w = w};
    clear_job markers = {.w = w};
    TREACLE_TRY(arena_take(w->scratch, values, sizeof(float), "films", (void**)&films.out));
    TREACLE_TRY(arena_take(w->scratch, (size_t)set->markers.count, 1, "markers",
                           (void**)&markers.is_removed));
    parallel_for(w->ctx, set->map.count, 8, wet_tiles, &films);
    memcpy(set->phi, films.out, values * sizeof(float));
    parallel_for(w->ctx, set->markers.tile_count, 4, find_stuck, &markers);
    particles_remove(&set->markers, markers.is_removed);
    arena_give_to(w->scratch, mark);
    particle_sorter sorter = {e->level.lattice, w->scratch, e->level.spares};
    particle_sort_stats stats;
    return particle_sort(&set->markers, &sorter, &stats); // drops tiles that have none left
}
