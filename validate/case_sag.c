// A column of gel sinks under its own weight [SUITE 9f].
//
// On a slip floor, plane strain: its top sinks by rho g H^2 / (4 mu_e); with the factor 3 in place
// of 4 in space. Gravity grows over five periods and more, so that the column does not swing. A
// split solve lets it sink up to twice too far, depending on the step: it is shown beside.
//
// Tolerance of the suite: 3 %, unified. H = 0.1 m, density 1000, mu_e = 2e4 Pa: 1.226 mm.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double height = 0.1, modulus = 2e4, gravity = 9.81;

static const char scene[] =
    "domain: {size: [%.17g, %.17g], cell: %.17g, sides: slip}\n"
    "gravity: [[0, [0, 0, 0]], [1 s, [0, -9.81, 0]]]\n"
    "flow: %s\n"
    "step: {max_dt: %.17g}\n"
    "density_correction: false\n"
    "particles: {per_cell: 9, jitter: 0}\n"
    "materials: {gel: {density: 1000, viscosity: 20, elastic: {mu_e: 2e4 Pa}}}\n"
    "liquids:\n"
    "  - shape: {box: {min: [%.17g, -1, -1], max: [%.17g, 0.1, 1]}}\n"
    "    material: gel\n";

// How far the centre sinks, which is half of what the top does, since the strain is zz ~ (H - y):
// integral of it over the column: top rho g H^2 / 4 mu_e, mean two thirds of that.
static treacle_status run_sag(validate* v, int cells, const char* flow, double* out) {
    treacle_sim* sim = NULL;
    double cell = height / cells, width = 0.02;
    int across = (int)lround(width / cell), free = 4;
    measure_sums start, end;
    treacle_status status =
        validate_sim_create(v, &sim, scene, (across + 2 * free) * cell, (cells + 8) * cell, cell,
                            flow, 0.01, free * cell, (free + across) * cell);
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &start);
    }
    while (status == TREACLE_OK && treacle_sim_time(sim) < 2.0 - 1e-9) {
        treacle_step_stats step;
        status = treacle_sim_step(sim, 2.0 - treacle_sim_time(sim), &step);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &end);
        *out = 1.5 * (start.centre[1] - end.centre[1]);
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_sag(validate* v) {
    double exact = 1000.0 * gravity * height * height / (4.0 * modulus), sunk = 0.0;
    for (int cells = 20; cells <= 40; cells *= 2) {
        treacle_status status = run_sag(v, cells, "unified", &sunk);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_relative(v, sunk, exact, 0.03, "sag of the top, m, %d cells", cells);
    }
    treacle_status status = run_sag(v, 20, "split", &sunk);
    if (status == TREACLE_OK) {
        validate_info(v, sunk, exact, "sag of the top, m, 20 cells, split");
    }
    return status;
}
