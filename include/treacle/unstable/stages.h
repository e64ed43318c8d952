// Single stages of a step, for tests and research. May change with any version.
//
// They work on the particles of a simulation between its steps, one by one and in any order that
// makes sense. Where there is liquid, its velocity on the grid is of the particles as they were:
// call treacle_stages_prepare before the next step. A stage that fails leaves the particles in no
// particular order: put or seed them anew. A step in between is a step like any other.
#pragma once

#include "../sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Particles in the caller's arrays.
typedef struct treacle_stages_particles {
    int64_t count;
    const double* place;     ///< [3 count], m
    const float* velocity;   ///< [3 count], m/s; NULL: at rest
    const uint64_t* id;      ///< [count], no two the same; NULL: 0, 1, 2, ...
    const float* volume;     ///< [count], m^3; NULL: as seeded particles have it
    const uint8_t* material; ///< [count]; NULL: 0
} treacle_stages_particles;

/// Puts these particles in place of all others. Not sorted: sort before anything else.
TREACLE_API treacle_status treacle_stages_put(treacle_sim* sim,
                                              const treacle_stages_particles* particles);
/// Puts the liquids of the def in place of all particles, sorted. Its domain must be that of sim.
TREACLE_API treacle_status treacle_stages_seed(treacle_sim* sim, const treacle_sim_def* def);
/// Free flight for dt seconds under the gravity of the simulation's time. Not sorted afterwards.
TREACLE_API treacle_status treacle_stages_advect(treacle_sim* sim, double dt);
/// Appends what the emitters give in (from, to], s. Not sorted afterwards.
TREACLE_API treacle_status treacle_stages_emit(treacle_sim* sim, double from, double to,
                                               int64_t* count);

typedef struct treacle_stages_sort_stats {
    int64_t removed;  ///< through open sides
    int64_t stopped;  ///< at walls
    int64_t migrated; ///< to another tile
} treacle_stages_sort_stats;
/// Sorts by (tile, cell, id): carries positions to their tiles, wraps, stops and removes at sides.
TREACLE_API treacle_status treacle_stages_sort(treacle_sim* sim, treacle_stages_sort_stats* out);

/// Makes the velocity on the grid anew from the particles, which must be sorted, as a simulation
/// does at its start; and the particles' from it. Does nothing where particles fly ballistically.
TREACLE_API treacle_status treacle_stages_prepare(treacle_sim* sim);

// ---- The parts of a liquid's step. Particles must be sorted. ERR_USAGE where they fly
// ballistically.

/// Moves the particles for dt seconds as a step does, but through the given velocity, m/s: as it is
/// at the time `at`, sampled on faces. ERR_DIVERGED above 5 cells. Not sorted afterwards.
TREACLE_API treacle_status treacle_stages_carry(treacle_sim* sim, const treacle_field* velocity,
                                                double at, double dt);

// The same where the grid carries the liquid: its surface moves, and every level_set.reseed-th call
// makes markers that are missing.

/// The distance to the surface where the grid carries the liquid, dense, x fastest, at all points
/// half a cell apart: 2 cells + 1 along active axes (2 cells along periodic ones). In halves of a
/// cell, negative inside and cut off. `volume`, m^3, is that of the liquid.
TREACLE_API treacle_status treacle_stages_level_set(treacle_sim* sim, float* distance,
                                                    double* volume);

/// The surface that the particles have, dense, x fastest, one value a cell of the domain: the
/// distance to it in cells, negative inside and cut off at 4, and the share of the cell that is
/// inside. Either may be NULL.
TREACLE_API treacle_status treacle_stages_surface(treacle_sim* sim, float* distance, float* share);

/// What is on the grid.
typedef struct treacle_stages_totals {
    double mass;        ///< kg, as the faces across the first active axis have it
    double momentum[3]; ///< kg m/s
    double angular[3];  ///< kg m^2/s, about the origin of coordinates
} treacle_stages_totals;
/// Velocity from particles to faces and back, by the transfer and kernel of the simulation. Nothing
/// moves and nothing acts on the liquid in between. `out` is what the faces had.
TREACLE_API treacle_status treacle_stages_transfer(treacle_sim* sim, treacle_stages_totals* out);

