// Reads a frame and believes nothing: every size is checked against the size of the file before
// memory is asked for, every byte is covered by a checksum, and chunks are unpacked in parallel.
#include "cache/frame_read.h"

#include <blosc.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/parallel.h"
#include "cache/frame_coding.h"
#include "cache/frame_format.h"

typedef enum fault {
    FAULT_NONE,
    FAULT_READ,     // the file gave fewer bytes than it has, or an error
    FAULT_CHECKSUM, // the stored bytes are not those that were written
    FAULT_UNPACK,   // the stored bytes do not unpack to what the table says
} fault;

// One chunk: where it is in the file, where it goes, and how it went.
typedef struct chunk {
    uint64_t offset;
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint64_t checksum;
    uint8_t* to;
    frame_coding coding;
    int32_t array;
    bool is_here; // unpacked
    fault found;
    int error; // errno of FAULT_READ
} chunk;

struct treacle_loaded_frame {
    treacle_context* ctx;
    treacle_frame frame;
    treacle_array* arrays; // [array_count], each with data of its own
    // While there is something in the file; else NULL and -1.
    char* path;
    int fd;
    uint64_t size;
    chunk* chunks;
    size_t chunk_count;
};

// What a thread needs: a chunk as it is in the file, and one that is packed.
enum { SCRATCH_BYTES = FRAME_CHUNK_STORED_MAX + FRAME_CHUNK_RAW };

// A file or memory, and what is known of it so far.
typedef struct reader {
    treacle_context* ctx;
    const char* name;
    const uint8_t* memory; // NULL: read from fd
    int fd;
    uint64_t size;
    treacle_loaded_frame* loaded;
    uint32_t version;
    uint64_t chunk_count;
    uint8_t* tables; // array table, chunk table, checksum
    size_t table_bytes;
    chunk* chunks;
    size_t chunk_capacity;
    int64_t first;    // chunk of the loop
    uint8_t* scratch; // threads x SCRATCH_BYTES
} reader;

static treacle_status damaged(const reader* r, const char* format, ...) TREACLE_PRINTF(2, 3);
static treacle_status damaged(const reader* r, const char* format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return check_fail(r->ctx, TREACLE_ERR_FORMAT, "%s: %s", r->name, text);
}

