// What there is to say about a scene file, and where.
//
// Loading goes on after an error, so that one run shows all of them. Only a lack of memory ends it
// early; that is an ordinary status.
#pragma once

#include "scene/scene_pool.h"
#include "treacle/scene.h"

enum { SCENE_DIAG_MAX = 200 }; // more are counted and left out

/// A text that places refer to: a file, or one setting of the command line.
typedef struct scene_file {
    const char* name;
    int order;   // of first reading; sorts the diagnostics
    bool is_set; // from the command line: it has no lines
} scene_file;

typedef struct scene_place {
    const scene_file* file;
    int line, column; // from 1
} scene_place;

typedef struct scene_diag {
    treacle_log_level level;
    scene_place place;
    int number; // in order of finding
    const char* text;
} scene_diag;

typedef struct scene_diags {
    scene_pool* pool;
    scene_diag* item;
    int count, capacity;
    int errors; // all, those left out and those said before included
} scene_diags;

void scene_diags_init(scene_diags* diags, scene_pool* pool);
void scene_diags_finish(scene_diags* diags);

/// Adds one, unless the same was said of the same place.
treacle_status scene_diag_add(scene_diags* diags, treacle_log_level level, scene_place place,
                              const char* text) TREACLE_NODISCARD;
treacle_status scene_diag_error(scene_diags* diags, scene_place place, const char* format,
                                ...) TREACLE_NODISCARD TREACLE_PRINTF(3, 4);
/// By file, line, column; equals stay in the order in which they were found.
void scene_diags_sort(scene_diags* diags);
/// The public form of one.
treacle_diagnostic scene_diag_show(const scene_diag* diag);
/// All of them, a line each, "file:line:column: error: text"; the text lives in the pool.
treacle_status scene_diags_report(const scene_diags* diags, const char** out) TREACLE_NODISCARD;
