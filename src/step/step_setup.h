// What the stages of a step need to know and what does not change from step to step.
#pragma once

#include "math/field.h"
#include "particles/emitter.h"
#include "phys/fracture.h"
#include "phys/projection.h"
#include "step/body_set.h"
#include "step/heat_set.h"
#include "step/solid_set.h"

// Cells that particles may cross in a step, and that kernels reach beyond them.
#define LIQUID_REACH_MAX 5.0
enum { LIQUID_KERNEL_RADIUS = 2, LIQUID_MATERIALS_MAX = 256 };

/// A force of the def, made ready.
typedef struct liquid_force {
    shape* where; // NULL: everywhere
    field acceleration;
    treacle_curve strength;
    double start, stop;
} liquid_force;

/// What there is to do for the materials of a scene.
typedef struct liquid_features {
    bool densities; // that differ
    bool buoyancy;
    bool rheology;  // a material whose viscosity depends on the rate of shear
    bool elastic;   // material
    bool no_merge;  // material that does not merge with others
    bool yield;     // elastic material whose decay depends on the flow
    bool tension;   // of the surface
    bool cracks;    // elastic material that breaks
    bool shrinkage; // material whose volume follows from what it carries
} liquid_features;

struct flow_inputs;
struct flow_outputs;
struct liquid_grid;
struct stress_params;
struct viscosity_params;

/// How others do a part of the flow, to be compared with; each NULL where it is done as src/phys
/// does it.
typedef struct other_methods {
    projection_method* project; // solves for the pressure, and may end before it has converged
    /// Viscosity alone.
    treacle_status (*viscosity_step)(const struct flow_inputs* in, const struct flow_outputs* out,
                                     const struct viscosity_params* params, solve_stats* stats);
    /// Before it: another free surface than that of the fractions.
    treacle_status (*cut)(const struct flow_inputs* in, const struct flow_outputs* out,
                          struct liquid_grid* fraction, struct stress_params* liquid);
} other_methods;

/// What the liquid's stages need to know and what does not change from step to step.
typedef struct liquid_setup {
    const treacle_sim_def* def; // scalar members only
    const grid_domain* domain;
    int material_count;
    float* density;                  // [materials], over reference_density
    float* log_mu;                   // [materials], log of the viscosity in Pa s
    treacle_material_def* materials; // [materials]; names are NULL
    double reference_density;        // kg/m^3
    liquid_features has;
    strain_law* strain_laws; // [materials]
    int force_count;
    liquid_force* forces;
    int emitter_count;
    const emitter* emitters;
    treacle_curve side_velocity[AXES][2]; // m/s, of sides in their own plane; count 0: at rest
    solid_set solids;                     // bodies after those that move by script
    body_set bodies;
    heat_setup heat;
    heat_setup marker;
    other_methods other;
} liquid_setup;

/// Whether the flow has viscosity.
static inline bool liquid_is_viscous(const liquid_setup* setup) {
    return setup->def->flow == TREACLE_FLOW_SPLIT || setup->def->flow == TREACLE_FLOW_UNIFIED;
}

/// Whether what viscosity may follow from changes in the stage of heat.
static inline bool liquid_has_heat(const liquid_setup* setup) {
    return setup->heat.is_on || setup->marker.is_on || setup->marker.grows;
}
