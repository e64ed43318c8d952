// The simulation: create, step, look, save, restore.
//
// One simulation has one caller. Between steps any number of threads may read the views.
// The state after n steps is the same bit for bit for every number of threads and instruction set,
// and after a save and restore at any step.
#pragma once

#include "cache.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct treacle_sim treacle_sim;

/// Stages of a step, in order, as they appear in the statistics.
#define TREACLE_STAGE_LIST(X)                                                                      \
    X(SOLIDS, "solids")                                                                            \
    X(ADVECT, "advect")                                                                            \
    X(EMIT, "emit")                                                                                \
    X(SORT, "sort")                                                                                \
    X(TILES, "tiles")                                                                              \
    X(TO_GRID, "to_grid")                                                                          \
    X(GEOMETRY, "geometry")                                                                        \
    X(FORCES, "forces")                                                                            \
    X(HEAT, "heat")                                                                                \
    X(FLOW, "flow")                                                                                \
    X(EXTRAPOLATE, "extrapolate")                                                                  \
    X(TO_PARTICLES, "to_particles")                                                                \
    X(DENSITY, "density")                                                                          \
    X(ENERGY, "energy")
typedef enum treacle_stage {
#define TREACLE_STAGE_ENUM(name, text) TREACLE_STAGE_##name,
    TREACLE_STAGE_LIST(TREACLE_STAGE_ENUM)
#undef TREACLE_STAGE_ENUM
        TREACLE_STAGE_COUNT
} treacle_stage;
TREACLE_API const char* treacle_stage_name(treacle_stage stage);

enum { TREACLE_REGIME_CAPACITY = 48 };
/// How one linear solve went.
typedef struct treacle_solve_stats {
    int iterations;
    double residual; ///< at the end, relative to the right-hand side
    double seconds;
    bool converged;
    char
        regime[TREACLE_REGIME_CAPACITY]; ///< in which of its ways it was solved; "" without a solve
} treacle_solve_stats;

/// How the loop went that finds viscosity and velocity together where one depends on the other.
typedef struct treacle_rheology_stats {
    int iterations; ///< solves; 0 where all is Newtonian
    double change;  ///< of the velocity in the last of them, relative
    bool converged;
} treacle_rheology_stats;

/// The account of a step's energy, J. What is there at its end, what was done to it, and what
/// became of that. Nothing but `error` is what is left over: each is measured by itself, and
///
///     change + potential = forces + tension + solids + contacts + particles - dissipation
///                          - numerical + transfer + advection + density + error
///
/// up to the tolerance of the solves. docs/math/energy.md has the definitions.
typedef struct treacle_energy_stats {
    double kinetic;     ///< of the liquid, at the step's end, with the affine motion of APIC
    double bodies;      ///< kinetic energy of rigid bodies, at the step's end
    double elastic;     ///< that elastic strain stores at the step's end
    double surface;     ///< tension times area of the surface that the step has found
    double change;      ///< of kinetic, bodies and elastic together in the step
    double potential;   ///< change of potential energy: minus what gravity did along the way
    double gravity;     ///< work of gravity on liquid and bodies, by their velocity
    double forces;      ///< work of other forces on both, of lost weight, of torques
    double tension;     ///< work of surface tension on the liquid
    double solids;      ///< work of solids that move by script on the liquid, and of emitters
    double shrinkage;   ///< work of material that shrinks or swells against its pressure
    double contacts;    ///< what contacts and joints gave to bodies
    double exchanged;   ///< work of bodies on the liquid: from one to the other
    double particles;   ///< that came with particles less what went, by emitters, sinks and merging
    double dissipation; ///< turned to heat by viscosity, slip, relaxation and yielding
    double fracture;    ///< taken by cracks
    double numerical;   ///< taken by the implicit step
    double transfer;    ///< made by going from particles to grid and back
    double advection;   ///< made by moving: stops at solids, and gravity less the way down
    double density;     ///< potential energy that the density correction made
    double error;       ///< what the account does not explain
    double gain;        ///< change beyond the work of gravity, forces, tension, solids, shrinkage,
                        ///< contacts, particles
    double limit;       ///< a step that gains more than this is begun again
} treacle_energy_stats;

