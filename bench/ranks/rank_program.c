// A dam break on ranks, for bench/bench_ranks.c: mpirun -n N build/mpi/bench_rank CELLS STEPS
// THREADS [thick] [apic]. Prints one line of figures, by rank 0.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/comm.h"
#include "treacle/treacle.h"

enum { STEPS_MAX = 64, WARM_STEPS = 1 };

typedef struct dam {
    int cells, steps, threads; // cells along an edge of the domain
    bool is_thick, is_affine;
} dam;

typedef struct figures {
    double seconds, exchange, messages, bytes; // of the median step
    double work; // s of processor time in a step, the least, without what exchange takes
    double particles, memory, imbalance;
    int iterations;
} figures;

static treacle_status create(treacle_context* ctx, const dam* d, treacle_sim** out) {
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    treacle_liquid_def liquid = treacle_liquid_def_default();
    treacle_material_def material = treacle_material_def_default();
    treacle_sim_def def = treacle_sim_def_default();
    for (int a = 0; a < 3; ++a) {
        def.domain.size[a] = 1.0;
        box.size[a] = a == 1 ? 0.5 : 1.0;
        box.move[a] = 0.5 * box.size[a];
    }
    box.size[0] = 0.8;
    box.move[0] = 0.4;
    def.domain.cell = 1.0 / d->cells;
    def.transfer = d->is_affine ? TREACLE_TRANSFER_APIC : TREACLE_TRANSFER_FLIP;
    def.flow = d->is_thick ? TREACLE_FLOW_UNIFIED : TREACLE_FLOW_PRESSURE;
    material.viscosity = d->is_thick ? 10.0 : 0.0;
    liquid.shape = &box;
    def.material_count = def.liquid_count = 1;
    def.materials = &material;
    def.liquids = &liquid;
    return treacle_sim_create(ctx, &def, out);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(const treacle_step_stats* stats) {
    double sum = 0.0;
    for (int i = 0; i < TREACLE_STAGE_COUNT; ++i) {
        sum += stats->seconds[i];
    }
    return sum;
}

static int by_seconds(const void* a, const void* b) {
    double x = seconds_of(a), y = seconds_of(b);
    return (x > y) - (x < y);
}

static treacle_status measure(treacle_context* ctx, const dam* d, figures* out) {
    static treacle_step_stats stats[STEPS_MAX];
    treacle_sim* sim = NULL;
    treacle_status status = create(ctx, d, &sim);
    double work = INFINITY;
    for (int i = -WARM_STEPS; i < d->steps && status == TREACLE_OK; ++i) {
        treacle_step_stats* step = &stats[i < 0 ? 0 : i];
        double begin = cpu_seconds();
        status = treacle_sim_step(sim, 1.0, step);
        work = i < 0 ? work : fmin(work, cpu_seconds() - begin - step->exchange_cpu);
    }
    if (status == TREACLE_OK) {
        qsort(stats, (size_t)d->steps, sizeof(stats[0]), by_seconds);
        const treacle_step_stats* middle = &stats[d->steps / 2];
        *out = (figures){.seconds = seconds_of(middle),
                         .exchange = middle->exchange_seconds,
                         .work = work,
                         .messages = (double)middle->messages,
                         .bytes = (double)middle->exchanged_bytes,
                         .particles = (double)middle->particles,
                         .memory = (double)treacle_context_memory_peak(ctx),
                         .imbalance = middle->imbalance,
                         .iterations = middle->pressure.iterations + middle->flow.iterations};
    }
    treacle_sim_destroy(sim);
    return status;
}

static bool has_word(int argc, char** argv, const char* word) {
    bool has = false;
    for (int i = 4; i < argc; ++i) {
        has = has || strcmp(argv[i], word) == 0;
    }
    return has;
}

int main(int argc, char** argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: bench_rank CELLS STEPS THREADS [thick] [apic]\n");
        return TREACLE_ERR_USAGE;
    }
    dam d = {.cells = atoi(argv[1]),
             .steps = atoi(argv[2]),
             .threads = atoi(argv[3]),
             .is_thick = has_word(argc, argv, "thick"),
             .is_affine = has_word(argc, argv, "apic")};
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    figures f = {0};
    def.ranks = true;
    def.threads = d.threads;
    d.steps = d.steps < 1 ? 1 : d.steps > STEPS_MAX ? STEPS_MAX : d.steps;
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status == TREACLE_OK) {
        status = measure(ctx, &d, &f);
    }
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    double resident = 1024.0 * (double)use.ru_maxrss;
    if (status == TREACLE_OK) {
        comm_max_f64(ctx, &resident, 1); // of the rank that needs most
    }
    if (status == TREACLE_OK && treacle_context_rank(ctx) == 0) {
        printf("%g %g %g %g %g %g %g %g %d %g\n", f.seconds, f.work, f.exchange, f.messages,
               f.bytes, f.particles, f.memory, f.imbalance, f.iterations, resident);
    } else if (status != TREACLE_OK && ctx != NULL) {
        fprintf(stderr, "bench_rank: %s\n", treacle_context_error(ctx));
    }
    treacle_context_destroy(ctx);
    return (int)status;
}
