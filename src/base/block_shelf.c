#include "base/block_shelf.h"

#include "base/check.h"

enum { ALIGNED = 64 };

static void shelf_lock(block_shelf* shelf) {
    while (atomic_flag_test_and_set_explicit(&shelf->lock, memory_order_acquire)) {
    }
}

static void shelf_unlock(block_shelf* shelf) {
    atomic_flag_clear_explicit(&shelf->lock, memory_order_release);
}

// The smallest block that serves; NULL: none.
static shelf_block* best_for(block_shelf* shelf, size_t bytes) {
    shelf_block* best = NULL;
    for (int i = 0; i < SHELF_PLACES; ++i) {
        shelf_block* b = &shelf->block[i];
        bool serves =
            b->data != NULL && b->bytes >= bytes && b->bytes - bytes <= bytes / SHELF_PARTS;
        best = serves && (best == NULL || b->bytes < best->bytes) ? b : best;
    }
    return best;
}

static shelf_block* oldest_of(block_shelf* shelf) {
    shelf_block* oldest = NULL;
    for (int i = 0; i < SHELF_PLACES; ++i) {
        shelf_block* b = &shelf->block[i];
        oldest = b->data != NULL && (oldest == NULL || b->age < oldest->age) ? b : oldest;
    }
    return oldest;
}

static shelf_block clear_place(block_shelf* shelf, shelf_block* place) {
    shelf_block out = *place;
    shelf->held -= out.bytes;
    *place = (shelf_block){0};
    return out;
}

// Gives back the oldest until no more than `most` bytes are held.
static void shrink(block_shelf* shelf, const heap_source* source, size_t most) {
    while (shelf->held > most) {
        shelf_block out = clear_place(shelf, oldest_of(shelf));
        source->free(out.data, out.bytes, source->user);
    }
}

void* block_shelf_take(block_shelf* shelf, const heap_source* source, size_t bytes, size_t in_use,
                       size_t most) {
    TREACLE_ASSERT(source->alloc != NULL && source->free != NULL);
    if (bytes < SHELF_LEAST) {
        return source->alloc(bytes, ALIGNED, source->user);
    }
    shelf_lock(shelf);
    shelf_block* found = best_for(shelf, bytes);
    void* out = found != NULL ? clear_place(shelf, found).data : NULL;
    size_t used = in_use + bytes;
    shrink(shelf, source, most > used ? most - used : 0);
    if (out == NULL) {
        out = source->alloc(bytes, ALIGNED, source->user);
    }
    if (out == NULL) { // what is kept may be what is missing
        shrink(shelf, source, 0);
        out = source->alloc(bytes, ALIGNED, source->user);
    }
    shelf_unlock(shelf);
    return out;
}

void block_shelf_give(block_shelf* shelf, const heap_source* source, void* block, size_t bytes) {
    TREACLE_ASSERT(block != NULL);
    shelf_block* place = NULL;
    shelf_lock(shelf);
    for (int i = 0; i < SHELF_PLACES && bytes >= SHELF_LEAST; ++i) {
        place = shelf->block[i].data == NULL ? &shelf->block[i] : place;
    }
    if (place != NULL) {
        *place = (shelf_block){block, bytes, shelf->clock++};
        shelf->held += bytes;
    }
    shelf_unlock(shelf);
    if (place == NULL) {
        source->free(block, bytes, source->user);
    }
}

void block_shelf_clear(block_shelf* shelf, const heap_source* source) {
    shelf_lock(shelf);
    shrink(shelf, source, 0);
    shelf_unlock(shelf);
}
