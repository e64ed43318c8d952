// run.json: what a run must remember beside its scene.
#pragma once

#include "run/folder.h"
#include "treacle/run.h"

typedef struct run_record {
    const char* version;
    const char* scene; // absolute path, "" if the scene came from memory
    int set_count;
    const char* const* sets;
    uint64_t scene_hash;
    int64_t frames;
    bool preview;
    int preview_width, preview_height;
    const char* film; // path, from the folder if not absolute; "" if none
} run_record;

// A record that was read; its texts live as long as it does.
typedef struct loaded_record {
    run_record record;
    void* root;                // the JSON value that owns the texts
    const char** set_pointers; // the array behind record.sets
} loaded_record;

/// Writes the record as a staged file; folder_commit puts it in place.
treacle_status run_record_stage(const folder* f, const run_record* record) TREACLE_NODISCARD;
/// ERR_USAGE if the folder holds no run, ERR_FORMAT if the file is damaged.
treacle_status run_record_read(const folder* f, loaded_record* out) TREACLE_NODISCARD;
/// Accepts a zeroed record.
void run_record_free(const folder* f, loaded_record* loaded);
