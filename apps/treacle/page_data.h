// What the page asks for, as bytes: the run, its statistics, a frame's surface and particles.
#pragma once

#include "page_server.h"
#include "treacle/treacle.h"

typedef struct page_data {
    treacle_context* ctx;
    const char* folder;   // of the run
    treacle_scene* scene; // NULL if it cannot be read
} page_data;

/// Prints what is wrong; returns the exit code.
int page_data_open(treacle_context* ctx, const char* folder, page_data* out);
void page_data_close(page_data* d);

/// JSON of what a frame says: name, fps, domain, whether solids move. NULL without memory.
char* page_data_describe(const page_data* d, const treacle_frame* frame);
/// JSON of solids, bodies, containers and emitters, as triangles where they are in a frame. NULL
/// without memory.
char* page_data_props(const page_data* d, const treacle_frame* frame);
/// The same of a frame of the run. NULL if it cannot be read.
char* page_data_props_at(const page_data* d, int64_t number);
/// What page_data_describe says of the run, with how many frames it has. NULL if there is none yet.
char* page_data_run(const page_data* d);
/// JSON: columns of the statistics, thinned out.
char* page_data_stats(const page_data* d);

/// A frame as GLB. `note` is JSON of its time and of the bodies.
typedef struct page_frame {
    char* bytes;
    size_t size;
    char* note;
} page_frame;
treacle_status page_data_frame(const page_data* d, int64_t number, treacle_export_what what,
                               page_frame* out);
/// The same of a frame in memory.
treacle_status page_frame_of(const page_data* d, const treacle_frame* frame,
                             treacle_export_what what, page_frame* out);
