// Liquid on the grid where it meets walls: the sides of the domain, and solids.
//
// The flow knows cells: one that is partly liquid and next to a wall rests on it. The surface knows
// better: there may be a gap g between liquid and wall. If the wall stood still for liquid that
// still falls, the gap would never close, for the velocity in it goes to zero at the wall; the
// liquid above would be pressed together, and a film of air would stay. So at a gap the wall gives
// way, as fast as liquid comes, and no farther than the gap is wide:
//
//     v = min(g / dt, max(u*, c g / t)),   c = 0.1 where liquid was pressed to the wall  [level.6]
//                                          in the last step, else 0;  t = max(dt, t_0)
//
// u* is the liquid's velocity before the flow, t_0 the longest step that gravity alone allows.
// Liquid that lands has g = 0 and keeps its volume; a gap before liquid at rest closes in some
// steps of that length. A fraction of the gap in every step, however short, would be a speed
// without bound: it makes the next step shorter still.
#include "compare/euler_boundary.h"

#include <math.h>

#include "grid/tile_loop.h"

// The fraction of a gap that closes in a step before liquid that is pressed to the wall.
#define FRACTION_CLOSED 0.1

typedef struct side_job {
    const euler_work* e;
    int axis;
    float* out; // m/s, on faces
} side_job;

// The gap before a face on a side, m: the least at its middle, edges and corners. Where liquid
// touches any of it there is none, or it would drain away along its rim.
static double gap_at(tile_sampler* phi, const euler_work* e, int axis, const int face[AXES]) {
    const step_work* w = e->w;
    float least = LEVEL_LIMIT;
    for (int k = 0; k < 27; ++k) {
        const int step[AXES] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int at[AXES];
        bool is_on_face = step[axis] == 0;
        for (int a = 0; a < AXES; ++a) {
            at[a] = 2 * face[a] + place_half(place_face(axis), a) + step[a];
            is_on_face = is_on_face && (step[a] == 0 || w->f.setup->domain->is_active[a]);
        }
        least = is_on_face ? fminf(least, tile_sample_at(phi, at)) : least;
    }
    return 0.5 * w->f.setup->domain->h * fmax((double)least, 0.0);
}

bool euler_find_contact(tile_sampler* to_solid, const bool is_active[AXES], const float x[AXES],
                        euler_contact* out) {
    TREACLE_ASSERT(to_solid->values != NULL && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]));
    static const tile_coord origin = {{0, 0, 0}};
    float s = tile_sample(to_solid, origin, x), square = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        float low[AXES] = {x[0], x[1], x[2]}, high[AXES] = {x[0], x[1], x[2]};
        low[a] -= 0.5f;
        high[a] += 0.5f;
        out->n[a] = is_active[a]
                        ? tile_sample(to_solid, origin, high) - tile_sample(to_solid, origin, low)
                        : 0.0f;
        square += out->n[a] * out->n[a];
    }
    for (int a = 0; a < AXES && square > 0.25f; ++a) {
        out->n[a] /= sqrtf(square);
        out->x[a] = x[a] - s * out->n[a];
    }
    return square > 0.25f;
}

// Half a cell to both sides of a point of a solid along an axis, on its surface.
static float least_along(tile_sampler* phi, const bool is_active[AXES], const euler_contact* c,
                         int axis, float least) {
    static const tile_coord origin = {{0, 0, 0}};
    for (int side = -1; side <= 1; side += 2) {
        float at[AXES];
        for (int a = 0; a < AXES; ++a) {
            float along = (a == axis ? 1.0f : 0.0f) - c->n[axis] * c->n[a];
            at[a] = is_active[a] ? 2.0f * (c->x[a] + 0.5f * (float)side * along) + 0.5f : 0.5f;
        }
        least = fminf(least, tile_sample(phi, origin, at));
    }
    return least;
}

// The gap between liquid and a point of a solid, m; as gap_at.
static double gap_before(tile_sampler* phi, const euler_work* e, const euler_contact* c) {
    const step_work* w = e->w;
    static const tile_coord origin = {{0, 0, 0}};
    const bool* is_active = w->f.setup->domain->is_active;
    float at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = is_active[a] ? 2.0f * c->x[a] + 0.5f : 0.5f;
    }
    float least = tile_sample(phi, origin, at);
    for (int a = 0; a < AXES; ++a) {
        least = is_active[a] ? least_along(phi, is_active, c, a, least) : least;
    }
    return 0.5 * w->f.setup->domain->h * fmax((double)least, 0.0);
}

static void face_place_of(const euler_work* e, int axis, const int face[AXES], float x[AXES]) {
    const step_work* w = e->w;
    for (int a = 0; a < AXES; ++a) {
        bool is_active = w->f.setup->domain->is_active[a];
        x[a] = is_active ? (float)face[a] + place_offset(place_face(axis), a) : 0.5f;
    }
}

static void find_tiles(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    const step_work* w = job->e->w;
    const grid_domain* domain = w->f.setup->domain;
    const tile_map* map = &w->state->map;
    tile_sampler phi = euler_surface_of(job->e);
    tile_sampler to_solid = tile_sampler_of(domain, map, PLACE_CELL, w->made.solid.phi);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        float x[AXES];
        euler_contact c;
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!tile_cell_counts(map, (int)(i % TILE_CELLS))) {
            continue;
        }
        if (grid_domain_side_at(domain, job->axis, at[job->axis], domain->cells[job->axis]) != 0) {
            job->out[i] = (float)(gap_at(&phi, job->e, job->axis, at) / w->f.dt);
        } else if (w->made.solid.phi != NULL && w->made.solid.face_open.at[job->axis][i] < 1.0f) {
            face_place_of(job->e, job->axis, at, x);
            bool has_normal = euler_find_contact(&to_solid, domain->is_active, x, &c);
            job->out[i] = has_normal ? (float)(gap_before(&phi, job->e, &c) / w->f.dt) : 0.0f;
        }
    }
}

