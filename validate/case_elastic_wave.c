// A slab of gel sways on its base [SUITE 9e: h = 0.1 m, mu_e = 2000 Pa, density 1000: c = 1 m/s].
//
//     u_tt + (alpha + nu k^2) u_t + (c^2 + alpha nu) k^2 u = 0,   k = pi / 2h,   c = sqrt(mu_e / 2
//     rho)
//
// The base is held, the top is free, the sides are periodic; it starts at rest with the velocity of
// its slowest mode, sin(k y). Without decay it sways with c / 4h = 2.5 Hz.
//
// Tolerance of the suite: frequency within 1 % at 32 cells. The envelope is compared with that of
// the equation, to which the transfer of particles adds a little; within 10 % of its logarithm
// over two periods.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double depth = 0.1, speed = 1.0;
static const double pi = 3.14159265358979323846;

static const char scene[] =
    "domain: {size: [%.17g, %.17g], cell: %.17g,\n"
    "         sides: {left: periodic, right: periodic, bottom: no-slip, top: open}}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: %.17g}\n"
    "elasticity: {theta: 0.5}\n"
    "density_correction: false\n"
    "particles: {per_cell: 9}\n"
    "materials: {gel: {density: 1000, viscosity: %.17g,\n"
    "                  elastic: {mu_e: 2000 Pa, alpha: %.17g}}}\n"
    "liquids:\n"
    "  - shape: {box: {min: [-1, -1, -1], max: [1, 0.1, 1]}}\n"
    "    material: gel\n"
    "    velocity: [\"0.01 * sin(15.707963267948966 * y)\", 0, 0]\n";

// What the mean velocity does: times at which it changes its sign, and its size at the extremes.
typedef struct sway {
    int crossings;
    double crossing[8];
    double first, last; // size of the first and the last extreme after a crossing
    double first_at, last_at;
} sway;

static void note(sway* s, double from, double to, double before, double after) {
    if (before * after < 0.0 && s->crossings < 8) {
        s->crossing[s->crossings++] = from + (to - from) * before / (before - after);
    }
}

static treacle_status run_wave(validate* v, int cells, double decay, double nu, sway* out) {
    treacle_sim* sim = NULL;
    double cell = depth / cells, period = 4.0 * depth / speed, until = 2.2 * period;
    treacle_status status = validate_sim_create(v, &sim, scene, 16 * cell, (cells + 8) * cell, cell,
                                                period / 160.0, 1000.0 * nu, decay);
    double before = 0.01, from = 0.0, size = 0.0, size_at = 0.0;
    *out = (sway){0};
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats step;
        measure_sums sums;
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &step);
        if (status == TREACLE_OK) {
            status = measure_particles(sim, MEASURE_ALL, &sums);
        }
        if (status != TREACLE_OK) {
            break;
        }
        double now = sums.velocity[0];
        note(out, from, step.time, before, now);
        bool has_crossed = before * now < 0.0;
        size = has_crossed ? 0.0 : size;
        if (fabs(now) > size) {
            size = fabs(now);
            size_at = step.time;
        }
        out->last = size > 0.0 && out->crossings > 0 ? size : out->last;
        out->last_at = size_at;
        if (out->crossings == 1) {
            out->first = size;
            out->first_at = size_at;
        }
        before = now;
        from = step.time;
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_elastic_wave(validate* v) {
    double k = 0.5 * pi / depth;
    const double decays[] = {0.0, 8.0};
    for (int i = 0; i < 2; ++i) {
        double alpha = decays[i], nu = i == 0 ? 0.0 : 1e-3;
        double damping = 0.5 * (alpha + nu * k * k);
        double omega = sqrt((speed * speed + alpha * nu) * k * k - damping * damping);
        sway s;
        treacle_status status = run_wave(v, 32, alpha, nu, &s);
        if (status != TREACLE_OK) {
            return status;
        }
        double half = (s.crossing[s.crossings - 1] - s.crossing[0]) / (s.crossings - 1);
        validate_relative(v, 0.5 / half, 0.5 * omega / pi, 0.01, "frequency, Hz, alpha %g", alpha);
        if (i == 1) {
            double rate = log(s.first / s.last) / (s.last_at - s.first_at);
            validate_relative(v, rate, damping, 0.1, "rate of the envelope, 1/s, alpha %g", alpha);
        }
    }
    return TREACLE_OK;
}
