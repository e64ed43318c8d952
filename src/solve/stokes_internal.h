// What the parts of the Stokes solver share: its set-up and preconditioner (stokes_solver.c) and
// its Krylov loop (stokes_krylov.c).
#pragma once

#include "base/parallel.h"
#include "solve/pressure_solver.h"
#include "solve/regions.h"
#include "solve/stokes_kernels.h"
#include "solve/stokes_solver.h"

enum { STOKES_MAX_RESTART = 60 };

typedef struct stokes_bodies stokes_bodies;

/// What GCR keeps: corrections z as the preconditioner gave them, and their images q, made
/// orthogonal. Undefined beside what counts.
typedef struct stokes_directions {
    int capacity; // that there is room for
    float* z_u[STOKES_MAX_RESTART];
    float* z_p[STOKES_MAX_RESTART];
    float* q_u[STOKES_MAX_RESTART];
    float* q_p[STOKES_MAX_RESTART];
    vec_many many_u, many_p;
} stokes_directions;

/// Vectors of the loop and of the preconditioner, of faces (u) and of cells (p).
typedef struct stokes_work {
    float *w_u, *w_p;  // the direction at hand, zero beside what counts
    double *b_u, *b_p; // f and h
    float *r_u, *r_p;  // the residual rounded
    float *t_p, *s_p;  // in the Schur part
    float *h_u, *h_p;  // what a row's residual counts in the products of images
    float *m_u, *m_p;  // an image so weighted
    double* e_u;       // E of something; NULL until it is needed
} stokes_work;

/// What the net flow of connected regions is measured by.
typedef struct stokes_net {
    const float* volume;
    region_set regions;    // found when first asked for
    double* region_volume; // [regions], and room for as many sums
} stokes_net;

struct stokes_solver {
    treacle_context* ctx;
    const solve_policy* policy;
    solve_regime regime;
    const tile_map* map;
    viscosity_solver* viscosity;
    pressure_solver* pressure;
    const viscosity_level* faces;
    viscosity_level reweighed; // what A is now, where that is not what the cycle was made for
    const vec_space* u_space;  // with bodies
    const pressure_level* cells;
    vec_space p_space;                        // that of the cells, and which of their rows count
    stokes_bodies* bodies;                    // NULL without
    const float *opening[AXES], *below[AXES]; // as cells above and below a face see it
    float* fields;                            // link[3] and extra of B M^-1 B^T
    float* schur;                             // W, [tile][512]
    stokes_directions dir;
    stokes_work vec;
    stokes_net net;
};

/// Values in a field of cells, zero tile included.
static inline size_t stokes_field_length(const stokes_solver* s) {
    return ((size_t)s->map->count + 1) * TILE_CELLS;
}

/// A job with the solver's own fields filled in, and loops over it with the context's threads.
stokes_job stokes_job_of(const stokes_solver* s);
void stokes_run_faces(const stokes_solver* s, parallel_fcn* loop, stokes_job* job);
void stokes_run_cells(const stokes_solver* s, parallel_fcn* loop, stokes_job* job);
void stokes_run_tiles(const stokes_solver* s, parallel_fcn* loop, stokes_job* job, int64_t count,
                      const tile_ix* tiles);

/// Direction j from the rounded residual: z_u = cycle(r_u), t = B z_u - r_p, z_p = W t + cycle(t).
/// It is in w, too, and B z_u in q_p.
void stokes_precondition(const stokes_solver* s, int j);

// ---- What a law adds (stokes_extra.c); all harmless where extra is NULL -----------------------

treacle_status stokes_extra_create(stokes_solver* s, const stokes_extra* extra) TREACLE_NODISCARD;
/// r -= E (u - about).
void stokes_extra_residual(const stokes_solver* s, const stokes_extra* extra, const double* u,
                           double* r);
/// The image of direction j, which is in w_u, gets E w_u.
void stokes_extra_image(const stokes_solver* s, const stokes_extra* extra, int j);

// ---- Bodies (stokes_bodies.c); all harmless without any --------------------------------------

treacle_status stokes_bodies_create(stokes_solver* s,
                                    const stokes_system* system) TREACLE_NODISCARD;
void stokes_bodies_destroy(stokes_solver* s);
/// y_u += sign (A u + B^T p), y_p += sign B u, each as far as bodies have a part in it. u is zero
/// at faces of bodies.
void stokes_bodies_add(const stokes_solver* s, const stokes_vectors* x, double sign,
                       const stokes_vectors* y);
/// The same of direction j to its image, whose liquid part is found anew in double around bodies.
void stokes_bodies_image(const stokes_solver* s, int j);
/// q_p[j] and t_p get what bodies displace in direction j.
void stokes_bodies_defect(const stokes_solver* s, int j);
/// From z = W t to z = (W^-1 + J K^-1 J^T)^-1 t [stokes.5].
void stokes_bodies_schur(const stokes_solver* s, float* z);
