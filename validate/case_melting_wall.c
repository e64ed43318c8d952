// A layer of wax on a wall is heated at its surface and the melt runs down [SUITE 8e].
//
//     the front of T_m is at s = 2 sqrt(k t) erfcinv(T_m) below the surface, viscosity jumps by
//     10^4 there, k/nu << 1: the surface runs at g s^2 / (2 nu)
//
// 48 cells of wax; the surface is held by air with a very large coefficient of loss. T_m = 0.5.
// Bound of the suite: 5 % for s > 10 cells.
//
// Cells are solid or melted as a whole, and the melt shears against the solid at the edge between
// the last two of them. Half of what is around the edge is melt: in series the two make the
// harmonic mean, 2, which `auto` takes. The geometric one of the paper, 100, holds the melt half a
// cell above the front, and the surface runs as if the melt were that much thinner: (s - 1/2)^2
// instead of s^2, which is shown.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

enum { CELLS = 64, DEEP = 48 };

static const char scene[] =
    "domain: {size: [64 mm, 16 mm], cell: 1 mm,\n"
    "         sides: {left: no-slip, right: open, bottom: periodic, top: periodic}}\n"
    "gravity: [0, -5 mm/s^2, 0]\n"
    "step: {max_dt: 1000}\n"
    "particles: {per_cell: 9}\n"
    "density_correction: false\n"
    "viscosity_solve: {mean: %s}\n"
    "heat: {air: 400 K, loss: 1e9, method: lod}\n"
    "materials:\n"
    "  wax: {density: 1000, viscosity: 1, heat_capacity: 4000, conductivity: 4,\n"
    "        viscosity_law: {kind: linear, from: 349.5 K, to: 350.5 K, low: 1e4, high: 1}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [0.048, 1, 1]}}, temperature: 300 K}\n";

static treacle_status run_down(validate* v, const char* mean, bool is_exact) {
    treacle_sim* sim = NULL;
    heat_layer layers[CELLS];
    treacle_status status = validate_sim_create(v, &sim, scene, mean);
    for (int s = 12; status == TREACLE_OK && s <= 20; s += 4) {
        double root = s * 1e-3 / (2.0 * 0.476936), t = root * root / 1e-6;
        status = validate_advance(sim, t, 1.0);
        if (status == TREACLE_OK) {
            status = heat_layers(sim, 0, layers, CELLS);
        }
        if (status != TREACLE_OK) {
            break;
        }
        double front = DEEP;
        for (int k = 0; k + 1 < DEEP; ++k) {
            double a = layers[k].temperature, b = layers[k + 1].temperature;
            if (a < 350.0 && b >= 350.0) {
                front = DEEP - (k + 0.5 + (350.0 - a) / (b - a));
            }
        }
        double exact = 5e-3 * s * s * 1e-6 / (2.0 * 1e-3);
        // The uppermost layer's middle is half a cell below the surface.
        double inside = 1.0 - 0.25 / (s * s);
        double speed = -layers[DEEP - 1].speed[1], thinner = pow(1.0 - 0.5 / s, 2.0);
        if (is_exact) {
            validate_relative(v, front, s, 0.05, "depth of the front, cells");
            validate_relative(v, speed, exact * inside, 0.05,
                              "surface speed, m/s, %d cells melted, %s", s, mean);
        } else {
            validate_info(v, speed, exact * inside * thinner, "the same, %d cells, %s", s, mean);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_melting_wall(validate* v) {
    VALIDATE_TRY(run_down(v, "auto", true));
    return run_down(v, "geometric", false);
}
