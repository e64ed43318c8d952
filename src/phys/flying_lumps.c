// Lumps of liquid in free flight.
//
// A lump is what hangs together: cells of the liquid that share faces. One that touches nothing
// but air, no side, solid, body or emitter, is a body of its own, and whatever goes on inside of
// it, forces F(t) that are the same everywhere move its centre along
//
//     X(t + dt) = X + dt V + integral over the step of (t + dt - s) F(s) ds              [path.1]
//
// In the frame that moves so the lump feels nothing of F or V. A step of all liquid moves
// particles through the velocity u of the step before, which stands still. For a lump in flight it
// is carried along instead:
//
//     dx/dt = u(x - t V),     then  x += integral of (t + dt - s) F(s) ds                [path.2]
//
// with V the mean of u over the lump. Held liquid, V = 0 and no shift, rests where it is: the
// pressure that balances F is not known yet when particles move.
//
// A particle belongs to the lump of its cell, or, where that is outside the surface, to that of
// the cell around it which is deepest inside.
//
// Staggering: phi at cells, u on faces. Symbols: velocity (V), fall (the integral). Properties that
// tests check: a thrown drop that spins goes along the parabola at any dt; liquid at rest stays.
#include "phys/flying_lumps.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"

// A cell nearer to something solid than this touches it; cells.
#define TOUCH_DISTANCE 1.0

// --- lumps --------------------------------------------------------------------------------------

typedef struct link_job {
    const flying_lumps_params* params;
    float* link[AXES];
    float* own; // 1 at liquid cells
} link_job;

static void link_tiles(void* data, int64_t begin, int64_t end) {
    const link_job* job = data;
    const flying_lumps_params* params = job->params;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    for (int64_t t = begin; t < end; ++t) {
        float phi[BLOCK_VALUES(1, 0)];
        gather_block(params->map, params->cell_phi, (tile_ix)t, 1, 0, phi);
        for (int i = 0; i < TILE_CELLS; ++i) {
            size_t cell = (size_t)t * TILE_CELLS + (size_t)i;
            int at[AXES], q = BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                          i / TILE_SIZE / TILE_SIZE);
            tile_cell_at(params->map, (tile_ix)t, i, at);
            bool is_cell = phi[q] < 0.0f;
            for (int a = 0; a < AXES; ++a) {
                is_cell = is_cell && at[a] < params->domain->cells[a];
            }
            job->own[cell] = is_cell ? 1.0f : 0.0f;
            for (int a = 0; a < AXES; ++a) {
                bool is_linked =
                    is_cell && params->domain->is_active[a] && phi[q - steps[a]] < 0.0f;
                bool wraps = params->domain->is_periodic[a] || at[a] > 0;
                job->link[a][cell] = is_linked && wraps ? 1.0f : 0.0f;
            }
        }
    }
}

static treacle_status find_regions(const flying_lumps_params* params, flying_lumps* out) {
    size_t values = ((size_t)params->map->count + 1) * TILE_CELLS;
    link_job job = {.params = params};
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(params->scratch, values, sizeof(float), "links of liquid",
                                    (void**)&job.link[a]));
    }
    TREACLE_TRY(arena_take_zero(params->scratch, values, sizeof(float), "links of liquid",
                                (void**)&job.own));
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 8,
                         .writes = {{.at = job.link[0]},
                                    {.at = job.link[1]},
                                    {.at = job.link[2]},
                                    {.at = job.own}}},
             link_tiles, &job);
    const float* const link[AXES] = {job.link[0], job.link[1], job.link[2]};
    TREACLE_TRY(pressure_level_create(params->map->ctx, params->domain, params->map, link, job.own,
                                      &out->level));
    pressure_level_distribute(&out->level);
    return regions_create_all(&out->level, &out->set);
}

// --- what holds them -----------------------------------------------------------------------------

// Whether the cell is at a side that is no way out.
static bool is_at_side(const grid_domain* domain, const int at[AXES]) {
    bool is_any = false;
    for (int a = 0; a < AXES; ++a) {
        bool has_sides = domain->is_active[a] && !domain->is_periodic[a];
        is_any = is_any || (has_sides && at[a] == 0 && domain->sides[a][0] != TREACLE_SIDE_OPEN) ||
                 (has_sides && at[a] == domain->cells[a] - 1 &&
                  domain->sides[a][1] != TREACLE_SIDE_OPEN);
    }
    return is_any;
}

static vec3 flying_lumps_place_of(const grid_domain* domain, const double cell[AXES]) {
    vec3 x;
    for (int a = 0; a < AXES; ++a) {
        x.at[a] = domain->origin[a] + domain->h * cell[a];
    }
    return x;
}

