// What solids that move by script push out of cells, and how much of it the liquid can follow.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"

/// What a face says about solids. `give` is what bodies close of it: they are pushed away.
typedef struct solid_face {
    double open;  // fraction that liquid may cross
    double give;  // fraction that moves as the liquid says
    int body;     // which of them; not read where nothing gives
    double flow;  // m/s, what solids carry through the rest, along the axis
    double speed; // m/s, of the solids there
} solid_face;

/// A face as the cell above it sees it, or that below.
typedef solid_face solid_face_fcn(const void* data, int axis, int64_t face, bool is_below);

typedef struct solid_flow_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell; // [count + 1][512]: times sign it is > 0 where a cell has a pressure
    float sign;
    int body_count;
    solid_face_fcn* face; // told `data`
    const void* data;
} solid_flow_params;

/// flow, [count + 1][512]: what solids push out of cells with a pressure, m/s; 0 elsewhere
/// [solid.10].
treacle_status solid_flow_compute(const solid_flow_params* params, double* flow) TREACLE_NODISCARD;
