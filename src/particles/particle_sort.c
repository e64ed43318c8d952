// A counting sort in six passes over what a simulation moves in a step: little. "Group" is a run of
// particles with the same tile before the sort, "slot" one of the 27 tiles around it.
//
//     classify   by groups      each particle: slot, cell, position in the new tile; slots counted
//     stream     serial         the non-empty (group, slot) streams, sorted by the tile they go to:
//                               the new tiles, and where in them each stream's particles begin
//     scatter    by groups      particle numbers to their streams
//     order      by tiles       particle numbers by cell (counting) and id (ranks, merging)
//     gather     by particles   every column, through that order, into a spare block or, from
//                               a column that is borrowed, into the store's own
//
// A particle that crossed more than one tile is a stream of its own. Two bytes, one byte and two
// particle numbers are all that a particle needs: 11 bytes.
//
// On distributed ranks each does its own groups and then its own tiles. All know the counts of all
// slots, and so all streams; between scatter and order the streams from one rank's group to
// another's tile change hands ("trade"), keeping their particles' old numbers.
#include "particles/particle_sort.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "particles/particle_trade.h"

enum {
    SLOT_FAR = TILE_NEIGHBOURS, // more than one tile away
    SLOT_NONE,                  // removed
    RANKED_MAX = 16,            // particles that are sorted by comparing each with each
    GATHER_GRAIN = 8192,
    RADIX = 256,
};

// Particles that go from one group to one tile.
typedef struct stream {
    uint64_t key; // of the tile
    tile_coord tile;
    uint32_t count;
    tile_ix group;
    uint32_t source; // slot, or SLOT_FAR + a particle's place in the group if it went far
} stream;

typedef struct sort_job {
    particles* p;
    const grid_domain* domain;
    // By particle.
    uint8_t* slot;
    uint16_t* cell;
    uint32_t* bucket; // particles by tile
    uint32_t* order;  // particles by tile, cell and id
    // By group.
    uint32_t (*slot_count)[TILE_NEIGHBOURS]; // particles
    particle_ix (*cursor)[TILE_NEIGHBOURS];  // where in `bucket` the slot's next particle goes
    // Streams and the new tiles.
    int64_t stream_count, near_count; // far particles come last
    stream *streams, *stream_spare;
    int64_t tile_count;
    tile_coord* tile;
    particle_ix* tile_first;
    // Integer sums: any order will do.
    _Atomic int64_t removed, stopped, far, bad;
} sort_job;

// ---- classify ----

// Where a position goes along one axis.
typedef struct landing {
    int32_t shift;   // in tiles, before periodic axes wrap
    float position;  // in the tile it goes to
    bool is_removed; // through an open side
    int hit;         // -1 or 1: the low or high wall; 0: none
} landing;

// `place` is in cells from the domain's low corner; `tile` the one that it is local to.
static landing land(const grid_domain* domain, int a, int32_t tile, double place) {
    landing out = {0};
    double length = domain->cells[a];
    if (!domain->is_periodic[a] && !(place >= 0.0 && place < length)) {
        out.hit = place < 0.0 ? -1 : 1;
        out.is_removed = domain->sides[a][out.hit > 0] == TREACLE_SIDE_OPEN;
        place = out.hit < 0 ? SIDE_MARGIN : length - SIDE_MARGIN;
    } else if (domain->is_periodic[a] && !(fabs(place) < (double)INT32_MAX)) {
        place = 0.0; // too far away to say where it wraps to
    }
    double to = floor(place / TILE_SIZE);
    out.shift = (int32_t)to - tile;
    out.position = (float)(place - TILE_SIZE * to);
    if (out.position >= (float)TILE_SIZE) {
        out.position = nextafterf((float)TILE_SIZE, 0.0f); // it was rounded up out of the tile
    }
    return out;
}

// A wall takes the velocity into it; one that liquid sticks to gives its own.
static void stop(const grid_domain* domain, int a, int hit, float velocity[AXES]) {
    if (domain->sides[a][hit > 0] == TREACLE_SIDE_NO_SLIP) {
        for (int b = 0; b < AXES; ++b) {
            velocity[b] = (float)domain->side_u[a][hit > 0][b];
        }
    } else if (velocity[a] * (float)hit > 0.0f) {
        velocity[a] = 0.0f;
    }
}

