#include "step/move_particles.h"

#include <math.h>

#include "base/check.h"
#include "base/comm.h"
#include "phys/advect.h"
#include "phys/flying_lumps.h"
#include "phys/g2p.h"
#include "step/forces.h"
#include "step/keep_out.h"

// --- lumps that fly ----------------------------------------------------------------------------

// What holds liquid that is near.
typedef struct near_things {
    const step_frame* f;
    solid_scene solids; // at the step's begin
} near_things;

// Whether a solid, a body or an emitter that runs is that near.
static bool is_near_anything(const void* data, vec3 x, double reach) {
    const near_things* near = data;
    const step_frame* f = near->f;
    double distance = INFINITY;
    if (near->solids.count > 0) {
        solid_nearest(&near->solids, x, &distance);
    }
    for (int e = 0; e < f->setup->emitter_count && distance >= reach; ++e) {
        const emitter* source = &f->setup->emitters[e];
        if (emitter_speed(source, f->time) > 0.0) {
            vec3 from = vec3_sub(x, emitter_offset(source, f->time));
            distance = fmin(distance, shape_distance(source->where, from));
        }
    }
    return distance < reach;
}

// Pieces of the last step's liquid that fly, and what that adds to the motion of particles; in the
// scratch arena. out->motion is NULL where nothing flies.
static treacle_status find_flights(const near_things* near, const liquid_state* before,
                                   const particles* p, const double fall[AXES], lump_motions* out) {
    const step_frame* f = near->f;
    bool has_things = near->solids.count + f->setup->emitter_count > 0;
    flying_lumps_params params = {
        .domain = f->setup->domain,
        .map = &before->map,
        .cell_phi = before->cell_phi,
        .face_u = face_view_of(before->face_u),
        .scratch = f->scratch,
        .is_near = has_things ? is_near_anything : NULL,
        .near_data = near,
    };
    flying_lumps found;
    TREACLE_TRY(flying_lumps_find(&params, &found));
    treacle_status status =
        found.has_flight ? flying_lumps_motions(&found, p, f->dt, fall, out) : TREACLE_OK;
    flying_lumps_finish(&found);
    return status;
}

// --- the motion ---------------------------------------------------------------------------------

// Particles beside thin solids go by what they see: x + dt (u + dt/2 grad u u), the second order in
// time [thin.2].
static void move_thin(const step_frame* f, const thin_view* thin, const float* start,
                      particles* p) {
    float cells = (float)(f->dt / f->setup->domain->h);
    for (int64_t i = 0; i < thin->count; ++i) {
        const thin_particle* one = &thin->members[i];
        float* x = particles_f32(p, PARTICLE_POSITION) + AXES * one->particle;
        for (int a = 0; a < AXES; ++a) {
            float change = 0.0f;
            for (int b = 0; b < AXES; ++b) {
                change += one->slope[a][b] * one->value[b];
            }
            float way = cells * (one->value[a] + 0.5f * cells * change);
            x[a] = f->setup->domain->is_active[a] ? start[AXES * one->particle + a] + way : x[a];
        }
    }
}

// What the caller pushes adds its half to the way of what flies, like gravity [path.1].
static void push_flights(const step_frame* f, const float* acceleration, const particles* p,
                         const lump_motions* flights) {
    double half = 0.5 * f->dt * f->dt / f->setup->domain->h;
    for (int64_t t = 0; t < p->tile_count && flights->motion != NULL && acceleration != NULL; ++t) {
        particle_ix end = flights->is_moved[t] ? p->tile_first[t + 1] : p->tile_first[t];
        for (particle_ix i = p->tile_first[t]; i < end; ++i) {
            lump_motion* m = &flights->motion[i];
            const float* by = m->frame;
            bool flies = by[0] != 0.0f || by[1] != 0.0f || by[2] != 0.0f;
            for (int a = 0; a < AXES && flies; ++a) {
                bool is_active = f->setup->domain->is_active[a];
                m->shift[a] +=
                    is_active ? (float)(half * (double)acceleration[AXES * i + a]) : 0.0f;
            }
        }
    }
}

// A bound on what anything moves in the step, cells. Gravity alone moves only what flies: what is
// held may take steps in which it would fall far.
static treacle_status find_reach(const step_frame* f, const liquid_state* before,
                                 const double fall[AXES], bool flies, double* out) {
    double h = f->setup->domain->h, flow = liquid_state_fastest(before) * f->dt;
    double down = fmax(fmax(fabs(fall[0]), fabs(fall[1])), fabs(fall[2]));
    int64_t is_any = flies ? 1 : 0;
    comm_max_i64(f->ctx, &is_any, 1);
    double reach = (is_any > 0 ? flow + down : flow) / h;
    *out = fmin((flow + down) / h, LIQUID_REACH_MAX);
    if (!(reach <= LIQUID_REACH_MAX)) {
        return check_fail(f->ctx, TREACLE_ERR_DIVERGED, "liquid would cross %g cells in a step",
                          reach);
    }
    return TREACLE_OK;
}

treacle_status move_particles(const step_frame* f, const liquid_state* before,
                              const solid_poses* poses, const particle_push* push, particles* p) {
    TREACLE_ASSERT(f->dt > 0.0 && isfinite(f->dt));
    TREACLE_ASSERT(before->map.count == 0 || before->face_u.at[0] != NULL);
    TREACLE_ASSERT(p->tile_first[p->tile_count] == p->count);
    TREACLE_ASSERT(f->setup->solids.count == 0 || (poses->from != NULL && poses->to != NULL));
    if (before->map.count == 0) {
        return TREACLE_OK;
    }
    double fall[AXES], reach = 0.0;
    forces_fall(f, fall);
    face_velocity flow = {.map = &before->map,
                          .has_viscosity = liquid_is_viscous(f->setup),
                          .domain = f->setup->domain,
                          .u = before->face_u};
    int mark = arena_mark(f->scratch);
    free_flyers flyers;
    lump_motions flights = {0};
    float *place = NULL, *start = NULL;
    TREACLE_TRY(keep_out_begin(f, p, &start));
    TREACLE_TRY(free_flyers_find(f, before, p, &flyers));
    if (!push->is_given) {
        near_things near = {f, solid_scene_of(&f->setup->solids, poses->from)};
        TREACLE_TRY(find_flights(&near, before, p, fall, &flights));
    }
    bool flies = flyers.count > 0 || flights.motion != NULL;
    TREACLE_TRY(find_reach(f, before, fall, flies, &reach));
    TREACLE_TRY(free_flyers_keep(f, &flyers, p, PARTICLE_POSITION, &place));
    thin_view thin;
    TREACLE_TRY(keep_out_look(f, p, poses->from, TREACLE_KERNEL_LINEAR, &thin));
    g2p_thin(&flow, p, TREACLE_KERNEL_LINEAR, &thin);
    push_flights(f, push->acceleration, p, &flights);
    advect_params params = {.scheme = f->setup->def->advection,
                            .dt = f->dt,
                            .reach = reach,
                            .lumps = flights.motion != NULL ? &flights : NULL};
    advect_particles(&flow, p, &params);
    move_thin(f, &thin, start, p);
    free_flyers_put(&flyers, PARTICLE_POSITION, place, p);
    free_flyers_move(f, &flyers, fall, p);
    keep_out_move(f, poses, start, p);
    keep_out_stop(f, poses, &flyers, p);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
