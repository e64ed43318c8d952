// A drop of an Oldroyd-B liquid hits a floor [SUITE 10; Figueiredo et al. 2016]: D = 0.02 m, U = 1
// m/s, centre 0.04 m above the floor, g = 9.81 m/s^2, Re = 5 (eta = 4 Pa s), a tenth of it solvent,
// Wi = 1 (lambda = 0.02 s), no surface tension, no-slip floor. A quarter of it, with slip planes.
//
//     viscosity 0.4 Pa s,   alpha = 50/s,   mu_e = 2 (eta - 0.4) alpha = 360 Pa,   convected
//
// It spreads farther than a Newtonian drop, springs back and spreads again. Compared are the
// largest width over D, and the smallest after it, extrapolated over three cell sizes by a straight
// line in h, with an axisymmetric run of another program at D/98: 1.716 at t U/D = 2.12, and 1.478
// at 3.31 (digitised from the paper 1.7135 and 1.4527). Tolerances: 3 % and 4 %.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"
#include "treacle/unstable/stages.h"

static const char scene[] =
    "domain: {size: [%.17g, %.17g, %.17g], cell: %.17g,\n"
    "         sides: {all: slip, bottom: no-slip, top: open, right: open, front: open}}\n"
    "step: {max_dt: 0.25 ms}\n"
    "materials: {goo: {density: 1000, viscosity: 0.4,\n"
    "                  elastic: {mu_e: 360, alpha: 50, rate: convected}}}\n"
    "liquids:\n"
    "  - shape: {sphere: {radius: 0.01, centre: [0, 0.04, 0]}}\n"
    "    velocity: [0, -1, 0]\n";

enum { SIZES = 3, CELLS_MAX = 48 };
static const double diameter = 0.02, tick = 0.04, last_time = 4.0;

// Twice the farthest that the surface gets along x, in the layer of cells at the plane.
static treacle_status width_of(treacle_sim* sim, const int cells[3], float* phi, double* out) {
    VALIDATE_TRY(treacle_stages_surface(sim, phi, NULL));
    double farthest = 0.0;
    for (int i = 0; i < cells[0] * cells[1]; ++i) {
        int x = i % cells[0];
        double low = (double)phi[i], high = x + 1 < cells[0] ? (double)phi[i + 1] : -1.0;
        if (low < 0.0 && high >= 0.0) {
            farthest = fmax(farthest, (x + 0.5 + low / (low - high)) / cells[0]);
        }
    }
    *out = 2.0 * farthest; // the domain is D wide
    return TREACLE_OK;
}

typedef struct spread {
    double most, most_at, least, least_at; // widths over D; the least after the most
} spread;

static treacle_status watch(treacle_sim* sim, const int cells[3], float* phi, spread* out) {
    *out = (spread){.least = INFINITY};
    for (double t = 1.2; t < last_time + 1e-9; t += tick) {
        double width;
        VALIDATE_TRY(validate_advance(sim, t * diameter, 0.001));
        VALIDATE_TRY(width_of(sim, cells, phi, &width));
        if (width > out->most) {
            *out = (spread){width, t, INFINITY, t};
        } else if (width < out->least) {
            out->least = width;
            out->least_at = t;
        }
    }
    return TREACLE_OK;
}

static treacle_status run(validate* v, int cells, spread* out) {
    const int n[3] = {cells, 3 * cells, cells};
    double cell = diameter / cells;
    float* phi = malloc((size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof(float));
    treacle_sim* sim = NULL;
    treacle_status status = phi == NULL ? validate_stop(v, "out of memory") : TREACLE_OK;
    if (status == TREACLE_OK) {
        status = validate_sim_create(v, &sim, scene, n[0] * cell, n[1] * cell, n[2] * cell, cell);
    }
    status = status == TREACLE_OK ? watch(sim, n, phi, out) : status;
    treacle_sim_destroy(sim);
    free(phi);
    return status;
}

// Where the line through (h, y) meets h = 0.
static double extrapolated(const double h[SIZES], const double y[SIZES]) {
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < SIZES; ++i) {
        sx += h[i];
        sy += y[i];
        sxx += h[i] * h[i];
        sxy += h[i] * y[i];
    }
    return (sy - (SIZES * sxy - sx * sy) / (SIZES * sxx - sx * sx) * sx) / SIZES;
}

treacle_status case_drop_viscoelastic(validate* v) {
    static const int sizes[SIZES] = {24, 32, CELLS_MAX};
    double h[SIZES], most[SIZES], least[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        spread got;
        VALIDATE_TRY(run(v, sizes[i], &got));
        validate_info(v, got.most, 1.716, "D/%d, largest width/D", sizes[i]);
        validate_info(v, got.most_at, 2.12, "D/%d, at t U/D", sizes[i]);
        validate_info(v, got.least, 1.478, "D/%d, smallest width/D after it", sizes[i]);
        validate_info(v, got.least_at, 3.31, "D/%d, at t U/D", sizes[i]);
        h[i] = 1.0 / sizes[i];
        most[i] = got.most;
        least[i] = got.least;
    }
    validate_relative(v, extrapolated(h, most), 1.716, 0.03, "extrapolated largest width/D");
    validate_relative(v, extrapolated(h, least), 1.478, 0.04, "extrapolated smallest after it");
    return TREACLE_OK;
}
