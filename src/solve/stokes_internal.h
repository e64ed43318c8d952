// What the parts of the Stokes solver share: its set-up and preconditioner (stokes_solver.c) and
// its Krylov loop (stokes_krylov.c).
#pragma once

#include "solve/pressure_solver.h"
#include "solve/regions.h"
#include "solve/stokes_kernels.h"
#include "solve/stokes_solver.h"

enum { STOKES_MAX_RESTART = 60 };

struct stokes_solver {
    treacle_context* ctx;
    const tile_map* map;
    viscosity_solver* viscosity;
    pressure_solver* pressure;
    const viscosity_level* faces;
    const pressure_level* cells;
    const float* opening[AXES];
    float* fields; // link[3] and extra of B M^-1 B^T
    float* schur;  // W, [tile][512]
    bool has_pressure_cycle;
    int capacity; // directions that there is room for
    float* z_u[STOKES_MAX_RESTART];
    float* z_p[STOKES_MAX_RESTART];
    float* q_u[STOKES_MAX_RESTART];
    float* q_p[STOKES_MAX_RESTART];
    vec_many many_u, many_p;
    double *b_u, *b_p; // f and h
    float *r_u, *r_p;  // the residual rounded
    float *t_p, *s_p;  // in the Schur part
    const float* volume;
    region_set regions;    // found when first asked for
    double* region_volume; // [regions], and room for as many sums
};

/// Values in a field of cells, zero tile included.
static inline size_t stokes_field_length(const stokes_solver* s) {
    return ((size_t)s->map->count + 1) * TILE_CELLS;
}

typedef void stokes_loop(const stokes_job* job, int64_t begin, int64_t end);

/// A job with the solver's own fields filled in, and loops over it with the context's threads.
stokes_job stokes_job_of(const stokes_solver* s);
void stokes_run_faces(const stokes_solver* s, stokes_loop* loop, stokes_job* job);
void stokes_run_cells(const stokes_solver* s, stokes_loop* loop, stokes_job* job);

/// Direction j from the rounded residual: z_u = cycle(r_u), t = B z_u - r_p, z_p = W t + cycle(t).
/// Leaves B z_u in q_p.
void stokes_precondition(const stokes_solver* s, int j);
