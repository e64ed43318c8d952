// Where there is bulk: liquid that is some cells thick all around.
//
// The liquid's share of cells, a density of the particles' volumes that a filter of 0.87 cells
// (standard deviation) has smoothed, divided by the same filter of what solids leave open, tells:
// two cells below a surface it is 0.99 in bulk, in the middle of a sheet of two cells 0.75, in a
// thread of two cells 0.5.
#pragma once

#include "mesh/mesh_blocks.h"
#include "mesh/mesh_points.h"
#include "mesh/mesh_room.h"

typedef struct field_bulk {
    mesh_blocks blocks; // samples at the middles of cells: 1 in bulk, 0 in thin liquid, and between
    float* thin;        // [count][512], not 0 within four cells of where that is below 1
} field_bulk;

treacle_status field_bulk_create(const mesh_points* p, const mesh_room* room,
                                 field_bulk* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void field_bulk_destroy(field_bulk* f);

/// The value at the samples of a block of another field. Returns their lowest and highest.
typedef struct bulk_range {
    float low, high;
} bulk_range;
bulk_range field_bulk_at(const field_bulk* f, const mesh_blocks* b, int64_t block,
                         float out[BLOCK_SAMPLES]);
/// Whether any cell that the bin reaches is near thin liquid.
bool field_bulk_is_thin(const field_bulk* f, const mesh_points* p, int64_t bin);

/// Sets the blocks' clip, if anything bounds the room.
treacle_status field_room_clip(const mesh_room* room, mesh_blocks* b) TREACLE_NODISCARD;
/// The share of space around each sample that is open, as block_splat_points() and `passes` of
/// (1 2 1)/4 see it: [count][512] for alloc_free, or NULL if nothing bounds the room.
treacle_status field_room_open(const mesh_blocks* b, int passes, float** out) TREACLE_NODISCARD;
