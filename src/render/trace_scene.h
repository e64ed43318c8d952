// What the path tracer sees, and what it finds along a ray.
#pragma once

#include "render/trace_bsdf.h"
#include "render/trace_light.h"
#include "render/trace_rays.h"
#include "render/trace_subsurface.h"

typedef enum trace_kind {
    TRACE_DIFFUSE,
    TRACE_METAL,
    TRACE_GLASS,  // refracts; absorbs and scatters inside
    TRACE_DIPOLE, // translucent, under a smooth skin
    TRACE_WALK,   // the same by random walks
} trace_kind;

typedef enum trace_texture {
    TRACE_TEXTURE_NONE,
    TRACE_TEXTURE_CHECKER,
    TRACE_TEXTURE_MARBLE,
    TRACE_TEXTURE_GRAIN,
    TRACE_TEXTURE_WOOD,
    TRACE_TEXTURE_TILES,
} trace_texture;

typedef struct trace_material {
    trace_kind kind;
    v3f colour;          // of diffuse surfaces; of metals at normal incidence
    trace_facets facets; // of metals, glass and skins
    trace_medium medium; // glass: absorb and scatter; dipole and walk: the same, reduced
    float g;             // glass: mean cosine of scattering
    bool glows;          // as a black body, by its temperature
    float glow;          // times so much
    float crust;         // 0..1, how much of a cold skin with cracks there is
    float melting[2];    // K, from where to where it melts; 0: never
    int molten;          // material where it is molten; 0: this one
    bool is_tinted;      // by the colour of the vertices, instead of `colour`
    bool is_hidden;      // nothing of it is drawn
    float coat;          // index of a lacquer on what is matt; 0: none
    bool is_solid;       // where glass and liquid overlap, the glass is there
    trace_texture texture;
    float texture_size; // m
} trace_material;

enum { TRACE_GLOW_STEPS = 250 };

typedef struct trace_mesh {
    const int32_t* triangles;
    int64_t triangle_count;
    const float* position; // of the vertices, in the middle of the exposure
    const float *normal, *colour, *temperature, *rest, *velocity; // NULL: none
    const uint8_t* vertex_material;                               // added to `material`; or NULL
    int material;
    int added_most; // vertices that ask for more get this
} trace_mesh;

typedef struct trace_ground {
    bool is_there;
    float height;    // m
    v3f centre;      // of the fading
    float near, far; // m from the centre: solid up to, gone from there
    int material;
} trace_ground;

typedef struct trace_scene {
    trace_rays* rays;
    int mesh_count;
    const trace_mesh* meshes;
    int material_count;
    const trace_material* materials;
    trace_lights lights;
    trace_ground ground;
    v3f backdrop_low, backdrop_high; // what the camera sees behind everything; not lit by it
    bool has_backdrop;
    v3f glow[TRACE_GLOW_STEPS + 1]; // of black bodies, every 10 K from 500 K
    float epsilon;                  // m, by which rays keep away from what they leave
    int max_bounces;
    const struct trace_glow* glowing; // NULL: no liquid does
    struct trace_photons* photons;    // NULL: paths find all light by themselves
    float clamp;                      // of what a path brings after its first bounce; 0: none
} trace_scene;

typedef struct trace_point {
    float distance; // INFINITY: nothing
    v3f place;
    v3f normal;  // of the geometry, unit, out of closed meshes
    v3f shading; // interpolated
    v3f colour;  // of vertices and texture; 1 if none
    v3f velocity;
    float temperature; // K; 0: none
    int material;      // -1: a lamp
    int mesh;          // -1: ground or lamp
    int triangle;      // of the mesh
    int lamp;
} trace_point;

/// Finds the nearest thing. Far ground is gone with a chance that `fade`, in [0, 1), decides.
void trace_scene_find(const trace_scene* s, const trace_ray* ray, float fade, trace_point* out);
/// Fills in a point of a mesh whose distance and place are known.
void trace_scene_look_up(const trace_scene* s, const trace_touch* touch, trace_point* out);
/// Fraction of light that passes between two places; ground far away lets some through.
float trace_scene_visibility(const trace_scene* s, const trace_ray* ray);
/// Light of a black body, from the table.
v3f trace_scene_glow(const trace_scene* s, float kelvin);
v3f trace_scene_backdrop(const trace_scene* s, v3f direction);
