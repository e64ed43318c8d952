#include "grid/grid_valid.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "grid/tile_ranks.h"

enum {
    FAMILY = 8, // tiles
    PERIOD_CELLS = 2 * TILE_SIZE,
    EXPONENT = 0x7f800000, // bits of a float: all set, it is no finite number
};

static bool is_axis_valid(const grid_domain* domain, int a) {
    int32_t cells = domain->cells[a];
    return cells >= 1 && domain->tiles[a] == (cells + TILE_SIZE - 1) / TILE_SIZE &&
           domain->tiles[a] < TILE_COORD_LIMIT && domain->is_active[a] == (cells > 1) &&
           (!domain->is_periodic[a] || cells % PERIOD_CELLS == 0);
}

bool grid_domain_is_valid(const grid_domain* domain) {
    bool is_valid = domain->h > 0.0 && isfinite(domain->h);
    for (int a = 0; a < AXES; ++a) {
        is_valid = is_valid && isfinite(domain->origin[a]) && is_axis_valid(domain, a);
    }
    return is_valid;
}

static bool is_same(tile_coord p, tile_coord q) {
    return p.at[0] == q.at[0] && p.at[1] == q.at[1] && p.at[2] == q.at[2];
}

// The tile is allowed, comes after the one before it, and is found.
static bool is_placed(const tile_map* map, const grid_domain* domain, tile_ix t) {
    tile_coord wrapped = map->coord[t];
    return tile_coord_wrap(domain, &wrapped) && is_same(wrapped, map->coord[t]) &&
           (t == 0 || tile_key(map->coord[t - 1]) < tile_key(map->coord[t])) &&
           tile_map_find(map, map->coord[t]) == t;
}

// Neighbour n is the tile next door, or the dummy where there is none, and sees the tile itself on
// the opposite side.
static bool is_linked(const tile_map* map, const grid_domain* domain, tile_ix t, int n) {
    tile_ix other = map->neighbour[t][n];
    tile_coord coord = map->coord[t];
    coord.at[0] += n % 3 - 1;
    coord.at[1] += n / 3 % 3 - 1;
    coord.at[2] += n / 9 - 1;
    bool is_allowed = tile_coord_wrap(domain, &coord);
    if (other == map->count) {
        return !is_allowed || tile_map_find(map, coord) == map->count;
    }
    return other >= 0 && other < map->count && is_allowed && is_same(map->coord[other], coord) &&
           map->neighbour[other][TILE_NEIGHBOURS - 1 - n] == t;
}

bool tile_map_is_valid(const tile_map* map, const grid_domain* domain) {
    bool has_slots = map->ctx != NULL && map->count >= 0 && map->slot_count > map->count &&
                     (map->slot_count & (map->slot_count - 1)) == 0;
    for (int a = 0; a < AXES; ++a) {
        has_slots = has_slots && map->is_flat[a] == !domain->is_active[a];
    }
    if (!has_slots) {
        return false;
    }
    for (tile_ix t = 0; t < map->count; ++t) {
        bool is_valid = is_placed(map, domain, t);
        for (int n = 0; n < TILE_NEIGHBOURS && is_valid; ++n) {
            is_valid = is_linked(map, domain, t, n);
        }
        if (!is_valid) {
            return false;
        }
    }
    return tile_ranks_are_valid(map);
}

bool partition_is_valid(int ranks, const uint64_t* rank_key) {
    bool is_valid = ranks >= 1 && rank_key[0] == 0 && rank_key[ranks] == UINT64_MAX;
    for (int r = 1; r < ranks && is_valid; ++r) {
        is_valid = rank_key[r - 1] <= rank_key[r] &&
                   (rank_key[r] % FAMILY == 0 || rank_key[r] == UINT64_MAX);
    }
    return is_valid;
}

bool tile_ranks_are_valid(const tile_map* map) {
    const tile_ranks* ranks = map->ranks;
    if (ranks == NULL) {
        return true;
    }
    int size = comm_size(map->ctx);
    bool is_valid = ranks->first[0] == 0 && ranks->first[size] == map->count;
    for (int r = 0; r < size && is_valid; ++r) {
        is_valid = ranks->first[r] <= ranks->first[r + 1];
    }
    tile_range own = is_valid ? tile_ranks_own(map) : (tile_range){0, 0};
    for (int64_t i = 0; i < ranks->ghost_count && is_valid; ++i) {
        tile_ix t = ranks->ghost[i];
        is_valid = t >= 0 && t < map->count && (t < own.begin || t >= own.end) &&
                   (i == 0 || ranks->ghost[i - 1] < t);
    }
    return is_valid;
}

bool tile_field_is_finite(const tile_map* map, const float* field) {
    for (tile_ix t = 0; t < map->count; ++t) {
        if (!tile_ranks_holds(map, t)) {
            continue;
        }
        const float* values = field + (size_t)t * TILE_CELLS;
        bool is_any = false;
        for (int i = 0; i < TILE_CELLS; ++i) {
            uint32_t bits;
            memcpy(&bits, values + i, sizeof(bits));
            is_any |= (bits & EXPONENT) == EXPONENT;
        }
        if (is_any) {
            return false;
        }
    }
    return true;
}
