#include "cache/frame_coding.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

enum {
    AXES3 = 3,
    PLACE_BITS = 13, // of a cell
    PLACE_STEPS = 1 << PLACE_BITS,
    PLACE_LOW = -4, // cells from the low corner of the tile, in which a position can be packed
    PLACE_CELLS = 16,
    NIBBLE = 4,
    PLANE_PACKED = 0, // an axis of a chunk of places
    PLANE_SAME = 1,   // all of them have one value
    SPEED_BLOCK = AXES3 * 256,
    SPEED_BITS = 11,   // the largest component of a block has one more, and a sign
    SPEED_ZERO = 0,    // exponents of a block
    SPEED_BIAS = 150,  // others are 1 to 254, less this
    SPEED_PLAIN = 255, // the block could not be packed
    ID_BLOCK = 256,
    ID_BIRTH_BITS = 48,
};

// --- bits ----------------------------------------------------------------------------------------

// Bits go into bytes from the lowest up. `has_room` ends as false if there was too little.
typedef struct bit_writer {
    uint8_t *at, *end;
    uint64_t bits;
    int count; // of bits that are not written yet, below 8
    bool has_room;
} bit_writer;

static void put_byte(bit_writer* w, uint8_t byte) {
    w->has_room = w->has_room && w->at < w->end;
    if (w->has_room) {
        *w->at++ = byte;
    }
}

// At most 48 bits.
static inline void put_bits(bit_writer* w, uint64_t value, int count) {
    w->bits |= value << w->count;
    w->count += count;
    while (w->count >= 8) {
        put_byte(w, (uint8_t)w->bits);
        w->bits >>= 8;
        w->count -= 8;
    }
}

static void end_bits(bit_writer* w) {
    if (w->count > 0) {
        put_byte(w, (uint8_t)w->bits);
    }
    w->bits = 0;
    w->count = 0;
}

static void put_bytes(bit_writer* w, const void* bytes, size_t size) {
    TREACLE_ASSERT(w->count == 0);
    for (size_t i = 0; i < size; ++i) {
        put_byte(w, ((const uint8_t*)bytes)[i]);
    }
}

// `is_good` ends as false if there was less than was asked for, or bits that fill up a byte are
// not 0.
typedef struct bit_reader {
    const uint8_t *at, *end;
    uint64_t bits;
    int count;
    bool is_good;
} bit_reader;

static inline uint64_t get_bits(bit_reader* r, int count) {
    while (r->count < count) {
        r->is_good = r->is_good && r->at < r->end;
        r->bits |= (uint64_t)(r->is_good ? *r->at++ : 0) << r->count;
        r->count += 8;
    }
    uint64_t out = r->bits & ((UINT64_C(1) << count) - 1);
    r->bits >>= count;
    r->count -= count;
    return out;
}

static void skip_to_byte(bit_reader* r) {
    r->is_good = r->is_good && r->bits == 0 && r->count < 8;
    r->bits = 0;
    r->count = 0;
}

static void get_bytes(bit_reader* r, void* bytes, size_t size) {
    r->is_good = r->is_good && r->count == 0 && (size_t)(r->end - r->at) >= size;
    if (r->is_good) {
        memcpy(bytes, r->at, size);
        r->at += size;
    } else {
        memset(bytes, 0, size);
    }
}

static int bits_of(uint64_t value) {
    return value == 0 ? 0 : 64 - __builtin_clzll((unsigned long long)value);
}

// --- places --------------------------------------------------------------------------------------

// Steps of 1/8192 cell from PLACE_LOW; negative where it cannot be packed.
static int32_t steps_of(float x) {
    if (!(x >= (float)PLACE_LOW && x < (float)(PLACE_LOW + PLACE_CELLS))) {
        return -1;
    }
    int32_t steps = (int32_t)floor((double)x * PLACE_STEPS); // exact: no place leaves its cell
    return steps - PLACE_LOW * PLACE_STEPS;
}

static bool are_same(const float* x, size_t count) {
    bool is_same = true;
    for (size_t k = AXES3; k < count && is_same; k += AXES3) {
        is_same = memcmp(&x[k], &x[0], sizeof(float)) == 0;
    }
    return is_same;
}

// Every third value of x, `count` values long: cells by their distance from the one before, then
// places in them.
static bool pack_plane(bit_writer* w, const float* x, size_t count) {
    bool is_same = are_same(x, count);
    put_byte(w, is_same ? PLANE_SAME : PLANE_PACKED);
    if (is_same) {
        put_bytes(w, x, count > 0 ? sizeof(float) : 0);
        return true;
    }
    int32_t cell = -PLACE_LOW;
    bool is_good = true;
    for (size_t k = 0; k < count; k += AXES3) {
        int32_t steps = steps_of(x[k]);
        is_good = is_good && steps >= 0;
        int32_t next = is_good ? steps >> PLACE_BITS : 0;
        put_bits(w, (uint64_t)((next - cell) & (PLACE_CELLS - 1)), NIBBLE);
        cell = next;
    }
    end_bits(w);
    for (size_t k = 0; k < count && is_good; k += AXES3) {
        put_bits(w, (uint64_t)(steps_of(x[k]) & (PLACE_STEPS - 1)), PLACE_BITS);
    }
    end_bits(w);
    return is_good;
}

