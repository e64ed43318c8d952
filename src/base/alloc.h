// The one gate to the heap: aligned, counted, checked, hookable.
//
// Every block is TREACLE_ALIGNMENT-aligned. Sizes are known at free, so the count is exact and a
// leak shows in treacle_context_memory(). Failure is an ordinary error: alloc_* return ERR_MEMORY
// with a sentence that names what the memory was for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/// NULL on failure or overflow; never NULL for zero bytes (it then returns a block of one line).
void* alloc_bytes(treacle_context* ctx, size_t bytes);
void alloc_free(treacle_context* ctx, void* block, size_t bytes);

/// Whether blocks of so many bytes are zero when they come, page by page, each when it is first
/// written: so large ones are where there are several ranks. What nobody touches costs nothing.
bool alloc_is_zeroed(const treacle_context* ctx, size_t bytes);

/// Gives back the pages of a block that lie in [begin, end) bytes of it, where blocks come page by
/// page; they are zero when they are touched again. Else nothing: what is there means nothing.
void alloc_forget(treacle_context* ctx, void* block, size_t bytes, size_t begin, size_t end);

/// Around a step, which takes its blocks from a heap of its own (base/step_heap.h). Who brings an
/// allocator of his own gets every request instead, and ranks map their blocks page by page.
void alloc_begin_step(treacle_context* ctx);
void alloc_end_step(treacle_context* ctx);
/// Gives back what that heap keeps for steps to come.
void alloc_trim(treacle_context* ctx);

/// *out = count items of item_bytes, not initialised. `what` names them in the error.
treacle_status alloc_array(treacle_context* ctx, size_t count, size_t item_bytes, const char* what,
                           void** out) TREACLE_NODISCARD;
/// The same, zeroed.
treacle_status alloc_zero(treacle_context* ctx, size_t count, size_t item_bytes, const char* what,
                          void** out) TREACLE_NODISCARD;
/// Grows or shrinks *block from old_count to new_count items, keeping the common part. On failure
/// the block is as it was.
treacle_status alloc_resize(treacle_context* ctx, void** block, size_t old_count, size_t new_count,
                            size_t item_bytes, const char* what) TREACLE_NODISCARD;
/// A copy of a NUL-terminated text; free with alloc_free_text.
treacle_status alloc_text(treacle_context* ctx, const char* text, char** out) TREACLE_NODISCARD;
void alloc_free_text(treacle_context* ctx, char* text);
