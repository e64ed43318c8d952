// Pools, by single flows on a given surface: no particles, no noise.
//
//     relaxation  A wave on a pool of depth H = 1, k H = pi, no-slip floor, sinks back so slowly
//                 that inertia hardly counts [SUITE S1]: rate s = g F/(2 nu k), F(pi) = 0.906324;
//                 with inertia 1.0102 s at nu = 1, 1.0012 s at nu = 10. It tells whether pressure
//                 and viscosity are coupled. Unified within 2 %, split within 5 %; viscosity before
//                 pressure, the order of many programs, is several times too fast, and shown so.
//     wave        Acceleration of a small gravity wave of 32 cells, k H = pi, from rest, without
//                 viscosity [SUITE T2]: omega^2 = g k tanh(k H) within 1.5 % wherever the surface
//                 lies between the cells, and within 0.5 % of each other.
//     rest        A pool whose surface is tilted and whose gravity is normal to it [SUITE T3]: at
//                 rest it stays; at most 0.03 g dt at faces with a tenth of liquid or more.
#include <math.h>

#include "cases.h"
#include "flow_lab.h"

static const double pi = 3.14159265358979323846;

static const char scene[] =
    "domain: {size: [%d, %d], cell: 1, sides: {all: slip, bottom: %s, top: open}}\n"
    "gravity: [0, 0, 0]\n"
    "flow: %s\n"
    "pressure: {tolerance: %g}\n"
    "materials: {liquid: {density: 1, viscosity: %.17g}}\n";

typedef struct pool {
    int width, height; // cells
    double level;      // cells, of the surface at rest
    double amplitude;  // cells
    double normal[2];  // of the surface
    const char *flow, *floor;
    double nu; // cells^2 / s
} pool;

// Half a wave between two slip sides.
static double wave_number(const pool* p) {
    return pi / p->width;
}

static double wavy(const void* data, const double x[3], int axis) {
    const pool* p = data;
    (void)axis;
    return x[1] - p->level - p->amplitude * cos(wave_number(p) * x[0]);
}

static double plane(const void* data, const double x[3], int axis) {
    const pool* p = data;
    (void)axis;
    return p->normal[0] * (x[0] - 0.5 * p->width) + p->normal[1] * (x[1] - p->level);
}

static treacle_status open_pool(validate* v, const pool* p, double tolerance, flow_lab* lab) {
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, p->width, p->height, p->floor,
                                                p->flow, tolerance, p->nu);
    return status == TREACLE_OK
               ? flow_lab_open(lab, sim, (const int[3]){p->width, p->height, 1}, 1.0)
               : status;
}

// What flows through the plane x = i, cells^2/s.
static double flow_through(const pool* p, const flow_lab* lab, int i) {
    double sum = 0.0;
    for (int j = 0; j < p->height; ++j) {
        int64_t face = flow_lab_face(lab, i, j, 0);
        sum += (double)lab->liquid.share[0][face] * (double)lab->liquid.velocity[0][face];
    }
    return sum;
}

// How fast the surface rises over column i: from the two highest faces of liquid, or, with the
// unified flow, which knows shares of liquid, from what flows into the column.
static double column_speed(const pool* p, const flow_lab* lab, int i) {
    if (lab->stats.flow.iterations > 0) {
        return flow_through(p, lab, i) - flow_through(p, lab, i + 1);
    }
    double height = p->level + p->amplitude * cos(wave_number(p) * (i + 0.5));
    int top = 0;
    while (top < p->height && lab->distance[flow_lab_cell(lab, i, top, 0)] < 0.0f) {
        top += 1;
    }
    const float* v = lab->liquid.velocity[1];
    double high = (double)v[flow_lab_face(lab, i, top, 0)];
    double low = (double)v[flow_lab_face(lab, i, top - 1, 0)];
    return high + (height - top) * (high - low);
}

// The part of it that has the wave's shape.
static double surface_speed(const pool* p, const flow_lab* lab) {
    double sum = 0.0;
    for (int i = 0; i < p->width; ++i) {
        double shape = cos(wave_number(p) * (i + 0.5));
        sum += 2.0 / p->width * shape * column_speed(p, lab, i);
    }
    return sum;
}

typedef enum flow_order { WHOLE, VISCOSITY_FIRST } flow_order;

// Steps of the given length; *rate is that of the last one.
static treacle_status sink(flow_lab* lab, pool* p, double dt, flow_order order, double* rate) {
    enum { STEPS = 8 };
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        flow_lab_surface(lab, wavy, p);
        flow_lab_push(lab, (const double[3]){0.0, -dt, 0.0});
        if (order == VISCOSITY_FIRST) {
            status = flow_lab_run(lab, dt, TREACLE_STAGES_VISCOSITY);
        }
        if (status == TREACLE_OK) {
            status = flow_lab_run(lab, dt,
                                  order == WHOLE ? TREACLE_STAGES_FLOW : TREACLE_STAGES_PRESSURE);
        }
        double change = surface_speed(p, lab);
        *rate = -change / p->amplitude;
        p->amplitude += dt * change;
    }
    return status;
}

