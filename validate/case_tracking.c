// Shapes carried by a given flow: SUITE case 14 with the simulator's own particles and surface.
//
//   Zalesak's disc    radius 15, slot 5 x 25, in a square of 100 cells, turns once in 628 steps
//   single vortex     a disc of radius 0.15 in a unit square of 128 cells is drawn into a spiral
//                     and back again:  u = cos(pi t/T) curl(sin^2(pi x) sin^2(pi y) / pi), T = 8
//
// Particles move as in a step, by RK3 through velocities on faces; nothing corrects their density.
// The surface is that which a step makes of them. Compared are
//
//   area      sum of the shares of cells inside the surface, over the exact one: at the end, and
//             the largest deviation at any of the samples on the way. While the vortex has the
//             disc drawn out to a thread, its border is six times as long as at the start, and so
//             is what a given offset of the surface makes of the area: that is only shown
//   contour   area between surface and exact border, over the border's length, in cells
//   return    how far the worst particle is from where it began, over the side of the square. The
//             field of Zalesak's disc is linear, and linear between faces. The vortex runs back
//             through the very velocities through which it came, so only RK3 and rounding are seen;
//             what the interpolation between faces does to its paths is shown at half time, against
//             paths through the exact field
//
// Particles are placed at random (jitter 1): otherwise slot and lattice are in phase.
#include <math.h>
#include <stdlib.h>

#include "carried_shapes.h"
#include "treacle/unstable/stages.h"

static const double pi = 3.14159265358979323846;

// --- measures ------------------------------------------------------------------------------------

typedef struct outline {
    double area;    // m^2
    double contour; // cells
} outline;

// The value at x, y (cells) of values at cell centres, n to a side; the last ones go on outside.
static double between_cells(const float* values, int n, double x, double y) {
    double gx = fmin(fmax(x - 0.5, 0.0), n - 1.001), gy = fmin(fmax(y - 0.5, 0.0), n - 1.001);
    int i = (int)gx, j = (int)gy;
    double fx = gx - i, fy = gy - j;
    const float *low = values + j * n + i, *high = low + n;
    return (1.0 - fy) * ((1.0 - fx) * (double)low[0] + fx * (double)low[1]) +
           fy * ((1.0 - fx) * (double)high[0] + fx * (double)high[1]);
}

// The share of cell (i, j) that is on different sides of surface and exact border.
static double share_between(const carried_shape* t, const float* distance, int i, int j) {
    enum { POINTS = 16 }; // along a side
    double h = t->side / t->cells;
    int count = 0;
    for (int k = 0; k < POINTS * POINTS; ++k) {
        double x = i + (k % POINTS + 0.5) / POINTS, y = j + (k / POINTS + 0.5) / POINTS;
        bool is_inside = between_cells(distance, t->cells, x, y) < 0.0;
        count += is_inside != (t->border(x * h, y * h) < 0.0);
    }
    return (double)count / (POINTS * POINTS);
}

