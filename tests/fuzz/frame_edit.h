// Edits of a frame that a simulation has made, drawn from an input: numbers, counts, types, names,
// the head. Blocks are exactly as long as what is in them, so that a step beyond is seen.
#pragma once

#include <float.h>
#include <math.h>

#include "fuzz.h"
#include "treacle/cache.h"

enum { FRAME_EDIT_ARRAYS = 64, FRAME_EDIT_ITEMS = 4096, FRAME_EDITS_MAX = 16 };

typedef struct frame_edit {
    treacle_frame frame;
    treacle_array arrays[FRAME_EDIT_ARRAYS];
    bool is_own[FRAME_EDIT_ARRAYS]; // its data was allocated here
} frame_edit;

static inline size_t frame_edit_item(const treacle_array* array) {
    return treacle_type_size(array->type) * (size_t)array->components;
}

static inline void* frame_edit_copy(const void* data, size_t bytes) {
    void* out = malloc(bytes > 0 ? bytes : 1);
    fuzz_check(out != NULL);
    if (bytes > 0) {
        memcpy(out, data, bytes);
    }
    return out;
}

static inline void frame_edit_own(frame_edit* e, int k) {
    treacle_array* array = &e->arrays[k];
    if (!e->is_own[k]) {
        array->data = frame_edit_copy(array->data, (size_t)array->count * frame_edit_item(array));
        e->is_own[k] = true;
    }
}

// Numbers that are at the edge of something.
static inline double frame_edit_edge_number(fuzz_choices* c) {
    static const double edges[] = {0.0,  -0.0,  1.0,      -1.0,    0.5,     7.99999, 8.0,  63.9,
                                   64.0, 64.5,  1e-30,    1e10,    -1e10,   1e30,    3e38, -3e38,
                                   NAN,  1e-45, INFINITY, DBL_MAX, DBL_MIN, 27.6,    1e5,  -1e-7};
    return edges[fuzz_pick(c, sizeof(edges) / sizeof(edges[0]))];
}

static inline int64_t frame_edit_edge_integer(fuzz_choices* c) {
    static const int64_t edges[] = {
        0,   1,     -1,      2,         3,         7,         8,         255,
        256, 65535, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX / 2};
    return edges[fuzz_pick(c, sizeof(edges) / sizeof(edges[0]))];
}

static inline void frame_edit_number(treacle_array* array, fuzz_choices* c) {
    if (array->count <= 0) {
        return;
    }
    uint64_t at = fuzz_bits(c, 3) % ((uint64_t)array->count * (uint64_t)array->components);
    size_t bytes = treacle_type_size(array->type);
    char* to = (char*)array->data + at * bytes;
    bool is_edge = fuzz_pick(c, 2) == 0;
    uint64_t bits = is_edge ? (uint64_t)frame_edit_edge_integer(c) : fuzz_bits(c, (int)bytes);
    if (array->type == TREACLE_TYPE_F32 && is_edge) {
        float value = (float)frame_edit_edge_number(c);
        memcpy(to, &value, sizeof(value));
    } else if (array->type == TREACLE_TYPE_F64 && is_edge) {
        double value = frame_edit_edge_number(c);
        memcpy(to, &value, sizeof(value));
    } else {
        memcpy(to, &bits, bytes);
    }
}

// Items from the front again where there were too few.
static inline void frame_edit_count(treacle_array* array, fuzz_choices* c) {
    int64_t count = fuzz_pick(c, 2) == 0 ? array->count + fuzz_pick(c, 5) - 2
                                         : (int64_t)(fuzz_bits(c, 2) % FRAME_EDIT_ITEMS);
    size_t bytes = frame_edit_item(array);
    count = count < 0 ? 0 : count;
    char* grown = calloc((size_t)count * bytes + 1, 1);
    fuzz_check(grown != NULL);
    char* exact = frame_edit_copy(grown, (size_t)count * bytes);
    free(grown);
    for (int64_t i = 0; i < count && array->count > 0; ++i) {
        memcpy(exact + (size_t)i * bytes,
               (const char*)array->data + i % array->count * (int64_t)bytes, bytes);
    }
    free((void*)array->data);
    array->data = exact;
    array->count = count;
}

// The same bytes by another name for them.
static inline void frame_edit_type(treacle_array* array, fuzz_choices* c) {
    size_t bytes = (size_t)array->count * frame_edit_item(array);
    array->type = (treacle_type)fuzz_pick(c, TREACLE_TYPE_F64 + 1);
    array->components = 1 + fuzz_pick(c, 16);
    array->count = (int64_t)(bytes / frame_edit_item(array));
}

static inline void frame_edit_head(treacle_frame* f, fuzz_choices* c) {
    switch (fuzz_pick(c, 7)) {
    case 0:
        f->kind = (treacle_frame_kind)fuzz_pick(c, 4);
        break;
    case 1:
        f->step = frame_edit_edge_integer(c);
        break;
    case 2:
        f->time = frame_edit_edge_number(c);
        break;
    case 3:
        f->cell = frame_edit_edge_number(c);
        break;
    case 4:
        f->cells[fuzz_pick(c, 3)] = (int32_t)frame_edit_edge_integer(c);
        break;
    case 5:
        f->origin[fuzz_pick(c, 3)] = frame_edit_edge_number(c);
        break;
    default:
        f->number = frame_edit_edge_integer(c);
        break;
    }
}

static inline void frame_edit_once(frame_edit* e, fuzz_choices* c) {
    int k = fuzz_pick(c, e->frame.array_count);
    treacle_array* array = &e->arrays[k];
    frame_edit_own(e, k);
    switch (fuzz_pick(c, 12)) {
    case 0:
        frame_edit_count(array, c);
        break;
    case 1:
        frame_edit_type(array, c);
        break;
    case 2:
        array->name[fuzz_pick(c, 8)] = (char)('a' + fuzz_pick(c, 26));
        break;
    case 3:
        frame_edit_head(&e->frame, c);
        break;
    default:
        frame_edit_number(array, c);
        break;
    }
}

/// The frame, whose arrays stay the caller's, with up to FRAME_EDITS_MAX edits.
static inline void frame_edit_begin(frame_edit* e, const treacle_frame* base, fuzz_choices* c) {
    *e = (frame_edit){.frame = *base};
    memcpy(e->arrays, base->arrays, (size_t)base->array_count * sizeof(e->arrays[0]));
    e->frame.arrays = e->arrays;
    for (int i = 0; i < FRAME_EDITS_MAX && c->left > 0; ++i) {
        frame_edit_once(e, c);
    }
}

static inline void frame_edit_end(frame_edit* e) {
    for (int k = 0; k < e->frame.array_count; ++k) {
        if (e->is_own[k]) {
            free((void*)e->arrays[k].data);
        }
    }
}

/// A copy of a view that outlives the simulation's next step.
static inline void frame_edit_keep(const treacle_frame* view, treacle_frame* out,
                                   treacle_array arrays[FRAME_EDIT_ARRAYS]) {
    fuzz_check(view->array_count <= FRAME_EDIT_ARRAYS);
    *out = *view;
    out->arrays = arrays;
    out->parts = NULL;
    for (int i = 0; i < view->array_count; ++i) {
        arrays[i] = view->arrays[i];
        arrays[i].data =
            frame_edit_copy(view->arrays[i].data,
                            (size_t)view->arrays[i].count * frame_edit_item(&view->arrays[i]));
    }
}
