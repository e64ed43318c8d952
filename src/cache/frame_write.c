// Writes a frame: chunks are compressed in parallel, a batch at a time, and appended in order; the
// tables at the front are filled in at the end. The bytes depend on the frame's content alone:
// blosc runs with one internal thread and a given block size, because with more it places the
// blocks in the order in which they get ready.
//
// On ranks each compresses and writes its part of every batch: of an array that all of them have,
// as many chunks as any other; of one that they hold in part, the chunks that begin in its own,
// whose ends may come from the ranks behind it.
#include <blosc.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/parallel.h"
#include "cache/frame_coding.h"
#include "cache/frame_format.h"

enum {
    LEVEL = 5,
    BLOCK_BYTES = 1 << 17,
    BATCH_PER_THREAD = 2,
};

// One chunk on its way: where its bytes are, and what became of them.
typedef struct chunk {
    const uint8_t* raw;
    size_t raw_bytes;
    size_t type_size;
    frame_coding coding; // to be tried
    int64_t array;       // whose it is
    int64_t index;       // in that array
} chunk;

typedef struct chunk_result {
    int64_t stored_bytes; // <= 0: blosc failed
    int64_t coding;       // that was used
    uint64_t checksum;
} chunk_result;

typedef struct writer {
    treacle_context* ctx;
    const treacle_frame* frame;
    const char* path;
    atomic_file file;
    uint64_t chunk_count;
    uint8_t* front; // head and tables
    size_t front_bytes;
    chunk* batch;
    chunk_result* result; // of the batch
    int64_t* rank_first;  // [ranks + 1], which of the batch each does
    comm_parcel* parcels; // [ranks]
    uint8_t* stored;      // own_size x FRAME_CHUNK_STORED_MAX
    uint8_t* packed;      // threads x FRAME_CHUNK_RAW
    size_t batch_size, even_size, own_size;
} writer;

static int64_t compress(const uint8_t* raw, size_t bytes, size_t type_size, uint8_t* to) {
    return blosc_compress_ctx(LEVEL, type_size > 1 ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE, type_size,
                              bytes, raw, to, FRAME_CHUNK_STORED_MAX, BLOSC_LZ4_COMPNAME,
                              BLOCK_BYTES, 1);
}

// Packed, if that can be done and if a reader could not take it for a chunk that claims too much.
static int64_t compress_packed(const chunk* c, uint8_t* packed, uint8_t* to) {
    size_t bytes =
        c->coding == FRAME_PLAIN ? 0 : frame_coding_pack(c->coding, c->raw, c->raw_bytes, packed);
    int64_t stored = bytes == 0 ? 0 : compress(packed, bytes, 1, to);
    return stored * FRAME_RATIO_MAX >= (int64_t)c->raw_bytes ? stored : 0;
}

static void compress_chunks(void* data, int64_t begin, int64_t end) {
    writer* w = data;
    uint8_t* packed = w->packed + (size_t)parallel_worker() * FRAME_CHUNK_RAW;
    for (int64_t i = begin; i < end; ++i) {
        int64_t at = w->rank_first[comm_rank(w->ctx)] + i; // in the batch
        const chunk* c = &w->batch[at];
        chunk_result* r = &w->result[at];
        uint8_t* to = w->stored + (size_t)i * FRAME_CHUNK_STORED_MAX;
        r->stored_bytes = compress_packed(c, packed, to);
        r->coding = r->stored_bytes > 0 ? c->coding : FRAME_PLAIN;
        if (r->stored_bytes <= 0) {
            r->stored_bytes = compress(c->raw, c->raw_bytes, c->type_size, to);
        }
        if (r->stored_bytes > 0) {
            r->checksum = XXH3_64bits(to, (size_t)r->stored_bytes);
        }
    }
}

static size_t chunk_table_at(const writer* w) {
    return FRAME_HEAD_BYTES + (size_t)w->frame->array_count * FRAME_ARRAY_BYTES;
}

