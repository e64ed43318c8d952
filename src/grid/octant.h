// How much of a simplex, a square or a cube lies below zero, for corner values joined linearly, and
// how large the surface between is.
//
// A cube is cut into the six tetrahedra around one of its diagonals, a square into the two
// triangles at one of its; on each the values are linear and the formulas exact. So a plane is
// exact; and if the diagonals of neighbouring cubes agree on the common square, the joined function
// is continuous.
#pragma once

/// Fraction of a cube and the first moments of that fraction.
typedef struct octant_part {
    float volume;    // 0..1
    float moment[3]; // integral of the coordinate along each axis, from the cube's first corner
} octant_part;

/// f[i]: value at the corner (i & 1, i >> 1 & 1, i >> 2); the diagonal runs from f[0] to f[7].
octant_part octant_below(const float f[8]);

/// The surface where the values are zero, inside a cube: its area times the squared normal along
/// each axis. The three together are its area.
typedef struct octant_sheet {
    float square[3];
} octant_sheet;
/// f as for octant_below.
octant_sheet octant_surface(const float f[8]);

/// Fraction of a square below zero: f at (0, 0), (1, 0), (0, 1), (1, 1); the diagonal runs from
/// f[0] to f[3].
float square_below(const float f[4]);
