// Where rigid bodies are in every frame, as one JSON file.
#pragma once

#include "frame_range.h"

typedef struct export_bodies_def {
    const frame_range* range;
    const treacle_scene* scene; // for the names; NULL: none
    const char* folder;         // where to write
    const char* name;           // of the file, NULL: bodies
    bool is_z_up;
} export_bodies_def;

/// Writes folder/name.json as a whole or not at all. Prints what is wrong; returns the exit code.
int export_bodies(treacle_context* ctx, const export_bodies_def* def, bool is_quiet);