// Notes what became of a chunk in the table of chunks.
static treacle_status note_chunk(writer* w, size_t i, uint64_t first) {
    const chunk* c = &w->batch[i];
    const chunk_result* r = &w->result[i];
    if (r->stored_bytes <= 0) {
        return check_fail(w->ctx, TREACLE_ERR_INTERNAL,
                          "%s: blosc could not compress chunk %lld of array '%s' (code %d)",
                          w->path, (long long)c->index, w->frame->arrays[c->array].name,
                          (int)r->stored_bytes);
    }
    uint8_t* record = w->front + chunk_table_at(w) + (size_t)(first + i) * FRAME_CHUNK_BYTES;
    frame_put_u32(record, FRAME_CHUNK_AT_STORED, (uint32_t)r->stored_bytes);
    frame_put_u32(record, FRAME_CHUNK_AT_RAW,
                  (uint32_t)c->raw_bytes | (uint32_t)r->coding << FRAME_CODING_SHIFT);
    frame_put_u64(record, FRAME_CHUNK_AT_CHECKSUM, r->checksum);
    return TREACLE_OK;
}

// Writes one's own chunks of a batch where they belong.
static treacle_status place_chunks(writer* w, size_t count, uint64_t first) {
    int rank = comm_rank(w->ctx);
    size_t begin = (size_t)w->rank_first[rank], end = (size_t)w->rank_first[rank + 1];
    treacle_status status = TREACLE_OK;
    uint64_t at = w->file.length;
    for (size_t i = 0; i < count && status == TREACLE_OK; ++i) {
        status = note_chunk(w, i, first);
        size_t bytes = (size_t)w->result[i].stored_bytes;
        if (status == TREACLE_OK && i >= begin && i < end) {
            status = atomic_file_place(&w->file, at,
                                       w->stored + (i - begin) * FRAME_CHUNK_STORED_MAX, bytes);
        }
        at += status == TREACLE_OK ? bytes : 0;
    }
    w->file.length = at;
    return status;
}

// Compresses and appends `count` chunks, of which the first is number `first` of the file, each by
// the rank that w->rank_first says.
static treacle_status write_batch(writer* w, size_t count, uint64_t first) {
    int64_t rank = comm_rank(w->ctx);
    parallel_for(w->ctx, w->rank_first[rank + 1] - w->rank_first[rank], 1, compress_chunks, w);
    comm_gather(w->ctx, w->result, sizeof(*w->result), w->rank_first);
    return comm_agree(w->ctx, place_chunks(w, count, first));
}

// Chunk `index` of array `a`.
static chunk describe_chunk(const writer* w, int a, uint64_t index) {
    const treacle_array* array = &w->frame->arrays[a];
    bool is_valid = false;
    uint64_t bytes = frame_array_bytes(array, &is_valid);
    uint64_t from = index * FRAME_CHUNK_RAW;
    uint64_t rest = bytes - from;
    return (chunk){
        .raw = (const uint8_t*)array->data + from,
        .raw_bytes = (size_t)(rest < FRAME_CHUNK_RAW ? rest : FRAME_CHUNK_RAW),
        .type_size = treacle_type_size(array->type),
        .coding = frame_coding_of(w->frame, array),
        .array = a,
        .index = (int64_t)index,
    };
}

static uint64_t array_chunks(const treacle_array* array) {
    bool is_valid = false;
    return frame_chunks_of(frame_array_bytes(array, &is_valid));
}

static treacle_status write_evenly(writer* w, size_t count, uint64_t first) {
    int64_t size = comm_size(w->ctx);
    for (int64_t r = 0; r <= size; ++r) {
        w->rank_first[r] = (int64_t)count * r / size;
    }
    return write_batch(w, count, first);
}

static bool is_in_parts(const writer* w, int a) {
    return w->frame->parts != NULL && w->frame->parts[a] != NULL;
}

static uint64_t item_bytes(const treacle_array* array) {
    return treacle_type_size(array->type) * (uint64_t)array->components;
}

