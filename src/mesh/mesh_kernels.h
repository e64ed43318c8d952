// What each particle is to the surface: where, and how far it reaches which way.
//
// With w = 1 - (r/R)^3 over the points within R of point i [YT13 eq. 6-11]:
//
//     u = sum w (x_j - x_i) / sum w               towards the mean of the neighbours
//     C = sum w (x_j - x_i - u)(..)^T / sum w     their covariance
//
// The point is drawn at x + lambda (u - mean of the neighbours' u). differs from [YT13]: there it
// is x + lambda u, which collapses sheets of two layers and shrinks threads; what the neighbours
// share is the shape, what they do not share is noise. The kernel is an ellipsoid with the axes of
// C and lengths H sqrt(eigenvalue / that of a full neighbourhood), cut off below and above.
#pragma once

#include "mesh/mesh_points.h"

typedef struct mesh_kernel {
    float place[3]; // cells
    float shape[6]; // G: xx, yy, zz, xy, xz, yz; |G (x - place)| = 1 where the kernel ends
    float weight;   // volume * det G: the kernel's factor
    float reach[3]; // half the box around the ellipsoid
} mesh_kernel;

/// The longest reach of any kernel, cells.
double mesh_kernels_reach(const mesh_points* p);
/// out: [p->count]. Kernels of deep bins (is_deep: [p->bin_count]) have no weight.
treacle_status mesh_kernels_find(const mesh_points* p, const uint8_t* is_deep,
                                 mesh_kernel* out) TREACLE_NODISCARD;

/// The cubic spline with support 1 and integral 1 over space, of the squared distance.
float mesh_kernel_value(float square);
