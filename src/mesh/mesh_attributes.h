// What the frame's particles carry, at the vertices of the mesh.
#pragma once

#include "mesh/mesh_points.h"
#include "mesh/surface_mesh.h"

// Attribute, name of the frame's array, components.
#define MESH_ATTRIBUTE_LIST(X)                                                                     \
    X(VELOCITY, "velocity", 3)                                                                     \
    X(COLOUR, "colour", 3)                                                                         \
    X(TEMPERATURE, "temperature", 1)                                                               \
    X(VISCOSITY, "viscosity", 1)                                                                   \
    X(REST, "rest", 3)
typedef enum mesh_attribute {
#define MESH_ATTRIBUTE_ENUM(name, text, components) MESH_##name,
    MESH_ATTRIBUTE_LIST(MESH_ATTRIBUTE_ENUM)
#undef MESH_ATTRIBUTE_ENUM
        MESH_ATTRIBUTE_COUNT
} mesh_attribute;

typedef struct mesh_attributes {
    treacle_context* ctx;
    int64_t count;                      // vertices
    float* value[MESH_ATTRIBUTE_COUNT]; // NULL where the frame has no such array
    uint8_t* material;                  // NULL where the frame has none
} mesh_attributes;

int mesh_attribute_components(mesh_attribute attribute);

/// Means of the particles around each vertex, weighted by nearness; the material is that with the
/// most weight, the lower number of two equal ones.
treacle_status mesh_attributes_find(const mesh_points* p, const surface_mesh* m,
                                    mesh_attributes* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void mesh_attributes_destroy(mesh_attributes* a);
