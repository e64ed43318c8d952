// What the decoupled comparator takes from liquid in free flight, and gets back.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"

typedef struct free_flight_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // < 0 in the liquid
    face_view face_open;   // 0..1
    face_view face_rho;    // INFINITY where velocity is prescribed; or NULL
} free_flight_params;

/// Regions in free flight, and how they moved.
typedef struct free_flight {
    const free_flight_params* params;
    int32_t* label; // [count][512], the region of a cell, < 0 outside the liquid
    int32_t count;  // regions
    struct flight_region* regions;
} free_flight;

/// Finds the regions and their momenta. On failure nothing is held.
treacle_status free_flight_begin(const free_flight_params* params, float* const face_u[AXES],
                                 free_flight* out) TREACLE_NODISCARD;
/// Gives regions in free flight the momenta back that they had.
void free_flight_end(const free_flight* flight, float* const face_u[AXES]);
/// The number of regions in free flight.
int32_t free_flight_count(const free_flight* flight);
/// Harmless on a zeroed one.
void free_flight_finish(free_flight* flight);
