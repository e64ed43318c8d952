// Two liquids of different density, the lighter above, stay at rest and do not mix.
//
// rms u <= 1e-3 sqrt(g H) over 2 s, as in [SUITE 4 (ii)], and the interface, H_1 = twice the height
// of the heavy liquid's centre, drifts by at most 0.2 h. Densities 1000 and 500 kg/m^3; jittered
// particles, so that the interface is as rough as it ever is; APIC, fixed dt.
//
// In a box that the two fill the interface is all that can move. And with particles in even rows
// the pressure must balance both densities exactly.
//
// Under a surface the surface's own roughness makes waves (see case_hydrostatic.c); there the speed
// is compared with that of the same pool of one density, over seconds 5 to 10, when what is driven
// has grown: 1.9 times it, where it stays; without [shift.1] 5 times it, and growing.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const double gravity = 9.81;

typedef struct layers_def {
    const char* name;
    double cell, dt;     // m, s
    double heavy, light; // m, heights to which they reach
    double density;      // kg/m^3, of the light liquid
    double jitter;
    double until; // s
} layers_def;

static const char scene[] =
    "domain: {size: [1 m, 1 m], cell: %.17g, sides: {all: slip}}\n"
    "particles: {per_cell: 4, jitter: %g}\n"
    "transfer: apic\n"
    "step: {max_dt: %g}\n"
    "materials:\n"
    "  heavy: {density: 1000}\n"
    "  light: {density: %g}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0], max: [1 m, %.17g]}}, material: heavy}\n"
    "  - {shape: {box: {min: [0, 0], max: [1 m, %.17g]}}, material: light}\n";

typedef struct layers {
    double last_speed;  // m/s, mean of the rms in the second half of the time
    double samples;     // of it
    double speed;       // m/s, the largest rms
    double level_begin; // m
    double drift;       // m, the largest
    double heavy_above; // m, beyond the interface, at the end
    double light_below; // m
} layers;

static treacle_status sample(treacle_sim* sim, const layers_def* def, layers* out) {
    measure_sums all, heavy, light;
    treacle_status status = measure_particles(sim, MEASURE_ALL, &all);
    status = status == TREACLE_OK ? measure_particles(sim, 0, &heavy) : status;
    status = status == TREACLE_OK ? measure_particles(sim, 1, &light) : status;
    if (status != TREACLE_OK) {
        return status;
    }
    double level = 2.0 * heavy.centre[1];
    out->level_begin = out->level_begin > 0.0 ? out->level_begin : level;
    out->drift = fmax(out->drift, fabs(level - out->level_begin));
    out->speed = fmax(out->speed, all.rms_speed);
    bool is_late = treacle_sim_time(sim) > 0.5 * def->until;
    out->last_speed += is_late ? all.rms_speed : 0.0;
    out->samples += is_late ? 1.0 : 0.0;
    out->heavy_above = heavy.highest - def->heavy;
    out->light_below = def->heavy - light.lowest;
    return TREACLE_OK;
}

static treacle_status rest(validate* v, const layers_def* def, layers* out) {
    enum { EVERY = 20 };
    treacle_sim* sim = NULL;
    *out = (layers){0};
    treacle_status status = validate_sim_create(v, &sim, scene, def->cell, def->jitter, def->dt,
                                                def->density, def->heavy, def->light);
    for (int i = 0; status == TREACLE_OK && treacle_sim_time(sim) < def->until - 1e-9; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, def->dt, &stats);
        if (status == TREACLE_OK && i % EVERY == 0) {
            status = sample(sim, def, out);
        }
    }
    out->last_speed /= out->samples;
    treacle_sim_destroy(sim);
    return status;
}

static void report_mixing(validate* v, const layers_def* def, const layers* result) {
    validate_absolute(v, result->drift / def->cell, 0.0, 0.2, "%s, drift of the interface, cells",
                      def->name);
    double heavy = fmax(result->heavy_above, 0.0), light = fmax(result->light_below, 0.0);
    validate_absolute(v, fmax(heavy, light) / def->cell, 0.0, 1.0,
                      "%s, furthest across the interface, cells", def->name);
}

static treacle_status report(validate* v, const layers_def* def, double tolerance) {
    layers result;
    treacle_status status = rest(v, def, &result);
    if (status == TREACLE_OK) {
        validate_absolute(v, result.speed / sqrt(gravity * def->light), 0.0, tolerance,
                          "%s, rms u/sqrt(g H)", def->name);
        report_mixing(v, def, &result);
    }
    return status;
}

static treacle_status compare(validate* v) {
    layers_def two = {"surface, 32^2, 10 s", 1.0 / 32, 0.01, 0.25, 0.5, 500.0, 0.5, 10.0};
    layers_def one = two;
    one.density = 1000.0;
    layers with, without;
    treacle_status status = rest(v, &two, &with);
    status = status == TREACLE_OK ? rest(v, &one, &without) : status;
    if (status == TREACLE_OK) {
        validate_at_most(v, with.last_speed / without.last_speed, 2.5, 0.0,
                         "%s, rms u over that of one density", two.name);
        validate_info(v, with.last_speed / sqrt(gravity * two.light), NAN,
                      "%s, mean rms u/sqrt(g H)", two.name);
        report_mixing(v, &two, &with);
    }
    return status;
}

treacle_status case_layers(validate* v) {
    static const layers_def even = {
        "even rows, 32^2, 1 s", 1.0 / 32, 0.01, 0.25, 0.5, 500.0, 0.0, 1.0};
    static const layers_def full[] = {
        {"full box, 32^2, 2 s", 1.0 / 32, 0.01, 0.5, 1.0, 500.0, 0.5, 2.0},
        {"full box, 64^2, 2 s", 1.0 / 64, 0.005, 0.5, 1.0, 500.0, 0.5, 2.0},
    };
    treacle_status status = report(v, &even, 1e-5);
    for (int i = 0; i < 2 && status == TREACLE_OK; ++i) {
        status = report(v, &full[i], 1e-3);
    }
    return status == TREACLE_OK ? compare(v) : status;
}
