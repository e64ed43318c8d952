// Reading and writing bytes of files: little endian, whatever the machine, and never out of bounds.
//
// The reader never fails loudly: past the end it yields zeros and remembers that it did. Read a
// whole head, then ask bytes_failed once, before anything that was read is trusted. The writer
// grows its buffer and remembers a failed allocation in the same way.
#pragma once

#include "base/context.h"

typedef struct byte_reader {
    const uint8_t* data;
    size_t size, at;
    bool has_failed; // something past the end was asked for
} byte_reader;

void bytes_reader_init(byte_reader* r, const void* data, size_t size);
size_t bytes_remaining(const byte_reader* r);
bool bytes_failed(const byte_reader* r);

uint8_t bytes_read_u8(byte_reader* r);
uint16_t bytes_read_u16(byte_reader* r);
uint32_t bytes_read_u32(byte_reader* r);
uint64_t bytes_read_u64(byte_reader* r);
int32_t bytes_read_i32(byte_reader* r);
int64_t bytes_read_i64(byte_reader* r);
float bytes_read_f32(byte_reader* r);
double bytes_read_f64(byte_reader* r);
/// Copies `size` bytes to `out`; zeros, all of them, if there are not that many.
void bytes_read(byte_reader* r, void* out, size_t size);
/// A pointer into the data to `size` bytes, which are skipped; NULL if there are not that many, or
/// no data at all.
const uint8_t* bytes_read_span(byte_reader* r, size_t size);
void bytes_skip(byte_reader* r, size_t size);
/// Goes to an absolute place, at most the end.
void bytes_seek(byte_reader* r, size_t at);

typedef struct byte_writer {
    treacle_context* ctx;
    uint8_t* data;
    size_t size, capacity;
    treacle_status status; // of the first failure; writes after it are dropped
} byte_writer;

void bytes_writer_init(byte_writer* w, treacle_context* ctx);
/// Frees the buffer.
void bytes_writer_finish(byte_writer* w);
/// OK, or what went wrong in any write so far.
treacle_status bytes_status(const byte_writer* w);

void bytes_write_u8(byte_writer* w, uint8_t x);
void bytes_write_u16(byte_writer* w, uint16_t x);
void bytes_write_u32(byte_writer* w, uint32_t x);
void bytes_write_u64(byte_writer* w, uint64_t x);
void bytes_write_i32(byte_writer* w, int32_t x);
void bytes_write_i64(byte_writer* w, int64_t x);
void bytes_write_f32(byte_writer* w, float x);
void bytes_write_f64(byte_writer* w, double x);
void bytes_write(byte_writer* w, const void* data, size_t size);
/// Zeros up to the next multiple of `alignment`.
void bytes_pad(byte_writer* w, size_t alignment);
