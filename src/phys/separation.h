// Walls that liquid may let go of.
//
// A wall is the piece of solid surface that one cell of liquid touches: a face on a side of the
// domain, or the part of a solid in the cell. It is in contact, and moves the liquid across it, or
// released, and is free surface.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "solve/solve_stats.h"

struct projection;

/// Walls of a cell: one of the domain across each axis, and one of all solids in it.
enum { CONTACT_OF_SOLID = AXES };
/// Bits of a cell in the state between steps, shifted by the slot.
enum { CONTACT_HOLDS = 1, CONTACT_RELEASED = 16 };

typedef struct contact {
    int64_t cell;       // of the liquid, index in fields at cells and of its low faces
    int64_t high[AXES]; // index of its high faces
    uint8_t slot;       // axis, or CONTACT_OF_SOLID
    bool is_released;
    bool is_shallow; // liquid does not reach the middle of the cell: no projection knows the wall
    float normal[AXES];       // into the liquid
    float low_fraction[AXES]; // of the low face in the velocity at the wall; the high one has the
                              // rest
    float area;               // fraction of a cell's face
    float conductance;        // area rho_ref / (rho theta) [sep.2]
    float diagonal;           // the cell's diagonal without its walls
    double bound;             // it lets go at the wall pressure -bound; in units of x, m/s
    double u_before;          // m/s along the inward normal, before the pressure
    double u_solid;           // m/s, of the wall itself
    double u_after;           // m/s, after a projection
    double pull;              // the bound at which it was released in that
    double answer;            // m/s, of a unified solve: reaction in contact, u_n where released
} contact;

typedef struct contact_set {
    treacle_context* ctx; // NULL: nothing may let go
    int64_t count, capacity;
    contact* at;   // by tile, axis, cell
    int passes;    // of the last projection: solves
    bool is_stale; // the sets are not those that the projection's system knows
} contact_set;

/// Solids as the grid sees them (phys/solid_fields.h); without any cell_id is NULL.
typedef struct contact_solids {
    const struct solid* solids;
    const float* cell_phi;   // cells
    const uint16_t* cell_id; // the nearest solid
    const float* cell_open;  // fraction of the volume
    face_view face_u;        // m/s, where face_open < 1
} contact_solids;

typedef struct contact_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // cells, < 0 in liquid
    face_view face_rho;    // density over the reference; INFINITY where the velocity is
                           // prescribed; NULL: 1 everywhere
    face_view face_open;
    contact_solids solids;
    const uint8_t* cell_contact; // bits of the last step
    bool is_first;               // before the first step: all that touches is in contact
    bool has_shallow;            // with walls of solids in cells with little liquid
    double pressure_unit;        // Pa for x = 1 m/s: rho_ref h / dt
} contact_params;

treacle_status contact_set_create(const contact_params* params, contact_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void contact_set_destroy(contact_set* contacts);
int64_t contact_set_released(const contact_set* contacts);
/// The bits of all walls, for the next step; cells without walls get 0.
void contact_set_keep(const contact_set* contacts, const tile_map* map, uint8_t* cell_contact);
/// Sets face_open to 1 at released sides of the domain and to 0 at those in contact, or to 0 at
/// all.
void contact_set_open(const contact_set* contacts, bool is_open, float* const face_open[AXES]);

/// Takes note of the velocity before the flow.
void separation_load(contact_set* contacts, float* const face_u[AXES]);
/// Gives faces on sides in contact the velocity of the side.
void separation_hold(const contact_set* contacts, float* const face_u[AXES]);

/// What a solve of pressure and viscosity in one has found.
typedef struct contact_flow {
    face_view face_u;
    face_view face_fraction;    // of liquid, that a face has as its mass
    const float* cell_fraction; // of liquid
    const float* cell_log_mu;   // log of the viscosity (Pa s)
    const double* cell_impulse; // dt p / (rho_ref h), m/s
    double mu_scale;            // dt / (rho_ref h^2), 1/(Pa s)
} contact_flow;
/// Takes note of what walls push with, or how fast liquid leaves them.
void separation_measure(contact_set* contacts, const contact_flow* flow);
/// Moves walls that break their condition by more than `least`, m/s, to the other set; returns how
/// many.
int64_t separation_review(contact_set* contacts, double least);
/// The bounds become what is left of them, for a projection that completes the flow.
void separation_reduce_bounds(contact_set* contacts);

/// Takes note of the diagonal, which has no walls yet, and ties released cells.
void separation_begin(contact_set* contacts, float* cell_extra);
/// As projection_apply, with walls: finds which of them let go. The bounds become what is left of
/// them, so that a second projection in the same step completes the first.
treacle_status separation_project(const struct projection* p, float* const face_u[AXES],
                                  double* cell_impulse, solve_stats* stats) TREACLE_NODISCARD;