// 0, or an errno; EIO where the file ends early.
static int read_at(const reader* r, uint64_t offset, void* to, size_t size) {
    if (offset > r->size || size > r->size - offset) {
        return EIO;
    }
    if (r->memory != NULL) {
        memcpy(to, r->memory + offset, size);
        return 0;
    }
    uint8_t* at = to;
    while (size > 0) {
        ssize_t got = pread(r->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0 ? EIO : errno;
        }
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static treacle_status read_or_fail(const reader* r, uint64_t offset, void* to, size_t size) {
    int error = read_at(r, offset, to, size);
    if (error != 0) {
        return check_fail(r->ctx, TREACLE_ERR_IO, "%s: cannot read: %s", r->name, strerror(error));
    }
    return TREACLE_OK;
}

static treacle_status check_magic(const reader* r, const uint8_t* head, size_t size) {
    if (size < sizeof(frame_magic) || memcmp(head, frame_magic, sizeof(frame_magic)) != 0) {
        return damaged(r, "this is not a frame or state file of Treacle");
    }
    if (size >= FRAME_AT_VERSION + sizeof(uint32_t)) {
        uint32_t version = frame_get_u32(head, FRAME_AT_VERSION);
        if (version > FRAME_VERSION) {
            return check_fail(r->ctx, TREACLE_ERR_VERSION,
                              "%s: format version %u is newer than this program, which reads up to "
                              "version %d; use a newer Treacle",
                              r->name, version, FRAME_VERSION);
        }
        if (version == 0) {
            return damaged(r, "format version 0 does not exist");
        }
    }
    if (size < FRAME_HEAD_BYTES) {
        return damaged(r, "the file ends after %zu bytes, its head alone has %d", size,
                       FRAME_HEAD_BYTES);
    }
    return TREACLE_OK;
}

static void unpack_head(const uint8_t* head, treacle_frame* f) {
    f->kind = (treacle_frame_kind)frame_get_u32(head, FRAME_AT_KIND);
    frame_get(head, FRAME_AT_NUMBER, &f->number, sizeof(f->number));
    frame_get(head, FRAME_AT_STEP, &f->step, sizeof(f->step));
    frame_get(head, FRAME_AT_TIME, &f->time, sizeof(f->time));
    frame_get(head, FRAME_AT_FPS, &f->fps, sizeof(f->fps));
    frame_get(head, FRAME_AT_ORIGIN, f->origin, sizeof(f->origin));
    frame_get(head, FRAME_AT_CELL, &f->cell, sizeof(f->cell));
    frame_get(head, FRAME_AT_CELLS, f->cells, sizeof(f->cells));
    f->scene_hash = frame_get_u64(head, FRAME_AT_SCENE_HASH);
}

static treacle_status read_head(reader* r, uint32_t* array_count) {
    uint8_t head[FRAME_HEAD_BYTES] = {0};
    size_t size = r->size < FRAME_HEAD_BYTES ? (size_t)r->size : FRAME_HEAD_BYTES;
    TREACLE_TRY(read_or_fail(r, 0, head, size));
    TREACLE_TRY(check_magic(r, head, size));
    if (frame_get_u64(head, FRAME_AT_CHECKSUM) != XXH3_64bits(head, FRAME_AT_CHECKSUM)) {
        return damaged(r, "the head is damaged: its checksum does not match");
    }
    unpack_head(head, &r->loaded->frame);
    r->version = frame_get_u32(head, FRAME_AT_VERSION);
    *array_count = frame_get_u32(head, FRAME_AT_ARRAY_COUNT);
    r->chunk_count = frame_get_u64(head, FRAME_AT_CHUNK_COUNT);
    uint32_t chunk_raw = frame_get_u32(head, FRAME_AT_CHUNK_RAW);
    if (chunk_raw != FRAME_CHUNK_RAW || frame_get_u32(head, FRAME_AT_RESERVED) != 0) {
        return damaged(r, "the head asks for chunks of %u bytes, version %u has %d", chunk_raw,
                       r->version, FRAME_CHUNK_RAW);
    }
    if (*array_count > FRAME_ARRAYS_MAX) {
        return damaged(r, "the head claims %u arrays, a file holds at most %d", *array_count,
                       FRAME_ARRAYS_MAX);
    }
    return TREACLE_OK;
}

// The tables must fit into the file, so that their size is bounded before memory is taken.
static treacle_status read_tables(reader* r, uint32_t array_count) {
    uint64_t arrays = (uint64_t)array_count * FRAME_ARRAY_BYTES;
    uint64_t room = r->size - FRAME_HEAD_BYTES;
    if (r->chunk_count > room / FRAME_CHUNK_BYTES ||
        arrays + r->chunk_count * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES > room) {
        return damaged(r,
                       "the file is cut short: it has %llu bytes, too few for the tables of %u "
                       "arrays and %llu chunks",
                       (unsigned long long)r->size, array_count,
                       (unsigned long long)r->chunk_count);
    }
    r->table_bytes = (size_t)(arrays + r->chunk_count * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES);
    void* block = NULL;
    TREACLE_TRY(alloc_array(r->ctx, r->table_bytes, 1, "the tables of a frame file", &block));
    r->tables = block;
    TREACLE_TRY(read_or_fail(r, FRAME_HEAD_BYTES, r->tables, r->table_bytes));
    size_t covered = r->table_bytes - FRAME_CHECKSUM_BYTES;
    if (frame_get_u64(r->tables + covered, 0) != XXH3_64bits(r->tables, covered)) {
        return damaged(r, "the table of arrays is damaged: its checksum does not match");
    }
    return TREACLE_OK;
}

static bool is_padded_with_zeros(const char* name) {
    bool is_good = true;
    for (size_t i = strnlen(name, FRAME_NAME_BYTES); i < FRAME_NAME_BYTES; ++i) {
        is_good = is_good && name[i] == '\0';
    }
    return is_good;
}

static bool unpack_array(const uint8_t* record, treacle_array* array) {
    frame_get(record, FRAME_ARRAY_AT_NAME, array->name, FRAME_NAME_BYTES);
    uint32_t type = frame_get_u32(record, FRAME_ARRAY_AT_TYPE);
    uint32_t components = frame_get_u32(record, FRAME_ARRAY_AT_COMPONENTS);
    frame_get(record, FRAME_ARRAY_AT_COUNT, &array->count, sizeof(array->count));
    array->type = (treacle_type)type;
    array->components = components > FRAME_COMPONENTS_MAX ? 0 : (int)components;
    return is_padded_with_zeros(array->name);
}

static treacle_status unpack_arrays(reader* r, uint32_t array_count) {
    treacle_loaded_frame* loaded = r->loaded;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(r->ctx, array_count, sizeof(treacle_array), "arrays", &block));
    loaded->arrays = block;
    loaded->frame.arrays = loaded->arrays;
    loaded->frame.array_count = (int)array_count;
    bool is_padded = true;
    for (uint32_t a = 0; a < array_count; ++a) {
        const uint8_t* record = r->tables + (size_t)a * FRAME_ARRAY_BYTES;
        is_padded = unpack_array(record, &loaded->arrays[a]) && is_padded;
    }
    char text[256];
    if (frame_find_fault(&loaded->frame, text, sizeof(text)) != NULL) {
        return damaged(r, "%s", text);
    }
    return is_padded ? TREACLE_OK : damaged(r, "an array name is followed by other bytes");
}

// Each array must have as many chunks as its bytes need, and the file exactly those.
static treacle_status check_chunk_counts(const reader* r) {
    uint64_t expected = 0;
    for (int a = 0; a < r->loaded->frame.array_count; ++a) {
        const treacle_array* array = &r->loaded->arrays[a];
        bool is_valid = false;
        uint64_t needed = frame_chunks_of(frame_array_bytes(array, &is_valid));
        const uint8_t* record = r->tables + (size_t)a * FRAME_ARRAY_BYTES;
        uint64_t claimed = frame_get_u64(record, FRAME_ARRAY_AT_CHUNKS);
        if (claimed != needed || needed > r->chunk_count - expected) {
            return damaged(r, "array '%s' claims %llu chunks, its %lld items need %llu",
                           array->name, (unsigned long long)claimed, (long long)array->count,
                           (unsigned long long)needed);
        }
        expected += needed;
    }
    if (expected != r->chunk_count) {
        return damaged(r, "the head claims %llu chunks, the arrays need %llu",
                       (unsigned long long)r->chunk_count, (unsigned long long)expected);
    }
    return TREACLE_OK;
}

static chunk unpack_chunk(const reader* r, uint64_t number) {
    size_t table = (size_t)r->loaded->frame.array_count * FRAME_ARRAY_BYTES;
    const uint8_t* record = r->tables + table + (size_t)number * FRAME_CHUNK_BYTES;
    return (chunk){
        .stored_bytes = frame_get_u32(record, FRAME_CHUNK_AT_STORED),
        .raw_bytes = frame_get_u32(record, FRAME_CHUNK_AT_RAW) & ((1u << FRAME_CODING_SHIFT) - 1),
        .coding = (frame_coding)(frame_get_u32(record, FRAME_CHUNK_AT_RAW) >> FRAME_CODING_SHIFT),
        .checksum = frame_get_u64(record, FRAME_CHUNK_AT_CHECKSUM),
    };
}

// One chunk against the array it belongs to; `rest` bytes of the array are still to come.
static treacle_status check_chunk(const reader* r, const chunk* c, int a, uint64_t rest) {
    uint64_t expected = rest < FRAME_CHUNK_RAW ? rest : FRAME_CHUNK_RAW;
    bool is_possible = c->raw_bytes == expected && c->stored_bytes <= FRAME_CHUNK_STORED_MAX &&
                       c->stored_bytes >= BLOSC_MIN_HEADER_LENGTH &&
                       (uint64_t)c->stored_bytes * FRAME_RATIO_MAX >= c->raw_bytes;
    if (!is_possible) {
        return damaged(r, "array '%s': a chunk of %u bytes is said to unpack to %u, expected %llu",
                       r->loaded->arrays[a].name, c->stored_bytes, c->raw_bytes,
                       (unsigned long long)expected);
    }
    frame_coding coding = frame_coding_of(&r->loaded->frame, &r->loaded->arrays[a]);
    bool may_be_packed = r->version >= FRAME_VERSION_CODINGS && c->coding == coding;
    if (c->coding != FRAME_PLAIN && !may_be_packed) {
        return damaged(r, "array '%s': a chunk has coding %d, which version %u has not for it",
                       r->loaded->arrays[a].name, (int)c->coding, r->version);
    }
    if (c->offset > r->size || c->stored_bytes > r->size - c->offset) {
        return damaged(r, "the file is cut short: array '%s' goes beyond its %llu bytes",
                       r->loaded->arrays[a].name, (unsigned long long)r->size);
    }
    return TREACLE_OK;
}

static treacle_status lay_out_chunks(reader* r) {
    void* block = NULL;
    r->chunk_capacity = (size_t)r->chunk_count;
    TREACLE_TRY(alloc_zero(r->ctx, r->chunk_capacity, sizeof(chunk), "chunks to read", &block));
    r->chunks = block;
    uint64_t offset = FRAME_HEAD_BYTES + r->table_bytes;
    uint64_t number = 0;
    for (int a = 0; a < r->loaded->frame.array_count; ++a) {
        bool is_valid = false;
        uint64_t rest = frame_array_bytes(&r->loaded->arrays[a], &is_valid);
        while (rest > 0) {
            chunk c = unpack_chunk(r, number);
            c.offset = offset;
            c.array = a;
            TREACLE_TRY(check_chunk(r, &c, a, rest));
            r->chunks[number++] = c;
            offset += c.stored_bytes;
            rest -= c.raw_bytes;
        }
    }
    if (offset != r->size) {
        return damaged(r, "the file has %llu bytes after its end",
                       (unsigned long long)(r->size - offset));
    }
    return TREACLE_OK;
}

// Only now that all sizes are known to be true is memory taken for the arrays.
static treacle_status reserve_arrays(reader* r) {
    uint64_t number = 0;
    for (int a = 0; a < r->loaded->frame.array_count; ++a) {
        treacle_array* array = &r->loaded->arrays[a];
        bool is_valid = false;
        uint64_t bytes = frame_array_bytes(array, &is_valid);
        void* block = NULL;
        TREACLE_TRY(alloc_array(r->ctx, (size_t)bytes, 1, array->name, &block));
        array->data = block;
        for (uint64_t at = 0; at < bytes; at += FRAME_CHUNK_RAW) {
            r->chunks[number++].to = (uint8_t*)block + at;
        }
    }
    return TREACLE_OK;
}

// blosc checks its own offsets, but trusts the caller with the sizes.
static fault unpack_chunk_bytes(const chunk* c, const uint8_t* stored, uint8_t* packed) {
    size_t raw = 0;
    size_t compressed = 0;
    size_t block = 0;
    blosc_cbuffer_sizes(stored, &raw, &compressed, &block);
    size_t valid = 0;
    bool is_packed = c->coding != FRAME_PLAIN;
    if (compressed != c->stored_bytes || (is_packed ? raw > c->raw_bytes : raw != c->raw_bytes) ||
        blosc_cbuffer_validate(stored, c->stored_bytes, &valid) != 0 || valid != raw) {
        return FAULT_UNPACK;
    }
    int got = blosc_decompress_ctx(stored, is_packed ? packed : c->to, raw, 1);
    if (got < 0 || (size_t)got != raw) {
        return FAULT_UNPACK;
    }
    bool is_good = !is_packed || frame_coding_unpack(c->coding, packed, raw, c->to, c->raw_bytes);
    return is_good ? FAULT_NONE : FAULT_UNPACK;
}

// The bytes of a chunk as they are in the file, with what is wrong with them.
static bool read_chunk(const reader* r, chunk* c, uint8_t* stored) {
    c->error = read_at(r, c->offset, stored, c->stored_bytes);
    c->found = c->error != 0                                         ? FAULT_READ
               : XXH3_64bits(stored, c->stored_bytes) != c->checksum ? FAULT_CHECKSUM
                                                                     : FAULT_NONE;
    return c->found == FAULT_NONE;
}

// Unpacks those of the chunks from r->first on that are not here yet.
static void unpack_chunks(void* data, int64_t begin, int64_t end) {
    reader* r = data;
    uint8_t* stored = r->scratch + (size_t)parallel_worker() * SCRATCH_BYTES;
    for (int64_t i = begin; i < end; ++i) {
        chunk* c = &r->chunks[r->first + i];
        if (!c->is_here && read_chunk(r, c, stored)) {
            c->found = unpack_chunk_bytes(c, stored, stored + FRAME_CHUNK_STORED_MAX);
            c->is_here = c->found == FAULT_NONE;
        }
    }
}

static void check_chunks(void* data, int64_t begin, int64_t end) {
    reader* r = data;
    uint8_t* stored = r->scratch + (size_t)parallel_worker() * SCRATCH_BYTES;
    for (int64_t i = begin; i < end; ++i) {
        (void)!read_chunk(r, &r->chunks[r->first + i], stored);
    }
}

static treacle_status report_chunk(const reader* r, const chunk* c) {
    const treacle_array* array = &r->loaded->arrays[c->array];
    long long index = (long long)((c->to - (const uint8_t*)array->data) / FRAME_CHUNK_RAW);
    switch (c->found) {
    case FAULT_READ:
        return check_fail(r->ctx, TREACLE_ERR_IO, "%s: cannot read chunk %lld of array '%s': %s",
                          r->name, index, array->name, strerror(c->error));
    case FAULT_CHECKSUM:
        return damaged(r, "array '%s' is damaged: the checksum of chunk %lld does not match",
                       array->name, index);
    case FAULT_UNPACK:
        return damaged(r, "array '%s' is damaged: chunk %lld does not unpack", array->name, index);
    case FAULT_NONE:
        break;
    }
    return TREACLE_OK;
}

// Goes through chunks first .. end - 1, and says what is wrong with the first that is not good.
static treacle_status go_through(reader* r, int64_t first, int64_t end, parallel_fcn* fcn) {
    void* block = NULL;
    size_t threads = (size_t)r->ctx->threads;
    TREACLE_TRY(
        alloc_array(r->ctx, threads, SCRATCH_BYTES, "chunks as they are in the file", &block));
    r->scratch = block;
    r->first = first;
    parallel_for(r->ctx, end - first, 1, fcn, r);
    alloc_free(r->ctx, block, threads * SCRATCH_BYTES);
    treacle_status status = TREACLE_OK;
    for (int64_t i = first; i < end && status == TREACLE_OK; ++i) {
        status = report_chunk(r, &r->chunks[i]);
    }
    return status;
}

// Everything but what is in the arrays.
static treacle_status read_front(reader* r) {
    uint32_t array_count = 0;
    TREACLE_TRY(read_head(r, &array_count));
    TREACLE_TRY(read_tables(r, array_count));
    TREACLE_TRY(unpack_arrays(r, array_count));
    TREACLE_TRY(check_chunk_counts(r));
    TREACLE_TRY(lay_out_chunks(r));
    return reserve_arrays(r);
}

// Reads the front and lets `go_on` do the rest.
static treacle_status frame_read_load(reader* r, treacle_status (*go_on)(reader* r),
                                      treacle_loaded_frame** out) {
    void* block = NULL;
    TREACLE_TRY(alloc_zero(r->ctx, 1, sizeof(treacle_loaded_frame), "a frame", &block));
    r->loaded = block;
    r->loaded->ctx = r->ctx;
    r->loaded->fd = -1;
    treacle_status status = read_front(r);
    if (status == TREACLE_OK) {
        status = go_on(r);
    }
    alloc_free(r->ctx, r->tables, r->table_bytes);
    alloc_free(r->ctx, r->chunks, r->chunk_capacity * sizeof(chunk));
    if (status == TREACLE_OK) {
        *out = r->loaded;
    } else {
        treacle_loaded_frame_destroy(r->loaded);
    }
    return status;
}

static treacle_status read_all(reader* r) {
    return go_through(r, 0, (int64_t)r->chunk_count, unpack_chunks);
}

// Checks a rank's part; the loaded frame keeps what it needs to unpack later.
static treacle_status check_part(reader* r) {
    int64_t rank = comm_rank(r->ctx), size = comm_size(r->ctx), all = (int64_t)r->chunk_count;
    TREACLE_TRY(go_through(r, all * rank / size, all * (rank + 1) / size, check_chunks));
    treacle_loaded_frame* loaded = r->loaded;
    TREACLE_TRY(alloc_text(r->ctx, r->name, &loaded->path));
    loaded->fd = r->fd;
    loaded->size = r->size;
    loaded->chunks = r->chunks;
    loaded->chunk_count = r->chunk_capacity;
    loaded->frame.source = loaded;
    r->fd = -1;
    r->chunks = NULL;
    return TREACLE_OK;
}

treacle_status frame_parse(treacle_context* ctx, const char* name, const uint8_t* bytes,
                           size_t size, treacle_loaded_frame** out) {
    TREACLE_ASSERT(name != NULL && (bytes != NULL || size == 0));
    *out = NULL;
    reader r = {.ctx = ctx, .name = name, .memory = bytes, .fd = -1, .size = size};
    return frame_read_load(&r, read_all, out);
}

static treacle_status load_file(treacle_context* ctx, const char* path,
                                treacle_status (*go_on)(reader* r), treacle_loaded_frame** out) {
    *out = NULL;
    reader r = {.ctx = ctx, .name = path};
    r.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    if (r.fd < 0 || fstat(r.fd, &about) != 0) {
        int error = errno;
        if (r.fd >= 0) {
            close(r.fd);
        }
        return check_fail(ctx, TREACLE_ERR_IO, "%s: cannot open: %s", path, strerror(error));
    }
    treacle_status status = TREACLE_OK;
    if (S_ISREG(about.st_mode)) {
        r.size = (uint64_t)about.st_size;
        status = frame_read_load(&r, go_on, out);
    } else {
        status = check_fail(ctx, TREACLE_ERR_IO, "%s: this is %s, not a file", path,
                            S_ISDIR(about.st_mode) ? "a folder" : "a device or pipe");
    }
    if (r.fd >= 0) {
        close(r.fd);
    }
    return status;
}

treacle_status treacle_frame_read(treacle_context* ctx, const char* path,
                                  treacle_loaded_frame** out) {
    return load_file(ctx, path, read_all, out);
}

treacle_status treacle_frame_open(treacle_context* ctx, const char* path,
                                  treacle_loaded_frame** out) {
    treacle_status status = comm_agree(ctx, load_file(ctx, path, check_part, out));
    if (status != TREACLE_OK) {
        treacle_loaded_frame_destroy(*out);
        *out = NULL;
    }
    return status;
}

treacle_status treacle_loaded_frame_fetch(treacle_loaded_frame* loaded, const char* name,
                                          int64_t first, int64_t end) {
    const treacle_array* array = treacle_frame_find(&loaded->frame, name);
    if (array == NULL || first < 0 || end > array->count) {
        return check_fail(loaded->ctx, TREACLE_ERR_USAGE,
                          "items %lld to %lld of array '%s' are not in the frame", (long long)first,
                          (long long)end - 1, name);
    }
    if (loaded->chunks == NULL || first >= end) {
        return TREACLE_OK;
    }
    uint64_t item = treacle_type_size(array->type) * (uint64_t)array->components;
    int64_t before = 0; // chunks of the arrays before it
    while (loaded->chunks[before].array != array - loaded->arrays) {
        before += 1;
    }
    reader r = {.ctx = loaded->ctx,
                .name = loaded->path,
                .fd = loaded->fd,
                .size = loaded->size,
                .loaded = loaded,
                .chunks = loaded->chunks};
    int64_t low = (int64_t)((uint64_t)first * item / FRAME_CHUNK_RAW);
    int64_t high = (int64_t)frame_chunks_of((uint64_t)end * item);
    return go_through(&r, before + low, before + high, unpack_chunks);
}

const treacle_frame* treacle_loaded_frame_view(const treacle_loaded_frame* loaded) {
    return &loaded->frame;
}

void treacle_loaded_frame_destroy(treacle_loaded_frame* loaded) {
    if (loaded == NULL) {
        return;
    }
    treacle_context* ctx = loaded->ctx;
    if (loaded->fd >= 0) {
        close(loaded->fd);
    }
    alloc_free_text(ctx, loaded->path);
    alloc_free(ctx, loaded->chunks, loaded->chunk_count * sizeof(chunk));
    for (int a = 0; a < loaded->frame.array_count; ++a) {
        treacle_array* array = &loaded->arrays[a];
        bool is_valid = false;
        uint64_t bytes = frame_array_bytes(array, &is_valid);
        alloc_free(ctx, (void*)array->data, (size_t)bytes);
    }
    alloc_free(ctx, loaded->arrays, (size_t)loaded->frame.array_count * sizeof(treacle_array));
    alloc_free(ctx, loaded, sizeof(*loaded));
}