// What one particle does, and what it adds to the counts.
typedef struct particle_fate {
    int32_t shift[AXES];
    float position[AXES];
    bool is_bad, is_removed, is_stopped;
} particle_fate;

static particle_fate trace(const sort_job* job, tile_coord tile, particle_ix particle) {
    const grid_domain* domain = job->domain;
    const float* position = particles_f32(job->p, PARTICLE_POSITION) + AXES * particle;
    float* velocity = particles_f32(job->p, PARTICLE_VELOCITY) + AXES * particle;
    particle_fate fate = {.position = {0.5f, 0.5f, 0.5f}};
    for (int a = 0; a < AXES; ++a) {
        if (!domain->is_active[a]) {
            fate.shift[a] = -tile.at[a];
            continue;
        }
        if (!isfinite(position[a])) {
            fate.is_bad = true;
            return fate;
        }
        landing to =
            land(domain, a, tile.at[a], (double)TILE_SIZE * tile.at[a] + (double)position[a]);
        fate.shift[a] = to.shift;
        fate.position[a] = to.position;
        fate.is_removed = fate.is_removed || to.is_removed;
        if (to.hit != 0 && !to.is_removed) {
            fate.is_stopped = true;
            stop(domain, a, to.hit, velocity);
        }
    }
    return fate;
}

static void store_fate(const sort_job* job, particle_ix particle, const particle_fate* fate) {
    float* position = particles_f32(job->p, PARTICLE_POSITION) + AXES * particle;
    memcpy(position, fate->position, sizeof(fate->position));
    job->cell[particle] = (uint16_t)particles_cell(fate->position);
}

// The slot of a particle that is not simply where it was.
static uint8_t classify_particle(sort_job* job, tile_coord tile, particle_ix particle) {
    particle_fate fate = trace(job, tile, particle);
    if (fate.is_bad || fate.is_removed) {
        atomic_fetch_add(fate.is_bad ? &job->bad : &job->removed, 1);
        return SLOT_NONE;
    }
    if (fate.is_stopped) {
        atomic_fetch_add(&job->stopped, 1);
    }
    for (int a = 0; a < AXES; ++a) {
        if (fate.shift[a] < -1 || fate.shift[a] > 1) {
            atomic_fetch_add(&job->far, 1);
            return SLOT_FAR; // its position is left alone: it will be traced again
        }
    }
    store_fate(job, particle, &fate);
    return (uint8_t)TILE_NEIGHBOUR(fate.shift[0], fate.shift[1], fate.shift[2]);
}

// Positions in [low, high) along every axis stay in the tile as they are.
typedef struct home {
    float low[AXES], high[AXES];
} home;

static home home_of(const grid_domain* domain, tile_coord tile) {
    home out;
    for (int a = 0; a < AXES; ++a) {
        int32_t left = domain->cells[a] - TILE_SIZE * tile.at[a];
        bool is_inside = tile.at[a] >= 0 && left > 0;
        out.low[a] = domain->is_active[a] ? 0.0f : 0.5f;
        out.high[a] = !is_inside              ? 0.0f
                      : !domain->is_active[a] ? nextafterf(0.5f, 1.0f)
                      : left < TILE_SIZE      ? (float)left
                                              : (float)TILE_SIZE;
    }
    return out;
}

static inline bool is_home(const home* h, const float x[AXES]) {
    return (x[0] >= h->low[0]) & (x[0] < h->high[0]) & (x[1] >= h->low[1]) & (x[1] < h->high[1]) &
           (x[2] >= h->low[2]) & (x[2] < h->high[2]);
}

