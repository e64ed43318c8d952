// A VDB file, little endian:
//
//     head        magic u64, format u32, library u32 x 2, has offsets u8, identity 36 bytes
//     metadata    count u32, then of each: name, type, size u32, bytes
//     grids       count i32, then of each: name, type, parent, where it begins, its values begin
//     and
//                 it ends, i64 x 3; the grid itself follows
//     a grid      compression u32, metadata, its map's name and numbers, the tree
//     a tree      buffers i32, background f32, root tiles u32, root children u32; the tiles: place
//                 i32 x 3, value, is active u8; the children: place, node; then the leaves' values
//     a node      which slots are children, which values are active, values, the children's nodes
//     a leaf      which voxels are active; once more in front of its values
//
// A text is its length u32 and its letters. Values of a node: a byte that says what inactive ones
// are, up to two of them, which has which, then all values or the active ones, each block of bytes
// with its packed size i64 in front where it may be packed, negative where it is not.
#include "vdb/vdb_file.h"

#include <blosc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
    PACKED_ZIP = 1,
    PACKED_MASK = 2,
    PACKED_BLOSC = 4,
    NODE_VALUES_MAX = 32 * 32 * 32,
    LEAF_VOXELS = VDB_TILE_CELLS,
    LEVELS = 3, // of nodes below the root, leaves included
};
static const int64_t magic = 0x56444220;
// Slots along a side, and voxels that a slot has along its own, from the root's children to leaves.
static const int sides[LEVELS] = {32, 16, 8};
static const int32_t spans[LEVELS] = {128, 8, 1};
// Farther from the origin floats cannot tell voxels apart.
static const int64_t farthest = 1 << 24;

typedef struct reader {
    treacle_context* ctx;
    const uint8_t* bytes;
    size_t size, at;
    uint32_t packing;
    bool is_half, is_level_set;
    vdb_level* out;
    size_t leaf_capacity, block_capacity;
    float* values; // [NODE_VALUES_MAX] of a node
    uint8_t* raw;  // the same as bytes
    char* error;
} reader;

static treacle_status vdb_file_fail(const reader* r, const char* what) {
    snprintf(r->error, VDB_ERROR_MAX, "byte %zu: %s", r->at, what);
    return TREACLE_ERR_FORMAT;
}

static treacle_status fail_memory(const reader* r, treacle_status status) {
    snprintf(r->error, VDB_ERROR_MAX, "out of memory");
    return status;
}

// Bytes -------------------------------------------------------------------------------------------

static treacle_status vdb_file_take(reader* r, uint64_t count, const uint8_t** out) {
    if (count > r->size - r->at) {
        return vdb_file_fail(r, "the file is cut short");
    }
    *out = r->bytes + r->at;
    r->at += (size_t)count;
    return TREACLE_OK;
}

static treacle_status take_into(reader* r, void* out, size_t count) {
    const uint8_t* from = NULL;
    TREACLE_TRY(vdb_file_take(r, count, &from));
    memcpy(out, from, count);
    return TREACLE_OK;
}

static treacle_status take_u32(reader* r, uint32_t* out) {
    return take_into(r, out, sizeof(*out));
}

static treacle_status take_finite(reader* r, float* out) {
    TREACLE_TRY(take_into(r, out, sizeof(*out)));
    return isfinite(*out) ? TREACLE_OK : vdb_file_fail(r, "a value is not a number");
}

typedef struct text_span {
    const char* letters;
    size_t length;
} text_span;

static treacle_status take_text(reader* r, text_span* out) {
    uint32_t length = 0;
    const uint8_t* from = NULL;
    TREACLE_TRY(take_u32(r, &length));
    TREACLE_TRY(vdb_file_take(r, length, &from));
    *out = (text_span){(const char*)from, length};
    return TREACLE_OK;
}

static bool text_is(text_span text, const char* word) {
    return text.length == strlen(word) && memcmp(text.letters, word, text.length) == 0;
}

// Head and metadata -------------------------------------------------------------------------------

