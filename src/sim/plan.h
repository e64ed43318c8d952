// What follows from a def, worked out once: what `auto` stands for, what the laws have to
// reckon with, the columns of particles, the stages of a step, and what ranks hold.
#pragma once

#include "grid/domain.h"
#include "particles/particles.h"
#include "treacle/sim.h"

typedef struct sim_plan {
    treacle_flow flow;           // never AUTO
    treacle_viscosity_mean mean; // nor this
    bool is_eulerian;            // the grid carries the liquid
    bool has_densities;          // that differ
    bool has_buoyancy;
    bool has_rheology;  // a material whose viscosity depends on the rate of shear
    bool has_elastic;   // material whose stress acts on the flow
    bool has_yield;     // elastic material whose decay depends on the flow
    bool has_cracks;    // elastic material that breaks
    bool has_shrinkage; // material whose volume follows from what it carries
    bool has_no_merge;  // material that does not merge with others
    bool has_tension;   // of the surface
    bool has_heat;      // that flows
    bool has_law;       // of viscosity, by what particles carry
    bool marker_flows;
    bool marker_grows; // by itself
    uint32_t columns;  // bits: particle_column
    uint32_t stages;   // bits: treacle_stage, of a step
    // Why every rank holds everything; NULL: no more than its own tiles and those around them
    // (docs/dev/decisions/0007-distributed-ranks.md).
    const char* whole_because;
} sim_plan;

/// Works out the plan of a def that has been checked. domain->lets_go counts solids, too.
sim_plan sim_plan_of(const treacle_sim_def* def, const grid_domain* domain);

struct text;
/// A line for each thing that it says.
void sim_plan_print(const sim_plan* plan, struct text* out);
