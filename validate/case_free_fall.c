// A blob of liquid in free fall stays as it is [SUITE 2: R = 0.1 m, g = 9.81 m/s^2, no walls near,
// nu = 0, 0.01, 1 and 100 m^2/s].
//
//     v = -g t,     y = y_0 - g t^2 / 2,     no strain
//
// Air that took hold of the liquid (faces of air at rest, say) would show as drag, and a solve
// whose target is relative would never end on a right-hand side of rounding.
//
// The density correction evens out the particles that the blob begins with, and that may shift its
// centre a little: then the place is compared in cells, without it as a share of the way.
//
// Then flights in steps as long as they come: thrown blobs that spin, under gravity and forces that
// change with time; particles too fine for the grid, which stray; bodies. Each has to be where
//
//     x = x_0 + v t + the integral of (t - s) F(s) ds
//
// says, within 1e-5 of the way. What spins by 12 rad/s loses some of its momentum at its surface,
// in the transfers: 5e-3 there, where a field that stood still would carry it 5e-2 to the side.
//
// Tolerances of the suite: 1e-6 for |v / (g t) - 1| and for the largest strain rate times the
// cell width over the speed.
#include <math.h>
#include <string.h>

#include "cases.h"
#include "measure.h"

static const double gravity = 9.81;
static const double dt = 0.005, flight = 0.3; // s
static const double cell = 0.0125;            // m

static const char scene[] = "domain: {size: [%s], cell: 12.5 mm, sides: {all: slip}}\n"
                            "gravity: [0, -9.81, 0]\n"
                            "transfer: %s\n"
                            "density_correction: %s\n"
                            "materials: {syrup: {density: 1000, viscosity: %g}}\n"
                            "step: {max_dt: 5 ms}\n"
                            "liquids:\n"
                            "  - shape: {sphere: {radius: 10 cm, centre: [0.203, 0.811, %s]}}\n";

typedef struct fall_def {
    const char* name;
    bool is_flat;
    const char *transfer, *density_correction;
    double viscosity; // Pa s
} fall_def;

static const fall_def falls[] = {
    {"2D pic", true, "pic", "true", 0.0},           {"2D flip", true, "flip", "true", 0.0},
    {"2D apic", true, "apic", "true", 0.0},         {"3D pic", false, "pic", "true", 0.0},
    {"3D flip", false, "flip", "true", 0.0},        {"3D apic", false, "apic", "true", 0.0},
    {"3D apic alone", false, "apic", "false", 0.0}, {"2D nu 0.01", true, "apic", "true", 10.0},
    {"2D nu 1", true, "apic", "true", 1e3},         {"2D nu 100", true, "apic", "true", 1e5},
    {"3D nu 1", false, "apic", "true", 1e3},
};

// The largest errors of a fall.
typedef struct fall {
    double speed, strain;
    double shift, way; // of the centre: cells, share of the way
    int iterations;    // the most that a pressure solve took
} fall;

static treacle_status compare(validate* v, treacle_sim* sim, double from, fall* out) {
    measure_sums now;
    double shear = 0.0, t = treacle_sim_time(sim);
    treacle_status status = measure_particles(sim, MEASURE_ALL, &now);
    if (status == TREACLE_OK) {
        status = measure_shear(v, sim, &shear);
    }
    double way = 0.5 * gravity * t * t;
    double across = fmax(fabs(now.velocity[0]), fabs(now.velocity[2])) / (gravity * t);
    out->speed = fmax(out->speed, fmax(across, fabs(now.velocity[1] / (-gravity * t) - 1.0)));
    out->shift = fmax(out->shift, fabs(from - now.centre[1] - way) / cell);
    out->way = fmax(out->way, fabs((from - now.centre[1]) / way - 1.0));
    out->strain = fmax(out->strain, shear / (gravity * t));
    return status;
}