// ---- The flow alone, on a liquid that is given on the grid

/// Which part of the flow.
typedef enum treacle_stages_part {
    TREACLE_STAGES_FLOW,      ///< as the simulation does it
    TREACLE_STAGES_PRESSURE,  ///< the projection alone
    TREACLE_STAGES_VISCOSITY, ///< the viscosity of the split alone
} treacle_stages_part;

/// A liquid on the grid. Arrays are dense, x fastest. Those at cells have one value a cell of the
/// domain. Those at faces have a place for every cell and one more along each active axis: the
/// velocity along an axis at (i, j, k) is that of the low face of cell (i, j, k).
typedef struct treacle_stages_liquid {
    const float* distance;  ///< at cells: to the surface, in cells, negative inside
    const float* viscosity; ///< at cells, Pa s; NULL: that of the first material
    float* velocity[3];     ///< at faces, m/s, forces included; NULL along an inactive axis
    float* pressure;        ///< at cells, Pa: a first guess in, the result out; NULL: not asked for
    float* share[3]; ///< at faces: share of liquid that they had as mass; NULL: not asked for
    double dt;       ///< s
    double push;     ///< m/s that forces have added to the velocity: a scale for tolerances
    treacle_stages_part part;
} treacle_stages_liquid;
/// One flow of a step with the solids, sides, density and tolerance of the simulation. Its own
/// particles and state play no part and stay as they are. Velocities of faces without liquid stay.
TREACLE_API treacle_status treacle_stages_flow(treacle_sim* sim,
                                               const treacle_stages_liquid* liquid,
                                               treacle_step_stats* out);

/// One projection of a given velocity, without particles but for the tiles that they mark.
typedef struct treacle_stages_projection {
    const treacle_shape* liquid; ///< exactly where the liquid is; NULL: everywhere
    treacle_field velocity;      ///< m/s, before
    double dt;                   ///< s, of gravity, which is added
    // Out, dense, x fastest, one value a cell of the domain: for its low face across each axis, or
    // for itself. Each may be NULL. Cells of no tile keep what is there.
    float* after[3];           ///< m/s
    float* open[3];            ///< 0..1, what sides and solids leave open
    float* pressure;           ///< p / (rho h), m/s^2, at cells
    double* bodies;            ///< [bodies][6], velocity (m/s) and spin (rad/s) after
    double max_speed;          ///< m/s, on faces that are open and touch liquid
    treacle_solve_stats solve; ///< of the pressure
} treacle_stages_projection;
/// The pressure stage of a step on that velocity, with the solids as they are at the simulation's
/// time.
TREACLE_API treacle_status treacle_stages_project(treacle_sim* sim,
                                                  treacle_stages_projection* flow);

/// Particles of unit mass in one tile, in double; lengths in cells from the tile's low corner.
typedef struct treacle_stages_cloud {
    treacle_kernel kernel;
    bool is_affine; ///< APIC; else PIC
    int64_t count;
    const double* position; ///< [3 count], 0 <= x < 8
    double* velocity;       ///< [3][count], component by component
    double* affine;         ///< [3][count][3], the gradient of each component; written in PIC, too
} treacle_stages_cloud;
/// The same transfer by the same lines of code, instantiated in double: there and back. `out` is in
/// units of the cloud, angular momentum about the tile's low corner.
TREACLE_API treacle_status treacle_stages_transfer_double(treacle_context* ctx,
                                                          const treacle_stages_cloud* cloud,
                                                          treacle_stages_totals* out);

// ---- Conduction on its own, in double.

/// A box full of a material, its sides held at one temperature.
typedef struct treacle_stages_box {
    int cells[3];       ///< multiples of 8; 1 along an axis that it does not have
    double cell;        ///< m
    double diffusivity; ///< m^2/s
    treacle_conduction method;
    double dt; ///< s
    int steps;
    double* temperature; ///< K above the sides, x fastest; in and out
} treacle_stages_box;
/// The same steps of conduction that a simulation makes, without particles.
TREACLE_API treacle_status treacle_stages_conduct(treacle_context* ctx,
                                                  const treacle_stages_box* box);

#ifdef __cplusplus
}
#endif
