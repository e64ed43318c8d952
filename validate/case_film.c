// A film of honey runs down an incline [SUITE 3c: h = 0.01 m, nu = 0.01 m^2/s, 30 degrees].
//
//     u = (g sin a / nu) (h y - y^2/2),     at the surface u_s = g sin a h^2 / (2 nu)
//
// in a periodic box with the gravity tilted and the wall on a grid plane. At a slip wall nothing
// holds the film: it accelerates by g sin a.
//
// Tolerances of the suite: u_s within 0.5 % at 16 cells a film, order 2; slip within 1e-3. The
// steady speed is compared after 5 h^2/nu, when exp(-pi^2/4 5) = 4e-6 of the start is left. The
// error at 16 cells is already small against the scatter of the surface's particles, so the order
// is shown, not scored.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double depth = 0.01, nu = 0.01, pull = 9.81 * 0.5; // m, m^2/s, m/s^2: 30 degrees

static const char scene[] = "domain: {size: [%.17g, %.17g], cell: %.17g,\n"
                            "         sides: {left: periodic, right: periodic, bottom: %s, "
                            "top: open}}\n"
                            "gravity: [4.905, -8.495709, 0]\n"
                            "step: {max_dt: 0.5 ms}\n"
                            "materials: {honey: {density: 1400, viscosity: 14 Pa.s}}\n"
                            "liquids:\n"
                            "  - shape: {box: {min: [-1, -1, -1], max: [1, 0.01, 1]}}\n"
                            "    material: honey\n";

static treacle_status run_film(validate* v, int cells, const char* wall, double until,
                               treacle_step_stats* last, measure_sums* sums) {
    treacle_sim* sim = NULL;
    double cell = depth / cells;
    treacle_status status =
        validate_sim_create(v, &sim, scene, 16 * cell, (cells + 8) * cell, cell, wall);
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), last);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, sums);
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_film(validate* v) {
    double surface_speed = pull * depth * depth / (2.0 * nu);
    for (int cells = 8; cells <= 32; cells *= 2) {
        treacle_step_stats last;
        measure_sums sums;
        treacle_status status =
            run_film(v, cells, "no-slip", 5.0 * depth * depth / nu, &last, &sums);
        if (status != TREACLE_OK) {
            return status;
        }
        double tolerance = cells == 8 ? 0.01 : 0.005;
        validate_relative(v, last.max_speed, surface_speed, tolerance,
                          "surface speed, m/s, %d cells", cells);
        validate_relative(v, sums.velocity[0], 2.0 / 3.0 * surface_speed, tolerance,
                          "mean speed, m/s, %d cells", cells);
    }
    treacle_step_stats last;
    measure_sums sums;
    treacle_status status = run_film(v, 16, "slip", 0.02, &last, &sums);
    if (status == TREACLE_OK) {
        validate_relative(v, sums.velocity[0] / 0.02, pull, 1e-3, "acceleration on a slip wall");
    }
    return status;
}
