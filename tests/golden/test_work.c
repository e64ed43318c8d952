// What steps cost, in numbers that do not depend on the machine or on its load: blocks and bytes
// that are allocated, bytes of scratch that are taken, to be written and read, passes over
// particles, all loops, the items of all loops, iterations of solves. A commit that costs work
// shows here at once.
//
// A bound that is raised needs its reason in the commit that raises it: what the work is for, and
// what it costs in time. Bounds are about a tenth above what was measured; one that is more than
// half above fails too, for it guards nothing: lower it.
#include <stdlib.h>

#include "base/context.h"
#include "treacle/scene.h"
#include "unit/unit.h"

#include "unit/particle_fixture.h"

typedef enum work_kind {
    WORK_BLOCKS,    // allocations of the whole process, libraries included
    WORK_KILOBYTES, // that they asked for
    WORK_SCRATCH,   // kilobytes that steps took of their scratch memory, for fields to be touched
    WORK_PASSES,    // over all particles
    WORK_LOOPS,     // of any kind: coarse levels of a multigrid are loops of their own
    WORK_ITEMS,     // in thousands, of all loops
    WORK_ITERATIONS,
    WORK_STEPS, // that were begun, also those that were begun again
    WORK_COUNT
} work_kind;

static const char* const work_name[WORK_COUNT] = {
    "blocks", "kilobytes",      "kilobytes of scratch", "passes over particles",
    "loops",  "thousand items", "iterations",           "steps"};

typedef struct golden {
    const char* name;
    int frames;
    int64_t bound[WORK_COUNT];
    const char* text;
} golden;

// blocks, kilobytes, kilobytes of scratch, passes over particles, loops, thousands of items,
// iterations, steps.
static const golden goldens[] = {
    {"dam",
     6,
     {7, 1900, 10000, 750, 12000, 990, 93, 17},
     "domain: {size: [0.64, 0.32, 0.16], cell: 2 cm, sides: {all: slip, top: open}}\n"
     "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.16]}}}]\n"},
    {"honey",
     4,
     {23, 15000, 41000, 890, 22000, 810, 140, 19},
     "domain: {size: [4 cm, 4 cm, 4 cm], cell: 2 mm, sides: {all: open, bottom: no-slip}}\n"
     "step: {max_dt: 10 ms}\n"
     "materials: {honey: {density: 1400, viscosity: 70}}\n"
     "liquids:\n"
     "  - shape: {cylinder: {radius: 5 mm, height: 2 cm, centre: [2 cm, 1.5 cm, 2 cm]}}\n"
     "    material: honey\n"
     "emitters:\n"
     "  - shape: {cylinder: {radius: 5 mm, height: 4 mm, centre: [2 cm, 3 cm, 2 cm]}}\n"
     "    material: honey\n"
     "    speed: 10 cm/s\n"},
    {"gel",
     4,
     {20, 10000, 26000, 610, 13000, 640, 96, 10},
     "domain: {size: [16 cm, 12 cm, 16 cm], cell: 1 cm, sides: {all: slip, top: open}}\n"
     "materials: {goop: {density: 1000, viscosity: 0.5, elastic: {mu_e: 4000, alpha: 10, gamma: "
     "0.1}}}\n"
     "liquids: [{shape: {box: {min: [4 cm, 1 cm, 4 cm], max: [12 cm, 9 cm, 12 cm]}}, material: "
     "goop}]\n"},
    {"paste",
     4,
     {31, 31000, 17000, 490, 180000, 980, 1800, 10},
     "domain: {size: [16 cm, 12 cm, 16 cm], cell: 1 cm, sides: {all: no-slip, top: open}}\n"
     "materials: {paste: {density: 1000, rheology: {law: herschel-bulkley, yield_stress: 100, "
     "consistency: 10}}}\n"
     "liquids: [{shape: {cylinder: {radius: 4 cm, height: 8 cm, centre: [8 cm, 4 cm, 8 cm]}}, "
     "material: paste}]\n"},
    {"bodies",
     4,
     {23, 5900, 34000, 510, 17500, 2150, 62, 10},
     "domain: {size: [24 cm, 24 cm, 24 cm], cell: 1.5 cm}\n"
     "liquids: [{shape: {box: {min: [0, 0, 0], max: [24 cm, 16 cm, 24 cm]}}}]\n"
     "bodies:\n"
     "  cork: {shape: {sphere: {radius: 4 cm, centre: [7 cm, 15 cm, 12 cm]}}, density: 200}\n"
     "  die: {shape: {box: {size: [6 cm, 6 cm, 6 cm]}, rotate: [20 deg, 30 deg, 0], move: [16 cm, "
     "12 cm, 12 cm]}, density: 3000}\n"},
    {"wax",
     4,
     {29, 32000, 36000, 460, 11000, 2650, 46, 7},
     "domain: {size: [0.16, 0.08, 0.08], cell: 5 mm, sides: no-slip}\n"
     "step: {max_dt: 40 ms}\n"
     "heat: {air: 20 degC, loss: 15, emissivity: 0.9}\n"
     "materials:\n"
     "  wax:\n"
     "    {density: 850, viscosity: 0.5, conductivity: 2, heat_capacity: 2400,\n"
     "     latent_heat: 60 kJ/kg, solidus: 52 degC, liquidus: 60 degC,\n"
     "     viscosity_law: {kind: linear, from: 52 degC, to: 60 degC, low: 10000, high: 0.5}}\n"
     "heat_walls: [{side: bottom, temperature: 20 degC, contact: 500}]\n"
     "heat_sources: [{place: [0.11, 0.08, 0.06], power: 4 kW}]\n"
     "liquids:\n"
     "  - {shape: {box: {min: [0.04, 0, 0.016], max: [0.104, 0.064, 0.064]}}, material: wax,\n"
     "     temperature: 58 degC}\n"},
    {"eulerian",
     3,
     {33, 40000, 150000, 780, 16000, 41000, 150, 31},
     "motion: eulerian\n"
     "domain: {size: [0.32, 0.16, 0.16], cell: 1 cm, sides: {all: slip, top: open}}\n"
     "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.16]}}}]\n"},
};
enum { GOLDENS = sizeof(goldens) / sizeof(goldens[0]) };

