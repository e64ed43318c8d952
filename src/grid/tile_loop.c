#include "grid/tile_loop.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

// --- which tiles a rank does ---------------------------------------------------------------------

typedef struct range_job {
    parallel_fcn* fcn;
    void* data;
    int64_t offset;
    const tile_map* map;
} range_job;

static void run_range(void* data, int64_t begin, int64_t end) {
    const range_job* job = data;
    job->fcn(job->data, begin + job->offset, end + job->offset);
}

void tile_for_range(treacle_context* ctx, tile_range range, int64_t grain, parallel_fcn* fcn,
                    void* data) {
    TREACLE_ASSERT(range.begin >= 0 && range.begin <= range.end);
    range_job job = {.fcn = fcn, .data = data, .offset = range.begin};
    parallel_for(ctx, range.end - range.begin, grain, run_range, &job);
}

void tile_for_subset(treacle_context* ctx, const tile_subset* subset, int64_t grain,
                     parallel_fcn* fcn, void* data) {
    TREACLE_ASSERT(subset->count == 0 || subset->tile != NULL);
    // The list is in order, so that one's own tiles are a stretch of it.
    tile_for_range(ctx, tile_ranks_list(subset->shared, subset->count, subset->tile), grain, fcn,
                   data);
}

static void run_ghosts(void* data, int64_t begin, int64_t end) {
    const range_job* job = data;
    const tile_map* map = job->map;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = map->ranks->ghost[i];
        job->fcn(job->data, t, t + 1);
    }
}

// The tiles whose values this rank holds: its own, and the copies around them.
static void run_held(const tile_map* map, int64_t grain, parallel_fcn* fcn, void* data) {
    if (!tile_ranks_are_distributed(map)) {
        parallel_for(map->ctx, map->count, grain, fcn, data);
        return;
    }
    range_job job = {.fcn = fcn, .data = data, .map = map};
    tile_for_range(map->ctx, tile_ranks_own(map), grain, fcn, data);
    parallel_for(map->ctx, map->ranks->ghost_count, grain, run_ghosts, &job);
}

// --- a loop that claims to read its own tile alone -----------------------------------------------

// A table in which every tile's neighbours are the dummy tile; NULL where there is no memory for
// it, and the claim goes unchecked.
static tile_ix (*blind_table(const tile_map* map))[TILE_NEIGHBOURS] {
    void* table = NULL;
    if (alloc_array(map->ctx, (size_t)map->count, sizeof(*map->neighbour), "a blind map", &table) !=
        TREACLE_OK) {
        return NULL;
    }
    tile_ix(*out)[TILE_NEIGHBOURS] = table;
    for (tile_ix t = 0; t < map->count; ++t) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            out[t][n] = n == TILE_SELF ? t : map->count;
        }
    }
    return out;
}

static void run_alone(const tile_map* map, int64_t grain, parallel_fcn* fcn, void* data) {
    if (!map->ctx->poisons) {
        run_held(map, grain, fcn, data);
        return;
    }
    tile_map* blind = (tile_map*)map; // it is as it was when the loop has ended
    tile_ix(*sees)[TILE_NEIGHBOURS] = map->neighbour;
    tile_ix(*table)[TILE_NEIGHBOURS] = blind_table(map);
    blind->neighbour = table != NULL ? table : sees;
    run_held(map, grain, fcn, data);
    blind->neighbour = sees;
    alloc_free(map->ctx, table, (size_t)map->count * sizeof(*table));
}

// --- what ranks send to one another --------------------------------------------------------------

// NaN, or a number far too large, wherever this rank must not read.
static void poison(const tile_map* map, char* data, size_t tile_bytes) {
    tile_range own = tile_ranks_own(map);
    int64_t ghost = 0;
    for (int64_t t = 0; t < map->count; ++t) {
        bool is_ghost = ghost < map->ranks->ghost_count && map->ranks->ghost[ghost] == t;
        ghost += is_ghost ? 1 : 0;
        if (!is_ghost && !(t >= own.begin && t < own.end)) {
            memset(data + (size_t)t * tile_bytes, 0xff, tile_bytes);
        }
    }
}

static void send_field(const tile_map* map, void* at, size_t tile_bytes, tile_readers readers) {
    const tile_ranks* ranks = map->ranks;
    bool is_for_holders = readers == TILE_TO_HOLDERS;
    if (readers == TILE_TO_ALL || (is_for_holders && !ranks->is_distributed)) {
        comm_gather(map->ctx, at, tile_bytes, ranks->first);
        return;
    }
    comm_items items = {.data = at, .item_bytes = tile_bytes};
    comm_exchange(map->ctx, ranks->peer_count, ranks->peers, &items);
    if (is_for_holders && map->ctx->poisons) {
        poison(map, at, tile_bytes);
    }
}

