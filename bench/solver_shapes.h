// The liquids that the solver is measured on, as distances in a unit cube of n^3 cells.
//
// The first three stand among the same solids: a box wall one cell thick, a tilted floor and a
// ball. Distances are in units of the cube's side, negative inside.
#pragma once

typedef enum solver_shape {
    SOLVER_SHAPE_BALL = 1,  // S1: a pool to 40 % of the height and a ball that flies free
    SOLVER_SHAPE_COIL = 2,  // S2: a shallow pool, a disc, and a thread 7 cells thick coiled on it
    SOLVER_SHAPE_BLOCK = 3, // S3: a block of 0.6 x 0.6 x 0.6 on the floor
    SOLVER_SHAPE_DROP = 4,  // a ball of liquid on a ball of solid, both n - 16 cells thick [SHM22]
    SOLVER_SHAPE_TANK = 5,  // the whole cube, open at the top only [SHM22]
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
/// 1, or, with contrast, a smooth field between 1 and 1e-4.
double solver_scene_viscosity(point3 p, int has_contrast);
