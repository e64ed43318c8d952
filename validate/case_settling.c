// A body that sinks through thick liquid between walls [SUITE 11d].
//
// A disk midway between two plates sinks so fast that its weight in the liquid is [Faxen 1946]
//
//     F = 4 pi mu U / (-ln k - .91569 + 1.7244 k^2 - 1.7302 k^4 + 2.4056 k^6 - 4.5913 k^8)
//
// per length, k its radius over half the gap; a ball in a tube  F = 6 pi mu a U K(k)  [Haberman,
// Sayre 1958]. The box is closed and tall, so that nothing flows around on the whole. Pass: 5 % at
// 8 cells a radius, 2 % at 16.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double pi = 3.14159265358979324, gravity = 9.81;
static const double liquid_density = 1400.0, body_density = 2500.0, viscosity = 10.0;
static const double radius = 5e-3; // m

static const char settling_scene[] =
    "domain: {size: [%s], cell: %.17g, sides: {all: no-slip}}\n"
    "particles: {per_cell: %d, jitter: 0}\n"
    "flow: %s\n"
    "transfer: apic\n"
    "step: {max_dt: %.17g}\n"
    "materials:\n"
    "  oil: {density: 1400, viscosity: 10}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [-9, -9, -9], max: [9, 9, 9]}}, material: oil}\n"
    "%s"
    "bodies:\n"
    "  body: {shape: {sphere: {radius: 5e-3, centre: [%s]}}, density: 2500%s}\n";

typedef struct settling_def {
    const char *name, *flow, *solids, *wall;
    bool is_flat;
    double gap, height; // m
    int cells;          // a radius
    double dt;          // s
    int steps;
} settling_def;

static treacle_status speed_of(validate* v, treacle_sim* sim, double* out) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    const treacle_array* bodies =
        status == TREACLE_OK ? treacle_frame_find(&frame, "body_state") : NULL;
    if (bodies == NULL || bodies->count == 0) {
        return validate_stop(v, "the frame has no bodies");
    }
    *out = -((const double*)bodies->data)[8]; // place, quaternion, velocity
    return TREACLE_OK;
}

static treacle_status sink(validate* v, const settling_def* def, double* speed) {
    treacle_sim* sim = NULL;
    char size[100], place[100];
    double middle = 0.5 * def->gap, cell = radius / def->cells;
    snprintf(size, sizeof(size), def->is_flat ? "%.17g, %.17g" : "%.17g, %.17g, %.17g", def->gap,
             def->height, def->gap);
    snprintf(place, sizeof(place), def->is_flat ? "%.17g, %.17g" : "%.17g, %.17g, %.17g", middle,
             0.5 * def->height, middle);
    treacle_status status =
        validate_sim_create(v, &sim, settling_scene, size, cell, def->is_flat ? 4 : 8, def->flow,
                            def->dt, def->solids, place, def->wall);
    for (int i = 0; i < def->steps && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, def->dt, &stats);
        status = status == TREACLE_OK ? speed_of(v, sim, speed) : status;
    }
    treacle_sim_destroy(sim);
    return status;
}

// F / (mu U) of a disk per length.
static double disk_drag(double k) {
    double s = k * k;
    double sum = -log(k) - 0.91569 + s * (1.7244 + s * (-1.7302 + s * (2.4056 - s * 4.5913)));
    return 4.0 * pi / sum;
}

static treacle_status sink_disk(validate* v, const settling_def* def, double tolerance) {
    double speed = NAN, k = radius / (0.5 * def->gap);
    double weight = (body_density - liquid_density) * gravity * pi * radius * radius;
    treacle_status status = sink(v, def, &speed);
    if (status == TREACLE_OK) {
        validate_relative(v, speed, weight / (viscosity * disk_drag(k)), tolerance,
                          "%s, k = %g, %d cells a radius, m/s", def->name, k, def->cells);
    }
    return status;
}

treacle_status case_settling(validate* v) {
    const settling_def def = {.name = "disk",
                              .flow = "unified",
                              .solids = "",
                              .wall = ", wall: no-slip",
                              .is_flat = true,
                              .gap = 0.05,
                              .height = 0.31,
                              .cells = 8,
                              .dt = 0.2,
                              .steps = 4};
    return sink_disk(v, &def, 0.05);
}

// How fast the split lets it sink depends on the step: pressure and viscous stress around a body
// are one force.
static treacle_status show_split(validate* v) {
    settling_def def = {.name = "disk, split",
                        .flow = "split",
                        .solids = "",
                        .wall = ", wall: no-slip",
                        .is_flat = true,
                        .gap = 0.05,
                        .height = 0.31,
                        .cells = 8};
    static const double steps[] = {0.04, 0.01};
    treacle_status status = TREACLE_OK;
    double weight = (body_density - liquid_density) * gravity * pi * radius * radius;
    double speed = weight / (viscosity * disk_drag(radius / (0.5 * def.gap)));
    for (int i = 0; i < 2 && status == TREACLE_OK; ++i) {
        double found = NAN;
        def.dt = steps[i];
        def.steps = (int)(0.28 / steps[i] + 0.5);
        status = sink(v, &def, &found);
        if (status == TREACLE_OK) {
            validate_info(v, found, speed, "disk, split, steps of %g s, m/s", def.dt);
        }
    }
    return status;
}

treacle_status case_settling_ball(validate* v) {
    const settling_def def = {
        .name = "ball in a tube",
        .flow = "unified",
        .solids = "solids:\n"
                  "  tube: {shape: {cylinder: {radius: 0.01, height: 2, centre: [0.01125,"
                  " 0.065, 0.01125]}}, inside_out: true, wall: no-slip}\n",
        .wall = ", wall: no-slip",
        .gap = 0.0225,
        .height = 0.13,
        .cells = 8,
        .dt = 0.02,
        .steps = 5};
    const double drag = 5.970; // Haberman and Sayre at k = 0.5
    double speed = NAN;
    treacle_status status = sink(v, &def, &speed);
    double weight = (body_density - liquid_density) * gravity * 4.0 / 3.0 * pi * pow(radius, 3.0);
    if (status == TREACLE_OK) {
        validate_relative(v, speed, weight / (6.0 * pi * viscosity * radius * drag), 0.05,
                          "ball in a tube, k = 0.5, 8 cells a radius, m/s");
    }
    return status;
}

treacle_status case_settling_all(validate* v) {
    settling_def def = {.name = "disk",
                        .flow = "unified",
                        .solids = "",
                        .wall = ", wall: no-slip",
                        .is_flat = true,
                        .gap = 0.1,
                        .height = 0.61,
                        .cells = 8,
                        .dt = 0.1,
                        .steps = 8};
    treacle_status status = sink_disk(v, &def, 0.05);
    if (status == TREACLE_OK) {
        def.gap = 0.05;
        def.height = 0.31;
        def.cells = 16;
        def.dt = 0.05;
        status = sink_disk(v, &def, 0.02);
    }
    return status == TREACLE_OK ? show_split(v) : status;
}