static bool pack_places(bit_writer* w, const float* x, size_t count) {
    bool is_good = true;
    for (size_t a = 0; a < AXES3 && is_good; ++a) {
        is_good = pack_plane(w, x + a, count > a ? count - a : 0);
    }
    return is_good;
}

static void unpack_plane(bit_reader* r, float* x, size_t count) {
    uint64_t kind = get_bits(r, 8);
    if (kind == PLANE_SAME) {
        float value = 0.0f;
        get_bytes(r, &value, count > 0 ? sizeof(float) : 0);
        for (size_t k = 0; k < count; k += AXES3) {
            x[k] = value;
        }
        return;
    }
    r->is_good = r->is_good && kind == PLANE_PACKED;
    uint32_t cell = -PLACE_LOW;
    for (size_t k = 0; k < count; k += AXES3) {
        cell = (cell + (uint32_t)get_bits(r, NIBBLE)) & (PLACE_CELLS - 1);
        x[k] = (float)cell + (float)PLACE_LOW;
    }
    skip_to_byte(r);
    for (size_t k = 0; k < count; k += AXES3) { // the middle of the step: it stays in its cell
        x[k] += ((float)get_bits(r, PLACE_BITS) + 0.5f) / (float)PLACE_STEPS;
    }
    skip_to_byte(r);
}

static void unpack_places(bit_reader* r, float* x, size_t count) {
    for (size_t a = 0; a < AXES3 && r->is_good; ++a) {
        unpack_plane(r, x + a, count > a ? count - a : 0);
    }
}

// --- speeds --------------------------------------------------------------------------------------

// The exponent of the steps in which a block is packed, or one of the two others.
static int speed_exponent(const float* v, size_t count) {
    float most = 0.0f;
    bool is_finite = true;
    for (size_t k = 0; k < count; ++k) {
        is_finite = is_finite && isfinite(v[k]);
        most = fmaxf(most, fabsf(v[k]));
    }
    if (!is_finite || most == 0.0f) {
        return is_finite ? SPEED_ZERO : SPEED_PLAIN;
    }
    int exponent = ilogbf(most) - SPEED_BITS + SPEED_BIAS;
    return exponent > SPEED_ZERO && exponent < SPEED_PLAIN ? exponent : SPEED_PLAIN;
}

static int32_t speed_steps(float v, double scale) {
    return (int32_t)floor((double)v * scale + 0.5);
}

static void pack_component(bit_writer* w, const float* v, size_t count, double scale) {
    int32_t low = 0, high = 0;
    for (size_t k = 0; k < count; k += AXES3) {
        int32_t steps = speed_steps(v[k], scale);
        low = k == 0 || steps < low ? steps : low;
        high = k == 0 || steps > high ? steps : high;
    }
    int width = bits_of((uint64_t)(high - low));
    int16_t least = (int16_t)low;
    put_bytes(w, &least, sizeof(least));
    put_byte(w, (uint8_t)width);
    for (size_t k = 0; k < count; k += AXES3) {
        put_bits(w, (uint64_t)(speed_steps(v[k], scale) - low), width);
    }
    end_bits(w);
}

static void pack_speeds(bit_writer* w, const float* v, size_t count) {
    for (size_t at = 0; at < count; at += SPEED_BLOCK) {
        size_t here = count - at < SPEED_BLOCK ? count - at : SPEED_BLOCK;
        int exponent = speed_exponent(v + at, here);
        put_byte(w, (uint8_t)exponent);
        if (exponent == SPEED_PLAIN) {
            put_bytes(w, v + at, here * sizeof(float));
        } else if (exponent != SPEED_ZERO) {
            double scale = ldexp(1.0, SPEED_BIAS - exponent);
            for (size_t a = 0; a < AXES3; ++a) {
                pack_component(w, v + at + a, here > a ? here - a : 0, scale);
            }
        }
    }
}

static void unpack_component(bit_reader* r, float* v, size_t count, double step) {
    int16_t low = 0;
    get_bytes(r, &low, sizeof(low));
    int width = (int)get_bits(r, 8);
    r->is_good = r->is_good && width <= 16;
    for (size_t k = 0; k < count && r->is_good; k += AXES3) {
        v[k] = (float)(step * (double)(low + (int32_t)get_bits(r, width)));
    }
    skip_to_byte(r);
}

static void unpack_speeds(bit_reader* r, float* v, size_t count) {
    for (size_t at = 0; at < count && r->is_good; at += SPEED_BLOCK) {
        size_t here = count - at < SPEED_BLOCK ? count - at : SPEED_BLOCK;
        int exponent = (int)get_bits(r, 8);
        if (exponent == SPEED_PLAIN) {
            get_bytes(r, v + at, here * sizeof(float));
        } else if (exponent == SPEED_ZERO) {
            memset(v + at, 0, here * sizeof(float));
        } else {
            double step = ldexp(1.0, exponent - SPEED_BIAS);
            for (size_t a = 0; a < AXES3; ++a) {
                unpack_component(r, v + at + a, here > a ? here - a : 0, step);
            }
        }
    }
}

