// Growing texts. A failed allocation is remembered; ask for it once, when the text is done.
#pragma once

#include <stdarg.h>

#include "base/context.h"

typedef struct text {
    treacle_context* ctx;
    char* at;      // always NUL-terminated; "" before the first append
    size_t length; // without the NUL
    size_t capacity;
    treacle_status status; // of the first failure; what is appended after it is dropped
} text;

void text_init(text* t, treacle_context* ctx);
/// Frees the text.
void text_finish(text* t);
void text_clear(text* t);

void text_append(text* t, const char* string);
void text_append_char(text* t, char c);
void text_append_span(text* t, const char* chars, size_t length);
void text_printf(text* t, const char* format, ...) TREACLE_PRINTF(2, 3);
void text_vprintf(text* t, const char* format, va_list args);

/// OK, or what went wrong in any append so far.
treacle_status text_status(const text* t);
/// Hands the characters over and empties `t`; free with alloc_free_text. On failure *out is NULL.
/// The text must not hold a NUL.
treacle_status text_take(text* t, char** out) TREACLE_NODISCARD;
