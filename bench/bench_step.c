// A step of the liquid, stage by stage: dam breaks of three sizes on one and two threads.
//
// Times are medians of several steps of one run, after some that set the liquid in motion. A stage
// costs so much a particle and so much an active cell, one of a tile with particles. Rows on one
// thread compare with the next smaller dam: a ratio of 1 is a cost that does not grow. Rows on two
// threads compare with one: the ratio is the speed-up.
//
// The transfers are also held against the bandwidth of memory. Compulsory are the bytes that any
// transfer has to move between memory and processor, once:
//
//     to the grid        position, velocity, volume, material and affine rows are read; velocity
//                        and mass on faces, density and volume at cells are written
//     to the particles   position is read and velocity written, with FLIP also read with material;
//                        affine rows are written; velocity on faces is read, with FLIP twice
#include <stdlib.h>

#include "base/check.h"
#include "benches.h"

enum { WARM_STEPS = 2, STEPS = 5, CELLS_A_TILE = 512, AFFINE_BYTES = 36 };

typedef struct dam {
    int cells; // along an edge of the domain
    int threads;
    treacle_transfer transfer;
} dam;

// What of a step is looked at: the stages, and sums of them.
enum {
    COST_UNSOLVED = TREACLE_STAGE_COUNT, // all but the pressure solve
    COST_STEP,
    COST_COUNT
};

typedef struct dam_cost {
    double particles, active_cells;
    double seconds[COST_COUNT];
    double bytes_at_peak;
} dam_cost;

static const char* cost_name(int cost) {
    return cost == COST_STEP       ? "all stages"
           : cost == COST_UNSOLVED ? "all but the solve"
                                   : treacle_stage_name((treacle_stage)cost);
}

treacle_status bench_create_dam(treacle_context* ctx, int cells, treacle_transfer transfer,
                                treacle_sim** out) {
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    treacle_liquid_def liquid = treacle_liquid_def_default();
    treacle_material_def material = treacle_material_def_default();
    treacle_sim_def def = treacle_sim_def_default();
    const double size[3] = {0.4, 0.5, 1.0};
    for (int a = 0; a < 3; ++a) {
        def.domain.size[a] = 1.0;
        box.size[a] = size[a];
        box.move[a] = 0.5 * size[a];
    }
    def.domain.cell = 1.0 / cells;
    def.transfer = transfer;
    liquid.shape = &box;
    def.material_count = def.liquid_count = 1;
    def.materials = &material;
    def.liquids = &liquid;
    return treacle_sim_create(ctx, &def, out);
}

static int compare_doubles(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void take_costs(const treacle_step_stats* stats, double out[COST_COUNT][STEPS], int step) {
    double sum = 0.0;
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        out[s][step] = stats->seconds[s];
        sum += stats->seconds[s];
    }
    out[COST_UNSOLVED][step] = sum - stats->pressure.seconds;
    out[COST_STEP][step] = sum;
}

static treacle_status run_dam(treacle_sim* sim, dam_cost* out) {
    double seconds[COST_COUNT][STEPS];
    treacle_step_stats stats = {0};
    for (int i = -WARM_STEPS; i < STEPS; ++i) {
        TREACLE_TRY(treacle_sim_step(sim, 1.0, &stats));
        if (i >= 0) {
            take_costs(&stats, seconds, i);
        }
    }
    for (int c = 0; c < COST_COUNT; ++c) {
        qsort(seconds[c], STEPS, sizeof(double), compare_doubles);
        out->seconds[c] = seconds[c][STEPS / 2];
    }
    out->particles = (double)stats.particles;
    out->active_cells = (double)stats.tiles * CELLS_A_TILE;
    out->bytes_at_peak = (double)stats.memory_peak;
    return TREACLE_OK;
}

// In a context of its own: the peak of memory is the context's.
static treacle_status measure(const dam* d, dam_cost* out) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_sim* sim = NULL;
    def.threads = d->threads;
    TREACLE_TRY(treacle_context_create(&def, &ctx));
    treacle_status status = bench_create_dam(ctx, d->cells, d->transfer, &sim);
    if (status == TREACLE_OK) {
        status = run_dam(sim, out);
    }
    if (status != TREACLE_OK) {
        fprintf(stderr, "bench: a dam of %d^3 cells: %s\n", d->cells, treacle_context_error(ctx));
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return status;
}

