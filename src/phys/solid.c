// Solids in motion. A solid keeps the frame of its shape; a place is carried into it,
//
//     b = pivot + R^T (x - place),     distance(x) = +-distance of the shape at b     [solid.1]
//
// with the lower sign for containers, which are turned inside out. Rigid motion keeps distances,
// so those of the shape are those in the world. Of several solids the nearest counts: the union.
//
// Symbols: place, rotate (R), pivot. Properties that tests check: a turned solid is the solid of a
// turned shape; the material moves as its velocity says. References: [BBB07 sec. 2].
#include "phys/solid.h"

double solid_distance(const solid* s, const solid_pose* pose, vec3 x) {
    double distance = shape_distance(s->shape, solid_to_body(s, pose, x));
    return s->is_inside_out ? -distance : distance;
}

vec3 solid_normal(const solid* s, const solid_pose* pose, vec3 x, double h) {
    vec3 gradient = shape_gradient(s->shape, solid_to_body(s, pose, x), 0.5 * h);
    vec3 normal = vec3_normalise(mat3_apply(&pose->rotate, gradient));
    return s->is_inside_out ? vec3_scale(-1.0, normal) : normal;
}

int solid_nearest(const solid_scene* scene, vec3 x, double* distance) {
    int nearest = SOLID_NONE;
    *distance = INFINITY;
    for (int i = 0; i < scene->count; ++i) {
        double d = solid_distance(&scene->solids[i], &scene->poses[i], x);
        if (d < *distance) {
            *distance = d;
            nearest = i;
        }
    }
    return nearest;
}
