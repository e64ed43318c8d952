#include "grid/tile_ranks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

// A tile that a peer must know of: given to it, or taken from it.
typedef struct contact {
    int32_t peer, is_taken;
    tile_ix tile;
} contact;

static int by_peer(const void* a, const void* b) {
    const contact *x = a, *y = b;
    if (x->peer != y->peer) {
        return x->peer < y->peer ? -1 : 1;
    }
    if (x->is_taken != y->is_taken) {
        return x->is_taken < y->is_taken ? -1 : 1;
    }
    return (x->tile > y->tile) - (x->tile < y->tile);
}

static int owner_of(const tile_ranks* ranks, int size, int64_t tile) {
    int low = 0, high = size; // first[low] <= tile < first[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(ranks->first[middle] <= tile ? &low : &high) = middle;
    }
    return low;
}

// Lists the contacts of own tiles; with out NULL it only counts them.
static int64_t list_contacts(const tile_map* map, contact* out) {
    const tile_ranks* ranks = map->ranks;
    int size = comm_size(map->ctx);
    tile_range own = tile_ranks_own(map);
    int64_t count = 0;
    for (int64_t t = own.begin; t < own.end; ++t) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            tile_ix other = map->neighbour[t][n];
            if (other == map->count || (other >= own.begin && other < own.end)) {
                continue;
            }
            if (out != NULL) {
                int peer = owner_of(ranks, size, other);
                out[count] = (contact){peer, 0, (tile_ix)t};
                out[count + 1] = (contact){peer, 1, other};
            }
            count += 2;
        }
    }
    return count;
}

static int64_t remove_repeats(int64_t count, contact* list) {
    int64_t kept = 0;
    sort_items(list, (size_t)count, sizeof(*list), by_peer);
    for (int64_t i = 0; i < count; ++i) {
        if (kept == 0 || by_peer(&list[kept - 1], &list[i]) != 0) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static void fill_peers(tile_ranks* ranks, int64_t count, const contact* list) {
    comm_peer* peer = NULL;
    for (int64_t i = 0; i < count; ++i) {
        ranks->items[i] = list[i].tile;
        if (i == 0 || list[i].peer != list[i - 1].peer) {
            peer = &ranks->peers[ranks->peer_count++];
            *peer = (comm_peer){.rank = list[i].peer, .give = ranks->items + i};
        }
        if (list[i].is_taken == 0) {
            peer->give_count += 1;
        } else {
            peer->take = peer->take_count == 0 ? ranks->items + i : peer->take;
            peer->take_count += 1;
        }
    }
}

static treacle_status make_peers(treacle_context* ctx, tile_ranks* ranks, int64_t most,
                                 contact* list) {
    int64_t count = remove_repeats(most, list);
    ranks->item_count = count;
    treacle_status status = alloc_array(ctx, (size_t)count, sizeof(int32_t), "tiles beside ranks",
                                        (void**)&ranks->items);
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, (size_t)comm_size(ctx), sizeof(comm_peer), "ranks beside this one",
                            (void**)&ranks->peers);
    }
    if (status == TREACLE_OK) {
        fill_peers(ranks, count, list);
    }
    return status;
}

// Peers stand in the order of what they own: so their tiles are in order, too.
static treacle_status list_ghosts(treacle_context* ctx, tile_ranks* ranks) {
    for (int i = 0; i < ranks->peer_count; ++i) {
        ranks->ghost_count += ranks->peers[i].take_count;
    }
    TREACLE_TRY(alloc_array(ctx, (size_t)ranks->ghost_count, sizeof(tile_ix), "tiles beside ranks",
                            (void**)&ranks->ghost));
    tile_ix* to = ranks->ghost;
    for (int i = 0; i < ranks->peer_count; ++i) {
        const comm_peer* peer = &ranks->peers[i];
        for (int32_t k = 0; k < peer->take_count; ++k) {
            *to++ = peer->take[k];
        }
    }
    return TREACLE_OK;
}

