// What surface tension costs. A ball lies half in a pool, 8 particles a cell, cells of 0.22 mm, 60
// mN/m, steps of at most 5 ms, so that s = sigma dt^2/(rho h^3) = 141, and viscosities of
// r = mu dt/(rho h^2) = 0.1 to 1e4: once with tension, once without; steps of both alternate, for
// machines that are busy. Where the step's own limits shorten steps with tension, the row says by
// how much.
//
// And a step of honey in cells of 0.25 mm, 64^3 cells, or 128^3 with --full.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "benches.h"

enum { STEPS = 5, KINDS = 2 };

static const char scene_text[] =
    "domain: {size: [%g mm, %g mm, %g mm], cell: %g mm, sides: slip}\n"
    "flow: unified\n"
    "step: {max_dt: 5 ms}\n"
    "materials: {goo: {density: 1000, viscosity: %.17g, surface_tension: %g}}\n"
    "liquids:\n"
    "  - shape:\n"
    "      union:\n"
    "        - box: {min: [0, 0, 0], max: [%g mm, %g mm, %g mm]}\n"
    "        - sphere: {radius: %g mm, centre: [%g mm, %g mm, %g mm]}\n";

// Of one liquid, by step.
typedef struct costs {
    double step[STEPS];
    double iterations, dt; // means
} costs;

typedef struct pool_def {
    int cells;
    double cell, viscosity; // mm, Pa s
} pool_def;

static int compare_doubles(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(const double values[STEPS]) {
    double sorted[STEPS];
    memcpy(sorted, values, sizeof(sorted));
    qsort(sorted, STEPS, sizeof(double), compare_doubles);
    return sorted[STEPS / 2];
}

static treacle_status make(treacle_context* ctx, const pool_def* def, double tension,
                           treacle_sim** out) {
    char text[1024];
    double size = def->cells * def->cell, deep = 0.4 * size, half = 0.5 * size;
    bench_text(text, sizeof(text), scene_text, size, size, size, def->cell, def->viscosity, tension,
               size, deep, size, 0.3 * size, half, deep, half);
    return bench_make_sim(ctx, text, out);
}

// The first two steps are not counted.
static treacle_status run(treacle_sim* const sims[KINDS], costs out[KINDS]) {
    for (int i = -2; i < STEPS; ++i) {
        for (int k = 0; k < KINDS; ++k) {
            treacle_step_stats stats;
            clock_t begin = clock();
            TREACLE_TRY(treacle_sim_step(sims[k], 5e-3, &stats));
            double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
            if (i >= 0) {
                out[k].step[i] = seconds;
                out[k].iterations += (double)stats.flow.iterations / STEPS;
                out[k].dt += stats.dt / STEPS;
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status compare(bench* b, const pool_def* def, costs out[KINDS]) {
    treacle_sim* sims[KINDS] = {NULL};
    treacle_status status = TREACLE_OK;
    memset(out, 0, KINDS * sizeof(*out));
    for (int k = 0; k < KINDS && status == TREACLE_OK; ++k) {
        status = make(b->ctx, def, k == 0 ? 0.0 : 0.06, &sims[k]);
    }
    status = status == TREACLE_OK ? run(sims, out) : status;
    for (int k = 0; k < KINDS; ++k) {
        treacle_sim_destroy(sims[k]);
    }
    return status;
}

static treacle_status count_iterations(bench* b, double r, double at_most) {
    char name[64], without[96];
    costs c[KINDS];
    pool_def def = {32, 0.22, r * 1000.0 * 0.22e-3 * 0.22e-3 / 5e-3};
    TREACLE_TRY(compare(b, &def, c));
    bench_text(name, sizeof(name), "ball in a pool, r = %g, s = 141", r);
    bench_text(without, sizeof(without), "without %.3g, steps %.2g times as long", c[0].iterations,
               c[0].dt / c[1].dt);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "iterations",
                                 .value = c[1].iterations,
                                 .unit = "",
                                 .yardstick = without,
                                 .ratio = c[0].iterations / c[1].iterations});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "iterations over those without",
                                 .value = c[1].iterations / c[0].iterations,
                                 .unit = "1",
                                 .limit = BENCH_VALUE_AT_MOST,
                                 .minimum = at_most});
    return TREACLE_OK;
}

static treacle_status time_step(bench* b, int cells) {
    char name[64], without[96];
    costs c[KINDS];
    pool_def def = {cells, 0.25, 10.0};
    TREACLE_TRY(compare(b, &def, c));
    double with = median(c[1].step), plain = median(c[0].step);
    bench_text(name, sizeof(name), "honey, ball in a pool, %d^3", cells);
    bench_text(without, sizeof(without), "without %.3g s, steps %.2g times as long", plain,
               c[0].dt / c[1].dt);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "step, processor time",
                                 .value = with,
                                 .unit = "s",
                                 .yardstick = without,
                                 .ratio = plain / with});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "step over that without",
                                 .value = with / plain,
                                 .unit = "1",
                                 .limit = BENCH_VALUE_AT_MOST,
                                 .minimum = 1.25});
    return TREACLE_OK;
}

treacle_status bench_tension(bench* b) {
    TREACLE_TRY(count_iterations(b, 0.1, 6.0));
    TREACLE_TRY(count_iterations(b, 10.0, 2.5));
    TREACLE_TRY(count_iterations(b, 100.0, 1.4));
    TREACLE_TRY(count_iterations(b, 1e4, 1.4));
    return time_step(b, b->is_full ? 128 : 64);
}
