// How far the vertices of calm liquid are off the surface that its walls and its shape ask for.
//
// Heights u follow du/ds = L u + b: L the mean of a vertex' neighbours less the vertex, b the same
// of the places. N sums of Runge-Kutta-Legendre's method [MBA12] reach s = 0.45 (N^2 + N), and what
// is longer than all ripples of surface_smooth.h goes, up to about 1.2 N samples. Heights and b are
// along normals that are smoothed by as much first: with those of a rippled surface neighbours that
// lie unevenly around a vertex would be ripples, too. At walls the surface goes on as behind a
// mirror, so normals there lie in the wall.
//
// A surface that is bent goes far; where any vertex near by would go farther than noise does,
// nothing moves.
#pragma once

#include "mesh/mesh_seams.h"

typedef struct level_def {
    const surface_mesh* m; // with its normals
    const surface_fans* fans;
    const int32_t* near;     // as the fans' list: the neighbour that follows in each triangle
    const mesh_seams* seams; // NULL: nothing bounds the liquid
    int rounds;              // N
    double noise;            // cells: what goes less far is noise, what goes twice as far is shape
    float (*up)[3];          // [vertices], set: the smooth normals
    float (*spare[2])[3];    // [vertices]
} level_def;
/// How far each vertex is to go along `up`: [vertices], cells; 0 where it is not on the liquid's
/// own surface.
treacle_status surface_level_find(const level_def* def, float* out) TREACLE_NODISCARD;
