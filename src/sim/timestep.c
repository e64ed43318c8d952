// How long a step may be.
//
// The fastest particle, with the acceleration a that there is, crosses at most `cfl` cells h:
//
//     (v + a dt) dt <= cfl h   <=>   dt <= 2 cfl h / (v + sqrt(v^2 + 4 a cfl h)),       [step.1]
//
// where v is the largest speed of particles, bodies and emitters. a is gravity at first. What moves
// need not follow it: a step in which v has grown by less is calm, and the next one counts on
//
//     a = (1 - calm) g,   calm' = 1 - max(dv/dt / g, (1 - calm)/2), within 0..1         [step.2]
//
// Accelerations that the caller gives for a step are counted to a in full.
//
// A step that was longer than gravity allows and has let the liquid go, v dt > CALM_SLACK cfl h, is
// begun again: so when a gate opens.
//
// Gravity does not only accelerate: liquid that moves through the velocity of the last step swings
// like w'' + k g w = 0 in steps of dt, and waves shorter than k = 4/(g dt^2) grow, of which a grid
// has them from cells of g dt^2 on. Viscosity nu does not let them swing if nu k^2 > sqrt(g k):
//
//     nu > g^2 dt^3 / 8                                                                 [step.3]
//
// So calm liquid may take longer steps only as far as its viscosity allows.
//
// Surface tension has a limit of its own, [tension.6]: where it is explicit, which is more exact, a
// low one; where steps may be SURFACE_STEPS times as long as that, it is implicit and has a high
// one. What it will do is not known before it is done: a step in which it has made liquid cross
// more than CALM_SLACK cfl cells is begun again, too.
//
// Where the grid carries the liquid, cfl is at most that of the level set: the flow must see liquid
// beside a wall before it is there. And dt <= max_dt of the def. Where the def asks for it, an
// elastic wave of speed c = sqrt(mu_e / 2 rho) crosses at most a cell, and half a cell with the
// explicit stress, which would not be stable otherwise [G11 eq. 3.16]; along what is stretched
// waves are faster. What is left to the caller's max_dt, usually the end of a frame, is then cut
// into equal steps: no step is a sliver, and the last one ends on it.
//
// Properties that tests check: thick liquid at rest takes steps of max_dt; when it begins to fall
// it crosses no more cells than it may; a resumed run takes the same steps.
#include "sim/timestep.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "phys/tension.h"
#include "sim/guard.h"

// Fraction of cfl that a step may turn out to cross beyond what was foreseen.
#define CALM_SLACK 1.5
// As many times an explicit step is worth its while.
#define SURFACE_STEPS 4.0

static double fastest_emitter(const treacle_sim* sim, double now) {
    double v = 0.0, soon = now + sim->def.step.max_dt;
    for (int i = 0; i < sim->emitter_count; ++i) {
        const emitter* e = &sim->emitters[i];
        v = fmax(v, emitter_speed(e, now) + vec3_length(emitter_motion(e, now, soon)));
    }
    return v;
}

// The largest entries of a tile's strain, of which no stretch is more than the sum.
static double strain_of_tile(void* data, int64_t tile) {
    const liquid_state* liquid = data;
    double sum = 0.0;
    for (int part = 0; part < STRAIN_PARTS; ++part) {
        const float* values = liquid->carried[CARRIED_STRAIN + part] + tile * TILE_CELLS;
        sum += (double)ISA_CALL(liquid->map.ctx, guard_largest)(TILE_CELLS, values);
    }
    return sum;
}

// How much faster waves are along what has been stretched: (1 + 2 eps)^(1/2) where strain is
// convected and so grows with the stretch; on particles it is implicit.
static double stretch_of(const treacle_sim* sim, const sim_state* state) {
    liquid_state liquid = state->liquid;
    bool has_strain = liquid.map.count > 0 && liquid.carried[CARRIED_STRAIN] != NULL &&
                      sim->setup.strain_laws[0].rate == TREACLE_STRAIN_CONVECTED;
    return has_strain ? sqrt(1.0 + 2.0 * tile_max(&liquid.map, strain_of_tile, &liquid)) : 1.0;
}

static double elastic_limit(const treacle_sim* sim, const sim_state* state) {
    const treacle_elasticity_def* def = &sim->def.elasticity;
    double limit = INFINITY, stretch = stretch_of(sim, state);
    for (int m = 0; m < sim->setup.material_count; ++m) {
        double c = stretch *
                   sqrt(0.5 * sim->setup.strain_laws[m].modulus / sim->setup.materials[m].density);
        double cells = def->is_explicit || sim->plan.is_eulerian ? 0.5
                       : def->limits_step                        ? 1.0
                                                                 : INFINITY;
        limit = c > 0.0 ? fmin(limit, cells * sim->domain.h / c) : limit;
    }
    return limit;
}

