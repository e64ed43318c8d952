#include "base/bytes.h"

#include <string.h>

#include "base/alloc.h"

void bytes_reader_init(byte_reader* r, const void* data, size_t size) {
    TREACLE_ASSERT(data != NULL || size == 0);
    *r = (byte_reader){.data = data, .size = size};
}

size_t bytes_remaining(const byte_reader* r) {
    TREACLE_ASSERT(r->at <= r->size);
    return r->size - r->at;
}

bool bytes_failed(const byte_reader* r) {
    return r->has_failed;
}

const uint8_t* bytes_read_span(byte_reader* r, size_t size) {
    if (size > bytes_remaining(r)) {
        r->has_failed = true;
        r->at = r->size; // nothing after a gap can be meant
        return NULL;
    }
    const uint8_t* span = r->data == NULL ? NULL : r->data + r->at;
    r->at += size;
    return span;
}

void bytes_read(byte_reader* r, void* out, size_t size) {
    TREACLE_ASSERT(out != NULL || size == 0);
    const uint8_t* span = bytes_read_span(r, size);
    if (size == 0) {
        return;
    }
    if (span == NULL) {
        memset(out, 0, size);
    } else {
        memcpy(out, span, size);
    }
}

void bytes_skip(byte_reader* r, size_t size) {
    (void)bytes_read_span(r, size);
}

void bytes_seek(byte_reader* r, size_t at) {
    if (at > r->size) {
        r->has_failed = true;
        at = r->size;
    }
    r->at = at;
}

static uint64_t read_little_endian(byte_reader* r, size_t size) {
    const uint8_t* span = bytes_read_span(r, size);
    uint64_t x = 0;
    for (size_t i = 0; span != NULL && i < size; ++i) {
        x |= (uint64_t)span[i] << (8 * i);
    }
    return x;
}

uint8_t bytes_read_u8(byte_reader* r) {
    return (uint8_t)read_little_endian(r, 1);
}

uint16_t bytes_read_u16(byte_reader* r) {
    return (uint16_t)read_little_endian(r, 2);
}

uint32_t bytes_read_u32(byte_reader* r) {
    return (uint32_t)read_little_endian(r, 4);
}

uint64_t bytes_read_u64(byte_reader* r) {
    return read_little_endian(r, 8);
}

// Copying the bits is defined for every value; converting a large unsigned to signed is not.
int32_t bytes_read_i32(byte_reader* r) {
    uint32_t bits = bytes_read_u32(r);
    int32_t x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

int64_t bytes_read_i64(byte_reader* r) {
    uint64_t bits = bytes_read_u64(r);
    int64_t x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

float bytes_read_f32(byte_reader* r) {
    uint32_t bits = bytes_read_u32(r);
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

double bytes_read_f64(byte_reader* r) {
    uint64_t bits = bytes_read_u64(r);
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

void bytes_writer_init(byte_writer* w, treacle_context* ctx) {
    *w = (byte_writer){.ctx = ctx};
}

void bytes_writer_finish(byte_writer* w) {
    alloc_free(w->ctx, w->data, w->capacity);
    bytes_writer_init(w, w->ctx);
}

treacle_status bytes_status(const byte_writer* w) {
    return w->status;
}

// Makes room for `size` more bytes. False if that failed, now or before.
static bool bytes_reserve(byte_writer* w, size_t size) {
    if (w->status != TREACLE_OK || size <= w->capacity - w->size) {
        return w->status == TREACLE_OK;
    }
    size_t needed = w->size + size;
    size_t doubled = w->capacity < 128 ? 256 : 2 * w->capacity;
    size_t capacity = needed > doubled ? needed : doubled;
    void* data = w->data;
    if (needed < size || doubled < w->capacity) {
        w->status =
            check_fail(w->ctx, TREACLE_ERR_MEMORY, "out of memory: %zu bytes of a file", size);
    } else {
        w->status = alloc_resize(w->ctx, &data, w->capacity, capacity, 1, "bytes of a file");
    }
    if (w->status == TREACLE_OK) {
        w->data = data;
        w->capacity = capacity;
    }
    return w->status == TREACLE_OK;
}

void bytes_write(byte_writer* w, const void* data, size_t size) {
    TREACLE_ASSERT(w->ctx != NULL);
    TREACLE_ASSERT(data != NULL || size == 0);
    if (size > 0 && bytes_reserve(w, size)) {
        memcpy(w->data + w->size, data, size);
        w->size += size;
    }
}

static void write_little_endian(byte_writer* w, uint64_t x, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(x >> (8 * i) & 0xff);
    }
    bytes_write(w, bytes, size);
}

void bytes_write_u8(byte_writer* w, uint8_t x) {
    write_little_endian(w, x, 1);
}

void bytes_write_u16(byte_writer* w, uint16_t x) {
    write_little_endian(w, x, 2);
}

void bytes_write_u32(byte_writer* w, uint32_t x) {
    write_little_endian(w, x, 4);
}

void bytes_write_u64(byte_writer* w, uint64_t x) {
    write_little_endian(w, x, 8);
}

void bytes_write_i32(byte_writer* w, int32_t x) {
    bytes_write_u32(w, (uint32_t)x);
}

void bytes_write_i64(byte_writer* w, int64_t x) {
    bytes_write_u64(w, (uint64_t)x);
}

void bytes_write_f32(byte_writer* w, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bytes_write_u32(w, bits);
}

void bytes_write_f64(byte_writer* w, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bytes_write_u64(w, bits);
}

void bytes_pad(byte_writer* w, size_t alignment) {
    TREACLE_ASSERT(alignment > 0);
    while (w->status == TREACLE_OK && w->size % alignment != 0) {
        bytes_write_u8(w, 0);
    }
}