static treacle_status find_peers(tile_map* map) {
    int64_t most = list_contacts(map, NULL);
    void* list = NULL;
    TREACLE_TRY(alloc_array(map->ctx, (size_t)most, sizeof(contact), "tiles beside ranks", &list));
    list_contacts(map, list);
    treacle_status status = make_peers(map->ctx, map->ranks, most, list);
    alloc_free(map->ctx, list, (size_t)most * sizeof(contact));
    return status == TREACLE_OK ? list_ghosts(map->ctx, map->ranks) : status;
}

// Fine tiles that coarse ones of another rank read; with out NULL it only counts them.
static int64_t list_wide(const tile_map* fine, const tile_map* coarse, const tile_reach* reach,
                         contact* out) {
    int size = comm_size(fine->ctx), me = comm_rank(fine->ctx);
    tile_range own = tile_ranks_own(fine);
    int64_t count = 0;
    for (tile_ix T = 0; T < coarse->count; ++T) {
        int owner = owner_of(coarse->ranks, size, T);
        for (int n = 0; n < reach->per_tile; ++n) {
            tile_ix t = reach->tile[(int64_t)T * reach->per_tile + n];
            bool is_own = t >= own.begin && t < own.end;
            if (t == fine->count || is_own == (owner == me)) {
                continue;
            }
            if (out != NULL) {
                out[count] = is_own ? (contact){owner, 0, t}
                                    : (contact){owner_of(fine->ranks, size, t), 1, t};
            }
            count += 1;
        }
    }
    return count;
}

treacle_status tile_ranks_reach(const tile_map* fine, const tile_map* coarse,
                                const tile_reach* reach, tile_ranks** out) {
    TREACLE_ASSERT(reach->per_tile > 0 && reach->tile != NULL);
    treacle_context* ctx = fine->ctx;
    *out = NULL;
    if (fine->ranks == NULL || coarse->ranks == NULL) {
        return TREACLE_OK;
    }
    int64_t most = list_wide(fine, coarse, reach, NULL);
    void* list = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(tile_ranks), "tiles of ranks", (void**)out));
    TREACLE_TRY(alloc_array(ctx, (size_t)most, sizeof(contact), "tiles beside ranks", &list));
    list_wide(fine, coarse, reach, list);
    treacle_status status = make_peers(ctx, *out, most, list);
    alloc_free(ctx, list, (size_t)most * sizeof(contact));
    return status;
}

static treacle_status tile_ranks_allocate(tile_map* map) {
    treacle_context* ctx = map->ctx;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(tile_ranks), "tiles of ranks", (void**)&map->ranks));
    return alloc_zero(ctx, (size_t)comm_size(ctx) + 1, sizeof(int64_t), "tiles of ranks",
                      (void**)&map->ranks->first);
}

