// How long a step may be.
//
// The fastest particle, gravity included, crosses at most `cfl` cells h:
//
//     (v + g dt) dt <= cfl h   <=>   dt <= 2 cfl h / (v + sqrt(v^2 + 4 g cfl h)),
//
// where v is the largest speed of particles and emitters. Where the grid carries the liquid, cfl is
// at most that of the level set: the flow must see liquid beside a wall before it is there. And dt
// <= max_dt of the def. Where the def asks for it, an elastic wave of speed c = sqrt(mu_e / 2 rho)
// crosses at most a cell, and half a cell with the explicit stress, which would not be stable
// otherwise [G11 eq. 3.16]. What is left to the caller's max_dt, usually the end of a frame, is
// then cut into equal steps: no step is a sliver, and the last one ends on it.
#include <math.h>

#include "sim/ballistic.h"
#include "sim/sim_internal.h"

static double fastest(const treacle_sim* sim) {
    double v = fmax(ballistic_max_speed(&sim->domain, &sim->now.particles),
                    liquid_state_fastest(&sim->now.liquid));
    v = fmax(v, bodies_fastest(&sim->setup.bodies, sim->now.bodies));
    for (int i = 0; i < sim->emitter_count; ++i) {
        const emitter* e = &sim->emitters[i];
        double now = sim->now.time, soon = now + sim->def.step.max_dt;
        v = fmax(v, emitter_speed(e, now) + vec3_length(emitter_motion(e, now, soon)));
    }
    return v;
}

static double elastic_limit(const treacle_sim* sim) {
    const treacle_elasticity_def* def = &sim->def.elasticity;
    double limit = INFINITY;
    for (int m = 0; m < sim->setup.material_count; ++m) {
        double c = sqrt(0.5 * sim->setup.strain_laws[m].modulus / sim->density[m]);
        double cells = def->is_explicit || euler_is_on(&sim->def) ? 0.5
                       : def->limits_step                         ? 1.0
                                                                  : INFINITY;
        limit = c > 0.0 ? fmin(limit, cells * sim->domain.h / c) : limit;
    }
    return limit;
}

static double cfl_of(const treacle_sim* sim) {
    const treacle_sim_def* def = &sim->def;
    return euler_is_on(def) ? fmin(def->step.cfl, def->level_set.cfl) : def->step.cfl;
}

double timestep_choose(const treacle_sim* sim, double max_dt) {
    double g[AXES];
    curve_eval(&sim->gravity, sim->now.time, g);
    double pull = sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
    double v = fastest(sim), reach = cfl_of(sim) * sim->domain.h;
    double limit = 2.0 * reach / (v + sqrt(v * v + 4.0 * pull * reach)); // inf at rest
    limit = fmin(fmin(limit, elastic_limit(sim)), sim->def.step.max_dt);
    double steps = ceil(max_dt / limit);
    return steps <= 1.0 ? max_dt : max_dt / steps;
}