static treacle_status drop(validate* v, const fall_def* def, fall* out) {
    treacle_sim* sim = NULL;
    measure_sums begin = {0};
    *out = (fall){0};
    treacle_status status = validate_sim_create(
        v, &sim, scene, def->is_flat ? "0.4 m, 1 m" : "0.4 m, 1 m, 0.4 m", def->transfer,
        def->density_correction, def->viscosity, def->is_flat ? "0" : "0.197");
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &begin);
    }
    for (int i = 1; status == TREACLE_OK && treacle_sim_time(sim) < flight - 0.5 * dt; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, dt, &stats);
        int iterations = stats.pressure.iterations;
        out->iterations = iterations > out->iterations ? iterations : out->iterations;
        if (status == TREACLE_OK && i % 10 == 0) {
            status = compare(v, sim, begin.centre[1], out);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

// --- flights -------------------------------------------------------------------------------------

static const char flight_scene[] =
    "domain: {size: [%s], cell: 1 cm, sides: {all: slip}}\n"
    "gravity: {keys: {0 s: [0, -4, 0], 0.13 s: [0, -9.81, 0], 0.2 s: [1, -9.81, 0]}}\n"
    "density_correction: false\n"
    "materials: {syrup: {density: 1000, viscosity: %g}}\n"
    "step: {max_dt: %.17g}\n"
    "forces:\n"
    "  - {acceleration: [\"3 * sin(20 * t)\", 0, 0], start: 0.05, stop: 0.21}\n"
    "%s";

typedef struct flight_def {
    const char *name, *size, *things;
    double viscosity; // Pa s
    bool is_body;
    double velocity[2]; // m/s, at the start
} flight_def;

static const flight_def flights[] = {
    {"thrown",
     "1 m, 1 m",
     "liquids:\n  - {shape: {sphere: {radius: 8 cm, centre: [0.3, 0.5]}}, velocity: [1, 1, 0]}\n",
     0.0,
     false,
     {1.0, 1.0}},
    {"thrown and spun",
     "1 m, 1 m",
     "liquids:\n  - {shape: {sphere: {radius: 8 cm, centre: [0.3, 0.5]}}, velocity: [1, 1, 0],\n"
     "     spin: [0, 0, 12], spin_centre: [0.3, 0.5, 0]}\n",
     0.0,
     false,
     {1.0, 1.0}},
    {"thick, thrown and spun",
     "1 m, 1 m",
     "liquids:\n  - {shape: {sphere: {radius: 8 cm, centre: [0.3, 0.5]}}, velocity: [1, 1, 0],\n"
     "     spin: [0, 0, 12], spin_centre: [0.3, 0.5, 0]}\n",
     100.0,
     false,
     {1.0, 1.0}},
    {"body",
     "1 m, 1 m",
     "bodies:\n  ball: {shape: {sphere: {radius: 8 cm, centre: [0.3, 0.5]}}, density: 2000,\n"
     "    velocity: [1, 1, 0], spin: [0, 0, 5]}\n",
     0.0,
     true,
     {1.0, 1.0}},
    {"stray",
     "1 m, 1 m",
     "liquids:\n  - {shape: {sphere: {radius: 3 mm, centre: [0.304, 0.504]}}, velocity: [1, 1, "
     "0]}\n",
     0.0,
     false,
     {1.0, 1.0}},
};

// The integral of (t - s) sin(20 s) from a to b, a <= b <= t.
static double sine_way(double a, double b, double t) {
    double w = 20.0;
    return (-(t - b) * cos(w * b) + (t - a) * cos(w * a)) / w - (sin(w * b) - sin(w * a)) / (w * w);
}

// The integral of (t - s) g(s), g linear from g0 at a to g1 at b <= t.
static double line_way(double a, double b, double g0, double g1, double t) {
    double length = b - a;
    return length * ((t - b) * 0.5 * (g0 + g1) + length * (2.0 * g0 + g1) / 6.0);
}

// Where a flight ends, at t > 0.21 s.
static void end_of(const flight_def* def, double t, double way[2]) {
    way[0] = def->velocity[0] * t + line_way(0.13, 0.2, 0.0, 1.0, t) + 0.5 * (t - 0.2) * (t - 0.2);
    way[0] += def->is_body ? 0.0 : 3.0 * sine_way(0.05, 0.21, t); // forces act on liquid alone
    way[1] = def->velocity[1] * t + line_way(0.0, 0.13, -4.0, -9.81, t) -
             0.5 * 9.81 * (t - 0.13) * (t - 0.13);
}

static treacle_status place_of(validate* v, const flight_def* def, treacle_sim* sim,
                               double place[2]) {
    measure_sums sums;
    treacle_frame frame;
    treacle_status status = measure_particles(sim, MEASURE_ALL, &sums);
    if (status == TREACLE_OK) {
        status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    }
    const treacle_array* bodies =
        status == TREACLE_OK ? treacle_frame_find(&frame, "body_state") : NULL;
    if (status == TREACLE_OK && def->is_body && bodies == NULL) {
        return validate_stop(v, "the frame has no bodies");
    }
    for (int a = 0; a < 2 && status == TREACLE_OK; ++a) {
        place[a] = def->is_body ? ((const double*)bodies->data)[a] : sums.centre[a];
    }
    return status;
}

static treacle_status throw(validate * v, const flight_def* def, double max_dt, double* miss) {
    treacle_sim* sim = NULL;
    double from[2] = {0}, to[2] = {0}, way[2];
    treacle_status status =
        validate_sim_create(v, &sim, flight_scene, def->size, def->viscosity, max_dt, def->things);
    if (status == TREACLE_OK) {
        status = place_of(v, def, sim, from);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, flight, 1.0);
    }
    if (status == TREACLE_OK) {
        status = place_of(v, def, sim, to);
    }
    treacle_sim_destroy(sim);
    end_of(def, flight, way);
    *miss = hypot(to[0] - from[0] - way[0], to[1] - from[1] - way[1]) / hypot(way[0], way[1]);
    return status;
}

static treacle_status fly_all(validate* v) {
    static const double lengths[] = {0.02, 0.0033};
    for (size_t i = 0; i < sizeof(flights) / sizeof(flights[0]); ++i) {
        for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); ++k) {
            double miss;
            treacle_status status = throw(v, &flights[i], lengths[k], &miss);
            if (status != TREACLE_OK) {
                return status;
            }
            double most = strstr(flights[i].name, "spun") != NULL ? 5e-3 : 1e-5;
            validate_absolute(v, miss, 0.0, most, "%s, steps of up to %g s, off its way, relative",
                              flights[i].name, lengths[k]);
        }
    }
    return TREACLE_OK;
}

treacle_status case_free_fall(validate* v) {
    for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); ++i) {
        const char* name = falls[i].name;
        fall result;
        treacle_status status = drop(v, &falls[i], &result);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_absolute(v, result.speed, 0.0, 1e-6, "%s, |v/(g t) - 1|", name);
        validate_absolute(v, result.strain, 0.0, 1e-6, "%s, max |D| h/|v|", name);
        if (strcmp(falls[i].density_correction, "true") == 0) {
            validate_absolute(v, result.shift, 0.0, 1e-3, "%s, centre off its way, cells", name);
        } else {
            validate_absolute(v, result.way, 0.0, 1e-5, "%s, centre off its way, relative", name);
        }
        validate_info(v, result.iterations, NAN, "%s, most iterations of a solve", name);
    }
    return fly_all(v);
}