static void classify_group(sort_job* job, tile_ix group) {
    const particles* p = job->p;
    const float* position = particles_f32(p, PARTICLE_POSITION);
    home stay = home_of(job->domain, p->tile[group]);
    uint32_t count[SLOT_NONE + 1] = {0};
    for (particle_ix particle = p->tile_first[group]; particle < p->tile_first[group + 1];
         ++particle) {
        uint8_t slot = TILE_SELF;
        if (TREACLE_LIKELY(is_home(&stay, position + AXES * particle))) {
            job->cell[particle] = (uint16_t)particles_cell(position + AXES * particle);
        } else {
            slot = classify_particle(job, p->tile[group], particle);
        }
        job->slot[particle] = slot;
        count[slot] += 1;
    }
    memcpy(job->slot_count[group], count, sizeof(job->slot_count[group]));
}

static void classify(void* data, int64_t begin, int64_t end) {
    sort_job* job = data;
    for (int64_t group = begin; group < end; ++group) {
        if (particle_ranks_has(job->p, (tile_ix)group)) {
            classify_group(job, (tile_ix)group);
        } else {
            memset(job->slot_count[group], 0, sizeof(job->slot_count[group]));
        }
    }
}

// Brings what ranks have counted to all of them.
static void publish_counts(sort_job* job) {
    if (!particle_ranks_are_distributed(job->p)) {
        return;
    }
    int64_t sums[] = {job->removed, job->stopped, job->far, job->bad};
    comm_sum_i64(job->p->ctx, sums, 4);
    job->removed = sums[0];
    job->stopped = sums[1];
    job->far = sums[2];
    job->bad = sums[3];
    comm_sum_u32(job->p->ctx, job->slot_count[0], (int64_t)job->p->tile_count * TILE_NEIGHBOURS);
}

// ---- stream ----

static stream stream_to(const sort_job* job, tile_coord from, const int32_t shift[AXES]) {
    stream out = {0};
    for (int a = 0; a < AXES; ++a) {
        out.tile.at[a] = from.at[a] + shift[a];
        if (job->domain->is_periodic[a]) {
            int32_t period = job->domain->tiles[a];
            out.tile.at[a] = (out.tile.at[a] % period + period) % period;
        }
    }
    out.key = tile_key(out.tile);
    return out;
}

static int64_t count_streams(const sort_job* job) {
    int64_t count = job->far;
    for (tile_ix g = 0; g < job->p->tile_count; ++g) {
        for (int s = 0; s < TILE_NEIGHBOURS; ++s) {
            count += job->slot_count[g][s] != 0;
        }
    }
    return count;
}

static void list_far(sort_job* job, tile_ix group) {
    const particles* p = job->p;
    for (particle_ix particle = p->tile_first[group]; particle < p->tile_first[group + 1];
         ++particle) {
        if (job->slot[particle] == SLOT_FAR) {
            particle_fate fate = trace(job, p->tile[group], particle);
            store_fate(job, particle, &fate);
            stream s = stream_to(job, p->tile[group], fate.shift);
            s.count = 1;
            s.group = group;
            s.source = SLOT_FAR + (uint32_t)(particle - p->tile_first[group]);
            job->streams[job->stream_count++] = s;
        }
    }
}

// Brings the streams of far particles, of which this rank has listed its own, to all.
static treacle_status exchange_far(sort_job* job, arena* scratch) {
    treacle_context* ctx = job->p->ctx;
    if (job->far == 0 || !particle_ranks_are_distributed(job->p)) {
        return TREACLE_OK;
    }
    int rank = comm_rank(ctx), size = comm_size(ctx);
    int64_t* first = NULL;
    TREACLE_TRY(arena_take_zero(scratch, (size_t)size + 1, sizeof(int64_t), "sort: far rows",
                                (void**)&first));
    int64_t own = job->stream_count - job->near_count;
    first[rank + 1] = own;
    comm_sum_i64(ctx, first, size + 1);
    for (int r = 0; r < size; ++r) {
        first[r + 1] += first[r];
    }
    stream* far = job->streams + job->near_count;
    memmove(far + first[rank], far, (size_t)own * sizeof(stream));
    comm_gather(ctx, far, sizeof(stream), first);
    job->stream_count = job->near_count + first[size];
    arena_give(scratch, first);
    return TREACLE_OK;
}

