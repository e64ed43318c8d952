// What the readers of mesh files share: the bytes, the mesh that grows, words of text, complaints.
//
// A reader turns the bytes of one format into vertices and triangles. It trusts nothing: counts of
// a header are held against the size of the file before anything is allocated, indices against the
// count of vertices, and every complaint names the file and the line, or the byte of a binary file.
#pragma once

#include "base/context.h"
#include "math/vec3.h"

typedef struct mesh_input {
    treacle_context* ctx;
    const char* name; // of the file, for messages
    const uint8_t* data;
    size_t size;
} mesh_input;

typedef struct mesh_triangle {
    int32_t at[3]; // vertices, counter-clockwise seen from outside
} mesh_triangle;

/// The mesh as the file says it, growing.
typedef struct mesh_builder {
    treacle_context* ctx;
    vec3* vertices;
    size_t vertex_count, vertex_capacity;
    mesh_triangle* triangles;
    size_t triangle_count, triangle_capacity;
    uint64_t beside; // a hash of what the file took from others, 0 for nothing
} mesh_builder;

void mesh_builder_init(mesh_builder* b, treacle_context* ctx);
void mesh_builder_finish(mesh_builder* b);
/// Makes room; the caller has held `count` against the size of the file.
treacle_status mesh_builder_reserve(mesh_builder* b, size_t count) TREACLE_NODISCARD;
treacle_status mesh_builder_add_vertex(mesh_builder* b, vec3 x) TREACLE_NODISCARD;

/// A polygon, corner by corner, as a fan of triangles around the first. They lie on each other's
/// boxes there, so a search among them is no faster than through a list: readers refuse more.
enum { MESH_CORNERS_MAX = 4096 };
typedef struct mesh_fan {
    int32_t first, previous;
    int64_t corners;
} mesh_fan;
treacle_status mesh_fan_add(mesh_fan* fan, mesh_builder* b, int32_t vertex) TREACLE_NODISCARD;

/// The bytes of a plain file, in a block of `capacity`.
treacle_status mesh_bytes_load(treacle_context* ctx, const char* path, void** block,
                               size_t* capacity, size_t* size) TREACLE_NODISCARD;

/// Where in a file. `line` 0: at a byte.
typedef struct mesh_place {
    int64_t line; // from 1
    size_t byte;  // from 0
} mesh_place;
/// ERR_FORMAT: "name:12: sentence", or "name, byte 340: sentence".
treacle_status mesh_fail(const mesh_input* in, mesh_place place, const char* format, ...)
    TREACLE_PRINTF(3, 4);
/// OK if the numbers are finite and not absurdly large.
treacle_status mesh_check_vertex(const mesh_input* in, mesh_place place, vec3 x) TREACLE_NODISCARD;

// Words of a text file. They are not NUL-terminated.
typedef struct mesh_span {
    const char *begin, *end;
} mesh_span;

typedef struct mesh_text {
    const char *at, *end;
    int64_t line, next_line; // of the span that was handed out last, and of `at`
    bool has_continuations;  // a backslash at the end of a line joins it with the next
} mesh_text;

void mesh_text_init(mesh_text* t, const mesh_input* in);
/// The next line, without its end; false after the last.
bool mesh_text_line(mesh_text* t, mesh_span* out);
/// Takes the next word off a line; false if there is none.
bool mesh_span_word(mesh_span* rest, mesh_span* out);
bool mesh_span_is(mesh_span word, const char* text);
/// The whole word is a number; "nan" and "inf" are, too. The locale does not matter.
bool mesh_span_real(mesh_span word, double* out);
/// The whole word is a whole number that fits.
bool mesh_span_int(mesh_span word, int64_t* out);
/// Takes three numbers off a line and checks them as a vertex.
treacle_status mesh_span_vertex(const mesh_input* in, int64_t line, mesh_span* rest,
                                vec3* out) TREACLE_NODISCARD;
/// For "%.*s": at most 40 characters.
int mesh_span_length(mesh_span word);

// The readers. What a file does not have is not an error here: an empty builder is for the caller.
typedef treacle_status mesh_read_fcn(const mesh_input* in, mesh_builder* out);
mesh_read_fcn mesh_ply_read, mesh_obj_read, mesh_stl_read;
/// Buffers may be in files beside that of the input's name.
mesh_read_fcn mesh_gltf_read;
/// The zero surface of the first level set, by OpenVDB; ERR_FORMAT in a build without it.
mesh_read_fcn mesh_vdb_read;
