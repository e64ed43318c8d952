// Forces during a step. Gravity, and forces that are the same everywhere, count with their mean
// over the step, and what flies gets the way that they add to its motion [path.1]; other fields
// count as they are at its begin.
#include "step/forces.h"

#include <math.h>

#include "step/couple_bodies.h"

// Gauss and Legendre's nodes on 0..1: exact for strength, linear between keys, times a polynomial
// of degree 6.
enum { NODES = 4 };
static const double node[NODES] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                   0.93056815579702629};
static const double weight[NODES] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                     0.17392742256872693};

static bool is_uniform(const liquid_force* f) {
    return f->where == NULL && field_is_uniform(&f->acceleration);
}

// Adds the integrals of f and of (end - t) f from one moment to another.
static void add_span(const liquid_force* f, double from, double to, double end,
                     double out[2][AXES]) {
    for (int n = 0; n < NODES; ++n) {
        double t = from + node[n] * (to - from), value[AXES];
        double part = weight[n] * (to - from) * curve_eval_scalar(&f->strength, t);
        field_eval(&f->acceleration, vec3_make(0.0, 0.0, 0.0), t, value);
        for (int a = 0; a < AXES; ++a) {
            out[0][a] += part * value[a];
            out[1][a] += part * (end - t) * value[a];
        }
    }
}

// Between its start and its stop, piece by piece of its strength.
static void add_uniform(const liquid_force* f, double begin, double end, double out[2][AXES]) {
    double from = fmax(begin, f->start), to = fmin(end, f->stop);
    for (int k = 0; k < f->strength.count && from < to; ++k) {
        double next = fmin(f->strength.keys[k].time, to);
        if (next > from) {
            add_span(f, from, next, end, out);
            from = next;
        }
    }
    if (from < to) {
        add_span(f, from, to, end, out);
    }
}

// out[0]: what uniform forces add to the velocity, m/s; out[1]: to the way, m.
static void uniform_forces(const step_frame* f, double out[2][AXES]) {
    for (int a = 0; a < AXES; ++a) {
        out[0][a] = out[1][a] = 0.0;
    }
    for (int i = 0; i < f->setup->force_count; ++i) {
        if (is_uniform(&f->setup->forces[i])) {
            add_uniform(&f->setup->forces[i], f->time, f->time + f->dt, out);
        }
    }
}

void forces_fall(const step_frame* f, double out[AXES]) {
    TREACLE_ASSERT(f->dt > 0.0);
    double forces[2][AXES];
    uniform_forces(f, forces);
    for (int a = 0; a < AXES; ++a) {
        out[a] = f->setup->domain->is_active[a] ? f->gravity.way[a] + forces[1][a] : 0.0;
    }
}

treacle_status forces_find(const step_frame* f, const tile_map* map, const float* cell_buoyancy,
                           force_params* out) {
    TREACLE_ASSERT(f->dt > 0.0 && isfinite(f->dt));
    TREACLE_ASSERT(cell_buoyancy == NULL || map != NULL);
    const liquid_setup* setup = f->setup;
    force_field* fields = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)setup->force_count, sizeof(*fields), "forces",
                           (void**)&fields));
    *out = (force_params){.domain = setup->domain,
                          .map = map,
                          .time = f->time,
                          .dt = f->dt,
                          .gravity = {f->gravity.mean[0], f->gravity.mean[1], f->gravity.mean[2]},
                          .fields = fields,
                          .cell_buoyancy = cell_buoyancy};
    double forces[2][AXES];
    uniform_forces(f, forces);
    for (int a = 0; a < AXES; ++a) {
        out->uniform[a] = forces[0][a] / f->dt;
    }
    for (int i = 0; i < setup->force_count; ++i) {
        const liquid_force* force = &setup->forces[i];
        if (!is_uniform(force) && f->time >= force->start && f->time <= force->stop) {
            fields[out->field_count++] = (force_field){
                force->where, &force->acceleration, curve_eval_scalar(&force->strength, f->time)};
        }
    }
    return TREACLE_OK;
}

treacle_status forces_push(const step_frame* f, const particle_grid* given, body_state* bodies,
                           liquid_state* state, energy_account* account) {
    TREACLE_ASSERT(state->face_u.at[0] != NULL && account != NULL);
    TREACLE_ASSERT(f->setup->bodies.count == 0 || bodies != NULL);
    force_params params;
    TREACLE_TRY(energy_account_forces(f, &state->map, given, bodies, account));
    TREACLE_TRY(forces_find(f, &state->map, given->buoyancy, &params));
    params.face_push = account->face_push;
    force_apply(&params, state->face_u.at);
    couple_bodies_push(f, bodies);
    energy_account_pushed(f, state, given, bodies, account);
    arena_give(f->scratch, params.fields);
    return TREACLE_OK;
}