static treacle_status list_streams(sort_job* job, arena* scratch) {
    for (tile_ix g = 0; g < job->p->tile_count; ++g) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            if (job->slot_count[g][n] != 0) {
                int32_t shift[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
                stream s = stream_to(job, job->p->tile[g], shift);
                s.count = job->slot_count[g][n];
                s.group = g;
                s.source = (uint32_t)n;
                job->streams[job->stream_count++] = s;
            }
        }
    }
    job->near_count = job->stream_count;
    for (tile_ix g = 0; g < job->p->tile_count && job->far > 0; ++g) {
        if (particle_ranks_has(job->p, (tile_ix)g)) {
            list_far(job, g);
        }
    }
    return exchange_far(job, scratch);
}

static void radix_pass(int64_t count, const stream* from, stream* to, int shift) {
    int64_t first[RADIX + 1] = {0};
    for (int64_t i = 0; i < count; ++i) {
        first[(from[i].key >> shift & (RADIX - 1)) + 1] += 1;
    }
    for (int r = 0; r < RADIX; ++r) {
        first[r + 1] += first[r];
    }
    for (int64_t i = 0; i < count; ++i) {
        to[first[from[i].key >> shift & (RADIX - 1)]++] = from[i];
    }
}

// By key; streams of one tile stay in the order of their groups.
static void sort_streams(sort_job* job) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < job->stream_count; ++i) {
        bits |= job->streams[i].key;
    }
    for (int shift = 0; shift < 64 && bits >> shift != 0; shift += 8) {
        radix_pass(job->stream_count, job->streams, job->stream_spare, shift);
        stream* sorted = job->stream_spare;
        job->stream_spare = job->streams;
        job->streams = sorted;
    }
}

// Lays the streams end to end: the new tiles, and each stream's place in the bucket.
static void place_streams(sort_job* job) {
    particle_ix at = 0;
    for (int64_t i = 0; i < job->stream_count; ++i) {
        const stream* s = &job->streams[i];
        if (i == 0 || s->key != job->streams[i - 1].key) {
            job->tile[job->tile_count] = s->tile;
            job->tile_first[job->tile_count] = at;
            job->tile_count += 1;
        }
        if (s->source >= SLOT_FAR) {
            job->bucket[at] = (uint32_t)job->p->tile_first[s->group] + (s->source - SLOT_FAR);
        } else {
            job->cursor[s->group][s->source] = at;
        }
        at += s->count;
    }
    job->tile_first[job->tile_count] = at;
}

// ---- scatter ----

static void particle_sort_scatter(void* data, int64_t begin, int64_t end) {
    const sort_job* job = data;
    for (int64_t g = begin; g < end; ++g) {
        particle_ix* cursor = job->cursor[g];
        particle_ix particle = particle_ranks_has(job->p, (tile_ix)g) ? job->p->tile_first[g]
                                                                      : job->p->tile_first[g + 1];
        for (; particle < job->p->tile_first[g + 1]; ++particle) {
            if (job->slot[particle] < TILE_NEIGHBOURS) {
                job->bucket[cursor[job->slot[particle]]++] = (uint32_t)particle;
            }
        }
    }
}

// ---- trade ----

// Goes through the streams that come to this rank's tiles from another's groups, or go from its
// groups to another's tiles. Particles of the bucket are counted, put into the parcels, or taken
// from them.
typedef enum trade_pass { TRADE_COUNT, TRADE_GIVE, TRADE_TAKE } trade_pass;

static void go_through(const sort_job* job, particle_parcel* parcels, trade_pass pass) {
    treacle_context* ctx = job->p->ctx;
    int me = comm_rank(ctx);
    particle_ix at = 0;
    for (int r = 0; r < comm_size(ctx); ++r) {
        parcels[r].rank = r;
        parcels[r].give_count = pass == TRADE_TAKE ? parcels[r].give_count : 0;
        parcels[r].take_count = pass == TRADE_GIVE ? parcels[r].take_count : 0;
    }
    for (int64_t i = 0; i < job->stream_count; ++i) {
        const stream* s = &job->streams[i];
        int from = particle_ranks_owner(job->p, job->p->tile[s->group]);
        int to = particle_ranks_owner(job->p, s->tile);
        particle_parcel* parcel = &parcels[from == me ? to : from];
        uint32_t* members = job->bucket + at;
        size_t bytes = (size_t)s->count * sizeof(*members);
        if (from == me && to != me && pass != TRADE_TAKE) {
            if (pass == TRADE_GIVE) {
                memcpy(parcel->give + parcel->give_count, members, bytes);
            }
            parcel->give_count += s->count;
        } else if (from != me && to == me && pass != TRADE_GIVE) {
            if (pass == TRADE_TAKE) {
                memcpy(members, parcel->take + parcel->take_count, bytes);
            }
            parcel->take_count += s->count;
        }
        at += s->count;
    }
}

