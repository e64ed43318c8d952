#include "cache/frame_copy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "cache/frame_format.h"

// Bytes that a thread copies at a time.
static const size_t part_bytes = (size_t)1 << 20;

typedef struct copy_job {
    char* to;
    const char* from;
    size_t bytes;
} copy_job;

static void copy_parts(void* data, int64_t begin, int64_t end) {
    const copy_job* job = data;
    size_t first = (size_t)begin * part_bytes, last = (size_t)end * part_bytes;
    last = last < job->bytes ? last : job->bytes;
    memcpy(job->to + first, job->from + first, last - first);
}

void frame_copy_begin(frame_copy* copy, treacle_context* ctx) {
    TREACLE_ASSERT(copy->ctx == NULL || copy->ctx == ctx);
    copy->ctx = ctx;
    copy->frame_count = 0;
    copy->block_count = 0;
}

static const frame_copy_block* find_block(const frame_copy* copy, const treacle_array* array,
                                          size_t bytes) {
    for (int i = 0; i < copy->block_count; ++i) {
        const frame_copy_block* block = &copy->blocks[i];
        if (block->source == array->data && block->bytes == bytes) {
            return block;
        }
    }
    return NULL;
}

// Makes room for `bytes`, and for a little more: liquid that pours in grows from frame to frame.
static treacle_status grow(frame_copy* copy, frame_copy_block* block, size_t bytes) {
    if (block->capacity >= bytes) {
        return TREACLE_OK;
    }
    size_t capacity = bytes + bytes / 8;
    alloc_free(copy->ctx, block->data, block->capacity);
    block->data = NULL;
    block->capacity = 0;
    TREACLE_TRY(alloc_array(copy->ctx, capacity, 1, "a copy of a frame", &block->data));
    block->capacity = capacity;
    return TREACLE_OK;
}

static treacle_status copy_array(frame_copy* copy, treacle_array* array) {
    bool is_valid = false;
    size_t bytes = (size_t)frame_array_bytes(array, &is_valid);
    TREACLE_ASSERT(is_valid);
    const frame_copy_block* found = find_block(copy, array, bytes);
    if (found == NULL) {
        frame_copy_block* block = &copy->blocks[copy->block_count];
        TREACLE_TRY(grow(copy, block, bytes));
        copy_job job = {.to = block->data, .from = array->data, .bytes = bytes};
        parallel_for(copy->ctx, (int64_t)((bytes + part_bytes - 1) / part_bytes), 1, copy_parts,
                     &job);
        block->source = array->data;
        block->bytes = bytes;
        copy->block_count += 1;
        found = block;
    }
    array->data = found->data;
    return TREACLE_OK;
}

treacle_status frame_copy_add(frame_copy* copy, const treacle_frame* frame) {
    TREACLE_ASSERT(copy->frame_count < FRAME_COPY_FRAMES);
    TREACLE_ASSERT(frame->array_count <= FRAME_COPY_ARRAYS);
    treacle_array* arrays = copy->arrays[copy->frame_count];
    memcpy(arrays, frame->arrays, (size_t)frame->array_count * sizeof(*arrays));
    for (int a = 0; a < frame->array_count; ++a) {
        TREACLE_TRY(copy_array(copy, &arrays[a]));
    }
    treacle_frame* out = &copy->frames[copy->frame_count];
    *out = *frame;
    out->arrays = arrays;
    out->parts = NULL;
    copy->frame_count += 1;
    return TREACLE_OK;
}

void frame_copy_free(frame_copy* copy) {
    for (int i = 0; i < FRAME_COPY_FRAMES * FRAME_COPY_ARRAYS; ++i) {
        alloc_free(copy->ctx, copy->blocks[i].data, copy->blocks[i].capacity);
        copy->blocks[i] = (frame_copy_block){0};
    }
    copy->frame_count = 0;
    copy->block_count = 0;
}