static double cfl_of(const treacle_sim* sim) {
    const treacle_sim_def* def = &sim->def;
    return sim->plan.is_eulerian ? fmin(def->step.cfl, def->level_set.cfl) : def->step.cfl;
}

static double gravity_at(const treacle_sim* sim, double time) {
    double g[AXES];
    curve_eval(&sim->gravity, time, g);
    return sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
}

// [step.1]; infinite at rest.
static double reach_limit(const treacle_sim* sim, double v, double a) {
    double reach = cfl_of(sim) * sim->domain.h;
    return 2.0 * reach / (v + sqrt(v * v + 4.0 * a * reach));
}

// The least kinematic viscosity that there is for certain, m^2/s.
static double least_viscosity(const treacle_sim* sim) {
    const liquid_setup* setup = &sim->setup;
    bool is_certain = liquid_is_viscous(setup) && setup->material_count > 0 &&
                      !setup->has.rheology && !setup->heat.has_law && !setup->marker.has_law &&
                      (sim->now.particles.column_mask >> PARTICLE_LOG_FACTOR & 1u) == 0;
    double least = is_certain ? INFINITY : 0.0;
    for (int m = 0; is_certain && m < setup->material_count; ++m) {
        least = fmin(least, setup->materials[m].viscosity / setup->materials[m].density);
    }
    return least;
}

// [tension.6], for the lightest of all liquids with the strongest tension; infinite without.
static double tension_limit(const treacle_sim* sim, bool is_implicit) {
    const liquid_setup* setup = &sim->setup;
    tension_liquid liquid = {.h = sim->domain.h, .rho = INFINITY};
    for (int m = 0; m < setup->material_count; ++m) {
        liquid.sigma = fmax(liquid.sigma, setup->materials[m].surface_tension);
        liquid.rho = fmin(liquid.rho, setup->materials[m].density);
    }
    liquid.mu = setup->has.tension ? liquid.rho * least_viscosity(sim) : 0.0;
    return setup->has.tension ? tension_step_limit(&liquid, is_implicit) : INFINITY;
}

bool timestep_is_stiff_surface(const treacle_sim* sim, double dt) {
    TREACLE_ASSERT(dt > 0.0);
    return dt > 1.000001 * tension_limit(sim, false);
}

// [step.3]
static double wave_limit(const treacle_sim* sim, double g) {
    double nu = least_viscosity(sim);
    return g > 0.0 ? elementary_pow(8.0 * nu / (g * g), 1.0 / 3.0) : INFINITY;
}

// What calm liquid may take, and what gravity allows in any case.
static double motion_limit(const treacle_sim* sim, const sim_state* state, double v) {
    double g = gravity_at(sim, state->time);
    double calm = reach_limit(sim, v, (1.0 - state->calm) * g);
    return fmax(reach_limit(sim, v, g), fmin(calm, wave_limit(sim, g)));
}

double timestep_limit(const treacle_sim* sim, const sim_state* state, double speed) {
    TREACLE_ASSERT(speed >= 0.0 || isnan(speed));
    TREACLE_ASSERT(sim->domain.h > 0.0);
    double v = fmax(speed, fastest_emitter(sim, state->time));
    double limit = fmin(motion_limit(sim, state, v), elastic_limit(sim, state));
    if (sim->push_most > 0.0) {
        double a = gravity_at(sim, state->time) + sim->push_most;
        limit = fmin(limit, reach_limit(sim, v, a));
    }
    return fmin(limit, sim->def.step.max_dt);
}

double timestep_choose(const treacle_sim* sim, double max_dt, double speed) {
    TREACLE_ASSERT(max_dt > 0.0 && isfinite(max_dt));
    double limit = fmin(timestep_limit(sim, &sim->now, speed), max_dt);
    double quick = tension_limit(sim, false);
    limit = fmin(limit, limit <= SURFACE_STEPS * quick ? quick : tension_limit(sim, true));
    double steps = ceil(max_dt / limit);
    return steps <= 1.0 ? max_dt : max_dt / steps;
}

bool timestep_review(treacle_sim* sim, double dt, double before, double after) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    before = fmax(before, fastest_emitter(sim, sim->now.time));
    double g = fmax(gravity_at(sim, sim->now.time), gravity_at(sim, sim->next.time));
    double gain = fmax(after - before, 0.0) / dt;
    double followed = fmax(g > 0.0 ? gain / g : 0.0, 0.5 * (1.0 - sim->now.calm)); // [step.2]
    sim->next.calm = 1.0 - fmin(followed, 1.0);
    bool was_bold = (dt > reach_limit(sim, before, g) || sim->setup.has.tension) &&
                    0.5 * dt >= sim->def.step.min_dt;
    return !was_bold || after * dt <= CALM_SLACK * cfl_of(sim) * sim->domain.h;
}
