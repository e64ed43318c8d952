#include "solver_hypre.h"

#if defined(TREACLE_BENCH_HYPRE)

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <stdlib.h>

#include "grid/tile_map.h"
#include "solver_runs.h"

bool hypre_is_there(void) {
    return true;
}

typedef struct hypre_system {
    HYPRE_IJMatrix matrix;
    HYPRE_IJVector b, x;
    HYPRE_ParCSRMatrix parcsr;
    HYPRE_ParVector par_b, par_x;
} hypre_system;

// HYPRE counts in int.
static bool hand_over_rows(const csr_matrix* m, HYPRE_IJMatrix matrix) {
    int column[512];
    for (int row = 0; row < m->n; ++row) {
        int count = (int)(m->first[row + 1] - m->first[row]);
        for (int i = 0; i < count; ++i) {
            column[i] = m->column[m->first[row] + i];
        }
        if (HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, column, m->value + m->first[row])) {
            return false;
        }
    }
    return HYPRE_IJMatrixAssemble(matrix) == 0;
}

static HYPRE_IJVector make_vector(const csr_matrix* m, const double* from) {
    HYPRE_IJVector v;
    HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, m->n - 1, &v);
    HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(v);
    for (int row = 0; row < m->n; ++row) {
        double value = from != NULL ? from[m->slot[row]] : 0.0;
        HYPRE_IJVectorSetValues(v, 1, &row, &value);
    }
    HYPRE_IJVectorAssemble(v);
    return v;
}

static bool make_system(const csr_matrix* m, const double* b, hypre_system* out) {
    HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, m->n - 1, 0, m->n - 1, &out->matrix);
    HYPRE_IJMatrixSetObjectType(out->matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(out->matrix);
    bool is_good = hand_over_rows(m, out->matrix);
    out->b = make_vector(m, b);
    out->x = make_vector(m, NULL);
    HYPRE_IJMatrixGetObject(out->matrix, (void**)&out->parcsr);
    HYPRE_IJVectorGetObject(out->b, (void**)&out->par_b);
    HYPRE_IJVectorGetObject(out->x, (void**)&out->par_x);
    return is_good;
}

static void destroy_system(hypre_system* s) {
    HYPRE_IJMatrixDestroy(s->matrix);
    HYPRE_IJVectorDestroy(s->b);
    HYPRE_IJVectorDestroy(s->x);
}

// HMIS coarsening, extended interpolation cut to four entries, symmetric hybrid Gauss-Seidel: what
// the prototype found best. *functions is NULL for one component; hypre frees it.
static HYPRE_Solver make_cycle(const csr_matrix* m, int components) {
    HYPRE_Solver cycle;
    HYPRE_BoomerAMGCreate(&cycle);
    HYPRE_BoomerAMGSetMaxIter(cycle, 1);
    HYPRE_BoomerAMGSetTol(cycle, 0.0);
    HYPRE_BoomerAMGSetCoarsenType(cycle, 10);
    HYPRE_BoomerAMGSetInterpType(cycle, 6);
    HYPRE_BoomerAMGSetPMaxElmts(cycle, 4);
    HYPRE_BoomerAMGSetStrongThreshold(cycle, components > 1 ? 0.5 : 0.25);
    HYPRE_BoomerAMGSetRelaxType(cycle, 6);
    HYPRE_BoomerAMGSetAggNumLevels(cycle, 1);
    int* function = components > 1 ? malloc((size_t)m->n * sizeof(int)) : NULL;
    if (function != NULL) {
        for (int row = 0; row < m->n; ++row) {
            function[row] = (int)(m->slot[row] / TILE_CELLS % (size_t)components);
        }
        HYPRE_BoomerAMGSetNumFunctions(cycle, components);
        HYPRE_BoomerAMGSetDofFunc(cycle, function);
    }
    return cycle;
}

static void run_target(HYPRE_Solver solver, const hypre_system* s, int i, double setup,
                       csr_result* out) {
    static const double targets[2] = {1e-4, 1e-6};
    HYPRE_ParVectorSetConstantValues(s->par_x, 0.0);
    HYPRE_PCGSetTol(solver, targets[i]);
    double begin = solver_cpu_seconds();
    out->is_reached[i] = HYPRE_ParCSRPCGSolve(solver, s->parcsr, s->par_b, s->par_x) == 0;
    HYPRE_PCGGetNumIterations(solver, &out->iterations[i]);
    HYPRE_ClearAllErrors();
    out->seconds[i] = setup + solver_cpu_seconds() - begin;
}

bool hypre_solve(const csr_matrix* m, const double* b, int components, csr_result* out) {
    enum { MOST_ITERATIONS = 200 };
    int is_started = 0;
    hypre_system s;
    HYPRE_Solver solver;
    MPI_Initialized(&is_started);
    if (is_started == 0 && (MPI_Init(NULL, NULL) != MPI_SUCCESS || HYPRE_Init() != 0)) {
        return false;
    }
    if (!make_system(m, b, &s)) {
        return false;
    }
    HYPRE_Solver cycle = make_cycle(m, components);
    HYPRE_ParCSRPCGCreate(MPI_COMM_SELF, &solver);
    HYPRE_PCGSetTwoNorm(solver, 1);
    HYPRE_PCGSetMaxIter(solver, MOST_ITERATIONS);
    HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, cycle);
    double begin = solver_cpu_seconds();
    HYPRE_ParCSRPCGSetup(solver, s.parcsr, s.par_b, s.par_x);
    out->factor_seconds = solver_cpu_seconds() - begin;
    for (int i = 0; i < 2; ++i) {
        run_target(solver, &s, i, out->factor_seconds, out);
    }
    HYPRE_ParCSRPCGDestroy(solver);
    HYPRE_BoomerAMGDestroy(cycle);
    destroy_system(&s);
    return true;
}

#else

bool hypre_is_there(void) {
    return false;
}

bool hypre_solve(const csr_matrix* m, const double* b, int components, csr_result* out) {
    (void)m;
    (void)b;
    (void)components;
    (void)out;
    return false;
}

#endif
