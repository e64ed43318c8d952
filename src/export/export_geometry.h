// What a surface or a set of particles is to other programs: points with attributes, and triangles.
#pragma once

#include "base/context.h"
#include "treacle/export.h"

// Attribute, components, is it a vector that turns with the axes, name in PLY (one a component),
// in VTK, in USD, in bgeo, in glTF. NULL: not written there, or by the writer itself.
#define EXPORT_ATTRIBUTE_LIST(X)                                                                   \
    X(POSITION, 3, true, "x y z", "P", NULL, "P", "POSITION")                                      \
    X(NORMAL, 3, true, "nx ny nz", "N", NULL, "N", "NORMAL")                                       \
    X(VELOCITY, 3, true, "vx vy vz", "v", NULL, "v", "_VELOCITY")                                  \
    X(COLOUR, 3, false, "r g b", "Cd", NULL, "Cd", "COLOR_0")                                      \
    X(TEMPERATURE, 1, false, "temperature", "temperature", "temperature", "temperature",           \
      "_TEMPERATURE")                                                                              \
    X(VISCOSITY, 1, false, "viscosity", "viscosity", "viscosity", "viscosity", "_VISCOSITY")       \
    X(DENSITY, 1, false, "density", "density", "density", "density", "_DENSITY")                   \
    X(REST, 3, true, "restx resty restz", "rest", "rest", "rest", "_REST")                         \
    X(PSCALE, 1, false, "pscale", "pscale", NULL, "pscale", "_PSCALE")                             \
    X(AGE, 1, false, "age", "age", "age", "age", "_AGE")
typedef enum export_attribute {
#define EXPORT_ATTRIBUTE_ENUM(name, ...) EXPORT_##name,
    EXPORT_ATTRIBUTE_LIST(EXPORT_ATTRIBUTE_ENUM)
#undef EXPORT_ATTRIBUTE_ENUM
        EXPORT_ATTRIBUTE_COUNT
} export_attribute;

typedef struct export_attribute_info {
    int components;
    bool is_vector;
    const char *ply, *vtk, *usd, *bgeo, *glb;
} export_attribute_info;
extern const export_attribute_info export_attributes[EXPORT_ATTRIBUTE_COUNT];

typedef struct export_geometry {
    treacle_context* ctx;
    int64_t number; // of the frame
    double fps;
    bool is_z_up;
    int64_t point_count, triangle_count;
    float* value[EXPORT_ATTRIBUTE_COUNT]; // NULL where there is none; owned, already turned
    int32_t* triangles;                   // owned; NULL for particles
    int32_t* material;                    // owned; NULL where there is none
    int64_t* id;                          // owned; of particles
    float low[3], high[3];                // bounds; zero without points
} export_geometry;

/// Harmless on a zeroed one.
void export_geometry_destroy(export_geometry* g);
/// Fills one that has a context and nothing else; destroy it also on failure.
treacle_status export_geometry_take_mesh(const treacle_mesh_view* view,
                                         export_geometry* g) TREACLE_NODISCARD;
treacle_status export_geometry_of_mesh(treacle_context* ctx, const treacle_frame* frame,
                                       const treacle_export_def* def,
                                       export_geometry* out) TREACLE_NODISCARD;
treacle_status export_geometry_of_particles(treacle_context* ctx, const treacle_frame* frame,
                                            const treacle_export_def* def,
                                            export_geometry* out) TREACLE_NODISCARD;

/// (x, y, z) to (x, -z, y).
void export_turn(float v[3]);

/// Writes one frame to the path, whole or not at all.
typedef treacle_status export_write_fcn(const export_geometry* g, const char* path);
export_write_fcn export_write_ply, export_write_obj, export_write_vtp, export_write_bgeo,
    export_write_glb, export_write_vdb_points;
