// Particles that nothing holds fly along the parabola.
//
//     x(t) = x0 + v0 t + g t^2/2 (1 + dt/t)
//
// The factor is what a step costs that first changes the velocity by g dt and then moves with the
// new one (symplectic Euler). It is checked exactly, and so is its convergence to the parabola.
#include <math.h>
#include <stdlib.h>

#include "cases.h"

static const double velocity[3] = {1.5, 4.0, -0.75};
static const double gravity = -9.81;
static const double flight = 0.5; // s

static const char scene[] = "domain: {size: [4 m, 4 m, 4 m], cell: 5 cm}\n"
                            "gravity: [0, %.17g, 0]\n"
                            "flow: none\n"
                            "step: {cfl: 5, max_dt: 1 s}\n"
                            "liquids:\n"
                            "  - shape: {sphere: {radius: 20 cm, centre: [1.03, 1.01, 2.02]}}\n"
                            "    velocity: [%.17g, %.17g, %.17g]\n";

typedef struct flight_result {
    int64_t begun, ended; // particles
    double fall;          // m, mean height lost against a straight flight
    double deviation;     // m, of the worst particle from its own path
} flight_result;

static void compare_flights(const validate_particle* before, const validate_particle* after,
                            double dt, flight_result* out) {
    double fall = -0.5 * gravity * flight * flight * (1.0 + dt / flight);
    for (int64_t i = 0; i < out->begun; ++i) {
        for (int a = 0; a < 3; ++a) {
            double straight = before[i].place[a] + velocity[a] * flight;
            double miss = after[i].place[a] - straight + (a == 1 ? fall : 0.0);
            out->deviation = fmax(out->deviation, fabs(miss));
            out->fall += a == 1 ? (straight - after[i].place[a]) / (double)out->begun : 0.0;
        }
    }
}

static treacle_status fly(validate* v, double dt, flight_result* out) {
    treacle_sim* sim = NULL;
    validate_particle *before = NULL, *after = NULL;
    *out = (flight_result){0};
    treacle_status status =
        validate_sim_create(v, &sim, scene, gravity, velocity[0], velocity[1], velocity[2]);
    if (status == TREACLE_OK) {
        status = validate_particles(sim, &before, &out->begun);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, flight, dt);
    }
    if (status == TREACLE_OK) {
        status = validate_particles(sim, &after, &out->ended);
    }
    if (status == TREACLE_OK && out->begun > 0 && out->begun == out->ended) {
        compare_flights(before, after, dt, out);
    }
    free(before);
    free(after);
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_ballistic(validate* v) {
    static const double steps[] = {20, 40, 80, 160};
    enum { COUNT = sizeof(steps) / sizeof(steps[0]) };
    double dts[COUNT], errors[COUNT];
    double parabola = -0.5 * gravity * flight * flight;
    for (int i = 0; i < COUNT; ++i) {
        flight_result result;
        dts[i] = flight / steps[i];
        treacle_status status = fly(v, dts[i], &result);
        if (status != TREACLE_OK) {
            return status;
        }
        if (result.begun == 0 || result.begun != result.ended) {
            return validate_stop(v, "%lld particles took off and %lld arrived",
                                 (long long)result.begun, (long long)result.ended);
        }
        errors[i] = fabs(result.fall - parabola);
        validate_relative(v, result.fall, parabola * (1.0 + dts[i] / flight), 1e-5,
                          "fall in %g steps, m", steps[i]);
        validate_absolute(v, result.deviation, 0.0, 1e-5, "worst particle in %g steps, m",
                          steps[i]);
    }
    validate_order(v, COUNT, dts, errors, 1.0, 0.02, "order in dt to the parabola");
    return TREACLE_OK;
}
