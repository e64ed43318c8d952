// The side of a cold body is heated, and the isotherm of T_m moves in [SUITE 8b].
//
//     T = erfc(x / 2 sqrt(k t)),     T = T_m at x = 2 sqrt(k t) erfcinv(T_m)
//
// 96 x 8 cells with particles, steps of k dt/h^2 = 1, until 2 sqrt(k t) is 44 cells. Bounds of
// the suite: 1 % once the front is more than 8 cells in; nothing is hotter than the side or colder
// than the start, at any dt.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

enum { CELLS = 96 };

static const char scene[] =
    "domain: {size: [96, 8], cell: 1, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "particles: {per_cell: 4}\n"
    "step: {max_dt: 1000}\n"
    "heat: {method: %s, air: 300 K}\n"
    "materials: {any: {density: 1, heat_capacity: 1, conductivity: 1}}\n"
    "heat_walls: [{side: left, temperature: 400 K}]\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [99, 99, 99]}}, temperature: 300 K}]\n";

static treacle_status check_fronts(validate* v, treacle_sim* sim, const char* method, double t) {
    static const double level[] = {0.2, 0.3, 0.5, 0.7};
    static const double inverse[] = {0.906194, 0.732869, 0.476936, 0.272463};
    heat_layer layers[CELLS];
    treacle_status status = heat_layers(sim, 0, layers, CELLS);
    for (int k = 0; status == TREACLE_OK && k < 4; ++k) {
        double exact = 2.0 * sqrt(t) * inverse[k];
        if (exact > 8.0) {
            validate_relative(v, heat_front(layers, CELLS, 300.0 + 100.0 * level[k]), exact, 0.01,
                              "front of %g, cells, %s", level[k], method);
        }
    }
    return status;
}

static treacle_status find_extremes(treacle_sim* sim, double* low, double* high) {
    heat_layer layers[CELLS];
    treacle_status status = heat_layers(sim, 0, layers, CELLS);
    for (int i = 0; status == TREACLE_OK && i < CELLS; ++i) {
        *low = fmin(*low, layers[i].temperature);
        *high = fmax(*high, layers[i].temperature);
    }
    return status;
}

static treacle_status run_fronts(validate* v, const char* method) {
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, method);
    for (double t = 121.0; status == TREACLE_OK && t <= 484.0; t *= 4.0) {
        status = validate_advance(sim, t, 1.0);
        if (status == TREACLE_OK) {
            status = check_fronts(v, sim, method, t);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status run_long_step(validate* v, const char* method) {
    treacle_sim* sim = NULL;
    double low = 300.0, high = 300.0;
    treacle_status status = validate_sim_create(v, &sim, scene, method);
    for (double t = 1.0; status == TREACLE_OK && t < 2000.0; t *= 8.0) {
        status = validate_advance(sim, treacle_sim_time(sim) + t, t);
        if (status == TREACLE_OK) {
            status = find_extremes(sim, &low, &high);
        }
    }
    treacle_sim_destroy(sim);
    validate_at_most(v, high, 400.0, 1e-3, "hottest at dt = 1 to 512 h^2/k, %s", method);
    validate_at_least(v, low, 300.0, 1e-3, "coldest at dt = 1 to 512 h^2/k, %s", method);
    return status;
}

treacle_status case_isotherm(validate* v) {
    static const char* const methods[] = {"lod", "implicit"};
    for (int m = 0; m < 2; ++m) {
        treacle_status status = run_fronts(v, methods[m]);
        if (status == TREACLE_OK) {
            status = run_long_step(v, methods[m]);
        }
        if (status != TREACLE_OK) {
            return status;
        }
    }
    return TREACLE_OK;
}
