// What it costs to let liquid go of walls, and the paper's smoke.
//
// A block of water is thrown against a wall of a closed box of 64^3 cells and splashes back, once
// with and once without separation at all sides, to 1e-4, warm started: the ratio is that of the
// flow stages of all steps, off over on: 1 is free, 1/3 is three times the time.
//
// Smoke stirred by a paddle, without free surface, on the paper's two grids [BBB07 fig. 1, 4]:
// one step of 1/30 s a frame took 3 s and 0.2 s in 2007.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benches.h"

enum { WARM_STEPS = 5, STEPS = 40, SMOKE_STEPS = 5, TEXT = 2048 };

static const char splash[] = "domain: {size: [1 m, 1 m, 1 m], resolution: 64, sides: {all: slip}, "
                             "separation: %s}\n"
                             "pressure: {tolerance: 1.0e-4}\n"
                             "liquids:\n"
                             "  - shape: {box: {min: [0.05, 0.1, 0.2], max: [0.6, 0.7, 0.8]}}\n"
                             "    velocity: [-3, 1, 0]\n";

static const char smoke[] =
    "fill: all\n"
    "domain: {size: [2 m, 1 m, 1.5 m], resolution: %d, sides: {all: slip}}\n"
    "materials: {air: {density: 1.2, marker_buoyancy: 0.3}}\n"
    "particles: {per_cell: 2}\n"
    "density_correction: false\n"
    "pressure: {tolerance: 1.0e-4}\n"
    "step: {cfl: 5, max_dt: 33.4 ms}\n"
    "liquids:\n"
    "  - shape: {sphere: {radius: 0.25, centre: [1, 0.3, 0.75]}}\n"
    "    marker: 1\n"
    "solids:\n"
    "  paddle:\n"
    "    shape: {box: {min: [0.95, 0.3, 0.3], max: [1.05, 0.9, 1.2]}}\n"
    "    pivot: [1, 0.6, 0.75]\n"
    "    spin: [0, 1.5, 0]\n";

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Over the steps after the warm ones.
typedef struct cost {
    double flow;           // s, mean
    double step;           // s, median
    double released, held; // walls, mean
} cost;

typedef struct course {
    int warm, steps;
    double dt; // s, at most
} course;

static double sum_of(const treacle_step_stats* stats) {
    double sum = 0.0;
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        sum += stats->seconds[s];
    }
    return sum;
}

static treacle_status run(treacle_sim* sim, const course* c, cost* out) {
    double step[STEPS];
    treacle_step_stats stats = {0};
    *out = (cost){0};
    for (int i = -c->warm; i < c->steps; ++i) {
        treacle_status status = treacle_sim_step(sim, c->dt, &stats);
        if (status != TREACLE_OK) {
            return status;
        }
        if (i >= 0) {
            step[i] = sum_of(&stats);
            out->flow += stats.seconds[TREACLE_STAGE_FLOW] / c->steps;
            out->released += (double)stats.walls_released / c->steps;
            out->held += (double)stats.walls_held / c->steps;
        }
    }
    qsort(step, (size_t)c->steps, sizeof(*step), compare);
    out->step = step[c->steps / 2];
    return TREACLE_OK;
}

static treacle_status measure(const bench* b, const char* text, const course* c, cost* out) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_status status =
        treacle_scene_parse(b->ctx, "bench", text, strlen(text), 0, NULL, &scene);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(b->ctx, treacle_scene_sim(scene), &sim);
    }
    if (status == TREACLE_OK) {
        status = run(sim, c, out);
    }
    if (status != TREACLE_OK) {
        fprintf(stderr, "bench: %s\n",
                scene != NULL ? treacle_scene_report(scene) : treacle_context_error(b->ctx));
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return status;
}

static treacle_status compare_separation(const bench* b) {
    char text[TEXT];
    const course c = {WARM_STEPS, STEPS, 0.005};
    cost on = {0}, off = {0};
    snprintf(text, sizeof(text), splash, "on");
    treacle_status status = measure(b, text, &c, &on);
    if (status == TREACLE_OK) {
        snprintf(text, sizeof(text), splash, "off");
        status = measure(b, text, &c, &off);
    }
    if (status == TREACLE_OK) {
        bench_report(b, &(bench_row){.case_name = "splash 64^3, walls let go",
                                     .quantity = "flow stage",
                                     .value = 1e3 * on.flow,
                                     .unit = "ms",
                                     .yardstick = "walls that hold",
                                     .ratio = off.flow / on.flow});
        bench_report(b, &(bench_row){.case_name = "splash 64^3, walls let go",
                                     .quantity = "released faces",
                                     .value = on.released,
                                     .unit = "",
                                     .yardstick = "held faces",
                                     .ratio = on.released / on.held});
    }
    return status;
}

static treacle_status stir_smoke(const bench* b, int resolution, double paper) {
    char text[TEXT], name[64], yardstick[64];
    const course c = {2, SMOKE_STEPS, 1.0 / 30.0};
    cost found = {0};
    snprintf(text, sizeof(text), smoke, resolution);
    treacle_status status = measure(b, text, &c, &found);
    if (status == TREACLE_OK) {
        bench_report(
            b, &(bench_row){.case_name = bench_text(name, sizeof(name), "paddle in smoke %dx%dx%d",
                                                    resolution, resolution / 2, resolution * 3 / 4),
                            .quantity = "a frame",
                            .value = found.step,
                            .unit = "s",
                            .yardstick = bench_text(yardstick, sizeof(yardstick),
                                                    "[BBB07], Pentium 4, %g s", paper),
                            .ratio = paper / found.step});
    }
    return status;
}

treacle_status bench_walls(bench* b) {
    treacle_status status = compare_separation(b);
    status = status == TREACLE_OK ? stir_smoke(b, 80, 3.0) : status;
    return status == TREACLE_OK ? stir_smoke(b, 40, 0.2) : status;
}
