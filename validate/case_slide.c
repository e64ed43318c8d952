// A block of liquid slides on a solid without friction that may let it go.
//
// Nothing holds the block along a plane, whether it presses on the plane or hardly touches it: its
// mean velocity along the plane is v0 + g t sin(angle), for every viscosity and however the plane
// lies in the grid. A plane that moves carries the block across itself and not along. Within 1 %;
// and where nothing presses, nothing throws the block off, 1 % of its speed.
//
// On a round hump of radius r a block that starts at rest at the angle a from the top presses with
// m g (3 cos(angle) - 2 cos(a)), and leaves where that is nothing: at 48.2 degrees if it starts
// close to the top. Within 3 degrees of it for a block of length r/10, and from there on it falls
// freely, 1 %.
#include <math.h>
#include <stdio.h>

#include "cases.h"
#include "measure.h"

static const double gravity = 9.81; // m/s^2
static const double speed = 0.5;    // m/s along the plane at the start
static const double cell = 0.02;    // m
static const double radian = 0.01745329251994329577;

// ---- planes

typedef struct slide_plane {
    const char* name;
    double angle; // degrees, down to the right
    double shift; // cells, of the plane from a plane of the grid
    double pull;  // m/s^2
    double lift;  // m/s, of the plane across itself; it also runs along at twice the block's speed
} slide_plane;

static const slide_plane planes[] = {
    {"grid plane, no weight", 0.0, 0.0, 0.0, 0.0}, {"shifted plane, no weight", 0.0, 0.3, 0.0, 0.0},
    {"17 degrees", 17.0, 0.37, 9.81, 0.0},         {"30 degrees", 30.0, 0.0, 9.81, 0.0},
    {"17 degrees, moving", 17.0, 0.37, 9.81, 0.3},
};
enum { PLANES = sizeof(planes) / sizeof(planes[0]) };

typedef struct slide_def {
    const slide_plane* plane;
    double viscosity; // Pa s
    const char *flow, *separation;
    double depth; // m, 0 in a plane
} slide_def;

static const char plane_scene[] =
    "domain: {origin: [-0.4, -0.6, %.17g], size: [1.6, 1.2, %.17g], cell: %.17g,\n"
    "         sides: {all: open}}\n"
    "gravity: [0, %.17g, 0]\n"
    "step: {max_dt: 4 ms}\n"
    "flow: %s\n"
    "materials: {goo: {density: 1000, viscosity: %.17g}}\n"
    "liquids:\n"
    "  - shape: {box: {size: [0.2, 0.1, %.17g]}, rotate: [0, 0, %.17g deg],\n"
    "            move: [%.17g, %.17g, 0]}\n"
    "    velocity: [%.17g, %.17g, 0]\n"
    "solids:\n"
    "  plane:\n"
    "    shape: {plane: {}, rotate: [0, 0, %.17g deg], move: [0, %.17g, 0]}\n"
    "    velocity: [%.17g, %.17g, 0]\n"
    "    wall: slip\n"
    "    separation: %s\n";

static treacle_status open_plane(validate* v, const slide_def* def, treacle_sim** out) {
    const slide_plane* p = def->plane;
    double c = cos(p->angle * radian), s = sin(p->angle * radian); // along: (c, -s), up: (s, c)
    double up = p->shift * cell, lift = p->lift, run = lift > 0.0 ? 2.0 * speed : 0.0;
    double deep = def->depth > 0.0 ? 2.0 * def->depth : 0.0;
    return validate_sim_create(v, out, plane_scene, -0.5 * deep, deep, cell, -p->pull, def->flow,
                               def->viscosity, def->depth > 0.0 ? def->depth : 1.0, -p->angle,
                               0.05 * s, up + 0.05 * c, speed * c + lift * s, -speed * s + lift * c,
                               -p->angle, up, run * c + lift * s, -run * s + lift * c,
                               def->separation);
}

static treacle_status slide(validate* v, const slide_def* def) {
    const slide_plane* p = def->plane;
    const double end = def->depth > 0.0 ? 0.1 : 0.2;
    double c = cos(p->angle * radian), s = sin(p->angle * radian);
    treacle_sim* sim = NULL;
    measure_sums sums = {0};
    treacle_status status = open_plane(v, def, &sim);
    status = status == TREACLE_OK ? validate_advance(sim, end, 0.004) : status;
    status = status == TREACLE_OK ? measure_particles(sim, MEASURE_ALL, &sums) : status;
    treacle_sim_destroy(sim);
    VALIDATE_TRY(status);
    double along = c * sums.velocity[0] - s * sums.velocity[1];
    double across = s * sums.velocity[0] + c * sums.velocity[1];
    char name[VALIDATE_TEXT];
    snprintf(name, sizeof(name), "%s%s, %g Pa s, %s, %s", p->name,
             def->depth > 0.0 ? " in space" : "", def->viscosity, def->flow, def->separation);
    validate_relative(v, along, speed + p->pull * s * end, 0.01, "%s: along", name);
    if (p->pull == 0.0) {
        validate_absolute(v, across, 0.0, 0.01 * speed, "%s: across", name);
    }
    return TREACLE_OK;
}

static const double viscosities[] = {0.0, 1.0, 100.0, 1e4};
enum { VISCOSITIES = sizeof(viscosities) / sizeof(viscosities[0]) };

// Those of the viscosities from the first to before the last.
static treacle_status slide_on_planes(validate* v, const char* flow, const char* separation,
                                      int first, int last) {
    for (int i = 0; i < PLANES; ++i) {
        for (int n = first; n < last; ++n) {
            slide_def def = {&planes[i], viscosities[n], flow, separation, 0.0};
            VALIDATE_TRY(slide(v, &def));
        }
    }
    return TREACLE_OK;
}

