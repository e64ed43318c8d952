#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"
#include "base/ledger.h"

// Under which the memory that is idle goes.
static const char arena_name[] = "the scratch memory of a step";

void arena_init(arena* a, treacle_context* ctx) {
    TREACLE_ASSERT(ctx != NULL);
    memset(a, 0, sizeof(*a));
    a->ctx = ctx;
}

void arena_finish(arena* a) {
    arena_give_to(a, 0);
    alloc_free(a->ctx, a->data, a->capacity);
    a->data = NULL;
    a->capacity = 0;
}

static bool block_bytes(size_t count, size_t item_bytes, size_t* out) {
    if (item_bytes != 0 && count > (SIZE_MAX - TREACLE_ALIGNMENT) / item_bytes) {
        return false;
    }
    size_t bytes = count * item_bytes;
    bytes = bytes == 0 ? 1 : bytes;
    *out = (bytes + (TREACLE_ALIGNMENT - 1)) / TREACLE_ALIGNMENT * TREACLE_ALIGNMENT;
    return true;
}

static bool is_kept_apart(const arena* a, size_t bytes) {
    return a->is_sparse && alloc_is_zeroed(a->ctx, bytes);
}

treacle_status arena_take(arena* a, size_t count, size_t item_bytes, const char* name, void** out) {
    TREACLE_ASSERT(a->ctx != NULL && name != NULL);
    TREACLE_ASSERT(a->used <= a->capacity);
    *out = NULL;
    size_t bytes = 0;
    if (!block_bytes(count, item_bytes, &bytes)) {
        return check_fail(a->ctx, TREACLE_ERR_MEMORY, "out of memory: %zu x %zu bytes for %s",
                          count, item_bytes, name);
    }
    if (a->block_count == ARENA_BLOCKS_MAX) {
        return check_fail(a->ctx, TREACLE_ERR_LIMIT,
                          "no room for %s: a step may hold %d blocks of scratch memory at a time",
                          name, ARENA_BLOCKS_MAX);
    }
    arena_block block = {.name = name, .bytes = bytes};
    bool is_apart = is_kept_apart(a, bytes);
    block.is_on_heap = is_apart || bytes > a->capacity - a->used;
    if (block.is_on_heap) {
        void* data = NULL;
        TREACLE_TRY(alloc_array(a->ctx, bytes, 1, name, &data));
        block.data = data;
    } else {
        block.data = a->data + a->used;
        a->used += bytes;
        if (a->ctx->ledger != NULL) {
            ledger_lend(a->ctx->ledger, arena_name, name, bytes);
        }
    }
    a->block[a->block_count] = block;
    a->block_count += 1;
    a->ctx->work.scratch_bytes += (int64_t)bytes;
    a->held += is_apart ? 0 : bytes;
    a->high_water = a->held > a->high_water ? a->held : a->high_water;
    *out = block.data;
    return TREACLE_OK;
}

treacle_status arena_take_zero(arena* a, size_t count, size_t item_bytes, const char* name,
                               void** out) {
    TREACLE_TRY(arena_take(a, count, item_bytes, name, out));
    if (!is_kept_apart(a, a->block[a->block_count - 1].bytes)) {
        memset(*out, 0, count * item_bytes);
    }
    return TREACLE_OK;
}

static void give_last(arena* a) {
    a->block_count -= 1;
    const arena_block* block = &a->block[a->block_count];
    a->held -= is_kept_apart(a, block->bytes) ? 0 : block->bytes;
    if (block->is_on_heap) {
        alloc_free(a->ctx, block->data, block->bytes);
    } else {
        a->used -= block->bytes;
        if (a->ctx->ledger != NULL) {
            ledger_lend(a->ctx->ledger, block->name, arena_name, block->bytes);
        }
    }
}

void arena_give(arena* a, const void* block) {
    if (block == NULL) {
        return;
    }
    TREACLE_ASSERT(a->block_count > 0 && a->block[a->block_count - 1].data == block);
    give_last(a);
}

int arena_mark(const arena* a) {
    return a->block_count;
}

void arena_give_to(arena* a, int mark) {
    TREACLE_ASSERT(mark >= 0 && mark <= a->block_count);
    while (a->block_count > mark) {
        give_last(a);
    }
}

treacle_status arena_end_step(arena* a) {
    TREACLE_ASSERT(a->capacity % ARENA_CHUNK == 0);
    TREACLE_ASSERT(a->block_count == 0 && a->used == 0 && a->held == 0);
    if (a->high_water <= a->capacity) {
        return TREACLE_OK;
    }
    size_t chunks = (a->high_water + (ARENA_CHUNK - 1)) / ARENA_CHUNK;
    void* grown = NULL;
    alloc_free(a->ctx, a->data, a->capacity); // first: nothing in it is asked for any more
    a->data = NULL;
    a->capacity = 0;
    TREACLE_TRY(alloc_array(a->ctx, chunks, ARENA_CHUNK, arena_name, &grown));
    a->data = grown;
    a->capacity = chunks * ARENA_CHUNK;
    return TREACLE_OK;
}
