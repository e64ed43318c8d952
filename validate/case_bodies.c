// Rigid bodies and liquid [SUITE 11].
//
// draft (11a): a body of s times the liquid's density floats as deep as Archimedes says. It is let
// go two cells above its place; PIC damps the bobbing. The level follows from the volumes of liquid
// and of what is under it. Pass: a quarter of a cell, mean over the last second.
//
// added-mass (11b): a body in the middle of a fixed round container that is full of liquid starts
// to fall, or to rise, with  a/g = (s - 1)/(s + C),  C the added mass of the container's size. One
// step from rest; 2 % at 16 cells a radius, down to a thousandth of the liquid's density.
//
// momentum (11e): a body of the liquid's density rests, and a box that lies askew in liquid at rest
// feels no torque. A coupled solve keeps momentum to 1e-8: tests/unit/test_rigid_body.c shows it on
// the faces of the grid. What is shown here is how much of it is lost around a body that is thrown
// into a drop at rest, all of it in the first step, whose impulse the faces of the grid share with
// more or less liquid beside the body than particles have: an error of half a cell's layer. At 80
// cells it is 2 %.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double gravity = 9.81;

// place, quaternion, velocity, spin: see docs/math/bodies.md
typedef struct body {
    double place[3], quaternion[4], velocity[3], spin[3];
} body;

static treacle_status find_body(validate* v, treacle_sim* sim, const body** out) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    const treacle_array* bodies =
        status == TREACLE_OK ? treacle_frame_find(&frame, "body_state") : NULL;
    *out = bodies != NULL && bodies->count > 0 ? bodies->data : NULL;
    return *out != NULL ? TREACLE_OK : validate_stop(v, "the frame has no bodies");
}

// ---- draft

static const char draft_scene[] = "domain: {size: [%s], cell: %.17g, sides: {all: slip}}\n"
                                  "particles: {per_cell: %d}\n"
                                  "transfer: pic\n"
                                  "step: {max_dt: 10 ms}\n"
                                  "liquids:\n"
                                  "  - shape: {box: {min: [0, 0, -9], max: [9, 0.5, 9]}}\n"
                                  "bodies:\n"
                                  "  float: {shape: {%s}, density: %.17g}\n";

typedef struct draft_def {
    const char* name;
    const char* size;
    const char* shape;                       // a format: of its radius and the height of its centre
    double cell, radius, area, share, draft; // m, m, m^2 or the tank's ground, s, in radii
    double volume;                           // of the body over radius^2 (2D) or radius^3
    int per_cell;
} draft_def;

static treacle_status float_body(validate* v, const draft_def* def, double* draft) {
    treacle_sim* sim = NULL;
    char shape[200];
    bool is_flat = def->per_cell == 4;
    double r = def->radius, thick = is_flat ? def->cell : 1.0;
    double volume = def->volume * (is_flat ? r * r : r * r * r);
    double start = 0.5 + r - def->draft * r + 2.0 * def->cell;
    snprintf(shape, sizeof(shape), def->shape, r, start);
    treacle_status status = validate_sim_create(v, &sim, draft_scene, def->size, def->cell,
                                                def->per_cell, shape, 1000.0 * def->share);
    measure_sums liquid = {0};
    double sum = 0.0;
    int count = 0;
    for (double t = 0.0; t < 4.0 && status == TREACLE_OK; t += 0.02) {
        const body* b = NULL;
        status = validate_advance(sim, t + 0.02, 0.02);
        status = status == TREACLE_OK ? find_body(v, sim, &b) : status;
        if (status == TREACLE_OK && t >= 3.0) {
            status = measure_particles(sim, MEASURE_ALL, &liquid);
            double level = (liquid.volume / thick + def->share * volume) / def->area;
            sum += level - (b->place[1] - r);
            count += 1;
        }
    }
    treacle_sim_destroy(sim);
    *draft = sum / (count > 0 ? count : 1);
    return status;
}

static treacle_status report_draft(validate* v, const draft_def* def) {
    double draft = NAN;
    treacle_status status = float_body(v, def, &draft);
    if (status == TREACLE_OK) {
        validate_absolute(v, draft / def->cell, def->draft * def->radius / def->cell, 0.25,
                          "%s, s = %g, draft in cells", def->name, def->share);
    }
    return status;
}