treacle_status tile_ranks_create(const tile_owners* owners, tile_map* map) {
    TREACLE_ASSERT(map->ranks == NULL);
    if (owners == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(tile_ranks_allocate(map));
    map->ranks->is_distributed = owners->is_distributed;
    int size = comm_size(map->ctx), rank = 0;
    for (tile_ix t = 0; t < map->count; ++t) {
        uint64_t key = tile_key(map->coord[t]);
        while (rank + 1 < size && owners->key[rank + 1] <= key) {
            map->ranks->first[++rank] = t;
        }
    }
    while (rank < size) {
        map->ranks->first[++rank] = map->count;
    }
    return find_peers(map);
}

treacle_status tile_ranks_coarsen(const tile_map* fine, const tile_ix* parent, tile_map* coarse) {
    TREACLE_ASSERT(coarse->ranks == NULL && parent != NULL);
    if (fine->ranks == NULL) {
        return TREACLE_OK;
    }
    int size = comm_size(fine->ctx);
    int* owner = NULL;
    size_t tiles = (size_t)coarse->count;
    TREACLE_TRY(alloc_array(fine->ctx, tiles, sizeof(int), "owners of tiles", (void**)&owner));
    memset(owner, -1, tiles * sizeof(int));
    bool is_one_each = true;
    for (int r = 0; r < size; ++r) {
        for (int64_t t = fine->ranks->first[r]; t < fine->ranks->first[r + 1]; ++t) {
            if (parent[t] >= 0) {
                is_one_each = is_one_each && (owner[parent[t]] == -1 || owner[parent[t]] == r);
                owner[parent[t]] = r;
            }
        }
    }
    // Tiles that no child has asked for go with the one before.
    for (size_t T = 0; T < tiles; ++T) {
        owner[T] = owner[T] >= 0 ? owner[T] : T > 0 ? owner[T - 1] : 0;
        is_one_each = is_one_each && (T == 0 || owner[T] >= owner[T - 1]);
    }
    treacle_status status = is_one_each ? tile_ranks_allocate(coarse) : TREACLE_OK;
    for (size_t T = 0; is_one_each && status == TREACLE_OK && T < tiles; ++T) {
        coarse->ranks->first[owner[T] + 1] += 1;
    }
    for (int r = 0; is_one_each && status == TREACLE_OK && r < size; ++r) {
        coarse->ranks->first[r + 1] += coarse->ranks->first[r];
    }
    alloc_free(fine->ctx, owner, tiles * sizeof(int));
    if (!is_one_each || status != TREACLE_OK) {
        return status;
    }
    coarse->ranks->is_distributed = fine->ranks->is_distributed;
    return find_peers(coarse);
}

void tile_ranks_free(treacle_context* ctx, tile_ranks* ranks) {
    if (ranks == NULL) {
        return;
    }
    size_t size = (size_t)comm_size(ctx);
    alloc_free(ctx, ranks->first, (size + 1) * sizeof(int64_t));
    alloc_free(ctx, ranks->peers, size * sizeof(comm_peer));
    alloc_free(ctx, ranks->items, (size_t)ranks->item_count * sizeof(int32_t));
    alloc_free(ctx, ranks->ghost, (size_t)ranks->ghost_count * sizeof(tile_ix));
    alloc_free(ctx, ranks, sizeof(*ranks));
}

void tile_ranks_destroy(tile_map* map) {
    tile_ranks_free(map->ctx, map->ranks);
    map->ranks = NULL;
}

tile_range tile_ranks_own(const tile_map* map) {
    if (map->ranks == NULL) {
        return (tile_range){0, map->count};
    }
    int rank = comm_rank(map->ctx);
    return (tile_range){map->ranks->first[rank], map->ranks->first[rank + 1]};
}

// The first place of a list whose tile is at least t.
static int64_t tile_ranks_place_of(int64_t count, const tile_ix* list, int64_t t) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (list[middle] < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tile_range tile_ranks_list(const tile_map* map, int64_t count, const tile_ix* list) {
    TREACLE_ASSERT(list != NULL || count == 0);
    if (map == NULL || map->ranks == NULL) {
        return (tile_range){0, count};
    }
    tile_range own = tile_ranks_own(map);
    return (tile_range){tile_ranks_place_of(count, list, own.begin),
                        tile_ranks_place_of(count, list, own.end)};
}

// The first place of a list whose tile has at least this key.
static int64_t place_of_key(int64_t count, const tile_coord* list, uint64_t key) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (tile_key(list[middle]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tile_range tile_ranks_of_list(treacle_context* ctx, const tile_owners* owners, int64_t count,
                              const tile_coord* list, int64_t* first) {
    TREACLE_ASSERT(count >= 0);
    TREACLE_ASSERT(owners == NULL || first != NULL);
    if (owners == NULL) {
        return (tile_range){0, count};
    }
    for (int r = 0; r <= comm_size(ctx); ++r) {
        first[r] = place_of_key(count, list, owners->key[r]);
    }
    return (tile_range){first[comm_rank(ctx)], first[comm_rank(ctx) + 1]};
}

// --- what a rank holds ---------------------------------------------------------------------------

bool tile_ranks_are_distributed(const tile_map* map) {
    return map->ranks != NULL && map->ranks->is_distributed;
}

bool tile_ranks_holds(const tile_map* map, tile_ix t) {
    TREACLE_ASSERT(t >= 0 && t < map->count);
    if (!tile_ranks_are_distributed(map)) {
        return true;
    }
    tile_range own = tile_ranks_own(map);
    const tile_ranks* ranks = map->ranks;
    int64_t place = tile_ranks_place_of(ranks->ghost_count, ranks->ghost, t);
    return (t >= own.begin && t < own.end) ||
           (place < ranks->ghost_count && ranks->ghost[place] == t);
}