static treacle_status read_head(reader* r) {
    enum { REST = 2 * 4 + 1 + 36 };
    int64_t found = 0;
    uint32_t format = 0;
    const uint8_t* rest = NULL;
    if (r->size < sizeof(found) || (memcpy(&found, r->bytes, sizeof(found)), found != magic)) {
        return vdb_file_fail(r, "it does not begin like a VDB file");
    }
    r->at = sizeof(found);
    TREACLE_TRY(take_u32(r, &format));
    if (format < VDB_FORMAT_LEAST || format > VDB_FORMAT_MOST) {
        snprintf(r->error, VDB_ERROR_MAX, "its format is %u, and %d to %d are known", format,
                 VDB_FORMAT_LEAST, VDB_FORMAT_MOST);
        return TREACLE_ERR_FORMAT;
    }
    TREACLE_TRY(vdb_file_take(r, REST, &rest));
    return rest[8] != 0 ? TREACLE_OK
                        : vdb_file_fail(r, "it is a stream without a list of its grids");
}

// What matters of it is the grid's class, and whether values are halves.
static treacle_status read_metadata(reader* r) {
    uint32_t count = 0;
    TREACLE_TRY(take_u32(r, &count));
    for (uint32_t i = 0; i < count; ++i) {
        text_span name, type, value;
        TREACLE_TRY(take_text(r, &name));
        TREACLE_TRY(take_text(r, &type));
        TREACLE_TRY(take_text(r, &value));
        if (text_is(name, "class")) {
            r->is_level_set = text_is(value, "level set");
        } else if (text_is(name, "is_saved_as_half_float")) {
            r->is_half = value.length > 0 && value.letters[0] != 0;
        }
    }
    return TREACLE_OK;
}

// Maps --------------------------------------------------------------------------------------------

// Maps by name: the places of their scale and their move among their numbers, -1 for none.
static const struct {
    const char* name;
    int numbers, scale, move;
} maps[] = {{"UniformScaleMap", 15, 0, -1},
            {"ScaleMap", 15, 0, -1},
            {"UniformScaleTranslateMap", 18, 3, 0},
            {"ScaleTranslateMap", 18, 3, 0},
            {"TranslationMap", 3, -1, 0},
            {"AffineMap", 16, -1, -1},
            {"UnitaryMap", 16, -1, -1}};
enum { MAPS = sizeof(maps) / sizeof(maps[0]), MAP_NUMBERS = 18, MATRIX_NUMBERS = 16 };

static treacle_status read_map(reader* r) {
    text_span name;
    double n[MAP_NUMBERS];
    int k = 0;
    TREACLE_TRY(take_text(r, &name));
    while (k < MAPS && !text_is(name, maps[k].name)) {
        k += 1;
    }
    if (k == MAPS) {
        return vdb_file_fail(r, "its voxels are not on a plain grid");
    }
    TREACLE_TRY(take_into(r, n, (size_t)maps[k].numbers * sizeof(double)));
    for (int i = 0; i < maps[k].numbers; ++i) {
        if (!isfinite(n[i]) || fabs(n[i]) > 1e30) {
            return vdb_file_fail(r, "its map is not of sound numbers");
        }
    }
    double(*m)[4] = r->out->matrix;
    r->out->is_scaled = maps[k].numbers != MATRIX_NUMBERS;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            m[a][b] = r->out->is_scaled ? (a == b ? 1.0 : 0.0) : n[4 * a + b];
        }
    }
    for (int a = 0; a < 3 && r->out->is_scaled; ++a) {
        m[a][a] = maps[k].scale < 0 ? 1.0 : n[maps[k].scale + a];
        m[3][a] = maps[k].move < 0 ? 0.0 : n[maps[k].move + a];
    }
    double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return fabs(volume) > 1e-60 ? TREACLE_OK : vdb_file_fail(r, "its voxels have no size");
}

// Values ------------------------------------------------------------------------------------------

static bool is_on(const uint8_t* mask, int i) {
    return (mask[i / 8] >> i % 8 & 1) != 0;
}

static int count_on(const uint8_t* mask, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += is_on(mask, i) ? 1 : 0;
    }
    return sum;
}

