// Strips and threads that hang from a clamp stretch with Trouton's viscosity [SUITE T1].
//
//     du/ds = g (L/2) / (T nu) half way down,   T = 4 for a strip (plane strain), 3 for a thread
//     tip of a beam: (3/8 g L^4/W^2 + 3/5 g L^2) / nu (plane strain, bending and shear)
//
// Thickness W, length L = 4 W, at any angle to the grid with gravity along it (across it for the
// beam), quasi-steady. Pools cannot see this coupling of pressure and normal stress: a split flow
// has T = 2 from nu dt/h^2 of 10 on, and is shown beside.
//
// The steady flow does not depend on the time step: it is found by one very long flow, and a few
// flows of nu dt/h^2 = r that go on from there must leave it alone. How far they would move it in
// the end follows from the last one's change and the slowest rate, 4 nu (pi/2L)^2: that is added.
//
// Tolerances: T within 1 % at 8 cells, 2 % at 4, 5 % at 2; beam 5 % at 8, 10 % at 4.
#include <math.h>

#include "cases.h"
#include "flow_lab.h"

static const double pi = 3.14159265358979323846;

typedef struct thread {
    const char* flow;
    bool is_round;    // in 3D, about an axis in the plane z = middle
    double width;     // cells
    double length;    // cells
    double degrees;   // from straight down
    bool is_beam;     // gravity across
    double down[2];   // along the thread
    double across[2]; // to its side
    double root[3];   // where it leaves the clamp
    int cells[3];
} thread;

static const char scene[] =
    "domain: {size: [%d, %d, %d], cell: 1, sides: {all: open}}\n"
    "gravity: [0, 0, 0]\n"
    "flow: %s\n"
    "pressure: {tolerance: 1e-7, max_iterations: 300}\n"
    "materials: {syrup: {density: 1, viscosity: 1}}\n"
    "solids:\n"
    "  clamp: {shape: {plane: {}, rotate: [0, 0, %.17g deg], move: [%.17g, %.17g, 0]},\n"
    "          wall: no-slip}\n";

static double body(const void* data, const double x[3], int axis) {
    const thread* t = data;
    const double r[3] = {x[0] - t->root[0], x[1] - t->root[1], x[2] - t->root[2]};
    double along = r[0] * t->down[0] + r[1] * t->down[1];
    double side = r[0] * t->across[0] + r[1] * t->across[1];
    double away = t->is_round ? sqrt(side * side + r[2] * r[2]) : fabs(side);
    (void)axis;
    return fmax(away - 0.5 * t->width, along - t->length);
}

// The thread in the middle of a box, with room for the surface around it.
static void place(thread* t) {
    double angle = t->degrees * pi / 180.0;
    t->down[0] = sin(angle);
    t->down[1] = -cos(angle);
    t->across[0] = cos(angle);
    t->across[1] = sin(angle);
    for (int a = 0; a < 2; ++a) {
        double reach = fabs(t->down[a]) * (t->length + 4.0) + fabs(t->across[a]) * t->width;
        t->cells[a] = (int)ceil(reach / 8.0 + 1.0) * 8;
        t->root[a] = 0.5 * t->cells[a] + 0.137 - 0.5 * (t->length - 2.0) * t->down[a];
    }
    t->cells[2] = t->is_round ? (int)ceil(t->width / 8.0 + 1.0) * 8 : 1;
    t->root[2] = 0.5 * t->cells[2] + (t->is_round ? 0.211 : 0.0);
}

static treacle_status open_thread(validate* v, thread* t, flow_lab* lab) {
    treacle_sim* sim = NULL;
    place(t);
    treacle_status status =
        validate_sim_create(v, &sim, scene, t->cells[0], t->cells[1], t->is_round ? t->cells[2] : 0,
                            t->flow, 180.0 + t->degrees, t->root[0], t->root[1]);
    if (status == TREACLE_OK) {
        status = flow_lab_open(lab, sim, t->cells, 1.0);
        flow_lab_surface(lab, body, t);
    }
    return status;
}

static double speed_at(const thread* t, const flow_lab* lab, double s, const double along[2]) {
    const double x[3] = {t->root[0] + s * t->down[0], t->root[1] + s * t->down[1], t->root[2]};
    return along[0] * flow_lab_sample(lab, 0, x) + along[1] * flow_lab_sample(lab, 1, x);
}

// What is measured: the slope half way down, or the speed of the tip.
static double measure(const thread* t, const flow_lab* lab) {
    double half = 0.5 * t->length, step = 0.5 * t->width;
    if (t->is_beam) {
        double last = speed_at(t, lab, t->length - 1.0, t->across);
        return last + (last - speed_at(t, lab, t->length - 2.0, t->across));
    }
    return (speed_at(t, lab, half + step, t->down) - speed_at(t, lab, half - step, t->down)) /
           (2.0 * step);
}

