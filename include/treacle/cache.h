// Frame and state files: named arrays with a small head. docs/formats/frame.md is normative.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum treacle_type {
    TREACLE_TYPE_U8,
    TREACLE_TYPE_U16,
    TREACLE_TYPE_I32,
    TREACLE_TYPE_I64,
    TREACLE_TYPE_U64,
    TREACLE_TYPE_F32,
    TREACLE_TYPE_F64,
} treacle_type;

/// Bytes of one component.
TREACLE_API size_t treacle_type_size(treacle_type type);

/// A named array: `count` items of `components` values each, packed.
typedef struct treacle_array {
    char name[24]; ///< unique in its frame, [a-z0-9_], ends in NUL
    treacle_type type;
    int components; ///< 1..16
    int64_t count;
    const void* data; ///< not owned; the memory of the simulation or of the loaded frame
} treacle_array;

typedef enum treacle_frame_kind {
    TREACLE_FRAME_PICTURE = 1, ///< what pictures need
    TREACLE_FRAME_STATE = 2,   ///< what resuming needs
} treacle_frame_kind;

/// What a frame or state file holds, and what the simulation shows of itself between steps.
/// Particles are sorted by tile. Tile i holds the particles first[i] .. first[i+1]-1 of the arrays
/// `tile_first` (I64, tiles + 1) and `tile_coord` (I32 x 3, tiles); `position` (F32 x 3) is in
/// cells from the low corner of the tile: x = origin + cell * (8 * tile_coord + position).
typedef struct treacle_frame {
    treacle_frame_kind kind;
    int64_t number;      ///< frame, from 1
    int64_t step;        ///< steps done since the start
    double time;         ///< s
    double fps;          ///< 1/s
    double origin[3];    ///< m
    double cell;         ///< m
    int32_t cells[3];    ///< of the domain; 1 marks an inactive axis
    uint64_t scene_hash; ///< of the scene that made it; 0 if none
    int array_count;
    const treacle_array* arrays;
    /// [array_count] where ranks hold arrays in part: of array i rank r has the items parts[i][r]
    /// .. parts[i][r + 1] - 1, at the places that they have among all; where parts[i] is NULL, and
    /// where parts is, all items are here.
    const int64_t* const* parts;
    /// Not NULL: arrays have room, but what is in them is still in the file, for
    /// treacle_loaded_frame_fetch to bring.
    struct treacle_loaded_frame* source;
} treacle_frame;

/// The array of that name, or NULL.
TREACLE_API const treacle_array* treacle_frame_find(const treacle_frame* frame, const char* name);
/// Which items of the array of that name each rank has; NULL: all are here, or there is no such
/// array.
TREACLE_API const int64_t* treacle_frame_parts(const treacle_frame* frame, const char* name);

/// Writes the frame to `path` as a whole or not at all: temporary file, fsync, rename.
TREACLE_API treacle_status treacle_frame_write(treacle_context* ctx, const treacle_frame* frame,
                                               const char* path);

/// A frame that was read from a file and owns its arrays.
typedef struct treacle_loaded_frame treacle_loaded_frame;
/// Reads and checks the whole file. ERR_IO, ERR_FORMAT or ERR_VERSION with a sentence that says
/// what is wrong with which part.
TREACLE_API treacle_status treacle_frame_read(treacle_context* ctx, const char* path,
                                              treacle_loaded_frame** out);
/// The same, but leaves what is in the arrays in the file. Ranks call it together, and each of them
/// checks a share of the file.
TREACLE_API treacle_status treacle_frame_open(treacle_context* ctx, const char* path,
                                              treacle_loaded_frame** out);
/// Brings items first .. end - 1 of an array, if they are not here yet.
TREACLE_API treacle_status treacle_loaded_frame_fetch(treacle_loaded_frame* loaded,
                                                      const char* name, int64_t first, int64_t end);
TREACLE_API const treacle_frame* treacle_loaded_frame_view(const treacle_loaded_frame* loaded);
/// Accepts NULL.
TREACLE_API void treacle_loaded_frame_destroy(treacle_loaded_frame* loaded);

#ifdef __cplusplus
}
#endif
