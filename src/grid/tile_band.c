#include "grid/tile_band.h"

#include "base/alloc.h"
#include "grid/tile_loop.h"

typedef struct reach_job {
    const tile_points* points;
    int band;
    uint32_t* reach; // [points tiles], bit n: the neighbour n is within the band
} reach_job;

// Bits of the 8 cells along an axis from which the tile at offset d along it is within the band.
static uint32_t near_bits(int d, int band) {
    uint32_t low = (1u << band) - 1;
    return d == 0 ? 255 : d < 0 ? low : low << (TILE_SIZE - band);
}

// The cells (y, x) from which the tile at offset n is within reach along x and y.
static uint64_t near_layer(int n, int band) {
    uint64_t row = near_bits(n % 3 - 1, band), layer = 0;
    uint32_t rows = near_bits(n / 3 % 3 - 1, band);
    for (int y = 0; y < TILE_SIZE; ++y) {
        layer |= (rows >> y & 1 ? row : 0) << (8 * y);
    }
    return layer;
}

static uint32_t reach_of(const tile_mask* mask, int band) {
    uint32_t reach = 0;
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        uint32_t layers = near_bits(n / 9 - 1, band);
        uint64_t any = 0;
        for (int z = 0; z < TILE_SIZE; ++z) {
            any |= layers >> z & 1 ? mask->layer[z] : 0;
        }
        reach |= (uint32_t)((any & near_layer(n, band)) != 0) << n;
    }
    return reach;
}

static void find_reach(void* data, int64_t begin, int64_t end) {
    const reach_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        tile_mask mask = tile_points_mask(job->points, (tile_ix)i);
        job->reach[i] = reach_of(&mask, job->band);
    }
}

// Writes the tiles within reach that the domain allows; returns their number. coords may be NULL.
static int64_t tile_band_list_tiles(const grid_domain* domain, const reach_job* job,
                                    tile_coord* coords) {
    int64_t count = 0;
    for (tile_ix i = 0; i < job->points->tile_count; ++i) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            tile_coord coord = job->points->tile[i];
            coord.at[0] += n % 3 - 1;
            coord.at[1] += n / 3 % 3 - 1;
            coord.at[2] += n / 9 - 1;
            if ((job->reach[i] >> n & 1) == 0 || !tile_coord_wrap(domain, &coord)) {
                continue;
            }
            if (coords != NULL) {
                coords[count] = coord;
            }
            ++count;
        }
    }
    return count;
}

// Finds the reach of one's own tiles; then all ranks learn that of all.
static treacle_status find_reaches(treacle_context* ctx, reach_job* job) {
    size_t ranks = (size_t)comm_size(ctx) + 1;
    int64_t* first = NULL;
    TREACLE_TRY(alloc_array(ctx, ranks, sizeof(*first), "tiles of ranks", (void**)&first));
    int64_t count = job->points->tile_count;
    tile_range own = tile_ranks_of_list(ctx, job->points->owners, count, job->points->tile, first);
    tile_for_range(ctx, own, 8, find_reach, job);
    if (job->points->owners != NULL) {
        comm_gather(ctx, job->reach, sizeof(*job->reach), first);
    }
    alloc_free(ctx, first, ranks * sizeof(*first));
    return TREACLE_OK;
}

treacle_status tile_band_create(treacle_context* ctx, const grid_domain* domain,
                                const tile_points* points, int band, tile_map* out) {
    TREACLE_ASSERT(points->tile_count >= 0 && points->tile_first != NULL);
    TREACLE_ASSERT(band >= 0 && band <= TILE_BAND_MAX);
    *out = (tile_map){.ctx = ctx};
    reach_job job = {.points = points, .band = band};
    size_t tiles = (size_t)points->tile_count;
    TREACLE_TRY(alloc_array(ctx, tiles, sizeof(uint32_t), "tile reaches", (void**)&job.reach));
    treacle_status status = find_reaches(ctx, &job);
    size_t count = status == TREACLE_OK ? (size_t)tile_band_list_tiles(domain, &job, NULL) : 0;
    tile_coord* coords = NULL;
    if (status == TREACLE_OK) {
        status = alloc_array(ctx, count, sizeof(*coords), "the tiles of the band", (void**)&coords);
    }
    if (status == TREACLE_OK) {
        tile_band_list_tiles(domain, &job, coords);
        status = tile_map_create(ctx, domain, (int64_t)count, coords, out);
    }
    alloc_free(ctx, coords, count * sizeof(*coords));
    alloc_free(ctx, job.reach, tiles * sizeof(uint32_t));
    return status;
}

treacle_status tile_band_whole(treacle_context* ctx, const grid_domain* domain, tile_map* out) {
    TREACLE_ASSERT(domain->tiles[0] >= 1 && domain->tiles[1] >= 1 && domain->tiles[2] >= 1);
    *out = (tile_map){.ctx = ctx};
    int32_t tiles[AXES];
    for (int a = 0; a < AXES; ++a) {
        bool has_far_layer = domain->is_active[a] && !domain->is_periodic[a];
        tiles[a] = has_far_layer ? domain->cells[a] / TILE_SIZE + 1 : domain->tiles[a];
    }
    size_t count = (size_t)tiles[0] * (size_t)tiles[1] * (size_t)tiles[2];
    tile_coord* coords = NULL;
    TREACLE_TRY(
        alloc_array(ctx, count, sizeof(*coords), "the tiles of the domain", (void**)&coords));
    for (size_t i = 0; i < count; ++i) {
        int32_t row = (int32_t)(i / (size_t)tiles[0]);
        coords[i] = (tile_coord){{(int32_t)(i % (size_t)tiles[0]), row % tiles[1], row / tiles[1]}};
    }
    treacle_status status = tile_map_create(ctx, domain, (int64_t)count, coords, out);
    alloc_free(ctx, coords, count * sizeof(*coords));
    return status;
}
