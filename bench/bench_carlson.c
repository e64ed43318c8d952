// The animations of Carlson, Mucha, Van Horn and Turk 2002, table 1: simulated whole, beside the
// seconds of their 2.0 GHz Pentium 4.
//
// Cells of 0.1, density 1, kinematic viscosities, one step a frame at 30 a second unless the
// fastest particle asks for more. The scenes are those of scenes/; the bunny is one of balls where
// build/bunny.ply is missing (tools/make_bunny.py). Nothing is written. CPU seconds count all
// threads: on a busy machine they are the steadier figure.
#include <stdio.h>
#include <time.h>

#include "benches.h"

typedef struct animation {
    const char* name;
    const char* scene;
    const char* set; // or NULL
    int frames;
    double paper; // s
} animation;

static const char balls[] =
    "frames: 600\nfps: 30\n"
    "domain: {origin: [-1.75, 0, -1.9], size: [3.5, 2.8, 3.8], cell: 0.1,\n"
    "         sides: {all: no-slip, top: open}}\n"
    "step: {max_dt: 0.0334}\n"
    "heat: {air: 20 degC, loss: 2}\n"
    "materials:\n"
    "  wax: {density: 1, viscosity: 0.1, conductivity: 2 W/(m.K), heat_capacity: 1000,\n"
    "    viscosity_law: {kind: linear, from: 50 degC, to: 60 degC, low: 10000, high: 0.1}}\n"
    "heat_sources: [{place: [-1.2, 2.7, 0], power: 60 kW, stop: 12 s}]\n"
    "liquids:\n"
    "  - shape: {union: [{sphere: {radius: 0.8, centre: [0.2, 0.8, 0]}},\n"
    "                    {sphere: {radius: 0.5, centre: [-0.5, 1.6, 0]}},\n"
    "                    {capsule: {radius: 0.15, height: 0.6}, move: [-0.5, 2.2, 0.2]},\n"
    "                    {capsule: {radius: 0.15, height: 0.6}, move: [-0.5, 2.2, -0.2]}]}\n"
    "    temperature: 25 degC\n";

static treacle_status load(treacle_context* ctx, const animation* a, treacle_scene** out,
                           bool* is_stand_in) {
    treacle_status status = treacle_scene_load(ctx, a->scene, a->set == NULL ? 0 : 1, &a->set, out);
    *is_stand_in = status != TREACLE_OK;
    if (*is_stand_in) {
        treacle_scene_destroy(*out);
        status = treacle_scene_parse(ctx, a->name, balls, sizeof(balls) - 1, 0, NULL, out);
    }
    return status;
}

typedef struct cost {
    double wall, cpu; // s
    int64_t steps;
} cost;

static treacle_status simulate(treacle_sim* sim, int frames, cost* out) {
    treacle_status status = TREACLE_OK;
    double wall = bench_clock();
    clock_t cpu = clock();
    for (int frame = 1; status == TREACLE_OK && frame < frames; ++frame) {
        double until = frame / 30.0;
        while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
            treacle_step_stats stats;
            status = treacle_sim_step(sim, until - treacle_sim_time(sim), &stats);
            out->steps += 1;
        }
    }
    out->wall = bench_clock() - wall;
    out->cpu = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    return status;
}

static treacle_status measure(bench* b, const animation* a) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    bool is_stand_in = false;
    cost c = {0};
    treacle_status status = load(b->ctx, a, &scene, &is_stand_in);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(b->ctx, treacle_scene_sim(scene), &sim);
    }
    if (status == TREACLE_OK) {
        status = simulate(sim, a->frames, &c);
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    if (status != TREACLE_OK) {
        return status;
    }
    char name[64], yardstick[64];
    bench_text(name, sizeof(name), "%s%s", a->name, is_stand_in ? ", of balls" : "");
    bench_text(yardstick, sizeof(yardstick), "%g s of the paper (2002)", a->paper);
    bench_row wall = {.case_name = name,
                      .quantity = "all frames",
                      .value = c.wall,
                      .unit = "s",
                      .yardstick = yardstick,
                      .ratio = a->paper / c.wall,
                      .limit = BENCH_RATIO_AT_LEAST,
                      .minimum = 10.0};
    bench_report(b, &wall);
    bench_row cpu = {.case_name = name, .quantity = "CPU time", .value = c.cpu, .unit = "s"};
    bench_report(b, &cpu);
    bench_row steps = {
        .case_name = name, .quantity = "steps", .value = (double)c.steps, .unit = ""};
    bench_report(b, &steps);
    return TREACLE_OK;
}

treacle_status bench_carlson(bench* b) {
    static const char green[] = "scenes/green_liquid.yaml";
    static const animation all[] = {
        {"green liquid, 0.1", green, NULL, 300, 145.0},
        {"green liquid, 1", green, "materials.green.viscosity=1", 300, 104.0},
        {"green liquid, 10", green, "materials.green.viscosity=10", 300, 94.0},
        {"green liquid, 100", green, "materials.green.viscosity=100", 300, 94.0},
        {"toothpaste", "scenes/toothpaste.yaml", NULL, 330, 108.0},
        {"bunny melts", "scenes/extra/bunny_melt.yaml", NULL, 600, 330.0},
        {"drip castle", "scenes/drip_castle.yaml", NULL, 750, 397.0},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
        treacle_status status = measure(b, &all[i]);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    return TREACLE_OK;
}
