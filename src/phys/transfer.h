// Particles to grid and back: the kernels of one tile.
//
// Particles -> grid, for one component of velocity (or any scalar) at its own places I
//
//     m_I   = sum_p w_Ip m_p                                              [S19 eq. 13]
//     m u_I = sum_p w_Ip m_p (u_p + c_p . (x_I - x_p))                    [S19 eq. 14, 18]
//
// and back
//
//     u_p = sum_I w_Ip u_I,   c_p = sum_I s_Ip u_I                        [S19 eq. 15, 19]
//
// w and s are products of the axis weights of phys/transfer_weights.h. A tile works on a block of
// 12 samples an axis: its own 8 and two on each side, as far as the widest kernel reaches. In the
// block of a scatter momentum and mass lie side by side, so that two samples along x are one vector
// of four. Particles are taken eight at a time; each sample still sums them in their order.
//
// Velocities are scattered relative to a reference that all particles share. The rounding then
// scales with the differences in velocity and not with the velocity: a body in free fall gets the
// same bits on all its faces.
#pragma once

#include "base/simd.h"
#include "grid/domain.h"
#include "treacle/types.h"

enum {
    BLOCK_HALO = 2,
    BLOCK_SIZE = 12, // 8 + 2 BLOCK_HALO
    BLOCK_CELLS = BLOCK_SIZE * BLOCK_SIZE * BLOCK_SIZE,
    BLOCK_TAIL = 8, // rows are read two samples at a time, past the end of the last
};

/// Where samples lie and how particles see them.
typedef struct transfer_place {
    treacle_kernel kernel;
    bool is_active[AXES];
    double offset[AXES]; // of a sample from the low corner of its cell, in cells: 0 or 0.5
} transfer_place;

/// The particles of a tile, one component.
typedef struct transfer_source {
    int64_t count;
    const float* position; // [count][3], cells from the tile's low corner
    const float* value;    // [count], stride value_stride
    int value_stride;
    const float* slope; // [count][3] with stride slope_stride, change per cell times slope_scale
    int slope_stride;   // slope may be NULL: no affine part
    float slope_scale;
    float reference;     // taken off every value
    const float* volume; // [count], times volume_scale
    float volume_scale;
    const uint8_t* material; // [count]
    const float* density; // [materials]; weight = volume * density[material]; NULL: weight = volume
} transfer_source;

/// What a particle gets back.
typedef struct transfer_target {
    int64_t count;
    const float* position;
    const uint8_t* material;
    float* value;     // [count], stride value_stride; read and written
    bool keeps_value; // only the slope is wanted
    int value_stride;
    float* slope; // or NULL
    int slope_stride;
    float slope_scale;
    const float*
        keep; // [materials]: fraction of (old value - old samples) that stays (FLIP); or NULL
} transfer_target;

/// block[(z 12 + y) 12 + x][2] = sums of (weight value, weight). Sets the whole block.
ISA_DECLARE(void, transfer_scatter,
            (const transfer_source* source, const transfer_place* place, float* block));
/// block and old: [(z 12 + y) 12 + x]; old is used only where target->keep is given.
ISA_DECLARE(void, transfer_gather,
            (const transfer_target* target, const transfer_place* place, const float* block,
             const float* old));

/// The same kernels in double, for tests of what the arithmetic keeps.
void transfer_scatter_double(int64_t count, const double* position, const double* value,
                             const double* slope, const transfer_place* place, double* block);
void transfer_gather_double(int64_t count, const double* position, double* value, double* slope,
                            const transfer_place* place, const double* block);
