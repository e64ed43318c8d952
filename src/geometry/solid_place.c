#include "geometry/solid_place.h"

#include "math/curve.h"

static vec3 curve_or_zero(const treacle_curve* curve, double time) {
    vec3 out = vec3_make(0.0, 0.0, 0.0);
    if (curve->count > 0) {
        curve_eval(curve, time, out.at);
    }
    return out;
}

solid_place solid_place_scripted(const treacle_solid_def* def, double time) {
    vec3 pivot = vec3_from(def->pivot), turn = curve_or_zero(&def->rotation, time);
    vec3 move =
        vec3_add_scaled(curve_or_zero(&def->position, time), time, vec3_from(def->velocity));
    mat3 rotation = mat3_rotation(turn.at);
    mat3 spun = mat3_rotation_about(vec3_scale(time, vec3_from(def->spin)));
    return (solid_place){pivot, vec3_add(pivot, move), mat3_multiply(&spun, &rotation)};
}

static mat3 rotation_of(const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                   {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                   {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
}

solid_place solid_place_of_body(const double start[SOLID_STATE_DOUBLES],
                                const double state[SOLID_STATE_DOUBLES], double later) {
    solid_place out = {vec3_from(start), vec3_from(state), rotation_of(state + 3)};
    if (later != 0.0) {
        mat3 now = out.rotate, on = mat3_rotation_about(vec3_scale(later, vec3_from(state + 10)));
        out.place = vec3_add_scaled(out.place, later, vec3_from(state + 7));
        out.rotate = mat3_multiply(&on, &now);
    }
    return out;
}
