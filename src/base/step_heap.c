#include "base/step_heap.h"

#include "base/check.h"

enum { LINE = 64, PARTS = 8, CHUNK_LEAST = 1 << 18 };

// One line before what the caller gets. size counts lines, this one included.
typedef struct heap_block {
    size_t size;
    struct heap_block* below; // the block before it in the chunk; NULL: it is the first
    struct heap_chunk* chunk;
    bool is_free, is_last;
    struct heap_block *next, *back; // in the list of its class, while it is free
} heap_block;

// One line, then blocks to the end of the chunk.
typedef struct heap_chunk {
    struct heap_chunk* next;
    size_t bytes;
    int64_t step;  // the last in which it gave a block
    int64_t count; // blocks that are taken
} heap_chunk;

_Static_assert(sizeof(heap_block) <= LINE && sizeof(heap_chunk) <= LINE, "headers fit in a line");

static int floor_log2(size_t value) {
    return 63 - __builtin_clzll((unsigned long long)value);
}

// Lines = (8 + m) 2^e and more, m in 0..7: the classes of a power of two follow those of the one
// below. Up to eight lines each number is a class of its own.
static int class_below(size_t lines) {
    if (lines < PARTS) {
        return (int)lines;
    }
    int power = floor_log2(lines);
    return PARTS * (power - 2) + (int)(lines >> (power - 3)) - PARTS;
}

// The least class all of whose blocks have so many lines.
static int class_above(size_t lines) {
    size_t part = lines < PARTS ? 1 : (size_t)1 << (floor_log2(lines) - 3);
    return class_below((lines + part - 1) / part * part);
}

static heap_block* above(heap_block* block) {
    return block->is_last ? NULL : (heap_block*)((char*)block + block->size * LINE);
}

static void list(step_heap* heap, heap_block* block) {
    heap_block** first = &heap->free[class_below(block->size)];
    block->is_free = true;
    block->back = NULL;
    block->next = *first;
    if (*first != NULL) {
        (*first)->back = block;
    }
    *first = block;
}

static void unlist(step_heap* heap, heap_block* block) {
    if (block->back != NULL) {
        block->back->next = block->next;
    } else {
        heap->free[class_below(block->size)] = block->next;
    }
    if (block->next != NULL) {
        block->next->back = block->back;
    }
    block->is_free = false;
}

// The block takes over the one above it.
static void join(heap_block* block, const heap_block* upper) {
    block->size += upper->size;
    block->is_last = upper->is_last;
    heap_block* beyond = above(block);
    if (beyond != NULL) {
        beyond->below = block;
    }
}

// What is more than `lines` becomes a free block, if it is worth one.
static void split(step_heap* heap, heap_block* block, size_t lines) {
    if (block->size < lines + 2) {
        return;
    }
    heap_block* rest = (heap_block*)((char*)block + lines * LINE);
    *rest = (heap_block){.size = block->size - lines,
                         .below = block,
                         .chunk = block->chunk,
                         .is_last = block->is_last};
    block->size = lines;
    block->is_last = false;
    heap_block* beyond = above(rest);
    if (beyond != NULL) {
        beyond->below = rest;
    }
    list(heap, rest);
}

static heap_block* step_heap_find(step_heap* heap, size_t lines) {
    heap_block* found = NULL;
    for (int c = class_above(lines); found == NULL && c < STEP_HEAP_CLASSES; ++c) {
        found = heap->free[c];
    }
    return found;
}

// A chunk for a block of so many lines and for some more: at least an eighth of what is held.
static bool grow(step_heap* heap, const heap_source* source, size_t lines) {
    size_t bytes = (lines + 1) * LINE, more = heap->held / PARTS / LINE * LINE;
    bytes = bytes < CHUNK_LEAST ? CHUNK_LEAST : bytes;
    bytes = bytes < more ? more : bytes;
    heap_chunk* chunk = source->alloc(bytes, LINE, source->user);
    if (chunk == NULL) {
        return false;
    }
    *chunk = (heap_chunk){.next = heap->chunks, .bytes = bytes};
    heap->chunks = chunk;
    heap->held += bytes;
    heap_block* block = (heap_block*)((char*)chunk + LINE);
    *block = (heap_block){.size = bytes / LINE - 1, .chunk = chunk, .is_last = true};
    list(heap, block);
    return true;
}

// Chunks without blocks that gave none in so many steps.
static void drop(step_heap* heap, const heap_source* source, int64_t steps) {
    for (heap_chunk** at = &heap->chunks; *at != NULL;) {
        heap_chunk* chunk = *at;
        if (chunk->count > 0 || chunk->step + steps > heap->step) {
            at = &chunk->next;
            continue;
        }
        *at = chunk->next;
        unlist(heap, (heap_block*)((char*)chunk + LINE));
        heap->held -= chunk->bytes;
        source->free(chunk, chunk->bytes, source->user);
    }
}

static void lock(step_heap* heap) {
    while (atomic_flag_test_and_set_explicit(&heap->lock, memory_order_acquire)) {
    }
}

static void unlock(step_heap* heap) {
    atomic_flag_clear_explicit(&heap->lock, memory_order_release);
}

void* step_heap_take(step_heap* heap, const heap_source* source, size_t bytes) {
    TREACLE_ASSERT(source->alloc != NULL && source->free != NULL);
    size_t part = bytes / PARTS;
    if (bytes > SIZE_MAX / 4) {
        return NULL;
    }
    size_t lines = (bytes + LINE - 1) / LINE + 1;
    lock(heap);
    heap_block* block = step_heap_find(heap, lines);
    if (block == NULL) {
        drop(heap, source, 0); // what is empty is too small, or it would have been found
        block = grow(heap, source, lines + part / LINE + 1) ? step_heap_find(heap, lines) : NULL;
    }
    if (block != NULL) {
        unlist(heap, block);
        split(heap, block, lines);
        block->chunk->count += 1;
        block->chunk->step = heap->step;
    }
    unlock(heap);
    return block == NULL ? NULL : (char*)block + LINE;
}

static bool is_of(const step_heap* heap, const char* block) {
    for (const heap_chunk* c = heap->chunks; c != NULL; c = c->next) {
        const char* begin = (const char*)c;
        if (block > begin && block < begin + c->bytes) {
            return true;
        }
    }
    return false;
}

bool step_heap_give(step_heap* heap, void* memory) {
    TREACLE_ASSERT(memory != NULL);
    lock(heap);
    bool is_ours = is_of(heap, memory);
    if (is_ours) {
        heap_block* block = (heap_block*)((char*)memory - LINE);
        heap_block *upper = above(block), *lower = block->below;
        TREACLE_ASSERT(!block->is_free && block->chunk->count > 0);
        block->chunk->count -= 1;
        if (upper != NULL && upper->is_free) {
            unlist(heap, upper);
            join(block, upper);
        }
        if (lower != NULL && lower->is_free) {
            unlist(heap, lower);
            join(lower, block);
            block = lower;
        }
        list(heap, block);
    }
    unlock(heap);
    return is_ours;
}

void step_heap_end_step(step_heap* heap, const heap_source* source) {
    TREACLE_ASSERT(source->free != NULL);
    lock(heap);
    drop(heap, source, STEP_HEAP_STEPS);
    heap->step += 1;
    unlock(heap);
}

void step_heap_trim(step_heap* heap, const heap_source* source) {
    lock(heap);
    drop(heap, source, 0);
    unlock(heap);
}