// Chunks of an array that ranks hold in part: each does those that begin in its own.
static void publish_chunks(writer* w, int a) {
    uint64_t item = item_bytes(&w->frame->arrays[a]);
    for (int r = 0; r <= comm_size(w->ctx); ++r) {
        w->rank_first[r] = (int64_t)frame_chunks_of((uint64_t)w->frame->parts[a][r] * item);
    }
}

// What of the last chunk of ranks[0] ranks[1] has: *begin .. *end - 1, bytes of the array.
static void find_rest(const writer* w, int a, const int ranks[2], uint64_t* begin, uint64_t* end) {
    uint64_t item = item_bytes(&w->frame->arrays[a]);
    int r = ranks[0], q = ranks[1];
    uint64_t low = (uint64_t)w->frame->parts[a][q] * item;
    uint64_t high = (uint64_t)w->frame->parts[a][q + 1] * item;
    uint64_t last = (uint64_t)w->rank_first[r + 1] * FRAME_CHUNK_RAW;
    bool has_chunks = w->rank_first[r] < w->rank_first[r + 1];
    *begin = low;
    *end = !has_chunks || last < low ? low : last < high ? last : high;
}

// Brings the ends of chunks that begin here, and gives what is here of others' chunks.
static void bring_rests(writer* w, int a) {
    int me = comm_rank(w->ctx), size = comm_size(w->ctx);
    for (int r = 0; r < size; ++r) {
        uint64_t begin = 0, end = 0;
        w->parcels[r] = (comm_parcel){.rank = r};
        if (r == me) {
            continue;
        }
        find_rest(w, a, (const int[2]){r < me ? r : me, r < me ? me : r}, &begin, &end);
        char* at = (char*)w->frame->arrays[a].data + begin;
        w->parcels[r].give = w->parcels[r].take = at;
        *(r < me ? &w->parcels[r].give_bytes : &w->parcels[r].take_bytes) = (size_t)(end - begin);
    }
    comm_trade(w->ctx, size, w->parcels);
}

static treacle_status write_part(writer* w, int a, uint64_t first) {
    uint64_t chunks = array_chunks(&w->frame->arrays[a]);
    publish_chunks(w, a);
    bring_rests(w, a);
    for (uint64_t index = 0; index < chunks; ++index) {
        w->batch[index] = describe_chunk(w, a, index);
    }
    return write_batch(w, (size_t)chunks, first);
}

static treacle_status write_chunks(writer* w) {
    size_t waiting = 0;
    uint64_t done = 0;
    for (int a = 0; a < w->frame->array_count; ++a) {
        uint64_t chunks = array_chunks(&w->frame->arrays[a]);
        bool is_part = is_in_parts(w, a);
        for (uint64_t index = 0; index < chunks && !is_part; ++index) {
            w->batch[waiting++] = describe_chunk(w, a, index);
            if (waiting == w->even_size) {
                TREACLE_TRY(write_evenly(w, waiting, done));
                done += waiting;
                waiting = 0;
            }
        }
        if (is_part) {
            TREACLE_TRY(write_evenly(w, waiting, done));
            TREACLE_TRY(write_part(w, a, done + waiting));
            done += waiting + chunks;
            waiting = 0;
        }
    }
    return write_evenly(w, waiting, done);
}

