// Materials that touch but do not merge: gel on gel, balls that bounce off each other [G11] asks
// for in its chapter 5.
//
// All liquid shares one velocity on the grid. Where material that does not merge meets another one,
// in cells whose particles are of both (mixed) or between neighbours of different ones (beside),
// the two bodies press on each other and no more:
//
//     0 <= p,   sigma n = -p n                                                          [elastic.6]
//
// so no viscous and no elastic stress passes mixed cells, and no shear passes between neighbours:
// they slip. And pressure does not pull: cells where it did, or would, are open - air, as far as
// the flow knows - and particles in them fly on with their own velocity.
//
// Whether the bodies were pressed together tells the pressure of the last step. A cell is closed
// where it was positive, and where the bodies come nearer to each other: where -div u dt is more
// than a little.
//
// Staggering: materials and p at cells, u on faces; cell_cut has a bit for the cell and one for
// each of its edges.
#include "phys/no_merge.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "phys/p2g.h"
#include "phys/stress.h"

// What cells are.
#define NO_MERGE_NONE 0.0f
#define NO_MERGE_BESIDE 0.5f
#define NO_MERGE_MIXED 1.0f
// Cells are of two bodies if each has this fraction of their particles.
static const float fraction_least = 0.1f;
// Two bodies come nearer if a cell would lose this fraction of its volume in a step.
static const double nearing_least = 1e-3;
// Distance, in cells, of what is open to the liquid.
static const float gap = 0.5f;

typedef struct no_merge_job {
    const no_merge_params* params;
    int material;
    float *column, *fraction, *weight, *no_merge; // of particles; at cells
    float* cell_phi;
    uint8_t* cell_cut;
} no_merge_job;

static void fill_fractions(void* data, int64_t begin, int64_t end) {
    const no_merge_job* job = data;
    const uint8_t* material = particles_material(job->params->p);
    for (int64_t i = begin; i < end; ++i) {
        job->column[i] = material[i] == job->material ? 1.0f : 0.0f;
    }
}

// Whether a cell has particles of two bodies, or a neighbour those of the other one. Shares below
// 0: no particles.
static float kind_of(const float* fraction, const bool is_active[AXES]) {
    static const int step[AXES] = {1, BLOCK_SIDE(1, 1), BLOCK_SIDE(1, 1) * BLOCK_SIDE(1, 1)};
    if (*fraction > fraction_least && *fraction < 1.0f - fraction_least) {
        return NO_MERGE_MIXED;
    }
    bool is_beside = false;
    for (int a = 0; a < AXES && *fraction >= 0.0f && is_active[a]; ++a) {
        float low = fraction[-step[a]], high = fraction[step[a]];
        is_beside = is_beside || (low >= 0.0f && fabsf(low - *fraction) > 0.5f) ||
                    (high >= 0.0f && fabsf(high - *fraction) > 0.5f);
    }
    return is_beside ? NO_MERGE_BESIDE : NO_MERGE_NONE;
}

static void mark_touching(void* data, int64_t begin, int64_t end) {
    const no_merge_job* job = data;
    const no_merge_params* p = job->params;
    for (int64_t t = begin; t < end; ++t) {
        float fraction[BLOCK_VALUES(1, 1)];
        gather_block(p->map, job->fraction, (tile_ix)t, 1, 1, fraction);
        for (int q = 0; q < TILE_CELLS; ++q) {
            int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
            float kind = kind_of(fraction + at, p->domain->is_active);
            float* no_merge = &job->no_merge[t * TILE_CELLS + q];
            *no_merge = fmaxf(*no_merge, kind);
        }
    }
}

static void mark_empty(void* data, int64_t begin, int64_t end) {
    const no_merge_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->fraction[i] = job->weight[i] > 0.0f ? job->fraction[i] : -1.0f;
    }
}

// How much of their volume the cells of a tile lose in the step, if nothing is done.
static void find_loss(const no_merge_params* p, tile_ix t, double loss[TILE_CELLS]) {
    static const int side = BLOCK_SIDE(0, 1);
    static const int step[AXES] = {1, BLOCK_SIDE(0, 1), BLOCK_SIDE(0, 1) * BLOCK_SIDE(0, 1)};
    for (int q = 0; q < TILE_CELLS; ++q) {
        loss[q] = 0.0;
    }
    for (int a = 0; a < AXES; ++a) {
        float u[BLOCK_VALUES(0, 1)];
        gather_block(p->map, p->face_u.at[a], t, 0, 1, u);
        for (int q = 0; q < TILE_CELLS && p->domain->is_active[a]; ++q) {
            int at = ((q >> 6) * side + (q >> 3 & 7)) * side + (q & 7);
            loss[q] -= ((double)u[at + step[a]] - (double)u[at]) * p->dt / p->domain->h;
        }
    }
}

