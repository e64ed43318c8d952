// The tangent of a flow whose viscosity depends on the rate of shear.
#pragma once

#include "phys/rheology.h"
#include "phys/stress.h"

/// About which velocity (rate.face_u.at, with that of walls behind walls), and what is known there.
typedef struct tangent_params {
    rheology_params rate;
    const float* cell_rate;        // rheology_rate
    const float* cell_slope;       // rheology_slope of the mixture
    const stress_weights* weights; // of the viscosity there
} tangent_params;

typedef struct tangent {
    tangent_params params;
    float* cell[AXES]; // stress at the samples, in the units of the weights
    float* edge[AXES];
    float* stretch[AXES];  // what a stretch of the change counts for d log mu, at cells
    float* shear[AXES];    // what its shear does, at edges
    float* fraction[AXES]; // times this, at cells
    float* change;         // of log(viscosity), at cells
    float* block;
    uint8_t* is_wet; // [tile + 1]: it has liquid
} tangent;

/// What the params point to must outlive the tangent.
treacle_status tangent_create(const tangent_params* params, tangent* out) TREACLE_NODISCARD;
/// Harmless on a zeroed tangent.
void tangent_destroy(tangent* t);
/// y += what the change of viscosity with u adds to the forces [rheo.7]; [tile][axis][512].
void tangent_add(void* of, const float* u, double* y);
