#include "grid/tile_map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "grid/tile_ranks.h"

// Spreads the low 21 bits of x so that bit k comes to bit 3k.
static uint64_t spread(uint64_t x) {
    x &= 0x1fffff;
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
    return x;
}

static int32_t compact(uint64_t x) {
    x &= 0x1249249249249249;
    x = (x | x >> 2) & 0x10c30c30c30c30c3;
    x = (x | x >> 4) & 0x100f00f00f00f00f;
    x = (x | x >> 8) & 0x001f0000ff0000ff;
    x = (x | x >> 16) & 0x001f00000000ffff;
    x = (x | x >> 32) & 0x1fffff;
    return (int32_t)x;
}

uint64_t tile_key(tile_coord coord) {
    TREACLE_ASSERT(coord.at[0] >= 0 && coord.at[0] < TILE_COORD_LIMIT);
    TREACLE_ASSERT(coord.at[1] >= 0 && coord.at[1] < TILE_COORD_LIMIT);
    TREACLE_ASSERT(coord.at[2] >= 0 && coord.at[2] < TILE_COORD_LIMIT);
    return spread((uint64_t)coord.at[0]) | spread((uint64_t)coord.at[1]) << 1 |
           spread((uint64_t)coord.at[2]) << 2;
}

static tile_coord coord_of_key(uint64_t key) {
    return (tile_coord){{compact(key), compact(key >> 1), compact(key >> 2)}};
}

bool tile_coord_wrap(const grid_domain* domain, tile_coord* coord) {
    for (int a = 0; a < AXES; ++a) {
        int32_t at = coord->at[a];
        if (domain->is_periodic[a]) {
            int32_t period = domain->tiles[a];
            coord->at[a] = (at % period + period) % period;
        } else if (at < 0 || at > domain->cells[a] / TILE_SIZE) {
            return false;
        }
    }
    return true;
}

// One pass of a stable counting sort by the byte at `shift`. False if all bytes are equal.
static bool sort_by_byte(int64_t count, const uint64_t* from, uint64_t* to, int shift) {
    int64_t first[256] = {0};
    for (int64_t i = 0; i < count; ++i) {
        first[from[i] >> shift & 255] += 1;
    }
    int64_t sum = 0;
    for (int d = 0; d < 256; ++d) {
        int64_t n = first[d];
        if (n == count) {
            return false;
        }
        first[d] = sum;
        sum += n;
    }
    for (int64_t i = 0; i < count; ++i) {
        to[first[from[i] >> shift & 255]++] = from[i];
    }
    return true;
}

// Sorts keys in place; spare is as large.
static void sort_keys(int64_t count, uint64_t* keys, uint64_t* spare) {
    uint64_t *from = keys, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        if (count > 1 && sort_by_byte(count, from, to, shift)) {
            uint64_t* swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)count * sizeof(*keys));
    }
}

static int64_t remove_repeats(int64_t count, uint64_t* keys) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (kept == 0 || keys[kept - 1] != keys[i]) {
            keys[kept++] = keys[i];
        }
    }
    return kept;
}

// The finaliser of the splitmix64 generator: every bit of the key moves every bit of the slot.
static uint32_t home_slot(const tile_map* map, uint64_t key) {
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(key ^ key >> 31) & (uint32_t)(map->slot_count - 1);
}

static bool is_same(tile_coord p, tile_coord q) {
    return p.at[0] == q.at[0] && p.at[1] == q.at[1] && p.at[2] == q.at[2];
}

tile_ix tile_map_find(const tile_map* map, tile_coord coord) {
    TREACLE_ASSERT((map->slot_count & (map->slot_count - 1)) == 0);
    for (int a = 0; a < AXES; ++a) {
        if (coord.at[a] < 0 || coord.at[a] >= TILE_COORD_LIMIT) {
            return map->count;
        }
    }
    uint32_t mask = (uint32_t)(map->slot_count - 1);
    for (uint32_t s = home_slot(map, tile_key(coord)); map->slot[s] >= 0; s = (s + 1) & mask) {
        if (is_same(map->coord[map->slot[s]], coord)) {
            return map->slot[s];
        }
    }
    return map->count;
}

static void fill_slots(tile_map* map) {
    uint32_t mask = (uint32_t)(map->slot_count - 1);
    for (int32_t s = 0; s < map->slot_count; ++s) {
        map->slot[s] = -1;
    }
    for (tile_ix t = 0; t < map->count; ++t) {
        uint32_t s = home_slot(map, tile_key(map->coord[t]));
        while (map->slot[s] >= 0) {
            s = (s + 1) & mask;
        }
        map->slot[s] = t;
    }
}

