// A wave of heat in a square with cold sides decays [SUITE 8a].
//
//     T = sin(pi x) sin(pi y), diffusivity 1, t = 0.05; exactly 0.372708 of it is left.
//
// With 32 cells the discrete schemes leave what the suite tabulates; constant coefficients commute,
// so that going along one axis after the other has no error beyond backward Euler's. On the grid
// alone, in double: to 1e-6. With particles in between, jittered: kernels see the wave a little
// smoothed, on the way to the cells only, since increments come back; the bound there is 1 %.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"
#include "treacle/unstable/stages.h"

#define PI 3.14159265358979323846
enum { CELLS = 32 };

static double wave_at(int i) {
    return sin(PI * (i % CELLS + 0.5) / CELLS) * sin(PI * (i / CELLS + 0.5) / CELLS);
}

static treacle_status run_grid(validate* v, treacle_conduction method, int steps, double* left) {
    double t[CELLS * CELLS], sum = 0.0, squares = 0.0;
    for (int i = 0; i < CELLS * CELLS; ++i) {
        t[i] = wave_at(i);
    }
    treacle_stages_box box = {.cells = {CELLS, CELLS, 1},
                              .cell = 1.0 / CELLS,
                              .diffusivity = 1.0,
                              .method = method,
                              .dt = 0.05 / steps,
                              .steps = steps,
                              .temperature = t};
    treacle_status status = treacle_stages_conduct(v->ctx, &box);
    for (int i = 0; i < CELLS * CELLS; ++i) {
        sum += t[i] * wave_at(i);
        squares += wave_at(i) * wave_at(i);
    }
    *left = sum / squares;
    return status;
}

static const char scene[] =
    "domain: {size: [1, 1], cell: 0.03125, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "step: {max_dt: %.17g}\n"
    "particles: {per_cell: 9}\n"
    "heat: {method: %s, air: 300 K}\n"
    "materials: {any: {density: 1, heat_capacity: 1, conductivity: 1}}\n"
    "heat_walls:\n"
    "  - {side: left, temperature: 300 K}\n"
    "  - {side: right, temperature: 300 K}\n"
    "  - {side: bottom, temperature: 300 K}\n"
    "  - {side: top, temperature: 300 K}\n"
    "liquids:\n"
    "  - shape: {box: {min: [-1, -1, -1], max: [2, 2, 2]}}\n"
    "    temperature: 300 + 100 * sin(3.14159265358979 * x) * sin(3.14159265358979 * y)\n";

// The wave's amplitude from the mean over layers, whose own factor is the same before and after.
static treacle_status run_particles(validate* v, const char* method, int steps, double* left) {
    treacle_sim* sim = NULL;
    heat_layer before[CELLS], after[CELLS];
    treacle_status status = validate_sim_create(v, &sim, scene, 0.05 / steps, method);
    if (status == TREACLE_OK) {
        status = heat_layers(sim, 0, before, CELLS);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, 0.05, 0.05 / steps);
    }
    if (status == TREACLE_OK) {
        status = heat_layers(sim, 0, after, CELLS);
    }
    treacle_sim_destroy(sim);
    double a = 0.0, b = 0.0;
    for (int i = 0; status == TREACLE_OK && i < CELLS; ++i) {
        double wave = sin(PI * (i + 0.5) / CELLS);
        a += (after[i].temperature - 300.0) * wave;
        b += (before[i].temperature - 300.0) * wave;
    }
    *left = a / b;
    return status;
}

treacle_status case_heat_lod(validate* v) {
    static const int steps[] = {5, 20, 80};
    static const double lod[] = {0.390425, 0.377491, 0.374134};
    static const double whole[] = {0.406542, 0.381889, 0.375259};
    for (int k = 0; k < 3; ++k) {
        double left = 0.0;
        treacle_status status = run_grid(v, TREACLE_CONDUCTION_LOD, steps[k], &left);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_absolute(v, left, lod[k], 1e-6, "left of the wave, lod, %d steps", steps[k]);
        status = run_grid(v, TREACLE_CONDUCTION_IMPLICIT, steps[k], &left);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_absolute(v, left, whole[k], 1e-6, "left of the wave, implicit, %d steps",
                          steps[k]);
        status = run_grid(v, TREACLE_CONDUCTION_ADI, steps[k], &left);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_info(v, left, whole[k], "left of the wave, adi, %d steps", steps[k]);
        status = run_particles(v, "lod", steps[k], &left);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_relative(v, left, lod[k], 0.01, "left with particles, lod, %d steps", steps[k]);
    }
    return TREACLE_OK;
}
