// Thin solids in the transfers [S19 eq. 13-15 with a wall between particle and sample].
//
// A kernel that reaches across a plate thinner than itself would mix what moves on its two sides.
// So a particle gives to, and takes from, those samples only that it sees:
//
//     x_s is seen from x_p  <=>  the line between them does not meet a solid;              [thin.1]
//
// a sample inside a thin solid counts as the point of the surface that is nearest to it, in the
// very middle as the one on the upper side, as for the pressure [solid.4]. Behind a thick solid
// there is nothing to see: particles beside one are left alone, and so are all whose samples are
// all seen.
//
// The line is cut into halves until distances at its ends reach all of the way, or a point of it is
// inside. Whether a solid is thin is asked once for a cell, unless its shape says that it is not:
// from the middle of the cell, along the normal, at a depth of half the kernel's reach, the surface
// behind is nearer than the one in front.
//
// What a sample counts as is the same for all particles around it and found once a tile.
//
// Properties that tests check: plates hide, walls do not; both ways of asking agree; no particle
// far from a plate is touched. References: [S19 sec. 3] has the transfers.
#include <math.h>
#include <string.h>

#include "grid/tile_points.h"
#include "particles/particle_loop.h"
#include "phys/thin.h"
#include "phys/thin_weights.h"

enum { NEAR_MAX = 64, PARTS = 16 };

// Cells: how far samples are at most; half of it and a little, the depth at which a solid is
// probed.
static const double sight = THIN_SIGHT, probe = 0.9;

// What a sample counts as [thin.1], once it was asked for.
typedef enum sample_kind { SAMPLE_UNKNOWN = 0, SAMPLE_OF_THICK, SAMPLE_OPEN } sample_kind;

// The samples of a tile's block, at all places.
typedef struct sample_table {
    uint8_t kind[THIN_PLACES][BLOCK_CELLS];
    vec3 at[THIN_PLACES][BLOCK_CELLS];         // outside of thin solids
    double distance[THIN_PLACES][BLOCK_CELLS]; // m, there
} sample_table;

typedef struct look_job {
    const thin_params* params;
    sample_table* tables;   // [workers]
    thin_particle* members; // [particles of near tiles]
    int64_t* first;         // [tiles + 1], of a tile's members
    int64_t* found;         // [tiles]
} look_job;

typedef struct near_solids {
    const thin_params* params;
    tile_coord tile;
    sample_table* samples;
    int count; // -1: all
    int at[NEAR_MAX];
} near_solids;

// m, to the nearest of them.
static double thin_view_distance_at(const near_solids* near, vec3 x, int* id) {
    const solid_scene* scene = &near->params->scene;
    double nearest = INFINITY;
    for (int k = 0; k < (near->count < 0 ? scene->count : near->count); ++k) {
        int i = near->count < 0 ? k : near->at[k];
        double d = solid_distance(&scene->solids[i], &scene->poses[i], x);
        if (d < nearest) {
            nearest = d;
            *id = i;
        }
    }
    return nearest;
}

static vec3 normal_at(const near_solids* near, vec3 x) {
    double step = 1e-3 * near->params->domain->h;
    vec3 out = {{0.0, 0.0, 0.0}};
    for (int a = 0; a < AXES; ++a) {
        if (near->params->domain->is_active[a]) {
            vec3 low = x, high = x;
            low.at[a] -= step;
            high.at[a] += step;
            out.at[a] = thin_view_distance_at(near, high, &(int){0}) -
                        thin_view_distance_at(near, low, &(int){0});
        }
    }
    return vec3_normalise(out);
}

// Whether a solid is somewhere on the line between two places outside.
static bool is_hidden(const near_solids* near, vec3 x, vec3 y, const double ends[2], int parts) {
    double length = vec3_length(vec3_sub(y, x));
    if (ends[0] + ends[1] >= length || parts == PARTS) {
        return false;
    }
    vec3 middle = vec3_scale(0.5, vec3_add(x, y));
    double m = thin_view_distance_at(near, middle, &(int){0});
    return m < 0.0 || is_hidden(near, x, middle, (const double[2]){ends[0], m}, 2 * parts) ||
           is_hidden(near, middle, y, (const double[2]){m, ends[1]}, 2 * parts);
}

static sample_kind classify_sample(const near_solids* near, vec3* sample, double* distance) {
    double h = near->params->domain->h, d = thin_view_distance_at(near, *sample, &(int){0});
    if (d < -probe * h) {
        return SAMPLE_OF_THICK;
    }
    if (d < 0.0) {
        vec3 aside = *sample;
        for (int a = 0; a < AXES; ++a) {
            aside.at[a] += near->params->domain->is_active[a] ? 2e-3 * h : 0.0;
        }
        *sample = vec3_add_scaled(*sample, 0.01 * h - d, normal_at(near, aside));
        d = thin_view_distance_at(near, *sample, &(int){0});
    }
    *distance = fmax(d, 0.0);
    return SAMPLE_OPEN;
}

