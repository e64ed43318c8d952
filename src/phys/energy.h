// What the parts of a flow do to the energy: sums over the grid, in the masses of the solve itself.
#pragma once

#include "phys/flow_bodies.h"
#include "phys/projection.h"
#include "phys/stress.h"

/// What forces have added to the velocity on faces before the flow, m/s.
typedef struct energy_push {
    double uniform[AXES];
    const float* face[AXES]; // instead, where it differs from face to face; NULL: it does not
} energy_push;

/// One part of a flow, from u* to u. Energies are over reference_density h^3, m^2/s^2.
typedef struct energy_part {
    double before, after;                        // kinetic, of the liquid: of u* and u
    double lost;                                 // |u - u*|^2 / 2
    double push_before, push_after, push_square; // q . u*, q . u and |q|^2 / 2, q the push
    double dissipation; // by the weights of stress, and by walls that liquid slips along
    double elastic;     // power of the stress that was there before
    double tension;     // work of the surface
    double solids;      // work of solids that move by script, of emitters and of adhesion
    double shrinkage;   // work of what shrinks or swells
    double bodies_before, bodies_after, bodies_lost; // as above, of rigid bodies
} energy_part;

/// A flow with viscosity that has been solved.
typedef struct energy_flow {
    const stress_params* liquid;
    const stress_weights* weights;
    const body_coupling* bodies;
    const energy_push* push;
    float* const* before; // u*
    double* u;            // [tile][axis][512], the solution; fixed faces are filled in
    const double* motion; // its tail: of bodies
    const double *p, *h;  // the pressure, and what its rows ask for; NULL: viscosity alone
    const float* swell;   // 1/s, of material whose stress knows of it [shrink.3]; NULL: none
    const float* source;  // that part of h which shrinkage asks for; NULL: none
} energy_flow;
treacle_status energy_of_flow(const energy_flow* flow, energy_part* out) TREACLE_NODISCARD;

/// A projection that has been solved.
typedef struct energy_projection {
    const projection* system;
    const energy_push* push;
    const float* before[AXES]; // u*
    const float* after[AXES];  // u
    const double* cell_impulse;
    const uint16_t* solid[AXES]; // which solid closes a face; NULL: no bodies
    int first_body;              // solids from here on are bodies
} energy_projection;
/// Bodies are left out.
treacle_status energy_of_projection(const energy_projection* flow,
                                    energy_part* out) TREACLE_NODISCARD;

/// Half of what forces beside gravity do to liquid of the given masses, over reference_density h^3:
/// with the velocity of before and that of after the two make the mean [energy.3].
typedef struct energy_forces {
    const tile_map* map;
    const energy_push* push;
    float* const* mass;   // on faces
    float* const* face_u; // m/s
    bool is_pushed;       // the push is in it already and must not count
} energy_forces;
double energy_of_forces(const energy_forces* forces);

/// What is done to liquid of the given masses whose faces get another velocity outside of all
/// solves, over reference_density h^3 [energy.7].
typedef struct energy_given {
    const tile_map* map;
    const energy_push* push;
    float* const* mass;                  // on faces
    float *const *before, *const *after; // m/s, before with the push
} energy_given;
double energy_of_given(const energy_given* given);

/// Adds what a body did in units of the grid: from motion `before` to `after`.
void energy_add_body(const double mass[BODY_MOTIONS][BODY_MOTIONS], const double* before,
                     const double* after, energy_part* out);
