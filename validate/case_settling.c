// A body that sinks through thick liquid between walls [SUITE 11d].
//
// A disk midway between two plates sinks so fast that its weight in the liquid is [Faxen 1946]
//
//     F = 4 pi mu U / (-ln k - .91569 + 1.7244 k^2 - 1.7302 k^4 + 2.4056 k^6 - 4.5913 k^8)
//
// per length, k its radius over half the gap; a ball in a tube  F = 6 pi mu a U K(k)  [Haberman,
// Sayre 1958]. The box is closed and tall, so that nothing flows around on the whole. Pass: 5 % at
// 8 cells a radius, 2 % at 16. While it sinks its speed changes from step to step by no more than
// 1 %, and steps are as long as is asked for, although free fall would cross cells in them.
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
    double start, time; // s, until it sinks steadily, and while it is watched
} settling_def;

typedef struct settling_run {
    double speed;  // m/s, on average while it is watched
    double change; // of it, the largest from one step to the next
    double dt;     // s, the shortest step
    int retries;
} settling_run;

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

static treacle_status watch(validate* v, treacle_sim* sim, const settling_def* def,
                            settling_run* out) {
    double before = NAN, way = 0.0, time = 0.0, most = 0.0;
    *out = (settling_run){.dt = INFINITY};
    while (time < (1.0 - 1e-9) * def->time) {
        treacle_step_stats stats;
        double speed = NAN;
        bool counts = treacle_sim_time(sim) >= (1.0 - 1e-9) * def->start;
        VALIDATE_TRY(treacle_sim_step(sim, def->dt, &stats));
        VALIDATE_TRY(speed_of(v, sim, &speed));
        if (counts) {
            time += stats.dt;
            way += stats.dt * speed;
            most = fmax(most, isnan(before) ? 0.0 : fabs(speed - before));
            out->dt = fmin(out->dt, stats.dt);
            out->retries += stats.retries;
        }
        before = speed;
    }
    out->speed = way / time;
    out->change = most / out->speed;
    return TREACLE_OK;
}

static treacle_status sink(validate* v, const settling_def* def, settling_run* out) {
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
    status = status == TREACLE_OK ? watch(v, sim, def, out) : status;
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
    settling_run run;
    double k = radius / (0.5 * def->gap);
    double weight = (body_density - liquid_density) * gravity * pi * radius * radius;
    VALIDATE_TRY(sink(v, def, &run));
    validate_relative(v, run.speed, weight / (viscosity * disk_drag(k)), tolerance,
                      "%s, k = %g, %d cells a radius, m/s", def->name, k, def->cells);
    validate_at_most(v, run.change, 0.01, 0.0, "%s, k = %g, %d cells: change of speed in a step",
                     def->name, k, def->cells);
    validate_relative(v, run.dt, def->dt, 1e-6, "%s, k = %g, %d cells: shortest step, s", def->name,
                      k, def->cells);
    validate_at_most(v, run.retries, 0.0, 0.0, "%s, k = %g, %d cells: steps begun again", def->name,
                     k, def->cells);
    return TREACLE_OK;
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
                              .dt = 0.04,
                              .start = 0.32,
                              .time = 0.32};
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
        settling_run found;
        def.dt = def.time = steps[i];
        def.start = 0.28 - def.time;
        status = sink(v, &def, &found);
        if (status == TREACLE_OK) {
            validate_info(v, found.speed, speed, "disk, split, steps of %g s, m/s", def.dt);
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
        .start = 0.08,
        .time = 0.02};
    const double drag = 5.970; // Haberman and Sayre at k = 0.5
    settling_run run;
    treacle_status status = sink(v, &def, &run);
    double weight = (body_density - liquid_density) * gravity * 4.0 / 3.0 * pi * pow(radius, 3.0);
    if (status == TREACLE_OK) {
        validate_relative(v, run.speed, weight / (6.0 * pi * viscosity * radius * drag), 0.05,
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
                        .dt = 0.05,
                        .start = 0.4,
                        .time = 0.2};
    treacle_status status = sink_disk(v, &def, 0.05);
    if (status == TREACLE_OK) {
        def.gap = 0.05;
        def.height = 0.31;
        def.cells = 16;
        def.dt = 0.02;
        def.start = 0.3;
        def.time = 0.16;
        status = sink_disk(v, &def, 0.02);
    }
    return status == TREACLE_OK ? show_split(v) : status;
}
