#include "particles/particle_ranks.h"

#include <string.h>

#include "base/alloc.h"

// The first group whose key is at least `key`.
static tile_ix group_of_key(const particles* p, uint64_t key) {
    tile_ix low = 0, high = p->tile_count;
    while (low < high) {
        tile_ix middle = low + (high - low) / 2;
        if (tile_key(p->tile[middle]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tile_range particle_ranks_own(const particles* p) {
    TREACLE_ASSERT(p->tile_count >= 0 && p->tile_first != NULL);
    if (p->owners == NULL) {
        return (tile_range){0, p->tile_count};
    }
    int rank = comm_rank(p->ctx);
    return (tile_range){group_of_key(p, p->owners->key[rank]),
                        group_of_key(p, p->owners->key[rank + 1])};
}

tile_range particle_ranks_here(const particles* p) {
    return particle_ranks_are_distributed(p) ? particle_ranks_own(p)
                                             : (tile_range){0, p->tile_count};
}

tile_range particle_ranks_own_range(const particles* p) {
    tile_range here = particle_ranks_here(p);
    return (tile_range){p->tile_first[here.begin], p->tile_first[here.end]};
}

void particle_ranks_first(const particles* p, int64_t* first) {
    TREACLE_ASSERT(p->owners != NULL && first != NULL);
    for (int r = 0; r <= comm_size(p->ctx); ++r) {
        first[r] = p->tile_first[group_of_key(p, p->owners->key[r])];
    }
}

int particle_ranks_owner(const particles* p, tile_coord tile) {
    TREACLE_ASSERT(p->owners != NULL);
    uint64_t key = tile_key(tile);
    int low = 0, high = comm_size(p->ctx); // of low <= key < that of high
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(p->owners->key[middle] <= key ? &low : &high) = middle;
    }
    return low;
}

// --- all particles -------------------------------------------------------------------------------

// Memory that a rank alone may lack; the others wait for it.
static void* take_room(treacle_context* ctx, size_t count, size_t bytes) {
    void* out = NULL;
    treacle_status status = alloc_array(ctx, count, bytes, "rows of ranks", &out);
    if (status != TREACLE_OK) {
        (void)!comm_give_up(ctx, status);
    }
    return out;
}

void particle_ranks_keep_own(particles* p) {
    if (particle_ranks_are_distributed(p)) {
        tile_range own = particle_ranks_own_range(p);
        p->away = (particle_away){own.begin, own.end, p->count};
        for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
            size_t bytes = particle_columns[c].bytes;
            size_t all = (size_t)p->column_capacity[c] * bytes;
            alloc_forget(p->ctx, p->column[c], all, 0, (size_t)own.begin * bytes);
            alloc_forget(p->ctx, p->column[c], all, (size_t)own.end * bytes, all);
        }
    }
}

bool particle_ranks_has_tile(const particles* p, tile_coord tile) {
    return !particle_ranks_are_distributed(p) || particle_ranks_owner(p, tile) == comm_rank(p->ctx);
}

bool particle_ranks_has(const particles* p, tile_ix group) {
    TREACLE_ASSERT(group >= 0 && group < p->tile_count);
    return particle_ranks_has_tile(p, p->tile[group]);
}

// Particles of a group that go.
static int64_t count_removed(const particles* p, const uint8_t* is_removed, tile_ix group) {
    int64_t count = 0;
    for (particle_ix particle = p->tile_first[group]; particle < p->tile_first[group + 1];
         ++particle) {
        count += is_removed[particle];
    }
    return count;
}

typedef struct remove_job {
    const particles* p;
    const uint8_t* is_removed;
    const particle_ix* to; // [groups], where the particles that stay come to
} remove_job;

// Particles move down, group by group.
static void close_up(void* data, int64_t begin, int64_t end) {
    const remove_job* job = data;
    const particles* p = job->p;
    for (int64_t c = begin; c < end; ++c) {
        char* column = p->column[c];
        size_t bytes = particle_columns[c].bytes;
        for (tile_ix g = 0; column != NULL && g < p->tile_count; ++g) {
            size_t to = (size_t)job->to[g];
            bool is_here = particle_ranks_has(p, g);
            for (particle_ix particle = p->tile_first[g];
                 is_here && particle < p->tile_first[g + 1]; ++particle) {
                if (job->is_removed[particle] == 0) {
                    memmove(column + to++ * bytes, column + (size_t)particle * bytes, bytes);
                }
            }
        }
    }
}

// The same particle after particles before it have gone; all particles of a group are on one side
// of it.
static particle_ix number_after(const particles* p, const particle_ix* to, particle_ix particle) {
    tile_ix group = 0;
    while (group < p->tile_count && p->tile_first[group] < particle) {
        group += 1;
    }
    return to[group];
}

static void remove_distributed(particles* p, const uint8_t* is_removed, const particle_ix* to) {
    remove_job job = {p, is_removed, to};
    parallel_for(p->ctx, PARTICLE_COLUMN_COUNT, 1, close_up, &job);
    p->away = (particle_away){number_after(p, to, p->away.low_end),
                              number_after(p, to, p->away.high_first),
                              number_after(p, to, p->away.high_end)};
    memcpy(p->tile_first, to, ((size_t)p->tile_count + 1) * sizeof(*to));
    p->count = to[p->tile_count];
}

treacle_status particle_ranks_remove(particles* p, const uint8_t* is_removed, arena* scratch) {
    TREACLE_ASSERT(is_removed != NULL || p->count == 0);
    if (!particle_ranks_are_distributed(p)) {
        bool is_any = p->count > 0 && memchr(is_removed, 1, (size_t)p->count) != NULL;
        TREACLE_TRY(is_any ? particles_own(p, p->borrowed_mask) : TREACLE_OK);
        if (is_any) {
            particles_remove(p, is_removed);
        }
        return TREACLE_OK;
    }
    int64_t* to = NULL; // at first how many particles of a group go
    TREACLE_TRY(arena_take_zero(scratch, (size_t)p->tile_count + 1, sizeof(*to), "rows that go",
                                (void**)&to));
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        to[g] = particle_ranks_has(p, g) ? count_removed(p, is_removed, g) : 0;
    }
    comm_sum_i64(p->ctx, to, p->tile_count);
    particle_ix kept = 0;
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        particle_ix members = p->tile_first[g + 1] - p->tile_first[g] - to[g];
        to[g] = kept;
        kept += members;
    }
    to[p->tile_count] = kept;
    if (kept < p->count) {
        remove_distributed(p, is_removed, to);
    }
    arena_give(scratch, to);
    return TREACLE_OK;
}

