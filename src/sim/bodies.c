#include "sim/bodies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "math/curve.h"
#include "math/limits.h"
#include "phys/thin.h"

// Samples along the longest side of a shape, on whose surface contacts are looked for.
enum { SURFACE_SAMPLES = 14 };

// --- checks --------------------------------------------------------------------------------------

static treacle_status check_body(treacle_context* ctx, const treacle_body_def* def) {
    const char* name = def->name == NULL ? "a body" : def->name;
    if (def->shape == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "%s has no shape", name);
    }
    return TREACLE_OK;
}

static treacle_status check_world(treacle_context* ctx, const treacle_sim_def* def,
                                  const grid_domain* domain) {
    if (def->flow == TREACLE_FLOW_NONE) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "bodies move with the flow: expected a flow other than 'none'");
    }
    for (int a = 0; a < AXES; ++a) {
        if (domain->is_periodic[a]) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "bodies do not pass through periodic sides: expected other sides "
                              "along %c",
                              "xyz"[a]);
        }
    }
    return TREACLE_OK;
}

// --- surface -------------------------------------------------------------------------------------

typedef struct sample_grid {
    const shape* s;
    vec3 low, pivot;
    double side;
    int count[AXES];
    bool is_active[AXES];
} sample_grid;

// The nearest point of the surface to a point not far outside.
static vec3 to_surface(const sample_grid* g, vec3 x) {
    for (int i = 0; i < 3; ++i) {
        vec3 n = vec3_normalise(shape_gradient(g->s, x, 1e-3 * g->side));
        x = vec3_add_scaled(x, -shape_distance(g->s, x), n);
    }
    return x;
}

static int compare_places(const void* a, const void* b) {
    const vec3 *p = a, *q = b;
    int order = 0;
    for (int i = 0; i < 3 && order == 0; ++i) {
        order = (p->at[i] > q->at[i]) - (p->at[i] < q->at[i]);
    }
    return order;
}

// Points of the lattice just outside, brought to the surface: so corners and edges have theirs.
// Without `out` it only counts.
static int collect(const sample_grid* g, vec3* out) {
    int count = 0;
    for (int k = 0; k < g->count[2]; ++k) {
        for (int j = 0; j < g->count[1]; ++j) {
            for (int i = 0; i < g->count[0]; ++i) {
                const int at[AXES] = {i, j, k};
                vec3 x = g->low;
                for (int a = 0; a < AXES; ++a) {
                    x.at[a] += g->is_active[a] ? at[a] * g->side : 0.0;
                }
                double distance = shape_distance(g->s, x);
                if (distance < 0.0 || distance >= 1.8 * g->side) {
                    continue;
                }
                if (out != NULL) {
                    out[count] = vec3_sub(to_surface(g, x), g->pivot);
                }
                count += 1;
            }
        }
    }
    return count;
}

// Leaves out points that are hardly apart from the one before in order.
static int thin_out(vec3* samples, int count, double apart) {
    int kept = 0;
    qsort(samples, (size_t)count, sizeof(*samples), compare_places);
    for (int i = 0; i < count; ++i) {
        bool is_new = true;
        for (int j = kept - 1; j >= 0 && is_new; --j) {
            if (samples[i].at[0] - samples[j].at[0] > apart) {
                break;
            }
            is_new = vec3_length(vec3_sub(samples[i], samples[j])) > apart;
        }
        if (is_new) {
            samples[kept++] = samples[i];
        }
    }
    return kept;
}

