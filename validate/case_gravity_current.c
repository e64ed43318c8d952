// A column of honey collapses into a current [SUITE 5, planar]: L = H = 0.1 m, rho = 1400 kg/m^3,
// mu = 14 Pa s, a no-slip floor, a plane of symmetry at the left.
//
// Lubrication with the finite column (tabulated by the suite) has its front at 0.284, 0.325 and
// 0.391 m after 1, 2 and 5 s; the similarity solution of Huppert (1982) grows as t^(1/5).
// Tolerances of the suite: front 3 % at H/32; exponent 0.2 +- 0.008, with the origin of time
// fitted.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

static const char scene[] =
    "domain: {size: [0.45, 0.125], cell: %.17g,\n"
    "         sides: {all: slip, bottom: no-slip, top: open, right: open}}\n"
    "step: {max_dt: 20 ms}\n"
    "particles: {per_cell: 9}\n"
    "flow: %s\n"
    "materials: {honey: {density: 1400, viscosity: 14}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [0.1, 0.1, 1]}}}]\n";

// The farthest particle, and the half of the space between particles beyond it.
static treacle_status front_of(treacle_sim* sim, double cell, double* out) {
    validate_particle* particles = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &particles, &count);
    double farthest = 0.0;
    for (int64_t i = 0; status == TREACLE_OK && i < count; ++i) {
        farthest = fmax(farthest, particles[i].place[0]);
    }
    free(particles);
    *out = farthest + cell / 6.0;
    return status;
}

enum { TIMES = 12 };

// The slope of log x over log(t + t0) with the t0 that makes the straightest line.
static double exponent_of(const double* t, const double* x) {
    double best = INFINITY, slope = NAN;
    for (double t0 = -0.3; t0 < 0.6; t0 += 0.01) {
        double n = TIMES, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, syy = 0.0;
        for (int i = 0; i < TIMES; ++i) {
            double a = log(t[i] + t0), b = log(x[i]);
            sx += a;
            sy += b;
            sxx += a * a;
            sxy += a * b;
            syy += b * b;
        }
        double det = n * sxx - sx * sx, k = (n * sxy - sx * sy) / det;
        double left = (syy - sy * sy / n) - k * (sxy - sx * sy / n);
        slope = left < best ? k : slope;
        best = fmin(best, left);
    }
    return slope;
}

static treacle_status run(validate* v, const char* flow, int cells, bool is_scored) {
    treacle_sim* sim = NULL;
    double cell = 0.1 / cells, t[TIMES], x[TIMES];
    treacle_status status = validate_sim_create(v, &sim, scene, 0.003125 * 32 / cells, flow);
    for (int i = 0; i < TIMES && status == TREACLE_OK; ++i) {
        t[i] = 0.65 * pow(5.0 / 0.65, i / (double)(TIMES - 1));
        status = validate_advance(sim, t[i], 0.02);
        status = status == TREACLE_OK ? front_of(sim, cell, &x[i]) : status;
    }
    treacle_sim_destroy(sim);
    if (status != TREACLE_OK) {
        return status;
    }
    static const double when[] = {1.0, 2.0, 5.0}, where[] = {0.284, 0.325, 0.391};
    for (int k = 0; k < 3; ++k) {
        int i = 0;
        while (i + 2 < TIMES && t[i + 1] < when[k] - 1e-9) {
            i += 1;
        }
        double share = log(when[k] / t[i]) / log(t[i + 1] / t[i]);
        validate_relative(v, x[i] * pow(x[i + 1] / x[i], share), where[k], 0.03,
                          "%s, H/%d, front after %g s, m", flow, cells, when[k]);
    }
    if (is_scored) {
        validate_absolute(v, exponent_of(t, x), 0.2, 0.008, "%s, H/%d, exponent of the front", flow,
                          cells);
    } else {
        validate_info(v, exponent_of(t, x), 0.2, "%s, H/%d, exponent of the front", flow, cells);
    }
    return status;
}

treacle_status case_gravity_current(validate* v) {
    treacle_status status = run(v, "unified", 32, true);
    return status == TREACLE_OK ? run(v, "split", 32, false) : status;
}