static void open_tiles(void* data, int64_t begin, int64_t end) {
    const no_merge_job* job = data;
    const no_merge_params* p = job->params;
    for (int64_t t = begin; t < end; ++t) {
        double loss[TILE_CELLS];
        find_loss(p, (tile_ix)t, loss);
        for (int q = 0; q < TILE_CELLS; ++q) {
            size_t i = (size_t)t * TILE_CELLS + (size_t)q;
            bool is_pressed = p->cell_pressure[i] > 0.0f || loss[q] > nearing_least;
            if (job->no_merge[i] > NO_MERGE_NONE && !is_pressed) {
                job->no_merge[i] = NO_MERGE_MIXED;
                job->cell_phi[i] = fmaxf(job->cell_phi[i], gap);
            }
        }
    }
}

// An edge is cut where it touches a mixed cell, or cells of different bodies: then at least three
// of the four around it are beside others.
static void cut_tiles(void* data, int64_t begin, int64_t end) {
    const no_merge_job* job = data;
    static const int step[AXES] = {1, BLOCK_SIDE(1, 0), BLOCK_SIDE(1, 0) * BLOCK_SIDE(1, 0)};
    for (int64_t t = begin; t < end; ++t) {
        float no_merge[BLOCK_VALUES(1, 0)];
        gather_block(job->params->map, job->no_merge, (tile_ix)t, 1, 0, no_merge);
        for (int q = 0; q < TILE_CELLS; ++q) {
            const float* at = no_merge + BLOCK_INDEX(1, 0, q & 7, q >> 3 & 7, q >> 6);
            uint8_t cut = *at >= NO_MERGE_MIXED ? STRESS_CUT_CELL : 0;
            for (int a = 0; a < AXES; ++a) {
                int b = step[(a + 1) % AXES], c = step[(a + 2) % AXES];
                float most = fmaxf(fmaxf(at[0], at[-b]), fmaxf(at[-c], at[-b - c]));
                float sum = (at[0] + at[-b]) + (at[-c] + at[-b - c]);
                bool is_cut = most >= NO_MERGE_MIXED || sum >= 3.0f * NO_MERGE_BESIDE;
                cut |= (uint8_t)(is_cut ? 1u << a : 0u);
            }
            job->cell_cut[t * TILE_CELLS + q] = cut;
        }
    }
}

static treacle_status find(no_merge_job* job) {
    const no_merge_params* p = job->params;
    treacle_context* ctx = p->map->ctx;
    p2g_params transfer = {.domain = p->domain, .map = p->map, .from = p->p};
    for (job->material = 0; job->material < p->material_count; ++job->material) {
        if (!p->materials[job->material].merges) {
            particle_for(p->p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096},
                         fill_fractions, job);
            p2g_values values = {job->column, 1};
            TREACLE_TRY(p2g_mean(&transfer, PLACE_CELL, &values, job->fraction, job->weight));
            parallel_for(ctx, p->map->count + 1, 8, mark_empty, job);
            tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, mark_touching, job);
        }
    }
    tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, open_tiles, job);
    tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, cut_tiles, job);
    return TREACLE_OK;
}

treacle_status no_merge_find(const no_merge_params* params, arena* scratch, float* cell_phi,
                             uint8_t* cell_cut) {
    TREACLE_ASSERT(params->material_count > 0 && params->materials != NULL);
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->cell_pressure != NULL);
    TREACLE_ASSERT(cell_phi != NULL && cell_cut != NULL);
    no_merge_job job = {.params = params, .cell_phi = cell_phi, .cell_cut = cell_cut};
    size_t values = ((size_t)params->map->count + 1) * TILE_CELLS;
    int mark = arena_mark(scratch);
    TREACLE_TRY(arena_take_zero(scratch, (size_t)params->p->count, sizeof(float),
                                "material of particles", (void**)&job.column));
    float** const fields[] = {&job.fraction, &job.weight, &job.no_merge};
    for (int i = 0; i < 3; ++i) {
        TREACLE_TRY(arena_take_zero(scratch, values, sizeof(float), "shares of a material",
                                    (void**)fields[i]));
    }
    treacle_status status = find(&job);
    arena_give_to(scratch, mark);
    return status;
}

// --- what does not pass --------------------------------------------------------------------------

typedef struct cut_job {
    const uint8_t* cell_cut;
    const tensor_field* stretch;
    float* const* spin;
} cut_job;

static void forget_tiles(void* data, int64_t begin, int64_t end) {
    const cut_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        unsigned cut = job->cell_cut[i];
        for (int a = 0; a < AXES && cut != 0; ++a) {
            if ((cut & STRESS_CUT_CELL) != 0) {
                job->stretch->cell[a][i] = NAN;
            }
            if ((cut >> a & 1) != 0) {
                job->stretch->edge[a][i] = job->spin[a][i] = NAN;
            }
        }
    }
}

void no_merge_cut_stretch(const tile_map* map, const uint8_t* cell_cut, const tensor_field* stretch,
                          float* const spin[AXES]) {
    TREACLE_ASSERT(cell_cut == NULL || (stretch->cell[0] != NULL && stretch->edge[0] != NULL));
    cut_job job = {cell_cut, stretch, spin};
    if (cell_cut != NULL) {
        tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, forget_tiles, &job);
    }
}
