#include "geometry/mesh_input.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    NUMBER_LENGTH_MAX = 127,
    MESSAGE_MAX = 512,
    QUOTE_MAX = 40,
    COUNT_MAX = 1 << 30, // of vertices and of triangles
};

// Products of four coordinates must stay finite.
static const double coordinate_max = 1e30;

// Building ----------------------------------------------------------------------------------------

void mesh_builder_init(mesh_builder* b, treacle_context* ctx) {
    TREACLE_ASSERT(ctx != NULL);
    *b = (mesh_builder){.ctx = ctx};
}

void mesh_builder_finish(mesh_builder* b) {
    if (b->vertices != NULL) {
        alloc_free(b->ctx, b->vertices, b->vertex_capacity * sizeof(vec3));
    }
    if (b->triangles != NULL) {
        alloc_free(b->ctx, b->triangles, b->triangle_capacity * sizeof(mesh_triangle));
    }
    *b = (mesh_builder){.ctx = b->ctx};
}

// One more item will fit.
static treacle_status make_room(mesh_builder* b, void** block, size_t* capacity, size_t bytes) {
    size_t larger = *capacity == 0 ? 64 : *capacity + *capacity / 2;
    if (*capacity >= COUNT_MAX) {
        return check_fail(b->ctx, TREACLE_ERR_LIMIT,
                          "a mesh may have %d vertices and as many triangles", COUNT_MAX);
    }
    TREACLE_TRY(alloc_resize(b->ctx, block, *capacity, larger, bytes, "a mesh"));
    *capacity = larger;
    return TREACLE_OK;
}

treacle_status mesh_builder_reserve(mesh_builder* b, size_t count) {
    TREACLE_ASSERT(b->vertex_count <= b->vertex_capacity);
    if (count <= b->vertex_capacity || count > COUNT_MAX) {
        return TREACLE_OK;
    }
    void* block = b->vertices;
    TREACLE_TRY(alloc_resize(b->ctx, &block, b->vertex_capacity, count, sizeof(vec3),
                             "the vertices of a mesh"));
    b->vertices = block;
    b->vertex_capacity = count;
    return TREACLE_OK;
}

treacle_status mesh_builder_add_vertex(mesh_builder* b, vec3 x) {
    TREACLE_ASSERT(b->vertex_count <= b->vertex_capacity);
    TREACLE_ASSERT(vec3_is_finite(x));
    if (b->vertex_count == b->vertex_capacity) {
        void* block = b->vertices;
        TREACLE_TRY(make_room(b, &block, &b->vertex_capacity, sizeof(vec3)));
        b->vertices = block;
    }
    b->vertices[b->vertex_count] = x;
    b->vertex_count += 1;
    return TREACLE_OK;
}

static treacle_status add_triangle(mesh_builder* b, mesh_triangle triangle) {
    if (b->triangle_count == b->triangle_capacity) {
        void* block = b->triangles;
        TREACLE_TRY(make_room(b, &block, &b->triangle_capacity, sizeof(mesh_triangle)));
        b->triangles = block;
    }
    b->triangles[b->triangle_count] = triangle;
    b->triangle_count += 1;
    return TREACLE_OK;
}

treacle_status mesh_fan_add(mesh_fan* fan, mesh_builder* b, int32_t vertex) {
    TREACLE_ASSERT(vertex >= 0 && b->ctx != NULL);
    TREACLE_ASSERT(fan->corners >= 0 && fan->corners < MESH_CORNERS_MAX);
    fan->corners += 1;
    if (fan->corners == 1) {
        fan->first = vertex;
    } else if (fan->corners > 2) {
        TREACLE_TRY(add_triangle(b, (mesh_triangle){{fan->first, fan->previous, vertex}}));
    }
    fan->previous = vertex;
    return TREACLE_OK;
}

// Complaints --------------------------------------------------------------------------------------

treacle_status mesh_fail(const mesh_input* in, mesh_place place, const char* format, ...) {
    TREACLE_ASSERT(place.line >= 0 && format != NULL);
    char text[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (place.line > 0) {
        return check_fail(in->ctx, TREACLE_ERR_FORMAT, "%s:%lld: %s", in->name,
                          (long long)place.line, text);
    }
    return check_fail(in->ctx, TREACLE_ERR_FORMAT, "%s, byte %zu: %s", in->name, place.byte, text);
}

treacle_status mesh_check_vertex(const mesh_input* in, mesh_place place, vec3 x) {
    for (int a = 0; a < 3; ++a) {
        if (!(fabs(x.at[a]) <= coordinate_max)) {
            return mesh_fail(in, place,
                             "a vertex is at (%g, %g, %g); coordinates must be numbers of at most "
                             "%g in size",
                             x.at[0], x.at[1], x.at[2], coordinate_max);
        }
    }
    return TREACLE_OK;
}

// Words -------------------------------------------------------------------------------------------

void mesh_text_init(mesh_text* t, const mesh_input* in) {
    TREACLE_ASSERT(in->data != NULL || in->size == 0);
    const char* begin = in->size == 0 ? "" : (const char*)in->data;
    *t = (mesh_text){.at = begin, .end = begin + in->size, .next_line = 1};
}

bool mesh_text_line(mesh_text* t, mesh_span* out) {
    TREACLE_ASSERT(t->at <= t->end);
    t->line = t->next_line;
    *out = (mesh_span){t->at, t->at};
    if (t->at == t->end) {
        return false;
    }
    bool is_joined = true;
    while (is_joined && t->at < t->end) {
        const char* newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
        const char* end = newline == NULL ? t->end : newline;
        const char* last = end > t->at && end[-1] == '\r' ? end - 1 : end;
        is_joined = t->has_continuations && last > t->at && last[-1] == '\\';
        out->end = last;
        t->at = newline == NULL ? t->end : newline + 1;
        t->next_line += 1;
    }
    return true;
}

// The backslash and the ends of lines are there only where lines were joined.
static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\' || c == '\v' || c == '\f';
}

