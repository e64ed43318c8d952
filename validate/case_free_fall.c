// A blob of liquid in free fall stays as it is [SUITE 2: R = 0.1 m, g = 9.81 m/s^2, no walls near,
// nu = 0, 0.01, 1 and 100 m^2/s].
//
//     v = -g t,     y = y_0 - (g t^2 / 2) (1 - dt/t),     no strain
//
// A step moves the liquid with its velocity and then changes the velocity: symplectic Euler, of the
// two kinds the one that is late by dt/t where [SUITE 2] has the one that is early. Air that took
// hold of the liquid (faces of air at rest, say) would show as drag, and a solve whose target is
// relative would never end on a right-hand side of rounding.
//
// The density correction evens out the particles that the blob begins with, and that may shift its
// centre a little: then the place is compared in cells, without it as a share of the way.
//
// Tolerances of issue and suite: 1e-6 for |v / (g t) - 1| and for the largest strain rate times the
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
    double way = 0.5 * gravity * t * t * (1.0 - dt / t);
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
            validate_absolute(v, result.way, 0.0, 1e-6, "%s, centre off its way, relative", name);
        }
        validate_info(v, result.iterations, NAN, "%s, most iterations of a solve", name);
    }
    return TREACLE_OK;
}
