// Liquid at rest stays at rest in a container whose walls lie across the grid [SUITE 4].
//
// A tank with a V-shaped floor, 30 degrees on both sides, and one wall that leans out at 60
// degrees, none of them on the grid; 0.5 m deep.
//
// (i) One projection from rest, the surface exactly where it is: the variational pressure with the
// ghost fluid balances gravity exactly, whatever the shape of the walls [BBB07 sec. 2]. What is
// left is the tolerance of the solve, max |u| <= tolerance x g dt, for surfaces at several heights
// and for every estimate of the open shares.
//
// (ii) 2000 steps with jittered particles: rms u <= 1e-3 sqrt(g H), surface tilt <= 0.2 h, drift of
// volume and of potential energy <= 0.2 %, sampled every 50 steps. In the full tier: at 64 cells
// the speed comes out at 1.19e-3, at 128 cells at 1.14e-3.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"
#include "treacle/unstable/stages.h"

static const double gravity = 9.81, depth = 0.5, level = 0.6; // m/s^2, m, m

static const char scene[] =
    "domain: {size: [1 m, 1 m], cell: %.17g, sides: {all: slip}}\n"
    "particles: {per_cell: 4, jitter: 0.5}\n"
    "pressure: {tolerance: %g, walls: %s}\n"
    "flow: %s\n"
    "materials: {water: {viscosity: %g}}\n"
    "step: {max_dt: %.17g}\n"
    "liquids:\n"
    "  - shape: {box: {min: [0, 0], max: [1 m, %.17g]}}\n"
    "solids:\n"
    "  left: {shape: {plane: {point: [0.503, 0.1], normal: [0.5, 0.8660254037844386]}}}\n"
    "  right: {shape: {plane: {point: [0.503, 0.1], normal: [-0.5, 0.8660254037844386]}}}\n"
    "  wall: {shape: {plane: {point: [0.8, 0.3], normal: [-0.8660254037844386, 0.5]}}}\n";

// ---- one projection

static treacle_status project(validate* v, const char* walls, double height, double tolerance) {
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, 1.0 / 64, tolerance, walls,
                                                "pressure", 0.0, 0.02, level);
    treacle_shape below = treacle_shape_default(TREACLE_SHAPE_PLANE);
    below.move[1] = height;
    treacle_stages_projection flow = {.liquid = &below, .dt = 0.02};
    if (status == TREACLE_OK) {
        status = treacle_stages_project(sim, &flow);
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_absolute(v, flow.max_speed / (gravity * flow.dt), 0.0, tolerance,
                          "one projection, %s, height %g cells, solve to %g, max|u|/(g dt)", walls,
                          64.0 * height, tolerance);
    }
    return status;
}

// ---- many steps

typedef struct rest {
    double volume_begin, height_begin; // m^3, m
    double speed;                      // m/s, the largest rms
    double tilt, volume, energy;       // the largest: m, shares
} rest;

// The height at which the distance vanishes in a column; NAN if nowhere.
static double height_of(const float* distance, int n, int x) {
    for (int y = n - 2; y >= 0; --y) {
        double low = (double)distance[y * n + x], high = (double)distance[(y + 1) * n + x];
        if (low < 0.0 && high >= 0.0) {
            return (y + 0.5 + low / (low - high)) / n;
        }
    }
    return NAN;
}

// The tilt of the straight line through the heights between the walls, m.
static treacle_status measure_tilt(treacle_sim* sim, int n, double* out) {
    float* distance = malloc(sizeof(float) * (size_t)n * (size_t)n);
    treacle_status status =
        distance == NULL ? TREACLE_ERR_MEMORY : treacle_stages_surface(sim, distance, NULL);
    double count = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int x = 0; x < n * 9 / 10 && status == TREACLE_OK; ++x) {
        double at = (x + 0.5) / n, height = height_of(distance, n, x);
        count += 1.0;
        sx += at;
        sy += height;
        sxx += at * at;
        sxy += at * height;
    }
    free(distance);
    *out = 0.9 * (count * sxy - sx * sy) / (count * sxx - sx * sx);
    return status;
}

static treacle_status sample(treacle_sim* sim, int n, const treacle_step_stats* stats, rest* out) {
    measure_sums now;
    double tilt = NAN;
    treacle_status status = measure_particles(sim, MEASURE_ALL, &now);
    if (status == TREACLE_OK) {
        status = measure_tilt(sim, n, &tilt);
    }
    if (status != TREACLE_OK) {
        return status;
    }
    if (stats->step == 1) {
        out->volume_begin = stats->surface_volume;
        out->height_begin = now.centre[1];
    }
    out->speed = fmax(out->speed, now.rms_speed);
    out->tilt = fmax(out->tilt, isnan(tilt) ? INFINITY : fabs(tilt));
    out->volume = fmax(out->volume, fabs(stats->surface_volume / out->volume_begin - 1.0));
    out->energy = fmax(out->energy, fabs(now.centre[1] / out->height_begin - 1.0));
    return TREACLE_OK;
}

static treacle_status keep_still(validate* v, int n, double viscosity) {
    enum { STEPS = 2000, EVERY = 50 };
    treacle_sim* sim = NULL;
    rest worst = {0};
    double cell = 1.0 / n, dt = 0.32 / n;
    treacle_status status =
        validate_sim_create(v, &sim, scene, cell, 1e-4, "area", "auto", viscosity, dt, level);
    for (int i = 0; i <= STEPS && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, dt, &stats);
        if (status == TREACLE_OK && i % EVERY == 0) {
            status = sample(sim, n, &stats, &worst);
        }
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_absolute(v, worst.speed / sqrt(gravity * depth), 0.0, 1e-3,
                          "%d^2, %g Pa s, rms u/sqrt(g H)", n, viscosity);
        validate_absolute(v, worst.tilt / cell, 0.0, 0.2, "%d^2, %g Pa s, tilt, cells", n,
                          viscosity);
        validate_absolute(v, worst.volume, 0.0, 0.002, "%d^2, %g Pa s, drift of volume", n,
                          viscosity);
        validate_absolute(v, worst.energy, 0.0, 0.002, "%d^2, %g Pa s, drift of potential energy",
                          n, viscosity);
    }
    return status;
}

treacle_status case_hydrostatic_tilted(validate* v) {
    static const char* const walls[] = {"area", "exact", "line"};
    static const double heights[] = {38.0, 38.3, 38.5, 38.9};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        status = project(v, "area", heights[i] / 64, i < 2 ? 1e-4 : 1e-5);
    }
    for (int i = 1; i < 3 && status == TREACLE_OK; ++i) {
        status = project(v, walls[i], heights[1] / 64, 1e-5);
    }
    return status;
}

treacle_status case_hydrostatic_tilted_fine(validate* v) {
    treacle_status status = keep_still(v, 64, 0.0);
    if (status == TREACLE_OK) {
        status = keep_still(v, 64, 1.0);
    }
    return status == TREACLE_OK ? keep_still(v, 128, 0.0) : status;
}