bool mesh_span_word(mesh_span* rest, mesh_span* out) {
    TREACLE_ASSERT(rest->begin <= rest->end);
    const char* at = rest->begin;
    while (at < rest->end && is_space(*at)) {
        at += 1;
    }
    out->begin = at;
    while (at < rest->end && !is_space(*at)) {
        at += 1;
    }
    out->end = at;
    rest->begin = at;
    return out->end > out->begin;
}

bool mesh_span_is(mesh_span word, const char* text) {
    TREACLE_ASSERT(word.begin <= word.end && text != NULL);
    size_t length = (size_t)(word.end - word.begin);
    return length == strlen(text) && memcmp(word.begin, text, length) == 0;
}

int mesh_span_length(mesh_span word) {
    TREACLE_ASSERT(word.begin <= word.end);
    ptrdiff_t length = word.end - word.begin;
    return length < QUOTE_MAX ? (int)length : QUOTE_MAX;
}

static double read_in_c_locale(const char* number, bool* is_whole) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        *is_whole = false;
        return 0.0;
    }
    char* end = NULL;
    double value = strtod_l(number, &end, c_locale);
    *is_whole = end != number && *end == '\0';
    freelocale(c_locale);
    return value;
}

// Plain decimals of few digits, "-12.625": exact, as m and 10^k are both exact doubles.
static bool read_short(mesh_span word, double* out) {
    static const double tens[] = {1.0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char* at = word.begin;
    bool is_negative = at < word.end && *at == '-';
    at += is_negative ? 1 : 0;
    int64_t mantissa = 0;
    int digits = 0, decimals = -1;
    for (; at < word.end && digits <= 15; ++at) {
        if (*at == '.' && decimals < 0) {
            decimals = 0;
        } else if (*at >= '0' && *at <= '9') {
            mantissa = 10 * mantissa + (*at - '0');
            digits += 1;
            decimals += decimals < 0 ? 0 : 1;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > 15) {
        return false;
    }
    double value = (double)mantissa / tens[decimals < 0 ? 0 : decimals];
    *out = is_negative ? -value : value;
    return true;
}

bool mesh_span_real(mesh_span word, double* out) {
    TREACLE_ASSERT(word.begin <= word.end);
    if (read_short(word, out)) {
        return true;
    }
    size_t length = (size_t)(word.end - word.begin);
    if (length == 0 || length > NUMBER_LENGTH_MAX) {
        return false;
    }
    char copy[NUMBER_LENGTH_MAX + 1];
    memcpy(copy, word.begin, length);
    copy[length] = '\0';
    bool is_whole = false;
    double value = read_in_c_locale(copy, &is_whole);
    *out = is_whole ? value : *out;
    return is_whole && strlen(copy) == length;
}

bool mesh_span_int(mesh_span word, int64_t* out) {
    TREACLE_ASSERT(word.begin <= word.end);
    const char* at = word.begin;
    bool is_negative = at < word.end && *at == '-';
    at += at < word.end && (*at == '-' || *at == '+') ? 1 : 0;
    int64_t value = 0;
    if (at == word.end || word.end - at > 18) {
        return false;
    }
    for (; at < word.end; ++at) {
        if (*at < '0' || *at > '9') {
            return false;
        }
        value = 10 * value + (*at - '0');
    }
    *out = is_negative ? -value : value;
    return true;
}

treacle_status mesh_span_vertex(const mesh_input* in, int64_t line, mesh_span* rest, vec3* out) {
    mesh_place place = {.line = line};
    for (int a = 0; a < 3; ++a) {
        mesh_span word;
        if (!mesh_span_word(rest, &word)) {
            return mesh_fail(in, place, "the vertex has no %c; expected three numbers", "xyz"[a]);
        }
        if (!mesh_span_real(word, &out->at[a])) {
            return mesh_fail(in, place, "expected a number for %c of a vertex, got '%.*s'",
                             "xyz"[a], mesh_span_length(word), word.begin);
        }
    }
    return mesh_check_vertex(in, place, *out);
}
