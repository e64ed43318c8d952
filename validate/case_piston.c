// Solids that push liquid, in one projection [SUITE 11c, BBB07 sec. 2.2].
//
// (i) A piston as wide as a channel drives a slug with a free far end, at an angle to nothing but
// off the grid's lines: in one solve the slug moves as one with the piston, whatever its length,
// and the pressure falls linearly to the free end: dt p / rho = (v - u) x distance.
//
// The same with a piston of mass m that a force F pushes, a rigid body: slug and piston start with
// a = F / (m + rho W L) at once; against a closed end nothing moves and p = F / W; and under a
// piston that gravity pulls p = m g / W + rho g depth.
//
// (ii) Liquid that a closed region leaves no way out cannot be compressed: the part of the motion
// that would is dropped. A piston pushing on a closed slug leaves it finite, and the solve
// converges.
//
// (iii) A gap of half a cell between a wall and a block, and a pressure difference across the
// block: what flows through it is compared with the gap resolved by 16 cells. Shares of area see
// half a cell.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "treacle/unstable/stages.h"

static const char piston_scene[] =
    "domain: {size: [1 m, 0.25 m], cell: %.17g, sides: {all: slip}}\n"
    "particles: {per_cell: 1, jitter: 0}\n"
    "pressure: {tolerance: 1e-10}\n"
    "flow: pressure\n"
    "gravity: [0, 0, 0]\n"
    "liquids: [{shape: {box: {min: [0, 0], max: [1 m, 1 m]}}}]\n"
    "solids:\n"
    "  piston:\n"
    "    shape: {box: {size: [0.2, 2], centre: [%.17g, 0.1]}}\n"
    "    velocity: [0.7, 0, 0]\n"
    "%s";

typedef struct slug {
    float *u, *open, *pressure; // dense, [n * n / 4]
    treacle_stages_projection flow;
} slug;

static treacle_status push(validate* v, int n, const char* more, double end, slug* out) {
    treacle_sim* sim = NULL;
    size_t count = (size_t)n * (size_t)n / 4;
    *out = (slug){.u = calloc(3 * count, sizeof(float))};
    out->open = out->u + count;
    out->pressure = out->u + 2 * count;
    treacle_shape liquid = treacle_shape_default(TREACLE_SHAPE_PLANE);
    liquid.rotate[2] = -0.5 * 3.14159265358979323846; // all with x < end
    liquid.move[0] = end;
    out->flow = (treacle_stages_projection){.liquid = end < 1.0 ? &liquid : NULL,
                                            .dt = 0.01,
                                            .after = {out->u},
                                            .open = {out->open},
                                            .pressure = out->pressure};
    treacle_status status = out->u == NULL
                                ? TREACLE_ERR_MEMORY
                                : validate_sim_create(v, &sim, piston_scene, 1.0 / n, 0.1, more);
    if (status == TREACLE_OK) {
        status = treacle_stages_project(sim, &out->flow);
    }
    treacle_sim_destroy(sim);
    return status;
}

// The piston's face is at 0.2: 12.8 cells of 1/64. Its slug reaches to 0.7.
static treacle_status drive(validate* v) {
    enum { N = 64 };
    slug s;
    treacle_status status = push(v, N, "", 0.7, &s);
    double worst = 0.0, worst_pressure = 0.0;
    for (int i = 0; i < N * N / 4 && status == TREACLE_OK; ++i) {
        int x = i % N;
        if (x > 13 && x <= 44) {
            worst = fmax(worst, fabs((double)s.u[i] / 0.7 - 1.0));
        }
        if (x >= 13 && x < 44) {
            // p / (rho h) of a slug that gains 0.7 m/s in dt, falling to 0 at x = 0.7.
            double p = 0.7 / s.flow.dt * (0.7 - (x + 0.5) / N) * N;
            worst_pressure = fmax(worst_pressure, fabs((double)s.pressure[i] / p - 1.0));
        }
    }
    free(s.u);
    if (status == TREACLE_OK) {
        validate_absolute(v, worst, 0.0, 1e-6,
                          "slug with a free end: speed over the piston's, - 1");
        validate_absolute(v, worst_pressure, 0.0, 1e-5, "pressure over the linear one, - 1");
    }
    return status;
}

