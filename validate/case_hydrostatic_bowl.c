// Water in a round bowl comes to rest [SUITE 4, with a curved wall].
//
// A bowl of 40 cells, half full, in a plane. What jittered particles are born with, a surface that
// is rough by a part of a cell and volume that the wall cuts unevenly, comes out as waves; nothing
// may drive them on: after two seconds rms u <= 1e-3 sqrt(g H), H the depth, whenever one looks in
// the second after. Several levels of the surface and seeds of the jitter, since one pool is as
// still as the dice will have it. Nor may the volume inside the surface drift by more than 0.2 %.
// It fails: 1.3e-3 to 2.8e-3, and 0.16 % to 0.30 %.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double gravity = 9.81, lowest = 0.02; // m/s^2, m: the bottom of the bowl

static const char scene[] = "seed: %d\n"
                            "domain: {size: [0.24, 0.24], cell: 0.005, sides: {all: slip}}\n"
                            "particles: {per_cell: 4, jitter: 0.5}\n"
                            "materials: {water: {viscosity: 1e-3}}\n"
                            "step: {max_dt: %.17g}\n"
                            "liquids:\n"
                            "  - shape: {box: {min: [0, 0], max: [1, %.17g]}}\n"
                            "solids:\n"
                            "  bowl:\n"
                            "    shape: {sphere: {radius: 0.1, centre: [0.12, 0.12]}}\n"
                            "    inside_out: true\n";

static treacle_status calm_down(validate* v, int seed, double level) {
    enum { STEPS = 600, CALM = 400, EVERY = 20 };
    const double dt = 0.005; // s
    treacle_sim* sim = NULL;
    double fastest = 0.0, begin = 0.0, drift = 0.0;
    treacle_status status = validate_sim_create(v, &sim, scene, seed, dt, level);
    for (int i = 1; i <= STEPS && status == TREACLE_OK; ++i) {
        treacle_step_stats stats = {0};
        measure_sums now;
        status = treacle_sim_step(sim, dt, &stats);
        begin = i == 1 ? stats.surface_volume : begin;
        drift = fmax(drift, fabs(stats.surface_volume / begin - 1.0));
        if (status == TREACLE_OK && i >= CALM && i % EVERY == 0) {
            status = measure_particles(sim, MEASURE_ALL, &now);
            fastest = status == TREACLE_OK ? fmax(fastest, now.rms_speed) : NAN;
        }
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_absolute(v, fastest / sqrt(gravity * (level - lowest)), 0.0, 1e-3,
                          "level %g mm, seed %d, rms u/sqrt(g H) from 2 s to 3 s", 1e3 * level,
                          seed);
        validate_absolute(v, drift, 0.0, 0.002, "level %g mm, seed %d, drift of volume",
                          1e3 * level, seed);
    }
    return status;
}

treacle_status case_hydrostatic_bowl(validate* v) {
    static const double levels[] = {0.1, 0.1017};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        status = calm_down(v, i / 2, levels[i % 2]);
    }
    return status;
}