static bool unpack(const uint8_t* packed, size_t size, bool is_blosc, uint8_t* to, size_t bytes) {
    if (!is_blosc) {
        uLongf got = (uLongf)bytes;
        return uncompress(to, &got, packed, (uLong)size) == Z_OK && got == bytes;
    }
    size_t raw = 0, compressed = 0, block = 0, valid = 0;
    if (size < BLOSC_MIN_HEADER_LENGTH) {
        return false;
    }
    blosc_cbuffer_sizes(packed, &raw, &compressed, &block);
    return raw == bytes && compressed == size &&
           blosc_cbuffer_validate(packed, size, &valid) == 0 && valid == bytes &&
           blosc_decompress_ctx(packed, to, bytes, 1) == (int)bytes;
}

// Bytes into r->raw, unpacked.
static treacle_status take_packed(reader* r, size_t bytes) {
    const uint8_t* from = NULL;
    int64_t size = 0;
    if ((r->packing & (PACKED_ZIP | PACKED_BLOSC)) == 0) {
        return take_into(r, r->raw, bytes);
    }
    TREACLE_TRY(take_into(r, &size, sizeof(size)));
    if (size <= 0) {
        return size == -(int64_t)bytes ? take_into(r, r->raw, bytes)
                                       : vdb_file_fail(r, "a block of values has another size");
    }
    TREACLE_TRY(vdb_file_take(r, (uint64_t)size, &from));
    return unpack(from, (size_t)size, (r->packing & PACKED_BLOSC) != 0, r->raw, bytes)
               ? TREACLE_OK
               : vdb_file_fail(r, "a block of values does not unpack");
}

static float from_half(uint16_t half) {
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float size = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                 : exponent == 0 ? ldexpf((float)mantissa, -24)
                                 : ldexpf((float)(1024 + mantissa), exponent - 25);
    return (half >> 15) != 0 ? -size : size;
}

// The first `count` of r->values.
static treacle_status take_values(reader* r, int count) {
    size_t each = r->is_half ? sizeof(uint16_t) : sizeof(float);
    if (count == 0 && r->is_half) {
        return TREACLE_OK;
    }
    TREACLE_TRY(take_packed(r, (size_t)count * each));
    for (int i = 0; i < count; ++i) {
        uint16_t half = 0;
        if (r->is_half) {
            memcpy(&half, r->raw + (size_t)i * each, each);
            r->values[i] = from_half(half);
        } else {
            memcpy(&r->values[i], r->raw + (size_t)i * each, each);
        }
        if (!isfinite(r->values[i])) {
            return vdb_file_fail(r, "a value is not a number");
        }
    }
    return TREACLE_OK;
}

// What inactive values are, by the byte in front of them.
typedef enum inactive {
    INACTIVE_BACKGROUND,
    INACTIVE_MINUS,
    INACTIVE_ONE,
    INACTIVE_CHOICE,
    INACTIVE_CHOICE_ONE,
    INACTIVE_CHOICE_TWO,
    INACTIVE_LISTED,
    INACTIVE_KINDS,
} inactive;

// All of r->values of a node with `count`.
static treacle_status read_values(reader* r, const uint8_t* active, int count) {
    uint8_t kind = INACTIVE_LISTED;
    float one = r->out->background, zero = -one;
    const uint8_t* choice = NULL;
    TREACLE_TRY(take_into(r, &kind, 1));
    if (kind >= INACTIVE_KINDS) {
        return vdb_file_fail(r, "values of an unknown kind");
    }
    zero = kind == INACTIVE_BACKGROUND ? one : zero;
    if (kind == INACTIVE_ONE || kind == INACTIVE_CHOICE_ONE || kind == INACTIVE_CHOICE_TWO) {
        TREACLE_TRY(take_finite(r, &zero));
    }
    if (kind == INACTIVE_CHOICE_TWO) {
        TREACLE_TRY(take_finite(r, &one));
    }
    if (kind >= INACTIVE_CHOICE && kind <= INACTIVE_CHOICE_TWO) {
        TREACLE_TRY(vdb_file_take(r, (uint64_t)count / 8, &choice));
    }
    bool is_sparse = (r->packing & PACKED_MASK) != 0 && kind != INACTIVE_LISTED;
    int given = is_sparse ? count_on(active, count) : count;
    TREACLE_TRY(take_values(r, given));
    for (int i = count - 1, from = given; i >= 0 && given < count; --i) { // from behind, in place
        bool is_one = choice != NULL && is_on(choice, i);
        r->values[i] = is_on(active, i) ? r->values[--from] : is_one ? one : zero;
    }
    return TREACLE_OK;
}