static treacle_status make_samples(treacle_context* ctx, const solid* s, const grid_domain* domain,
                                   rigid_body* out) {
    box3 box = shape_bounds(s->shape);
    sample_grid g = {.s = s->shape, .pivot = s->pivot};
    double longest = 0.0;
    for (int a = 0; a < AXES; ++a) {
        g.is_active[a] = domain->is_active[a];
        longest = g.is_active[a] ? fmax(longest, box.high.at[a] - box.low.at[a]) : longest;
    }
    g.side = longest / SURFACE_SAMPLES;
    for (int a = 0; a < AXES; ++a) {
        double length = g.is_active[a] ? box.high.at[a] - box.low.at[a] : 0.0;
        g.count[a] = g.is_active[a] ? (int)ceil(length / g.side) + 4 : 1;
        double middle = 0.5 * (box.low.at[a] + box.high.at[a]);
        g.low.at[a] = g.is_active[a] ? middle - 0.5 * (g.count[a] - 1) * g.side : s->pivot.at[a];
    }
    int room = collect(&g, NULL);
    vec3* samples = NULL;
    TREACLE_TRY(alloc_array(ctx, (size_t)room, sizeof(vec3), "points of a body", (void**)&samples));
    int count = thin_out(samples, collect(&g, samples), 0.5 * g.side);
    treacle_status status =
        alloc_array(ctx, (size_t)count, sizeof(vec3), "points of a body", (void**)&out->samples);
    if (status == TREACLE_OK) {
        memcpy(out->samples, samples, (size_t)count * sizeof(vec3));
        out->sample_count = count;
        for (int i = 0; i < count; ++i) {
            out->radius = fmax(out->radius, vec3_length(samples[i]));
        }
    }
    alloc_free(ctx, samples, (size_t)room * sizeof(vec3));
    return status;
}

// --- making --------------------------------------------------------------------------------------

static treacle_status make_solid(treacle_context* ctx, const treacle_body_def* def,
                                 const grid_domain* domain, solid* out) {
    *out = (solid){
        .slip = def->wall, .slip_length = def->slip_length, .contact_angle = def->contact_angle};
    int flat = !domain->is_active[0] ? 0 : !domain->is_active[1] ? 1 : 2;
    TREACLE_TRY(domain->is_active[flat] ? shape_create(ctx, def->shape, &out->shape)
                                        : shape_create_flat(ctx, def->shape, flat, &out->shape));
    out->is_thick = shape_is_thicker(out->shape, THIN_SIGHT * domain->h);
    return TREACLE_OK;
}

static void keep_in_plane(const grid_domain* domain, body_state* state) {
    for (int a = 0; a < AXES; ++a) {
        if (!domain->is_active[a]) {
            double spin = state->spin[a];
            memset(state->spin, 0, sizeof(state->spin));
            state->spin[a] = spin;
            state->velocity[a] = 0.0;
        }
    }
}

// A force must not be more than the body's mass can bear without leaving all scales.
static treacle_status check_force(treacle_context* ctx, const treacle_body_def* def,
                                  const rigid_body* body) {
    double most = LIMIT_ACCELERATION * body->mass.mass;
    for (int i = 0; i < def->force.count; ++i) {
        double force = vec3_length(vec3_from(def->force.keys[i].value));
        if (!(force <= most)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "force on %s is %g N: expected at most %g N for its mass, %g kg",
                              def->name == NULL ? "a body" : def->name, force, most,
                              body->mass.mass);
        }
    }
    return TREACLE_OK;
}

static treacle_status make_body(treacle_context* ctx, const treacle_body_def* def,
                                const grid_domain* domain, solid* s, rigid_body* out) {
    TREACLE_TRY(check_body(ctx, def));
    TREACLE_TRY(make_solid(ctx, def, domain, s));
    snprintf(out->name, sizeof(out->name), "%s", def->name == NULL ? "" : def->name);
    out->density = def->density;
    out->friction = def->friction;
    out->restitution = def->restitution;
    if (!body_measure(s->shape, def->density, domain, &out->mass, &s->pivot)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "the shape of %s has no inside, or no end: expected a closed shape",
                          def->name == NULL ? "a body" : def->name);
    }
    TREACLE_TRY(check_force(ctx, def, out));
    TREACLE_TRY(curve_copy(ctx, &def->force, &out->force));
    TREACLE_TRY(curve_copy(ctx, &def->torque, &out->torque));
    return make_samples(ctx, s, domain, out);
}

static body_state start_of(const treacle_body_def* def, const solid* s) {
    body_state out = {.quaternion = {1.0, 0.0, 0.0, 0.0}};
    for (int a = 0; a < AXES; ++a) {
        out.place[a] = s->pivot.at[a];
        out.velocity[a] = def->velocity[a];
        out.spin[a] = def->spin[a];
    }
    return out;
}