// --- ids -----------------------------------------------------------------------------------------

// Source or birth count.
static uint64_t part_of(uint64_t id, bool is_source) {
    return is_source ? id >> ID_BIRTH_BITS : id & ((UINT64_C(1) << ID_BIRTH_BITS) - 1);
}

static void pack_id_part(bit_writer* w, const uint64_t* id, size_t count, bool is_source) {
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t k = 0; k < count; ++k) {
        uint64_t part = part_of(id[k], is_source);
        low = part < low ? part : low;
        high = part > high ? part : high;
    }
    int width = bits_of(high - low);
    put_bytes(w, &low, is_source ? 2 : 6);
    put_byte(w, (uint8_t)width);
    for (size_t k = 0; k < count; ++k) {
        put_bits(w, part_of(id[k], is_source) - low, width);
    }
    end_bits(w);
}

static void pack_ids(bit_writer* w, const uint64_t* id, size_t count) {
    for (size_t at = 0; at < count; at += ID_BLOCK) {
        size_t here = count - at < ID_BLOCK ? count - at : ID_BLOCK;
        pack_id_part(w, id + at, here, true);
        pack_id_part(w, id + at, here, false);
    }
}

static void unpack_id_part(bit_reader* r, uint64_t* id, size_t count, bool is_source) {
    uint64_t low = 0;
    int most = is_source ? 64 - ID_BIRTH_BITS : ID_BIRTH_BITS;
    get_bytes(r, &low, is_source ? 2 : 6);
    int width = (int)get_bits(r, 8);
    r->is_good = r->is_good && width <= most;
    for (size_t k = 0; k < count && r->is_good; ++k) {
        uint64_t part = low + get_bits(r, width);
        r->is_good = r->is_good && bits_of(part) <= most;
        id[k] = is_source ? part << ID_BIRTH_BITS : id[k] | part;
    }
    skip_to_byte(r);
}

static void unpack_ids(bit_reader* r, uint64_t* id, size_t count) {
    for (size_t at = 0; at < count && r->is_good; at += ID_BLOCK) {
        size_t here = count - at < ID_BLOCK ? count - at : ID_BLOCK;
        unpack_id_part(r, id + at, here, true);
        unpack_id_part(r, id + at, here, false);
    }
}

// --- the door ------------------------------------------------------------------------------------

static bool is_array(const treacle_array* array, const char* name, treacle_type type, int parts) {
    return strncmp(array->name, name, sizeof(array->name)) == 0 && array->type == type &&
           array->components == parts;
}

frame_coding frame_coding_of(const treacle_frame* frame, const treacle_array* array) {
    return frame->kind != TREACLE_FRAME_PICTURE                   ? FRAME_PLAIN
           : is_array(array, "position", TREACLE_TYPE_F32, AXES3) ? FRAME_PLACES
           : is_array(array, "velocity", TREACLE_TYPE_F32, AXES3) ? FRAME_SPEEDS
           : is_array(array, "id", TREACLE_TYPE_U64, 1)           ? FRAME_IDS
                                                                  : FRAME_PLAIN;
}

size_t frame_coding_value_bytes(frame_coding coding) {
    TREACLE_ASSERT(coding > FRAME_PLAIN && coding < FRAME_CODING_COUNT);
    return coding == FRAME_IDS ? sizeof(uint64_t) : sizeof(float);
}

size_t frame_coding_pack(frame_coding coding, const void* raw, size_t raw_bytes, uint8_t* packed) {
    TREACLE_ASSERT(raw != NULL && packed != NULL);
    TREACLE_ASSERT(raw_bytes % frame_coding_value_bytes(coding) == 0);
    bit_writer w = {.at = packed, .end = packed + raw_bytes, .has_room = true};
    size_t count = raw_bytes / frame_coding_value_bytes(coding);
    bool is_good = true;
    if (coding == FRAME_PLACES) {
        is_good = pack_places(&w, raw, count);
    } else if (coding == FRAME_SPEEDS) {
        pack_speeds(&w, raw, count);
    } else {
        pack_ids(&w, raw, count);
    }
    return is_good && w.has_room ? (size_t)(w.at - packed) : 0;
}

bool frame_coding_unpack(frame_coding coding, const uint8_t* packed, size_t packed_bytes, void* raw,
                         size_t raw_bytes) {
    TREACLE_ASSERT(raw != NULL && packed != NULL);
    TREACLE_ASSERT(raw_bytes % frame_coding_value_bytes(coding) == 0);
    bit_reader r = {.at = packed, .end = packed + packed_bytes, .is_good = true};
    size_t count = raw_bytes / frame_coding_value_bytes(coding);
    if (coding == FRAME_PLACES) {
        unpack_places(&r, raw, count);
    } else if (coding == FRAME_SPEEDS) {
        unpack_speeds(&r, raw, count);
    } else {
        unpack_ids(&r, raw, count);
    }
    return r.is_good && r.at == r.end;
}