// The tree ----------------------------------------------------------------------------------------

static treacle_status grow(reader* r, void** items, size_t count, size_t* capacity, size_t bytes) {
    if (count < *capacity) {
        return TREACLE_OK;
    }
    size_t larger = *capacity == 0 ? 16 : 2 * *capacity;
    treacle_status status = alloc_resize(r->ctx, items, *capacity, larger, bytes, "a level set");
    *capacity = status == TREACLE_OK ? larger : *capacity;
    return status == TREACLE_OK ? TREACLE_OK : fail_memory(r, status);
}

static treacle_status add_block(reader* r, const int32_t at[3], int level, float value) {
    vdb_level* out = r->out;
    if (value == out->background) {
        return TREACLE_OK;
    }
    void* block = out->blocks;
    treacle_status status =
        grow(r, &block, (size_t)out->block_count, &r->block_capacity, sizeof(vdb_block));
    out->blocks = block;
    TREACLE_TRY(status);
    out->blocks[out->block_count++] =
        (vdb_block){.at = {at[0], at[1], at[2]}, .level = level, .value = value};
    return TREACLE_OK;
}

// Its values come later.
static treacle_status read_leaf(reader* r, const int32_t at[3]) {
    vdb_level* out = r->out;
    void* block = out->leaves;
    treacle_status status =
        grow(r, &block, (size_t)out->leaf_count, &r->leaf_capacity, sizeof(vdb_leaf));
    out->leaves = block;
    TREACLE_TRY(status);
    vdb_leaf* leaf = &out->leaves[out->leaf_count];
    *leaf = (vdb_leaf){.at = {at[0], at[1], at[2]}};
    TREACLE_TRY(take_into(r, leaf->active, sizeof(leaf->active)));
    out->leaf_count += 1;
    return TREACLE_OK;
}

