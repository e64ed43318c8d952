// A column of yield-stress liquid slumps in the plane and comes to rest.
//
// In a heap that has just stopped the shear stress is tau_y at the floor and falls to none at the
// surface; what is left of the yield stress holds against stretching, tau_xx = tau_y sqrt(1 -
// (y/h)^2), in the mean pi/4 tau_y. With the pressure, rho g (h - y) - tau_xx at height y, the
// balance along x of a slice of the heap is
//
//     d/dx (rho g h^2 / 2 - pi/2 tau_y h) = -tau_y,   h^2 / 2 - (pi/2) B h = B (X - x),
//
// B = tau_y / (rho g): the shape of Nye (1951), as Dubash, Balmforth, Slim and Cochard (2009) have
// it for slumps. It ends at X in a front of height pi B. X follows from the volume, here by
// bisection.
//
// It holds for a column that yields throughout and is slow enough not to be carried on by its
// inertia: B/H = 0.08 and 0.04 of a column of 0.4 m x 0.4 m, whose half is computed beside a slip
// plane, and Re = rho sqrt(g H) H / mu of about 3. At rest is what moves slower than 2 mm/s, 1e-3
// of sqrt(g H). The height of the middle is that of the volume in the first two columns of cells,
// compared with the mean of the theory there. Tolerances: 5 %.
//
// Beside it, for comparison: passes a step and what they cost in processor time, and the same
// column as a gel that yields (elasticity), which is no part of the theory's set-up.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cases.h"
#include "measure.h"

static const double height = 0.4, width = 0.2, gravity = 9.81, density = 1000.0;
static const double rest_speed = 2e-3, patience = 30.0; // m/s, s

static const char scene[] =
    "domain: {size: [1, 0.5], cell: %.17g,\n"
    "         sides: {all: slip, bottom: no-slip, top: open, right: open}}\n"
    "materials: {mud: {density: 1000, %s}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [0.2, 0.4, 1]}}}]\n";

// --- theory -------------------------------------------------------------------------------------

static double height_at(double b, double to_front) {
    double a = 0.5 * M_PI * b;
    return to_front > 0.0 ? a + sqrt(a * a + 2.0 * b * to_front) : 0.0;
}

// Of the part between the front and `to_front` behind it.
static double area_of(double b, double to_front) {
    double a = 0.5 * M_PI * b, root = height_at(b, to_front) - a;
    return a * to_front + (root * root * root - a * a * a) / (3.0 * b);
}

static double reach_of(double b) {
    double low = 0.0, high = 100.0 * width;
    for (int i = 0; i < 100; ++i) {
        double middle = 0.5 * (low + high);
        bool is_short = area_of(b, middle) < height * width;
        low = is_short ? middle : low;
        high = is_short ? high : middle;
    }
    return 0.5 * (low + high);
}

// --- simulation ---------------------------------------------------------------------------------

typedef struct heap {
    double middle, reach, time; // m, m, s
    double steps, passes, left; // of them unconverged
    double speed, seconds;      // m/s at the end; of the processor
} heap;

// The height of the volume in the first columns of cells, and the farthest particle with half the
// space between particles.
static treacle_status measure_heap(treacle_sim* sim, double cell, heap* out) {
    validate_particle* particles = NULL;
    int64_t count = 0, inside = 0;
    treacle_status status = validate_particles(sim, &particles, &count);
    out->reach = 0.0;
    for (int64_t i = 0; status == TREACLE_OK && i < count; ++i) {
        out->reach = fmax(out->reach, particles[i].place[0] + 0.25 * cell);
        inside += particles[i].place[0] < 2.0 * cell;
    }
    out->middle = (double)inside / (double)count * height * width / (2.0 * cell);
    free(particles);
    return status;
}

static treacle_status run(validate* v, double cell, const char* material, heap* out) {
    treacle_sim* sim = NULL;
    clock_t begin = clock();
    *out = (heap){.speed = INFINITY};
    treacle_status status = validate_sim_create(v, &sim, scene, cell, material);
    // At the start it is at rest, too.
    while (status == TREACLE_OK && out->time < patience &&
           (out->time < 1.0 || out->speed > rest_speed)) {
        treacle_step_stats step;
        status = treacle_sim_step(sim, 0.05, &step);
        out->time = treacle_sim_time(sim);
        out->speed = step.max_speed;
        out->steps += 1.0;
        out->passes += step.rheology.iterations + step.elastic_passes;
        out->left += step.rheology.iterations > 0 && !step.rheology.converged;
    }
    out->seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    status = status == TREACLE_OK ? measure_heap(sim, cell, out) : status;
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status slump(validate* v, double cell, const char* name, const char* material,
                            double yield_stress) {
    heap got;
    VALIDATE_TRY(run(v, cell, material, &got));
    double b = yield_stress / (density * gravity), reach = reach_of(b);
    double middle = (area_of(b, reach) - area_of(b, reach - 2.0 * cell)) / (2.0 * cell);
    validate_relative(v, got.middle, middle, 0.05, "%s, height of the middle, m", name);
    validate_relative(v, got.reach, reach, 0.05, "%s, run-out, m", name);
    validate_at_most(v, got.speed, rest_speed, 0.0, "%s, speed at the end, m/s", name);
    validate_at_most(v, got.left, 0.0, 0.0, "%s, steps that did not converge", name);
    validate_info(v, got.time, NAN, "%s, time to come to rest, s", name);
    validate_info(v, got.passes / got.steps, NAN, "%s, passes a step", name);
    validate_info(v, 1e3 * got.seconds / got.steps, NAN, "%s, processor time a step, ms", name);
    return TREACLE_OK;
}

static treacle_status compare_gel(validate* v, double cell) {
    heap got;
    VALIDATE_TRY(run(v, cell,
                     "viscosity: 30, elastic: {shear_modulus: 20 kPa, relaxation_time: 13.5 ms, "
                     "yield_stress: 157}",
                     &got));
    validate_info(v, got.middle, NAN, "gel that yields, height of the middle, m");
    validate_info(v, got.reach, NAN, "gel that yields, run-out, m");
    validate_info(v, got.time, NAN, "gel that yields, time to come to rest, s");
    validate_info(v, got.passes / got.steps, NAN, "gel that yields, passes a step");
    validate_info(v, 1e3 * got.seconds / got.steps, NAN,
                  "gel that yields, processor time a step, ms");
    return TREACLE_OK;
}

treacle_status case_slump(validate* v) {
    const double cell = 0.0125;
    VALIDATE_TRY(slump(v, cell, "B/H = 0.08",
                       "viscosity: 300, rheology: {law: bingham, yield_stress: 314}", 314.0));
    VALIDATE_TRY(slump(v, cell, "B/H = 0.04",
                       "viscosity: 300, rheology: {law: bingham, yield_stress: 157}", 157.0));
    return compare_gel(v, cell);
}