// ---- a piston with a mass

static const char body_scene[] = "domain: {size: [1 m, 0.25 m], cell: %.17g, sides: {all: slip}}\n"
                                 "particles: {per_cell: 1, jitter: 0}\n"
                                 "pressure: {tolerance: 1e-10, walls: %s}\n"
                                 "flow: pressure\n"
                                 "gravity: [%.17g, 0, 0]\n"
                                 "liquids: [{shape: {box: {min: [0, 0], max: [1 m, 1 m]}}}]\n"
                                 "bodies:\n"
                                 "  piston:\n"
                                 "    shape: {box: {min: [%.17g, 0], max: [%.17g, 0.25]}}\n"
                                 "    density: 3000\n"
                                 "    force: [%.17g, 0, 0]\n"
                                 "    joints: [{kind: slider, axis: [1, 0, 0]}]\n";

typedef struct shove {
    const char* walls;
    double gravity, force; // m/s^2, N, both along x
    double low, high;      // m, of the piston
    double end;            // m, of the liquid; beyond 1: it fills the channel
} shove;

enum { FINE = 64 };

// One step from rest of the piston; the pressure at the cells of the lowest row.
static treacle_status shove_one(validate* v, const shove* s, double motion[6], float* pressure) {
    treacle_sim* sim = NULL;
    treacle_shape liquid = treacle_shape_default(TREACLE_SHAPE_PLANE);
    liquid.rotate[2] = -0.5 * 3.14159265358979323846; // all with x < end
    liquid.move[0] = s->end;
    treacle_stages_projection flow = {.liquid = s->end < 1.0 ? &liquid : NULL,
                                      .dt = 0.01,
                                      .pressure = pressure,
                                      .bodies = motion};
    treacle_status status = validate_sim_create(v, &sim, body_scene, 1.0 / FINE, s->walls,
                                                s->gravity, s->low, s->high, s->force);
    if (status == TREACLE_OK) {
        status = treacle_stages_project(sim, &flow);
    }
    treacle_sim_destroy(sim);
    return status;
}

// p in Pa of a cell; the depth of the channel is a cell.
static double pressure_at(const float* pressure, int x) {
    return (double)pressure[x] * 1000.0 / FINE;
}

static const double width = 0.25, force = 7.0, length = 0.2, gravity = 9.81;
static const double thickness = 0.125, dt = 0.01;

static treacle_status drive_by_force(validate* v, const char* walls, double tolerance) {
    const double area = width / FINE, mass = 3000.0 * thickness * area;
    float pressure[FINE * FINE / 4];
    double motion[6];
    shove one = {.walls = walls, .force = force, .high = thickness, .end = thickness + length};
    treacle_status status = shove_one(v, &one, motion, pressure);
    if (status == TREACLE_OK) {
        validate_relative(v, motion[0] / dt, force / (mass + 1000.0 * area * length), tolerance,
                          "%s, force on a piston, slug with a free end, a", walls);
        one = (shove){
            .walls = walls, .force = force, .low = 0.125, .high = 0.125 + thickness, .end = 2.0};
        status = shove_one(v, &one, motion, pressure);
    }
    if (status == TREACLE_OK) {
        validate_absolute(v, motion[0] * mass / (force * dt), 0.0, 1e-6,
                          "%s, closed end: speed over that of the piston alone", walls);
        validate_relative(v, pressure_at(pressure, 40) - pressure_at(pressure, 2), force / area,
                          1e-6, "%s, closed end: pressure before the piston over that behind",
                          walls);
        one = (shove){
            .walls = walls, .gravity = -gravity, .low = 0.5, .high = 0.5 + thickness, .end = 0.51};
        status = shove_one(v, &one, motion, pressure);
    }
    if (status == TREACLE_OK) {
        double depth = 0.5 - 10.5 / FINE;
        double below = mass * gravity / area + 1000.0 * gravity * depth;
        validate_relative(v, pressure_at(pressure, 10), below, tolerance,
                          "%s, a weight on closed liquid: pressure under it", walls);
        validate_absolute(v, motion[0] / (gravity * dt), 0.0, 1e-6, "%s, its speed over g dt",
                          walls);
    }
    return status;
}

