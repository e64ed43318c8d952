#include "cache/frame_format.h"

#include <math.h>
#include <stdio.h>

#include "base/check.h"

// Not text (high bit), and broken by every transfer that changes line ends.
const uint8_t frame_magic[8] = {0x89, 'T', 'R', 'C', 'L', '\r', '\n', 0x1a};

static const size_t type_sizes[] = {
    [TREACLE_TYPE_U8] = 1,  [TREACLE_TYPE_U16] = 2, [TREACLE_TYPE_I32] = 4, [TREACLE_TYPE_I64] = 8,
    [TREACLE_TYPE_U64] = 8, [TREACLE_TYPE_F32] = 4, [TREACLE_TYPE_F64] = 8,
};
enum { TYPE_COUNT = sizeof(type_sizes) / sizeof(type_sizes[0]) };

static bool is_type(int64_t type) {
    return type >= 0 && type < TYPE_COUNT;
}

size_t treacle_type_size(treacle_type type) {
    return is_type((int64_t)type) ? type_sizes[type] : 0;
}

const treacle_array* treacle_frame_find(const treacle_frame* frame, const char* name) {
    for (int i = 0; i < frame->array_count; ++i) {
        if (strncmp(frame->arrays[i].name, name, FRAME_NAME_BYTES) == 0) {
            return &frame->arrays[i];
        }
    }
    return NULL;
}

const int64_t* treacle_frame_parts(const treacle_frame* frame, const char* name) {
    const treacle_array* found = treacle_frame_find(frame, name);
    return found == NULL || frame->parts == NULL ? NULL : frame->parts[found - frame->arrays];
}

uint64_t frame_array_bytes(const treacle_array* array, bool* is_valid) {
    TREACLE_ASSERT(is_valid != NULL);
    *is_valid = is_type((int64_t)array->type) && array->components >= 1 &&
                array->components <= FRAME_COMPONENTS_MAX && array->count >= 0;
    if (!*is_valid) {
        return 0;
    }
    uint64_t item = (uint64_t)array->components * treacle_type_size(array->type);
    *is_valid = (uint64_t)array->count <= INT64_MAX / item;
    return *is_valid ? (uint64_t)array->count * item : 0;
}

static bool is_name(const char* name) {
    size_t length = strnlen(name, FRAME_NAME_BYTES);
    bool is_good = length > 0 && length < FRAME_NAME_BYTES;
    for (size_t i = 0; i < length; ++i) {
        char c = name[i];
        is_good = is_good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
    }
    return is_good;
}

static const char* find_head_fault(const treacle_frame* frame, char* text, size_t size) {
    const treacle_frame* f = frame;
    if (f->kind != TREACLE_FRAME_PICTURE && f->kind != TREACLE_FRAME_STATE) {
        snprintf(text, size, "kind %d is neither picture (1) nor state (2)", (int)f->kind);
        return text;
    }
    if (f->cells[0] < 1 || f->cells[1] < 1 || f->cells[2] < 1) {
        snprintf(text, size, "the domain has %d x %d x %d cells, all must be at least 1",
                 f->cells[0], f->cells[1], f->cells[2]);
        return text;
    }
    bool is_finite = isfinite(f->time) && isfinite(f->fps) && isfinite(f->origin[0]) &&
                     isfinite(f->origin[1]) && isfinite(f->origin[2]) && isfinite(f->cell);
    if (!is_finite || f->cell <= 0.0) {
        snprintf(text, size,
                 "time %g, fps %g, cell %g and origin (%g, %g, %g) must be finite, and "
                 "the cell positive",
                 f->time, f->fps, f->cell, f->origin[0], f->origin[1], f->origin[2]);
        return text;
    }
    if (f->array_count < 0 || f->array_count > FRAME_ARRAYS_MAX) {
        snprintf(text, size, "%d arrays, a file holds 0 to %d", f->array_count, FRAME_ARRAYS_MAX);
        return text;
    }
    return NULL;
}

const char* frame_find_fault(const treacle_frame* frame, char* text, size_t size) {
    TREACLE_ASSERT(text != NULL && size > 0);
    const char* fault = find_head_fault(frame, text, size);
    for (int i = 0; fault == NULL && i < frame->array_count; ++i) {
        const treacle_array* array = &frame->arrays[i];
        bool is_valid = false;
        if (!is_name(array->name)) {
            snprintf(text, size, "the name of array %d is not 1 to %d of a-z, 0-9 and _", i,
                     FRAME_NAME_BYTES - 1);
            fault = text;
        } else if (treacle_frame_find(frame, array->name) != array) {
            snprintf(text, size, "two arrays are named '%s'", array->name);
            fault = text;
        } else if (frame_array_bytes(array, &is_valid), !is_valid) {
            snprintf(text, size,
                     "array '%s': type %d, %d components and %lld items are not possible",
                     array->name, (int)array->type, array->components, (long long)array->count);
            fault = text;
        }
    }
    return fault;
}

// Rows of tiles lie one after the other from 0 to `rows`.
static bool are_groups_valid(const treacle_frame* frame, int64_t rows) {
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    const treacle_array* tile = treacle_frame_find(frame, "tile_coord");
    if (first == NULL || tile == NULL || first->type != TREACLE_TYPE_I64 ||
        first->count != tile->count + 1) {
        return false;
    }
    const int64_t* at = first->data;
    bool is_valid = at[0] == 0 && at[tile->count] == rows;
    for (int64_t i = 0; i < tile->count && is_valid; ++i) {
        is_valid = at[i] <= at[i + 1];
    }
    return is_valid;
}

bool frame_is_valid(const treacle_frame* frame) {
    static const char* const columns[] = {"velocity", "id", "volume", "material"};
    char text[256];
    if (frame_find_fault(frame, text, sizeof(text)) != NULL) {
        return false;
    }
    const treacle_array* position = treacle_frame_find(frame, "position");
    bool is_valid = position != NULL && are_groups_valid(frame, position->count);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); ++i) {
        const treacle_array* column = treacle_frame_find(frame, columns[i]);
        is_valid = is_valid && (column == NULL || column->count == position->count);
    }
    return is_valid;
}