static treacle_status flow_on(const thread* t, flow_lab* lab, double dt) {
    const double* pull = t->is_beam ? t->across : t->down;
    flow_lab_push(lab, (const double[3]){dt * pull[0], dt * pull[1], 0.0});
    return flow_lab_run(lab, dt, TREACLE_STAGES_FLOW);
}

// The steady value; then where flows of `weight` would take it. A weight of 0: none.
static treacle_status settle(flow_lab* lab, const thread* t, double weight, double* value) {
    enum { LONG = 4, SHORT = 3 };
    double before = NAN;
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < LONG && status == TREACLE_OK; ++i) {
        status = flow_on(t, lab, 1e4 * t->length * t->length);
        *value = measure(t, lab);
    }
    for (int i = 0; i < SHORT && weight > 0.0 && status == TREACLE_OK; ++i) {
        before = measure(t, lab);
        status = flow_on(t, lab, weight);
    }
    if (weight > 0.0) {
        double rate = 4.0 * pow(0.5 * pi / t->length, 2.0) * weight;
        *value = before + (measure(t, lab) - before) * (1.0 + rate) / rate;
    }
    return status;
}

static treacle_status hang(validate* v, thread t, double weight, double* trouton) {
    flow_lab lab = {0};
    double slope = NAN;
    t.length = 4.0 * t.width;
    treacle_status status = open_thread(v, &t, &lab);
    if (status == TREACLE_OK) {
        status = settle(&lab, &t, weight, &slope);
    }
    flow_lab_close(&lab);
    *trouton = 0.5 * t.length / slope;
    return status;
}

static treacle_status hang_all(validate* v) {
    static const struct {
        double width, degrees, weight, tolerance;
    } rows[] = {
        {8, 0, 0, 0.01},    {8, 30, 0, 0.01},   {8, 45, 0, 0.01}, {8, 60, 0, 0.01},
        {4, 0, 0, 0.02},    {4, 60, 0, 0.02},   {4, 75, 0, 0.02}, {2, 0, 0, 0.05},
        {2, 60, 0, 0.05},   {8, 30, 0.1, 0.01}, {8, 30, 1, 0.01}, {8, 30, 100, 0.01},
        {4, 60, 0.1, 0.02},
    };
    treacle_status status = TREACLE_OK;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == TREACLE_OK; ++i) {
        thread t = {.flow = "unified", .width = rows[i].width, .degrees = rows[i].degrees};
        double trouton = NAN;
        status = hang(v, t, rows[i].weight, &trouton);
        validate_relative(v, trouton, 4.0, rows[i].tolerance,
                          "strip of %g cells, %g degrees, nu dt/h^2 %g", t.width, t.degrees,
                          rows[i].weight > 0.0 ? rows[i].weight : INFINITY);
    }
    double split = NAN;
    thread t = {.flow = "split", .width = 8.0, .degrees = 30.0};
    status = status == TREACLE_OK ? hang(v, t, 0.0, &split) : status;
    validate_info(v, split, 4.0, "strip of 8 cells, 30 degrees, split");
    return status;
}

static treacle_status bend(validate* v, double width, double degrees, double tolerance) {
    flow_lab lab = {0};
    thread t = {.flow = "unified",
                .width = width,
                .length = 8.0 * width,
                .degrees = degrees,
                .is_beam = true};
    double speed = NAN, l = t.length;
    double exact = 0.375 * l * l * l * l / (width * width) + 0.6 * l * l;
    treacle_status status = open_thread(v, &t, &lab);
    if (status == TREACLE_OK) {
        status = settle(&lab, &t, 0.0, &speed);
    }
    flow_lab_close(&lab);
    validate_relative(v, speed, exact, tolerance, "tip of a beam of %g cells, %g degrees", width,
                      degrees);
    return status;
}

treacle_status case_thread(validate* v) {
    treacle_status status = hang_all(v);
    status = status == TREACLE_OK ? bend(v, 8.0, 0.0, 0.05) : status;
    status = status == TREACLE_OK ? bend(v, 8.0, 45.0, 0.05) : status;
    status = status == TREACLE_OK ? bend(v, 4.0, 60.0, 0.10) : status;
    return status;
}

treacle_status case_thread_round(validate* v) {
    static const double widths[] = {8.0, 4.0, 2.0}, tolerances[] = {0.01, 0.02, 0.05};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 6 && status == TREACLE_OK; ++i) {
        thread t = {.flow = "unified",
                    .is_round = true,
                    .width = widths[i % 3],
                    .degrees = i < 3 ? 0.0 : 20.0};
        double trouton = NAN;
        status = hang(v, t, 0.0, &trouton);
        validate_relative(v, trouton, 3.0, tolerances[i % 3], "thread of %g cells, %g degrees",
                          t.width, t.degrees);
    }
    return status;
}
