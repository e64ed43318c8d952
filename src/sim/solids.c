#include "sim/solids.h"

#include "base/alloc.h"
#include "math/curve.h"

static treacle_status check_solid(treacle_context* ctx, const treacle_solid_def* def) {
    const char* name = def->name == NULL ? "a solid" : def->name;
    if (def->shape == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "%s has no shape", name);
    }
    if (!vec3_is_finite(vec3_from(def->velocity)) || !vec3_is_finite(vec3_from(def->spin)) ||
        !vec3_is_finite(vec3_from(def->pivot))) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "velocity, spin or pivot of %s is not finite",
                          name);
    }
    if (!(def->slip_length >= 0.0 && isfinite(def->slip_length))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "slip_length of %s is %g m: expected a number of at least 0", name,
                          def->slip_length);
    }
    if (!(def->separation.adhesion >= 0.0 && isfinite(def->separation.adhesion))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "adhesion to %s is %g Pa: expected a number of at least 0", name,
                          def->separation.adhesion);
    }
    if (def->position.count > 0) {
        TREACLE_TRY(curve_check(ctx, &def->position, "a solid's position"));
    }
    return def->rotation.count > 0 ? curve_check(ctx, &def->rotation, "a solid's rotation")
                                   : TREACLE_OK;
}

static treacle_status make_solid(treacle_context* ctx, const treacle_solid_def* def,
                                 const grid_domain* domain, solid* out) {
    *out = (solid){.pivot = vec3_from(def->pivot),
                   .is_inside_out = def->inside_out,
                   .wall = def->wall,
                   .slip_length = def->slip_length,
                   .separation = def->separation};
    int flat = !domain->is_active[0] ? 0 : !domain->is_active[1] ? 1 : 2;
    return domain->is_active[flat] ? shape_create(ctx, def->shape, &out->shape)
                                   : shape_create_flat(ctx, def->shape, flat, &out->shape);
}

static treacle_status make_motion(treacle_context* ctx, const treacle_solid_def* def,
                                  solid_motion* out) {
    out->velocity = vec3_from(def->velocity);
    out->spin = vec3_from(def->spin);
    out->pivot = vec3_from(def->pivot);
    TREACLE_TRY(curve_copy(ctx, &def->position, &out->position));
    return curve_copy(ctx, &def->rotation, &out->rotation);
}

static treacle_status make_all(treacle_context* ctx, const treacle_sim_def* def,
                               const grid_domain* domain, solid_set* out) {
    size_t count = (size_t)def->solid_count;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->solids), "the solids", (void**)&out->solids));
    out->count = def->solid_count;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->motions), "the solids", (void**)&out->motions));
    out->scripted_count = def->solid_count;
    for (int i = 0; i < def->solid_count; ++i) {
        TREACLE_TRY(check_solid(ctx, &def->solids[i]));
        TREACLE_TRY(make_solid(ctx, &def->solids[i], domain, &out->solids[i]));
        TREACLE_TRY(make_motion(ctx, &def->solids[i], &out->motions[i]));
    }
    return TREACLE_OK;
}

treacle_status solids_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* out) {
    *out = (solid_set){0};
    treacle_status status = make_all(ctx, def, domain, out);
    if (status != TREACLE_OK) {
        solids_destroy(ctx, out);
    }
    return status;
}

void solids_destroy(treacle_context* ctx, solid_set* set) {
    for (int i = 0; i < set->count; ++i) {
        shape_destroy(set->solids[i].shape);
    }
    for (int i = 0; i < set->scripted_count; ++i) {
        curve_free(ctx, &set->motions[i].position);
        curve_free(ctx, &set->motions[i].rotation);
    }
    alloc_free(ctx, set->solids, (size_t)set->count * sizeof(*set->solids));
    alloc_free(ctx, set->motions, (size_t)set->scripted_count * sizeof(*set->motions));
    *set = (solid_set){0};
}

// --- poses -------------------------------------------------------------------------------------

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

solid_pose solids_pose_at(const solid_motion* motion, double time) {
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
