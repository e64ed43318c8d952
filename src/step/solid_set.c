#include "step/solid_set.h"

#include <math.h>

#include "math/mat3.h"

// R by the angles of the curve, and the spin of its change: of R = Rz Ry Rx it is
// z' e_z + Rz (y' e_y + Ry x' e_x).
static void turn_by_curve(const treacle_curve* curve, double time, mat3* rotate, vec3* spin) {
    *rotate = mat3_identity();
    *spin = vec3_make(0.0, 0.0, 0.0);
    if (curve->count == 0) {
        return;
    }
    double angle[3], change[3];
    curve_eval(curve, time, angle);
    curve_slope(curve, time, change);
    *rotate = mat3_rotation(angle);
    mat3 about_y = mat3_rotation((const double[3]){0.0, angle[1], 0.0});
    mat3 about_z = mat3_rotation((const double[3]){0.0, 0.0, angle[2]});
    vec3 inner = mat3_apply(&about_y, vec3_make(change[0], 0.0, 0.0));
    inner.at[1] += change[1];
    *spin = mat3_apply(&about_z, inner);
    spin->at[2] += change[2];
}

solid_belt solids_belt_at(const solid* s, const solid_motion* motion, double time) {
    TREACLE_ASSERT(isfinite(time));
    const solid_surface* surface = &motion->surface;
    if (!surface->moves) {
        return (solid_belt){0};
    }
    return (solid_belt){.of = s,
                        .velocity = &surface->velocity,
                        .spin = surface->spin,
                        .factor = curve_eval_scalar(&surface->strength, time),
                        .time = surface->has_time ? time : 0.0,
                        .h = surface->h};
}

solid_pose solids_pose_at(const solid_motion* motion, double time) {
    TREACLE_ASSERT(isfinite(time));
    solid_pose out = {.place = vec3_add_scaled(motion->pivot, time, motion->velocity),
                      .velocity = motion->velocity};
    if (motion->position.count > 0) {
        double at[3], change[3];
        curve_eval(&motion->position, time, at);
        curve_slope(&motion->position, time, change);
        out.place = vec3_add(out.place, vec3_from(at));
        out.velocity = vec3_add(out.velocity, vec3_from(change));
    }
    mat3 keyed;
    vec3 spin;
    turn_by_curve(&motion->rotation, time, &keyed, &spin);
    mat3 steady = mat3_rotation_about(vec3_scale(time, motion->spin));
    out.rotate = mat3_multiply(&steady, &keyed);
    out.spin = vec3_add(motion->spin, mat3_apply(&steady, spin));
    return out;
}

static double longest_way(const vec3* from, const vec3* to, int32_t count) {
    double longest = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        vec3 way = vec3_sub(to[i], from[i]);
        longest = fmax(longest, vec3_dot(way, way));
    }
    return sqrt(longest);
}

void solids_reshape(const solid* s, const solid_motion* motion, double time, double dt,
                    solid_pose* const poses[2]) {
    TREACLE_ASSERT(s->sequence != NULL && motion->from != NULL && motion->to != NULL);
    TREACLE_ASSERT(dt >= 0.0 && isfinite(dt));
    const mesh_sequence* seq = s->sequence;
    mesh_tree* const trees[2] = {motion->from, motion->to};
    solid_form form = {.from = motion->from, .to = motion->to, .pivot = s->pivot};
    for (int end = 0; end < 2; ++end) {
        form.frames[end] = mesh_sequence_frame(seq, end == 0 ? time : time + dt);
        mesh_sequence_places(seq, form.frames[end], motion->places[end]);
        mesh_tree_refit(trees[end], motion->places[end]);
    }
    form.reach = longest_way(motion->places[0], motion->places[1], seq->first->vertex_count);
    form.dt = form.reach > 0.0 ? dt : 0.0;
    for (int end = 0; end < 2; ++end) {
        form.fraction = end;
        poses[end]->form = form;
    }
}
