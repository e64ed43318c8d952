// The fluid mechanical sewing machine: a thread of cold syrup on a belt [Brun12, Brun15].
//
// A thread (nu = 0.5 m^2/s, nozzle of 5 mm radius, 5 cm/s) falls by 8 or 12 cm on a belt of 0 to
// 1.1 times the speed U that it has there; frequency f and radius R of the coil on a belt at rest,
// and U, are those of the slender rope. 4 cells a diameter. A weak push across the belt as it lands
// decides to which side it goes first. Ten periods are watched, 24 times each, after three.
//
// The pattern has to be one that the geometrical model [sew.1] shows within 0.08 in v = V/U, from
// either of two beginnings, and its frequency over f the model's within 10 %. Each speed is a part
// of its own: `build/validate sewing --part "v 0.8" --record` runs one and keeps its rows in
// validate/parts, from where others are read.
#include <math.h>
#include <stdio.h>

#include "cases.h"

static const double pi = 3.14159265358979323846;
enum { CELLS = 4, PERIODS = 10, A_PERIOD = 24, CONTACTS = PERIODS * A_PERIOD };

// --- the model -----------------------------------------------------------------------------------

typedef struct model {
    double x, z, theta;
} model;

static model slope_of(model m, double v) {
    const double b = 0.715;
    double r = hypot(m.x, m.z), phi = m.theta - atan2(m.z, m.x);
    double a = b * b * cos(phi) / (1.0 - b * cos(phi));
    return (model){cos(m.theta) + v, sin(m.theta), sqrt(r) * (1.0 + a * r) * sin(phi)}; // [sew.1]
}

static model ahead(model m, model slope, double dt) {
    return (model){m.x + dt * slope.x, m.z + dt * slope.z, m.theta + dt * slope.theta};
}

static model advance(model m, double v, double dt) {
    model a = slope_of(m, v), b = slope_of(ahead(m, a, 0.5 * dt), v);
    model c = slope_of(ahead(m, b, 0.5 * dt), v), d = slope_of(ahead(m, c, dt), v);
    m = ahead(ahead(m, a, dt / 6.0), d, dt / 6.0);
    return ahead(ahead(m, b, dt / 3.0), c, dt / 3.0);
}

// What the model lays at a speed of the belt, in lengths of the radius and times of the turn.
static treacle_status ask_model(validate* v, double speed, model m, treacle_sewing* out) {
    enum { STEPS = 16 };
    static treacle_contact contacts[CONTACTS];
    double dt = 2.0 * pi / A_PERIOD / STEPS;
    if (speed >= 1.0) { // its thread is drawn away for ever
        *out = (treacle_sewing){.pattern = TREACLE_PATTERN_STRAIGHT};
        return TREACLE_OK;
    }
    for (double t = 0.0; t < 120.0; t += dt) {
        m = advance(m, speed, dt);
    }
    for (int i = 0; i < CONTACTS; ++i) {
        contacts[i] = (treacle_contact){(double)i / A_PERIOD, m.x, m.z};
        for (int k = 0; k < STEPS; ++k) {
            m = advance(m, speed, dt);
        }
    }
    return treacle_sewing_classify(v->ctx, 1.0, CONTACTS, contacts, out);
}

// The frequency of a pattern as near to the speed as the model has it; 0: not within 0.08.
static treacle_status find_in_model(validate* v, double speed, treacle_pattern pattern, bool* has,
                                    double* frequency) {
    static const double away[] = {0.0, -0.04, 0.04, -0.08, 0.08};
    static const model from[] = {{0.5, 0.3, 2.0}, {1.2, 0.0, 0.5}};
    *has = false;
    for (int i = 0; i < 10 && !*has; ++i) {
        treacle_sewing found;
        VALIDATE_TRY(ask_model(v, fmax(speed + away[i / 2], 0.0), from[i % 2], &found));
        *has = found.pattern == pattern;
        *frequency = found.frequency;
    }
    return TREACLE_OK;
}

// --- the thread ----------------------------------------------------------------------------------

static const char scene[] =
    "domain:\n"
    "  origin: [%.17g, 0, %.17g]\n"
    "  size: [%.17g, %.17g, %.17g]\n"
    "  cell: %.17g\n"
    "  sides: {all: open, bottom: no-slip}\n"
    "  surface_velocity: {bottom: [%.17g, 0, 0]}\n"
    "gravity: [0, -9.81, 0]\n"
    "step: {max_dt: %.17g}\n"
    "materials: {syrup: {density: 1000, viscosity: 0.5 m^2/s}}\n"
    "emitters:\n"
    "  - shape: {cylinder: {radius: %.17g, height: %.17g, centre: [0, %.17g, 0]}}\n"
    "    speed: %.17g\n"
    "forces: [{acceleration: [0, 0, 0.1], start: %.17g, stop: %.17g}]\n";

typedef struct thread {
    treacle_nozzle nozzle;
    double frequency, radius, speed; // Hz, m, m/s: of the coil on a belt at rest, at the belt
    double v;
} thread;

