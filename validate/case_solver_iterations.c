// Iterations of the linear solvers on the shapes that they are measured on.
//
//     count <= reference + 1 of each solve, and the sum of all counts <= that of the references
//
// A reference is the better count of two earlier versions: the one before residuals were weighed by
// their rows, which was better where viscosity is the same everywhere, and one of those that
// weighed them so, which were better with specks and contrasts. Counts depend on no machine.
#include <math.h>

#include "cases.h"
#include "solver_counts.h"

typedef struct iteration_row {
    solver_task task;
    double reference[SOLVER_WEIGHTS_MAX];
} iteration_row;

enum { COARSE = 32, QUICK = 64, FINE = 128 };

#define EVERY_R                                                                                    \
    5, {                                                                                           \
        0.1, 1.0, 100.0, 1e4, 1e6                                                                  \
    }
#define HIGH_R                                                                                     \
    2, {                                                                                           \
        1e4, 1e6                                                                                   \
    }

static const iteration_row quick_rows[] = {
    {{SOLVER_KIND_PRESSURE, {SOLVER_SHAPE_BALL, QUICK}, false, 1, {0.0}}, {11}},
    {{SOLVER_KIND_PRESSURE, {SOLVER_SHAPE_COIL, QUICK}, false, 1, {0.0}}, {11}},
    {{SOLVER_KIND_PRESSURE, {SOLVER_SHAPE_BLOCK, QUICK}, false, 1, {0.0}}, {10}},
    {{SOLVER_KIND_PRESSURE, {SOLVER_SHAPE_CUBE, QUICK}, false, 1, {0.0}}, {10}},
    {{SOLVER_KIND_PRESSURE, {SOLVER_SHAPE_CASTLE, QUICK}, false, 1, {0.0}}, {6}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_BALL, QUICK}, false, EVERY_R}, {4, 5, 10, 10, 10}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_BALL, QUICK}, true, HIGH_R}, {11, 13}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_COIL, QUICK}, false, EVERY_R}, {4, 5, 17, 22, 25}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_COIL, QUICK}, true, HIGH_R}, {17, 22}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_BLOCK, QUICK}, false, EVERY_R}, {4, 5, 9, 10, 10}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_BLOCK, QUICK}, true, HIGH_R}, {11, 13}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_CUBE, QUICK}, false, HIGH_R}, {12, 12}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_CANDLE, COARSE}, false, 1, {1e4}}, {54}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_CASTLE, QUICK}, false, 1, {1.7e5}}, {26}},
    {{SOLVER_KIND_VISCOSITY, {SOLVER_SHAPE_SPECKS, QUICK}, false, 1, {1e4}}, {11}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BALL, QUICK}, false, EVERY_R}, {7, 7, 16, 15, 12}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BALL, QUICK}, true, HIGH_R}, {16, 24}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_COIL, QUICK}, false, EVERY_R}, {7, 7, 16, 19, 14}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_COIL, QUICK}, true, HIGH_R}, {20, 14}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BLOCK, QUICK}, false, EVERY_R}, {7, 7, 12, 14, 12}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BLOCK, QUICK}, true, HIGH_R}, {13, 12}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_CUBE, QUICK}, false, HIGH_R}, {13, 9}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_CANDLE, COARSE}, false, 1, {1e4}}, {52}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_CASTLE, QUICK}, false, 1, {1.7e5}}, {13}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_SPECKS, QUICK}, false, 1, {1e4}}, {10}},
    {{SOLVER_KIND_FLOW, {SOLVER_SHAPE_BALL, QUICK}, false, EVERY_R}, {9, 12, 18, 15, 12}},
    {{SOLVER_KIND_FLOW, {SOLVER_SHAPE_BLOCK, QUICK}, false, EVERY_R}, {9, 12, 13, 14, 12}},
};

static const iteration_row fine_rows[] = {
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BALL, FINE}, false, EVERY_R}, {7, 7, 14, 17, 14}},
    {{SOLVER_KIND_UNIFIED, {SOLVER_SHAPE_BLOCK, FINE}, false, EVERY_R}, {7, 7, 12, 14, 14}},
};

static treacle_status run_row(validate* v, const iteration_row* row, double sum[2]) {
    const solver_task* task = &row->task;
    double counts[SOLVER_WEIGHTS_MAX] = {0};
    VALIDATE_TRY(solver_counts(v->ctx, task, counts));
    for (int i = 0; i < task->count; ++i) {
        validate_at_most(v, counts[i], row->reference[i], 1.0, "iterations, %s S%d %d^3 r = %g%s",
                         solver_kind_name(task->kind), (int)task->scene.shape, task->scene.n,
                         task->r[i], task->has_contrast ? " with contrast" : "");
        sum[0] += counts[i];
        sum[1] += row->reference[i];
    }
    return TREACLE_OK;
}

static treacle_status run_rows(validate* v, int count, const iteration_row* rows) {
    double sum[2] = {0.0, 0.0};
    for (int i = 0; i < count; ++i) {
        VALIDATE_TRY(run_row(v, &rows[i], sum));
    }
    validate_at_most(v, sum[0], sum[1], 0.0, "iterations of all of them");
    return TREACLE_OK;
}

treacle_status case_solver_iterations(validate* v) {
    return run_rows(v, sizeof(quick_rows) / sizeof(quick_rows[0]), quick_rows);
}

treacle_status case_solver_iterations_fine(validate* v) {
    return run_rows(v, sizeof(fine_rows) / sizeof(fine_rows[0]), fine_rows);
}
