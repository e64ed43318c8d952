// Viscosity from the rate of shear, and the rate of shear from velocities on faces.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"

/// Pa s, beyond which a viscosity is cut off.
#define RHEOLOGY_MOST 1e15

/// Whether the viscosity of a material depends on how fast it is sheared.
bool rheology_is_needed(const treacle_material_def* material);

/// The viscosity of a material, Pa s, at a rate of shear, 1/s [rheo.2].
double rheology_viscosity(const treacle_material_def* material, double rate);

/// d log(viscosity) / d log(rate): -1 for what yields, n - 1 for a power law, 0 at rest [rheo.5].
double rheology_slope(const treacle_material_def* material, double rate);

/// What is averaged where viscosities meet: log mu, mu or 1/mu; and back.
double rheology_to_mean(treacle_viscosity_mean mean, double mu);
double rheology_from_mean(treacle_viscosity_mean mean, double value);

/// Where a place with the index `at` lies along axis a. 0: on no side. -1: on one where no shear is
/// known. 1, 2: on the low, high no-slip side.
int rheology_side(const grid_domain* domain, int a, int at);

/// Where the liquid is and how it moves. Fields are [count + 1][512].
typedef struct rheology_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_fraction; // of liquid
    face_view edge_fraction;    // of liquid, of the box around an edge
    face_view face_u;           // m/s
} rheology_params;

/// The rate of shear at cells that have liquid, 1/s; 0 elsewhere [rheo.1].
void rheology_rate(const rheology_params* params, float* cell_rate);
/// How much of the strain another velocity has, 1 for the same: the product of their strains over
/// the square of this one's, 0 without strain; NAN where there is no liquid.
void rheology_along(const rheology_params* params, const float* const other[AXES],
                    float* cell_along);
