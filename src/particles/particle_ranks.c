#include "particles/particle_ranks.h"

#include <string.h>

#include "base/alloc.h"

enum { NEAR_GRAIN = 4096 };

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

tile_range particle_ranks_own(const grid_domain* domain, const particles* p) {
    if (domain->rank_key == NULL) {
        return (tile_range){0, p->tile_count};
    }
    int rank = comm_rank(p->ctx);
    return (tile_range){group_of_key(p, domain->rank_key[rank]),
                        group_of_key(p, domain->rank_key[rank + 1])};
}

tile_range particle_ranks_here(const grid_domain* domain, const particles* p) {
    return domain->is_lean ? particle_ranks_own(domain, p) : (tile_range){0, p->tile_count};
}

tile_range particle_ranks_rows(const grid_domain* domain, const particles* p) {
    tile_range here = particle_ranks_here(domain, p);
    return (tile_range){p->tile_first[here.begin], p->tile_first[here.end]};
}

void particle_ranks_first(const grid_domain* domain, const particles* p, int64_t* first) {
    for (int r = 0; r <= comm_size(p->ctx); ++r) {
        first[r] = p->tile_first[group_of_key(p, domain->rank_key[r])];
    }
}

int particle_ranks_owner(treacle_context* ctx, const grid_domain* domain, tile_coord tile) {
    uint64_t key = tile_key(tile);
    int low = 0, high = comm_size(ctx); // rank_key[low] <= key < rank_key[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(domain->rank_key[middle] <= key ? &low : &high) = middle;
    }
    return low;
}

void particle_ranks_for(const grid_domain* domain, const particles* p, int64_t grain,
                        parallel_fcn* fcn, void* data) {
    parallel_count_pass(p->ctx);
    tile_for_range(p->ctx, particle_ranks_own(domain, p), grain, fcn, data);
}

double particle_ranks_sum(const grid_domain* domain, const particles* p, parallel_term_fcn* fcn,
                          void* data) {
    tile_range own = particle_ranks_own(domain, p);
    parallel_count_pass(p->ctx);
    return tile_sum_range(p->ctx, own, domain->rank_key != NULL, fcn, data);
}

double particle_ranks_max(const grid_domain* domain, const particles* p, parallel_term_fcn* fcn,
                          void* data) {
    tile_range own = particle_ranks_own(domain, p);
    parallel_count_pass(p->ctx);
    return tile_max_range(p->ctx, own, domain->rank_key != NULL, fcn, data);
}

static double volume_of_group(void* data, int64_t group) {
    const particles* p = data;
    const float* volume = particles_f32(p, PARTICLE_VOLUME);
    double sum = 0.0;
    for (particle_ix i = p->tile_first[group]; i < p->tile_first[group + 1]; ++i) {
        sum += (double)volume[i];
    }
    return sum;
}

double particle_ranks_volume(const grid_domain* domain, const particles* p) {
    return particle_ranks_sum(domain, p, volume_of_group, (void*)p);
}

// --- all rows ------------------------------------------------------------------------------------

// Memory that a rank alone may lack; the others wait for it.
static void* take_room(treacle_context* ctx, size_t count, size_t bytes) {
    void* out = NULL;
    treacle_status status = alloc_array(ctx, count, bytes, "rows of ranks", &out);
    if (status != TREACLE_OK) {
        (void)!comm_give_up(ctx, status);
    }
    return out;
}

void particle_ranks_gather(const grid_domain* domain, const particles* p, void* data,
                           size_t row_bytes) {
    if (domain->rank_key == NULL || domain->is_lean) {
        return;
    }
    size_t size = (size_t)comm_size(p->ctx);
    int64_t* first = take_room(p->ctx, size + 1, sizeof(int64_t));
    particle_ranks_first(domain, p, first);
    comm_gather(p->ctx, data, row_bytes, first);
    alloc_free(p->ctx, first, (size + 1) * sizeof(int64_t));
}

void particle_ranks_gather_column(const grid_domain* domain, const particles* p,
                                  particle_column column) {
    if (p->column[column] != NULL) {
        particle_ranks_gather(domain, p, p->column[column], particle_columns[column].bytes);
    }
}

