// What files cost a run: its time on the clock over that of the same steps alone.
#include "benches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REPEATS = 3, FRAMES = 5 };

// Half of a cube full of water, which has been tilted a little: every step has work to do.
static const char pool_text[] = "name: pool\n"
                                "frames: %d\n"
                                "fps: 30\n"
                                "gravity: [1, -9.7, 0]\n"
                                "domain: {size: [1, 1, 1], resolution: %d}\n"
                                "materials: {water: {density: 1000}}\n"
                                "liquids: [{shape: {box: {min: [0, 0, 0], max: [1, 0.5, 1]}}}]\n";

typedef struct pool {
    bench* run;
    treacle_scene* scene;
    char folder[1024];
    bool has_previews;
    double particles;
} pool;

// The steps of the run, without a file.
static bool step_alone(void* data) {
    pool* p = data;
    treacle_sim* sim = NULL;
    const treacle_sim_def* def = treacle_scene_sim(p->scene);
    treacle_status status = treacle_sim_create(p->run->ctx, def, &sim);
    for (int frame = 2; frame <= FRAMES && status == TREACLE_OK; ++frame) {
        double end = (double)(frame - 1) / def->fps;
        while (status == TREACLE_OK && (end - treacle_sim_time(sim)) * def->fps > 1e-9) {
            treacle_step_stats stats;
            status = treacle_sim_step(sim, end - treacle_sim_time(sim), &stats);
            p->particles = (double)stats.particles;
        }
    }
    treacle_sim_destroy(sim);
    return status == TREACLE_OK;
}

static bool run_with_files(void* data) {
    pool* p = data;
    treacle_run_def def = treacle_run_def_default();
    def.folder = p->folder;
    def.replace = true;
    def.preview = p->has_previews;
    return treacle_run_start(p->run->ctx, p->scene, &def) == TREACLE_OK;
}

static double frame_bytes(const pool* p) {
    char path[1100];
    struct stat file;
    snprintf(path, sizeof(path), "%s/frame_%04d.trf", p->folder, FRAMES);
    return stat(path, &file) == 0 ? (double)file.st_size : NAN;
}

static void report_pool(const pool* p, const char* name, double alone, double whole) {
    char against[64];
    bench_text(against, sizeof(against), "the steps alone, %.3g s", alone);
    bench_report(p->run,
                 &(bench_row){.case_name = name,
                              .quantity = p->has_previews ? "time with files and previews"
                                                          : "time with files",
                              .value = whole,
                              .unit = "s",
                              .yardstick = against,
                              .ratio = alone / whole,
                              .limit = p->has_previews ? BENCH_NO_LIMIT : BENCH_RATIO_AT_LEAST,
                              .minimum = 1.0 / 1.15});
}

static treacle_status measure(pool* p, int cells) {
    char name[32];
    double alone = 0.0;
    bench_text(name, sizeof(name), "pool %d^3", cells);
    for (int previews = 0; previews < 2; ++previews) {
        p->has_previews = previews != 0;
        alone = bench_median(REPEATS, step_alone, p);
        double whole = bench_median(REPEATS, run_with_files, p);
        if (isnan(alone) || isnan(whole)) {
            return TREACLE_ERR_INTERNAL;
        }
        report_pool(p, name, alone, whole);
    }
    bench_report(p->run, &(bench_row){.case_name = name,
                                      .quantity = "a frame file's bytes a particle",
                                      .value = frame_bytes(p) / p->particles,
                                      .unit = "B"});
    return TREACLE_OK;
}

static treacle_status bench_pool(bench* b, int cells) {
    char text[1024];
    pool p = {.run = b};
    snprintf(p.folder, sizeof(p.folder), "%s/output", b->folder);
    snprintf(text, sizeof(text), pool_text, FRAMES, cells);
    treacle_status status =
        treacle_scene_parse(b->ctx, "pool.yaml", text, strlen(text), 0, NULL, &p.scene);
    if (status == TREACLE_OK) {
        status = measure(&p, cells);
    }
    treacle_scene_destroy(p.scene);
    return status;
}

treacle_status bench_output(bench* b) {
    treacle_status status = bench_pool(b, 48);
    return status == TREACLE_OK && b->is_full ? bench_pool(b, 96) : status;
}