// The sample at `index` of a block, settled.
static sample_kind sample_of(const near_solids* near, int which, const transfer_place* place,
                             int index) {
    sample_table* samples = near->samples;
    if (samples->kind[which][index] == SAMPLE_UNKNOWN) {
        const int at[AXES] = {index % BLOCK_SIZE, index / BLOCK_SIZE % BLOCK_SIZE,
                              index / BLOCK_SIZE / BLOCK_SIZE};
        float position[AXES];
        for (int a = 0; a < AXES; ++a) {
            position[a] = (float)(at[a] - BLOCK_HALO) + (float)place->offset[a];
        }
        vec3* sample = &samples->at[which][index];
        *sample = particles_place(near->params->domain, near->tile, position);
        samples->kind[which][index] =
            (uint8_t)classify_sample(near, sample, &samples->distance[which][index]);
    }
    return (sample_kind)samples->kind[which][index];
}

// Which samples of a place the particle at x sees; *has_hidden if not all.
static uint64_t look_at(const near_solids* near, int which, const transfer_place* place,
                        const float* position, double distance, bool* has_hidden) {
    thin_stencil st;
    thin_stencil_at(place, position, &st);
    vec3 x = particles_place(near->params->domain, near->tile, position);
    uint64_t seen = 0;
    for (int k = 0; k < st.axis[2].count; ++k) {
        for (int j = 0; j < st.axis[1].count; ++j) {
            for (int i = 0; i < st.axis[0].count; ++i) {
                int index = thin_sample_at(&st, (const int[AXES]){i, j, k});
                bool is_open = sample_of(near, which, place, index) == SAMPLE_OPEN;
                const double ends[2] = {fmax(distance, 0.0), near->samples->distance[which][index]};
                bool is_in_sight =
                    !is_open || !is_hidden(near, x, near->samples->at[which][index], ends, 1);
                seen |= (uint64_t)is_in_sight << ((k * 4 + j) * 4 + i);
                *has_hidden = *has_hidden || !is_in_sight;
            }
        }
    }
    return seen;
}

static transfer_place thin_view_place_of(const thin_params* params, int which) {
    const grid_domain* domain = params->domain;
    transfer_place place = {.kernel = which == THIN_CELLS ? TREACLE_KERNEL_LINEAR : params->kernel,
                            .offset = {0.5, 0.5, 0.5}};
    memcpy(place.is_active, domain->is_active, sizeof(place.is_active));
    if (which < AXES && domain->is_active[which]) {
        place.offset[which] = 0.0;
    }
    return place;
}

// True if something is hidden from the particle.
static bool look_around(const near_solids* near, const float* position, thin_particle* out) {
    const thin_params* params = near->params;
    vec3 x = particles_place(params->domain, near->tile, position);
    int id = SOLID_NONE;
    double distance = thin_view_distance_at(near, x, &id);
    bool has_hidden = false;
    if (id == SOLID_NONE || distance > sight * params->domain->h) {
        return false;
    }
    for (int which = 0; which < THIN_PLACES; ++which) {
        transfer_place place = thin_view_place_of(params, which);
        out->seen[which] = look_at(near, which, &place, position, distance, &has_hidden);
    }
    if (!has_hidden) {
        return false;
    }
    vec3 normal = normal_at(near, x), u = solid_velocity(&params->scene.poses[id], x);
    for (int a = 0; a < AXES; ++a) {
        out->normal[a] = (float)normal.at[a];
        out->solid_u[a] = (float)u.at[a];
    }
    return true;
}

// Whether particles of a cell may be beside a thin solid.
static bool is_beside_thin(const near_solids* near, vec3 x) {
    double h = near->params->domain->h, d = thin_view_distance_at(near, x, &(int){0});
    if (!(d < (sight + 0.8661) * h) || d < -probe * h) {
        return false;
    }
    vec3 inward = vec3_scale(-1.0, normal_at(near, x));
    double depth =
        thin_view_distance_at(near, vec3_add_scaled(x, d + probe * h, inward), &(int){0});
    return !(depth < -0.9 * probe * h);
}

static vec3 middle_of(const grid_domain* domain, tile_coord tile, int cell) {
    const float at[AXES] = {(float)(cell % TILE_SIZE) + 0.5f,
                            (float)(cell / TILE_SIZE % TILE_SIZE) + 0.5f,
                            (float)(cell / TILE_SIZE / TILE_SIZE) + 0.5f};
    return particles_place(domain, tile, at);
}