void particle_ranks_keep_own(const grid_domain* domain, particles* p) {
    if (domain->is_lean) {
        tile_range own = particle_ranks_rows(domain, p);
        p->away = (particle_away){own.begin, own.end, p->count};
        for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
            size_t bytes = particle_columns[c].bytes;
            size_t all = (size_t)p->column_capacity[c] * bytes;
            alloc_forget(p->ctx, p->column[c], all, 0, (size_t)own.begin * bytes);
            alloc_forget(p->ctx, p->column[c], all, (size_t)own.end * bytes, all);
        }
    }
}

bool particle_ranks_has_tile(const grid_domain* domain, const particles* p, tile_coord tile) {
    return !domain->is_lean || particle_ranks_owner(p->ctx, domain, tile) == comm_rank(p->ctx);
}

bool particle_ranks_has(const grid_domain* domain, const particles* p, tile_ix group) {
    return particle_ranks_has_tile(domain, p, p->tile[group]);
}

// Rows of a group that go.
static int64_t count_removed(const particles* p, const uint8_t* is_removed, tile_ix group) {
    int64_t count = 0;
    for (particle_ix row = p->tile_first[group]; row < p->tile_first[group + 1]; ++row) {
        count += is_removed[row];
    }
    return count;
}

typedef struct remove_job {
    const grid_domain* domain;
    const particles* p;
    const uint8_t* is_removed;
    const particle_ix* to; // [groups], where the rows that stay come to
} remove_job;

// Rows move down, group by group.
static void close_up(void* data, int64_t begin, int64_t end) {
    const remove_job* job = data;
    const particles* p = job->p;
    for (int64_t c = begin; c < end; ++c) {
        char* column = p->column[c];
        size_t bytes = particle_columns[c].bytes;
        for (tile_ix g = 0; column != NULL && g < p->tile_count; ++g) {
            size_t to = (size_t)job->to[g];
            bool is_here = particle_ranks_has(job->domain, p, g);
            for (particle_ix row = p->tile_first[g]; is_here && row < p->tile_first[g + 1]; ++row) {
                if (job->is_removed[row] == 0) {
                    memmove(column + to++ * bytes, column + (size_t)row * bytes, bytes);
                }
            }
        }
    }
}

// The same row after rows before it have gone; all rows of a group are on one side of it.
static particle_ix row_after(const particles* p, const particle_ix* to, particle_ix row) {
    tile_ix group = 0;
    while (group < p->tile_count && p->tile_first[group] < row) {
        group += 1;
    }
    return to[group];
}

static void remove_lean(const grid_domain* domain, particles* p, const uint8_t* is_removed,
                        const particle_ix* to) {
    remove_job job = {domain, p, is_removed, to};
    parallel_for(p->ctx, PARTICLE_COLUMN_COUNT, 1, close_up, &job);
    p->away =
        (particle_away){row_after(p, to, p->away.low_end), row_after(p, to, p->away.high_first),
                        row_after(p, to, p->away.high_end)};
    memcpy(p->tile_first, to, ((size_t)p->tile_count + 1) * sizeof(*to));
    p->count = to[p->tile_count];
}

treacle_status particle_ranks_remove(const grid_domain* domain, particles* p,
                                     const uint8_t* is_removed, arena* scratch) {
    if (!domain->is_lean) {
        particles_remove(p, is_removed);
        return TREACLE_OK;
    }
    int64_t* to = NULL; // at first how many rows of a group go
    TREACLE_TRY(arena_take_zero(scratch, (size_t)p->tile_count + 1, sizeof(*to), "rows that go",
                                (void**)&to));
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        to[g] = particle_ranks_has(domain, p, g) ? count_removed(p, is_removed, g) : 0;
    }
    comm_sum_i64(p->ctx, to, p->tile_count);
    particle_ix kept = 0;
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        particle_ix rows = p->tile_first[g + 1] - p->tile_first[g] - to[g];
        to[g] = kept;
        kept += rows;
    }
    to[p->tile_count] = kept;
    if (kept < p->count) {
        remove_lean(domain, p, is_removed, to);
    }
    arena_give(scratch, to);
    return TREACLE_OK;
}

// --- rows around one's own -----------------------------------------------------------------------

