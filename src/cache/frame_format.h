// The layout of a frame file, version 2. docs/formats/frame.md is the normative text.
//
//     0            head           FRAME_HEAD_BYTES, ends in its own checksum
//     128          array table    array_count records of FRAME_ARRAY_BYTES
//                  chunk table    one record of FRAME_CHUNK_BYTES a chunk, arrays in order
//                  checksum       of both tables, 8 bytes
//                  chunks         blosc buffers, one after the other, to the end of the file
//
// There are no gaps and no bytes without a checksum. An array's bytes are cut into chunks of
// FRAME_CHUNK_RAW; the last one holds the rest. Everything is little endian. Version 1 is the same
// without codings (cache/frame_coding.h): all chunks are plain.
#pragma once

#include <stdint.h>
#include <string.h>

#include "treacle/cache.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frame files are little endian and written as they lie in memory"
#endif

enum {
    FRAME_VERSION = 2,
    FRAME_VERSION_CODINGS = 2, // the first that has them
    FRAME_HEAD_BYTES = 128,
    FRAME_ARRAY_BYTES = 48,
    FRAME_CHUNK_BYTES = 16,
    FRAME_CHECKSUM_BYTES = 8,
    FRAME_CHUNK_RAW = 1 << 20,
    FRAME_CHUNK_STORED_MAX = FRAME_CHUNK_RAW + 16, // blosc adds at most its own head
    FRAME_RATIO_MAX = 255,                         // LZ4 cannot pack tighter than this
    FRAME_ARRAYS_MAX = 4096,
    FRAME_COMPONENTS_MAX = 16,
    FRAME_NAME_BYTES = 24,
};

// Where the fields of the head are.
enum {
    FRAME_AT_MAGIC = 0,         // 8 bytes
    FRAME_AT_VERSION = 8,       // u32
    FRAME_AT_KIND = 12,         // u32
    FRAME_AT_NUMBER = 16,       // i64
    FRAME_AT_STEP = 24,         // i64
    FRAME_AT_TIME = 32,         // f64
    FRAME_AT_FPS = 40,          // f64
    FRAME_AT_ORIGIN = 48,       // f64 x 3
    FRAME_AT_CELL = 72,         // f64
    FRAME_AT_CELLS = 80,        // i32 x 3
    FRAME_AT_ARRAY_COUNT = 92,  // u32
    FRAME_AT_SCENE_HASH = 96,   // u64
    FRAME_AT_CHUNK_COUNT = 104, // u64
    FRAME_AT_CHUNK_RAW = 112,   // u32, FRAME_CHUNK_RAW
    FRAME_AT_RESERVED = 116,    // u32, 0
    FRAME_AT_CHECKSUM = 120,    // u64, XXH3-64 of the bytes before it
};

// Where the fields of an array record are.
enum {
    FRAME_ARRAY_AT_NAME = 0,        // 24 bytes, filled up with NUL
    FRAME_ARRAY_AT_TYPE = 24,       // u32
    FRAME_ARRAY_AT_COMPONENTS = 28, // u32
    FRAME_ARRAY_AT_COUNT = 32,      // i64
    FRAME_ARRAY_AT_CHUNKS = 40,     // u64
};

// Where the fields of a chunk record are.
enum {
    FRAME_CHUNK_AT_STORED = 0,   // u32, bytes in the file
    FRAME_CHUNK_AT_RAW = 4,      // u32, bytes of the array; above FRAME_CODING_SHIFT its coding
    FRAME_CHUNK_AT_CHECKSUM = 8, // u64, XXH3-64 of the stored bytes
};

enum { FRAME_CODING_SHIFT = 24 };

extern const uint8_t frame_magic[8];

/// Bytes of the whole array, 0 where that does not fit into int64 or the description is wrong.
/// An array of no items has 0 bytes too; `*is_valid` tells the cases apart.
uint64_t frame_array_bytes(const treacle_array* array, bool* is_valid);
static inline uint64_t frame_chunks_of(uint64_t bytes) {
    return bytes / FRAME_CHUNK_RAW + (bytes % FRAME_CHUNK_RAW != 0);
}

/// Checks what reader and writer both insist on: kind, finite numbers, array names and shapes.
/// Returns NULL, or what is wrong, in `text` of `size` bytes.
const char* frame_find_fault(const treacle_frame* frame, char* text, size_t size);

/// Whether a frame that we make is one that we would read: no fault, and the arrays of particles
/// and tiles as long as each other say. What a caller hands over is for frame_find_fault.
bool frame_is_valid(const treacle_frame* frame);

static inline void frame_put(uint8_t* record, int at, const void* value, size_t size) {
    memcpy(record + at, value, size);
}
static inline void frame_put_u32(uint8_t* record, int at, uint32_t value) {
    memcpy(record + at, &value, sizeof(value));
}
static inline void frame_put_u64(uint8_t* record, int at, uint64_t value) {
    memcpy(record + at, &value, sizeof(value));
}
static inline void frame_get(const uint8_t* record, int at, void* value, size_t size) {
    memcpy(value, record + at, size);
}
static inline uint32_t frame_get_u32(const uint8_t* record, int at) {
    uint32_t value = 0;
    memcpy(&value, record + at, sizeof(value));
    return value;
}
static inline uint64_t frame_get_u64(const uint8_t* record, int at) {
    uint64_t value = 0;
    memcpy(&value, record + at, sizeof(value));
    return value;
}
