// What the comparators do, in numbers: they fail as [BB08 sec. 7] shows.
//
// rotation-comparators [SUITE 1b]: a disk or ball that spins, R = 0.35 m, off the grid's middle,
// with the viscosity step alone. With the Neumann surface (each component by itself, grad u n = 0)
// its angular momentum falls like heat:
//
//     L(t)/L0 = sum w_m exp(-l_m^2 nu t/R^2),  J1'(l) = 0 (disk), j1'(l) = 0 (ball)
//
// to 3 %, which shows that the test discriminates. Then all surfaces at nu dt/h^2 = 1000: Neumann
// stops the disk at once, the lagged Dirichlet surface within a few steps, the natural one lets it
// turn, but for what it loses because faces that only touch the liquid begin each step with an
// extrapolated velocity (the unified flow does not).
//
// substeps [SUITE 15]: the largest nu dt/h^2 at which random motion of the disk does not grow in
// 200 steps, by bisection, within 10 % of 1/8 for explicit full stress; and 28 sub-steps for one
// implicit step of nu dt/h^2 = 3.5.
#include <math.h>
#include <string.h>

#include "cases.h"
#include "flow_lab.h"

static const double radius = 0.35;                     // m
static const double centre[3] = {0.513, 0.479, 0.507}; // m

static const char scene[] = "domain: {size: [%s], cell: %.17g, sides: {all: open}}\n"
                            "gravity: [0, 0, 0]\n"
                            "flow: split\n"
                            "pressure: {tolerance: %s, max_iterations: 1000}\n"
                            "viscosity_solve: {method: %s, surface: %s, substeps: %d}\n"
                            "materials: {syrup: {density: 1, viscosity: 1}}\n";

typedef struct setup {
    int cells;
    bool is_flat;
    const char *method, *surface;
    int substeps;
} setup;

static double arm(const flow_lab* lab, const double x[3], double r[3]) {
    for (int a = 0; a < 3; ++a) {
        r[a] = lab->cells[2] == 1 && a == 2 ? 0.0 : x[a] - centre[a];
    }
    return sqrt((r[0] * r[0] + r[1] * r[1]) + r[2] * r[2]);
}

static double ball(const void* data, const double x[3], int axis) {
    double r[3];
    (void)axis;
    return arm(data, x, r) - radius;
}

static double spin(const void* data, const double x[3], int axis) {
    double r[3];
    arm(data, x, r);
    return axis == 0 ? -r[1] : axis == 1 ? r[0] : 0.0;
}

static double random_motion(const void* data, const double x[3], int axis) {
    (void)data;
    double s = sin(12.9898 * x[0] * 91.0 + 78.233 * x[1] * 57.0 + 3.0 * axis) * 43758.5453;
    return 2.0 * (s - floor(s)) - 1.0;
}

static treacle_status open_lab(validate* v, flow_lab* lab, const setup* s) {
    treacle_sim* sim = NULL;
    treacle_status status =
        validate_sim_create(v, &sim, scene, s->is_flat ? "1, 1" : "1, 1, 1", 1.0 / s->cells,
                            s->substeps == 1 ? "1e-4" : "1e-7", s->method, s->surface, s->substeps);
    const int n[3] = {s->cells, s->cells, s->is_flat ? 1 : s->cells};
    if (status == TREACLE_OK) {
        status = flow_lab_open(lab, sim, n, 1.0 / s->cells);
        flow_lab_surface(lab, ball, lab);
    }
    return status;
}

// About the z axis, with the share of a face that the ball covers, as a plane would.
static double angular(const flow_lab* lab) {
    double sum = 0.0;
    for (int a = 0; a < 2; ++a) {
        for (int64_t i = 0; i < lab->face_count; ++i) {
            double x[3], r[3];
            flow_lab_place(lab, i, a, x);
            double share = fmin(fmax(0.5 - (arm(lab, x, r) - radius) / lab->cell, 0.0), 1.0);
            double u = (double)lab->liquid.velocity[a][i];
            sum += share * (a == 0 ? -r[1] : r[0]) * u;
        }
    }
    return sum;
}

