// What rigid bodies cost.
//
// A tank of 64 x 96 x 64 cells, liquid to three quarters of its height, with 0, 1, 10 and 100
// bodies of densities from 0.1 to 10 times the liquid's, spheres and boxes in turn. The pressure
// stage holds all of the flow: rows and masses of bodies, set-up, solve to the default tolerance,
// new velocities. Times are medians over steps of 5 ms that begin at rest. The ratio is that of
// none to some: 1 is free, 0.5 is twice the time.
//
// And the paper's scene of bodies in a full tank [BBB07 fig. 1]: 60 x 90 x 60 cells, one step of
// 1/30 s a frame, 25 s a frame on a processor of 2007.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benches.h"

enum { STEPS = 5, TEXT = 40000, COUNTS = 4 };

typedef struct tank {
    int cells[3];
    int bodies, across[3];
    double radius; // cells
    double height; // share that is filled
    double dt;     // s
} tank;

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* v, int count) {
    qsort(v, (size_t)count, sizeof(*v), compare);
    return v[count / 2];
}

static size_t write_head(const tank* t, char* text) {
    return (size_t)snprintf(
        text, TEXT,
        "domain: {size: [%g, %g, %g], cell: 0.01, sides: {all: slip}}\n"
        "particles: {per_cell: 4}\n"
        "step: {max_dt: %.17g, cfl: 5}\n"
        "liquids:\n  - shape: {box: {min: [0, 0, 0], max: [9, %.17g, 9]}}\n"
        "    velocity: [\"sin(20*y)*cos(15*z)\", \"cos(20*x)*sin(9*z)\", \"sin(15*x)\"]\n",
        t->cells[0] * 0.01, t->cells[1] * 0.01, t->cells[2] * 0.01, t->dt,
        t->height * t->cells[1] * 0.01);
}

// Bodies on a lattice inside the liquid, spheres and boxes in turn.
static void write_scene(const tank* t, char* text) {
    size_t used = write_head(t, text);
    for (int i = 0; i < t->bodies; ++i) {
        double x[3], along = t->bodies > 1 ? (double)i / (t->bodies - 1) : 0.5;
        int left = i;
        for (int a = 0; a < 3; ++a) {
            double room = t->cells[a] * 0.01 * (a == 1 ? t->height : 1.0);
            x[a] = (left % t->across[a] + 0.5) * room / t->across[a];
            left /= t->across[a];
        }
        double density = 100.0 * pow(100.0, along), r = 0.01 * t->radius;
        used += (size_t)snprintf(
            text + used, TEXT - used,
            i % 2 == 0
                ? "%s  b%d: {shape: {sphere: {radius: %g}, move: [%g, %g, %g]}, density: %g}\n"
                : "%s  b%d: {shape: {box: {size: [%g, 0.08, 0.06]}, move: [%g, %g, %g]}, "
                  "density: %g}\n",
            i == 0 ? "bodies:\n" : "", i, i % 2 == 0 ? r : 2.0 * r, x[0], x[1], x[2], density);
    }
}

typedef struct tank_cost {
    double flow, solve, step; // s
    double iterations;
} tank_cost;

static treacle_status run_steps(treacle_sim* sim, const tank* t, tank_cost* out) {
    double flow[STEPS], solve[STEPS], step[STEPS];
    for (int i = -1; i < STEPS; ++i) {
        treacle_step_stats stats;
        treacle_status status = treacle_sim_step(sim, t->dt, &stats);
        if (status != TREACLE_OK) {
            return status;
        }
        double all = 0.0;
        for (int k = 0; k < TREACLE_STAGE_COUNT; ++k) {
            all += stats.seconds[k];
        }
        flow[i < 0 ? 0 : i] = stats.seconds[TREACLE_STAGE_FLOW];
        solve[i < 0 ? 0 : i] = stats.pressure.seconds;
        step[i < 0 ? 0 : i] = all;
        out->iterations = stats.pressure.iterations;
    }
    out->flow = median(flow, STEPS);
    out->solve = median(solve, STEPS);
    out->step = median(step, STEPS);
    return TREACLE_OK;
}

static treacle_status measure(treacle_context* ctx, const tank* t, tank_cost* out) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    char* text = malloc(TEXT);
    treacle_status status = TREACLE_ERR_MEMORY;
    if (text != NULL) {
        write_scene(t, text);
        status = treacle_scene_parse(ctx, "bench", text, strlen(text), 0, NULL, &scene);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    }
    if (status == TREACLE_OK) {
        status = run_steps(sim, t, out);
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    free(text);
    return status;
}

static void report(const bench* b, const char* name, const tank_cost* cost, const tank_cost* none) {
    char yardstick[64];
    bench_text(yardstick, sizeof(yardstick), "without bodies %.3g s", none->flow);
    bench_row row = {.case_name = name,
                     .quantity = "pressure stage",
                     .value = cost->flow,
                     .unit = "s",
                     .yardstick = cost == none ? NULL : yardstick,
                     .ratio = none->flow / cost->flow};
    bench_report(b, &row);
    bench_row solve = {.case_name = name,
                       .quantity = "solve",
                       .value = cost->solve,
                       .unit = "s",
                       .yardstick = cost == none ? NULL : "without bodies",
                       .ratio = none->solve / cost->solve};
    bench_report(b, &solve);
    bench_row iterations = {
        .case_name = name, .quantity = "iterations", .value = cost->iterations, .unit = ""};
    bench_report(b, &iterations);
}

static treacle_status run_tanks(bench* b) {
    static const tank tanks[COUNTS] = {
        {{64, 96, 64}, 0, {1, 1, 1}, 8.0, 0.75, 5e-3},
        {{64, 96, 64}, 1, {1, 1, 1}, 8.0, 0.75, 5e-3},
        {{64, 96, 64}, 10, {2, 3, 2}, 8.0, 0.75, 5e-3},
        {{64, 96, 64}, 100, {5, 5, 4}, 4.0, 0.75, 5e-3},
    };
    tank_cost cost[COUNTS];
    for (int i = 0; i < COUNTS; ++i) {
        char name[64];
        treacle_status status = measure(b->ctx, &tanks[i], &cost[i]);
        if (status != TREACLE_OK) {
            return status;
        }
        report(b, bench_text(name, sizeof(name), "%d bodies", tanks[i].bodies), &cost[i], &cost[0]);
    }
    return TREACLE_OK;
}

treacle_status bench_coupling(bench* b) {
    static const tank paper = {{60, 90, 60}, 6, {2, 3, 1}, 8.0, 1.0, 1.0 / 30.0};
    tank_cost cost;
    treacle_status status = run_tanks(b);
    if (status == TREACLE_OK) {
        status = measure(b->ctx, &paper, &cost);
    }
    if (status == TREACLE_OK) {
        bench_row row = {.case_name = "full tank 60x90x60",
                         .quantity = "a frame of one step",
                         .value = cost.step,
                         .unit = "s",
                         .yardstick = "25 s of BBB07 fig. 1 (2007)",
                         .ratio = 25.0 / cost.step};
        bench_report(b, &row);
    }
    return status == TREACLE_OK ? bench_walls(b) : status;
}