static const char disc_shape[] = "sphere: {radius: %.17g, centre: [0.75, %.17g]}";
static const char ball_shape[] = "sphere: {radius: %.17g, centre: [0.5, %.17g, 0.5]}";

treacle_status case_draft(validate* v) {
    static const double pi = 3.14159265358979324;
    const draft_def discs[] = {
        {"disc", "1.5, 1", disc_shape, 1.0 / 32, 0.25, 1.5, 0.4, 0.84226, pi, 4},
        {"disc", "1.5, 1", disc_shape, 1.0 / 32, 0.25, 1.5, 0.8, 1.49186, pi, 4},
    };
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 2 && status == TREACLE_OK; ++i) {
        status = report_draft(v, &discs[i]);
    }
    return status;
}

treacle_status case_draft_all(validate* v) {
    static const double pi = 3.14159265358979324;
    static const double share[] = {0.2, 0.4, 0.6, 0.8};
    static const double disc[] = {0.50814, 0.84226, 1.15774, 1.49186};
    static const double ball[] = {0.57428, 0.86586, 1.13414, 1.42572};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        draft_def def = {"disc", "1.5, 1", disc_shape, 1.0 / 48, 0.25,
                         1.5,    share[i], disc[i],    pi,       4};
        status = report_draft(v, &def);
        if (status == TREACLE_OK) {
            def = (draft_def){"ball", "1, 1, 1", ball_shape, 1.0 / 32,       0.25,
                              1.0,    share[i],  ball[i],    4.0 / 3.0 * pi, 8};
            status = report_draft(v, &def);
        }
    }
    return status;
}

// ---- added mass

static const char added_scene[] =
    "domain: {size: [%s], cell: %.17g, sides: {all: slip}}\n"
    "particles: {per_cell: %d}\n"
    "pressure: {tolerance: 1e-10}\n"
    "step: {max_dt: 1 ms}\n"
    "liquids:\n"
    "  - shape: {box: {min: [0, 0, -9], max: [9, 9, 9]}}\n"
    "solids:\n"
    "  tank: {shape: {sphere: {radius: 0.5, centre: [0.5625, 0.5625, %g]}}, inside_out: true}\n"
    "bodies:\n"
    "  ball: {shape: {sphere: {radius: 0.25, centre: [0.5625, 0.5625, %g]}}, density: %.17g}\n";

static treacle_status start_to_move(validate* v, bool is_flat, double share) {
    treacle_sim* sim = NULL;
    const double cell = 1.0 / 64, dt = 1e-3, added = is_flat ? 5.0 / 3.0 : 5.0 / 7.0;
    double middle = is_flat ? 0.0 : 0.5625;
    const body* b = NULL;
    treacle_step_stats stats;
    treacle_status status =
        validate_sim_create(v, &sim, added_scene, is_flat ? "1.125, 1.125" : "1.125, 1.125, 1.125",
                            cell, is_flat ? 4 : 8, middle, middle, 1000.0 * share);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, dt, &stats);
    }
    if (status == TREACLE_OK) {
        status = find_body(v, sim, &b);
    }
    if (status == TREACLE_OK) {
        const char* name = is_flat ? "disc" : "ball";
        validate_relative(v, -b->velocity[1] / (gravity * dt), (share - 1.0) / (share + added),
                          0.02, "%s of density %g, a/g", name, share);
        // From step to step the acceleration stays: nothing oscillates.
        double first = b->velocity[1];
        status = treacle_sim_step(sim, dt, &stats);
        status = status == TREACLE_OK ? find_body(v, sim, &b) : status;
        if (status == TREACLE_OK) {
            validate_relative(v, (b->velocity[1] - first) / first, 1.0, 0.05,
                              "%s of density %g, second step over first", name, share);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_added_mass(validate* v) {
    static const double share[] = {0.001, 0.1, 8.0};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 3 && status == TREACLE_OK; ++i) {
        status = start_to_move(v, true, share[i]);
    }
    return status;
}

treacle_status case_added_mass_ball(validate* v) {
    static const double share[] = {0.001, 0.1, 8.0};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 3 && status == TREACLE_OK; ++i) {
        status = start_to_move(v, false, share[i]);
    }
    return status;
}

// ---- rest and momentum

