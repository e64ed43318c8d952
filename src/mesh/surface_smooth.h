// Takes the noise of particles out of a surface and leaves its shape.
//
// Vertices move by dx/ds = -L(L x), L the mean of a vertex' neighbours less the vertex, in as few
// sums as Runge-Kutta-Legendre's method allows [MBA12]: N of them reach s = 0.225 (N^2 + N), and
// ripples shorter than about 2.6 sqrt N samples go. What is flat, or bent as evenly as a ball,
// hardly moves, unlike under L alone. A vertex that would go farther than noise does is part of the
// shape and stays. Vertices on the line where liquid ends at a wall slide along the wall.
#pragma once

#include "mesh/mesh_seams.h"

typedef struct smooth_def {
    int rounds;              // N
    double noise;            // cells: what moves less is smoothed, what moves twice as much stays
    int level_rounds;        // of surface_level.h, after that
    double calm;             // cells: the noise of calm liquid that is left for it
    double volume;           // cells^3, to be enclosed in the end; <= 0: as before
    const mesh_seams* seams; // NULL: nothing bounds the liquid
} smooth_def;
treacle_status surface_mesh_smooth(surface_mesh* m, const smooth_def* def) TREACLE_NODISCARD;
/// Sets the normals: of the triangles around, weighted by area; of vertices on the liquid's own
/// surface those of its triangles alone.
treacle_status surface_mesh_seam_normals(surface_mesh* m,
                                         const mesh_seams* seams) TREACLE_NODISCARD;
