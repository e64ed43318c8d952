// A yield-stress liquid between two plates [SUITE 9i]. With G the push a volume, h the half gap,
// B = tau_y / (G h) < 1:
//
//     plug |y| < B h,   u_plug eta / (G h^2) = (1 - B)^2 / 2,
//     flux of one half: Q eta / (G h^3) = 1/3 - B/2 + B^3/6
//
// with rheology, not with elasticity. The gap is the domain, filled from wall to wall, so that
// nothing but the rheology is measured; half of it is computed in one row of cases with a slip
// plane in the middle, where the plug then is a wall-to-wall solid. B = 0 is Poiseuille's profile,
// a check of the set-up. The critical rate is 1e-3 of G h / eta.
//
// Tolerances: 1 % at 32 cells a half gap, 2 % at 16; a power law of n = 1/2 beside it:
//
//     u_max = n/(n+1) (G/K)^(1/n) h^(1+1/n)
#include <math.h>

#include "cases.h"
#include "measure.h"

static const char scene[] =
    "domain: {size: [%.17g, 1], cell: %.17g,\n"
    "         sides: {left: periodic, right: periodic, bottom: no-slip, top: slip}}\n"
    "gravity: [1, 0, 0]\n"
    "particles: {jitter: 0}\n"
    "step: {max_dt: 0.5, cfl: 2}\n"
    "flow: %s\n"
    "viscosity_solve: {tolerance: 1e-4, max_iterations: 40}\n"
    "materials: {goo: {density: 1, viscosity: 1, rheology: %s}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [100, 2, 1]}}}]\n";

typedef struct flow {
    double plug, flux;
    treacle_step_stats last;
} flow;

static treacle_status run(validate* v, int cells, const char* kind, const char* rheology,
                          flow* out) {
    treacle_sim* sim = NULL;
    measure_sums sums;
    treacle_status status =
        validate_sim_create(v, &sim, scene, 16.0 / cells, 1.0 / cells, kind, rheology);
    while (status == TREACLE_OK && treacle_sim_time(sim) < 3.0 - 1e-9) {
        status = treacle_sim_step(sim, 3.0 - treacle_sim_time(sim), &out->last);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &sums);
    }
    if (status == TREACLE_OK) {
        out->plug = out->last.max_speed;
        out->flux = sums.velocity[0];
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status bingham(validate* v, const char* kind, int cells, double b) {
    char rheology[128];
    snprintf(rheology, sizeof(rheology), "{law: bingham, yield_stress: %g, critical_rate: 1e-3}",
             b);
    flow got;
    treacle_status status = run(v, cells, kind, rheology, &got);
    if (status != TREACLE_OK) {
        return status;
    }
    double tolerance = cells < 32 ? 0.02 : 0.01;
    validate_relative(v, got.plug, 0.5 * (1.0 - b) * (1.0 - b), tolerance,
                      "%s, B = %g, speed of the plug, %d cells", kind, b, cells);
    validate_relative(v, got.flux, 1.0 / 3.0 - 0.5 * b + b * b * b / 6.0, tolerance,
                      "%s, B = %g, flux, %d cells", kind, b, cells);
    validate_info(v, got.last.rheology.iterations, NAN, "%s, B = %g, passes in the last step", kind,
                  b);
    return status;
}

treacle_status case_bingham_poiseuille(validate* v) {
    static const char* const kinds[] = {"split", "unified"};
    for (int k = 0; k < 2; ++k) {
        for (int cells = 16; cells <= (k == 0 ? 32 : 16); cells *= 2) {
            treacle_status status = bingham(v, kinds[k], cells, 0.3);
            if (status != TREACLE_OK) {
                return status;
            }
        }
        flow got;
        treacle_status status = bingham(v, kinds[k], 16, 0.0);
        if (status == TREACLE_OK) {
            status = run(v, 16, kinds[k], "{law: power-law, consistency: 1, exponent: 0.5}", &got);
        }
        if (status != TREACLE_OK) {
            return status;
        }
        validate_relative(v, got.plug, 1.0 / 3.0, 0.01, "%s, power law 1/2, largest speed",
                          kinds[k]);
    }
    return TREACLE_OK;
}
