// The whole step of thick liquids: a unit box of n^3 cells, dt = 1/60 s, 8 particles a cell; a cube
// of 0.5 m that falls, and a ball of radius 0.25 m above a pool of depth 0.25 m, with kinematic
// viscosities 1.5 and 150 m^2/s. Seconds a step are medians after one that is not counted, while
// they fall, where the solves have little to do; at 64^3 also after 20 steps, when they have
// landed. The best free tool takes 1.0 to 25 s for such a step on this kind of machine.
//
// And the paper's own sheet [BB08 fig. 3, sec. 6], 45 x 45 x 300 cells: a frame of theirs took a
// minute; here the second of scenes/sheet_1.yaml at 48 frames a second, with a thicker sheet, on
// two threads: all of it, and the last quarter, when it has folded. Time of the processors is given
// beside both, for machines that are busy.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "benches.h"

enum { STEPS = 3, STEPS_TO_LAND = 20 };

typedef struct box {
    int cells, threads;
    bool is_pool;
    double nu; // m^2/s
    const char* flow;
    int skipped; // steps before
} box;

typedef struct box_cost {
    double seconds, processor, flow_seconds, memory;
    int iterations;
} box_cost;

static const char cube[] = "liquids: [{shape: {box: {size: [0.5, 0.5, 0.5], centre: [0.5, 0.6, "
                           "0.5]}}}]\n";
static const char pool[] = "liquids:\n"
                           "  - shape:\n"
                           "      union:\n"
                           "        - box: {min: [-1, -1, -1], max: [2, 0.25, 2]}\n"
                           "        - sphere: {radius: 0.25, centre: [0.5, 0.625, 0.5]}\n";
static const char scene_text[] = "domain: {size: [1, 1, 1], resolution: %d, sides: {all: slip, "
                                 "bottom: no-slip}}\n"
                                 "step: {max_dt: 0.016666667, cfl: 5}\n"
                                 "flow: %s\n"
                                 "materials: {goo: {density: 1000, viscosity: %g m^2/s}}\n"
                                 "%s";

const char* bench_pool_text(char* buffer, size_t capacity, int cells, double nu) {
    return bench_text(buffer, capacity, scene_text, cells, "unified", nu, pool);
}

static int compare_doubles(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static treacle_status run_steps(treacle_sim* sim, int skipped, box_cost* out) {
    double seconds[STEPS], processor[STEPS], flow[STEPS];
    treacle_step_stats stats = {0};
    for (int i = -skipped; i < STEPS; ++i) {
        double begin = bench_clock();
        clock_t ticks = clock();
        TREACLE_TRY(treacle_sim_step(sim, 1.0 / 60, &stats));
        if (i >= 0) {
            seconds[i] = bench_clock() - begin;
            processor[i] = (double)(clock() - ticks) / CLOCKS_PER_SEC;
            flow[i] = stats.seconds[TREACLE_STAGE_FLOW];
        }
    }
    qsort(seconds, STEPS, sizeof(double), compare_doubles);
    qsort(processor, STEPS, sizeof(double), compare_doubles);
    qsort(flow, STEPS, sizeof(double), compare_doubles);
    *out = (box_cost){.seconds = seconds[STEPS / 2],
                      .processor = processor[STEPS / 2],
                      .flow_seconds = flow[STEPS / 2],
                      .memory = (double)stats.memory_peak,
                      .iterations = stats.flow.iterations + stats.viscosity.iterations};
    return TREACLE_OK;
}

static treacle_status run_text(treacle_context* ctx, const char* text, int skipped, box_cost* out) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "bench.yaml", text, strlen(text), 0, NULL, &scene);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    }
    if (status == TREACLE_OK) {
        status = run_steps(sim, skipped, out);
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return status;
}

static treacle_status measure(const box* x, box_cost* out) {
    char text[1024];
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = x->threads;
    TREACLE_TRY(treacle_context_create(&def, &ctx));
    bench_text(text, sizeof(text), scene_text, x->cells, x->flow, x->nu, x->is_pool ? pool : cube);
    treacle_status status = run_text(ctx, text, x->skipped, out);
    if (status != TREACLE_OK) {
        fprintf(stderr, "bench: a box of %d^3 cells: %s\n", x->cells, treacle_context_error(ctx));
    }
    treacle_context_destroy(ctx);
    return status;
}

