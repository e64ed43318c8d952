// Options of all commands that draw the liquid's surface.
#pragma once

#include "cli.h"
#include "frame_range.h"

typedef struct surface_options {
    int method;
    int64_t smoothing, decimation; // rounds; percent
    double resolution, overlap;    // samples a cell; m
} surface_options;

extern const char* const surface_method_names[3];

static inline surface_options surface_options_default(void) {
    return (surface_options){.smoothing = treacle_mesh_def_default().smoothing, .overlap = -1.0};
}

// The run's scene, at whose solids the surface ends. A lone frame has none.
static inline treacle_scene* surface_scene(treacle_context* ctx, const frame_range* range,
                                           bool is_quiet) {
    treacle_scene* scene = frame_range_scene(ctx, range);
    if (scene == NULL && !is_quiet) {
        cli_hint("without the folder of its run a frame has no solids and no sides: the surface "
                 "is not cut where they are");
    }
    return scene;
}

static inline treacle_mesh_def surface_mesh_def(const surface_options* o,
                                                const treacle_scene* scene) {
    treacle_mesh_def def = treacle_mesh_def_default();
    def.method = (treacle_mesh_method)o->method;
    def.resolution = o->resolution;
    def.smoothing = (int)o->smoothing;
    def.decimation = 0.01 * (double)o->decimation;
    def.overlap = o->overlap > 0.0 ? o->overlap : 0.0;
    if (scene != NULL) {
        def.room = treacle_mesh_room_of(treacle_scene_sim(scene));
    }
    return def;
}

#define SURFACE_OPTIONS(to)                                                                        \
    {.name = "method",                                                                             \
     .kind = CLI_CHOICE,                                                                           \
     .value = "HOW",                                                                               \
     .out = &(to)->method,                                                                         \
     .choice_count = 3,                                                                            \
     .choices = surface_method_names,                                                              \
     .help = "of the surface: smooth, splat or level (default: smooth)"},                          \
        {.name = "resolution",                                                                     \
         .kind = CLI_REAL,                                                                         \
         .value = "X",                                                                             \
         .out = &(to)->resolution,                                                                 \
         .real_min = 0.5,                                                                          \
         .real_max = 16.0,                                                                         \
         .help = "samples along a cell, 0.5 to 16 (default: 2; 4 for splat)"},                     \
        {.name = "smoothing",                                                                      \
         .kind = CLI_NUMBER,                                                                       \
         .value = "N",                                                                             \
         .out = &(to)->smoothing,                                                                  \
         .min = 0,                                                                                 \
         .max = 1000,                                                                              \
         .help = "rounds of smoothing, which keep the volume (default: 56)"},                      \
        {.name = "overlap",                                                                        \
         .kind = CLI_REAL,                                                                         \
         .value = "LENGTH",                                                                        \
         .out = &(to)->overlap,                                                                    \
         .real_min = 0.0,                                                                          \
         .real_max = 1e6,                                                                          \
         .help = "m, how far it reaches into solids and sides (default: 0; render: 0.05 cells)"},  \
    {                                                                                              \
        .name = "decimation", .kind = CLI_NUMBER, .value = "PERCENT", .out = &(to)->decimation,    \
        .min = 0, .max = 99,                                                                       \
        .help = "share of the triangles that may go where it is flat (default: 0)"                 \
    }
