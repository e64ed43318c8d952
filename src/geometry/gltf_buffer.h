// The bytes behind a glTF file: its binary part, texts in base64, files beside it. And its
// accessors: runs of numbers in them.
#pragma once

#include <jansson.h>

#include "geometry/mesh_input.h"

typedef struct gltf_buffer {
    const uint8_t* bytes; // NULL: not read yet
    size_t size;
    void* owned; // a block of `capacity` bytes, or NULL
    size_t capacity;
} gltf_buffer;

typedef struct gltf_file {
    const mesh_input* in;
    json_t* root;
    const uint8_t* binary; // of a .glb; NULL: none
    size_t binary_size;
    size_t buffer_count;
    gltf_buffer* buffers;
    uint64_t beside; // a hash of what came from other files
} gltf_file;

/// `count` items of `components` numbers each.
typedef struct gltf_accessor {
    const uint8_t* bytes;
    size_t count, stride;
    int type; // of a component, as glTF numbers them
    int components;
    bool is_normalised;
} gltf_accessor;

/// Takes a .glb apart, or reads a .gltf. Close it, whatever came of it.
treacle_status gltf_open(const mesh_input* in, gltf_file* out) TREACLE_NODISCARD;
void gltf_close(gltf_file* file);

/// "file, byte 0: sentence": JSON keeps no places.
treacle_status gltf_fail(const gltf_file* file, const char* format, ...) TREACLE_PRINTF(2, 3);
/// The item of a list of the file's ("nodes"), NULL if there is none.
json_t* gltf_item(const gltf_file* file, const char* list, const json_t* index);
/// A whole number >= 0 of an object; `missing` if it is not there, -1 if it is something else.
int64_t gltf_whole(const json_t* object, const char* key, int64_t missing);

/// All items lie within the bytes.
treacle_status gltf_accessor_open(gltf_file* file, const json_t* index,
                                  gltf_accessor* out) TREACLE_NODISCARD;
/// Component `c` of item `i`.
double gltf_accessor_at(const gltf_accessor* a, size_t i, int c);