static treacle_status squeeze(validate* v) {
    slug s;
    treacle_status status = push(v, 64, "", 2.0, &s);
    free(s.u);
    if (status == TREACLE_OK) {
        validate_at_most(v, s.flow.max_speed / 0.7, 1.0, 1e-6,
                         "closed slug: fastest face over the piston's speed");
        validate_absolute(v, s.flow.solve.converged ? 0.0 : 1.0, 0.0, 0.0,
                          "closed slug: solves that did not converge");
    }
    return status;
}

treacle_status case_piston(validate* v) {
    treacle_status status = drive(v);
    status = status == TREACLE_OK ? drive_by_force(v, "exact", 1e-6) : status;
    status = status == TREACLE_OK ? drive_by_force(v, "area", 1e-6) : status;
    return status == TREACLE_OK ? squeeze(v) : status;
}

// ---- the gap

static const char gap_scene[] =
    "domain: {size: [1 m, 0.5 m], cell: %.17g, sides: {all: slip, left: open, right: open}}\n"
    "particles: {per_cell: 1, jitter: 0}\n"
    "pressure: {tolerance: 1e-8}\n"
    "flow: pressure\n"
    "gravity: [0, 0, 0]\n"
    "liquids: [{shape: {box: {min: [0, 0], max: [1 m, 1 m]}}}]\n"
    "solids:\n"
    "  block: {shape: {box: {min: [0.401, %.17g], max: [0.601, 1]}}}\n";

// What flows through the gap when a push along x acts on all of the liquid, m^2/s.
static treacle_status flux(validate* v, int n, double gap, double* out) {
    treacle_sim* sim = NULL;
    size_t count = (size_t)n * (size_t)n / 2;
    float* room = calloc(2 * count, sizeof(float));
    treacle_stages_projection flow = {.velocity = {.value_a = {1.0, 0.0, 0.0}},
                                      .dt = 0.01,
                                      .after = {room},
                                      .open = {room == NULL ? NULL : room + count}};
    treacle_status status =
        room == NULL ? TREACLE_ERR_MEMORY : validate_sim_create(v, &sim, gap_scene, 1.0 / n, gap);
    if (status == TREACLE_OK) {
        status = treacle_stages_project(sim, &flow);
    }
    *out = 0.0;
    for (int y = 0; y < n / 2 && status == TREACLE_OK; ++y) {
        int i = y * n + n / 2; // the face in the middle of the block
        *out += (double)(room[i] * flow.open[0][i]) / n;
    }
    treacle_sim_destroy(sim);
    free(room);
    return status;
}

treacle_status case_gap(validate* v) {
    const double gap = 0.5 / 32;
    double resolved = NAN, coarse = NAN;
    treacle_status status = flux(v, 512, gap, &resolved);
    if (status == TREACLE_OK) {
        status = flux(v, 32, gap, &coarse);
    }
    if (status == TREACLE_OK) {
        validate_relative(v, coarse, resolved, 0.2, "flux through half a cell, 32 cells across");
        status = flux(v, 32, gap + 1.0 / 32, &coarse);
    }
    if (status == TREACLE_OK) {
        status = flux(v, 512, gap + 1.0 / 32, &resolved);
        validate_info(v, coarse, resolved, "flux through a cell and a half");
    }
    return status;
}
