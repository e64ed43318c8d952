// Copies of frames: what a simulation shows of itself, kept while it goes on.
//
// A moment may be shown as a picture and as a state, which have most arrays in common. An array
// that lies at one place in both is copied once. Memory is kept from one moment to the next.
#pragma once

#include "base/context.h"
#include "treacle/cache.h"

enum { FRAME_COPY_FRAMES = 2, FRAME_COPY_ARRAYS = 64 };

typedef struct frame_copy_block {
    const void* source; // whose copy it is
    size_t bytes;       // of the copy
    void* data;
    size_t capacity;
} frame_copy_block;

typedef struct frame_copy {
    treacle_context* ctx;
    int frame_count, block_count;
    treacle_frame frames[FRAME_COPY_FRAMES];
    treacle_array arrays[FRAME_COPY_FRAMES][FRAME_COPY_ARRAYS];
    frame_copy_block blocks[FRAME_COPY_FRAMES * FRAME_COPY_ARRAYS];
} frame_copy;

/// Forgets the moment before, and keeps its memory.
void frame_copy_begin(frame_copy* copy, treacle_context* ctx);
/// Adds a frame of the moment: frames[frame_count - 1]. ERR_MEMORY leaves the frames before it as
/// they are. The frame must be whole on this rank.
treacle_status frame_copy_add(frame_copy* copy, const treacle_frame* frame) TREACLE_NODISCARD;
void frame_copy_free(frame_copy* copy);
