// Particles to grid [S19 eq. 13, 14, 18]; the law is in phys/transfer.h.
//
// A tile scatters its own particles, in their order, into a block on the stack and then adds the
// block to the field, which reaches two cells into its 26 neighbours. Tiles whose coordinates agree
// in parity along every axis never touch the same value: they go in parallel, one of the eight
// parities after the other. So every value is summed in the same order on any number of threads.
//
// Properties that tests check: mass and momentum arrive whole; angular momentum too in APIC; a
// uniform velocity comes out with the same bits on all faces; bits do not depend on threads.
#include "phys/p2g.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "phys/transfer.h"

enum { COLOURS = 8 };

// The tiles of the particles, sorted by colour.
typedef struct coloured_tiles {
    int64_t first[COLOURS + 1];
    tile_ix* tile; // of the particles
} coloured_tiles;

typedef struct scatter_job {
    const p2g_params* params;
    const coloured_tiles* tiles;
    int64_t first;         // of the current colour
    transfer_source whole; // arrays of all particles; pointers are moved to a tile's own
    transfer_place place;
    float* sum;     // [map tiles][512]
    float* weight;  // likewise
    bool is_folded; // what goes to cells beyond a side comes back to the cell at it
} scatter_job;

static int colour_of(tile_coord coord) {
    return (coord.at[0] & 1) | (coord.at[1] & 1) << 1 | (coord.at[2] & 1) << 2;
}

static treacle_status colour_tiles(const particles* p, coloured_tiles* out) {
    memset(out, 0, sizeof(*out));
    void* block = NULL;
    TREACLE_TRY(
        alloc_array(p->ctx, (size_t)p->tile_count, sizeof(tile_ix), "coloured tiles", &block));
    out->tile = block;
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        out->first[colour_of(p->tile[t]) + 1] += 1;
    }
    for (int c = 0; c < COLOURS; ++c) {
        out->first[c + 1] += out->first[c];
    }
    int64_t next[COLOURS];
    memcpy(next, out->first, sizeof(next));
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        out->tile[next[colour_of(p->tile[t])]++] = t;
    }
    return TREACLE_OK;
}

// What of a block belongs to the neighbour at `offset` along one axis: block index and cell index
// of its first sample, and how many there are.
typedef struct overlap {
    int in_block, in_tile, count;
} overlap;

static overlap overlap_of(int offset) {
    static const overlap of[3] = {
        {0, TILE_SIZE - BLOCK_HALO, BLOCK_HALO},
        {BLOCK_HALO, 0, TILE_SIZE},
        {BLOCK_HALO + TILE_SIZE, 0, BLOCK_HALO},
    };
    return of[offset + 1];
}

static void add_rows(const float* block, const overlap at[AXES], float* sum, float* weight) {
    for (int k = 0; k < at[2].count; ++k) {
        for (int j = 0; j < at[1].count; ++j) {
            int from = ((at[2].in_block + k) * BLOCK_SIZE + at[1].in_block + j) * BLOCK_SIZE +
                       at[0].in_block;
            int to =
                ((at[2].in_tile + k) * TILE_SIZE + at[1].in_tile + j) * TILE_SIZE + at[0].in_tile;
            for (int i = 0; i < at[0].count; ++i) {
                sum[to + i] += block[2 * (from + i)];
                weight[to + i] += block[2 * (from + i) + 1];
            }
        }
    }
}

// Neighbours that do not exist lie beyond the domain: what goes there is lost with them.
static void add_block(const scatter_job* job, tile_ix tile, const float* block) {
    const tile_map* map = job->params->map;
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        tile_ix to = map->neighbour[tile][n];
        if (to == map->count) {
            continue;
        }
        overlap at[AXES] = {overlap_of(n % 3 - 1), overlap_of(n / 3 % 3 - 1),
                            overlap_of(n / 9 - 1)};
        size_t start = (size_t)to * TILE_CELLS;
        add_rows(block, at, job->sum + start, job->weight + start);
    }
}

// Adds plane `from` of axis b of a block to plane `to`, and empties it.
static void fold_plane(float* block, int b, int from, int to) {
    static const int stride[AXES] = {2, 2 * BLOCK_SIZE, 2 * BLOCK_SIZE * BLOCK_SIZE};
    int c = (b + 1) % AXES, d = (b + 2) % AXES;
    for (int i = 0; i < BLOCK_SIZE * BLOCK_SIZE; ++i) {
        float* row = block + i % BLOCK_SIZE * stride[c] + i / BLOCK_SIZE * stride[d];
        for (int k = 0; k < 2; ++k) {
            row[to * stride[b] + k] += row[from * stride[b] + k];
            row[from * stride[b] + k] = 0.0f;
        }
    }
}

// Cells only, and the linear kernel, which reaches one beyond a side.
static void fold_sides(const grid_domain* domain, tile_coord tile, float* block) {
    for (int b = 0; b < AXES; ++b) {
        if (!domain->is_active[b] || domain->is_periodic[b]) {
            continue;
        }
        int low = BLOCK_HALO - tile.at[b] * TILE_SIZE, high = low + domain->cells[b];
        if (low == BLOCK_HALO) {
            fold_plane(block, b, low - 1, low);
        }
        if (high < BLOCK_SIZE) {
            fold_plane(block, b, high, high - 1);
        }
    }
}