static treacle_status open_thread(validate* v, const thread* t, treacle_sim** out) {
    const treacle_nozzle* n = &t->nozzle;
    double h = 2.0 * n->radius / CELLS, tube = 4.0 * h, lands = 0.9 * n->opening[1] / n->speed;
    double behind = ceil((2.5 * t->radius + n->radius) / h) * h;
    double length = behind + ceil(8.0 * t->radius / h) * h;
    double top = ceil((n->opening[1] + tube) / h + 2.0) * h;
    return validate_sim_create(v, out, scene, -behind, -behind, length, top, 2.0 * behind, h,
                               t->v * t->speed, 0.7 * h / t->speed, n->radius, tube,
                               n->opening[1] + 0.5 * tube, n->speed, lands, lands + 0.3);
}

static treacle_status watch(validate* v, const thread* t, treacle_sim* sim,
                            treacle_contact contacts[CONTACTS]) {
    double begin = 0.9 * t->nozzle.opening[1] / t->nozzle.speed + 3.0 / t->frequency;
    for (int i = 0; i < CONTACTS; ++i) {
        treacle_frame frame;
        treacle_thread found = {0};
        double time = begin + i / (A_PERIOD * t->frequency);
        VALIDATE_TRY(validate_advance(sim, time, 1.0));
        VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame));
        VALIDATE_TRY(treacle_thread_find(v->ctx, &frame, &t->nozzle, &found));
        contacts[i] = (treacle_contact){time, found.foot[0], found.foot[2]};
        if (!found.has_landed && i > 0) {
            contacts[i] = (treacle_contact){time, contacts[i - 1].along, contacts[i - 1].across};
        }
        if (i % A_PERIOD == 0) {
            validate_progress(v, "H %g m, v %g: t %.3f s, contact %.5f %.5f m, height %.5f m",
                              t->nozzle.opening[1], t->v, time, contacts[i].along,
                              contacts[i].across, found.foot[1]);
        }
    }
    return TREACLE_OK;
}

static treacle_status judge(validate* v, const thread* t, const treacle_sewing* found) {
    double height = t->nozzle.opening[1], frequency = 0.0;
    bool has = false;
    VALIDATE_TRY(find_in_model(v, t->v, found->pattern, &has, &frequency));
    validate_absolute(v, has ? 1.0 : 0.0, 1.0, 0.0, "H %g m, v %g: %s, as the model within 0.08",
                      height, t->v, treacle_pattern_name(found->pattern));
    if (has && frequency > 0.0) {
        validate_relative(v, found->frequency / t->frequency, frequency, 0.1,
                          "H %g m, v %g: frequency over the coil's", height, t->v);
    } else {
        validate_info(v, found->frequency / t->frequency, NAN,
                      "H %g m, v %g: frequency over the coil's", height, t->v);
    }
    validate_info(v, found->width / t->radius, NAN, "H %g m, v %g: swing across, of the coil",
                  height, t->v);
    validate_info(v, found->length / t->radius, NAN, "H %g m, v %g: swing along, of the coil",
                  height, t->v);
    return TREACLE_OK;
}

static treacle_status sew(validate* v, const thread* t) {
    static treacle_contact contacts[CONTACTS];
    treacle_sim* sim = NULL;
    treacle_sewing found = {0};
    treacle_status status = open_thread(v, t, &sim);
    status = status == TREACLE_OK ? watch(v, t, sim, contacts) : status;
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        status = treacle_sewing_classify(v->ctx, t->radius, CONTACTS, contacts, &found);
    }
    return status == TREACLE_OK ? judge(v, t, &found) : status;
}

// What a coil on a belt at rest does, by the slender rope.
static treacle_status measure_coil(validate* v, thread* t) {
    treacle_coiling_theory theory;
    const treacle_nozzle* n = &t->nozzle;
    VALIDATE_TRY(treacle_coiling_predict(v->ctx, n, n->opening[1], n->radius, &theory));
    if (theory.count == 0) {
        return validate_stop(v, "no steady coil at %g m", n->opening[1]);
    }
    double shrinks = theory.thread_radius[0] / n->radius;
    t->frequency = theory.frequency[0];
    t->radius = theory.radius[0];
    t->speed = n->speed / (shrinks * shrinks);
    return TREACLE_OK;
}

treacle_status case_sewing(validate* v) {
    enum { SPEEDS = 12, HEIGHTS = 2 };
    static const double heights[HEIGHTS] = {0.08, 0.12};
    for (int i = 0; i < SPEEDS * HEIGHTS; ++i) {
        thread t = {.nozzle = {{0.0, heights[i / SPEEDS], 0.0}, 0.005, 0.05, 0.5, 9.81},
                    .v = 0.1 * (i % SPEEDS)};
        char part[48];
        snprintf(part, sizeof(part), "H %g, v %.1f", t.nozzle.opening[1], t.v);
        if (validate_part_begin(v, part)) {
            VALIDATE_TRY(measure_coil(v, &t));
            VALIDATE_TRY(sew(v, &t));
            VALIDATE_TRY(validate_part_end(v));
        }
    }
    return TREACLE_OK;
}
