// A liquid that is given on the grid, for one flow at a time: no particles, no noise.
#pragma once

#include "harness.h"
#include "treacle/unstable/stages.h"

typedef struct flow_lab {
    treacle_sim* sim;
    int cells[3];       ///< 1: the axis is inactive
    int faces[3];       ///< places of an array at faces
    double cell;        ///< m
    int64_t cell_count; ///< values of an array at cells
    int64_t face_count;
    treacle_stages_liquid liquid; ///< the arrays are the lab's
    float* viscosity;             ///< at cells; used once liquid.viscosity is set to it
    float* distance;              ///< at cells
    treacle_step_stats stats;     ///< of the last flow
} flow_lab;

/// The grid of a simulation of `cells` cells of width `cell`, whose origin is 0. Owns the
/// simulation, even if this fails.
treacle_status flow_lab_open(flow_lab* lab, treacle_sim* sim, const int cells[3], double cell);
void flow_lab_close(flow_lab* lab);

/// The place of value i, m: of cells with axis -1, of faces across an axis.
void flow_lab_place(const flow_lab* lab, int64_t i, int axis, double x[3]);
/// Index of the face across any axis, or of the cell.
int64_t flow_lab_face(const flow_lab* lab, int x, int y, int z);
int64_t flow_lab_cell(const flow_lab* lab, int x, int y, int z);

/// A value over space; a component of it for velocities.
typedef double flow_lab_fcn(const void* data, const double x[3], int axis);
/// Distance to the surface, m, negative inside.
void flow_lab_surface(flow_lab* lab, flow_lab_fcn* fcn, const void* data);
void flow_lab_velocity(flow_lab* lab, flow_lab_fcn* fcn, const void* data);
/// Adds the same velocity everywhere.
void flow_lab_push(flow_lab* lab, const double push[3]);
void flow_lab_stop(flow_lab* lab);
treacle_status flow_lab_run(flow_lab* lab, double dt, treacle_stages_part part);

/// Sums over faces, with the masses of the last flow; unit density, mass in cells.
typedef struct flow_lab_sums {
    double mass;        ///< of one component
    double momentum[3]; ///< m/s
    double angular[3];  ///< m^2/s, about `centre`
    double energy;      ///< m^2/s^2
} flow_lab_sums;
flow_lab_sums flow_lab_measure(const flow_lab* lab, const double centre[3]);
/// The component at a place, linear between faces.
double flow_lab_sample(const flow_lab* lab, int axis, const double x[3]);
