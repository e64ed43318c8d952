// The liquids that the solver is measured on, as distances in a unit cube of n^3 cells.
//
// The first three stand among the same solids: a box wall one cell thick, a tilted floor and a
// ball; from the sixth on there is the box wall alone. Distances are in units of the cube's side,
// negative inside.
#pragma once

#include <stdbool.h>

typedef enum solver_shape {
    SOLVER_SHAPE_BALL = 1,   // S1: a pool to 40 % of the height and a ball that flies free
    SOLVER_SHAPE_COIL = 2,   // S2: a shallow pool, a disc, and a thread 7 cells thick coiled on it
    SOLVER_SHAPE_BLOCK = 3,  // S3: a block of 0.6 x 0.6 x 0.6 on the floor
    SOLVER_SHAPE_DROP = 4,   // a ball of liquid on a ball of solid, both n - 16 cells thick [SHM22]
    SOLVER_SHAPE_TANK = 5,   // the whole cube, open at the top only [SHM22]
    SOLVER_SHAPE_CUBE = 6,   // S6: a cube of 0.5 on a level floor
    SOLVER_SHAPE_CANDLE = 7, // S7: a cylinder; melt in its top and down one side, specks in between
    SOLVER_SHAPE_CASTLE = 8, // S8: drops of 4.4 cells that lean on one another in five towers
    SOLVER_SHAPE_SPECKS = 9, // S9: a pool of thin liquid with a lattice of one or two stiff cells
} solver_shape;

typedef struct solver_scene {
    solver_shape shape;
    int n; // cells a side
} solver_scene;

typedef struct point3 {
    double at[3];
} point3;

double solver_scene_liquid(const solver_scene* scene, point3 p);
double solver_scene_solid(const solver_scene* scene, point3 p);

/// Share of a cell-sized box around p that is liquid, 0 below 1e-4.
double solver_scene_fraction(const solver_scene* scene, point3 p);
/// The same, averaged while the box slides by half a cell to either side along `axis`.
double solver_scene_tent(const solver_scene* scene, point3 p, int axis);
/// Share of the cell face around p, normal to `axis`, that is open, 0 below 1e-3.
double solver_scene_opening(const solver_scene* scene, point3 p, int axis);
/// A velocity with waves of several lengths.
double solver_scene_velocity(point3 p, int axis);

/// How thick the liquid is.
typedef struct solver_thickness {
    double r;          // viscosity * time step / (density * cell^2), at the largest viscosity
    bool has_contrast; // viscosities in between, down to 1e-4 of it
} solver_thickness;
/// Over the largest. With contrast a smooth field; in the candle and beside specks, whatever r is,
/// that of a liquid in which mass rules.
double solver_scene_viscosity(const solver_scene* scene, point3 p, solver_thickness thick);
