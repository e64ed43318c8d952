// Particles to grid: velocity on faces, scalars at cells.
#pragma once

#include "grid/domain.h"
#include "grid/stagger.h"
#include "grid/tile_map.h"
#include "particles/particles.h"
#include "phys/thin.h"

/// How particles give to the grid. The map must hold every tile of the particles and its neighbours
/// where these lie in the domain.
typedef struct p2g_params {
    const grid_domain* domain;
    const tile_map* map;
    const particles* from;
    treacle_kernel kernel;
    bool is_affine;        // APIC: use the AFFINE column
    const float* density;  // [materials], relative to the reference density: weight of a volume
    float reference[AXES]; // m/s, a velocity that all particles share, e.g. their mean
    bool has_viscosity;    // no-slip sides hold liquid
    const thin_view* thin; // what is hidden by thin solids; NULL: nothing. At faces and cells
} p2g_params;

/// face_u[a] = mass-weighted velocity, face_mass[a] = weight in full cells of reference density.
/// face_u is 0 where face_mass is 0. Walls are mirrors, with the rules of phys/velocity.h: what a
/// particle gives to a face behind one comes back to the face in front of it.
treacle_status p2g_velocity(const p2g_params* params, float* const face_u[AXES],
                            float* const face_mass[AXES]) TREACLE_NODISCARD;

/// cell_value = volume-weighted mean of `value` ([count], one per particle), cell_volume = volume
/// of the particles as the kernel sees it, in full cells. Always with the linear kernel, mirrored
/// at the sides of the domain: the volumes of all cells add up to that of all particles.
treacle_status p2g_scalar(const p2g_params* params, const float* value, float* cell_value,
                          float* cell_volume) TREACLE_NODISCARD;

/// One number of every particle.
typedef struct p2g_values {
    const float* first;
    int stride; // from a particle to the next
} p2g_values;
/// mean = volume-weighted mean of the values at any place of the grid, with the linear kernel;
/// weight = volume that it is the mean of, in full cells. Nothing is mirrored at the sides.
treacle_status p2g_mean(const p2g_params* params, grid_place place, const p2g_values* values,
                        float* mean, float* weight) TREACLE_NODISCARD;

/// The same with particles that weigh their volume times the weight of their material, and numbers
/// rounded relative to a reference that they share.
typedef struct p2g_column {
    const float* value;  // [count]
    const float* weight; // [materials], of a full cell; weights of cells have its unit
    float reference;
} p2g_column;
treacle_status p2g_weighted(const p2g_params* params, const p2g_column* column, float* cell_value,
                            float* cell_weight) TREACLE_NODISCARD;

/// node_volume = the volume of p2g_scalar as the nodes, the low corners of cells, see it; nodes on
/// the sides of the domain see its mirror image, too. Layers beyond the first along flat axes are
/// 0.
treacle_status p2g_node_volume(const p2g_params* params, float* node_volume) TREACLE_NODISCARD;

/// Weights below this fraction of a full cell count as none.
#define P2G_MASS_MIN 1e-9f
