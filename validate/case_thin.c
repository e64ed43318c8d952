// Plates half a cell thick keep what is on their two sides apart [thin.1, solid.4].
//
// (i) Two liquids stream past each other on the two sides of a plate, without viscosity, for a
// second (32 cells each way): neither gives the other any momentum, wherever the plate lies between
// the lines of the grid, and however particles and grid exchange velocity.
//
// (ii) A column of water falls against a plate that leans by 30 degrees; the other side is dry. No
// particle passes.
//
// (iii) A plate of the tank's whole height sweeps through it, three cells a step, there and back,
// with liquid on both sides, which has to climb: no particle changes sides.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

static const double cell = 1.0 / 32; // m

static const char streams_scene[] =
    "domain: {size: [1 m, 0.5 m], cell: %.17g, sides: {all: slip, left: periodic, right: "
    "periodic}}\n"
    "gravity: [0, 0, 0]\n"
    "transfer: %s\n"
    "flow: pressure\n"
    "materials: {low: {density: 1000}, high: {density: 1000}}\n"
    "liquids:\n"
    "  - {material: low, shape: {box: {min: [0, 0], max: [1, %.17g]}}, velocity: [-1, 0, 0]}\n"
    "  - {material: high, shape: {box: {min: [0, %.17g], max: [1, 0.5]}}, velocity: [1, 0, 0]}\n"
    "solids: {plate: {shape: {box: {size: [4, %.17g], centre: [0.5, %.17g]}}}}\n";

static treacle_status streams(validate* v, const char* transfer, double offset) {
    treacle_sim* sim = NULL;
    measure_sums low = {0}, high = {0};
    double at = 0.25 + offset * cell;
    treacle_status status =
        validate_sim_create(v, &sim, streams_scene, cell, transfer, at, at, 0.5 * cell, at);
    for (int i = 0; i < 50 && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, 0, &low);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, 1, &high);
    }
    if (status == TREACLE_OK) {
        double change = fmax(fabs(low.velocity[0] + 1.0), fabs(high.velocity[0] - 1.0));
        validate_absolute(v, change, 0.0, 1e-5,
                          "streams, %s, plate at %.2f of a cell: change of mean speed, m/s",
                          transfer, offset);
    }
    treacle_sim_destroy(sim);
    return status;
}

// ---- plates that hold

static const char pool_scene[] =
    "domain: {size: [1 m, 1 m], cell: %.17g, sides: {all: slip}}\n"
    "liquids: [{shape: {box: {min: [0, 0], max: [0.4, 0.6]}}}]\n"
    "solids:\n"
    "  plate: {shape: {box: {size: [%.17g, 4]}, move: [0.713, 0.5, 0], rotate: [0, 0, %s]}}\n";

static const char sweep_scene[] =
    "domain: {size: [1 m, 1 m], cell: %.17g, sides: {all: slip}}\n"
    "step: {cfl: 5}\n"
    "materials: {left: {density: 1000}, right: {density: 1000}}\n"
    "liquids:\n"
    "  - {material: left, shape: {box: {min: [0, 0], max: [0.5, 0.3]}}}\n"
    "  - {material: right, shape: {box: {min: [0.5, 0], max: [1, 0.3]}}}\n"
    "solids:\n"
    "  plate:\n"
    "    shape: {box: {size: [%.17g, 4], centre: [0.5, 0.5]}}\n"
    "    position: {keys: {0 s: [0, 0, 0], 0.04 s: [0.1875, 0, 0], 0.12 s: [-0.1875, 0, 0], "
    "0.16 s: [0, 0, 0]}}\n";

// How many particles of a liquid, the upper bits of their ids, are on the wrong side: right of the
// plate (sign 1) or left.
static treacle_status count_beyond(treacle_sim* sim, int material, double sign, double place,
                                   double lean, int* out) {
    validate_particle* all = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &all, &count);
    for (int64_t i = 0; i < count && status == TREACLE_OK; ++i) {
        double beyond = all[i].place[0] - place + lean * (all[i].place[1] - 0.5);
        *out +=
            ((int)(all[i].id >> 48) == material || material == MEASURE_ALL) && sign * beyond > 0.0;
    }
    free(all);
    return status;
}

static treacle_status hold(validate* v) {
    static const double lean = 0.5773502691896258; // tan 30 degrees
    treacle_sim* sim = NULL;
    measure_sums sums = {0};
    int beyond = 0;
    treacle_status status = validate_sim_create(v, &sim, pool_scene, cell, 0.5 * cell, "30 deg");
    for (int i = 0; i < 100 && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    if (status == TREACLE_OK) {
        status = count_beyond(sim, MEASURE_ALL, 1.0, 0.713, lean, &beyond);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &sums);
    }
    if (status == TREACLE_OK) {
        validate_absolute(v, beyond, 0.0, 0.0, "leaning plate, 2 s: particles beyond it");
        validate_info(v, sums.rms_speed / sqrt(9.81 * 0.6), NAN,
                      "leaning plate, 2 s: rms u / sqrt(g H)");
    }
    treacle_sim_destroy(sim);
    return status;
}

static double plate_at(double time) {
    return time < 0.04   ? 0.5 + 0.1875 * time / 0.04
           : time < 0.12 ? 0.5 + 0.1875 * (0.08 - time) / 0.04
                         : 0.5 - 0.1875 * (0.16 - time) / 0.04;
}

static treacle_status sweep(validate* v) {
    treacle_sim* sim = NULL;
    int beyond = 0;
    double fastest = 0.0;
    treacle_status status = validate_sim_create(v, &sim, sweep_scene, cell, 0.5 * cell);
    for (int i = 0; i < 8 && status == TREACLE_OK; ++i) {
        double from = treacle_sim_time(sim), end = 0.02 * (i + 1);
        while (treacle_sim_time(sim) < end - 1e-9 && status == TREACLE_OK) {
            treacle_step_stats stats;
            status = treacle_sim_step(sim, end - treacle_sim_time(sim), &stats);
            double to = treacle_sim_time(sim);
            fastest = fmax(fastest, fabs(plate_at(to) - plate_at(from)) / cell);
            from = to;
        }
        if (status == TREACLE_OK) {
            status = count_beyond(sim, 0, 1.0, plate_at(end), 0.0, &beyond);
        }
        if (status == TREACLE_OK) {
            status = count_beyond(sim, 1, -1.0, plate_at(end), 0.0, &beyond);
        }
    }
    if (status == TREACLE_OK) {
        validate_absolute(v, beyond, 0.0, 0.0, "sweeping plate: particles that changed sides");
        validate_info(v, fastest, NAN, "sweeping plate: cells in the longest step");
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_thin(validate* v) {
    static const double offsets[] = {0.0, 0.25, 0.5, 0.85};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        status = streams(v, i == 1 ? "flip" : i == 3 ? "pic" : "apic", offsets[i]);
    }
    if (status == TREACLE_OK) {
        status = hold(v);
    }
    return status == TREACLE_OK ? sweep(v) : status;
}
