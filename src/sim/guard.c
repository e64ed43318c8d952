#include "sim/guard.h"

#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "sim/ballistic.h"
#include "sim/bodies.h"
#include "sim/timestep.h"

// --- one pass ------------------------------------------------------------------------------------

static double fastest_of_group(void* data, int64_t group) {
    const particles* p = data;
    particle_ix first = p->tile_first[group], count = p->tile_first[group + 1] - first;
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        const particle_column_info* info = &particle_columns[c];
        bool is_finite = true;
        if (p->column[c] != NULL && info->type == TREACLE_TYPE_F32) {
            const float* values = particles_f32(p, (particle_column)c) + info->components * first;
            is_finite = isfinite(ISA_CALL(p->ctx, guard_largest)(count * info->components, values));
        } else if (p->column[c] != NULL && info->type == TREACLE_TYPE_F64) {
            const double* values = particles_f64(p, (particle_column)c) + info->components * first;
            for (particle_ix i = 0; i < count * info->components; ++i) {
                is_finite = is_finite && isfinite(values[i]);
            }
        }
        if (!is_finite) {
            return INFINITY;
        }
    }
    const float* velocity = particles_f32(p, PARTICLE_VELOCITY) + AXES * first;
    return sqrt((double)ISA_CALL(p->ctx, ballistic_max_squared)(count, velocity));
}

enum { FIELDS = AXES + 2 + CARRIED_COUNT };

// The fields of a state in one row: velocities first; NULL where there is none.
static const float* field_of(const liquid_state* liquid, int i) {
    return i < AXES        ? liquid->face_u.at[i]
           : i == AXES     ? liquid->cell_pressure
           : i == AXES + 1 ? liquid->cell_phi
                           : liquid->carried[i - AXES - 2];
}

static double fastest_of_tile(void* data, int64_t tile) {
    const liquid_state* liquid = data;
    double fastest = 0.0;
    for (int i = 0; i < FIELDS; ++i) {
        const float* values = field_of(liquid, i);
        if (values == NULL) {
            continue;
        }
        float largest =
            ISA_CALL(liquid->map.ctx, guard_largest)(TILE_CELLS, values + tile * TILE_CELLS);
        if (!isfinite(largest)) {
            return INFINITY;
        }
        fastest = i < AXES ? fmax(fastest, (double)largest) : fastest;
    }
    return fastest;
}

static double distance_of_tile(void* data, int64_t tile) {
    const level_set* set = data;
    float largest = ISA_CALL(set->map.ctx, guard_largest)(TILE_CELLS, set->phi + tile * TILE_CELLS);
    return isfinite(largest) ? 0.0 : INFINITY;
}

static double fastest_of_bodies(const treacle_sim* sim, const sim_state* state) {
    for (int i = 0; i < sim->setup.bodies.count; ++i) {
        if (!body_is_finite(&state->bodies[i])) {
            return INFINITY;
        }
    }
    return bodies_fastest(&sim->setup.bodies, state->bodies);
}

guard_speeds guard_measure(const treacle_sim* sim, const sim_state* state) {
    TREACLE_ASSERT(state == &sim->now || state == &sim->next);
    guard_speeds out = {.bodies = fastest_of_bodies(sim, state)};
    particles p = state->particles, markers = state->surface.markers;
    liquid_state liquid = state->liquid;
    level_set surface = state->surface;
    if (p.count > 0) {
        out.particles = particle_max(&p, fastest_of_group, &p);
    }
    if (liquid.map.count > 0) {
        out.faces = tile_max(&liquid.map, fastest_of_tile, &liquid);
    }
    if (surface.map.count > 0) {
        out.faces = fmax(out.faces, tile_max(&surface.map, distance_of_tile, &surface));
    }
    if (markers.count > 0) { // their velocity is not used
        double most = particle_max(&markers, fastest_of_group, &markers);
        out.faces = isfinite(most) ? out.faces : INFINITY;
    }
    return out;
}

// --- where it is ---------------------------------------------------------------------------------

// What was found, in words; and how bad it is, the speed, infinite where there is none.
typedef struct finding {
    double speed;
    char text[200];
} finding;

static double not_finite_of(const particles* p, particle_ix particle, int* column) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        const particle_column_info* info = &particle_columns[c];
        bool is_wide = info->type == TREACLE_TYPE_F64;
        for (int i = 0; i < info->components && p->column[c] != NULL; ++i) {
            double value =
                is_wide ? particles_f64(p, (particle_column)c)[particle]
                : info->type == TREACLE_TYPE_F32
                    ? (double)particles_f32(p, (particle_column)c)[info->components * particle + i]
                    : 0.0;
            if (!isfinite(value)) {
                *column = c;
                return value;
            }
        }
    }
    *column = -1;
    return 0.0;
}

static void describe_particle(const grid_domain* domain, const particles* p, tile_ix group,
                              particle_ix particle, finding* out) {
    int column;
    double value = not_finite_of(p, particle, &column), x[AXES];
    for (int a = 0; a < AXES; ++a) {
        double local = (double)particles_f32(p, PARTICLE_POSITION)[AXES * particle + a];
        x[a] = domain->origin[a] + domain->h * (TILE_SIZE * p->tile[group].at[a] + local);
    }
    unsigned long long id = (unsigned long long)particles_id(p)[particle];
    if (column >= 0) {
        snprintf(out->text, sizeof(out->text),
                 "the %s of particle %llu at [%.6g, %.6g, %.6g] is %g",
                 particle_columns[column].name, id, x[0], x[1], x[2], value);
    } else {
        snprintf(out->text, sizeof(out->text), "particle %llu at [%.6g, %.6g, %.6g] has %.3g m/s",
                 id, x[0], x[1], x[2], out->speed);
    }
}

