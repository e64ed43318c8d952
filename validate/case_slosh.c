// Liquid that sloshes for a minute keeps its volume [SUITE 4 (iii): 128 x 64 cells].
//
//     |V/V_0 - 1| <= 1 % at all times, V inside the rebuilt surface, by the sum of cell fractions;
//     the spread of density in the last third at most 1.1 times that of the first.
//
// A tank of 1 m x 0.5 m, half full, begins with a step in its surface and is rocked by a sideways
// acceleration, a triangle wave near the first mode's period (2 pi / sqrt(g k tanh(k H)) = 1.40 s
// for k = pi/L), so that the liquid is in violent motion to the end. Particles keep their volume by
// construction: what is measured is whether they stay spread, and the surface drawn round them with
// them. The spread is the root mean square of c/c_0 - 1 in cells deeper than one cell [vol.1].
#include <math.h>
#include <stdio.h>

#include "cases.h"

static const char scene[] = "domain: {size: [1 m, 0.5 m], cell: %.17g, sides: {all: slip}}\n"
                            "gravity: [%s]\n"
                            "particles: {per_cell: 4}\n"
                            "liquids:\n"
                            "  - shape: {box: {min: [0, 0], max: [0.5 m, 0.3125 m]}}\n"
                            "  - shape: {box: {min: [0.5 m, 0], max: [1 m, 0.1875 m]}}\n";

enum { KEYS_TEXT = 6000 };

// The keys of gravity: 0, a, -a, a, ... from the first quarter of a period on.
static void rock(double until, char text[KEYS_TEXT]) {
    const double period = 1.5, sideways = 0.2; // s, m/s^2
    int length = snprintf(text, KEYS_TEXT, "[0 s, [0, -9.81, 0]]");
    for (int i = 0; period * (0.25 + 0.5 * (i - 1)) < until && length < KEYS_TEXT; ++i) {
        length +=
            snprintf(text + length, (size_t)(KEYS_TEXT - length), ", [%.4f s, [%g, -9.81, 0]]",
                     period * (0.25 + 0.5 * i), i % 2 == 0 ? sideways : -sideways);
    }
}

typedef struct slosh {
    double least, most; // V/V_0 - 1
    double spread[3];   // root mean square over each third of the time
    double speed;       // m/s, the largest
    int64_t steps[3];
} slosh;

static treacle_status run(validate* v, double cell, double until, slosh* out) {
    static char keys[KEYS_TEXT];
    treacle_sim* sim = NULL;
    *out = (slosh){.least = INFINITY, .most = -INFINITY};
    rock(until, keys);
    treacle_status status = validate_sim_create(v, &sim, scene, cell, keys);
    double begin = 0.0;
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &stats);
        begin = begin > 0.0 ? begin : stats.surface_volume;
        out->least = fmin(out->least, stats.surface_volume / begin - 1.0);
        out->most = fmax(out->most, stats.surface_volume / begin - 1.0);
        out->speed = fmax(out->speed, stats.max_speed);
        int third = stats.time < until / 3.0 ? 0 : stats.time < until / 1.5 ? 1 : 2;
        out->spread[third] += stats.density_spread * stats.density_spread;
        out->steps[third] += 1;
    }
    for (int i = 0; i < 3; ++i) {
        out->spread[i] = sqrt(out->spread[i] / (double)out->steps[i]);
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status report(validate* v, int cells, double until) {
    slosh result;
    treacle_status status = run(v, 1.0 / cells, until, &result);
    if (status != TREACLE_OK) {
        return status;
    }
    char name[32];
    snprintf(name, sizeof(name), "%d x %d, %g s", cells, cells / 2, until);
    validate_absolute(v, result.least, 0.0, 0.01, "%s, least V/V0 - 1", name);
    validate_absolute(v, result.most, 0.0, 0.01, "%s, most V/V0 - 1", name);
    double growth = result.spread[2] / result.spread[0];
    validate_at_most(v, growth, 1.1, 0.0, "%s, growth of the spread of density", name);
    validate_info(v, result.spread[0], NAN, "%s, spread in the first third", name);
    validate_info(v, result.spread[2], NAN, "%s, spread in the last third", name);
    validate_info(v, result.speed, NAN, "%s, highest speed, m/s", name);
    return TREACLE_OK;
}

treacle_status case_slosh(validate* v) {
    return report(v, 64, 20.0);
}

treacle_status case_slosh_minute(validate* v) {
    return report(v, 128, 60.0);
}