static const char* name_dam(const dam* d, char* buffer, size_t capacity) {
    return bench_text(buffer, capacity, "%s dam %d^3, %d thread%s",
                      d->transfer == TREACLE_TRANSFER_APIC ? "APIC" : "FLIP", d->cells, d->threads,
                      d->threads == 1 ? "" : "s");
}

// `other` is the smaller dam or the one on fewer threads; NULL if there is none.
static void report_costs(const bench* b, const char* name, const dam_cost* cost,
                         const dam_cost* other, const char* other_name) {
    for (int c = 0; c < COST_COUNT; ++c) {
        double seconds = cost->seconds[c];
        if (seconds < 1e-9 * cost->particles) {
            continue; // less than a nanosecond a particle is no cost
        }
        double each = 1e9 * seconds / cost->particles;
        double of_other = other == NULL ? 0.0 : 1e9 * other->seconds[c] / other->particles;
        char against[96];
        bench_text(against, sizeof(against), "%s, %.3g", other_name, of_other);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = cost_name(c),
                                     .value = each,
                                     .unit = "ns/part",
                                     .yardstick = other == NULL ? NULL : against,
                                     .ratio = of_other / each});
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = cost_name(c),
                                     .value = 1e9 * seconds / cost->active_cells,
                                     .unit = "ns/cell"});
    }
}

static double bytes_to_grid(const dam* d, const dam_cost* cost) {
    double particle = 12 + 12 + 4 + 1 + (d->transfer == TREACLE_TRANSFER_APIC ? AFFINE_BYTES : 0);
    double cell = 12 + 12 + 4 + 4;
    return particle * cost->particles + cell * cost->active_cells;
}

static double bytes_to_particles(const dam* d, const dam_cost* cost) {
    bool is_apic = d->transfer == TREACLE_TRANSFER_APIC;
    double particle = 12 + 12 + (is_apic ? AFFINE_BYTES : 12 + 1);
    double cell = is_apic ? 12 : 24;
    return particle * cost->particles + cell * cost->active_cells;
}

static void report_bandwidth(const bench* b, const char* name, const dam* d, const dam_cost* cost) {
    double triad = bench_measure_triad(d->threads).bytes_per_second;
    const double rate[2] = {
        bytes_to_grid(d, cost) / cost->seconds[TREACLE_STAGE_TO_GRID],
        bytes_to_particles(d, cost) / cost->seconds[TREACLE_STAGE_TO_PARTICLES],
    };
    static const char* const names[2] = {"to_grid bytes", "to_particles bytes"};
    for (int i = 0; i < 2; ++i) {
        char against[64];
        bench_text(against, sizeof(against), "triad, %.3g GB/s", triad * 1e-9);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = names[i],
                                     .value = rate[i] * 1e-9,
                                     .unit = "GB/s",
                                     .yardstick = against,
                                     .ratio = rate[i] / triad});
    }
}

static void report_memory(const bench* b, const char* name, const dam_cost* cost) {
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "memory at peak",
                                 .value = cost->bytes_at_peak / cost->particles,
                                 .unit = "B/part"});
}

// One dam on one thread and on two; *single is the former's cost, of the next smaller dam before.
static treacle_status measure_threads(bench* b, dam d, const dam_cost* smaller, dam_cost* single) {
    char name[64];
    dam_cost twice = {0};
    for (d.threads = 1; d.threads <= 2; ++d.threads) {
        dam_cost* cost = d.threads == 1 ? single : &twice;
        TREACLE_TRY(measure(&d, cost));
        name_dam(&d, name, sizeof(name));
        report_costs(b, name, cost, d.threads == 1 ? smaller : single,
                     d.threads == 1 ? "a smaller dam" : "one thread");
        report_bandwidth(b, name, &d, cost);
    }
    report_memory(b, name, &twice);
    return TREACLE_OK;
}

treacle_status bench_step(bench* b) {
    static const int sizes[] = {64, 128, 192};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    dam_cost single[SIZES], flip;
    for (int i = 0; i < SIZES; ++i) {
        dam d = {.cells = sizes[i], .transfer = TREACLE_TRANSFER_APIC};
        TREACLE_TRY(measure_threads(b, d, i > 0 ? &single[i - 1] : NULL, &single[i]));
    }
    return measure_threads(b, (dam){.cells = 128, .transfer = TREACLE_TRANSFER_FLIP}, NULL, &flip);
}