static treacle_status take_parcels(const sort_job* job, arena* scratch, particle_parcel** out) {
    size_t size = (size_t)comm_size(job->p->ctx), members = 0;
    TREACLE_TRY(arena_take_zero(scratch, size, sizeof(**out), "sort: rows of ranks", (void**)out));
    go_through(job, *out, TRADE_COUNT);
    for (size_t r = 0; r < size; ++r) {
        members += (size_t)((*out)[r].give_count + (*out)[r].take_count);
    }
    uint32_t* room = NULL;
    TREACLE_TRY(arena_take(scratch, members, sizeof(*room), "sort: rows of ranks", (void**)&room));
    for (size_t r = 0; r < size; ++r) {
        particle_parcel* parcel = &(*out)[r];
        parcel->give = room;
        parcel->take = room + parcel->give_count;
        room += parcel->give_count + parcel->take_count;
    }
    return TREACLE_OK;
}

static treacle_status trade(sort_job* job, arena* scratch) {
    if (!particle_ranks_are_distributed(job->p)) {
        return TREACLE_OK;
    }
    particle_parcel* parcels = NULL;
    int mark = arena_mark(scratch), size = comm_size(job->p->ctx);
    TREACLE_TRY(take_parcels(job, scratch, &parcels));
    go_through(job, parcels, TRADE_GIVE);
    TREACLE_TRY(particle_trade(job->p, size, parcels, scratch));
    go_through(job, parcels, TRADE_TAKE);
    for (int r = 0; r < size; ++r) {
        for (particle_ix i = 0; i < parcels[r].take_count; ++i) {
            uint32_t particle = parcels[r].take[i];
            job->cell[particle] = (uint16_t)particles_cell(
                particles_f32(job->p, PARTICLE_POSITION) + AXES * (particle_ix)particle);
        }
    }
    arena_give_to(scratch, mark);
    return TREACLE_OK;
}

// ---- order ----

// Up to RANKED_MAX particles, each put where as many ids are smaller: no branch to guess wrong.
static void rank_by_id(uint32_t* members, int64_t count, const uint64_t* id) {
    uint64_t key[RANKED_MAX];
    uint32_t particle[RANKED_MAX];
    for (int64_t i = 0; i < count; ++i) {
        particle[i] = members[i];
        key[i] = id[members[i]];
    }
    for (int64_t i = 0; i < count; ++i) {
        int64_t rank = 0;
        for (int64_t j = 0; j < count; ++j) {
            rank += key[j] < key[i];
        }
        members[rank] = particle[i];
    }
}

static void merge_by_id(const uint32_t* from, int64_t middle, int64_t end, const uint64_t* id,
                        uint32_t* to) {
    int64_t i = 0, j = middle;
    for (int64_t k = 0; k < end; ++k) {
        bool takes_left = i < middle && (j >= end || id[from[i]] < id[from[j]]);
        to[k] = takes_left ? from[i++] : from[j++];
    }
}

// Sorts particles by id; `spare` has as many places. Cells hold few particles, but nothing forbids
// a million of them in a corner.
static void sort_by_id(uint32_t* members, uint32_t* spare, int64_t count, const uint64_t* id) {
    for (int64_t at = 0; at < count; at += RANKED_MAX) {
        rank_by_id(members + at, count - at < RANKED_MAX ? count - at : RANKED_MAX, id);
    }
    for (int64_t width = RANKED_MAX; width < count; width *= 2) {
        for (int64_t at = 0; at < count; at += 2 * width) {
            int64_t end = count - at < 2 * width ? count - at : 2 * width;
            merge_by_id(members + at, end < width ? end : width, end, id, spare + at);
        }
        memcpy(members, spare, (size_t)count * sizeof(*members));
    }
}

