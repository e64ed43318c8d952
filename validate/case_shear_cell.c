// A viscoelastic liquid between a wall and a plate that drags it [SUITE 9a, 9b, 9c, 9i].
//
// The gap is 1 m and the liquid so light (1e-4 kg/m^3) that its inertia does not count: shear is
// the same everywhere, and with G = mu_e / 2 = 1 Pa, alpha = 1/s and Wi = rate / alpha, T = alpha t
//
//     convected      tau / G = Wi (1 - e^-T),    N1 / G = 2 Wi^2 (1 - e^-T (1 + T))
//     corotational   tau / G = Wi / (1 + Wi^2) (1 - e^-T (cos Wi T - Wi sin Wi T))
//
// with the largest values .60393 at T = 1.56 (Wi = 1) and .76472 at .78 (Wi = 2). When the plate
// stops the stress decays as e^-T, with a yield point until tau_y is left. When it swings, G' / G =
// De^2 / (1 + De^2) and G'' / G = De / (1 + De^2).
//
// With a yield point and strain that does not turn it is a Bingham liquid, tau = tau_y + (mu_e / 2
// alpha + eta_s) rate; strain that turns bears less (.2317 against .2414 at gamma = 0.1, Wi = 0.1).
// Between two plates, pushed by 1 Pa/m, with the half gap 1 m, eta = 1 Pa s and tau_y = B Pa:
//
//     u_plug = (1 - B)^2 / 2,   flux of one half = 1/3 - B/2 + B^3/6,   within 1 %
//
// Past its largest stress corotational liquid by itself would rather shear in bands: at Wi = 2 its
// steady stress falls by 0.12 Pa s. A solvent of 0.5 Pa s keeps the shear the same everywhere.
//
// tau is mu_e times the particles' mean strain. Tolerances of the suite: 1e-3 at alpha dt = 0.01;
// 1 % for the steady stress at alpha dt = 0.01, 1 and 100.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "measure.h"

static const double pi = 3.14159265358979323846;

static const char scene[] =
    "domain: {size: [1, 1.5], cell: 0.0625,\n"
    "         sides: {left: periodic, right: periodic, bottom: no-slip, top: slip}}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: %.17g, cfl: 5}\n"
    "particles: {per_cell: 4}\n"
    "materials: {goo: {density: 1e-4, viscosity: 0.5,\n"
    "                  elastic: {mu_e: 2, alpha: %.17g, gamma: %.17g, rate: %s}}}\n"
    "solids: {plate: {shape: {box: {min: [-1000, 1, -1], max: [1000, 3, 1]}}, wall: no-slip, %s}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [2, 1, 1]}}, material: goo}]\n";

typedef struct cell {
    double dt, alpha, gamma;
    const char* rate;
    const char* plate; // how it moves
} cell;

typedef void seen(void* data, double time, const double strain[6]);