static void find_particle(const grid_domain* domain, const particles* p, finding* out) {
    const float* velocity = particles_f32(p, PARTICLE_VELOCITY);
    tile_range here = particle_ranks_here(p);
    particle_ix worst = -1;
    tile_ix group = 0;
    for (int64_t t = here.begin; t < here.end; ++t) {
        for (particle_ix particle = p->tile_first[t]; particle < p->tile_first[t + 1]; ++particle) {
            int column;
            not_finite_of(p, particle, &column);
            const float* v = velocity + AXES * particle;
            double x = (double)v[0], y = (double)v[1], z = (double)v[2];
            double speed = column >= 0 ? INFINITY : sqrt(x * x + y * y + z * z);
            if (speed > out->speed) {
                out->speed = speed;
                worst = particle;
                group = (tile_ix)t;
            }
        }
    }
    if (worst >= 0) {
        describe_particle(domain, p, group, worst, out);
    }
}

static void describe_face(const grid_domain* domain, const liquid_state* liquid, int which,
                          int64_t k, finding* out) {
    static const char* const names[] = {"velocity along x", "velocity along y", "velocity along z",
                                        "pressure", "distance to the surface"};
    int at[AXES];
    double x[AXES];
    tile_cell_at(&liquid->map, (tile_ix)(k / TILE_CELLS), (int)(k % TILE_CELLS), at);
    for (int a = 0; a < AXES; ++a) {
        x[a] = domain->origin[a] + domain->h * at[a];
    }
    snprintf(out->text, sizeof(out->text), "the %s on the grid at [%.6g, %.6g, %.6g] is %.3g%s",
             which < AXES + 2 ? names[which] : "temperature or strain", x[0], x[1], x[2],
             (double)field_of(liquid, which)[k], which < AXES ? " m/s" : "");
}

static void find_face(const grid_domain* domain, const liquid_state* liquid, finding* out) {
    tile_range own = tile_ranks_own(&liquid->map);
    for (int i = 0; i < FIELDS; ++i) {
        const float* values = field_of(liquid, i);
        for (int64_t k = own.begin * TILE_CELLS; values != NULL && k < own.end * TILE_CELLS; ++k) {
            double value = fabs((double)values[k]);
            value = !isfinite(value) ? INFINITY : i < AXES ? value : 0.0;
            if (value > out->speed) {
                out->speed = value;
                describe_face(domain, liquid, i, k, out);
            }
        }
    }
}

static void find_body(const treacle_sim* sim, const sim_state* state, finding* out) {
    const body_set* set = &sim->setup.bodies;
    for (int i = 0; i < set->count; ++i) {
        const body_state* body = &state->bodies[i];
        bool is_finite = body_is_finite(body);
        double speed =
            is_finite ? bodies_fastest(&(body_set){.count = 1, .bodies = &set->bodies[i]}, body)
                      : INFINITY;
        if (speed > out->speed) {
            out->speed = speed;
            snprintf(out->text, sizeof(out->text),
                     "body '%s' at [%.6g, %.6g, %.6g] has %.3g m/s at its rim", set->bodies[i].name,
                     body->place[0], body->place[1], body->place[2], speed);
        }
    }
}

// Ranks have looked at their own: all say what the lowest with the worst has found.
static void agree(const treacle_sim* sim, finding* out) {
    double worst = out->speed;
    int64_t from = -(int64_t)comm_size(sim->ctx);
    comm_max_f64(sim->ctx, &worst, 1);
    from = out->speed == worst ? -(int64_t)comm_rank(sim->ctx) : from;
    comm_max_i64(sim->ctx, &from, 1);
    comm_broadcast(sim->ctx, (int)-from, out, sizeof(*out));
}

static finding find_worst(const treacle_sim* sim, const sim_state* state) {
    finding out = {.speed = -1.0, .text = "the surface is not finite"};
    find_body(sim, state, &out);
    if (state->particles.count > 0) {
        find_particle(&sim->domain, &state->particles, &out);
    }
    if (state->liquid.map.count > 0) {
        find_face(&sim->domain, &state->liquid, &out);
    }
    agree(sim, &out);
    return out;
}

// --- verdicts ------------------------------------------------------------------------------------

treacle_status guard_finite(const treacle_sim* sim, const sim_state* state,
                            const guard_speeds* speeds, treacle_status status) {
    TREACLE_ASSERT(status != TREACLE_OK);
    if (isfinite(speeds->particles) && isfinite(speeds->faces) && isfinite(speeds->bodies)) {
        return TREACLE_OK;
    }
    finding found = find_worst(sim, state);
    return check_fail(sim->ctx, status, "%s", found.text);
}

treacle_status guard_pace(const treacle_sim* sim, const sim_state* state,
                          const guard_speeds* speeds) {
    TREACLE_ASSERT(sim->def.step.min_dt > 0.0);
    double limit = timestep_limit(sim, state, guard_fastest(speeds));
    if (limit >= sim->def.step.min_dt) {
        return TREACLE_OK;
    }
    double calm = timestep_limit(sim, state, 0.0); // emitters, gravity and gel alone
    if (calm < sim->def.step.min_dt) {
        return check_fail(sim->ctx, TREACLE_ERR_DIVERGED,
                          "the speed of an emitter, gravity or the waves of elastic material ask "
                          "for steps of %.3g s, and step.min_dt is %g s: choose a smaller min_dt "
                          "or larger cells",
                          calm, sim->def.step.min_dt);
    }
    finding found = find_worst(sim, state);
    return check_fail(sim->ctx, TREACLE_ERR_DIVERGED,
                      "%s, which asks for a step of %.3g s, and step.min_dt is %g s: choose a "
                      "smaller min_dt if such a speed is meant",
                      found.text, limit, sim->def.step.min_dt);
}