void tile_publish(const tile_map* map, const tile_values* values) {
    if (values->at == NULL || map->ranks == NULL) {
        return;
    }
    size_t bytes = values->tile_bytes > 0 ? values->tile_bytes : TILE_CELLS * sizeof(float);
    int64_t fields = values->fields > 0 ? values->fields : 1;
    for (int64_t i = 0; i < fields; ++i) {
        size_t offset = (size_t)i * ((size_t)map->count + 1) * bytes;
        send_field(map, (char*)values->at + offset, bytes, values->readers);
    }
}

// --- the loop ------------------------------------------------------------------------------------

void tile_for(const tile_map* map, const tile_use* use, parallel_fcn* fcn, void* data) {
    TREACLE_ASSERT(use->grain > 0);
    switch (use->reads) {
    case TILE_ALONE:
        run_alone(map, use->grain, fcn, data);
        break;
    case TILE_AROUND:
        tile_for_range(map->ctx, tile_ranks_own(map), use->grain, fcn, data);
        break;
    case TILE_ANYWHERE:
        TREACLE_ASSERT(!tile_ranks_are_distributed(map));
        parallel_for(map->ctx, map->count, use->grain, fcn, data);
        break;
    }
    for (int i = 0; i < TILE_WRITES_MAX; ++i) {
        TREACLE_ASSERT(use->writes[i].at == NULL || use->reads == TILE_AROUND);
        tile_publish(map, &use->writes[i]);
    }
}

// --- zeroes and copies ---------------------------------------------------------------------------

typedef struct bytes_job {
    char* to;
    const char* from; // NULL: zeroes
    size_t tile_bytes;
} bytes_job;

static void set_tiles(void* data, int64_t begin, int64_t end) {
    const bytes_job* job = data;
    size_t at = (size_t)begin * job->tile_bytes, bytes = (size_t)(end - begin) * job->tile_bytes;
    if (job->from == NULL) {
        memset(job->to + at, 0, bytes);
    } else {
        memcpy(job->to + at, job->from + at, bytes);
    }
}

static void set_held(const tile_map* map, bytes_job job) {
    run_held(map, 64, set_tiles, &job);
    set_tiles(&job, map->count, (int64_t)map->count + 1);
}

void tile_clear(const tile_map* map, void* data, size_t tile_bytes) {
    TREACLE_ASSERT(data != NULL && tile_bytes > 0);
    set_held(map, (bytes_job){.to = data, .tile_bytes = tile_bytes});
}

void tile_copy(const tile_map* map, void* to, const void* from, size_t tile_bytes) {
    TREACLE_ASSERT(to != NULL && from != NULL && to != from);
    TREACLE_ASSERT(tile_bytes > 0);
    set_held(map, (bytes_job){.to = to, .from = from, .tile_bytes = tile_bytes});
}

// --- sums ----------------------------------------------------------------------------------------

typedef struct term_job {
    parallel_term_fcn* fcn;
    void* data;
    int64_t offset;
} term_job;

static double term_of(void* data, int64_t i) {
    const term_job* job = data;
    return job->fcn(job->data, i + job->offset);
}

double tile_sum_range(treacle_context* ctx, tile_range own, bool is_distributed,
                      parallel_term_fcn* fcn, void* data) {
    TREACLE_ASSERT(own.begin <= own.end);
    term_job job = {fcn, data, own.begin};
    exact_sum sum;
    parallel_sum_exact(ctx, own.end - own.begin, term_of, &job, &sum);
    if (is_distributed) {
        comm_sum_exact(ctx, &sum, 1);
    }
    return exact_sum_value(&sum);
}

double tile_max_range(treacle_context* ctx, tile_range own, bool is_distributed,
                      parallel_term_fcn* fcn, void* data) {
    TREACLE_ASSERT(own.begin <= own.end);
    term_job job = {fcn, data, own.begin};
    double most = parallel_max(ctx, own.end - own.begin, term_of, &job);
    if (is_distributed) {
        comm_max_f64(ctx, &most, 1);
    }
    return most;
}

double tile_sum(const tile_map* map, parallel_term_fcn* fcn, void* data) {
    return tile_sum_range(map->ctx, tile_ranks_own(map), map->ranks != NULL, fcn, data);
}

double tile_max(const tile_map* map, parallel_term_fcn* fcn, void* data) {
    return tile_max_range(map->ctx, tile_ranks_own(map), map->ranks != NULL, fcn, data);
}