static void order_tile(const sort_job* job, int64_t tile) {
    particle_ix first = job->tile_first[tile], count = job->tile_first[tile + 1] - first;
    uint32_t* bucket = job->bucket + first;
    uint32_t* order = job->order + first;
    const uint64_t* id = particles_id(job->p);
    int64_t end[TILE_CELLS + 1] = {0};
    for (particle_ix i = 0; i < count; ++i) {
        end[job->cell[bucket[i]] + 1] += 1;
    }
    for (int c = 0; c < TILE_CELLS; ++c) {
        end[c + 1] += end[c];
    }
    for (particle_ix i = 0; i < count; ++i) {
        order[end[job->cell[bucket[i]]]++] = bucket[i];
    }
    int64_t begin = 0;
    for (int c = 0; c < TILE_CELLS; ++c) {
        sort_by_id(order + begin, bucket + begin, end[c] - begin, id);
        begin = end[c];
    }
}

static void order(void* data, int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
        order_tile(data, tile);
    }
}

// ---- gather ----

typedef struct gather_job {
    const uint32_t* order;
    const char* from;
    char* to;
    size_t bytes;
} gather_job;

static inline void gather_particles(const gather_job* job, int64_t begin, int64_t end,
                                    size_t bytes) {
    for (int64_t i = begin; i < end; ++i) {
        memcpy(job->to + (size_t)i * bytes, job->from + (size_t)job->order[i] * bytes, bytes);
    }
}

// Wide columns that are large, and the store's own, are put in order in slices: to a spare block
// that is as wide as a slice, and back. So a sort of many particles needs little room.
enum { SLICE_BYTES = 12, SLICED_FROM = 1 << 24 };

typedef struct slice_job {
    const uint32_t* order;
    char *column, *spare; // the slice of particle 0, and what is kept of it
    size_t stride;        // from particle to particle of the column
} slice_job;

static void take_slice(void* data, int64_t begin, int64_t end) {
    const slice_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        memcpy(job->spare + (size_t)i * SLICE_BYTES, job->column + job->order[i] * job->stride,
               SLICE_BYTES);
    }
}

static void put_slice(void* data, int64_t begin, int64_t end) {
    const slice_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        memcpy(job->column + (size_t)i * job->stride, job->spare + (size_t)i * SLICE_BYTES,
               SLICE_BYTES);
    }
}

// One loop a particle size, so that the compiler sees how much to move.
static void particle_sort_gather(void* data, int64_t begin, int64_t end) {
    const gather_job* job = data;
    switch (job->bytes) {
    case 1:
        gather_particles(job, begin, end, 1);
        break;
    case 4:
        gather_particles(job, begin, end, 4);
        break;
    case 8:
        gather_particles(job, begin, end, 8);
        break;
    case 12:
        gather_particles(job, begin, end, 12);
        break;
    default:
        gather_particles(job, begin, end, job->bytes);
    }
}

// A block that is free to gather a column into: what the column before left. So one is enough for
// all columns of a size.
typedef struct spare_block {
    void* data;
    particle_ix capacity;
    size_t bytes; // of a particle
} spare_block;

static void drop_spare(treacle_context* ctx, spare_block* spare) {
    alloc_free(ctx, spare->data, (size_t)spare->capacity * spare->bytes);
    *spare = (spare_block){0};
}

static bool is_sliced(const particles* p, particle_column c) {
    size_t bytes = particle_columns[c].bytes;
    return bytes > SLICE_BYTES && bytes % SLICE_BYTES == 0 &&
           (size_t)p->column_capacity[c] * bytes >= SLICED_FROM;
}

static treacle_status fit_spare(const particles* p, particle_column c, spare_block* spare) {
    size_t bytes = is_sliced(p, c) ? SLICE_BYTES : particle_columns[c].bytes;
    particle_ix capacity = p->column_capacity[c];
    if (spare->data != NULL && spare->bytes == bytes && spare->capacity >= capacity) {
        return TREACLE_OK;
    }
    drop_spare(p->ctx, spare);
    TREACLE_TRY(
        alloc_array(p->ctx, (size_t)capacity, bytes, particle_columns[c].name, &spare->data));
    spare->capacity = capacity;
    spare->bytes = bytes;
    return TREACLE_OK;
}

