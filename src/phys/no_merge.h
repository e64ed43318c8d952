// Materials that touch but do not merge.
#pragma once

#include "base/arena.h"
#include "grid/face_field.h"
#include "particles/particles.h"
#include "phys/tensor.h"

/// Fields are [count + 1][512].
typedef struct no_merge_params {
    const grid_domain* domain;
    const tile_map* map;
    const particles* p;
    int material_count;
    const treacle_material_def* materials; // [material_count]
    face_view face_u;                      // m/s, before the flow
    const float* cell_pressure;            // of the last step; only its sign counts
    double dt;                             // s
} no_merge_params;

/// cell_cut as in phys/stress.h: where no stress passes. Where bodies touch but are not pressed
/// together, cell_phi gets a gap between them.
treacle_status no_merge_find(const no_merge_params* params, arena* scratch, float* cell_phi,
                             uint8_t* cell_cut) TREACLE_NODISCARD;
/// NAN as stretch and spin where no stress passes. cell_cut: NULL where all does.
void no_merge_cut_stretch(const tile_map* map, const uint8_t* cell_cut, const tensor_field* stretch,
                          float* const spin[AXES]);