// ---- a hump

static const double radius = 0.2, block = 0.02, start = 5.0; // m; m; degrees from the top

static const char hump_scene[] =
    "domain: {origin: [-0.05, -0.05], size: [0.4, 0.3], cell: %.17g, sides: {all: open}}\n"
    "gravity: [0, -9.81, 0]\n"
    "step: {max_dt: 2 ms}\n"
    "flow: %s\n"
    "materials: {goo: {density: 1000, viscosity: %.17g}}\n"
    "liquids:\n"
    "  - shape: {box: {size: [%.17g, %.17g, 1]}, rotate: [0, 0, %.17g deg],\n"
    "            move: [%.17g, %.17g, 0]}\n"
    "solids:\n"
    "  hump:\n"
    "    shape: {cylinder: {radius: %.17g, height: 1}, rotate: [90 deg, 0, 0]}\n"
    "    wall: slip\n"
    "    separation: on\n";

typedef struct slide_flight {
    double time, velocity[2];
    double angle; // degrees from the top
} slide_flight;

static treacle_status look(treacle_sim* sim, slide_flight* out) {
    measure_sums sums;
    VALIDATE_TRY(measure_particles(sim, MEASURE_ALL, &sums));
    *out = (slide_flight){.time = treacle_sim_time(sim),
                          .velocity = {sums.velocity[0], sums.velocity[1]},
                          .angle = atan2(sums.centre[0], sums.centre[1]) / radian};
    return TREACLE_OK;
}

// What pushes the block off the hump between two looks, over its weight.
static double push_over_weight(const slide_flight* from, const slide_flight* to) {
    double dt = to->time - from->time;
    double x = (to->velocity[0] - from->velocity[0]) / dt;
    double y = (to->velocity[1] - from->velocity[1]) / dt + gravity;
    return (x * sin(to->angle * radian) + y * cos(to->angle * radian)) / gravity;
}

// Steps until the block has long left: `leave` is when the hump last bore a fiftieth of its weight.
static treacle_status run_down(treacle_sim* sim, slide_flight* leave, slide_flight* end) {
    VALIDATE_TRY(look(sim, end));
    while (end->time < 0.5) {
        treacle_step_stats stats;
        slide_flight before = *end;
        VALIDATE_TRY(treacle_sim_step(sim, 0.002, &stats));
        VALIDATE_TRY(look(sim, end));
        *leave = push_over_weight(&before, end) > 0.02 ? *end : *leave;
    }
    return TREACLE_OK;
}

static treacle_status slide_off(validate* v, double viscosity, const char* flow) {
    double c = cos(start * radian), s = sin(start * radian);
    // The block's corners touch the hump: what is inside of it is left out.
    double up = radius - block * block / (8.0 * radius) + 0.25 * block;
    treacle_sim* sim = NULL;
    slide_flight leave = {.angle = NAN}, end = {.angle = NAN};
    treacle_status status = validate_sim_create(v, &sim, hump_scene, block / 12.0, flow, viscosity,
                                                block, 0.5 * block, -start, up * s, up * c, radius);
    status = status == TREACLE_OK ? run_down(sim, &leave, &end) : status;
    treacle_sim_destroy(sim);
    VALIDATE_TRY(status);
    double flight = end.time - leave.time;
    validate_absolute(v, leave.angle, acos(2.0 / 3.0) / radian, 3.0,
                      "hump, %g Pa s, %s: leaves at, degrees", viscosity, flow);
    validate_relative(v, (leave.velocity[1] - end.velocity[1]) / flight, gravity, 0.01,
                      "hump, %g Pa s, %s: falls with, m/s^2", viscosity, flow);
    return TREACLE_OK;
}

// ---- the cases

static const slide_plane* const tilted = &planes[2];

treacle_status case_slide(validate* v) {
    VALIDATE_TRY(slide_on_planes(v, "unified", "on", 0, VISCOSITIES - 1));
    VALIDATE_TRY(slide_on_planes(v, "split", "on", 0, VISCOSITIES));
    VALIDATE_TRY(slide_on_planes(v, "pressure", "on", 0, 1));
    VALIDATE_TRY(slide_on_planes(v, "unified", "100 Pa", 2, 3));
    VALIDATE_TRY(slide_off(v, 100.0, "unified"));
    return slide_off(v, 1000.0, "unified");
}

treacle_status case_slide_fine(validate* v) {
    const slide_def space[] = {{tilted, 100.0, "unified", "on", 0.1},
                               {tilted, 100.0, "split", "on", 0.1},
                               {&planes[1], 100.0, "unified", "on", 0.1}};
    for (size_t i = 0; i < sizeof(space) / sizeof(space[0]); ++i) {
        VALIDATE_TRY(slide(v, &space[i]));
    }
    VALIDATE_TRY(slide_on_planes(v, "unified", "on", VISCOSITIES - 1, VISCOSITIES));
    VALIDATE_TRY(slide_on_planes(v, "unified", "100 Pa", 0, VISCOSITIES));
    VALIDATE_TRY(slide_on_planes(v, "split", "100 Pa", 0, VISCOSITIES));
    VALIDATE_TRY(slide_on_planes(v, "pressure", "100 Pa", 0, 1));
    VALIDATE_TRY(slide_off(v, 1e4, "unified"));
    VALIDATE_TRY(slide_off(v, 100.0, "split"));
    return slide_off(v, 1000.0, "split");
}
