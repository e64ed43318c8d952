// Pressure: makes the velocity free of divergence where there is liquid.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "solve/solve_body.h"
#include "solve/solve_stats.h"

struct projection;
/// Another way to solve for cell_impulse, with the arguments of projection_solve.
typedef void projection_method(const struct projection* p, double* rhs, double* cell_impulse,
                               solve_stats* stats);

/// What the projection needs to know about the liquid.
typedef struct projection_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi;         // cells, < 0 in liquid; [count + 1][512], dummy tile > 0
    face_view face_open;           // 0..1, fraction of a face that liquid may cross
    face_view face_rho;            // density over the reference density; NULL: 1 everywhere
    face_view face_solid_u;        // m/s, of what closes the rest of a face; NULL: at rest
    const float* cell_source;      // m/s, asked for as divergence times cell width; NULL: none
    const uint16_t* face_id[AXES]; // which solid closes it, with bodies; else NULL
    int first_body, solid_count;   // solids from this id on are bodies; all solids
    struct contact_set* contacts;  // that liquid may let go of; NULL: none
    solve_params solve;
    int body_count;           // rigid bodies (phys/rigid_body.h); face_solid_u has their motion
    const solve_body* bodies; // [body_count]
    projection_method* other; // that solves the system instead of phys/projection.c; NULL: none
} projection_params;

/// The linear system of one geometry: sum over faces w (x_i - x_j) + extra x_i = rhs.
typedef struct projection {
    const projection_params* params; // not owned
    float* face_w[AXES];             // [count + 1][512]
    float* cell_extra;               // [count + 1][512]
    struct pressure_solver* solver;
} projection;

/// Assembles the system of the geometry. The params must outlive it.
treacle_status projection_create(const projection_params* params,
                                 projection* out) TREACLE_NODISCARD;
/// Harmless on a zeroed system.
void projection_destroy(projection* p);

/// Solves for cell_impulse, [count + 1][512]; a first guess goes in. rhs is used up.
treacle_status projection_solve(const projection* p, double* rhs, double* cell_impulse,
                                solve_stats* stats) TREACLE_NODISCARD;
/// divergence = minus the divergence of face_u times the cell width, in liquid cells, m/s; comes
/// zeroed.
treacle_status projection_divergence(const projection* p, float* const face_u[AXES],
                                     double* divergence) TREACLE_NODISCARD;
/// face_u -= gradient of cell_impulse over density, on every open face that touches liquid.
void projection_subtract_gradient(const projection* p, const double* cell_impulse,
                                  float* const face_u[AXES]);

/// The fraction of the way from a cell in the liquid to one outside at which the surface lies.
float projection_theta(float inside, float outside);
/// The surface and the pressure around a tile, with a halo of one cell; the surface mirrored beyond
/// open sides.
void projection_gather(const projection* p, tile_ix tile, const double* cell_impulse, float* phi,
                       double* x);

/// What the pressure cell_impulse does to each body, impulse over rho_ref h^3 [rigid.2]; zero where
/// bodies are not part of the system.
void projection_body_impulses(const projection* p, const double* cell_impulse,
                              double (*out)[BODY_MOTIONS]);
/// Projects face_u in place. cell_impulse: first guess in, dt p / (rho_ref h) in m/s out.
treacle_status projection_apply(const projection* p, float* const face_u[AXES],
                                double* cell_impulse, solve_stats* stats) TREACLE_NODISCARD;

/// A surface nearer to a cell's centre than this fraction of the way to the next is put there: the
/// diagonal grows like its inverse.
#define PROJECTION_THETA_MIN 0.01f
