// Bodies that are inside something at the start.
//
// How deep a body A is in something B, both given by their distances d_A and d_B, is the larger of
//
//     - the depth in B of the deepest of A's points on its surface, and the same the other way;
//     - -(d_A + d_B) where max(d_A, d_B) is smallest: of faces that lie flat in each other, or of
//       a ball in a plane, this is the way by which they must come apart.
//
// The first finds corners, the second all that is round or thin, however far apart the points are.
// The smallest max(d_A, d_B) is looked for from A's points that are nearest to B: downhill along
// the shortest mixture of both slopes, and back to where both distances are the same.
#include "sim/overlap.h"

#include <math.h>

#include "base/alloc.h"
#include "sim/bodies.h"
#include "sim/sim_internal.h"

enum { STARTS = 4, DESCENT_STEPS = 64 };

// Cells: less is no overlap, and how finely it is looked for.
static const double allowed = 0.01, finest = 1e-4;

typedef struct overlap_work {
    treacle_context* ctx;
    const grid_domain* domain;
    const solid_set* solids;
    const body_set* set;
    solid_pose* poses; // [solids], those of bodies included
    treacle_overlap_fcn* visit;
    void* user;
} overlap_work;

// What a body may be in: a solid, also that of a body, or a side of the domain.
typedef struct thing {
    int solid; // -1: a side
    int axis, high;
} thing;

static double distance_to(const overlap_work* w, const thing* it, vec3 x) {
    const grid_domain* domain = w->domain;
    double low = domain->origin[it->axis];
    return it->solid >= 0 ? solid_distance(&w->solids->solids[it->solid], &w->poses[it->solid], x)
           : it->high     ? low + domain->h * domain->cells[it->axis] - x.at[it->axis]
                          : x.at[it->axis] - low;
}

static vec3 slope_of(const overlap_work* w, const thing* it, vec3 x) {
    vec3 out = {{0.0, 0.0, 0.0}};
    double reach = 1e-3 * w->domain->h;
    for (int a = 0; a < AXES; ++a) {
        if (w->domain->is_active[a]) {
            vec3 low = x, high = x;
            low.at[a] -= reach;
            high.at[a] += reach;
            out.at[a] = (distance_to(w, it, high) - distance_to(w, it, low)) / (2.0 * reach);
        }
    }
    return out;
}

// The shortest of all mixtures of two vectors.
static vec3 shortest_mix(vec3 a, vec3 b) {
    vec3 way = vec3_sub(b, a);
    double length = vec3_dot(way, way);
    double fraction = length > 0.0 ? fmin(fmax(-vec3_dot(a, way) / length, 0.0), 1.0) : 0.0;
    return vec3_add_scaled(a, fraction, way);
}

typedef struct meeting {
    vec3 x, slope; // where it is, and the shortest mixture of both slopes
    double a, b;   // m, distances there
} meeting;

// At x, moved to where both distances are the same; where the slopes are much alike it stays.
static meeting meet(const overlap_work* w, const thing* a, const thing* b, vec3 x) {
    vec3 sa = slope_of(w, a, x), sb = slope_of(w, b, x), apart = vec3_sub(sa, sb);
    double square = vec3_dot(apart, apart);
    if (square > 0.1) {
        x = vec3_add_scaled(x, (distance_to(w, b, x) - distance_to(w, a, x)) / square, apart);
    }
    return (meeting){x, shortest_mix(sa, sb), distance_to(w, a, x), distance_to(w, b, x)};
}

static double depth_from(const overlap_work* w, const thing* a, const thing* b, vec3 start) {
    double h = w->domain->h, reach = 0.25 * h;
    meeting here = meet(w, a, b, start);
    for (int i = 0; i < DESCENT_STEPS && reach > finest * h; ++i) {
        double steep = vec3_length(here.slope);
        if (!(steep > 1e-3)) {
            break;
        }
        meeting there = meet(w, a, b, vec3_add_scaled(here.x, -reach / steep, here.slope));
        bool is_lower = fmax(there.a, there.b) < fmax(here.a, here.b);
        here = is_lower ? there : here;
        reach *= is_lower ? 1.5 : 0.5;
    }
    return fmax(here.a, here.b) < 0.0 ? -(here.a + here.b) : 0.0;
}

// Finds those of a body's points that are nearest to the other; returns the depth of the deepest.
static double nearest_points(const overlap_work* w, int body, const thing* other,
                             vec3 start[STARTS]) {
    int own_solid = w->solids->scripted_count + body;
    const rigid_body* own = &w->set->bodies[body];
    double found[STARTS];
    for (int k = 0; k < STARTS; ++k) {
        found[k] = INFINITY;
        start[k] = w->poses[own_solid].place;
    }
    for (int i = 0; i < own->sample_count; ++i) {
        vec3 x = vec3_add(w->poses[own_solid].place,
                          mat3_apply(&w->poses[own_solid].rotate, own->samples[i]));
        double distance = distance_to(w, other, x);
        int at = STARTS;
        while (at > 0 && distance < found[at - 1]) {
            at -= 1;
            if (at + 1 < STARTS) {
                found[at + 1] = found[at];
                start[at + 1] = start[at];
            }
        }
        if (at < STARTS) {
            found[at] = distance;
            start[at] = x;
        }
    }
    return fmax(-found[0], 0.0);
}

static double depth_in(const overlap_work* w, int body, const thing* other) {
    vec3 start[STARTS];
    thing own = {.solid = w->solids->scripted_count + body};
    double depth = nearest_points(w, body, other, start);
    for (int k = 0; k < STARTS; ++k) {
        depth = fmax(depth, depth_from(w, &own, other, start[k]));
    }
    if (other->solid >= w->solids->scripted_count) {
        depth =
            fmax(depth, nearest_points(w, other->solid - w->solids->scripted_count, &own, start));
    }
    return depth / w->domain->h;
}