static treacle_status measure(const carried_shape* t, treacle_sim* sim, bool has_contour,
                              outline* out) {
    int n = t->cells;
    double h = t->side / n;
    float* memory = malloc(2 * (size_t)n * (size_t)n * sizeof(float));
    if (memory == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    float *distance = memory, *share = memory + n * n;
    treacle_status status = treacle_stages_surface(sim, distance, share);
    *out = (outline){0};
    for (int i = 0; i < n * n && status == TREACLE_OK; ++i) {
        out->area += (double)share[i] * h * h;
        if (has_contour) {
            out->contour += share_between(t, distance, i % n, i / n) * h / t->length;
        }
    }
    free(memory);
    return status;
}

// --- exact paths ---------------------------------------------------------------------------------

static void exact_velocity(const double x[2], double t, double out[2]) {
    double sx = sin(pi * x[0]), sy = sin(pi * x[1]), now = 2.0 * cos(pi * t / 8.0);
    out[0] = -now * sx * sx * sy * cos(pi * x[1]);
    out[1] = now * sy * sy * sx * cos(pi * x[0]);
}

// One step of the classical Runge-Kutta method of fourth order through the vortex.
static void exact_step(double x[2], double t, double dt) {
    static const double reach[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    double slope[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
    for (int k = 0; k < 4; ++k) {
        double at[2] = {x[0] + reach[k] * dt * slope[0], x[1] + reach[k] * dt * slope[1]};
        exact_velocity(at, t + reach[k] * dt, slope);
        sum[0] += weight[k] * slope[0] / 6.0;
        sum[1] += weight[k] * slope[1] / 6.0;
    }
    x[0] += dt * sum[0];
    x[1] += dt * sum[1];
}

// The largest distance of some of the particles from where the exact vortex has them at half time.
static double stray_from_paths(const validate_particle* before, const validate_particle* half,
                               int64_t count) {
    enum { EACH = 37, STEPS = 1000 };
    double worst = 0.0;
    for (int64_t i = 0; i < count; i += EACH) {
        double x[2] = {before[i].place[0], before[i].place[1]};
        for (int k = 0; k < STEPS; ++k) {
            exact_step(x, 4.0 * k / STEPS, 4.0 / STEPS);
        }
        worst = fmax(worst, hypot(half[i].place[0] - x[0], half[i].place[1] - x[1]));
    }
    return worst;
}

static double worst_return(const validate_particle* before, const validate_particle* after,
                           int64_t count) {
    double worst = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        double x = after[i].place[0] - before[i].place[0],
               y = after[i].place[1] - before[i].place[1];
        worst = fmax(worst, hypot(x, y));
    }
    return worst;
}

// --- runs ----------------------------------------------------------------------------------------

typedef struct journey {
    outline begin, end;
    double worst_area; // largest deviation from the exact area at any sample, over it
    int64_t count;     // of particles
    validate_particle *before, *half, *after;
} journey;

static void journey_end(journey* j) {
    free(j->before);
    free(j->half);
    free(j->after);
}

static treacle_status step(treacle_sim* sim, const carried_shape* t, int number) {
    double dt = t->until / t->steps;
    treacle_stages_sort_stats sorted;
    treacle_status status = treacle_stages_carry(sim, &t->velocity, (number + 0.5) * dt, dt);
    return status == TREACLE_OK ? treacle_stages_sort(sim, &sorted) : status;
}

static treacle_status travel(treacle_sim* sim, const carried_shape* t, journey* out) {
    enum { SAMPLES = 32 };
    treacle_status status = validate_particles(sim, &out->before, &out->count);
    if (status == TREACLE_OK) {
        status = measure(t, sim, true, &out->begin);
    }
    for (int i = 0; i < t->steps && status == TREACLE_OK; ++i) {
        status = step(sim, t, i);
        if (status == TREACLE_OK && 2 * (i + 1) == t->steps) {
            status = validate_particles(sim, &out->half, &out->count);
        }
        if (status == TREACLE_OK && ((i + 1) % (t->steps / SAMPLES) == 0 || i + 1 == t->steps)) {
            status = measure(t, sim, i + 1 == t->steps, &out->end);
            out->worst_area = fmax(out->worst_area, fabs(out->end.area / t->area - 1.0));
        }
    }
    return status == TREACLE_OK ? validate_particles(sim, &out->after, &out->count) : status;
}

// Rows of both; the contour has a bound for Zalesak's disc only.
static void report(validate* v, const carried_shape* t, int per_cell, const journey* j) {
    validate_relative(v, j->end.area, t->area, t->area_tolerance, "%s, %d a cell: area at the end",
                      t->name, per_cell);
    validate_absolute(v, worst_return(j->before, j->after, j->count) / t->side, 0.0, 1e-4,
                      "%s, %d a cell: return of particles", t->name, per_cell);
    validate_info(v, j->begin.contour, NAN, "%s, %d a cell: contour at the start", t->name,
                  per_cell);
}

static void report_zalesak(validate* v, const carried_shape* t, int per_cell, const journey* j) {
    validate_absolute(v, j->worst_area, 0.0, t->area_tolerance,
                      "%s, %d a cell: worst area on the way", t->name, per_cell);
    validate_absolute(v, j->end.contour, 0.0, 0.1, "%s, %d a cell: contour at the end", t->name,
                      per_cell);
}

static void report_vortex(validate* v, const carried_shape* t, int per_cell, const journey* j) {
    validate_info(v, j->worst_area, NAN, "%s, %d a cell: worst area on the way", t->name, per_cell);
    validate_info(v, j->end.contour, NAN, "%s, %d a cell: contour at the end", t->name, per_cell);
    validate_info(v, stray_from_paths(j->before, j->half, j->count) * t->cells / t->side, NAN,
                  "%s, %d a cell: off exact paths, cells", t->name, per_cell);
}

static const char scene[] = "domain: {size: [%g m, %g m], resolution: %d}\n"
                            "particles: {per_cell: %d, jitter: 1}\n"
                            "liquids:\n"
                            "  - shape: %s\n";

static treacle_status follow(validate* v, const carried_shape* t, int per_cell) {
    treacle_sim* sim = NULL;
    journey j = {0};
    treacle_status status =
        validate_sim_create(v, &sim, scene, t->side, t->side, t->cells, per_cell, t->shape);
    if (status == TREACLE_OK) {
        status = travel(sim, t, &j);
    }
    if (status == TREACLE_OK) {
        report(v, t, per_cell, &j);
        (t->is_reversed ? report_vortex : report_zalesak)(v, t, per_cell, &j);
    }
    journey_end(&j);
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_tracking(validate* v) {
    const carried_shape tracks[] = {carried_zalesak(), carried_vortex()};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 2; ++i) {
        for (int per_cell = 4; per_cell <= 16 && status == TREACLE_OK; per_cell *= 4) {
            status = follow(v, &tracks[i], per_cell);
        }
    }
    return status;
}
