#include "export/export_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FLUSH_BYTES = 1 << 20, PRINTF_MAX = 512 };

static void hand_on(export_stream* s, size_t at_least) {
    if (s->status == TREACLE_OK) {
        s->status = bytes_status(&s->bytes);
    }
    if (s->status == TREACLE_OK && s->bytes.size > 0 && s->bytes.size >= at_least) {
        s->status = atomic_file_append(&s->file, s->bytes.data, s->bytes.size);
        s->bytes.size = 0;
    }
}

void export_flush(export_stream* s) {
    hand_on(s, FLUSH_BYTES);
}

treacle_status export_stream_open(treacle_context* ctx, const char* path, export_stream* out) {
    *out = (export_stream){.ctx = ctx, .status = TREACLE_OK};
    TREACLE_TRY(atomic_file_open(ctx, path, &out->file));
    bytes_writer_init(&out->bytes, ctx);
    return TREACLE_OK;
}

treacle_status export_stream_close(export_stream* s) {
    hand_on(s, 0);
    bytes_writer_finish(&s->bytes);
    if (s->status != TREACLE_OK) {
        atomic_file_discard(&s->file);
        return s->status;
    }
    return atomic_file_commit(&s->file);
}

void export_printf(export_stream* s, const char* format, ...) {
    char line[PRINTF_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    TREACLE_ASSERT(length >= 0 && length < PRINTF_MAX);
    export_bytes(s, line, length < 0 ? 0 : (size_t)length);
}

void export_text(export_stream* s, const char* chars) {
    TREACLE_ASSERT(chars != NULL);
    export_bytes(s, chars, strlen(chars));
}

void export_bytes(export_stream* s, const void* data, size_t size) {
    TREACLE_ASSERT(data != NULL || size == 0);
    if (s->status == TREACLE_OK) {
        bytes_write(&s->bytes, data, size);
        export_flush(s);
    }
}

void export_f32(export_stream* s, const float* values, int64_t count) {
    TREACLE_ASSERT(values != NULL || count == 0);
    for (int64_t i = 0; i < count && s->status == TREACLE_OK; ++i) {
        bytes_write_f32(&s->bytes, values[i]);
        export_flush(s);
    }
}

void export_i32(export_stream* s, const int32_t* values, int64_t count) {
    TREACLE_ASSERT(values != NULL || count == 0);
    for (int64_t i = 0; i < count && s->status == TREACLE_OK; ++i) {
        bytes_write_i32(&s->bytes, values[i]);
        export_flush(s);
    }
}

void export_u64(export_stream* s, uint64_t value) {
    if (s->status == TREACLE_OK) {
        bytes_write_u64(&s->bytes, value);
    }
}
