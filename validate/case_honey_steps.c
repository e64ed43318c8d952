// Honey with one, two and twenty sub-steps a frame [issue 6]: a column of 0.1 m collapses on a
// no-slip floor as in gravity-current, at 30 frames a second. One sub-step a frame is nu dt/h^2 =
// 13; explicit viscosity would need 110. The front and the height of the centre at 0.3, 0.5 and 1 s
// stay within 3 % of those with twenty.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

static const char scene[] =
    "domain: {size: [0.4, 0.125], cell: 0.005,\n"
    "         sides: {all: slip, bottom: no-slip, top: open, right: open}}\n"
    "step: {max_dt: 1, cfl: 5}\n"
    "particles: {per_cell: 9}\n"
    "materials: {honey: {density: 1400, viscosity: 14}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [0.1, 0.1, 1]}}}]\n";

enum { FRAMES = 30, MOMENTS = 3 };
static const int moments[MOMENTS] = {9, 15, 30}; // frames

typedef struct collapse {
    double front[MOMENTS], height[MOMENTS]; // m
    int steps;
} collapse;

static treacle_status look(treacle_sim* sim, double* front, double* height) {
    validate_particle* particles = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &particles, &count);
    *front = *height = 0.0;
    for (int64_t i = 0; status == TREACLE_OK && i < count; ++i) {
        *front = fmax(*front, particles[i].place[0]);
        *height += particles[i].place[1] / (double)count;
    }
    free(particles);
    return status;
}

static treacle_status run(validate* v, int substeps, collapse* out) {
    treacle_sim* sim = NULL;
    *out = (collapse){0};
    treacle_status status = validate_sim_create(v, &sim, scene);
    for (int frame = 1, k = 0; frame <= FRAMES && status == TREACLE_OK; ++frame) {
        double end = frame / 30.0;
        while (status == TREACLE_OK && end - treacle_sim_time(sim) > 1e-9) {
            treacle_step_stats stats;
            double rest = end - treacle_sim_time(sim), dt = 1.0 / (30.0 * substeps);
            status = treacle_sim_step(sim, rest < 1.5 * dt ? rest : dt, &stats);
            out->steps += 1;
        }
        if (status == TREACLE_OK && frame == moments[k]) {
            status = look(sim, &out->front[k], &out->height[k]);
            k += 1;
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_honey_steps(validate* v) {
    collapse fine, coarse;
    treacle_status status = run(v, 20, &fine);
    for (int substeps = 1; substeps <= 2 && status == TREACLE_OK; ++substeps) {
        status = run(v, substeps, &coarse);
        validate_info(v, coarse.steps / (double)FRAMES, substeps, "%d: sub-steps a frame",
                      substeps);
        for (int k = 0; k < MOMENTS && status == TREACLE_OK; ++k) {
            double t = moments[k] / 30.0;
            validate_relative(v, coarse.front[k], fine.front[k], 0.03,
                              "%d a frame, front after %g s, m", substeps, t);
            validate_relative(v, coarse.height[k], fine.height[k], 0.03,
                              "%d a frame, centre after %g s, m", substeps, t);
        }
    }
    return status;
}
