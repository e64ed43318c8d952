// Bytes and text on their way into a file that appears as a whole or not at all.
//
// Failures are remembered: write a whole file, then close, which tells.
#pragma once

#include "base/atomic_file.h"
#include "base/bytes.h"

typedef struct export_stream {
    treacle_context* ctx;
    atomic_file file;
    byte_writer bytes;
    treacle_status status; // of the first failure; what is written after it is dropped
} export_stream;

treacle_status export_stream_open(treacle_context* ctx, const char* path,
                                  export_stream* out) TREACLE_NODISCARD;
/// Publishes the file, or removes what there is of it after a failure.
treacle_status export_stream_close(export_stream* s) TREACLE_NODISCARD;

/// At most 512 characters.
void export_printf(export_stream* s, const char* format, ...) TREACLE_PRINTF(2, 3);
void export_text(export_stream* s, const char* chars);
void export_bytes(export_stream* s, const void* data, size_t size);
/// Little endian, whatever the machine.
void export_f32(export_stream* s, const float* values, int64_t count);
void export_i32(export_stream* s, const int32_t* values, int64_t count);
void export_u64(export_stream* s, uint64_t value);
/// Hands on what has gathered; call it now and then.
void export_flush(export_stream* s);
