#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void text_init(text* t, treacle_context* ctx) {
    *t = (text){.ctx = ctx, .at = ""}; // never written to: the capacity is 0
}

void text_finish(text* t) {
    if (t->capacity > 0) {
        alloc_free(t->ctx, t->at, t->capacity);
    }
    text_init(t, t->ctx);
}

void text_clear(text* t) {
    t->length = 0;
    if (t->capacity > 0) {
        t->at[0] = '\0';
    }
}

treacle_status text_status(const text* t) {
    return t->status;
}

// Makes room for `length` more characters and the NUL. False if that failed, now or before.
static bool text_reserve(text* t, size_t length) {
    if (t->status != TREACLE_OK || length < t->capacity - t->length) {
        return t->status == TREACLE_OK;
    }
    size_t needed = t->length + length + 1;
    size_t doubled = t->capacity < 64 ? 128 : 2 * t->capacity;
    size_t capacity = needed > doubled ? needed : doubled;
    void* block = t->capacity > 0 ? t->at : NULL;
    if (needed <= length || doubled < t->capacity) {
        t->status =
            check_fail(t->ctx, TREACLE_ERR_MEMORY, "out of memory: a text of %zu letters", length);
    } else {
        t->status = alloc_resize(t->ctx, &block, t->capacity, capacity, 1, "a text");
    }
    if (t->status == TREACLE_OK) {
        t->at = block;
        t->capacity = capacity;
    }
    return t->status == TREACLE_OK;
}

void text_append_span(text* t, const char* chars, size_t length) {
    TREACLE_ASSERT(chars != NULL || length == 0);
    TREACLE_ASSERT(t->length == 0 || t->length < t->capacity);
    if (length > 0 && text_reserve(t, length)) {
        memcpy(t->at + t->length, chars, length);
        t->length += length;
        t->at[t->length] = '\0';
    }
}

void text_append(text* t, const char* string) {
    TREACLE_ASSERT(string != NULL);
    text_append_span(t, string, strlen(string));
}

void text_append_char(text* t, char c) {
    text_append_span(t, &c, 1);
}

void text_vprintf(text* t, const char* format, va_list args) {
    TREACLE_ASSERT(t->ctx != NULL && format != NULL);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0 && text_reserve(t, (size_t)length)) {
        vsnprintf(t->at + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void text_printf(text* t, const char* format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

treacle_status text_take(text* t, char** out) {
    *out = NULL;
    treacle_status status = t->status;
    if (status == TREACLE_OK) {
        TREACLE_ASSERT(strlen(t->at) == t->length);
        status = alloc_text(t->ctx, t->at, out); // alloc_free_text wants the exact size
    }
    text_finish(t);
    return status;
}
