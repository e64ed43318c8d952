// The liquid as fields on a grid: what its particles bring to cells and faces.
//
// The grid is the simulation's, or its turned copy for z up. Tiles of 8 x 8 x 8 cells; cell (i, j,
// k) of a tile is value (8 k + j) 8 + i.
#pragma once

#include "export/export_geometry.h"

enum { VOLUME_TILE_WIDTH = 8, VOLUME_TILE_CELLS = 512 };

typedef enum volume_field {
    VOLUME_VELOCITY_X, // m/s, at the middle of the face to the low side along x
    VOLUME_VELOCITY_Y,
    VOLUME_VELOCITY_Z,
    VOLUME_DENSITY,     // kg/m^3 of the cell: liquid that fills it by half has half its density
    VOLUME_TEMPERATURE, // K, where there is liquid
    VOLUME_FIELD_COUNT
} volume_field;

typedef struct export_volume {
    treacle_context* ctx;
    double origin[3], cell;  // m
    int32_t low[3], size[3]; // the box of tiles around all that is there, in tiles
    int32_t* number;         // [size z][size y][size x], of a tile; -1: none
    int64_t tile_count;
    int32_t (*tile)[3];                // [tile_count], in tiles, sorted by (z, y, x)
    float* value[VOLUME_FIELD_COUNT];  // [tile_count][512]; NULL where the frame has no such
    float* weight[VOLUME_FIELD_COUNT]; // [tile_count][512], of what came to a value; 0: nothing did
    const export_geometry* surface;    // not owned
} export_volume;

/// `particles` with what the frame has; `surface` is kept, not copied.
treacle_status export_volume_create(const treacle_frame* frame, const export_geometry* particles,
                                    const export_geometry* surface,
                                    export_volume* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void export_volume_destroy(export_volume* v);
/// The number of the tile at that place, -1 if there is none.
int32_t export_volume_find(const export_volume* v, const int32_t tile[3]);

treacle_status export_write_vti(const export_volume* v, const char* path) TREACLE_NODISCARD;
/// The level set has voxels of that width, m.
treacle_status export_write_vdb(const export_volume* v, double surface_voxel,
                                const char* path) TREACLE_NODISCARD;
