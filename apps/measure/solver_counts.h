// Iterations of the solvers, each run alone on scenes of solver_shapes.h from rest.
#pragma once

#include "solver_shapes.h"
#include "treacle/treacle.h"

typedef enum solver_kind {
    SOLVER_KIND_PRESSURE,  // to 1e-6 of the right-hand side
    SOLVER_KIND_VISCOSITY, // to 1e-4 of it
    SOLVER_KIND_UNIFIED,   // to an energy of 5e-4
    SOLVER_KIND_FLOW,      // the same, and to the divergence and the net flow that a step asks for
    SOLVER_KIND_COUNT
} solver_kind;

/// "pressure", "viscosity", "unified", "flow".
const char* solver_kind_name(solver_kind kind);

enum { SOLVER_WEIGHTS_MAX = 5 };

/// A scene, solved once for each r; for pressure, whatever r is, once.
typedef struct solver_task {
    solver_kind kind;
    solver_scene scene;
    bool has_contrast;
    int count; // one alone where what thin liquid is depends on r (solver_scene_viscosity)
    double r[SOLVER_WEIGHTS_MAX];
} solver_task;

/// Iterations of each of the solves; infinite where one does not get there. `helper` lends its
/// threads to make the system, a solve has one.
treacle_status solver_counts(treacle_context* helper, const solver_task* task, double* iterations);
