// Frames to write and read in tests, a folder for them, and their bytes.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "treacle/cache.h"

enum { FIXTURE_PATH = 300 };

static inline treacle_context* fixture_context(int threads) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

/// A new folder of its own; remove it at the end with rmdir, which proves that it is empty.
static inline void fixture_folder(char folder[FIXTURE_PATH]) {
    const char* base = getenv("TMPDIR");
    snprintf(folder, FIXTURE_PATH, "%.200s/treacle-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
}

static inline treacle_array fixture_array(const char* name, treacle_type type, int components,
                                          int64_t count, const void* data) {
    treacle_array array = {.type = type, .components = components, .count = count, .data = data};
    snprintf(array.name, sizeof(array.name), "%s", name);
    return array;
}

static inline treacle_frame fixture_frame(const treacle_array* arrays, int count) {
    return (treacle_frame){
        .kind = TREACLE_FRAME_STATE,
        .number = 7,
        .step = INT64_C(1) << 40,
        .time = 0.1,
        .fps = 24.0,
        .origin = {-1.0, 0.5, 1e-3},
        .cell = 0.01,
        .cells = {64, 32, 1},
        .scene_hash = UINT64_C(0xfedcba9876543210),
        .array_count = count,
        .arrays = arrays,
    };
}

/// Bytes that LZ4 packs a little, the same every time.
static inline uint8_t* fixture_noise(size_t size) {
    uint8_t* noise = malloc(size);
    assert_non_null(noise);
    uint64_t x = 1;
    for (size_t i = 0; i < size; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (uint8_t)(x >> (i % 4 == 3 ? 62 : 56));
    }
    return noise;
}

/// The bytes of a file; free() them.
static inline size_t fixture_bytes(const char* path, uint8_t** out) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *out = malloc(size + 1);
    assert_non_null(*out);
    assert_int_equal(fread(*out, 1, size, file), size);
    fclose(file);
    return size;
}
