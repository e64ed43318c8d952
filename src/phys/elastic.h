// Elasticity: strain that particles carry, the stress it puts on the grid, and how it follows the
// flow.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"
#include "phys/tensor.h"

typedef struct elastic_params {
    const strain_law* laws; // [materials]; modulus 0: not elastic
    const float* melted;    // [count], 0..1; what is melted has no elasticity; NULL: nothing is
    double dt;              // s
    const float* damage;    // [count], 0..1, of what breaks; NULL: nothing does
    uint64_t seed;          // of how strengths differ
    double theta;           // 1/2 .. 1: how implicit the stress is; 0: not at all
} elastic_params;

/// What particles bring to the solve [elastic.2]; the stretch they expect during the step is taken
/// from `stretch` ([count][6], 1/s), or is none where it is NULL.
///     stress  [count][6], Pa: what is there without any motion; NULL: not wanted
///     mu      [count], Pa s: what motion adds, as a viscosity
void elastic_load(const elastic_params* params, const particles* p, const float* stretch,
                  float* stress, float* mu);

/// Stretch (and spin, if wanted) at particles: [count][6] and [count][3].
typedef struct elastic_motion {
    float* stretch;
    float* spin; // or NULL
} elastic_motion;
void elastic_gather(const face_velocity* flow, const tensor_field* stretch, float* const spin[AXES],
                    const particles* p, const elastic_motion* out);

/// DAMAGE after the strain that particles have, of material that breaks; taken: what that took, J.
treacle_status elastic_break(const elastic_params* params, const particles* p, arena* scratch,
                             double* taken) TREACLE_NODISCARD;

/// Material that shrinks: what of the stretch at cells makes strain, and of the stress [shrink.3].
/// Fields are [count + 1][512].
typedef struct elastic_free {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_rate; // 1/s, at which volume is gained; NULL: nothing shrinks
} elastic_free;
void elastic_free_stretch(const elastic_free* free, const tensor_field* stretch);
/// log_mu: of all viscosity, with what elasticity adds.
void elastic_free_stress(const elastic_free* free, const float* log_mu, const tensor_field* stress);

/// STRAIN of all particles over the step.
void elastic_advance(const elastic_params* params, const particles* p,
                     const elastic_motion* motion);
