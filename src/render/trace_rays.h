// Rays against triangles, by Embree: the only file that knows it.
//
// Vertices may move: a ray has a time from 0 to 1, and a vertex is at from + time * (to - from).
// Embree only traces; the threads are ours, and any number of them may trace at once.
#pragma once

#include "base/context.h"
#include "render/trace_vec.h"

typedef struct trace_rays trace_rays;

typedef struct trace_ray {
    v3f origin, direction; // unit direction
    float near, far;       // m
    float time;            // 0..1
    bool sees_containers;  // of containers; light passes them
    bool is_first;         // from the camera: lamps that are not to be seen are not there
} trace_ray;

typedef struct trace_touch {
    float distance; // INFINITY: nothing was hit
    v3f normal;     // of the triangle, unit, as its corners run
    float u, v;     // weights of corners 1 and 2
    int mesh;       // as numbered by trace_rays_add
    int triangle;
} trace_touch;

treacle_status trace_rays_create(treacle_context* ctx, trace_rays** out) TREACLE_NODISCARD;
/// Accepts NULL.
void trace_rays_destroy(trace_rays* rays);

typedef struct trace_triangles {
    int64_t vertex_count, triangle_count;
    const float* from;        // 3 a vertex
    const float* to;          // 3 a vertex, or NULL: nothing moves
    const int32_t* triangles; // 3 vertices each
    bool is_container;        // met by rays that see walls only, and only from the front
} trace_triangles;
/// Copies the mesh; it gets the next number, from 0.
treacle_status trace_rays_add(trace_rays* rays, const trace_triangles* mesh) TREACLE_NODISCARD;
/// To be called once, after the last mesh and before the first ray.
treacle_status trace_rays_commit(trace_rays* rays) TREACLE_NODISCARD;

void trace_rays_hit(const trace_rays* rays, const trace_ray* ray, trace_touch* out);
/// Every ray is also shown to `listener`, until it is NULL: for measuring, on one thread.
typedef void trace_listener(void* user, const trace_ray* ray, bool is_shadow);
void trace_rays_listen(trace_rays* rays, trace_listener* listener, void* user);
/// Whether anything lies between near and far.
bool trace_rays_blocked(const trace_rays* rays, const trace_ray* ray);
