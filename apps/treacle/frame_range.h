// Which frames of a run a command works on: --frames a:b, and the paths of their files.
#pragma once

#include "treacle/treacle.h"

enum { FRAME_PATH_CAPACITY = 4096 };

typedef struct frame_range {
    const char* folder;  // of the run, or of the one file
    const char* file;    // the one frame file, or NULL
    int64_t first, last; // numbers, from 1
} frame_range;

/// Finds the frames of a folder, or the one file, that `text` ("12", "10:20", "10:", ":20" or NULL
/// for all) asks for, and that each of them is there. Prints what is wrong; returns the exit code.
int frame_range_find(treacle_context* ctx, const char* operand, const char* text, frame_range* out);
/// The path of a frame's file; false, and a message, if it is too long.
bool frame_range_path(const frame_range* range, int64_t number, char out[FRAME_PATH_CAPACITY]);
/// folder/stem_0001.ending.
bool frame_range_output(const char* folder, const char* stem, int64_t number, const char* ending,
                        char out[FRAME_PATH_CAPACITY]);
/// The scene that the run's folder keeps, or NULL: then frames are taken as they are.
treacle_scene* frame_range_scene(treacle_context* ctx, const frame_range* range);
// Options that commands which read a run have.
#define FRAME_RANGE_OPTION(to)                                                                     \
    {                                                                                              \
        .name = "frames", .kind = CLI_TEXT, .value = "A:B", .out = (to),                           \
        .help = "frames A to B, or one (default: all)"                                             \
    }
#define FRAME_FOLDER_OPTION(to)                                                                    \
    {                                                                                              \
        .name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "FOLDER", .out = (to),         \
        .help = "where to write (default: the run's folder)"                                       \
    }
#define FRAME_QUIET_OPTION(to)                                                                     \
    { .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .out = (to), .help = "say nothing" }

/// Makes the folder, and those above it, where they are missing.
bool frame_range_make_folder(const char* folder);
