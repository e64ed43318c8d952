// A triangle mesh in the making.
//
// Places are in cells from the domain's low corner until the very end. Triangles are
// counter-clockwise seen from outside. Sums over a mesh depend on the mesh alone.
#pragma once

#include "base/context.h"

typedef struct surface_mesh {
    treacle_context* ctx;
    int64_t vertex_count, triangle_count;
    float (*place)[3];
    float (*normal)[3];
    int32_t (*triangle)[3];
    size_t vertex_capacity, triangle_capacity;
} surface_mesh;

/// Room for vertices (places and normals) and triangles, whose counts are set.
treacle_status surface_mesh_create(treacle_context* ctx, int64_t vertices, int64_t triangles,
                                   surface_mesh* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void surface_mesh_destroy(surface_mesh* m);

/// Enclosed, cells^3, and the area, cells^2.
double surface_mesh_volume(const surface_mesh* m);
double surface_mesh_area(const surface_mesh* m);
/// Sets the normals: of the triangles around, weighted by area.
treacle_status surface_mesh_normals(surface_mesh* m) TREACLE_NODISCARD;

/// Which triangles touch a vertex: those at list[first[v]] .. list[first[v + 1] - 1], ascending.
typedef struct surface_fans {
    treacle_context* ctx;
    int64_t* first;
    int32_t* list;
    size_t vertices, entries;
} surface_fans;
treacle_status surface_fans_create(const surface_mesh* m, surface_fans* out) TREACLE_NODISCARD;
void surface_fans_destroy(surface_fans* f);

enum { SURFACE_RING_MAX = 64 };
/// The vertices around v, each once, by way of the triangles' sides that leave them; their number,
/// or -1 if there are too many.
int surface_fans_ring(const surface_fans* f, const surface_mesh* m, int32_t v,
                      int32_t out[SURFACE_RING_MAX]);
/// Lets vertices take the place of others, becomes[v] that of v, and drops these and the triangles
/// that have lost their width; the order of the rest stays. `becomes` is overwritten.
void surface_mesh_compact(surface_mesh* m, int32_t* becomes);

/// Takes away triangles by collapsing edges, the flattest places first [GH97], until the share is
/// gone or nothing can go without a fold, a pinch or an error of half a sample (`step`, cells).
treacle_status surface_mesh_decimate(surface_mesh* m, double fraction,
                                     double step) TREACLE_NODISCARD;