static transfer_source source_of_tile(const scatter_job* job, tile_ix tile) {
    particle_ix first = job->params->from->tile_first[tile];
    transfer_source s = job->whole;
    s.count = job->params->from->tile_first[tile + 1] - first;
    s.position += 3 * first;
    s.value += s.value_stride * first;
    s.slope = s.slope == NULL ? NULL : s.slope + s.slope_stride * first;
    s.volume += first;
    s.material += first;
    return s;
}

static void scatter_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const scatter_job* job = data;
    (void)worker;
    float block[2 * BLOCK_CELLS + BLOCK_TAIL];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix tile = job->tiles->tile[job->first + i];
        transfer_source source = source_of_tile(job, tile);
        ISA_CALL(job->params->from->ctx, transfer_scatter)(&source, &job->place, block);
        if (job->is_folded) {
            fold_sides(job->params->domain, job->params->from->tile[tile], block);
        }
        add_block(job, tile_map_find(job->params->map, job->params->from->tile[tile]), block);
    }
}

// sum, weight += all particles, colour by colour.
static void scatter(scatter_job* job) {
    size_t bytes = ((size_t)job->params->map->count + 1) * TILE_CELLS * sizeof(float);
    memset(job->sum, 0, bytes);
    memset(job->weight, 0, bytes);
    for (int c = 0; c < COLOURS; ++c) {
        job->first = job->tiles->first[c];
        parallel_for(job->params->from->ctx, job->tiles->first[c + 1] - job->first, 1,
                     scatter_tiles, job);
    }
}

typedef struct normalise_job {
    float* sum;
    float* weight;
    float reference;
} normalise_job;

static void normalise_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const normalise_job* job = data;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool has_weight = job->weight[i] > P2G_MASS_MIN;
        job->sum[i] = has_weight ? job->reference + job->sum[i] / job->weight[i] : 0.0f;
        job->weight[i] = has_weight ? job->weight[i] : 0.0f;
    }
}

static void normalise(const scatter_job* job) {
    normalise_job n = {job->sum, job->weight, job->whole.reference};
    parallel_for(job->params->from->ctx, job->params->map->count, 8, normalise_tiles, &n);
}

static scatter_job job_of(const p2g_params* params, const coloured_tiles* tiles) {
    const particles* p = params->from;
    double h = params->domain->h;
    scatter_job job = {
        .params = params,
        .tiles = tiles,
        .whole = {.position = particles_f32(p, PARTICLE_POSITION),
                  .volume = particles_f32(p, PARTICLE_VOLUME),
                  .volume_scale = (float)(1.0 / (h * h * h)),
                  .material = particles_material(p)},
        .place = {.offset = {0.5, 0.5, 0.5}},
    };
    memcpy(job.place.is_active, params->domain->is_active, sizeof(job.place.is_active));
    return job;
}

treacle_status p2g_velocity(const p2g_params* params, float* const face_u[AXES],
                            float* const face_mass[AXES]) {
    coloured_tiles tiles;
    TREACLE_TRY(colour_tiles(params->from, &tiles));
    const particles* p = params->from;
    for (int a = 0; a < AXES; ++a) {
        scatter_job job = job_of(params, &tiles);
        job.place.kernel = params->kernel;
        job.place.offset[a] = params->domain->is_active[a] ? 0.0 : 0.5;
        job.whole.value = particles_f32(p, PARTICLE_VELOCITY) + a;
        job.whole.value_stride = AXES;
        job.whole.density = params->density;
        job.whole.reference = params->reference[a];
        if (params->is_affine) {
            job.whole.slope = particles_f32(p, PARTICLE_AFFINE) + AXES * a;
            job.whole.slope_stride = AXES * AXES;
            job.whole.slope_scale = (float)params->domain->h;
        }
        job.sum = face_u[a];
        job.weight = face_mass[a];
        scatter(&job);
        normalise(&job);
    }
    alloc_free(p->ctx, tiles.tile, (size_t)p->tile_count * sizeof(tile_ix));
    return TREACLE_OK;
}

treacle_status p2g_scalar(const p2g_params* params, const float* value, float* cell_value,
                          float* cell_volume) {
    coloured_tiles tiles;
    TREACLE_TRY(colour_tiles(params->from, &tiles));
    scatter_job job = job_of(params, &tiles);
    job.place.kernel = TREACLE_KERNEL_LINEAR;
    job.whole.value = value;
    job.whole.value_stride = 1;
    job.sum = cell_value;
    job.weight = cell_volume;
    job.is_folded = true;
    scatter(&job);
    normalise(&job);
    const particles* p = params->from;
    alloc_free(p->ctx, tiles.tile, (size_t)p->tile_count * sizeof(tile_ix));
    return TREACLE_OK;
}
