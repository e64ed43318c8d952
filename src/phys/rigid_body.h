// Rigid bodies: their state, and what the grid makes of them.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"
#include "phys/solid.h"
#include "solve/solve_body.h"

/// All of a body that changes from step to step; thirteen doubles in a state file.
typedef struct body_state {
    double place[3];      // m, of the pivot, the centre of mass
    double quaternion[4]; // w, x, y, z: from the shape's frame to the world's; of unit length
    double velocity[3];   // m/s, of the pivot
    double spin[3];       // rad/s
} body_state;
enum { BODY_STATE_DOUBLES = 13 };

/// Motion in units of the grid: velocity in m/s, and spin times the cell width, so that arms are in
/// cells.
typedef struct body_motion {
    double at[BODY_MOTIONS];
} body_motion;

/// Whether all of a state is.
bool body_is_finite(const body_state* state);
/// Whether it is finite and the quaternion of unit length, to a millionth.
bool body_state_is_valid(const body_state* state);
solid_pose body_pose(const body_state* state);
body_motion body_motion_of(const body_state* state, double h);
void body_set_motion(body_state* state, const body_motion* motion, double h);
/// Place and rotation after dt with the state's velocity and spin.
void body_advance(body_state* state, double dt);

/// Mass, in kg, and the moments about the pivot in the shape's frame, kg m^2.
typedef struct body_mass {
    double volume; // m^3
    double mass;
    mat3 inertia;
} body_mass;

/// Mass, centre (in the shape's frame) and moments of what a shape of uniform density holds, by
/// samples. Along a flat axis a body is as thick as the domain. False if nothing was found inside
/// or the shape is endless.
bool body_measure(const shape* s, double density, const grid_domain* domain, body_mass* mass,
                  vec3* centre);
/// Whether it is that of a body: above 0, with moments that are symmetric and positive definite.
bool body_mass_is_valid(const body_mass* mass);
/// Moments about the pivot, turned as the pose says.
mat3 body_world_inertia(const body_mass* mass, const mat3* rotate);
/// Kinetic energy, J.
double body_energy(const body_mass* mass, const body_state* state);

/// What bodies close of faces; see phys/solid_fields.h.
typedef struct body_faces {
    const grid_domain* domain;
    const tile_map* map;
    const float* closed[AXES]; // 0..1, what solids close of a face
    const float* fill[AXES];   // 0..1, what they fill of the box around it
    const uint16_t* id[AXES];  // which solid does
    const float* rho[AXES];    // density of the liquid over the reference; NULL: 1
    const float* cell_phi;     // < 0 in liquid; NULL: liquid is everywhere
    double reference_density;  // kg/m^3
} body_faces;

/// One body on the grid.
typedef struct body_on_grid {
    int id;         // of its solid
    double density; // kg/m^3
    double radius;  // m, of a ball about the pivot that holds it
    vec3 place;     // m, of the pivot
} body_on_grid;

/// Rows of its pressure term [rigid.2] at cells around its surface, at most `room`; returns how
/// many there are. With slot NULL it only counts.
int64_t body_make_rows(const body_faces* faces, const body_on_grid* body, int64_t room,
                       int64_t* slot, double (*row)[BODY_MOTIONS]);
/// Its mass from the same faces [rigid.3], in units of reference_density h^3; returns the volume in
/// cells, the mean over the axes.
double body_grid_mass(const body_faces* faces, const body_on_grid* body,
                      double mass[BODY_MOTIONS][BODY_MOTIONS]);
/// The same from its own mass and moments.
void body_own_mass(const body_mass* own, const mat3* rotate, const body_faces* faces,
                   double mass[BODY_MOTIONS][BODY_MOTIONS]);
/// Velocity of the body across a face's middle x.
static inline double body_face_speed(const body_state* state, vec3 x, int axis) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    vec3 arm = vec3_sub(x, vec3_from(state->place));
    return state->velocity[axis] + vec3_cross(vec3_from(state->spin), arm).at[axis];
}
