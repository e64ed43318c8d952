#include "particles/reseed.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "particles/particle_ranks.h"
#include "particles/split_merge.h"

enum { CROWD_MAX = 4096 }; // particles of a cell that are looked at; more wait for the next step

typedef struct reseed_job {
    const particles* p;
    const reseed_params* params;
    double volume;       // of a particle in a full cell
    uint8_t* is_removed; // [particles]
    int64_t* splits;     // [tiles]
    int64_t* merges;     // [tiles]
} reseed_job;

// Particles of one cell, a run of a tile's particles; or all of those.
typedef struct cell_run {
    particle_ix begin, end;
} cell_run;

static cell_run run_from(const particles* p, particle_ix begin, particle_ix end) {
    const float* position = particles_f32(p, PARTICLE_POSITION);
    int cell = particles_cell(position + AXES * begin);
    particle_ix next = begin + 1;
    while (next < end && particles_cell(position + AXES * next) == cell) {
        next += 1;
    }
    return (cell_run){begin, next};
}

static bool is_split(const reseed_job* job, cell_run run, particle_ix particle) {
    double volume = (double)particles_f32(job->p, PARTICLE_VOLUME)[particle];
    return volume > 1.5 * job->volume && run.end - run.begin < job->params->per_cell;
}

// The smallest particle of the run that is still there; -1 if none.
static particle_ix smallest_of(const reseed_job* job, cell_run run) {
    const float* volume = particles_f32(job->p, PARTICLE_VOLUME);
    particle_ix best = -1;
    for (particle_ix i = run.begin; i < run.end; ++i) {
        if (!job->is_removed[i] && (best < 0 || volume[i] < volume[best])) {
            best = i;
        }
    }
    return best;
}

// The nearest to `particle` that may take it in; -1 if none.
static particle_ix partner_of(const reseed_job* job, cell_run run, particle_ix particle) {
    const float* volume = particles_f32(job->p, PARTICLE_VOLUME);
    const float* at = particles_f32(job->p, PARTICLE_POSITION);
    const uint8_t* material = particles_material(job->p);
    particle_ix best = -1;
    float nearest = INFINITY;
    for (particle_ix i = run.begin; i < run.end; ++i) {
        bool may_merge = i != particle && !job->is_removed[i] &&
                         material[i] == material[particle] &&
                         (double)(volume[i] + volume[particle]) <= 2.0 * job->volume;
        float squared = 0.0f;
        for (int a = 0; a < AXES; ++a) {
            float d = at[AXES * i + a] - at[AXES * particle + a];
            squared += d * d;
        }
        if (may_merge && squared < nearest) {
            nearest = squared;
            best = i;
        }
    }
    return best;
}

static int64_t merge_cell(const reseed_job* job, cell_run run) {
    int64_t merged = 0;
    int64_t most = 2 * (int64_t)job->params->per_cell;
    bool is_crowd = run.end - run.begin <= CROWD_MAX;
    while (is_crowd && run.end - run.begin - merged > most) {
        particle_ix small = smallest_of(job, run), other = partner_of(job, run, small);
        if (other < 0) {
            break;
        }
        particles_merge(job->p, &(particle_merge){.particle = other, .other = small});
        job->is_removed[small] = 1;
        merged += 1;
    }
    return merged;
}

static void look_at_tiles(void* data, int64_t begin, int64_t end) {
    const reseed_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        particle_ix particle = job->p->tile_first[t], last = job->p->tile_first[t + 1];
        while (particle < last) {
            cell_run run = run_from(job->p, particle, last);
            job->merges[t] += merge_cell(job, run);
            for (particle_ix i = run.begin; i < run.end; ++i) {
                job->splits[t] += is_split(job, run, i) ? 1 : 0;
            }
            particle = run.end;
        }
    }
}

// Splits what is to be split of a tile's particles; the new ones are those from `other` on.
static void split_tile(const reseed_job* job, cell_run tile, uint64_t birth, particle_ix other) {
    const particles* p = job->p;
    const reseed_params* params = job->params;
    particle_ix particle = tile.begin;
    while (particle < tile.end) {
        cell_run run = run_from(p, particle, tile.end);
        for (particle_ix i = run.begin; i < run.end; ++i) {
            if (!is_split(job, run, i)) {
                continue;
            }
            particle_split split = {.particle = i,
                                    .other = other++,
                                    .apart = 0.25f,
                                    .id = particles_make_id(params->source, birth++),
                                    .h = params->domain->h};
            particles_split_axis(params->seed, particles_id(p)[i], params->domain, split.axis);
            particles_split(p, &split);
        }
        particle = run.end;
    }
}

// The new particles come to the end of the store, in groups of their tile: on all ranks, though
// only those that hold the tile know what is in them.
static treacle_status split_all(particles* p, reseed_job* job, int64_t count) {
    const reseed_params* params = job->params;
    uint64_t birth = params->births;
    if (birth + (uint64_t)count >= PARTICLE_BIRTHS_MAX) {
        return check_fail(p->ctx, TREACLE_ERR_LIMIT, "no ids are left for particles that split");
    }
    tile_ix tiles = p->tile_count;
    tile_range here = particle_ranks_here(p);
    TREACLE_TRY(particles_reserve(p, p->count + count, (int64_t)tiles * 2));
    for (tile_ix t = 0; t < tiles; ++t) {
        particle_ix other;
        // As it was counted: what comes to the end of the last tile belongs to it at once.
        cell_run tile = {p->tile_first[t], p->tile_first[t + 1]};
        if (job->splits[t] == 0) {
            continue;
        }
        TREACLE_TRY(particles_append(p, p->tile[t], job->splits[t], &other));
        if (t >= here.begin && t < here.end) {
            split_tile(job, tile, birth, other);
        }
        birth += (uint64_t)job->splits[t];
    }
    return TREACLE_OK;
}

static treacle_status reseed(particles* p, reseed_job* job, reseed_stats* stats) {
    size_t tiles = (size_t)p->tile_count;
    arena* scratch = job->params->scratch;
    TREACLE_TRY(arena_take_zero(scratch, (size_t)p->count, 1, "merged particles",
                                (void**)&job->is_removed));
    TREACLE_TRY(arena_take_zero(scratch, tiles, sizeof(int64_t), "splits", (void**)&job->splits));
    TREACLE_TRY(arena_take_zero(scratch, tiles, sizeof(int64_t), "merges", (void**)&job->merges));
    tile_for_range(p->ctx, particle_ranks_here(p), 1, look_at_tiles, job);
    if (particle_ranks_are_distributed(p)) {
        comm_sum_i64(p->ctx, job->splits, p->tile_count);
        comm_sum_i64(p->ctx, job->merges, p->tile_count);
    }
    for (size_t t = 0; t < tiles; ++t) {
        stats->split += job->splits[t];
        stats->merged += job->merges[t];
    }
    if (stats->merged > 0) {
        TREACLE_TRY(particle_ranks_remove(p, job->is_removed, scratch));
    }
    return stats->split > 0 ? split_all(p, job, stats->split) : TREACLE_OK;
}

treacle_status reseed_particles(particles* p, const reseed_params* params, reseed_stats* stats) {
    TREACLE_ASSERT(params->per_cell > 0 && params->domain->h > 0.0);
    TREACLE_ASSERT(params->scratch != NULL);
    *stats = (reseed_stats){0};
    double h = params->domain->h;
    reseed_job job = {.p = p, .params = params, .volume = h * h * h / params->per_cell};
    int mark = arena_mark(params->scratch);
    treacle_status status = reseed(p, &job, stats);
    arena_give_to(params->scratch, mark);
    return status;
}