// --- particles around one's own ------------------------------------------------------------------

tile_range particle_ranks_of_tile(const tile_map* map, const particles* p, tile_ix t) {
    uint64_t key = tile_key(map->coord[t]);
    tile_ix group = group_of_key(p, key);
    bool is_there = group < p->tile_count && tile_key(p->tile[group]) == key;
    return is_there ? (tile_range){p->tile_first[group], p->tile_first[group + 1]}
                    : (tile_range){0, 0};
}

static int64_t count_particles(const tile_map* map, const particles* p, int32_t count,
                               const int32_t* tiles) {
    int64_t members = 0;
    for (int32_t i = 0; i < count; ++i) {
        tile_range of = particle_ranks_of_tile(map, p, tiles[i]);
        members += of.end - of.begin;
    }
    return members;
}

// What goes to or comes from one peer: tile by tile, of each tile column by column.
typedef struct halo_part {
    const tile_map* map;
    const particles* p;
    uint32_t columns;
    int32_t count;
    const int32_t* tiles;
} halo_part;

static void move_halo(const halo_part* part, char* at, bool is_taken) {
    for (int32_t i = 0; i < part->count; ++i) {
        tile_range members = particle_ranks_of_tile(part->map, part->p, part->tiles[i]);
        for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
            if ((part->columns >> c & 1u) != 0) {
                size_t bytes = particle_columns[c].bytes;
                size_t all = (size_t)(members.end - members.begin) * bytes;
                char* column = (char*)part->p->column[c] + (size_t)members.begin * bytes;
                memcpy(is_taken ? column : at, is_taken ? at : column, all);
                at += all;
            }
        }
    }
}

static size_t bytes_of_particle(uint32_t columns) {
    size_t bytes = 0;
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bytes += (columns >> c & 1u) != 0 ? particle_columns[c].bytes : 0;
    }
    return bytes;
}

void particle_ranks_halo(const tile_map* map, const particles* p, uint32_t columns) {
    TREACLE_ASSERT(p->tile_first[p->tile_count] == p->count);
    if (!particle_ranks_are_distributed(p) || map->ranks == NULL) {
        return;
    }
    treacle_context* ctx = p->ctx;
    const tile_ranks* ranks = map->ranks;
    size_t peers = (size_t)ranks->peer_count,
           particle_bytes = bytes_of_particle(columns & p->column_mask);
    comm_parcel* parcels = take_room(ctx, peers, sizeof(comm_parcel));
    size_t all = 0;
    for (size_t i = 0; i < peers; ++i) {
        const comm_peer* peer = &ranks->peers[i];
        parcels[i] = (comm_parcel){.rank = peer->rank};
        parcels[i].give_bytes =
            (size_t)count_particles(map, p, peer->give_count, peer->give) * particle_bytes;
        parcels[i].take_bytes =
            (size_t)count_particles(map, p, peer->take_count, peer->take) * particle_bytes;
        all += parcels[i].give_bytes + parcels[i].take_bytes;
    }
    char* room = take_room(ctx, all, 1);
    char* at = room;
    halo_part part = {.map = map, .p = p, .columns = columns & p->column_mask};
    for (size_t i = 0; i < peers; ++i) {
        part.count = ranks->peers[i].give_count;
        part.tiles = ranks->peers[i].give;
        move_halo(&part, at, false);
        parcels[i].give = at;
        parcels[i].take = at + parcels[i].give_bytes;
        at += parcels[i].give_bytes + parcels[i].take_bytes;
    }
    comm_trade(ctx, (int)peers, parcels);
    for (size_t i = 0; i < peers; ++i) {
        part.count = ranks->peers[i].take_count;
        part.tiles = ranks->peers[i].take;
        move_halo(&part, parcels[i].take, true);
    }
    alloc_free(ctx, room, all);
    alloc_free(ctx, parcels, peers * sizeof(comm_parcel));
}