// Whether anything but a side may be near a cell of the tile.
static bool is_tile_near(const flying_lumps_params* params, tile_ix t) {
    double middle[AXES], square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double half = params->domain->is_active[a] ? 0.5 * TILE_SIZE : 0.5;
        middle[a] = params->map->coord[t].at[a] * TILE_SIZE + half;
        square += half * half;
    }
    return params->is_near != NULL &&
           params->is_near(params->near_data, flying_lumps_place_of(params->domain, middle),
                           params->domain->h * (sqrt(square) + TOUCH_DISTANCE));
}

static bool is_cell_held(const flying_lumps_params* params, tile_ix t, int i, bool is_near) {
    int at[AXES];
    tile_cell_at(params->map, t, i, at);
    const double middle[AXES] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
    return is_at_side(params->domain, at) ||
           (is_near &&
            params->is_near(params->near_data, flying_lumps_place_of(params->domain, middle),
                            params->domain->h * TOUCH_DISTANCE));
}

static void hold_tile(flying_lumps* p, tile_ix t) {
    int32_t only = p->set.tile_label[t];
    if (only == REGION_NONE || (only >= 0 && p->is_held[only] != 0)) {
        return;
    }
    bool is_near = is_tile_near(p->params, t);
    for (int i = 0; i < TILE_CELLS; ++i) {
        int32_t label = p->set.label[(size_t)t * TILE_CELLS + (size_t)i];
        if (label >= 0 && p->is_held[label] == 0) {
            p->is_held[label] = is_cell_held(p->params, t, i, is_near) ? 1 : 0;
        }
    }
}

static treacle_status hold_lumps(flying_lumps* p) {
    const tile_map* map = p->params->map;
    TREACLE_TRY(arena_take_zero(p->params->scratch, (size_t)p->set.count, sizeof(*p->is_held),
                                "lumps of liquid", (void**)&p->is_held));
    tile_range own = tile_ranks_own(map);
    for (int64_t t = own.begin; p->set.count > 0 && t < own.end; ++t) {
        hold_tile(p, (tile_ix)t);
    }
    if (map->ranks != NULL) {
        comm_max_i64(map->ctx, p->is_held, p->set.count);
    }
    for (int32_t r = 0; r < p->set.count; ++r) {
        p->has_flight = p->has_flight || p->is_held[r] == 0;
    }
    return TREACLE_OK;
}

// --- how they move -------------------------------------------------------------------------------

typedef struct mean_job {
    const flying_lumps* p;
    int axis;
    double* value; // [tiles][512]
} mean_job;

static void mean_tiles(void* data, int64_t begin, int64_t end) {
    const mean_job* job = data;
    const tile_map* map = job->p->params->map;
    const float* u = job->p->params->face_u.at[job->axis];
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            int64_t cell = t * TILE_CELLS + i, above = tile_slot_above(map, t, i, job->axis);
            double mean = 0.5 * ((double)u[cell] + (double)u[above]);
            job->value[cell] = job->p->set.label[cell] >= 0 ? mean : 0.0;
        }
    }
}

static treacle_status measure_velocities(flying_lumps* p) {
    const flying_lumps_params* params = p->params;
    size_t count = (size_t)p->set.count, values = (size_t)params->map->count * TILE_CELLS;
    mean_job job = {.p = p};
    double* sum = NULL;
    TREACLE_TRY(arena_take_zero(params->scratch, count, sizeof(*p->velocity), "lumps of liquid",
                                (void**)&p->velocity));
    int mark = arena_mark(params->scratch);
    TREACLE_TRY(arena_take(params->scratch, values, sizeof(double), "velocity at cells",
                           (void**)&job.value));
    TREACLE_TRY(
        arena_take(params->scratch, count, sizeof(double), "lumps of liquid", (void**)&sum));
    for (int a = 0; a < AXES; ++a) {
        if (params->domain->is_active[a]) {
            job.axis = a;
            tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 8}, mean_tiles, &job);
            TREACLE_TRY(regions_sum(&p->set, job.value, sum));
            for (size_t r = 0; r < count; ++r) {
                p->velocity[r][a] = p->is_held[r] != 0 ? 0.0 : sum[r] / p->set.size[r];
            }
        }
    }
    arena_give_to(params->scratch, mark);
    return TREACLE_OK;
}

treacle_status flying_lumps_find(const flying_lumps_params* params, flying_lumps* out) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->scratch != NULL);
    TREACLE_ASSERT(params->face_u.at[0] != NULL && params->face_u.at[1] != NULL &&
                   params->face_u.at[2] != NULL);
    *out = (flying_lumps){.params = params};
    treacle_status status = find_regions(params, out);
    if (status == TREACLE_OK) {
        status = hold_lumps(out);
    }
    if (status == TREACLE_OK && out->has_flight) {
        status = measure_velocities(out);
    }
    if (status != TREACLE_OK) {
        flying_lumps_finish(out);
    }
    return status;
}

void flying_lumps_finish(flying_lumps* p) {
    regions_destroy(&p->set);
    if (p->level.ctx != NULL) {
        pressure_level_destroy(&p->level);
    }
    *p = (flying_lumps){0};
}

// --- particles -----------------------------------------------------------------------------------

