#include "step/move_solids.h"

#include <math.h>

#include "particles/particles.h"
#include "step/body_world.h"

// Cells: liquid that is nearer to the surface of a body holds it.
#define BODY_WET_DISTANCE 1.0f

// Whether liquid of the last step is at the surface of a body or in it.
static bool is_wet(const grid_domain* domain, const liquid_state* before, const rigid_body* body,
                   const body_state* state) {
    solid_pose pose = body_pose(state);
    bool is_any = false;
    for (int k = 0; before->map.count > 0 && k < body->sample_count && !is_any; ++k) {
        vec3 x = vec3_add(pose.place, mat3_apply(&pose.rotate, body->samples[k]));
        tile_coord tile;
        float at[AXES];
        particles_locate(domain, x, &tile, at);
        tile_ix t = tile_map_find(&before->map, tile);
        int cell = 0, stride = 1;
        for (int a = 0; a < AXES; ++a, stride *= TILE_SIZE) { // a body may be anywhere
            float inside = fminf(fmaxf(at[a], 0.0f), (float)(TILE_SIZE - 1));
            cell += domain->is_active[a] ? stride * (int)inside : 0;
        }
        is_any = before->cell_phi[(size_t)t * TILE_CELLS + (size_t)cell] < BODY_WET_DISTANCE;
    }
    return is_any;
}

// What gravity and its own force add to the way of a body that no liquid touches [path.1].
static vec3 fall_of(const step_frame* f, const rigid_body* body) {
    vec3 out;
    double way[AXES] = {0.0, 0.0, 0.0};
    if (body->force.count > 0) {
        curve_way(&body->force, f->time, f->time + f->dt, way);
    }
    for (int a = 0; a < AXES; ++a) {
        bool is_active = f->setup->domain->is_active[a];
        out.at[a] = is_active ? f->gravity.way[a] + way[a] / body->mass.mass : 0.0;
    }
    return out;
}

static treacle_status step_bodies(const step_frame* f, const liquid_state* before,
                                  const solid_pose* solids_to, body_state* bodies) {
    const solid_set* solids = &f->setup->solids;
    const body_set* set = &f->setup->bodies;
    const grid_domain* domain = f->setup->domain;
    vec3* fall = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)set->count, sizeof(*fall), "falls of bodies",
                           (void**)&fall));
    for (int i = 0; i < set->count; ++i) {
        const rigid_body* body = &set->bodies[i];
        fall[i] =
            is_wet(domain, before, body, &bodies[i]) ? vec3_make(0.0, 0.0, 0.0) : fall_of(f, body);
    }
    body_world world = {.domain = domain,
                        .set = set,
                        .solids = {solids->count, solids->solids, solids_to},
                        .first_body = solids->scripted_count,
                        .dt = f->dt,
                        .fall = fall};
    treacle_status status = bodies_step(f->ctx, &world, bodies);
    arena_give(f->scratch, fall);
    return status;
}

static treacle_status move_bodies(const step_frame* f, const liquid_state* before,
                                  body_state* bodies, const solid_poses* out) {
    int first = f->setup->solids.scripted_count, count = f->setup->bodies.count;
    for (int i = 0; i < count; ++i) {
        out->from[first + i] = body_pose(&bodies[i]);
    }
    if (count > 0 && !f->is_first) {
        TREACLE_TRY(step_bodies(f, before, out->to, bodies));
    }
    for (int i = 0; i < count; ++i) {
        out->to[first + i] = body_pose(&bodies[i]);
    }
    return TREACLE_OK;
}

treacle_status move_solids(const step_frame* f, const liquid_state* before, body_state* bodies,
                           solid_poses* out) {
    TREACLE_ASSERT(f->dt > 0.0 && isfinite(f->dt));
    TREACLE_ASSERT(f->setup->bodies.count == 0 || bodies != NULL);
    const solid_set* set = &f->setup->solids;
    size_t count = (size_t)set->count;
    *out = (solid_poses){0};
    if (set->count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take_zero(f->scratch, count, sizeof(solid_pose), "poses of solids",
                                (void**)&out->from));
    TREACLE_TRY(arena_take_zero(f->scratch, count, sizeof(solid_pose), "poses of solids",
                                (void**)&out->to));
    for (int i = 0; i < set->scripted_count; ++i) {
        double end = f->is_first ? f->time : f->time + f->dt;
        out->from[i] = solids_pose_at(&set->motions[i], f->time);
        out->to[i] = solids_pose_at(&set->motions[i], end);
        out->from[i].belt = solids_belt_at(&set->solids[i], &set->motions[i], f->time);
        out->to[i].belt = solids_belt_at(&set->solids[i], &set->motions[i], end);
        if (set->solids[i].sequence != NULL) {
            solid_pose* const poses[2] = {&out->from[i], &out->to[i]};
            solids_reshape(&set->solids[i], &set->motions[i], f->time, f->dt, poses);
            out->to[i].form.fraction = f->is_first ? 0.0 : 1.0;
        }
    }
    return move_bodies(f, before, bodies, out);
}