static const char rest_scene[] =
    "domain: {size: [1, 1], cell: 0.03125, sides: {all: slip}}\n"
    "particles: {per_cell: 4, jitter: 0}\n"
    "pressure: {tolerance: 1e-10}\n"
    "step: {max_dt: 5 ms}\n"
    "liquids:\n"
    "  - shape: {box: {min: [0, 0], max: [1, %g]}}\n"
    "bodies:\n"
    "  box: {shape: {box: {size: [0.3, 0.2, 1]}, move: [0.47, 0.41, 0], rotate: [0, 0, 0.3]},\n"
    "        density: 1000}\n";

static treacle_status rest_one(validate* v, double height, const char* name) {
    treacle_sim* sim = NULL;
    const body* b = NULL;
    treacle_step_stats stats;
    const double dt = 5e-3, side = 0.15, volume = 0.3 * 0.2, scale = sqrt(gravity * height);
    treacle_status status = validate_sim_create(v, &sim, rest_scene, height);
    status = status == TREACLE_OK ? treacle_sim_step(sim, dt, &stats) : status;
    status = status == TREACLE_OK ? find_body(v, sim, &b) : status;
    if (status == TREACLE_OK) {
        validate_absolute(v, hypot(b->velocity[0], b->velocity[1]) / scale, 0.0, 1e-6,
                          "%s, neutral box askew, speed / sqrt(g H)", name);
        validate_absolute(v, stats.max_speed / scale, 0.0, 1e-6,
                          "%s, speed of the liquid / sqrt(g H)", name);
        // From the spin that one step gives.
        double torque = 1000.0 * volume * (0.09 + 0.04) / 12.0 * b->spin[2] / dt;
        validate_absolute(v, torque / (1000.0 * gravity * volume * side), 0.0, 1e-3,
                          "%s, torque / (rho g V a)", name);
    }
    treacle_sim_destroy(sim);
    return status;
}

static const char drop_scene[] =
    "domain: {size: [1, 1, 1], cell: 0.03125, sides: {all: slip}}\n"
    "gravity: [0, 0, 0]\n"
    "transfer: apic\n"
    "density_correction: false\n"
    "reseed: false\n"
    "pressure: {tolerance: 1e-10}\n"
    "step: {max_dt: 2 ms}\n"
    "liquids:\n"
    "  - shape: {sphere: {radius: 0.4, centre: [0.5, 0.5, 0.5]}}\n"
    "bodies:\n"
    "  egg: {shape: {box: {size: [0.3, 0.2, 0.2]}, move: [0.47, 0.5, 0.5]}, density: 300,\n"
    "        velocity: [0.5, 0.2, 0], spin: [0, 0, 5]}\n";

// Momentum along x and y of liquid and body, kg m/s.
static treacle_status momentum_of(validate* v, treacle_sim* sim, double out[2], double* own) {
    measure_sums liquid;
    const body* b = NULL;
    treacle_status status = measure_particles(sim, MEASURE_ALL, &liquid);
    status = status == TREACLE_OK ? find_body(v, sim, &b) : status;
    double mass = 300.0 * 0.3 * 0.2 * 0.2;
    for (int a = 0; a < 2 && status == TREACLE_OK; ++a) {
        out[a] = 1000.0 * liquid.volume * liquid.velocity[a] + mass * b->velocity[a];
    }
    *own = status == TREACLE_OK ? mass * hypot(b->velocity[0], b->velocity[1]) : 0.0;
    return status;
}

static treacle_status keep_momentum(validate* v) {
    treacle_sim* sim = NULL;
    double before[2], after[2], first = 0.0, last = 0.0;
    treacle_status status = validate_sim_create(v, &sim, drop_scene);
    status = status == TREACLE_OK ? momentum_of(v, sim, before, &first) : status;
    status = status == TREACLE_OK ? validate_advance(sim, 0.01, 2e-3) : status;
    status = status == TREACLE_OK ? momentum_of(v, sim, after, &last) : status;
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        double lost = hypot(after[0] - before[0], after[1] - before[1]);
        validate_info(v, lost / first, NAN, "drop, momentum of both lost in 5 steps");
        validate_info(v, 1.0 - last / first, NAN, "drop, share that the body has given away");
    }
    return status;
}

treacle_status case_momentum(validate* v) {
    treacle_status status = rest_one(v, 1.0, "full tank");
    status = status == TREACLE_OK ? rest_one(v, 0.8125, "open tank") : status;
    return status == TREACLE_OK ? keep_momentum(v) : status;
}