// The rows of a tile of a map.
static tile_range rows_of_tile(const tile_map* map, const particles* p, tile_ix t) {
    uint64_t key = tile_key(map->coord[t]);
    tile_ix group = group_of_key(p, key);
    bool is_there = group < p->tile_count && tile_key(p->tile[group]) == key;
    return is_there ? (tile_range){p->tile_first[group], p->tile_first[group + 1]}
                    : (tile_range){0, 0};
}

static int64_t count_rows(const tile_map* map, const particles* p, int32_t count,
                          const int32_t* tiles) {
    int64_t rows = 0;
    for (int32_t i = 0; i < count; ++i) {
        tile_range of = rows_of_tile(map, p, tiles[i]);
        rows += of.end - of.begin;
    }
    return rows;
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
        tile_range rows = rows_of_tile(part->map, part->p, part->tiles[i]);
        for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
            if ((part->columns >> c & 1u) != 0) {
                size_t bytes = particle_columns[c].bytes;
                size_t all = (size_t)(rows.end - rows.begin) * bytes;
                char* column = (char*)part->p->column[c] + (size_t)rows.begin * bytes;
                memcpy(is_taken ? column : at, is_taken ? at : column, all);
                at += all;
            }
        }
    }
}

static size_t bytes_of_row(uint32_t columns) {
    size_t bytes = 0;
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bytes += (columns >> c & 1u) != 0 ? particle_columns[c].bytes : 0;
    }
    return bytes;
}

void particle_ranks_halo(const grid_domain* domain, const tile_map* map, const particles* p,
                         uint32_t columns) {
    if (!domain->is_lean || map->ranks == NULL) {
        return;
    }
    treacle_context* ctx = p->ctx;
    const tile_ranks* ranks = map->ranks;
    size_t peers = (size_t)ranks->peer_count, row_bytes = bytes_of_row(columns & p->column_mask);
    comm_parcel* parcels = take_room(ctx, peers, sizeof(comm_parcel));
    size_t all = 0;
    for (size_t i = 0; i < peers; ++i) {
        const comm_peer* peer = &ranks->peers[i];
        parcels[i] = (comm_parcel){.rank = peer->rank};
        parcels[i].give_bytes =
            (size_t)count_rows(map, p, peer->give_count, peer->give) * row_bytes;
        parcels[i].take_bytes =
            (size_t)count_rows(map, p, peer->take_count, peer->take) * row_bytes;
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

void particle_ranks_near(const grid_domain* domain, const tile_map* map, const particles* p,
                         parallel_fcn* fcn, void* data) {
    parallel_count_pass(p->ctx);
    tile_for_range(p->ctx, particle_ranks_rows(domain, p), NEAR_GRAIN, fcn, data);
    for (int i = 0; domain->is_lean && map->ranks != NULL && i < map->ranks->peer_count; ++i) {
        const comm_peer* peer = &map->ranks->peers[i];
        for (int32_t k = 0; k < peer->take_count; ++k) {
            tile_for_range(p->ctx, rows_of_tile(map, p, peer->take[k]), NEAR_GRAIN, fcn, data);
        }
    }
}

// --- poison --------------------------------------------------------------------------------------

static void poison_row(const particles* p, particle_ix row) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (p->column[c] != NULL) {
            size_t bytes = particle_columns[c].bytes;
            memset((char*)p->column[c] + (size_t)row * bytes, 0xff, bytes); // floats: NaN
        }
    }
}

static void spare_rows(void* data, int64_t begin, int64_t end) {
    memset((uint8_t*)data + begin, 1, (size_t)(end - begin));
}

void particle_ranks_poison(const grid_domain* domain, const tile_map* map, const particles* p) {
    if (!domain->is_lean || !comm_poisons(p->ctx)) {
        return;
    }
    size_t count = (size_t)p->count;
    uint8_t* is_spared = take_room(p->ctx, count, 1);
    memset(is_spared, 0, count);
    spare_rows(is_spared, p->away.low_end, p->away.high_first);
    spare_rows(is_spared, p->away.high_end, p->count);
    if (map != NULL) {
        particle_ranks_near(domain, map, p, spare_rows, is_spared);
    }
    for (particle_ix row = 0; row < p->count; ++row) {
        if (is_spared[row] == 0) {
            poison_row(p, row);
        }
    }
    alloc_free(p->ctx, is_spared, count);
}