static void fill_head(const writer* w) {
    const treacle_frame* f = w->frame;
    uint8_t* head = w->front;
    frame_put(head, FRAME_AT_MAGIC, frame_magic, sizeof(frame_magic));
    frame_put_u32(head, FRAME_AT_VERSION, FRAME_VERSION);
    frame_put_u32(head, FRAME_AT_KIND, (uint32_t)f->kind);
    frame_put(head, FRAME_AT_NUMBER, &f->number, sizeof(f->number));
    frame_put(head, FRAME_AT_STEP, &f->step, sizeof(f->step));
    frame_put(head, FRAME_AT_TIME, &f->time, sizeof(f->time));
    frame_put(head, FRAME_AT_FPS, &f->fps, sizeof(f->fps));
    frame_put(head, FRAME_AT_ORIGIN, f->origin, sizeof(f->origin));
    frame_put(head, FRAME_AT_CELL, &f->cell, sizeof(f->cell));
    frame_put(head, FRAME_AT_CELLS, f->cells, sizeof(f->cells));
    frame_put_u32(head, FRAME_AT_ARRAY_COUNT, (uint32_t)f->array_count);
    frame_put_u64(head, FRAME_AT_SCENE_HASH, f->scene_hash);
    frame_put_u64(head, FRAME_AT_CHUNK_COUNT, w->chunk_count);
    frame_put_u32(head, FRAME_AT_CHUNK_RAW, FRAME_CHUNK_RAW);
    frame_put_u64(head, FRAME_AT_CHECKSUM, XXH3_64bits(head, FRAME_AT_CHECKSUM));
}

static void fill_array_table(const writer* w) {
    for (int a = 0; a < w->frame->array_count; ++a) {
        const treacle_array* array = &w->frame->arrays[a];
        uint8_t* record = w->front + FRAME_HEAD_BYTES + (size_t)a * FRAME_ARRAY_BYTES;
        frame_put(record, FRAME_ARRAY_AT_NAME, array->name, strnlen(array->name, FRAME_NAME_BYTES));
        frame_put_u32(record, FRAME_ARRAY_AT_TYPE, (uint32_t)array->type);
        frame_put_u32(record, FRAME_ARRAY_AT_COMPONENTS, (uint32_t)array->components);
        frame_put(record, FRAME_ARRAY_AT_COUNT, &array->count, sizeof(array->count));
        frame_put_u64(record, FRAME_ARRAY_AT_CHUNKS, array_chunks(array));
    }
}

static treacle_status write_front(writer* w) {
    fill_head(w);
    fill_array_table(w);
    size_t tables = w->front_bytes - FRAME_HEAD_BYTES - FRAME_CHECKSUM_BYTES;
    uint8_t* end = w->front + w->front_bytes - FRAME_CHECKSUM_BYTES;
    frame_put_u64(end, 0, XXH3_64bits(w->front + FRAME_HEAD_BYTES, tables));
    return atomic_file_patch(&w->file, 0, w->front, w->front_bytes);
}

static treacle_status check_input(writer* w) {
    char text[256];
    if (frame_find_fault(w->frame, text, sizeof(text)) != NULL) {
        return check_fail(w->ctx, TREACLE_ERR_USAGE, "%s: the frame cannot be written: %s", w->path,
                          text);
    }
    for (int a = 0; a < w->frame->array_count; ++a) {
        const treacle_array* array = &w->frame->arrays[a];
        if (array->count > 0 && array->data == NULL) {
            return check_fail(w->ctx, TREACLE_ERR_USAGE,
                              "%s: the frame cannot be written: array '%s' has no data", w->path,
                              array->name);
        }
        w->chunk_count += array_chunks(array);
    }
    return TREACLE_OK;
}

// How many chunks are on their way at a time, and how many of them on this rank.
static void find_sizes(writer* w) {
    size_t ranks = (size_t)comm_size(w->ctx), rank = (size_t)comm_rank(w->ctx);
    uint64_t even = (uint64_t)w->ctx->threads * BATCH_PER_THREAD * ranks;
    w->even_size = (size_t)(even < w->chunk_count ? even : w->chunk_count);
    w->even_size = w->even_size == 0 ? 1 : w->even_size;
    w->batch_size = w->even_size;
    w->own_size = w->even_size / ranks + 1;
    for (int a = 0; a < w->frame->array_count; ++a) {
        if (is_in_parts(w, a)) {
            publish_chunks(w, a);
            size_t all = (size_t)array_chunks(&w->frame->arrays[a]);
            size_t own = (size_t)(w->rank_first[rank + 1] - w->rank_first[rank]);
            w->batch_size = all > w->batch_size ? all : w->batch_size;
            w->own_size = own > w->own_size ? own : w->own_size;
        }
    }
}