static treacle_status shear(validate* v, const cell* c, double until, seen* see, void* data) {
    treacle_sim* sim = NULL;
    treacle_status status =
        validate_sim_create(v, &sim, scene, c->dt, c->alpha, c->gamma, c->rate, c->plate);
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats step;
        double strain[6];
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &step);
        if (status == TREACLE_OK) {
            status = measure_strain(v, sim, strain);
        }
        if (status == TREACLE_OK) {
            see(data, step.time, strain);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

// --- start-up ------------------------------------------------------------------------------------

typedef struct start_up {
    double wi;
    bool is_convected;
    double worst, largest, stress;
} start_up;

static void see_start(void* data, double t, const double strain[6]) {
    start_up* s = data;
    double wi = s->wi, tau = 2.0 * strain[5];
    double turning = exp(-t) * (cos(wi * t) - wi * sin(wi * t));
    double exact = s->is_convected ? wi * (1.0 - exp(-t)) : wi / (1 + wi * wi) * (1.0 - turning);
    s->worst = fmax(s->worst, fabs(tau - exact));
    s->largest = fmax(s->largest, tau);
    s->stress = tau;
}

static treacle_status start(validate* v, const char* rate, double wi, double dt, double until,
                            start_up* out) {
    char plate[64];
    snprintf(plate, sizeof(plate), "velocity: [%.17g, 0, 0]", wi);
    *out = (start_up){.wi = wi, .is_convected = strcmp(rate, "convected") == 0};
    cell c = {dt, 1.0, 0.0, rate, plate};
    return shear(v, &c, until, see_start, out);
}

treacle_status case_startup_shear(validate* v) {
    static const struct {
        const char* rate;
        double wi, largest;
    } rows[] = {{"corotational", 1.0, 0.60393},
                {"corotational", 2.0, 0.76472},
                {"convected", 1.0, 0.98168}};
    start_up s;
    for (int i = 0; i < 3; ++i) {
        VALIDATE_TRY(start(v, rows[i].rate, rows[i].wi, 0.01, 4.0, &s));
        validate_at_most(v, s.worst, 0.0, 1e-3, "%s, Wi %g: largest error of tau / G", rows[i].rate,
                         rows[i].wi);
        validate_relative(v, s.largest, rows[i].largest, 1e-3, "%s, Wi %g: largest tau / G",
                          rows[i].rate, rows[i].wi);
    }
    const double steps[] = {0.01, 1.0, 100.0};
    for (int i = 0; i < 3; ++i) {
        VALIDATE_TRY(start(v, "convected", 0.01, steps[i], fmax(8.0, 4.0 * steps[i]), &s));
        validate_relative(v, s.stress, 0.01, 0.01, "steady stress at alpha dt = %g", steps[i]);
    }
    return TREACLE_OK;
}

// --- relaxation ----------------------------------------------------------------------------------

typedef struct rest {
    double stop, at_stop, worst, last;
} rest;

static void see_rest(void* data, double t, const double strain[6]) {
    rest* r = data;
    double tau = 2.0 * strain[5];
    if (t <= r->stop + 1e-9) {
        r->at_stop = tau;
    }
    r->worst = fmax(r->worst, fabs(tau - r->at_stop * exp(-fmax(t - r->stop, 0.0))));
    r->last = tau;
}

treacle_status case_relaxation_stress(validate* v) {
    static const char plate[] = "position: [[0, [0, 0, 0]], [0.5, [0.2, 0, 0]]]";
    rest r = {.stop = 0.5};
    cell maxwell = {0.01, 1.0, 0.0, "convected", plate},
         plastic = {0.05, 1.0, 0.05, "fixed", plate};
    VALIDATE_TRY(shear(v, &maxwell, 3.0, see_rest, &r));
    validate_at_most(v, r.worst, 0.0, 1e-3 * r.at_stop, "largest error of tau / G after the stop");
    VALIDATE_TRY(shear(v, &plastic, 12.0, see_rest, &r));
    validate_relative(v, r.last, 2.0 * 0.05 / sqrt(2.0), 1e-3, "stress left with a yield point");
    return TREACLE_OK;
}

// --- swinging ------------------------------------------------------------------------------------

enum { PERIOD_STEPS = 50, PERIODS = 3 };
static const double swing = 0.01;

typedef struct storage {
    double in_phase, out_of_phase;
} storage;

// Over the last period, with De = 1 and alpha = 1. A step's flow has the velocity with which the
// plate leaves at its end: the liquid is sheared as far as the plate will be a step later.
static void see_swing(void* data, double t, const double strain[6]) {
    storage* s = data;
    if (t > 2.0 * pi * (PERIODS - 1) + 1e-9) {
        double share = 2.0 / PERIOD_STEPS * 2.0 * strain[5] / swing;
        double later = t + 2.0 * pi / PERIOD_STEPS;
        s->in_phase += share * sin(later);
        s->out_of_phase += share * cos(later);
    }
}

treacle_status case_saos(validate* v) {
    static char plate[(PERIODS * PERIOD_STEPS + 2) * 64];
    int used = snprintf(plate, sizeof(plate), "position: [[0, [0, 0, 0]]");
    for (int i = 1; i <= PERIODS * PERIOD_STEPS + 1; ++i) {
        double t = 2.0 * pi * i / PERIOD_STEPS, key = t - 1e-5; // passed when the step ends
        used += snprintf(plate + used, sizeof(plate) - (size_t)used, ", [%.9g, [%.7g, 0, 0]]", key,
                         swing * sin(t));
    }
    snprintf(plate + used, sizeof(plate) - (size_t)used, "]");
    storage s = {0};
    cell c = {2.0 * pi / PERIOD_STEPS * (1.0 + 1e-9), 1.0, 0.0, "corotational", plate};
    VALIDATE_TRY(shear(v, &c, 2.0 * pi * PERIODS, see_swing, &s));
    validate_relative(v, s.in_phase, 0.5, 0.01, "G' / G at De = 1");
    validate_relative(v, s.out_of_phase, 0.5, 0.01, "G'' / G at De = 1");
    return TREACLE_OK;
}

// --- Bingham -------------------------------------------------------------------------------------

static void see_last(void* data, double t, const double strain[6]) {
    (void)t;
    *(double*)data = 2.0 * strain[5];
}

static const char channel[] =
    "domain: {size: [%.17g, 1], cell: %.17g,\n"
    "         sides: {left: periodic, right: periodic, bottom: no-slip, top: slip}}\n"
    "gravity: [1, 0, 0]\n"
    "particles: {jitter: 0}\n"
    "step: {max_dt: 0.02, cfl: 2}\n"
    "materials: {goo: {density: 1, viscosity: 0.05,\n"
    "                  elastic: {mu_e: 20, alpha: %.17g, gamma: %.17g, rate: fixed}}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [100, 2, 1]}}}]\n";

// With half of the gap in the domain, its middle a slip plane.
static treacle_status push(validate* v, int cells, double b, double* plug, double* flux) {
    treacle_sim* sim = NULL;
    treacle_step_stats step;
    measure_sums sums;
    double alpha = 20.0 / (2.0 * (1.0 - 0.05)), gamma = sqrt(2.0) * b / 20.0;
    treacle_status status =
        validate_sim_create(v, &sim, channel, 16.0 / cells, 1.0 / cells, alpha, gamma);
    while (status == TREACLE_OK && treacle_sim_time(sim) < 4.0 - 1e-9) {
        status = treacle_sim_step(sim, 4.0 - treacle_sim_time(sim), &step);
    }
    status = status == TREACLE_OK ? measure_particles(sim, MEASURE_ALL, &sums) : status;
    if (status == TREACLE_OK) {
        *plug = step.max_speed;
        *flux = sums.velocity[0];
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_bingham(validate* v) {
    static const struct {
        const char* rate;
        double stress;
    } rows[] = {{"fixed", 0.24142136}, {"corotational", 0.2316492}};
    for (int i = 0; i < 2; ++i) {
        cell c = {0.02, 1.0, 0.1, rows[i].rate, "velocity: [0.1, 0, 0]"};
        double stress = NAN;
        VALIDATE_TRY(shear(v, &c, 12.0, see_last, &stress));
        validate_relative(v, stress, rows[i].stress, 2e-3, "%s: steady tau / G at gamma = Wi = 0.1",
                          rows[i].rate);
    }
    const double b = 0.3;
    double plug = NAN, flux = NAN;
    VALIDATE_TRY(push(v, 16, b, &plug, &flux));
    validate_relative(v, plug, 0.5 * (1.0 - b) * (1.0 - b), 0.01, "B = 0.3: speed of the plug");
    validate_relative(v, flux, 1.0 / 3.0 - 0.5 * b + b * b * b / 6.0, 0.01, "B = 0.3: flux");
    return TREACLE_OK;
}