// --- rotation -----------------------------------------------------------------------------------

enum { TIMES = 6 };
static const double times[TIMES] = {0.01, 0.05, 0.1, 0.2, 0.5, 1.0};
static const double disk_left[TIMES] = {0.96311, 0.83599, 0.70413, 0.50129, 0.18129, 0.03329};
static const double ball_left[TIMES] = {0.95401, 0.79804, 0.64165, 0.41587, 0.11335, 0.01299};

static treacle_status neumann(validate* v, const setup* s, int count, const double* left) {
    flow_lab lab = {0};
    treacle_status status = open_lab(v, &lab, s);
    double unit = radius * radius, step = 0.005, now = 0.0, first = 0.0;
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, spin, &lab);
        first = angular(&lab);
    }
    for (int k = 0; k < count && status == TREACLE_OK; ++k) {
        while (now < times[k] - 1e-9 && status == TREACLE_OK) {
            double dt = now < 0.19 ? 0.5 * step : step;
            status = flow_lab_run(&lab, dt * unit, TREACLE_STAGES_VISCOSITY);
            now += dt;
        }
        validate_relative(v, angular(&lab) / first, left[k], 0.03,
                          "%s, Neumann, angular momentum left at nu t/R^2 = %g",
                          s->is_flat ? "disk" : "ball", times[k]);
    }
    flow_lab_close(&lab);
    return status;
}

static treacle_status stop(validate* v, const char* method, const char* surface, int steps) {
    flow_lab lab = {0};
    setup s = {48, true, method, surface, 0};
    treacle_status status = open_lab(v, &lab, &s);
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, spin, &lab);
        double first = angular(&lab);
        for (int k = 0; k < steps && status == TREACLE_OK; ++k) {
            status = flow_lab_run(&lab, 1000.0 / (48.0 * 48.0), TREACLE_STAGES_VISCOSITY);
        }
        double left = angular(&lab) / first;
        if (steps == 1 && strcmp(surface, "neumann") == 0) {
            validate_at_most(v, left, 0.3, 0.0, "disk, %s, left after 1 thick step", surface);
        } else if (strcmp(surface, "natural") == 0) {
            validate_at_least(v, left, 0.98, 0.0, "disk, natural, left after %d thick steps",
                              steps);
        } else {
            validate_info(v, left, NAN, "disk, %s, left after %d thick steps", surface, steps);
        }
    }
    flow_lab_close(&lab);
    return status;
}

treacle_status case_rotation_comparators(validate* v) {
    const setup disk = {48, true, "decoupled", "neumann", 0};
    const setup sphere = {24, false, "decoupled", "neumann", 0};
    treacle_status status = neumann(v, &disk, TIMES, disk_left);
    status = status == TREACLE_OK ? neumann(v, &sphere, 3, ball_left) : status;
    for (int steps = 1; steps <= 25 && status == TREACLE_OK; steps *= 5) {
        status = stop(v, "implicit", "natural", steps);
        status = status == TREACLE_OK ? stop(v, "decoupled", "neumann", steps) : status;
        status = status == TREACLE_OK ? stop(v, "implicit", "dirichlet", steps) : status;
    }
    return status;
}

// --- sub-steps ----------------------------------------------------------------------------------

static double fastest(const flow_lab* lab) {
    double most = 0.0;
    for (int a = 0; a < 2; ++a) {
        for (int64_t i = 0; i < lab->face_count; ++i) {
            double x[3], r[3];
            flow_lab_place(lab, i, a, x);
            bool is_inside = arm(lab, x, r) < radius + lab->cell;
            double u = fabs((double)lab->liquid.velocity[a][i]);
            most = is_inside && !(u <= most) ? u : most;
        }
    }
    return most;
}

