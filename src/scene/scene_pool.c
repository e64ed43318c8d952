#include "scene/scene_pool.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK_BYTES = 16384 };

typedef struct scene_pool_block {
    struct scene_pool_block* older;
    size_t bytes, used; // of the whole block, this head included
} scene_pool_block;

static size_t round_up(size_t bytes) {
    size_t unit = alignof(max_align_t);
    return (bytes + unit - 1) / unit * unit;
}

void scene_pool_init(scene_pool* pool, treacle_context* ctx) {
    TREACLE_ASSERT(ctx != NULL);
    *pool = (scene_pool){.ctx = ctx};
}

void scene_pool_finish(scene_pool* pool) {
    while (pool->block != NULL) {
        scene_pool_block* older = pool->block->older;
        alloc_free(pool->ctx, pool->block, pool->block->bytes);
        pool->block = older;
    }
}

static treacle_status add_block(scene_pool* pool, size_t payload) {
    size_t head = round_up(sizeof(scene_pool_block));
    size_t bytes = head + payload > BLOCK_BYTES ? head + payload : BLOCK_BYTES;
    scene_pool_block* block = alloc_bytes(pool->ctx, bytes);
    if (block == NULL) {
        return check_fail(pool->ctx, TREACLE_ERR_MEMORY,
                          "out of memory: %zu bytes for the scene file", bytes);
    }
    memset(block, 0, bytes);
    *block = (scene_pool_block){.older = pool->block, .bytes = bytes, .used = head};
    pool->block = block;
    return TREACLE_OK;
}

treacle_status scene_pool_take(scene_pool* pool, size_t count, size_t item_bytes, void** out) {
    *out = NULL;
    if (item_bytes != 0 && count > (SIZE_MAX / 4) / item_bytes) {
        return check_fail(pool->ctx, TREACLE_ERR_MEMORY, "out of memory: %zu items of a scene",
                          count);
    }
    size_t bytes = round_up(count * item_bytes);
    if (pool->block == NULL || pool->block->bytes - pool->block->used < bytes) {
        TREACLE_TRY(add_block(pool, bytes));
    }
    *out = (char*)pool->block + pool->block->used;
    pool->block->used += bytes;
    return TREACLE_OK;
}

treacle_status scene_pool_text(scene_pool* pool, const char* chars, size_t length,
                               const char** out) {
    TREACLE_ASSERT(chars != NULL || length == 0);
    void* copy = NULL;
    *out = NULL;
    TREACLE_TRY(scene_pool_take(pool, length + 1, 1, &copy));
    memcpy(copy, chars, length);
    *out = copy;
    return TREACLE_OK;
}