// ---------------------------------------------------------------- blocks and bytes, at malloc

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* block, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static bool is_counting;
static _Atomic int64_t blocks, block_bytes;

static void count_block(size_t bytes) {
    if (is_counting) {
        blocks += 1;
        block_bytes += (int64_t)bytes;
    }
}

void* malloc(size_t bytes) {
    count_block(bytes);
    return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
    count_block(count * bytes);
    return __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) {
    count_block(bytes);
    return __libc_realloc(block, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
    count_block(bytes);
    return __libc_memalign(alignment, bytes);
}

// ---------------------------------------------------------------- loops and iterations

static void run_to(treacle_sim* sim, double end, int64_t* work) {
    while (treacle_sim_time(sim) < end - 1e-9) {
        treacle_step_stats step;
        assert_int_equal(treacle_sim_step(sim, end - treacle_sim_time(sim), &step), TREACLE_OK);
        work[WORK_ITERATIONS] +=
            step.pressure.iterations + step.viscosity.iterations + step.flow.iterations;
        work[WORK_STEPS] += 1 + step.retries;
    }
}

static void measure(treacle_context* ctx, const golden* g, int64_t* work) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    memset(work, 0, WORK_COUNT * sizeof(*work));
    treacle_status status =
        treacle_scene_parse(ctx, g->name, g->text, strlen(g->text), 0, NULL, &scene);
    if (status != TREACLE_OK) {
        print_error("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    assert_string_equal(treacle_scene_report(scene), "");
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    context_work before = ctx->work;
    blocks = block_bytes = 0;
    is_counting = true;
    run_to(sim, g->frames / treacle_scene_sim(scene)->fps, work);
    is_counting = false;
    work[WORK_BLOCKS] = blocks;
    work[WORK_KILOBYTES] = block_bytes / 1000;
    work[WORK_SCRATCH] = (ctx->work.scratch_bytes - before.scratch_bytes) / 1000;
    work[WORK_PASSES] = ctx->work.particle_passes - before.particle_passes;
    work[WORK_LOOPS] = ctx->work.loops - before.loops;
    work[WORK_ITEMS] = (ctx->work.items - before.items) / 1000;
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
}

static bool holds(const golden* g, work_kind kind, int64_t work) {
    int64_t bound = g->bound[kind];
    if (work > bound) {
        print_error("%s: %ld %s, at most %ld were allowed\n", g->name, (long)work, work_name[kind],
                    (long)bound);
    } else if (3 * work < 2 * bound && bound > 10) {
        print_error("%s: %ld %s; the bound of %ld can be lowered\n", g->name, (long)work,
                    work_name[kind], (long)bound);
    }
    return work <= bound && (3 * work >= 2 * bound || bound <= 10);
}

static void test_steps_cost_no_more_than_they_did(void** state) {
    (void)state;
    int failures = 0;
    for (int i = 0; i < GOLDENS; ++i) {
        int64_t work[WORK_COUNT];
        treacle_context* ctx = make_context(1);
        bool has_heap = ctx->has_heap; // else every request goes to malloc
        measure(ctx, &goldens[i], work);
        unit_context_end(ctx);
        print_message("%-9s", goldens[i].name);
        for (int kind = 0; kind < WORK_COUNT; ++kind) {
            print_message("%9ld", (long)work[kind]);
            bool is_held = has_heap || kind > WORK_KILOBYTES;
            failures += is_held && !holds(&goldens[i], kind, work[kind]);
        }
        print_message("\n");
    }
    assert_int_equal(failures, 0);
}

// Liquid that lies still: what steps need is the same in each of them.
static const struct {
    const char *name, *material, *bodies;
} still[] = {
    {"water", "density: 1000, viscosity: 1e-3", ""},
    {"honey", "density: 1400, viscosity: 70", ""},
    {"paste",
     "density: 1000, rheology: {law: herschel-bulkley, yield_stress: 100, consistency: 10}", ""},
    {"gel", "density: 1000, viscosity: 0.5, elastic: {mu_e: 4000, alpha: 10, gamma: 0.1}", ""},
    {"bodies", "density: 1000",
     "bodies:\n"
     "  cork: {shape: {sphere: {radius: 3 cm, centre: [5 cm, 6 cm, 8 cm]}}, density: 500}\n"
     "  die: {shape: {box: {min: [10 cm, 0, 6 cm], max: [14 cm, 4 cm, 10 cm]}}, density: 3000}\n"},
};
enum { STILL_FIRST = 12, STILL_COUNTED = 5 };

static int64_t blocks_of_still(treacle_context* ctx, size_t which) {
    char text[800];
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    snprintf(
        text, sizeof(text),
        "domain: {size: [16 cm, 16 cm, 16 cm], cell: 1 cm, sides: {all: slip, top: open}}\n"
        "step: {max_dt: 5 ms}\n"
        "materials: {it: {%s}}\n"
        "liquids: [{shape: {box: {min: [0, 0, 0], max: [16 cm, 6 cm, 16 cm]}}, material: it}]\n"
        "%s",
        still[which].material, still[which].bodies);
    assert_int_equal(treacle_scene_parse(ctx, "still", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    for (int i = 0; i < STILL_FIRST + STILL_COUNTED; ++i) {
        treacle_step_stats step;
        if (i == STILL_FIRST) {
            blocks = block_bytes = 0;
            is_counting = true;
        }
        assert_int_equal(treacle_sim_step(sim, 5e-3, &step), TREACLE_OK);
    }
    is_counting = false;
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return blocks;
}

static void test_steps_of_steady_size_take_nothing_from_the_heap(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof(still) / sizeof(still[0]); ++i) {
        treacle_context* ctx = make_context(1);
        bool has_heap = ctx->has_heap;
        int64_t count = blocks_of_still(ctx, i);
        unit_context_end(ctx);
        print_message("%-9s%9ld blocks\n", still[i].name, (long)count);
        assert_true(count == 0 || !has_heap);
    }
}

// Blocks and bytes are not compared: each thread has scratch memory of its own.
static void test_threads_and_instruction_sets_cost_no_work(void** state) {
    (void)state;
    for (int i = 0; i < GOLDENS; i += 3) {
        int64_t one[WORK_COUNT], other[WORK_COUNT];
        treacle_context* ctx = make_context_on(1, TREACLE_ISA_SSE2);
        measure(ctx, &goldens[i], one);
        unit_context_end(ctx);
        ctx = make_context(3);
        measure(ctx, &goldens[i], other);
        treacle_context_destroy(ctx);
        for (int kind = WORK_PASSES; kind < WORK_COUNT; ++kind) {
            assert_int_equal(one[kind], other[kind]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_cost_no_more_than_they_did),
        cmocka_unit_test(test_steps_of_steady_size_take_nothing_from_the_heap),
        cmocka_unit_test(test_threads_and_instruction_sets_cost_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
