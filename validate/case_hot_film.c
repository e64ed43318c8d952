// A film runs down an incline, hot at its surface and cold at the wall [SUITE 8d].
//
//     T linear from 0 at the wall to 1 at the surface, mu = mu_0 exp(-b T):
//     surface speed u_s nu_0 / (g h^2) and flow Q nu_0 / (g h^3) as tabulated
//
// Particles carry the temperature; a table of two points, joined linearly in the logarithm, is the
// exponential law. Speeds are compared after 30 h^2/nu_0. Bound of the suite: 1 % at 32 cells a
// film with b = ln 100; the others likewise.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double depth = 0.01, nu = 0.01, pull = 9.81 * 0.5; // m, m^2/s, m/s^2: 30 degrees

static const char scene[] =
    "domain: {size: [%.17g, %.17g], cell: %.17g,\n"
    "         sides: {left: periodic, right: periodic, bottom: no-slip, top: open}}\n"
    "gravity: [4.905, -8.495709, 0]\n"
    "step: {max_dt: 2.5 ms}\n"
    "materials:\n"
    "  any: {density: 1000, viscosity: 10, viscosity_law: {kind: table, table: [[300 K, 10], [400 "
    "K, %.17g]]}}\n"
    "liquids:\n"
    "  - shape: {box: {min: [-1, -1, -1], max: [1, 0.01, 1]}}\n"
    "    temperature: {ramp: {from: [0, 0, 0], to: [0, 0.01, 0], a: 300, b: 400}}\n";

typedef struct film {
    double thinner; // exp(b)
    double surface, flow;
} film;

static treacle_status run_film(validate* v, const film* f, int cells) {
    treacle_sim* sim = NULL;
    treacle_step_stats last;
    measure_sums sums = {0};
    double cell = depth / cells, until = 30.0 * depth * depth / nu;
    treacle_status status =
        validate_sim_create(v, &sim, scene, 16 * cell, (cells + 8) * cell, cell, 10.0 / f->thinner);
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &last);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &sums);
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        double unit = pull * depth * depth / nu;
        validate_relative(v, last.max_speed / unit, f->surface, 0.01,
                          "surface speed, %g times thinner, %d cells", f->thinner, cells);
        validate_relative(v, sums.velocity[0] / unit, f->flow, 0.01,
                          "flow, %g times thinner, %d cells", f->thinner, cells);
    }
    return status;
}

treacle_status case_hot_film(validate* v) {
    static const film films[] = {{2.718281828459045, 0.718282, 0.436564},
                                 {10.0, 1.263211, 0.662916},
                                 {100.0, 4.450992, 1.715894}};
    for (int k = 0; k < 3; ++k) {
        treacle_status status = run_film(v, &films[k], 32);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    return TREACLE_OK;
}
