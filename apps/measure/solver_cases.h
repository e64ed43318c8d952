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

/// Viscosity: stress weights r mu V at cells and edges, masses V at faces, V the liquid's share of
/// a cell-sized box; faces whose centre is solid are fixed.
typedef struct viscosity_case {
    solver_scene scene;
    double r; // viscosity * time step / (density * cell^2), at the largest viscosity
    bool has_contrast;
    bool is_unified; // masses averaged along the face's axis, times the opening; sets the fields
                     // below
    grid_domain domain;
    tile_map map;
    float *cell, *edge[AXES], *mass[AXES];
    float *opening[AXES], *volume; // unified only
    uint8_t* fixed;
    double* rhs; // [tile][axis][512]
} viscosity_case;

/// Set scene, r, has_contrast and is_unified before; the map belongs to ctx; `helper` lends its
/// threads.
treacle_status viscosity_case_create(treacle_context* ctx, treacle_context* helper,
                                     viscosity_case* c);
void viscosity_case_destroy(viscosity_case* c);
/// False if memory fails.
bool viscosity_case_assemble(const viscosity_case* c, csr_matrix* out);

/// Values of a field on all tiles and the zero tile.
size_t solver_case_length(const tile_map* map);
/// The cells of a cube of n^3 as tiles; those that `is_wanted`, [tiles^3] with x fastest, names.
treacle_status solver_case_map(treacle_context* ctx, const grid_domain* domain,
                               const uint8_t* is_wanted, tile_map* out);
treacle_status solver_case_domain(treacle_context* ctx, int n, grid_domain* out);
