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
    if (!(def->contact_angle >= 0.0 && def->contact_angle < 3.1416)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "contact_angle of %s is %g rad: expected a number from 0 to pi", name,
                          def->contact_angle);
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
                   .slip = def->wall,
                   .slip_length = def->slip_length,
                   .separation = def->separation,
                   .contact_angle = def->contact_angle};
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

// Where nothing moves the surface stays zeroed.
static treacle_status make_surface(treacle_context* ctx, const treacle_solid_def* def, double h,
                                   solid_surface* out) {
    const treacle_field* said = &def->surface_velocity;
    vec3 velocity = vec3_from(said->value_a), spin = vec3_from(def->surface_spin);
    bool has_velocity = said->kind != TREACLE_FIELD_CONSTANT || vec3_dot(velocity, velocity) > 0.0;
    if (!has_velocity && !(vec3_dot(spin, spin) > 0.0)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(field_init(ctx, said, AXES, &out->velocity));
    TREACLE_TRY(curve_check(ctx, &def->surface_strength, "the strength of a solid's surface"));
    TREACLE_TRY(curve_copy(ctx, &def->surface_strength, &out->strength));
    for (int a = 0; a < AXES && said->kind == TREACLE_FIELD_EXPRESSION; ++a) {
        out->has_time = out->has_time || expr_uses_time(out->velocity.expression[a]);
    }
    out->moves = true;
    out->spin = spin;
    out->h = h;
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
        TREACLE_TRY(make_surface(ctx, &def->solids[i], domain->h, &out->motions[i].surface));
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
    TREACLE_ASSERT(domain->h > 0.0);
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
        curve_free(ctx, &motion->surface.strength);
        field_finish(&motion->surface.velocity);
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
