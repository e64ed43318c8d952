// A free viscous disk or ball that spins goes on spinning [SUITE 1: R = 0.35 m, off the grid's
// middle].
//
//     1a  u = w x r, one flow with nu dt/h^2 = 1000: neither velocity nor angular momentum change,
//         to ten times the tolerance of the solve.
//     1c  the slowest twist of a disk, u_theta = J1(k r) with J2(k R) = 0, k R = 5.13562, decays as
//         exp(-26.3746 nu t/R^2): within 0.5 % at 45 cells a diameter, order at least 1.8. One flow
//         is one step of Euler backward: the rate is (a0/a1 - 1)/dt.
//     momentum  a ball in random motion keeps momentum and angular momentum to 1e-6, whatever its
//         viscosity, with the default tolerance.
#include <math.h>

#include "cases.h"
#include "flow_lab.h"

static const double radius = 0.35;                     // m
static const double centre[3] = {0.513, 0.479, 0.507}; // m
static const double twist = 5.1356223018406826;        // k R

static const char scene[] = "domain: {size: [%s], cell: %.17g, sides: {all: open}}\n"
                            "gravity: [0, 0, 0]\n"
                            "flow: %s\n"
                            "pressure: {tolerance: %g}\n"
                            "materials: {syrup: {density: 1, viscosity: 1}}\n";

static double from_centre(bool is_flat, const double x[3], double r[3]) {
    for (int a = 0; a < 3; ++a) {
        r[a] = is_flat && a == 2 ? 0.0 : x[a] - centre[a];
    }
    return sqrt((r[0] * r[0] + r[1] * r[1]) + r[2] * r[2]);
}

static double ball(const void* data, const double x[3], int axis) {
    const flow_lab* lab = data;
    double r[3];
    (void)axis;
    return from_centre(lab->cells[2] == 1, x, r) - radius;
}

static double spin(const void* data, const double x[3], int axis) {
    const flow_lab* lab = data;
    double r[3];
    from_centre(lab->cells[2] == 1, x, r);
    return axis == 0 ? -r[1] : axis == 1 ? r[0] : 0.0;
}

static double torsion(const void* data, const double x[3], int axis) {
    const flow_lab* lab = data;
    double r[3], distance = from_centre(lab->cells[2] == 1, x, r);
    double speed = distance > 0.0 ? j1(twist * distance / radius) / distance : 0.0;
    return axis == 0 ? -r[1] * speed : axis == 1 ? r[0] * speed : 0.0;
}

static treacle_status open_ball(validate* v, flow_lab* lab, const char* flow, int cells,
                                bool is_flat, double tolerance) {
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, is_flat ? "1, 1" : "1, 1, 1",
                                                1.0 / cells, flow, tolerance);
    const int n[3] = {cells, cells, is_flat ? 1 : cells};
    if (status == TREACLE_OK) {
        status = flow_lab_open(lab, sim, n, 1.0 / cells);
        flow_lab_surface(lab, ball, lab);
    }
    return status;
}

// Masses of the lab's liquid, from a flow that is thrown away.
static treacle_status weigh(flow_lab* lab) {
    flow_lab_stop(lab);
    return flow_lab_run(lab, 1.0, TREACLE_STAGES_FLOW);
}

static double largest_error(const flow_lab* lab) {
    double most = 0.0;
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = 0; lab->liquid.velocity[a] != NULL && i < lab->face_count; ++i) {
            double x[3];
            flow_lab_place(lab, i, a, x);
            double error = fabs((double)lab->liquid.velocity[a][i] - spin(lab, x, a));
            most = lab->liquid.share[a][i] > 0.0f ? fmax(most, error) : most;
        }
    }
    return most;
}

static treacle_status rigid(validate* v, const char* flow, int cells, bool is_flat) {
    flow_lab lab = {0};
    const double tolerance = 1e-6, dt = 1000.0 / ((double)cells * cells);
    treacle_status status = open_ball(v, &lab, flow, cells, is_flat, tolerance);
    status = status == TREACLE_OK ? weigh(&lab) : status;
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, spin, &lab);
        double before = flow_lab_measure(&lab, centre).angular[2];
        status = flow_lab_run(&lab, dt, TREACLE_STAGES_FLOW);
        double after = flow_lab_measure(&lab, centre).angular[2];
        const char* shape = is_flat ? "disk" : "ball";
        validate_absolute(v, after / before - 1.0, 0.0, 10.0 * tolerance,
                          "%s of %d cells, %s, angular momentum", shape, cells, flow);
        validate_absolute(v, largest_error(&lab) / radius, 0.0, 10.0 * tolerance,
                          "%s of %d cells, %s, largest change of u", shape, cells, flow);
    }
    flow_lab_close(&lab);
    return status;
}

