// The box of cells: its extent, its sides, and which axes it has.
//
// Cell I covers [I, I+1) in units of the cell width h from the origin. A domain that is one cell
// thick along an axis is flat there: the axis is inactive. For an inactive axis kernel weights are
// 1, particles sit on the mid-plane, distances ignore it and nothing coarsens along it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "treacle/types.h"

enum { AXES = 3 };

typedef struct grid_domain {
    double origin[AXES];         // m
    double h;                    // m, cell width
    int32_t cells[AXES];         // >= 1
    int32_t tiles[AXES];         // that hold cells: ceil(cells / 8)
    bool is_active[AXES];        // cells > 1
    bool is_periodic[AXES];      // then cells is a multiple of 16
    treacle_side sides[AXES][2]; // [axis][low, high]; SLIP on inactive axes
    double slip_length[AXES][2]; // m, of no-slip sides
    // m/s, of no-slip sides in their own plane, at the end of the step [visc.6]
    double side_u[AXES][2][AXES];
    bool has_belts; // some of them is not zero
    // is_on only at walls of active axes
    treacle_separation separation[AXES][2];
    bool lets_go;                  // some wall may, of the domain or of a solid
    double contact_angle[AXES][2]; // rad, of sides that are walls
} grid_domain;

/// Checks the def and works out the rest. The error names the field that is wrong.
treacle_status grid_domain_init(treacle_context* ctx, const treacle_domain_def* def,
                                grid_domain* out);
/// -1 for a face or sample on the low side of the domain, if that is a wall, 1 on the high one,
/// else 0; `last` is the index of those on the high one.
int grid_domain_side_at(const grid_domain* domain, int axis, int at, int last);
/// Sides move in their own plane with the velocities that the curves have at a time; those that
/// liquid does not stick to stay at rest.
void grid_domain_move_sides(grid_domain* domain, const treacle_curve velocity[AXES][2],
                            double time);
/// Whether the face across axis a at an index lies beyond a side that moves, and beyond no other;
/// *u is then the component a of the side's velocity.
bool grid_domain_side_u(const grid_domain* domain, int a, const int at[AXES], double* u);
/// Whether liquid may leave through a side.
bool grid_domain_has_open_side(const grid_domain* domain);
