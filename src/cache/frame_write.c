// Writes a frame: chunks are compressed in parallel, a batch at a time, and appended in order; the
// tables at the front are filled in at the end. The bytes depend on the frame's content alone:
// blosc runs with one internal thread and a given block size, because with more it places the
// blocks in the order in which they get ready.
#include <blosc.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/parallel.h"
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
    int64_t array;    // whose it is
    int64_t index;    // in that array
    int stored_bytes; // <= 0: blosc failed
    uint64_t checksum;
} chunk;

typedef struct writer {
    treacle_context* ctx;
    const treacle_frame* frame;
    const char* path;
    atomic_file file;
    uint64_t chunk_count;
    uint8_t* front; // head and tables
    size_t front_bytes;
    chunk* batch;
    uint8_t* stored; // batch_size x FRAME_CHUNK_STORED_MAX
    size_t batch_size;
} writer;

static void compress_chunks(void* data, int64_t begin, int64_t end, int worker) {
    writer* w = data;
    (void)worker;
    for (int64_t i = begin; i < end; ++i) {
        chunk* c = &w->batch[i];
        uint8_t* to = w->stored + (size_t)i * FRAME_CHUNK_STORED_MAX;
        c->stored_bytes =
            blosc_compress_ctx(LEVEL, BLOSC_SHUFFLE, c->type_size, c->raw_bytes, c->raw, to,
                               FRAME_CHUNK_STORED_MAX, BLOSC_LZ4_COMPNAME, BLOCK_BYTES, 1);
        if (c->stored_bytes > 0) {
            c->checksum = XXH3_64bits(to, (size_t)c->stored_bytes);
        }
    }
}

static size_t chunk_table_at(const writer* w) {
    return FRAME_HEAD_BYTES + (size_t)w->frame->array_count * FRAME_ARRAY_BYTES;
}

// Compresses and appends `count` chunks, of which the first is number `first` of the file.
static treacle_status write_batch(writer* w, size_t count, uint64_t first) {
    parallel_for(w->ctx, (int64_t)count, 1, compress_chunks, w);
    for (size_t i = 0; i < count; ++i) {
        const chunk* c = &w->batch[i];
        if (c->stored_bytes <= 0) {
            return check_fail(w->ctx, TREACLE_ERR_INTERNAL,
                              "%s: blosc could not compress chunk %lld of array '%s' (code %d)",
                              w->path, (long long)c->index, w->frame->arrays[c->array].name,
                              c->stored_bytes);
        }
        uint8_t* record = w->front + chunk_table_at(w) + (size_t)(first + i) * FRAME_CHUNK_BYTES;
        frame_put_u32(record, FRAME_CHUNK_AT_STORED, (uint32_t)c->stored_bytes);
        frame_put_u32(record, FRAME_CHUNK_AT_RAW, (uint32_t)c->raw_bytes);
        frame_put_u64(record, FRAME_CHUNK_AT_CHECKSUM, c->checksum);
        TREACLE_TRY(atomic_file_append(&w->file, w->stored + i * FRAME_CHUNK_STORED_MAX,
                                       (size_t)c->stored_bytes));
    }
    return TREACLE_OK;
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
        .array = a,
        .index = (int64_t)index,
    };
}

static uint64_t array_chunks(const treacle_array* array) {
    bool is_valid = false;
    return frame_chunks_of(frame_array_bytes(array, &is_valid));
}

static treacle_status write_chunks(writer* w) {
    size_t waiting = 0;
    uint64_t done = 0;
    for (int a = 0; a < w->frame->array_count; ++a) {
        uint64_t chunks = array_chunks(&w->frame->arrays[a]);
        for (uint64_t index = 0; index < chunks; ++index) {
            w->batch[waiting++] = describe_chunk(w, a, index);
            if (waiting == w->batch_size) {
                TREACLE_TRY(write_batch(w, waiting, done));
                done += waiting;
                waiting = 0;
            }
        }
    }
    return write_batch(w, waiting, done);
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

static treacle_status reserve(writer* w) {
    uint64_t batch = (uint64_t)w->ctx->threads * BATCH_PER_THREAD;
    w->batch_size = (size_t)(batch < w->chunk_count ? batch : w->chunk_count);
    w->batch_size = w->batch_size == 0 ? 1 : w->batch_size;
    w->front_bytes =
        chunk_table_at(w) + (size_t)w->chunk_count * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(w->ctx, w->front_bytes, 1, "the tables of a frame file", &block));
    w->front = block;
    TREACLE_TRY(alloc_zero(w->ctx, w->batch_size, sizeof(chunk), "chunks to write", &block));
    w->batch = block;
    TREACLE_TRY(
        alloc_array(w->ctx, w->batch_size, FRAME_CHUNK_STORED_MAX, "compressed chunks", &block));
    w->stored = block;
    return TREACLE_OK;
}

static void release(writer* w) {
    alloc_free(w->ctx, w->front, w->front_bytes);
    alloc_free(w->ctx, w->batch, w->batch_size * sizeof(chunk));
    alloc_free(w->ctx, w->stored, w->batch_size * FRAME_CHUNK_STORED_MAX);
}

static treacle_status write_file(writer* w) {
    TREACLE_TRY(reserve(w));
    TREACLE_TRY(atomic_file_open(w->ctx, w->path, &w->file));
    TREACLE_TRY(atomic_file_append(&w->file, w->front, w->front_bytes));
    TREACLE_TRY(write_chunks(w));
    TREACLE_TRY(write_front(w));
    return atomic_file_commit(&w->file);
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
