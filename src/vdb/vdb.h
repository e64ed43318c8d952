// OpenVDB behind plain C. In a build without it every function says so.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VDB_ERROR_MAX = 256, VDB_TILE_CELLS = 512, VDB_NO_MEMORY = -2 };

/// False in a build without OpenVDB.
int vdb_is_there(void);

// A grid of cells in tiles of 8 x 8 x 8; cell (i, j, k) is value (8 k + j) 8 + i.
typedef struct vdb_field {
    const char* name;
    int components;         // 1, or 3 for a staggered vector
    const float* value[3];  // [tile_count][512]
    const float* weight[3]; // of the same voxels; one is active where any weight is above 0
} vdb_field;

typedef struct vdb_volume {
    double origin[3], cell; // m, low corner of cell (0, 0, 0)
    int64_t tile_count;
    const int32_t (*tile)[3];
    int field_count;
    const vdb_field* fields;
    // The level set `surface`, from a closed mesh.
    int64_t vertex_count, triangle_count;
    const float* vertices;    // m
    const int32_t* triangles; // counter-clockwise seen from outside
    double surface_voxel;     // m
} vdb_volume;

typedef struct vdb_point_column {
    const char* name;
    int components; // 1 or 3
    const float* value;
} vdb_point_column;

typedef struct vdb_points {
    int64_t count;
    const float* position; // m
    const int64_t* id;     // NULL: none
    int column_count;
    const vdb_point_column* columns;
    double voxel; // m
} vdb_points;

// A level set as its file has it: values in leaves of 8 x 8 x 8 voxels, and constant blocks. Voxel
// (i, j, k) of a leaf is value (8 i + j) 8 + k, as in the file.
typedef struct vdb_leaf {
    int32_t at[3]; // the lowest voxel
    uint8_t active[VDB_TILE_CELLS / 8];
    float value[VDB_TILE_CELLS];
} vdb_leaf;

typedef struct vdb_block {
    int32_t at[3];
    int32_t level; // 1: 8 voxels a side, 2: 128, 3: 4096
    float value;
} vdb_block;

typedef struct vdb_level {
    float background;
    double matrix[4][4]; // places are rows: (i, j, k, 1) times this is in m
    bool is_scaled;      // it only scales and moves
    int64_t leaf_count, leaf_capacity, block_count, block_capacity;
    vdb_leaf* leaves;
    vdb_block* blocks; // those that are not background
} vdb_level;

typedef struct vdb_mesh {
    int64_t vertex_count, triangle_count;
    float* vertices; // m, 3 each
    int32_t* triangles;
} vdb_mesh;

// Each returns 0, or -1 or VDB_NO_MEMORY with a sentence in `error`. Files are written straight to
// the path.
int vdb_write_volume(const vdb_volume* volume, const char* path, char error[VDB_ERROR_MAX]);
int vdb_write_points(const vdb_points* points, const char* path, char error[VDB_ERROR_MAX]);
/// The zero surface of a level set. Free with vdb_mesh_free.
int vdb_mesh_level(const vdb_level* level, vdb_mesh* out, char error[VDB_ERROR_MAX]);
void vdb_mesh_free(vdb_mesh* mesh);

#ifdef __cplusplus
}
#endif
