// What elasticity costs. a cube of 0.5 m stands in a unit box of n^3 cells, 8 particles a cell, dt
// = 1/120 s: once as a gel, once as a liquid that is as thick as the gel is stiff within a step, so
// that the solve is of the same kind: mu + dt mu_e / 2. Steps of both alternate, for machines that
// are busy. Compared are the time of the solve of the flow, that of the strain's transfers and its
// update apart, and that of the whole step. Yielding gel, whose solve may need more than one pass,
// is shown beside.
//
// And the falling cube of the thesis [G11 sec. 5]: 40^3 cells, half an hour for a second of
// animation on a 3 GHz Pentium 4; here on two threads.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "benches.h"

enum { STEPS = 7, KINDS = 3 };

static const char scene_text[] =
    "domain: {size: [1, 1, 1], resolution: %d, sides: {all: slip, bottom: no-slip}}\n"
    "step: {max_dt: 0.00833333333, cfl: 5}\n"
    "materials: {goo: {density: 1000, viscosity: %g%s}}\n"
    "liquids: [{shape: {box: {size: [0.5, 0.5, 0.5], centre: [0.5, 0.25, 0.5]}}}]\n";

// Of one kind of liquid, by step.
typedef struct costs {
    double step[STEPS], solve[STEPS], transfer[STEPS], update[STEPS];
    double iterations, passes;
} costs;

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

// The first two steps are not counted.
static treacle_status run(treacle_sim* const sims[KINDS], costs out[KINDS]) {
    for (int i = -2; i < STEPS; ++i) {
        for (int k = 0; k < KINDS; ++k) {
            treacle_step_stats stats;
            clock_t begin = clock();
            TREACLE_TRY(treacle_sim_step(sims[k], 1.0 / 120, &stats));
            double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
            if (i >= 0) {
                int passes = stats.elastic_passes > 0 ? stats.elastic_passes : 1;
                out[k].step[i] = seconds;
                out[k].solve[i] = stats.flow.seconds;
                out[k].transfer[i] = stats.elastic_transfer_seconds;
                out[k].update[i] = stats.elastic_update_seconds;
                out[k].iterations += (double)stats.flow.iterations / STEPS;
                out[k].passes += (double)passes / STEPS;
            }
        }
    }
    return TREACLE_OK;
}

static void report(bench* b, int cells, const costs c[KINDS]) {
    char name[64], off[96];
    static const char* const names[KINDS] = {"viscous alone", "gel", "yielding gel"};
    for (int k = 0; k < KINDS; ++k) {
        bench_text(name, sizeof(name), "cube %d^3, %s", cells, names[k]);
        const struct {
            const char* quantity;
            const double* values;
        } rows[] = {{"step, processor time", c[k].step},
                    {"solve of the flow, last pass", c[k].solve},
                    {"strain transfers", c[k].transfer},
                    {"strain update", c[k].update}};
        for (size_t i = 0; i < (k == 0 ? 2 : 4); ++i) {
            double value = median(rows[i].values);
            double plain = i < 2 ? median(i == 0 ? c[0].step : c[0].solve) : 0.0;
            bench_text(off, sizeof(off), "without elasticity %.3g s", plain);
            bench_report(b, &(bench_row){.case_name = name,
                                         .quantity = rows[i].quantity,
                                         .value = value,
                                         .unit = "s",
                                         .yardstick = k > 0 && i < 2 ? off : NULL,
                                         .ratio = plain / value});
        }
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "iterations of the last pass",
                                     .value = c[k].iterations,
                                     .unit = ""});
        bench_report(
            b, &(bench_row){
                   .case_name = name, .quantity = "passes", .value = c[k].passes, .unit = ""});
    }
}

static treacle_status compare(bench* b, int cells) {
    static const char* const elastic[KINDS] = {"", ", elastic: {mu_e: 8 kPa, alpha: 5}",
                                               ", elastic: {mu_e: 8 kPa, alpha: 5, gamma: 0.05}"};
    treacle_sim* sims[KINDS] = {NULL};
    costs c[KINDS];
    memset(c, 0, sizeof(c));
    treacle_status status = TREACLE_OK;
    for (int k = 0; k < KINDS && status == TREACLE_OK; ++k) {
        char text[1024];
        bench_text(text, sizeof(text), scene_text, cells, k == 0 ? 10.0 + 8e3 / 240 : 10.0,
                   elastic[k]);
        status = bench_make_sim(b->ctx, text, &sims[k]);
    }
    status = status == TREACLE_OK ? run(sims, c) : status;
    for (int k = 0; k < KINDS; ++k) {
        treacle_sim_destroy(sims[k]);
    }
    if (status == TREACLE_OK) {
        report(b, cells, c);
    }
    return status;
}

// A second of the thesis' cube.
static const char thesis[] =
    "domain: {size: [20 cm, 20 cm, 20 cm], cell: 5 mm,\n"
    "         sides: {all: slip, bottom: no-slip, top: open}}\n"
    "materials: {goop: {density: 1000, viscosity: 0.5, elastic: {mu_e: 4000, alpha: 10, gamma: "
    "0.1}}}\n"
    "liquids: [{shape: {box: {size: [8 cm, 8 cm, 8 cm], centre: [10 cm, 9 cm, 10 cm]}}}]\n";

static treacle_status fall(bench* b) {
    treacle_sim* sim = NULL;
    treacle_status status = bench_make_sim(b->ctx, thesis, &sim);
    double begin = bench_clock(), steps = 0.0;
    clock_t ticks = clock();
    for (int frame = 1; frame <= 24 && status == TREACLE_OK; ++frame) {
        while (status == TREACLE_OK && treacle_sim_time(sim) < frame / 24.0 - 1e-9) {
            treacle_step_stats stats;
            status = treacle_sim_step(sim, frame / 24.0 - treacle_sim_time(sim), &stats);
            steps += 1.0;
        }
    }
    double seconds = bench_clock() - begin;
    double processor = (double)(clock() - ticks) / CLOCKS_PER_SEC;
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        const bench_row rows[] = {
            {.case_name = "falling cube, 40^3, yielding",
             .quantity = "a second of animation",
             .value = seconds,
             .unit = "s",
             .yardstick = "[G11], Pentium 4: 1800 s",
             .ratio = 1800.0 / seconds},
            {.case_name = "falling cube, 40^3, yielding",
             .quantity = "processor time",
             .value = processor,
             .unit = "s",
             .yardstick = "[G11], Pentium 4: 1800 s",
             .ratio = 1800.0 / processor},
            {.case_name = "falling cube, 40^3, yielding",
             .quantity = "steps",
             .value = steps,
             .unit = ""},
        };
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
            bench_report(b, &rows[i]);
        }
    }
    return status;
}

treacle_status bench_elastic(bench* b) {
    TREACLE_TRY(compare(b, 64));
    if (b->is_full) {
        TREACLE_TRY(compare(b, 128));
    }
    return fall(b);
}