// Whether 200 steps of c = nu dt/h^2 make random motion larger.
static treacle_status grows(flow_lab* lab, double c, bool* out) {
    flow_lab_velocity(lab, random_motion, lab);
    double first = fastest(lab);
    treacle_status status = TREACLE_OK;
    *out = false;
    for (int k = 0; k < 200 && status == TREACLE_OK && !*out; ++k) {
        status = flow_lab_run(lab, c * lab->cell * lab->cell, TREACLE_STAGES_VISCOSITY);
        *out = status == TREACLE_ERR_DIVERGED || !(fastest(lab) < 10.0 * first);
        status = status == TREACLE_ERR_DIVERGED ? TREACLE_OK : status;
    }
    *out = *out || !(fastest(lab) <= first);
    return status;
}

// The largest stable c between low and high, to 1 %; high if that is stable.
static treacle_status threshold(validate* v, const setup* s, const double range[2], double* out) {
    flow_lab lab = {0};
    double low = range[0], high = range[1];
    bool is_growing = false;
    treacle_status status = open_lab(v, &lab, s);
    status = status == TREACLE_OK ? grows(&lab, high, &is_growing) : status;
    while (status == TREACLE_OK && is_growing && high / low > 1.01) {
        double middle = sqrt(low * high);
        bool is_worse = false;
        status = grows(&lab, middle, &is_worse);
        low = is_worse ? low : middle;
        high = is_worse ? middle : high;
    }
    *out = is_growing ? low : high;
    flow_lab_close(&lab);
    return status;
}

static treacle_status count_substeps(validate* v, const setup* s, double* out) {
    flow_lab lab = {0};
    treacle_status status = open_lab(v, &lab, s);
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, random_motion, &lab);
        status = flow_lab_run(&lab, 3.5 * lab.cell * lab.cell, TREACLE_STAGES_VISCOSITY);
        *out = lab.stats.viscosity_substeps;
    }
    flow_lab_close(&lab);
    return status;
}

treacle_status case_substeps(validate* v) {
    const setup nichols_hirt = {64, true, "explicit", "nichols-hirt", 1};
    const setup natural = {32, true, "explicit", "natural", 1};
    const setup imex = {32, true, "imex", "natural", 1};
    const setup imex_hirt = {32, true, "imex", "nichols-hirt", 1};
    const setup lagged = {32, true, "decoupled", "nichols-hirt", 1};
    const setup automatic = {64, true, "explicit", "nichols-hirt", 0};
    double c = 0.0;
    treacle_status status = threshold(v, &nichols_hirt, (double[2]){0.1, 0.16}, &c);
    validate_relative(v, c, 0.125, 0.1, "explicit, Nichols-Hirt: largest stable nu dt/h^2");
    status = status == TREACLE_OK ? count_substeps(v, &automatic, &c) : status;
    validate_absolute(v, c, 28.0, 0.5, "explicit, sub-steps of one step with nu dt/h^2 = 3.5");
    status = status == TREACLE_OK ? threshold(v, &natural, (double[2]){0.02, 0.125}, &c) : status;
    validate_info(v, c, 0.02, "explicit, by volume: largest stable nu dt/h^2");
    status = status == TREACLE_OK ? threshold(v, &imex, (double[2]){0.05, 100.0}, &c) : status;
    validate_at_least(v, c, 100.0, 0.0, "IMEX, by volume: stable up to nu dt/h^2");
    status = status == TREACLE_OK ? threshold(v, &imex_hirt, (double[2]){0.05, 100.0}, &c) : status;
    validate_info(v, c, NAN, "IMEX, Nichols-Hirt: stable up to nu dt/h^2");
    status = status == TREACLE_OK ? threshold(v, &lagged, (double[2]){0.01, 1.0}, &c) : status;
    validate_info(v, c, 0.25, "decoupled, lagged Nichols-Hirt: largest stable nu dt/h^2");
    return status;
}
