// Shapes made ready for questions: how far, inside or not, where does a ray enter.
//
// A compiled shape is a deep copy of the def's tree with all placements multiplied out, so that the
// def may go. Distances are negative inside. They are exact for primitives; of unions,
// intersections and differences they have the right sign and are never too large in size (the usual
// min and max), so tracing along them is safe.
//
// A mesh is read from its file when the shape is made, and kept.
#pragma once

#include "base/context.h"
#include "math/vec3.h"
#include "treacle/types.h"

enum {
    SHAPE_NODES_MAX = 100000,
    SHAPE_DEPTH_MAX = 64, // of set operations inside each other
};

typedef struct shape shape;

/// Checks a def with all its children: ERR_SCENE and a sentence that names the kind, the field, its
/// value and what was expected; ERR_LIMIT where it is too deep or too large.
treacle_status shape_check(treacle_context* ctx, const treacle_shape* def) TREACLE_NODISCARD;
/// Checks and compiles. Meshes are read: ERR_IO where a file cannot be, ERR_FORMAT where it is bad.
/// What there is to warn of (a mesh that is not closed) is logged.
treacle_status shape_create(treacle_context* ctx, const treacle_shape* def,
                            shape** out) TREACLE_NODISCARD;
/// Does the same without a word to the log, for callers that have given their own warnings.
treacle_status shape_create_silent(treacle_context* ctx, const treacle_shape* def,
                                   shape** out) TREACLE_NODISCARD;
/// For a domain that is flat along an axis (0..2): boxes and cylinders whose end faces look along
/// it are made endless, so that distances in the plane do not stop at their ends.
treacle_status shape_create_flat(treacle_context* ctx, const treacle_shape* def, int axis,
                                 shape** out) TREACLE_NODISCARD;
/// As a shape is at a time, s, without a word to the log: of a sequence of meshes the one of then.
/// `flat_axis` as of shape_create_flat(), or below 0.
treacle_status shape_create_at(treacle_context* ctx, const treacle_shape* def, int flat_axis,
                               double time, shape** out) TREACLE_NODISCARD;
/// Accepts NULL.
void shape_destroy(shape* s);

/// Signed distance, m.
double shape_distance(const shape* s, vec3 x);
/// distance < 0
bool shape_is_inside(const shape* s, vec3 x);
/// Central differences of the distance with the step `h`; not normalised, near one in length.
vec3 shape_gradient(const shape* s, vec3 x, double h);
/// A box that holds the shape: the smallest for primitives, infinite for planes, empty if nothing
/// is left of an intersection.
box3 shape_bounds(const shape* s);

/// Whether no part of the shape is thinner than a width, m, but where it ends in an edge or a
/// corner; false if that is not known.
bool shape_is_thicker(const shape* s, double width);
/// Does the same for all that is outside of the shape.
bool shape_is_thicker_outside(const shape* s);

/// Where to look for an entry: origin + s direction, s in [begin, end], s in units of direction.
typedef struct shape_ray {
    vec3 origin, direction;
    double begin, end; // 0 <= begin <= end, finite
} shape_ray;
/// The smallest s at which the ray is inside: `begin` if it begins inside. False if it does not
/// enter. Parts thinner than 1e-3 of the ray's length may be missed where a ray grazes.
bool shape_enter(const shape* s, const shape_ray* ray, double* out);
/// Whether it enters at all, which is much less work to tell.
bool shape_is_met(const shape* s, const shape_ray* ray);

/// Volume of the shape in the box, m^3, by n x n x n samples in the middles of equal parts; those
/// that the surface meets are looked at more closely and count in part.
double shape_volume_in(const shape* s, const box3* box, int n);
