// The weights of a flow with viscosity: masses at faces, stress at cells and edges.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "phys/slip_stress.h"
#include "phys/solid.h"
#include "phys/tensor.h"
#include "solve/viscosity_level.h"

struct flow_bodies; // phys/flow_bodies.h

/// What the weights need to know about the liquid. Fields are [count + 1][512].
typedef struct stress_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_fraction;  // of liquid
    face_view edge_fraction;     // of liquid, of the box around an edge
    face_view face_fraction;     // of liquid, that a face has as its mass
    const float* cell_log_mu;    // log of the viscosity (Pa s); VISCOSITY_NONE where not known
    treacle_viscosity_mean mean; // of the cells around an edge
    face_view face_open;         // 0..1, 0 at walls
    face_view face_open_below;   // as the cell below a face sees it; NULL: as that above
    face_view face_rho;          // density over the reference; INFINITY where the velocity is
                                 // prescribed; NULL: 1 everywhere
    const tensor_field* stress;  // Pa, there without any motion; NULL: none
    const uint8_t* cell_cut;     // bit a: the edge along a carries no stress, STRESS_CUT_CELL:
                                 // the cell does not; NULL: all do
    // The solids, as in phys/solid_fields.h; NULL where there are none.
    const float* cell_solid_phi;
    const uint16_t* cell_solid_id;
    face_view face_solid_u;
    const slip_kind* slips;           // [solids]
    const solid_pose* poses;          // [solids]
    bool has_slip;                    // some solid lets liquid slide
    const struct flow_bodies* bodies; // solids that the flow moves; NULL: none
    double dt;                        // s
    double reference_density;         // kg/m^3
} stress_params;

enum { STRESS_CUT_CELL = 8 };
enum { STRESS_SHEETS = 1 + 2 * AXES }; // fields of weights that a surface has

/// What is open of a face to the cell above it, or to that below.
static inline double stress_opening(const stress_params* params, int axis, int64_t face,
                                    bool is_below) {
    const float* below = params->face_open_below.at[axis];
    return (double)(is_below && below != NULL ? below : params->face_open.at[axis])[face];
}
/// No viscosity is known here: no liquid is near. In the dummy tile, too.
#define VISCOSITY_NONE (-1e30f)
/// The least viscosity that is told apart from none, Pa s.
#define VISCOSITY_LEAST 1e-9

/// Fields [count + 1][512].
typedef struct stress_weights {
    float *cell, *edge[AXES], *mass[AXES];
    uint8_t* fixed;    // bit a: face a is no unknown
    float* drag[AXES]; // that part of mass which pulls to the solid's velocity; NULL without solids
    // With bodies; else NULL:
    uint16_t* owner[AXES];    // the body that moves a fixed face, from 1 on; 0: none
    float* body_liquid[AXES]; // mass of the liquid in such a face
    uint16_t* owners;
    float* block;
    // What a surface with tension adds (phys/tension.h), one block; else NULL:
    float* sheet_cell;     // that part of cell
    float* sheet[AXES][2]; // at edges, as the solver takes it
} stress_weights;

treacle_status stress_weights_create(const stress_params* params,
                                     stress_weights* out) TREACLE_NODISCARD;
/// Harmless on zeroed weights.
void stress_weights_destroy(const stress_params* params, stress_weights* weights);
/// force += what the stress of the params pulls at faces, as a change of momentum over
/// reference_density. The stress is used up. force is [tile][axis][512].
void stress_add_force(const stress_params* params, const stress_weights* weights, double* force);
/// The velocity of a fixed face that no body moves: what u says where it is prescribed, else the
/// solid's.
double stress_given_velocity(const stress_params* params, int axis, int64_t face, double u);
/// The impulse on a face: its momentum before, and what walls other than bodies drag along, sides
/// that move among them.
double stress_impulse_dragged(const stress_params* params, const stress_weights* weights, int axis,
                              int64_t face, double u);
/// The same; where no wall drags it is the momentum, and nothing is called.
static inline double stress_impulse(const stress_params* params, const stress_weights* weights,
                                    int axis, int64_t face, double u) {
    bool may_drag = weights->drag[axis] != NULL || params->domain->has_belts;
    return may_drag ? stress_impulse_dragged(params, weights, axis, face, u)
                    : (double)weights->mass[axis][face] * u;
}
/// The velocity of the solid nearest to a face, across the face.
double stress_slip_velocity(const stress_params* params, int axis, int64_t face);
/// What a solve does with the velocity of a face (docs/dev/words.md).
typedef enum face_state {
    FACE_UNKNOWN, // it finds it
    FACE_GIVEN,   // it is that of a side, of a solid that moves by script, or of an emitter
    FACE_OF_BODY  // it is that of a body, whose motion the solve finds
} face_state;
static inline face_state stress_face_state(const stress_weights* weights, int axis, int64_t face) {
    if ((weights->fixed[face] >> axis & 1) == 0) {
        return FACE_UNKNOWN;
    }
    bool has_body = weights->owner[axis] != NULL && weights->owner[axis][face] != 0;
    return has_body ? FACE_OF_BODY : FACE_GIVEN;
}
/// As the solvers take them.
viscosity_weights stress_weights_view(const stress_weights* weights);
