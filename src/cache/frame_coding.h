// What picture frames do with the columns that fill them: positions, velocities and ids are packed
// to the bits that they need before a chunk is compressed. docs/formats/frame.md is the normative
// text.
//
//     places   a position to 1/8192 of a cell, 13 bits, and the cell by how far it is from the
//              particle before; an axis that is the same for all, exactly
//     speeds   blocks of 256 particles, to 1/4096 of the largest component of the block, in as many
//              bits as the block's range needs
//     ids      blocks of 256, the source and the birth count above the least of the block
//
// Each chunk is packed by itself, so it is unpacked by itself. A chunk may begin and end within a
// particle: the codings look at the value three before, whichever component that is. What a coding
// cannot hold (positions far outside their tiles, numbers that are none) or would not make smaller
// stays plain, chunk by chunk. Unpacked places are exact in float and are packed to themselves.
#pragma once

#include "treacle/cache.h"

typedef enum frame_coding {
    FRAME_PLAIN,  // the values as they are
    FRAME_PLACES, // float
    FRAME_SPEEDS, // float
    FRAME_IDS,    // u64
    FRAME_CODING_COUNT
} frame_coding;

/// What the array of a frame is to be packed by.
frame_coding frame_coding_of(const treacle_frame* frame, const treacle_array* array);

/// Bytes of one value of a coding.
size_t frame_coding_value_bytes(frame_coding coding);

/// Packs a chunk, of whole values, into `packed`, which has room for raw_bytes; returns the bytes
/// that it took, 0 where it has to stay plain.
size_t frame_coding_pack(frame_coding coding, const void* raw, size_t raw_bytes, uint8_t* packed);

/// Unpacks it; false where the bytes are not what frame_coding_pack makes of any chunk of that
/// size. Believes nothing.
bool frame_coding_unpack(frame_coding coding, const uint8_t* packed, size_t packed_bytes, void* raw,
                         size_t raw_bytes);
