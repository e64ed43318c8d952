#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ledger.h"

// Bytes, from which on a block is mapped by itself.
enum { ALLOC_PAGES_MIN = 1 << 18 };

static size_t round_up(size_t bytes) {
    return (bytes + (TREACLE_ALIGNMENT - 1)) / TREACLE_ALIGNMENT * TREACLE_ALIGNMENT;
}

static void count_up(treacle_context* ctx, size_t bytes) {
    size_t now = atomic_fetch_add(&ctx->memory, bytes) + bytes;
    size_t peak = atomic_load(&ctx->memory_peak);
    while (now > peak && !atomic_compare_exchange_weak(&ctx->memory_peak, &peak, now)) {
    }
}

bool alloc_is_zeroed(const treacle_context* ctx, size_t bytes) {
    return ctx->has_pages && bytes >= ALLOC_PAGES_MIN;
}

// Of all memory: the C library, or what the caller brings.
static heap_source root_of(const treacle_context* ctx) {
    return (heap_source){ctx->def.alloc, ctx->def.free, ctx->def.alloc_user};
}

static void* take_kept(size_t bytes, size_t alignment, void* user) {
    treacle_context* ctx = user;
    heap_source root = root_of(ctx);
    TREACLE_ASSERT(alignment == TREACLE_ALIGNMENT);
    (void)alignment;
    return block_shelf_take(&ctx->shelf, &root, bytes, atomic_load(&ctx->memory),
                            atomic_load(&ctx->memory_peak));
}

static void give_kept(void* block, size_t bytes, void* user) {
    treacle_context* ctx = user;
    heap_source root = root_of(ctx);
    block_shelf_give(&ctx->shelf, &root, block, bytes);
}

// Large blocks are kept where there is a heap of steps.
static heap_source source_of(treacle_context* ctx) {
    return ctx->has_heap ? (heap_source){take_kept, give_kept, ctx} : root_of(ctx);
}

static void* alloc_take(treacle_context* ctx, size_t bytes) {
    heap_source source = source_of(ctx);
    if (ctx->is_in_step) {
        return step_heap_take(&ctx->heap, &source, bytes);
    }
    if (!alloc_is_zeroed(ctx, bytes)) {
        return source.alloc(bytes, TREACLE_ALIGNMENT, source.user);
    }
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static void give(treacle_context* ctx, void* block, size_t bytes) {
    if (alloc_is_zeroed(ctx, bytes)) {
        munmap(block, bytes);
    } else if (!ctx->has_heap || !step_heap_give(&ctx->heap, block)) {
        heap_source source = source_of(ctx);
        source.free(block, bytes, source.user);
    }
}

static void* take_named(treacle_context* ctx, size_t bytes, const char* name) {
    if (bytes > SIZE_MAX - TREACLE_ALIGNMENT) {
        return NULL;
    }
    size_t rounded = round_up(bytes == 0 ? 1 : bytes);
    void* block = alloc_take(ctx, rounded);
    if (block != NULL) {
        count_up(ctx, rounded);
    }
    if (block != NULL && ctx->ledger != NULL) {
        ledger_take(ctx->ledger, block, name, rounded);
    }
    return block;
}

void* alloc_bytes(treacle_context* ctx, size_t bytes) {
    return take_named(ctx, bytes, "others");
}

void alloc_free(treacle_context* ctx, void* block, size_t bytes) {
    TREACLE_ASSERT(block == NULL || (uintptr_t)block % TREACLE_ALIGNMENT == 0);
    TREACLE_ASSERT(block == NULL || atomic_load(&ctx->memory) >= bytes);
    if (block == NULL) {
        return;
    }
    size_t rounded = round_up(bytes == 0 ? 1 : bytes);
    atomic_fetch_sub(&ctx->memory, rounded);
    if (ctx->ledger != NULL) {
        ledger_give(ctx->ledger, block);
    }
    give(ctx, block, rounded);
}

void alloc_begin_step(treacle_context* ctx) {
    TREACLE_ASSERT(!ctx->is_in_step);
    ctx->is_in_step = ctx->has_heap;
}

void alloc_end_step(treacle_context* ctx) {
    TREACLE_ASSERT(ctx->is_in_step == ctx->has_heap);
    heap_source source = source_of(ctx);
    step_heap_end_step(&ctx->heap, &source);
    ctx->is_in_step = false;
}

void alloc_trim(treacle_context* ctx) {
    heap_source source = source_of(ctx);
    heap_source root = root_of(ctx);
    step_heap_trim(&ctx->heap, &source);
    block_shelf_clear(&ctx->shelf, &root);
}

void alloc_forget(treacle_context* ctx, void* block, size_t bytes, size_t begin, size_t end) {
    TREACLE_ASSERT(block == NULL || end <= bytes);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (block != NULL && first < last && alloc_is_zeroed(ctx, round_up(bytes))) {
        (void)!madvise((char*)block + first, last - first, MADV_DONTNEED);
    }
}

treacle_status alloc_array(treacle_context* ctx, size_t count, size_t item_bytes, const char* what,
                           void** out) {
    TREACLE_ASSERT(out != NULL);
    TREACLE_ASSERT(what != NULL);
    *out = NULL;
    bool fits = item_bytes == 0 || count <= SIZE_MAX / item_bytes;
    void* block = fits ? take_named(ctx, count * item_bytes, what) : NULL;
    if (block == NULL) {
        return check_fail(ctx, TREACLE_ERR_MEMORY, "out of memory: %zu x %zu bytes for %s", count,
                          item_bytes, what);
    }
    *out = block;
    return TREACLE_OK;
}

treacle_status alloc_zero(treacle_context* ctx, size_t count, size_t item_bytes, const char* what,
                          void** out) {
    TREACLE_TRY(alloc_array(ctx, count, item_bytes, what, out));
    if (!alloc_is_zeroed(ctx, round_up(count * item_bytes))) {
        memset(*out, 0, count * item_bytes);
    }
    return TREACLE_OK;
}

treacle_status alloc_resize(treacle_context* ctx, void** block, size_t old_count, size_t new_count,
                            size_t item_bytes, const char* what) {
    TREACLE_ASSERT(*block != NULL || old_count == 0);
    TREACLE_ASSERT(item_bytes > 0);
    void* grown = NULL;
    TREACLE_TRY(alloc_array(ctx, new_count, item_bytes, what, &grown));
    size_t common = old_count < new_count ? old_count : new_count;
    if (*block != NULL && common > 0) {
        memcpy(grown, *block, common * item_bytes);
    }
    alloc_free(ctx, *block, old_count * item_bytes);
    *block = grown;
    return TREACLE_OK;
}

treacle_status alloc_text(treacle_context* ctx, const char* text, char** out) {
    TREACLE_ASSERT(text != NULL && out != NULL);
    size_t bytes = strlen(text) + 1;
    TREACLE_TRY(alloc_array(ctx, bytes, 1, "a text", (void**)out));
    memcpy(*out, text, bytes);
    return TREACLE_OK;
}

void alloc_free_text(treacle_context* ctx, char* text) {
    if (text != NULL) {
        alloc_free(ctx, text, strlen(text) + 1);
    }
}