// The column that is the store's own and the spare block change places.
static void exchange(particles* p, particle_column c, spare_block* spare) {
    spare_block before = {p->column[c], p->column_capacity[c], particle_columns[c].bytes};
    p->column[c] = spare->data;
    p->column_capacity[c] = spare->capacity;
    *spare = before;
}

static void gather_slices(const sort_job* job, tile_range members, particle_column c,
                          const spare_block* spare) {
    const particles* p = job->p;
    size_t all = particle_columns[c].bytes;
    for (size_t at = 0; at < all; at += SLICE_BYTES) {
        slice_job slice = {job->order, (char*)p->column[c] + at, spare->data, all};
        tile_for_range(p->ctx, members, GATHER_GRAIN, take_slice, &slice);
        tile_for_range(p->ctx, members, GATHER_GRAIN, put_slice, &slice);
    }
}

static treacle_status gather_column(const sort_job* job, tile_range members, particle_column c,
                                    spare_block* spare) {
    particles* p = job->p;
    bool is_borrowed = (p->borrowed_mask >> c & 1u) != 0;
    TREACLE_TRY(is_borrowed ? particles_reserve_own(p, c) : fit_spare(p, c, spare));
    if (!is_borrowed && is_sliced(p, c)) {
        gather_slices(job, members, c, spare);
        return TREACLE_OK;
    }
    void* to = is_borrowed ? p->own_block[c] : spare->data;
    gather_job column = {job->order, p->column[c], to, particle_columns[c].bytes};
    tile_for_range(p->ctx, members, GATHER_GRAIN, particle_sort_gather, &column);
    if (is_borrowed) {
        particles_show_own(p, c);
    } else {
        exchange(p, c, spare);
    }
    return TREACLE_OK;
}

static treacle_status gather_columns(const sort_job* job, const particles* sorted) {
    tile_range members = particle_ranks_own_range(sorted);
    spare_block spare = {0};
    treacle_status status = TREACLE_OK;
    for (int c = 0; c < PARTICLE_COLUMN_COUNT && status == TREACLE_OK; ++c) {
        if (job->p->column[c] != NULL) {
            status = gather_column(job, members, (particle_column)c, &spare);
        }
    }
    drop_spare(job->p->ctx, &spare);
    return status;
}

// ---- the sort ----

static treacle_status take_particles(sort_job* job, arena* scratch) {
    size_t members = (size_t)job->p->count, groups = (size_t)job->p->tile_count;
    TREACLE_TRY(
        arena_take(scratch, members, sizeof(*job->slot), "sort: slots", (void**)&job->slot));
    TREACLE_TRY(
        arena_take(scratch, members, sizeof(*job->cell), "sort: cells", (void**)&job->cell));
    TREACLE_TRY(
        arena_take(scratch, members, sizeof(*job->bucket), "sort: buckets", (void**)&job->bucket));
    TREACLE_TRY(
        arena_take(scratch, members, sizeof(*job->order), "sort: order", (void**)&job->order));
    TREACLE_TRY(arena_take(scratch, groups, sizeof(*job->slot_count), "sort: slot counts",
                           (void**)&job->slot_count));
    return arena_take(scratch, groups, sizeof(*job->cursor), "sort: cursors", (void**)&job->cursor);
}

static treacle_status take_streams(sort_job* job, arena* scratch) {
    size_t streams = (size_t)count_streams(job);
    TREACLE_TRY(
        arena_take(scratch, streams, sizeof(stream), "sort: streams", (void**)&job->streams));
    TREACLE_TRY(
        arena_take(scratch, streams, sizeof(stream), "sort: streams", (void**)&job->stream_spare));
    TREACLE_TRY(
        arena_take(scratch, streams, sizeof(*job->tile), "sort: tiles", (void**)&job->tile));
    return arena_take(scratch, streams + 1, sizeof(*job->tile_first), "sort: tiles",
                      (void**)&job->tile_first);
}