typedef struct link_job {
    tile_map* map;
    const grid_domain* domain;
} link_job;

static tile_ix find_neighbour(const link_job* job, tile_ix t, int n) {
    tile_coord coord = job->map->coord[t];
    coord.at[0] += n % 3 - 1;
    coord.at[1] += n / 3 % 3 - 1;
    coord.at[2] += n / 9 - 1;
    return tile_coord_wrap(job->domain, &coord) ? tile_map_find(job->map, coord) : job->map->count;
}

static void link_tiles(void* data, int64_t begin, int64_t end) {
    const link_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            job->map->neighbour[t][n] = find_neighbour(job, (tile_ix)t, n);
        }
    }
}

// Fills `keys` from the coordinates, wrapped where the domain is periodic.
static treacle_status read_coords(treacle_context* ctx, const grid_domain* domain, int64_t count,
                                  const tile_coord* coords, uint64_t* keys) {
    for (int64_t i = 0; i < count; ++i) {
        tile_coord coord = coords[i];
        if (!tile_coord_wrap(domain, &coord)) {
            return check_fail(ctx, TREACLE_ERR_INTERNAL,
                              "tile (%d, %d, %d) is outside the domain of %d x %d x %d tiles",
                              (int)coord.at[0], (int)coord.at[1], (int)coord.at[2],
                              (int)domain->tiles[0], (int)domain->tiles[1], (int)domain->tiles[2]);
        }
        keys[i] = tile_key(coord);
    }
    return TREACLE_OK;
}

static int32_t slots_for(tile_ix count) {
    int32_t slots = 16;
    while (slots / 2 < count) {
        slots *= 2;
    }
    return slots;
}

static treacle_status tile_map_build(tile_map* map, const grid_domain* domain, int64_t count,
                                     const uint64_t* keys) {
    const int64_t most = INT32_MAX / 4; // the hash table has up to four slots a tile
    if (count > most) {
        return check_fail(map->ctx, TREACLE_ERR_LIMIT, "%lld tiles: at most %lld are possible",
                          (long long)count, (long long)most);
    }
    map->count = (tile_ix)count;
    map->slot_count = slots_for(map->count);
    for (int a = 0; a < AXES; ++a) {
        map->is_flat[a] = !domain->is_active[a];
    }
    size_t tiles = (size_t)count;
    TREACLE_TRY(alloc_array(map->ctx, tiles, sizeof(tile_coord), "tiles", (void**)&map->coord));
    TREACLE_TRY(alloc_array(map->ctx, tiles, sizeof(*map->neighbour), "tile neighbours",
                            (void**)&map->neighbour));
    TREACLE_TRY(alloc_array(map->ctx, (size_t)map->slot_count, sizeof(tile_ix),
                            "the tile hash table", (void**)&map->slot));
    for (tile_ix t = 0; t < map->count; ++t) {
        map->coord[t] = coord_of_key(keys[t]);
    }
    fill_slots(map);
    parallel_for(map->ctx, map->count, 64, link_tiles, &(link_job){map, domain});
    return TREACLE_OK;
}

treacle_status tile_map_create(treacle_context* ctx, const grid_domain* domain, int64_t coord_count,
                               const tile_coord* coords, tile_map* out) {
    TREACLE_ASSERT(coord_count >= 0);
    TREACLE_ASSERT(coords != NULL || coord_count == 0);
    *out = (tile_map){.ctx = ctx};
    tile_map map = {.ctx = ctx};
    size_t count = (size_t)coord_count;
    uint64_t *keys = NULL, *spare = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(*keys), "tile keys", (void**)&keys), finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(*keys), "tile keys", (void**)&spare), finish);
    TREACLE_TRY_GOTO(read_coords(ctx, domain, coord_count, coords, keys), finish);
    sort_keys(coord_count, keys, spare);
    TREACLE_TRY_GOTO(tile_map_build(&map, domain, remove_repeats(coord_count, keys), keys), finish);
    *out = map;
finish:
    alloc_free(ctx, keys, count * sizeof(*keys));
    alloc_free(ctx, spare, count * sizeof(*keys));
    if (status != TREACLE_OK) {
        tile_map_destroy(&map);
    }
    return status;
}

void tile_map_destroy(tile_map* map) {
    size_t tiles = (size_t)map->count;
    if (map->ctx == NULL) {
        return;
    }
    tile_ranks_destroy(map);
    alloc_free(map->ctx, map->coord, tiles * sizeof(tile_coord));
    alloc_free(map->ctx, map->neighbour, tiles * sizeof(*map->neighbour));
    alloc_free(map->ctx, map->slot, (size_t)map->slot_count * sizeof(tile_ix));
    *map = (tile_map){.ctx = map->ctx};
}