// The index of the other body of a joint; -1 for the world, the count if there is none.
static int find_body(const treacle_sim_def* def, const char* name) {
    int at = name == NULL ? -1 : 0;
    while (at >= 0 && at < def->body_count &&
           (def->bodies[at].name == NULL || strcmp(def->bodies[at].name, name) != 0)) {
        at += 1;
    }
    return at;
}

static treacle_status make_joints(treacle_context* ctx, const treacle_sim_def* def, body_set* out) {
    int count = 0;
    for (int i = 0; i < def->body_count; ++i) {
        count += def->bodies[i].joint_count;
    }
    TREACLE_TRY(alloc_zero(ctx, (size_t)count, sizeof(*out->joints), "joints of bodies",
                           (void**)&out->joints));
    out->joint_count = count;
    body_joint* to = out->joints;
    for (int i = 0; i < def->body_count; ++i) {
        for (int j = 0; j < def->bodies[i].joint_count; ++j, ++to) {
            const treacle_joint_def* joint = &def->bodies[i].joints[j];
            *to = (body_joint){.kind = joint->kind,
                               .body = i,
                               .to = find_body(def, joint->to),
                               .anchor = vec3_from(joint->anchor),
                               .axis = vec3_normalise(vec3_from(joint->axis))};
            bool has_axis = joint->kind == TREACLE_JOINT_FIXED || vec3_length(to->axis) > 0.0;
            if (to->to == def->body_count || to->to == i || !has_axis) {
                return check_fail(ctx, TREACLE_ERR_SCENE,
                                  "joint %d of body %d has no axis, or no other body of the name "
                                  "'%s'",
                                  j, i, joint->to == NULL ? "" : joint->to);
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status make_all(treacle_context* ctx, const treacle_sim_def* def,
                               const grid_domain* domain, solid_set* solids, body_set* out) {
    size_t count = (size_t)def->body_count;
    TREACLE_TRY(check_world(ctx, def, domain));
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->bodies), "the bodies", (void**)&out->bodies));
    out->count = def->body_count;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->start), "the bodies", (void**)&out->start));
    TREACLE_TRY(alloc_resize(ctx, (void**)&solids->solids, (size_t)solids->count,
                             (size_t)solids->count + count, sizeof(solid), "the bodies"));
    int first = solids->count;
    memset(solids->solids + first, 0, count * sizeof(solid));
    solids->count += def->body_count;
    for (int i = 0; i < def->body_count; ++i) {
        solid* s = &solids->solids[first + i];
        TREACLE_TRY(make_body(ctx, &def->bodies[i], domain, s, &out->bodies[i]));
        out->start[i] = start_of(&def->bodies[i], s);
        keep_in_plane(domain, &out->start[i]);
    }
    return make_joints(ctx, def, out);
}

treacle_status bodies_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* solids, body_set* out) {
    TREACLE_ASSERT(domain->h > 0.0);
    TREACLE_ASSERT(solids->count == solids->scripted_count);
    *out = (body_set){0};
    if (def->body_count == 0) {
        return TREACLE_OK;
    }
    treacle_status status = make_all(ctx, def, domain, solids, out);
    if (status != TREACLE_OK) {
        bodies_destroy(ctx, out);
    }
    return status;
}

void bodies_destroy(treacle_context* ctx, body_set* set) {
    for (int i = 0; i < set->count; ++i) {
        rigid_body* body = &set->bodies[i];
        curve_free(ctx, &body->force);
        curve_free(ctx, &body->torque);
        alloc_free(ctx, body->samples, (size_t)body->sample_count * sizeof(vec3));
    }
    alloc_free(ctx, set->bodies, (size_t)set->count * sizeof(*set->bodies));
    alloc_free(ctx, set->start, (size_t)set->count * sizeof(*set->start));
    alloc_free(ctx, set->joints, (size_t)set->joint_count * sizeof(*set->joints));
    *set = (body_set){0};
}

double bodies_fastest(const body_set* set, const body_state* states) {
    TREACLE_ASSERT(set->count == 0 || states != NULL);
    double fastest = 0.0;
    for (int i = 0; i < set->count; ++i) {
        fastest = fmax(fastest, vec3_length(vec3_from(states[i].velocity)) +
                                    set->bodies[i].radius * vec3_length(vec3_from(states[i].spin)));
    }
    return fastest;
}