typedef struct motion_job {
    const flying_lumps* p;
    const particles* liquid;
    double cells; // a m/s in cells a step
    float shift[AXES];
    lump_motions out;
} motion_job;

// Whether a lump in flight is in the tile or around it.
static bool has_flight_near(const flying_lumps* p, tile_ix t) {
    const tile_map* map = p->params->map;
    bool has_any = false;
    for (int n = 0; n < TILE_NEIGHBOURS && t != map->count && !has_any; ++n) {
        tile_ix near = map->neighbour[t][n];
        int32_t only = near == map->count ? REGION_NONE : p->set.tile_label[near];
        has_any = only == REGION_MIXED || (only >= 0 && p->is_held[only] == 0);
    }
    return has_any;
}

// The lump at cell `at` of the tile, -1 .. 8 along each axis.
static int32_t lump_at(const flying_lumps* p, tile_ix t, const int at[AXES]) {
    const tile_map* map = p->params->map;
    tile_ix in = map->neighbour[t][TILE_NEIGHBOUR(block_side_of(at[0]), block_side_of(at[1]),
                                                  block_side_of(at[2]))];
    int i = (at[2] & 7) * TILE_SIZE * TILE_SIZE + (at[1] & 7) * TILE_SIZE + (at[0] & 7);
    return in == map->count ? REGION_NONE : p->set.label[(size_t)in * TILE_CELLS + (size_t)i];
}

// The deepest liquid cell of those around a particle is its own, if that is liquid.
static int32_t lump_of(const flying_lumps* p, tile_ix t, const float* phi, const float x[AXES]) {
    int own[AXES], best[AXES] = {0};
    float least = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        own[a] = p->params->domain->is_active[a] ? (int)fminf(fmaxf(floorf(x[a]), -1.0f), 8.0f) : 0;
    }
    if (phi[BLOCK_INDEX(2, 2, own[0], own[1], own[2])] < 0.0f) {
        return lump_at(p, t, own);
    }
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        const int step[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        int at[AXES];
        bool is_near = true;
        for (int a = 0; a < AXES; ++a) {
            at[a] = own[a] + step[a];
            is_near = is_near && (p->params->domain->is_active[a] || step[a] == 0);
        }
        float value = phi[BLOCK_INDEX(2, 2, at[0], at[1], at[2])];
        if (is_near && value < least) {
            least = value;
            memcpy(best, at, sizeof(best));
        }
    }
    return least < 0.0f ? lump_at(p, t, best) : REGION_NONE;
}

static bool find_motion(const motion_job* job, int32_t lump, lump_motion* out) {
    *out = (lump_motion){0};
    bool is_free = lump >= 0 && job->p->is_held[lump] == 0;
    for (int a = 0; a < AXES && is_free; ++a) {
        out->frame[a] = (float)(job->cells * job->p->velocity[lump][a]);
        out->shift[a] = job->shift[a];
    }
    return is_free;
}

static void find_motions(void* data, int64_t begin, int64_t end) {
    const motion_job* job = data;
    const flying_lumps_params* params = job->p->params;
    float phi[BLOCK_VALUES(2, 2)];
    for (int64_t g = begin; g < end; ++g) {
        tile_ix t = tile_map_find(params->map, job->liquid->tile[g]);
        job->out.is_moved[g] = 0;
        if (!has_flight_near(job->p, t)) {
            continue;
        }
        gather_block(params->map, params->cell_phi, t, 2, 2, phi);
        for (particle_ix i = job->liquid->tile_first[g]; i < job->liquid->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(job->liquid, PARTICLE_POSITION) + AXES * i;
            int32_t lump = lump_of(job->p, t, phi, x);
            job->out.is_moved[g] |= find_motion(job, lump, &job->out.motion[i]);
        }
    }
}

treacle_status flying_lumps_motions(const flying_lumps* p, const particles* liquid, double dt,
                                    const double fall[AXES], lump_motions* out) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(p->params != NULL);
    TREACLE_ASSERT(isfinite(fall[0]) && isfinite(fall[1]) && isfinite(fall[2]));
    const flying_lumps_params* params = p->params;
    motion_job job = {.p = p, .liquid = liquid, .cells = dt / params->domain->h};
    TREACLE_TRY(arena_take(params->scratch, (size_t)liquid->count, sizeof(lump_motion),
                           "motion of lumps", (void**)&job.out.motion));
    TREACLE_TRY(arena_take(params->scratch, (size_t)liquid->tile_count, 1, "motion of lumps",
                           (void**)&job.out.is_moved));
    for (int a = 0; a < AXES; ++a) {
        job.shift[a] = params->domain->is_active[a] ? (float)(fall[a] / params->domain->h) : 0.0f;
    }
    particle_for(liquid, &(particle_use){.span = PARTICLES_OWN_TILES, .grain = 4}, find_motions,
                 &job);
    *out = job.out;
    return TREACLE_OK;
}
