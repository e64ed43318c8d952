// STL, binary and text. Each triangle has its own three vertices; welding makes them one mesh.
//
// A binary file may begin with the word "solid", too: it is told by its size, which is that of its
// count of triangles.
#include <string.h>

#include "base/bytes.h"
#include "geometry/mesh_input.h"

enum { HEAD_BYTES = 80, COUNT_BYTES = 4, TRIANGLE_BYTES = 50, NORMAL_BYTES = 12 };

static treacle_status add_corner(mesh_builder* out, mesh_fan* fan, vec3 x) {
    int32_t index = (int32_t)out->vertex_count;
    TREACLE_TRY(mesh_builder_add_vertex(out, x));
    return mesh_fan_add(fan, out, index);
}

// Binary ------------------------------------------------------------------------------------------

static uint32_t binary_count(const mesh_input* in) {
    byte_reader bytes;
    bytes_reader_init(&bytes, in->data, in->size);
    bytes_skip(&bytes, HEAD_BYTES);
    return bytes_read_u32(&bytes);
}

static treacle_status read_binary(const mesh_input* in, mesh_builder* out) {
    byte_reader bytes;
    uint32_t count = binary_count(in);
    bytes_reader_init(&bytes, in->data, in->size);
    bytes_skip(&bytes, HEAD_BYTES + COUNT_BYTES);
    if (count > bytes_remaining(&bytes) / TRIANGLE_BYTES) {
        return mesh_fail(in, (mesh_place){.byte = HEAD_BYTES},
                         "the file is cut off, or is not an STL file: there should be %u triangles "
                         "of %d bytes, and %zu bytes are left",
                         count, TRIANGLE_BYTES, bytes_remaining(&bytes));
    }
    TREACLE_TRY(mesh_builder_reserve(out, 3 * (size_t)count));
    for (uint32_t i = 0; i < count; ++i) {
        mesh_fan fan = {0};
        bytes_skip(&bytes, NORMAL_BYTES);
        for (int k = 0; k < 3; ++k) {
            mesh_place place = {.byte = bytes.at};
            vec3 x;
            for (int a = 0; a < 3; ++a) {
                x.at[a] = (double)bytes_read_f32(&bytes);
            }
            TREACLE_TRY(mesh_check_vertex(in, place, x));
            TREACLE_TRY(add_corner(out, &fan, x));
        }
        bytes_skip(&bytes, 2); // attributes
    }
    return TREACLE_OK;
}

// Text --------------------------------------------------------------------------------------------

typedef struct facet_state {
    mesh_fan fan;
    bool is_in_facet, is_closed; // closed: an endsolid came
} facet_state;

static treacle_status end_facet(const mesh_input* in, mesh_place place, facet_state* state) {
    if (!state->is_in_facet || state->fan.corners != 3) {
        return mesh_fail(in, place, "a facet has %lld corners; 3 are expected",
                         (long long)state->fan.corners);
    }
    *state = (facet_state){0};
    return TREACLE_OK;
}

static treacle_status read_text_line(const mesh_input* in, int64_t line, mesh_span rest,
                                     facet_state* state, mesh_builder* out) {
    mesh_place place = {.line = line};
    mesh_span word;
    if (!mesh_span_word(&rest, &word) || mesh_span_is(word, "outer") ||
        mesh_span_is(word, "endloop") || mesh_span_is(word, "solid")) {
        return TREACLE_OK;
    }
    if (mesh_span_is(word, "vertex") && state->is_in_facet) {
        vec3 x = {{0.0, 0.0, 0.0}};
        TREACLE_TRY(mesh_span_vertex(in, line, &rest, &x));
        return add_corner(out, &state->fan, x);
    }
    if (mesh_span_is(word, "facet") && !state->is_in_facet) {
        *state = (facet_state){.is_in_facet = true};
        return TREACLE_OK;
    }
    if (mesh_span_is(word, "endfacet")) {
        return end_facet(in, place, state);
    }
    if (mesh_span_is(word, "endsolid") && !state->is_in_facet) {
        state->is_closed = true;
        return TREACLE_OK;
    }
    return mesh_fail(in, place, "expected %s, got '%.*s'; is this an STL file?",
                     state->is_in_facet ? "a vertex or endfacet" : "a facet or endsolid",
                     mesh_span_length(word), word.begin);
}

static treacle_status read_text(const mesh_input* in, mesh_builder* out) {
    mesh_text text;
    mesh_span line;
    facet_state state = {0};
    mesh_text_init(&text, in);
    (void)mesh_text_line(&text, &line); // solid and a name of any words
    while (mesh_text_line(&text, &line)) {
        TREACLE_TRY(read_text_line(in, text.line, line, &state, out));
    }
    if (!state.is_closed) {
        return mesh_fail(in, (mesh_place){.line = text.line},
                         "the file is cut off: it ends without 'endsolid'");
    }
    return TREACLE_OK;
}

treacle_status mesh_stl_read(const mesh_input* in, mesh_builder* out) {
    static const char word[] = "solid";
    bool has_word = in->size >= strlen(word) && memcmp(in->data, word, strlen(word)) == 0;
    bool has_head = in->size >= HEAD_BYTES + COUNT_BYTES;
    bool is_exact = has_head && in->size == HEAD_BYTES + COUNT_BYTES +
                                                TRIANGLE_BYTES * (uint64_t)binary_count(in);
    if (has_word && !is_exact) {
        return read_text(in, out);
    }
    if (!has_head) {
        return mesh_fail(in, (mesh_place){.byte = 0},
                         "this is not an STL file: it does not begin with 'solid', and %zu bytes "
                         "are too few for a binary one",
                         in->size);
    }
    return read_binary(in, out);
}
