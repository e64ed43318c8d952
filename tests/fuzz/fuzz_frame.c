// The frame reader on arbitrary bytes. They are read as they are, and once more with the magic and
// all checksums made right, because no fuzzer finds those by itself.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cache/frame_format.h"
#include "cache/frame_read.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void silent(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static void read_bytes(const uint8_t* bytes, size_t size) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = silent;
    treacle_context* ctx = NULL;
    if (treacle_context_create(&def, &ctx) != TREACLE_OK) {
        return;
    }
    treacle_loaded_frame* loaded = NULL;
    if (frame_parse(ctx, "fuzz", bytes, size, &loaded) == TREACLE_OK) {
        // Touch the end of every array.
        const treacle_frame* frame = treacle_loaded_frame_view(loaded);
        for (int i = 0; i < frame->array_count; ++i) {
            bool is_valid = false;
            uint64_t n = frame_array_bytes(&frame->arrays[i], &is_valid);
            const volatile uint8_t* at = frame->arrays[i].data;
            if (n > 0) {
                (void)at[n - 1];
            }
        }
    }
    treacle_loaded_frame_destroy(loaded);
    if (treacle_context_memory(ctx) != 0) {
        abort();
    }
    treacle_context_destroy(ctx);
}

// Puts right what the tables, as they are, let one find.
static void sign(uint8_t* bytes, size_t size) {
    if (size < FRAME_HEAD_BYTES) {
        return;
    }
    memcpy(bytes, frame_magic, sizeof(frame_magic));
    frame_put_u32(bytes, FRAME_AT_VERSION, FRAME_VERSION);
    frame_put_u32(bytes, FRAME_AT_CHUNK_RAW, FRAME_CHUNK_RAW);
    frame_put_u32(bytes, FRAME_AT_RESERVED, 0);
    frame_put_u64(bytes, FRAME_AT_CHECKSUM, XXH3_64bits(bytes, FRAME_AT_CHECKSUM));
    uint64_t arrays = (uint64_t)frame_get_u32(bytes, FRAME_AT_ARRAY_COUNT) * FRAME_ARRAY_BYTES;
    uint64_t chunks = frame_get_u64(bytes, FRAME_AT_CHUNK_COUNT);
    uint64_t room = size - FRAME_HEAD_BYTES;
    if (chunks > room / FRAME_CHUNK_BYTES ||
        arrays + chunks * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES > room) {
        return;
    }
    uint8_t* table = bytes + FRAME_HEAD_BYTES;
    size_t covered = (size_t)(arrays + chunks * FRAME_CHUNK_BYTES);
    size_t at = FRAME_HEAD_BYTES + covered + FRAME_CHECKSUM_BYTES;
    for (uint64_t i = 0; i < chunks; ++i) {
        uint8_t* record = table + arrays + i * FRAME_CHUNK_BYTES;
        uint32_t stored = frame_get_u32(record, FRAME_CHUNK_AT_STORED);
        if (stored > size - at) {
            break;
        }
        frame_put_u64(record, FRAME_CHUNK_AT_CHECKSUM, XXH3_64bits(bytes + at, stored));
        at += stored;
    }
    frame_put_u64(table + covered, 0, XXH3_64bits(table, covered));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    read_bytes(data, size);
    uint8_t* copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, data, size);
        sign(copy, size);
        read_bytes(copy, size);
    }
    free(copy);
    return 0;
}
