#include "sim/solids.h"

#include "base/alloc.h"
#include "base/log.h"
#include "math/curve.h"
#include "phys/thin.h"

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

static treacle_status load_sequence(treacle_context* ctx, const treacle_shape* def,
                                    mesh_sequence** out) {
    char warning[TRIANGLE_MESH_WARNING_MAX];
    TREACLE_TRY(shape_check(ctx, def));
    TREACLE_TRY(mesh_sequence_load(ctx, def->file, &def->frames, out));
    if (triangle_mesh_warning((*out)->first, warning)) {
        log_message(ctx, TREACLE_LOG_WARNING, "%s: %s", def->file, warning);
    }
    mat3 rotate = mat3_rotation(def->rotate);
    mesh_sequence_transform(*out, def->scale, &rotate, vec3_from(def->move));
    return TREACLE_OK;
}

static treacle_status make_solid(treacle_context* ctx, const treacle_solid_def* def,
                                 const grid_domain* domain, solid* out) {
    *out = (solid){.pivot = vec3_from(def->pivot),
                   .is_inside_out = def->inside_out,
                   .wall = def->wall,
                   .slip_length = def->slip_length,
                   .separation = def->separation};
    if (def->shape->kind == TREACLE_SHAPE_MESH && def->shape->frames.fps > 0.0) {
        return load_sequence(ctx, def->shape, &out->sequence);
    }
    int flat = !domain->is_active[0] ? 0 : !domain->is_active[1] ? 1 : 2;
    TREACLE_TRY(domain->is_active[flat] ? shape_create(ctx, def->shape, &out->shape)
                                        : shape_create_flat(ctx, def->shape, flat, &out->shape));
    out->is_thick = def->inside_out ? shape_is_thicker_outside(out->shape)
                                    : shape_is_thicker(out->shape, THIN_SIGHT * domain->h);
    return TREACLE_OK;
}

static treacle_status make_motion(treacle_context* ctx, const treacle_solid_def* def,
                                  solid_motion* out) {
    out->velocity = vec3_from(def->velocity);
    out->spin = vec3_from(def->spin);
    out->pivot = vec3_from(def->pivot);
    TREACLE_TRY(curve_copy(ctx, &def->position, &out->position));
    return curve_copy(ctx, &def->rotation, &out->rotation);
}

static treacle_status make_forms(treacle_context* ctx, const mesh_sequence* seq,
                                 solid_motion* out) {
    size_t vertices = (size_t)seq->first->vertex_count;
    TREACLE_TRY(mesh_tree_create(seq->first, &out->from));
    TREACLE_TRY(mesh_tree_create(seq->first, &out->to));
    TREACLE_TRY(
        alloc_array(ctx, 2 * vertices, sizeof(vec3), "a mesh that moves", (void**)&out->places[0]));
    out->places[1] = out->places[0] + vertices;
    return TREACLE_OK;
}

// In all meshes of the sequence.
static bool is_always_thick(const mesh_sequence* seq, const solid_motion* motion, double width) {
    bool is_thick = true;
    for (int k = 0; k < seq->count && is_thick; ++k) {
        mesh_sequence_places(seq, k, motion->places[0]);
        mesh_tree_refit(motion->from, motion->places[0]);
        is_thick = mesh_tree_is_thicker(motion->from, width);
    }
    return is_thick;
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
        solid* s = &out->solids[i];
        if (s->sequence != NULL) {
            TREACLE_TRY(make_forms(ctx, s->sequence, &out->motions[i]));
            s->is_thick = !s->is_inside_out &&
                          is_always_thick(s->sequence, &out->motions[i], THIN_SIGHT * domain->h);
        }
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
    for (int i = 0; i < set->scripted_count; ++i) {
        solid_motion* motion = &set->motions[i];
        curve_free(ctx, &motion->position);
        curve_free(ctx, &motion->rotation);
        mesh_tree_destroy(motion->from);
        mesh_tree_destroy(motion->to);
        if (motion->places[0] != NULL) {
            size_t vertices = (size_t)set->solids[i].sequence->first->vertex_count;
            alloc_free(ctx, motion->places[0], 2 * vertices * sizeof(vec3));
        }
    }
    for (int i = 0; i < set->count; ++i) {
        shape_destroy(set->solids[i].shape);
        mesh_sequence_destroy(set->solids[i].sequence);
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
        form.share = end;
        poses[end]->form = form;
    }
}