// A node at `level` of LEVELS, and all below it.
static treacle_status read_node(reader* r, const int32_t at[3], int level) {
    if (level == LEVELS - 1) {
        return read_leaf(r, at);
    }
    const uint8_t *children = NULL, *active = NULL;
    int side = sides[level], count = side * side * side;
    TREACLE_TRY(vdb_file_take(r, (uint64_t)count / 8, &children));
    TREACLE_TRY(vdb_file_take(r, (uint64_t)count / 8, &active));
    TREACLE_TRY(read_values(r, active, count));
    for (int pass = 0; pass < 2; ++pass) { // r->values hold until the first child
        for (int i = 0; i < count; ++i) {
            const int32_t place[3] = {at[0] + i / (side * side) * spans[level],
                                      at[1] + i / side % side * spans[level],
                                      at[2] + i % side * spans[level]};
            bool is_child = is_on(children, i);
            if (pass == 0 && !is_child) {
                TREACLE_TRY(add_block(r, place, LEVELS - 1 - level, r->values[i]));
            } else if (pass == 1 && is_child) {
                TREACLE_TRY(read_node(r, place, level + 1));
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status read_place(reader* r, int32_t at[3]) {
    TREACLE_TRY(take_into(r, at, 3 * sizeof(at[0])));
    for (int a = 0; a < 3; ++a) {
        if (at[a] % (sides[0] * spans[0]) != 0 || at[a] < -farthest || at[a] > farthest) {
            return vdb_file_fail(r, "a part of the tree is out of place");
        }
    }
    return TREACLE_OK;
}

static treacle_status read_leaf_values(reader* r) {
    for (int64_t i = 0; i < r->out->leaf_count; ++i) {
        vdb_leaf* leaf = &r->out->leaves[i];
        const uint8_t* again = NULL;
        TREACLE_TRY(vdb_file_take(r, sizeof(leaf->active), &again));
        TREACLE_TRY(read_values(r, leaf->active, LEAF_VOXELS));
        memcpy(leaf->value, r->values, sizeof(leaf->value));
    }
    return TREACLE_OK;
}

static treacle_status read_tree(reader* r) {
    uint32_t buffers = 0, tiles = 0, children = 0;
    int32_t at[3];
    uint8_t is_active = 0;
    float value = 0.0f;
    TREACLE_TRY(take_u32(r, &buffers));
    TREACLE_TRY(take_finite(r, &r->out->background));
    TREACLE_TRY(take_u32(r, &tiles));
    TREACLE_TRY(take_u32(r, &children));
    for (uint32_t i = 0; i < tiles; ++i) {
        TREACLE_TRY(read_place(r, at));
        TREACLE_TRY(take_finite(r, &value));
        TREACLE_TRY(take_into(r, &is_active, 1));
        TREACLE_TRY(add_block(r, at, LEVELS, value));
    }
    for (uint32_t i = 0; i < children; ++i) {
        TREACLE_TRY(read_place(r, at));
        TREACLE_TRY(read_node(r, at, 0));
    }
    return read_leaf_values(r);
}

// The file ----------------------------------------------------------------------------------------

// Where the grid is if it may be one of ours; else -1.
static treacle_status read_entry(reader* r, int64_t* begin, int64_t* end) {
    text_span name, type, parent;
    int64_t places[3];
    TREACLE_TRY(take_text(r, &name));
    TREACLE_TRY(take_text(r, &type));
    TREACLE_TRY(take_text(r, &parent));
    TREACLE_TRY(take_into(r, places, sizeof(places)));
    bool is_ours =
        (text_is(type, "Tree_float_5_4_3") || text_is(type, "Tree_float_5_4_3_HalfFloat")) &&
        parent.length == 0;
    *begin = is_ours ? places[0] : -1;
    *end = places[2];
    return TREACLE_OK;
}

static treacle_status read_grid(reader* r) {
    r->is_half = false;
    r->is_level_set = false;
    TREACLE_TRY(take_u32(r, &r->packing));
    TREACLE_TRY(read_metadata(r));
    if (!r->is_level_set) {
        return TREACLE_OK;
    }
    TREACLE_TRY(read_map(r));
    void* block = NULL;
    const size_t count = 2 * NODE_VALUES_MAX;
    treacle_status status =
        alloc_array(r->ctx, count, sizeof(float), "the values of a node", &block);
    if (status != TREACLE_OK) {
        return fail_memory(r, status);
    }
    r->values = block;
    r->raw = (uint8_t*)(r->values + NODE_VALUES_MAX);
    status = read_tree(r);
    alloc_free(r->ctx, block, count * sizeof(float));
    return status;
}

static treacle_status read_grids(reader* r) {
    int32_t count = 0;
    TREACLE_TRY(read_head(r));
    TREACLE_TRY(read_metadata(r));
    TREACLE_TRY(take_into(r, &count, sizeof(count)));
    r->is_level_set = false;
    for (int32_t i = 0; i < count && !r->is_level_set; ++i) {
        int64_t begin = 0, end = 0;
        size_t entry = r->at;
        TREACLE_TRY(read_entry(r, &begin, &end));
        if (begin >= 0) {
            if ((uint64_t)begin > r->size) {
                return vdb_file_fail(r, "a grid is beyond the file's end");
            }
            r->at = (size_t)begin;
            TREACLE_TRY(read_grid(r));
        }
        if (!r->is_level_set) { // forward only, so that a file cannot lead around in circles
            if (end <= (int64_t)entry || (uint64_t)end > r->size) {
                return vdb_file_fail(r, "a grid ends outside the file");
            }
            r->at = (size_t)end;
        }
    }
    return r->is_level_set ? TREACLE_OK : vdb_file_fail(r, "it has no level set");
}

treacle_status vdb_level_read(treacle_context* ctx, const uint8_t* bytes, size_t size,
                              vdb_level* out, char error[VDB_ERROR_MAX]) {
    *out = (vdb_level){0};
    reader r = {.ctx = ctx, .bytes = bytes, .size = size, .out = out, .error = error};
    treacle_status status = read_grids(&r);
    out->leaf_capacity = (int64_t)r.leaf_capacity;
    out->block_capacity = (int64_t)r.block_capacity;
    return status;
}

void vdb_level_free(treacle_context* ctx, vdb_level* level) {
    alloc_free(ctx, level->leaves, (size_t)level->leaf_capacity * sizeof(vdb_leaf));
    alloc_free(ctx, level->blocks, (size_t)level->block_capacity * sizeof(vdb_block));
    *level = (vdb_level){0};
}