static treacle_status frame_write_reserve(writer* w) {
    size_t ranks = (size_t)comm_size(w->ctx);
    w->front_bytes =
        chunk_table_at(w) + (size_t)w->chunk_count * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(w->ctx, ranks + 1, sizeof(int64_t), "chunks of ranks", &block));
    w->rank_first = block;
    TREACLE_TRY(alloc_zero(w->ctx, ranks, sizeof(comm_parcel), "chunks of ranks", &block));
    w->parcels = block;
    find_sizes(w);
    TREACLE_TRY(alloc_zero(w->ctx, w->front_bytes, 1, "the tables of a frame file", &block));
    w->front = block;
    TREACLE_TRY(alloc_zero(w->ctx, w->batch_size, sizeof(chunk), "chunks to write", &block));
    w->batch = block;
    TREACLE_TRY(alloc_zero(w->ctx, w->batch_size, sizeof(chunk_result), "chunks to write", &block));
    w->result = block;
    TREACLE_TRY(
        alloc_array(w->ctx, w->own_size, FRAME_CHUNK_STORED_MAX, "compressed chunks", &block));
    w->stored = block;
    TREACLE_TRY(
        alloc_array(w->ctx, (size_t)w->ctx->threads, FRAME_CHUNK_RAW, "packed chunks", &block));
    w->packed = block;
    return TREACLE_OK;
}

static void release(writer* w) {
    alloc_free(w->ctx, w->front, w->front_bytes);
    alloc_free(w->ctx, w->batch, w->batch_size * sizeof(chunk));
    alloc_free(w->ctx, w->result, w->batch_size * sizeof(chunk_result));
    alloc_free(w->ctx, w->rank_first, ((size_t)comm_size(w->ctx) + 1) * sizeof(int64_t));
    alloc_free(w->ctx, w->parcels, (size_t)comm_size(w->ctx) * sizeof(comm_parcel));
    alloc_free(w->ctx, w->stored, w->own_size * FRAME_CHUNK_STORED_MAX);
    alloc_free(w->ctx, w->packed, (size_t)w->ctx->threads * FRAME_CHUNK_RAW);
}

// Rank 0 makes the file, the others join it.
static treacle_status open_file(writer* w) {
    bool is_first = comm_rank(w->ctx) == 0;
    treacle_status status = frame_write_reserve(w);
    if (status == TREACLE_OK && is_first) {
        status = atomic_file_open(w->ctx, w->path, &w->file);
    }
    if (status == TREACLE_OK && is_first) {
        status = atomic_file_append(&w->file, w->front, w->front_bytes);
    }
    TREACLE_TRY(comm_agree(w->ctx, status));
    if (!is_first) {
        status = atomic_file_join(w->ctx, w->path, &w->file);
        w->file.length = w->front_bytes;
    }
    return comm_agree(w->ctx, status);
}

// The others' bytes are durable before rank 0 gives the file its name.
static treacle_status end_file(writer* w) {
    bool is_first = comm_rank(w->ctx) == 0;
    TREACLE_TRY(comm_agree(w->ctx, is_first ? TREACLE_OK : atomic_file_leave(&w->file)));
    treacle_status status = is_first ? write_front(w) : TREACLE_OK;
    if (status == TREACLE_OK && is_first) {
        status = atomic_file_commit(&w->file);
    }
    return comm_agree(w->ctx, status);
}

static treacle_status write_file(writer* w) {
    TREACLE_TRY(open_file(w));
    TREACLE_TRY(write_chunks(w));
    return end_file(w);
}

treacle_status treacle_frame_write(treacle_context* ctx, const treacle_frame* frame,
                                   const char* path) {
    writer w = {.ctx = ctx, .frame = frame, .path = path, .file = {.fd = -1}};
    TREACLE_TRY(check_input(&w));
    treacle_status status = write_file(&w);
    atomic_file_discard(&w.file);
    release(&w);
    return status;
}
