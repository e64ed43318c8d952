// A hot spot in a disc that turns once stays as hot [SUITE 8f].
//
// Heat is carried by particles and comes back from the grid as increments only; conduction is on
// but next to nothing. Bound of the suite: the peak loses less than 1 %; a transfer in the manner
// of PIC loses 20 to 60 %.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

static const char scene[] =
    "domain: {size: [0.96, 0.96], cell: 0.02, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "particles: {per_cell: 9}\n"
    "materials: {any: {density: 1000, heat_capacity: 1000, conductivity: 1e-6}}\n"
    "liquids:\n"
    "  - shape: {cylinder: {radius: 0.4, height: 1, centre: [0.48, 0.48, 0]}, rotate: [90 deg, 0, "
    "0]}\n"
    "    spin: [0, 0, 6.283185307179586]\n"
    "    spin_centre: [0.48, 0.48, 0]\n"
    "    temperature: 300 + 100 * exp(-((x - 0.68)^2 + (y - 0.48)^2) / 0.005)\n";

// The hottest of the particles' means over layers of cells, above the rest of the disc.
static treacle_status peak_of(treacle_sim* sim, double* hottest, double* sum) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    *hottest = *sum = 0.0;
    if (status == TREACLE_OK) {
        const treacle_array* t = treacle_frame_find(&frame, "temperature");
        for (int64_t i = 0; i < t->count; ++i) {
            double above = (double)((const float*)t->data)[i] - 300.0;
            *hottest = fmax(*hottest, above);
            *sum += above;
        }
    }
    return status;
}

treacle_status case_hot_rotation(validate* v) {
    treacle_sim* sim = NULL;
    double before = 0.0, after = 0.0, sum_before = 0.0, sum_after = 0.0;
    treacle_status status = validate_sim_create(v, &sim, scene);
    if (status == TREACLE_OK) {
        status = peak_of(sim, &before, &sum_before);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, 1.0, 0.01);
    }
    if (status == TREACLE_OK) {
        status = peak_of(sim, &after, &sum_after);
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_relative(v, after, before, 0.01, "peak after a turn, K");
        validate_relative(v, sum_after, sum_before, 0.01, "heat after a turn");
    }
    return status;
}
