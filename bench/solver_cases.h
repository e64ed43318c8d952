// Systems on tiles and as matrices, from the scenes of solver_shapes.h.
#pragma once

#include "grid/tile_map.h"
#include "solver_csr.h"
#include "solver_shapes.h"

/// Pressure: openings of faces as links, ghost-fluid free surface.
typedef struct pressure_case {
    solver_scene scene;
    grid_domain domain;
    tile_map map;
    float* link[AXES];
    float* extra;
    double* rhs;
    double unknowns;
} pressure_case;

/// The map belongs to ctx; `helper` lends its threads.
treacle_status pressure_case_create(treacle_context* ctx, treacle_context* helper,
                                    solver_scene scene, pressure_case* out);
void pressure_case_destroy(pressure_case* c);
/// False if memory fails.
bool pressure_case_assemble(const pressure_case* c, csr_matrix* out);

/// Values of a field on all tiles and the zero tile.
size_t solver_case_length(const tile_map* map);
