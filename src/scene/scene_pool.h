// Memory that lives as long as its scene: taken piece by piece, given back all at once.
#pragma once

#include "base/context.h"

struct scene_pool_block;

typedef struct scene_pool {
    treacle_context* ctx;
    struct scene_pool_block* block; // the newest; it links to the older ones
} scene_pool;

void scene_pool_init(scene_pool* pool, treacle_context* ctx);
void scene_pool_finish(scene_pool* pool);

/// *out = count items of item_bytes, zeroed, aligned for any plain type.
treacle_status scene_pool_take(scene_pool* pool, size_t count, size_t item_bytes,
                               void** out) TREACLE_NODISCARD;
/// A NUL-terminated copy of `length` characters.
treacle_status scene_pool_text(scene_pool* pool, const char* chars, size_t length,
                               const char** out) TREACLE_NODISCARD;