static treacle_status look(const overlap_work* w, int body, const thing* other) {
    int first = w->solids->scripted_count;
    treacle_overlap found = {.body = body, .other = other->solid, .depth = 0.0};
    found.kind = other->solid < 0        ? TREACLE_OVERLAP_SIDE
                 : other->solid >= first ? TREACLE_OVERLAP_BODY
                                         : TREACLE_OVERLAP_SOLID;
    found.other = other->solid < 0        ? 2 * other->axis + other->high
                  : other->solid >= first ? other->solid - first
                                          : other->solid;
    found.depth = depth_in(w, body, other);
    return found.depth > allowed ? w->visit(&found, w->user) : TREACLE_OK;
}

static treacle_status look_at_sides(const overlap_work* w, int body) {
    vec3 place = vec3_from(w->set->start[body].place);
    for (int i = 0; i < 2 * AXES; ++i) {
        thing side = {.solid = -1, .axis = i / 2, .high = i % 2};
        bool is_closed = w->domain->is_active[side.axis] &&
                         w->domain->sides[side.axis][side.high] != TREACLE_SIDE_OPEN;
        if (is_closed && distance_to(w, &side, place) < w->set->bodies[body].radius) {
            TREACLE_TRY(look(w, body, &side));
        }
    }
    return TREACLE_OK;
}

static treacle_status look_at_all(const overlap_work* w) {
    int first = w->solids->scripted_count;
    for (int i = 0; i < w->set->count; ++i) {
        vec3 place = vec3_from(w->set->start[i].place);
        TREACLE_TRY(look_at_sides(w, i));
        for (int k = 0; k < first + i; ++k) {
            thing other = {.solid = k};
            double reach = w->set->bodies[i].radius;
            bool is_near = k < first ? distance_to(w, &other, place) < reach
                                     : vec3_length(vec3_sub(place, w->poses[k].place)) <
                                           reach + w->set->bodies[k - first].radius;
            if (is_near) {
                TREACLE_TRY(look(w, i, &other));
            }
        }
    }
    return TREACLE_OK;
}

treacle_status overlaps_visit(treacle_context* ctx, const grid_domain* domain,
                              const solid_set* solids, const body_set* set,
                              treacle_overlap_fcn* visit, void* user) {
    TREACLE_ASSERT(visit != NULL);
    TREACLE_ASSERT(solids->scripted_count + set->count == solids->count);
    if (set->count == 0) {
        return TREACLE_OK;
    }
    size_t count = (size_t)solids->count;
    void* poses = NULL;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(solid_pose), "poses of solids", &poses));
    overlap_work w = {ctx, domain, solids, set, poses, visit, user};
    for (int i = 0; i < solids->count; ++i) {
        bool is_body = i >= solids->scripted_count;
        solid_pose* pose = &w.poses[i];
        *pose = is_body ? body_pose(&set->start[i - solids->scripted_count])
                        : solids_pose_at(&solids->motions[i], 0.0);
        if (solids->solids[i].sequence != NULL) {
            solids_reshape(&solids->solids[i], &solids->motions[i], 0.0, 0.0,
                           (solid_pose* const[2]){pose, pose});
        }
    }
    treacle_status status = look_at_all(&w);
    alloc_free(ctx, poses, count * sizeof(solid_pose));
    return status;
}

treacle_status treacle_sim_visit_overlaps(treacle_context* ctx, const treacle_sim_def* def,
                                          treacle_overlap_fcn* visit, void* user) {
    grid_domain domain;
    solid_set solids = {0};
    body_set set = {0};
    if (def->body_count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(grid_domain_init(ctx, &def->domain, &domain));
    treacle_status status = solids_create(ctx, def, &domain, &solids);
    if (status == TREACLE_OK) {
        status = bodies_create(ctx, def, &domain, &solids, &set);
    }
    if (status == TREACLE_OK) {
        status = overlaps_visit(ctx, &domain, &solids, &set, visit, user);
    }
    bodies_destroy(ctx, &set);
    solids_destroy(ctx, &solids);
    return status;
}

// --- refusal -------------------------------------------------------------------------------------

typedef struct refusal {
    treacle_context* ctx;
    const treacle_sim_def* def;
} refusal;

static treacle_status overlap_refuse(const treacle_overlap* found, void* user) {
    static const char* const sides[] = {"left", "right", "bottom", "top", "back", "front"};
    const refusal* r = user;
    const char* name = r->def->bodies[found->body].name;
    const char* other = found->kind == TREACLE_OVERLAP_SIDE   ? sides[found->other]
                        : found->kind == TREACLE_OVERLAP_BODY ? r->def->bodies[found->other].name
                                                              : r->def->solids[found->other].name;
    return check_fail(r->ctx, TREACLE_ERR_SCENE,
                      "body '%s' is %.3g cells deep in %s '%s' at the start: expected at most %g",
                      name == NULL ? "" : name, found->depth,
                      found->kind == TREACLE_OVERLAP_SIDE   ? "the side"
                      : found->kind == TREACLE_OVERLAP_BODY ? "body"
                                                            : "solid",
                      other == NULL ? "" : other, allowed);
}

treacle_status overlaps_refuse(treacle_context* ctx, const treacle_sim_def* def,
                               const grid_domain* domain, const solid_set* solids,
                               const body_set* set) {
    refusal r = {ctx, def};
    return overlaps_visit(ctx, domain, solids, set, overlap_refuse, &r);
}
