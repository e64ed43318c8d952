// Melt on the side of what it melts from runs with the geometric mean of viscosities, and sticks
// with the arithmetic one [CMVT02 sec. 5.2].
//
// A layer one cell deep is melted, on a solid 10^4 times as thick. Between the two cells the
// geometric mean is 100 times the melt's viscosity, the arithmetic one 5000 times: the melt should
// run up to 50 times as fast with the first; less, because cells near the front see both
// temperatures. Bound: at least 5 times.
//
// The melt alone, on a wall, would run at g h^2 / (2 nu) at its surface and at 2/3 of that in the
// mean. With the mean that `auto` takes, the harmonic one, a layer of a single cell comes within a
// third of it (bound: a half); with the geometric one it is 35 times slower.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

enum { CELLS = 24, SOLID = 11 };

static const char scene[] =
    "domain: {size: [24 mm, 16 mm], cell: 1 mm,\n"
    "         sides: {left: no-slip, right: open, bottom: periodic, top: periodic}}\n"
    "gravity: [0, -9.81, 0]\n"
    "step: {max_dt: 1 ms}\n"
    "viscosity_solve: {mean: %s}\n"
    "particles: {per_cell: 16, jitter: 0}\n"
    "materials:\n"
    "  wax: {density: 1000, viscosity: 10,\n"
    "        viscosity_law: {kind: linear, from: 349 K, to: 351 K, low: 1e5, high: 10}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [0.011, 1, 1]}}, temperature: 300 K}\n"
    "  - {shape: {box: {min: [0.011, 0, -1], max: [0.012, 1, 1]}}, temperature: 400 K}\n";

static treacle_status run(validate* v, const char* mean, double* speed) {
    treacle_sim* sim = NULL;
    heat_layer layers[CELLS];
    treacle_status status = validate_sim_create(v, &sim, scene, mean);
    if (status == TREACLE_OK) {
        status = validate_advance(sim, 0.02, 1e-3);
    }
    if (status == TREACLE_OK) {
        status = heat_layers(sim, 0, layers, CELLS);
    }
    if (status == TREACLE_OK) {
        *speed = -layers[SOLID].speed[1] + layers[SOLID - 4].speed[1];
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_melt_runs(validate* v) {
    double runs = 0.0, sticks = 0.0;
    double series = 0.0;
    treacle_status status = run(v, "geometric", &runs);
    if (status == TREACLE_OK) {
        status = run(v, "auto", &series);
    }
    if (status == TREACLE_OK) {
        status = run(v, "arithmetic", &sticks);
    }
    if (status == TREACLE_OK) {
        double alone = 9.81 * 1e-6 / (2.0 * 0.01);
        validate_relative(v, series / alone, 2.0 / 3.0, 0.5,
                          "speed with the mean of auto, over the melt's own");
        validate_info(v, runs / alone, NAN, "speed with the geometric mean, over the melt's own");
        validate_info(v, sticks / alone, NAN,
                      "speed with the arithmetic mean, over the melt's own");
        validate_at_least(v, runs / sticks, 5.0, 0.0, "times as fast with the geometric mean");
    }
    return status;
}
