// Elasticity during a step: what particles bring to the flow, and the strain that they take home.
#pragma once

#include "phys/elastic.h"
#include "phys/tensor.h"
#include "step/free_flyers.h"

/// In the scratch arena; zeroed without elastic material.
typedef struct flow_elastic {
    tensor_field stress;   // Pa, of particles
    tensor_field stretch;  // 1/s
    float* spin[AXES];     // 1/s
    float* log_mu;         // log of Pa s at cells: the viscosity with what elasticity adds; NULL:
                           // it adds nothing
    elastic_motion motion; // of particles
} flow_elastic;

/// Room for it.
treacle_status flow_elastic_take(const step_frame* f, const tile_map* map, const particles* p,
                                 flow_elastic* out) TREACLE_NODISCARD;
/// The laws of particles, and how implicit stress is.
elastic_params flow_elastic_params(const step_frame* f, const particles* p);
/// The particles' strain after the step; flyers keep theirs.
treacle_status flow_elastic_end(const step_frame* f, const flow_elastic* elastic,
                                const free_flyers* flyers, particles* p) TREACLE_NODISCARD;