static treacle_status report(bench* b, const box* x) {
    char name[96];
    box_cost cost;
    TREACLE_TRY(measure(x, &cost));
    bench_text(name, sizeof(name), "%s%s %d^3, nu %g, %s, %d thread%s",
               x->is_pool ? "ball and pool" : "cube", x->skipped > 1 ? ", landed," : "", x->cells,
               x->nu, x->flow, x->threads, x->threads == 1 ? "" : "s");
    const bench_row rows[] = {
        {.case_name = name, .quantity = "step", .value = cost.seconds, .unit = "s"},
        {.case_name = name,
         .quantity = "processor time a step",
         .value = cost.processor,
         .unit = "s"},
        {.case_name = name, .quantity = "flow stage", .value = cost.flow_seconds, .unit = "s"},
        {.case_name = name, .quantity = "iterations", .value = cost.iterations, .unit = ""},
        {.case_name = name,
         .quantity = "memory at peak",
         .value = cost.memory * 1e-6,
         .unit = "MB"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        bench_report(b, &rows[i]);
    }
    return TREACLE_OK;
}

typedef struct sheet_cost {
    double seconds, processor; // s a frame; of all threads
} sheet_cost;

enum { SHEET_FRAMES = 48, SHEET_LATE = 12, SHEET_PARTS = 2 };

// Of all frames, and of the last.
static treacle_status run_frames(treacle_sim* sim, double fps, sheet_cost out[SHEET_PARTS]) {
    double begin[SHEET_PARTS] = {bench_clock()};
    clock_t ticks[SHEET_PARTS] = {clock()};
    for (int frame = 1; frame <= SHEET_FRAMES; ++frame) {
        if (frame == SHEET_FRAMES - SHEET_LATE + 1) {
            begin[1] = bench_clock();
            ticks[1] = clock();
        }
        while (treacle_sim_time(sim) < frame / fps * (1.0 - 1e-9)) {
            treacle_step_stats stats;
            TREACLE_TRY(treacle_sim_step(sim, frame / fps - treacle_sim_time(sim), &stats));
        }
    }
    for (int k = 0; k < SHEET_PARTS; ++k) {
        int frames = k == 0 ? SHEET_FRAMES : SHEET_LATE;
        out[k].seconds = (bench_clock() - begin[k]) / frames;
        out[k].processor = (double)(clock() - ticks[k]) / CLOCKS_PER_SEC / frames;
    }
    return TREACLE_OK;
}

static treacle_status run_sheet(treacle_context* ctx, sheet_cost out[SHEET_PARTS]) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    static const char* const thicker[] = {"liquids[0].shape.box.size=[0.1, 0.7, 5.6]",
                                          "liquids[0].shape.box.centre=[0.45, 0.4, 3]",
                                          "liquids[0].shape.rotate=[0, 0, 0.3 deg]"};
    treacle_status status = treacle_scene_load(ctx, "scenes/sheet_1.yaml", 3, thicker, &scene);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    }
    if (status == TREACLE_OK) {
        status = run_frames(sim, treacle_scene_sim(scene)->fps, out);
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return status;
}

static void report_sheet(bench* b, const char* name, const sheet_cost* cost) {
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "frame",
                                 .value = cost->seconds,
                                 .unit = "s",
                                 .yardstick = "[BB08], a minute on their machine",
                                 .ratio = 60.0 / cost->seconds});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "processor time a frame",
                                 .value = cost->processor,
                                 .unit = "s"});
}

static treacle_status sheet(bench* b) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    sheet_cost cost[SHEET_PARTS] = {0};
    def.threads = 2;
    TREACLE_TRY(treacle_context_create(&def, &ctx));
    treacle_status status = run_sheet(ctx, cost);
    if (status == TREACLE_OK) {
        report_sheet(b, "sheet 45x45x300, nu 1, 2 threads", &cost[0]);
        report_sheet(b, "the same, folded", &cost[1]);
    } else {
        fprintf(stderr, "bench: the sheet: %s\n", treacle_context_error(ctx));
    }
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_step_viscous(bench* b) {
    static const int sizes[] = {64, 96, 128};
    static const double viscosities[] = {1.5, 150.0};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) {
            box x = {.cells = sizes[i],
                     .threads = 2,
                     .is_pool = k / 2 == 1,
                     .nu = viscosities[k % 2],
                     .flow = "unified",
                     .skipped = 1};
            TREACLE_TRY(report(b, &x));
            if (sizes[i] == 64) {
                x.threads = 1;
                TREACLE_TRY(report(b, &x));
                x.threads = 2;
                x.flow = "split";
                TREACLE_TRY(report(b, &x));
                x.skipped = STEPS_TO_LAND;
                TREACLE_TRY(report(b, &x));
                x.flow = "unified";
                TREACLE_TRY(report(b, &x));
            }
        }
    }
    return sheet(b);
}