// The amplitude of the mode that `torsion` is.
static double amplitude(const flow_lab* lab) {
    double sum = 0.0;
    for (int a = 0; a < 2; ++a) {
        for (int64_t i = 0; i < lab->face_count; ++i) {
            double x[3], m = (double)lab->liquid.share[a][i];
            flow_lab_place(lab, i, a, x);
            sum += m * (double)lab->liquid.velocity[a][i] * torsion(lab, x, a);
        }
    }
    return sum;
}

static treacle_status decay(validate* v, const char* flow, int cells, double* rate) {
    flow_lab lab = {0};
    double dt = 0.1 * radius * radius / (twist * twist);
    treacle_status status = open_ball(v, &lab, flow, cells, true, 1e-7);
    status = status == TREACLE_OK ? weigh(&lab) : status;
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, torsion, &lab);
        double before = amplitude(&lab);
        status = flow_lab_run(&lab, dt, TREACLE_STAGES_FLOW);
        *rate = (before / amplitude(&lab) - 1.0) / dt;
    }
    flow_lab_close(&lab);
    return status;
}

static treacle_status decays(validate* v, const char* flow) {
    enum { SIZES = 3 };
    double exact = twist * twist / (radius * radius), h[SIZES], error[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        int cells = 32 << i;
        double rate = 0.0;
        treacle_status status = decay(v, flow, cells, &rate);
        if (status != TREACLE_OK) {
            return status;
        }
        h[i] = 1.0 / cells;
        error[i] = fabs(rate / exact - 1.0);
        validate_relative(v, rate, exact, i == 0 ? 0.02 : 0.005,
                          "twist of a disk of %.0f cells, %s, rate, 1/s", 2.0 * radius * cells,
                          flow);
    }
    validate_order(v, SIZES, h, error, 1.8, 0.0, "twist of a disk, %s", flow);
    return TREACLE_OK;
}

static double random_motion(const void* data, const double x[3], int axis) {
    (void)data;
    return sin(37.0 * x[0] + 5.0 * axis) + cos(23.0 * x[1] - 31.0 * x[2]) + 0.4;
}

static treacle_status momentum(validate* v, double weight) {
    enum { CELLS = 32 };
    flow_lab lab = {0};
    treacle_status status = open_ball(v, &lab, "unified", CELLS, false, 1e-4);
    status = status == TREACLE_OK ? weigh(&lab) : status;
    if (status == TREACLE_OK) {
        flow_lab_velocity(&lab, random_motion, &lab);
        flow_lab_sums before = flow_lab_measure(&lab, centre);
        status = flow_lab_run(&lab, weight / (CELLS * CELLS), TREACLE_STAGES_FLOW);
        flow_lab_sums after = flow_lab_measure(&lab, centre);
        double linear = 0.0, angular = 0.0, speed = sqrt(2.0 * before.energy / before.mass);
        for (int a = 0; a < 3; ++a) {
            linear = fmax(linear, fabs(after.momentum[a] - before.momentum[a]));
            angular = fmax(angular, fabs(after.angular[a] - before.angular[a]));
        }
        double scale = before.mass * speed;
        validate_absolute(v, linear / scale, 0.0, 1e-6, "ball, nu dt/h^2 %g, momentum", weight);
        validate_absolute(v, angular / (scale * radius), 0.0, 1e-6,
                          "ball, nu dt/h^2 %g, angular momentum", weight);
        validate_info(v, lab.stats.flow.iterations, NAN, "ball, nu dt/h^2 %g, iterations", weight);
    }
    flow_lab_close(&lab);
    return status;
}

treacle_status case_rotation(validate* v) {
    treacle_status status = rigid(v, "unified", 64, true);
    status = status == TREACLE_OK ? rigid(v, "unified", 32, false) : status;
    status = status == TREACLE_OK ? decays(v, "unified") : status;
    for (double weight = 0.01; weight < 2e6 && status == TREACLE_OK; weight *= 100.0) {
        status = momentum(v, weight);
    }
    return status;
}