static treacle_status relax(validate* v, const char* flow, flow_order order, double nu,
                            double* share) {
    enum { DEPTH = 32 };
    // In cells and with g = 1: viscosity and time of the pool of depth 1 scaled.
    double unit = sqrt((double)DEPTH), scaled = nu * DEPTH * unit;
    pool p = {.width = DEPTH,
              .height = 3 * DEPTH / 2,
              .level = DEPTH,
              .amplitude = 0.02 * DEPTH,
              .flow = flow,
              .floor = "no-slip",
              .nu = scaled};
    double slow = 0.906324 / (2.0 * scaled * wave_number(&p)), rate = NAN;
    flow_lab lab = {0};
    treacle_status status = open_pool(v, &p, 1e-6, &lab);
    if (status == TREACLE_OK) {
        status = sink(&lab, &p, 0.02 / slow, order, &rate);
    }
    flow_lab_close(&lab);
    *share = rate / slow;
    return status;
}

treacle_status case_relaxation(validate* v) {
    static const double nu[] = {1.0, 10.0, 100.0}, inertia[] = {1.0102, 1.0012, 1.0001};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 3 && status == TREACLE_OK; ++i) {
        double unified = NAN, split = NAN, wrong = NAN;
        status = relax(v, "unified", WHOLE, nu[i], &unified);
        status = status == TREACLE_OK ? relax(v, "split", WHOLE, nu[i], &split) : status;
        status = status == TREACLE_OK ? relax(v, "split", VISCOSITY_FIRST, nu[i], &wrong) : status;
        validate_relative(v, unified, inertia[i], 0.02, "rate, nu %g, unified", nu[i]);
        validate_relative(v, split, inertia[i], 0.05, "rate, nu %g, split", nu[i]);
        validate_at_least(v, wrong, 2.0, 0.0, "rate, nu %g, viscosity first: fails", nu[i]);
    }
    return status;
}

static treacle_status swing(validate* v, const char* flow, double offset, double* share) {
    enum { WIDTH = 16 };
    pool p = {.width = WIDTH,
              .height = 24,
              .level = WIDTH + offset,
              .amplitude = 0.2,
              .flow = flow,
              .floor = "slip",
              .nu = 1e-9};
    double k = wave_number(&p), exact = k * tanh(k * p.level), dt = 1e-3, speed = NAN;
    flow_lab lab = {0};
    treacle_status status = open_pool(v, &p, 1e-9, &lab);
    if (status == TREACLE_OK) {
        flow_lab_surface(&lab, wavy, &p);
        flow_lab_push(&lab, (const double[3]){0.0, -dt, 0.0});
        status = flow_lab_run(&lab, dt, TREACLE_STAGES_FLOW);
        speed = surface_speed(&p, &lab);
    }
    flow_lab_close(&lab);
    *share = -speed / (dt * p.amplitude * exact);
    return status;
}

treacle_status case_wave(validate* v) {
    static const double offsets[] = {0.0, 0.2, 0.5, 0.8};
    treacle_status status = TREACLE_OK;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        double unified = NAN, ghost = NAN;
        status = swing(v, "unified", offsets[i], &unified);
        status = status == TREACLE_OK ? swing(v, "pressure", offsets[i], &ghost) : status;
        validate_relative(v, unified, 1.0, 0.015, "omega^2 over theory, offset %g", offsets[i]);
        validate_info(v, ghost, 1.0, "the same by pressure alone, offset %g", offsets[i]);
        least = fmin(least, unified);
        most = fmax(most, unified);
    }
    validate_absolute(v, most - least, 0.0, 0.005, "spread over offsets");
    return status;
}

static double fastest(const flow_lab* lab) {
    double most = 0.0;
    for (int a = 0; a < 2; ++a) {
        for (int64_t i = 0; i < lab->face_count; ++i) {
            bool is_wet = lab->liquid.share[a][i] > 0.1f;
            double speed = fabs((double)lab->liquid.velocity[a][i]);
            most = is_wet && speed > most ? speed : most;
        }
    }
    return most;
}

treacle_status case_rest(validate* v) {
    static const double degrees[] = {5.0, 15.0, 30.0};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 6 && status == TREACLE_OK; ++i) {
        double angle = degrees[i % 3] * pi / 180.0, nu = i < 3 ? 1e-9 : 1.0, dt = 1.0;
        pool p = {.width = 32,
                  .height = 32,
                  .level = 16.3,
                  .normal = {sin(angle), cos(angle)},
                  .flow = "unified",
                  .floor = "slip",
                  .nu = nu};
        flow_lab lab = {0};
        status = open_pool(v, &p, 1e-7, &lab);
        if (status == TREACLE_OK) {
            flow_lab_surface(&lab, plane, &p);
            flow_lab_push(&lab, (const double[3]){-dt * p.normal[0], -dt * p.normal[1], 0.0});
            status = flow_lab_run(&lab, dt, TREACLE_STAGES_FLOW);
            validate_absolute(v, fastest(&lab) / dt, 0.0, 0.03,
                              "surface tilted by %g degrees, nu dt/h^2 %g, u/(g dt)",
                              degrees[i % 3], nu);
        }
        flow_lab_close(&lab);
    }
    return status;
}