/// What a step did. Numbers that depend on the machine: seconds, memory_peak and what is of ranks.
typedef struct treacle_step_stats {
    int64_t step;                ///< its number, from 1
    double time;                 ///< s, at its end
    double dt;                   ///< s
    int retries;                 ///< times the step was begun again with a smaller dt
    int64_t particles;           ///< at its end
    int64_t tiles;               ///< at its end
    int64_t emitted, absorbed;   ///< particles
    int64_t split, merged;       ///< particles, by reseeding
    double volume;               ///< m^3, sum over particles
    double surface_volume;       ///< m^3, inside the surface before the flow; 0 without
    double kinetic_energy;       ///< J
    double max_speed;            ///< m/s
    treacle_energy_stats energy; ///< where it came from and went
    double heat_in;              ///< J, that came from outside in the step
    double marker_in;      ///< m^3 times units of the marker, that came from sources and surface
    double enthalpy;       ///< J, of the liquid; 0 where heat does not flow
    double density_spread; ///< rms of local particle volume over its target, less 1
    int64_t walls_held, walls_released;  ///< faces of walls that may let go, and did not or did
    treacle_solve_stats pressure;        ///< zero where the flow has no such solve
    treacle_solve_stats viscosity;       ///< zero where the flow has no such solve
    treacle_solve_stats flow;            ///< of pressure and viscosity in one; zero without
    int viscosity_substeps;              ///< of explicit viscosity; 0 otherwise
    treacle_rheology_stats rheology;     ///< zero where no viscosity depends on shear
    int elastic_passes;                  ///< solves while elastic material yields; 0 without
    double elastic_transfer_seconds;     ///< s, strain to the grid and stretch back, of all passes
    double elastic_update_seconds;       ///< s, the new strain of particles
    double seconds[TREACLE_STAGE_COUNT]; ///< s, by stage
    size_t memory_peak;                  ///< bytes, of the context
    double volume_lost;      ///< m^3, of liquid that the grid carries between closed sides: what is
                             ///< missing of all that came and did not go; < 0 where it has grown
    int ranks;               ///< 0 and 1: one process by itself
    double imbalance;        ///< largest load of a rank over the mean; 1 with one rank
    double exchange_seconds; ///< s, in which this rank told others or waited for them
    double exchange_cpu;     ///< s of processor time in that
    int64_t messages;        ///< that this rank has sent
    int64_t exchanged_bytes; ///< that this rank has sent
} treacle_step_stats;

/// What a body of a def is inside of at the start.
typedef enum treacle_overlap_kind {
    TREACLE_OVERLAP_BODY,
    TREACLE_OVERLAP_SOLID,
    TREACLE_OVERLAP_SIDE, ///< of the domain, one that is not open
} treacle_overlap_kind;

typedef struct treacle_overlap {
    treacle_overlap_kind kind;
    int body;     ///< index
    int other;    ///< index of the body or solid; of a side 2 * axis, 1 more for the high one
    double depth; ///< cells
} treacle_overlap;

typedef treacle_status treacle_overlap_fcn(const treacle_overlap* found, void* user);
/// Calls `visit` for all bodies of the def that are more than 0.01 cells deep in another one, in a
/// solid or in a side; ends where that does not return OK. Such a def cannot be simulated.
TREACLE_API treacle_status treacle_sim_visit_overlaps(treacle_context* ctx,
                                                      const treacle_sim_def* def,
                                                      treacle_overlap_fcn* visit, void* user);

/// ERR_SCENE if the def has something impossible.
TREACLE_API treacle_status treacle_sim_create(treacle_context* ctx, const treacle_sim_def* def,
                                              treacle_sim** out);
/// Accepts NULL.
/// What a simulation of the def is made of, in words: its flow, laws, columns of particles, stages
/// of a step, and what ranks hold. The caller frees it with treacle_text_free().
TREACLE_API treacle_status treacle_sim_plan(treacle_context* ctx, const treacle_sim_def* def,
                                            char** out);
TREACLE_API void treacle_sim_destroy(treacle_sim* sim);

/// One step of at most max_dt, shorter where CFL or the def ask for it. A step that fails leaves
/// the state as it was.
TREACLE_API treacle_status treacle_sim_step(treacle_sim* sim, double max_dt,
                                            treacle_step_stats* out);

/// The same with accelerations of the particles, m/s^2, beside gravity and the def's forces: three
/// a particle in the order of a STATE view, NULL for none. They act over the dt that the step turns
/// out to have. ERR_USAGE if one is not finite, or where the grid carries the liquid.
TREACLE_API treacle_status treacle_sim_step_pushed(treacle_sim* sim, double max_dt,
                                                   const float* acceleration,
                                                   treacle_step_stats* out);

TREACLE_API double treacle_sim_time(const treacle_sim* sim);
TREACLE_API int64_t treacle_sim_step_count(const treacle_sim* sim);
TREACLE_API int64_t treacle_sim_particle_count(const treacle_sim* sim);
/// A hash of the whole state: equal states, equal hashes.
TREACLE_API uint64_t treacle_sim_hash(const treacle_sim* sim);

/// Shows what a picture needs, or all of the state. The arrays are the simulation's own memory and
/// valid until the next step. `number` is written into the head.
TREACLE_API treacle_status treacle_sim_view(treacle_sim* sim, treacle_frame_kind kind,
                                            int64_t number, treacle_frame* out);
/// What `pressure` of a STATE view is to be multiplied by to get Pa.
TREACLE_API double treacle_sim_pressure_unit(const treacle_sim* sim);
/// Puts the simulation into the state of a STATE frame. On error the simulation is unchanged.
TREACLE_API treacle_status treacle_sim_restore(treacle_sim* sim, const treacle_frame* state);

/// A frame with what it does not carry because the def has it, a value for every particle:
/// `viscosity` (F32, Pa s: by temperature, marker and factor, at rest), `density` (F32, kg/m^3),
/// and `colour` (F32 x 3, the material's) where it has none. Valid as long as the frame is.
typedef struct treacle_dressed_frame treacle_dressed_frame;
TREACLE_API treacle_status treacle_frame_dress(treacle_context* ctx, const treacle_sim_def* def,
                                               const treacle_frame* frame,
                                               treacle_dressed_frame** out);
TREACLE_API const treacle_frame* treacle_dressed_frame_view(const treacle_dressed_frame* dressed);
/// Accepts NULL.
TREACLE_API void treacle_dressed_frame_destroy(treacle_dressed_frame* dressed);

#ifdef __cplusplus
}
#endif
