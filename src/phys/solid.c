// Solids in motion. A solid keeps the frame of its shape; a place is carried into it,
//
//     b = pivot + R^T (x - place),     distance(x) = +-distance of the shape at b     [solid.1]
//
// with the lower sign for containers, which are turned inside out. Rigid motion keeps distances,
// so those of the shape are those in the world. Of several solids the nearest counts: the union.
//
// A solid that changes its shape has a mesh whose vertices go straight during a step. Its material
// moves with the velocity of the frame, and with that of the nearest point of the mesh in it,
//
//     v = velocity + spin x (x - place) + R (end - begin) / dt                            [solid.9]
//
// which is the mean over the step: so the liquid makes room for the volume that is swept, no more
// and no less.
//
// A belt or a turning table has a surface that moves in its own plane. The solid stays where it is,
// and its material counts as moving with
//
//     v + w - n (n . w),     w = factor R (velocity(b) + spin x (b - pivot))             [solid.11]
//
// n the normal at x. So nothing is carried across its surface, around its edges neither.
//
// Symbols: place, rotate (R), pivot. Properties that tests check: a turned solid is the solid of a
// turned shape; the material moves as its velocity says. References: [BBB07 sec. 2].
#include "phys/solid.h"

#include "math/field.h"

double solid_distance(const solid* s, const solid_pose* pose, vec3 x) {
    double distance = solid_shape_distance(s, &pose->form, solid_to_body(s, pose, x));
    return s->is_inside_out ? -distance : distance;
}

vec3 solid_form_velocity(const solid_pose* pose, vec3 x) {
    TREACLE_ASSERT(pose->form.dt > 0.0);
    TREACLE_ASSERT(pose->form.from != NULL && pose->form.to != NULL);
    const solid_form* form = &pose->form;
    vec3 b = vec3_add(form->pivot, mat3_apply_transposed(&pose->rotate, vec3_sub(x, pose->place)));
    mesh_nearest near = mesh_tree_nearest(form->from, form->to, form->fraction, b);
    return vec3_scale(1.0 / form->dt, mat3_apply(&pose->rotate, near.motion)); // [solid.9]
}

static vec3 gradient_at(const solid* s, const solid_form* form, vec3 b, double h) {
    vec3 gradient;
    for (int a = 0; a < 3; ++a) {
        vec3 low = b, high = b;
        low.at[a] -= h;
        high.at[a] += h;
        gradient.at[a] =
            (solid_shape_distance(s, form, high) - solid_shape_distance(s, form, low)) / (2.0 * h);
    }
    return gradient;
}

vec3 solid_normal(const solid* s, const solid_pose* pose, vec3 x, double h) {
    TREACLE_ASSERT(h > 0.0);
    vec3 gradient = gradient_at(s, &pose->form, solid_to_body(s, pose, x), 0.5 * h);
    vec3 normal = vec3_normalise(mat3_apply(&pose->rotate, gradient));
    return s->is_inside_out ? vec3_scale(-1.0, normal) : normal;
}

vec3 solid_belt_velocity(const solid_pose* pose, vec3 x) {
    TREACLE_ASSERT(pose->belt.of != NULL && pose->belt.velocity != NULL);
    const solid_belt* belt = &pose->belt;
    double along[3];
    vec3 b = solid_to_body(belt->of, pose, x);
    field_eval(belt->velocity, b, belt->time, along);
    vec3 turn = vec3_cross(belt->spin, vec3_sub(b, belt->of->pivot));
    vec3 w = mat3_apply(&pose->rotate, vec3_add(vec3_from(along), turn));
    vec3 n = solid_normal(belt->of, pose, x, belt->h);
    w = vec3_add_scaled(w, -vec3_dot(n, w), n);
    return vec3_scale(belt->factor, w); // [solid.11]
}

int solid_nearest(const solid_scene* scene, vec3 x, double* distance) {
    TREACLE_ASSERT(scene->count >= 0 && scene->count <= SOLID_COUNT_MAX);
    TREACLE_ASSERT(distance != NULL);
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