treacle_status euler_find_gaps(euler_work* e) {
    TREACLE_ASSERT(e->w->state->map.ctx != NULL);
    step_work* w = e->w;
    for (int a = 0; a < AXES; ++a) {
        float** give = &e->face_give.at[a];
        TREACLE_TRY(step_take_zero(&w->f, &w->state->map, "gaps", give));
        side_job job = {e, a, *give};
        tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, find_tiles, &job);
    }
    return TREACLE_OK;
}

// --- walls that give way -------------------------------------------------------------------------

typedef struct close_job {
    const euler_work* e;
    double fraction; // of a gap that closes in this step before liquid that is pressed to the wall
    int axis;
    bool has_solids;
    solid_scene solids;
} close_job;

static float pressure_before(tile_sampler* pressure, const euler_contact* c) {
    static const tile_coord origin = {{0, 0, 0}};
    const float x[AXES] = {c->x[0] + 0.5f * c->n[0], c->x[1] + 0.5f * c->n[1],
                           c->x[2] + 0.5f * c->n[2]};
    return tile_sample(pressure, origin, x);
}

// How fast liquid comes to a point of a solid, m/s.
static double approach(const close_job* job, const euler_contact* c, int id) {
    static const tile_coord origin = {{0, 0, 0}};
    const step_work* w = job->e->w;
    const grid_domain* domain = w->f.setup->domain;
    vec3 place;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        place.at[a] = domain->origin[a] + domain->h * (double)c->x[a];
    }
    vec3 v = solid_velocity(&job->solids.poses[id], place);
    for (int a = 0; a < AXES; ++a) {
        tile_sampler u =
            tile_sampler_of(domain, &w->state->map, place_face(a), w->state->face_u.at[a]);
        sum -= (double)c->n[a] * ((double)tile_sample(&u, origin, c->x) - v.at[a]);
    }
    return sum;
}

static void close_tiles(void* data, int64_t begin, int64_t end) {
    const close_job* job = data;
    const step_work* w = job->e->w;
    const grid_domain* domain = w->f.setup->domain;
    const tile_map* map = &w->state->map;
    const int axis = job->axis;
    tile_sampler pressure = tile_sampler_of(domain, map, PLACE_CELL, w->state->cell_pressure);
    tile_sampler to_solid = tile_sampler_of(domain, map, PLACE_CELL, w->made.solid.phi);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double give = (double)job->e->face_give.at[axis][i];
        int at[AXES], id = job->has_solids ? (int)w->made.solid.id[i] : SOLID_NONE;
        euler_contact c = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!(give > 0.0)) {
            continue;
        }
        int side = grid_domain_side_at(domain, axis, at[axis], domain->cells[axis]);
        face_place_of(job->e, axis, at, c.x);
        c.n[axis] = (float)-side;
        bool is_solid = side != 0 || (id != SOLID_NONE &&
                                      euler_find_contact(&to_solid, domain->is_active, c.x, &c));
        if (is_solid) {
            double comes =
                side != 0 ? side * (double)w->state->face_u.at[axis][i] : approach(job, &c, id);
            bool is_pressed = pressure_before(&pressure, &c) > 0.0f;
            comes = fmax(comes, is_pressed ? job->fraction * give : 0.0);
            float v = (float)fmin(give, comes); // [level.6]
            w->made.solid.face_u.at[axis][i] -= v * c.n[axis];
        }
    }
}

// c dt / t of [level.6].
static double fraction_closed(const euler_work* e) {
    const step_work* w = e->w;
    const treacle_sim_def* def = w->f.setup->def;
    double pull = vec3_length(vec3_from(w->f.gravity.mean));
    double reach = fmin(def->step.cfl, def->level_set.cfl) * w->f.setup->domain->h;
    double longest = fmin(sqrt(reach / pull), def->step.max_dt); // without gravity inf
    return FRACTION_CLOSED * fmin(w->f.dt / longest, 1.0);
}

treacle_status euler_close_gaps(euler_work* e) {
    TREACLE_ASSERT(e->w->state->face_u.at[0] != NULL);
    step_work* w = e->w;
    close_job job = {
        .e = e, .fraction = fraction_closed(e), .has_solids = w->made.solid.phi != NULL};
    if (e->face_give.at[0] == NULL) {
        return TREACLE_OK; // liquid is everywhere
    }
    if (job.has_solids) {
        job.solids = solid_scene_of(&w->f.setup->solids, w->made.poses.to);
    }
    for (job.axis = 0; job.axis < AXES; ++job.axis) {
        if (!job.has_solids) {
            TREACLE_TRY(step_take_zero(&w->f, &w->state->map, "velocity of walls",
                                       &w->made.solid.face_u.at[job.axis]));
        }
        tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, close_tiles,
                 &job);
    }
    return TREACLE_OK;
}

static void bound_tiles(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    const step_work* w = job->e->w;
    const grid_domain* domain = w->f.setup->domain;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        int side = grid_domain_side_at(domain, job->axis, at[job->axis], domain->cells[job->axis]);
        if (side != 0) {
            float u = (float)side * job->out[i];
            job->out[i] = (float)side * fminf(u, job->e->face_give.at[job->axis][i]);
        }
    }
}

void euler_bound_gaps(euler_work* e) {
    step_work* w = e->w;
    for (int a = 0; a < AXES && e->face_give.at[a] != NULL; ++a) {
        side_job job = {e, a, w->state->face_u.at[a]};
        tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, bound_tiles,
                 &job);
    }
}
