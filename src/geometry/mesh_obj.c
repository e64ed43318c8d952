// Wavefront OBJ: lines "v x y z" and "f a b c ..."; a corner is v, v/vt, v//vn or v/vt/vn, counted
// from 1, or from the last vertex so far if it is negative. All other lines are passed over.
#include "geometry/mesh_input.h"

static size_t count_vertices(const mesh_input* in) {
    mesh_text text;
    mesh_span line, word;
    size_t count = 0;
    mesh_text_init(&text, in);
    text.has_continuations = true;
    while (mesh_text_line(&text, &line)) {
        count += mesh_span_word(&line, &word) && mesh_span_is(word, "v");
    }
    return count;
}

// A corner's vertex, from 0. `total` is the count of the whole file: faces may come first.
static treacle_status read_corner(const mesh_input* in, int64_t line, mesh_span corner,
                                  const int64_t count[2], int32_t* out) {
    mesh_place place = {.line = line};
    mesh_span number = corner;
    int64_t index = 0;
    for (const char* c = corner.end; c > corner.begin; --c) {
        number.end = c[-1] == '/' ? c - 1 : number.end;
    }
    if (!mesh_span_int(number, &index) || index == 0) {
        return mesh_fail(in, place,
                         "expected a corner such as 3, 3/1 or 3/1/2, counted from 1; got '%.*s'",
                         mesh_span_length(corner), corner.begin);
    }
    int64_t from_zero = index > 0 ? index - 1 : count[0] + index;
    if (from_zero < 0 || from_zero >= count[1]) {
        return mesh_fail(in, place, "a face names the vertex %lld, but there are %lld",
                         (long long)index, (long long)(index > 0 ? count[1] : count[0]));
    }
    *out = (int32_t)from_zero;
    return TREACLE_OK;
}

static treacle_status read_face(const mesh_input* in, int64_t line, mesh_span rest, size_t total,
                                mesh_builder* out) {
    const int64_t count[2] = {(int64_t)out->vertex_count, (int64_t)total};
    mesh_fan fan = {0};
    mesh_span corner;
    while (mesh_span_word(&rest, &corner)) {
        int32_t vertex = 0;
        TREACLE_TRY(read_corner(in, line, corner, count, &vertex));
        TREACLE_TRY(mesh_fan_add(&fan, out, vertex));
        if (fan.corners > MESH_CORNERS_MAX) {
            return mesh_fail(in, (mesh_place){.line = line},
                             "a face has more than %d corners; cut it into triangles",
                             MESH_CORNERS_MAX);
        }
    }
    if (fan.corners < 3) {
        return mesh_fail(in, (mesh_place){.line = line},
                         "a face has %lld corners; at least 3 are expected",
                         (long long)fan.corners);
    }
    return TREACLE_OK;
}

treacle_status mesh_obj_read(const mesh_input* in, mesh_builder* out) {
    mesh_text text;
    mesh_span line, word;
    size_t total = count_vertices(in);
    TREACLE_TRY(mesh_builder_reserve(out, total));
    mesh_text_init(&text, in);
    text.has_continuations = true;
    while (mesh_text_line(&text, &line)) {
        if (!mesh_span_word(&line, &word)) {
            continue;
        }
        if (mesh_span_is(word, "v")) {
            vec3 x = {{0.0, 0.0, 0.0}};
            TREACLE_TRY(mesh_span_vertex(in, text.line, &line, &x));
            TREACLE_TRY(mesh_builder_add_vertex(out, x));
        } else if (mesh_span_is(word, "f")) {
            TREACLE_TRY(read_face(in, text.line, line, total, out));
        }
    }
    return TREACLE_OK;
}