// Solids that a tile's particles may see; none if all of them are thick.
static void list_near(const thin_params* params, tile_coord tile, near_solids* out) {
    const grid_domain* domain = params->domain;
    vec3 middle = middle_of(domain, tile, 0);
    double squared = 0.0;
    for (int a = 0; a < AXES; ++a) {
        middle.at[a] += domain->is_active[a] ? 3.5 * domain->h : 0.0;
        squared += domain->is_active[a] ? 16.0 : 0.0;
    }
    *out = (near_solids){.params = params, .tile = tile};
    double reach = domain->h * (sqrt(squared) + sight + 1.0);
    bool has_thin = false;
    for (int i = 0; i < params->scene.count && out->count >= 0; ++i) {
        if (solid_distance(&params->scene.solids[i], &params->scene.poses[i], middle) >= reach) {
            continue;
        }
        has_thin = has_thin || !params->scene.solids[i].is_thick;
        if (out->count == NEAR_MAX) {
            out->count = -1;
        } else {
            out->at[out->count++] = i;
        }
    }
    out->count = has_thin || out->count < 0 ? out->count : 0;
}

static void look_from_tiles(void* data, int64_t begin, int64_t end) {
    const look_job* job = data;
    const thin_params* params = job->params;
    const particles* p = params->p;
    sample_table* samples = &job->tables[parallel_worker()];
    for (int64_t t = begin; t < end; ++t) {
        near_solids near;
        thin_particle* next = job->members + job->first[t];
        job->found[t] = 0;
        if (job->first[t + 1] == job->first[t]) {
            continue;
        }
        list_near(params, p->tile[t], &near);
        near.samples = samples;
        memset(samples->kind, SAMPLE_UNKNOWN, sizeof(samples->kind));
        bool is_beside = false;
        int last = -1;
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            int cell = tile_points_cell(x);
            if (cell != last) {
                is_beside = is_beside_thin(&near, middle_of(params->domain, p->tile[t], cell));
                last = cell;
            }
            next->particle = i;
            bool is_found = is_beside && look_around(&near, x, next);
            next += is_found ? 1 : 0;
            job->found[t] += is_found ? 1 : 0;
        }
    }
}

// first[t + 1] - first[t] is the number of a tile's particles, or 0 far from solids.
static void count_near(void* data, int64_t begin, int64_t end) {
    const look_job* job = data;
    const particles* p = job->params->p;
    for (int64_t t = begin; t < end; ++t) {
        near_solids near;
        list_near(job->params, p->tile[t], &near);
        job->first[t + 1] = near.count != 0 ? p->tile_first[t + 1] - p->tile_first[t] : 0;
    }
}

static treacle_status thin_view_take(const thin_params* params, size_t count, size_t bytes,
                                     void** out) {
    return arena_take(params->scratch, count, bytes, "particles beside thin solids", out);
}

static treacle_status hide_volumes(const thin_params* params, thin_view* out) {
    size_t count = (size_t)params->p->count;
    TREACLE_TRY(thin_view_take(params, count, sizeof(float), (void**)&out->volume));
    memcpy(out->volume, particles_f32(params->p, PARTICLE_VOLUME), count * sizeof(float));
    for (int64_t i = 0; i < out->count; ++i) {
        out->volume[out->members[i].particle] = 0.0f;
    }
    return TREACLE_OK;
}

treacle_status thin_look(const thin_params* params, thin_view* out) {
    TREACLE_ASSERT(params->scratch != NULL && params->domain->h > 0.0);
    TREACLE_ASSERT(params->scene.count == 0 || params->scene.poses != NULL);
    const particles* p = params->p;
    size_t tiles = (size_t)p->tile_count;
    *out = (thin_view){0};
    if (params->scene.count == 0 || p->count == 0) {
        return TREACLE_OK;
    }
    look_job job = {.params = params};
    TREACLE_TRY(thin_view_take(params, tiles + 1, sizeof(int64_t), (void**)&job.first));
    TREACLE_TRY(thin_view_take(params, tiles, sizeof(int64_t), (void**)&job.found));
    job.first[0] = 0;
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4}, count_near, &job);
    for (size_t t = 0; t < tiles; ++t) {
        job.first[t + 1] += job.first[t];
    }
    if (job.first[tiles] == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(thin_view_take(params, (size_t)job.first[tiles], sizeof(thin_particle),
                               (void**)&job.members));
    TREACLE_TRY(
        thin_view_take(params, (size_t)p->ctx->threads, sizeof(sample_table), (void**)&job.tables));
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1}, look_from_tiles,
                 &job);
    for (size_t t = 0; t < tiles; ++t) {
        memmove(job.members + out->count, job.members + job.first[t],
                (size_t)job.found[t] * sizeof(thin_particle));
        out->count += job.found[t];
    }
    out->members = job.members;
    return out->count > 0 ? hide_volumes(params, out) : TREACLE_OK;
}

thin_particle* thin_particles_between(const thin_view* view, particle_ix first, particle_ix end,
                                      int64_t* count) {
    TREACLE_ASSERT(first <= end && count != NULL);
    int64_t low = 0, high = view->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool is_before = view->members[middle].particle < first;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    *count = 0;
    while (low + *count < view->count && view->members[low + *count].particle < end) {
        *count += 1;
    }
    return *count > 0 ? view->members + low : NULL;
}
