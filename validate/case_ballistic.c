// Particles that nothing holds fly along the parabola, whatever the step is.
//
//     x(t) = x0 + v0 t + g t^2/2
//
// In 1 to 160 steps; and those of an emitter, each from the moment of its birth on: the lowest one
// leaves at first and has fallen by g t^2/2.
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
                            flight_result* out) {
    double fall = -0.5 * gravity * flight * flight;
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
        compare_flights(before, after, out);
    }
    free(before);
    free(after);
    treacle_sim_destroy(sim);
    return status;
}

static const char stream_scene[] =
    "domain: {size: [4 m, 4 m, 0 m], cell: 5 cm, sides: {all: open}}\n"
    "gravity: [0, %.17g, 0]\n"
    "flow: none\n"
    "particles: {jitter: 0}\n"
    "step: {cfl: 5, max_dt: 1 s}\n"
    "emitters:\n"
    "  - {shape: {box: {min: [0.5, 3, -1], max: [0.6, 3.2, 1]}}, direction: [1, 0, 0], speed: 4}\n";

// The height at which a particle was born, by the time that it took to come as far.
static double start_of(const validate_particle* p) {
    double age = (p->place[0] - 0.5) / 4.0;
    return p->place[1] - 0.5 * gravity * age * age;
}

// A stream is made of rows that begin one above the other.
static treacle_status pour(validate* v, double dt, double* deviation) {
    treacle_sim* sim = NULL;
    validate_particle* at = NULL;
    int64_t count = 0;
    *deviation = 0.0;
    treacle_status status = validate_sim_create(v, &sim, stream_scene, gravity);
    if (status == TREACLE_OK) {
        status = validate_advance(sim, flight, dt);
    }
    if (status == TREACLE_OK) {
        status = validate_particles(sim, &at, &count);
    }
    double first = 4.0, spacing = 0.05 / sqrt(8.0);
    for (int64_t i = 0; i < count; ++i) {
        first = fmin(first, start_of(&at[i]));
    }
    for (int64_t i = 0; i < count; ++i) {
        double rows = (start_of(&at[i]) - first) / spacing;
        *deviation = fmax(*deviation, spacing * fabs(rows - floor(rows + 0.5)));
    }
    treacle_sim_destroy(sim);
    free(at);
    return status == TREACLE_OK && count < 100
               ? validate_stop(v, "the stream did not flow: %lld particles", (long long)count)
               : status;
}

treacle_status case_ballistic(validate* v) {
    static const int steps[] = {1, 7, 20, 160};
    double parabola = -0.5 * gravity * flight * flight;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
        flight_result result;
        double stream;
        treacle_status status = fly(v, flight / steps[i], &result);
        if (status == TREACLE_OK) {
            status = pour(v, flight / steps[i], &stream);
        }
        if (status != TREACLE_OK) {
            return status;
        }
        if (result.begun == 0 || result.begun != result.ended) {
            return validate_stop(v, "%lld particles took off and %lld arrived",
                                 (long long)result.begun, (long long)result.ended);
        }
        validate_relative(v, result.fall, parabola, 1e-5, "fall in %d steps, m", steps[i]);
        validate_absolute(v, result.deviation, 0.0, 1e-5, "worst particle in %d steps, m",
                          steps[i]);
        validate_absolute(v, stream, 0.0, 1e-5, "worst of a stream in %d steps, m", steps[i]);
    }
    return TREACLE_OK;
}