static bool is_finite_particle(const particles* p, particle_ix particle) {
    const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * particle;
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static treacle_status check_finite(const sort_job* job) {
    const particles* p = job->p;
    if (job->bad == 0) {
        return TREACLE_OK;
    }
    int64_t first = INT64_MIN; // less the particle: the first is the most
    for (tile_ix g = 0; g < p->tile_count && first == INT64_MIN; ++g) {
        particle_ix particle =
            particle_ranks_has(job->p, (tile_ix)g) ? p->tile_first[g] : p->tile_first[g + 1];
        for (; particle < p->tile_first[g + 1] && first == INT64_MIN; ++particle) {
            first = is_finite_particle(p, particle) ? first : -particle;
        }
    }
    int64_t found = first, id = 0;
    comm_max_i64(p->ctx, &found, 1);
    id = found == first ? (int64_t)particles_id(p)[-found] : 0;
    comm_max_i64(p->ctx, &id, 1);
    return check_fail(p->ctx, TREACLE_ERR_DIVERGED,
                      "the positions of %lld particles are not finite, first that of particle "
                      "%llu; try a smaller time step",
                      (long long)job->bad, (unsigned long long)id);
}

static treacle_status sort_with(sort_job* job, const particle_sorter* sorter) {
    particles* p = job->p;
    TREACLE_TRY(take_particles(job, sorter->scratch));
    int64_t grain = p->tile_count / 256 + 1;
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = grain}, classify, job);
    publish_counts(job);
    TREACLE_TRY(check_finite(job));
    TREACLE_TRY(take_streams(job, sorter->scratch));
    TREACLE_TRY(list_streams(job, sorter->scratch));
    sort_streams(job);
    place_streams(job);
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = grain},
                 particle_sort_scatter, job);
    TREACLE_TRY(trade(job, sorter->scratch));
    particles sorted = {.ctx = p->ctx,
                        .owners = p->owners,
                        .count = job->tile_first[job->tile_count],
                        .tile_count = (tile_ix)job->tile_count,
                        .tile = job->tile,
                        .tile_first = job->tile_first};
    particle_use use = {.span = PARTICLES_OWN_TILES,
                        .grain = grain,
                        .values = job->order,
                        .value_bytes = sizeof(*job->order)};
    particle_for(&sorted, &use, order, job);
    TREACLE_TRY(particles_reserve_groups(p, job->tile_count));
    TREACLE_TRY(gather_columns(job, &sorted));
    p->count = sorted.count;
    p->tile_count = sorted.tile_count;
    memcpy(p->tile, job->tile, (size_t)job->tile_count * sizeof(*p->tile));
    memcpy(p->tile_first, job->tile_first, ((size_t)job->tile_count + 1) * sizeof(*p->tile_first));
    particle_ranks_keep_own(p);
    return TREACLE_OK;
}

static int64_t count_migrated(const sort_job* job) {
    int64_t count = job->far;
    for (int64_t i = 0; i < job->stream_count; ++i) {
        const stream* s = &job->streams[i];
        count += s->source < SLOT_FAR && s->source != TILE_SELF ? s->count : 0;
    }
    return count;
}

treacle_status particle_sort(particles* p, const particle_sorter* sorter,
                             particle_sort_stats* out) {
    TREACLE_ASSERT(sorter->domain != NULL && sorter->scratch != NULL);
    TREACLE_ASSERT(p->tile_first[p->tile_count] == p->count);
    *out = (particle_sort_stats){0};
    if (p->count > (int64_t)UINT32_MAX) {
        return check_fail(p->ctx, TREACLE_ERR_LIMIT,
                          "%lld particles: at most %llu are possible in one process",
                          (long long)p->count, (unsigned long long)UINT32_MAX);
    }
    TREACLE_TRY(particles_own(p, 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY));
    sort_job job = {.p = p, .domain = sorter->domain};
    int mark = arena_mark(sorter->scratch);
    treacle_status status = sort_with(&job, sorter);
    if (status == TREACLE_OK) {
        *out = (particle_sort_stats){job.removed, job.stopped, count_migrated(&job)};
    }
    arena_give_to(sorter->scratch, mark);
    return status;
}
