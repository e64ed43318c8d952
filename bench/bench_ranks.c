// Ranks: dam breaks by build/mpi/bench_rank under mpirun, which is built where MPI and p4est are.
//
//     strong scaling     the same dam on one rank, on two threads of one, and on two, three and
//                        four ranks of a thread; and the fraction of the time in which ranks tell
//                        each other something or wait. The work of a rank is the processor time of
//                        its step without that: it says how well the work is shared out, also where
//                        the machine is busy with other things
//     growth             the cost of a particle on one rank, from a million up
//     memory             bytes at the peak, all in, for each particle; and those of the rank that
//                        needs most, on one to four ranks
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "benches.h"

typedef struct rank_run {
    int ranks, threads, cells, steps;
    const char* words;
} rank_run;

typedef struct rank_figures {
    double seconds, work, exchange, messages, bytes, particles, memory, imbalance;
    int iterations;
    double resident; // bytes
} rank_figures;

// Where bench_rank is: beside this program, in mpi/.
static bool find_program(char* out, size_t capacity) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0) {
        return false;
    }
    self[length] = '\0';
    snprintf(out, capacity, "%s/mpi/bench_rank", dirname(self));
    return access(out, X_OK) == 0;
}

static bool run(const rank_run* r, rank_figures* out) {
    char program[PATH_MAX + 32], command[2 * PATH_MAX];
    if (!find_program(program, sizeof(program))) {
        return false;
    }
    snprintf(
        command, sizeof(command),
        "mpirun --allow-run-as-root --oversubscribe --mca plm isolated --bind-to none -n %d %s %d "
        "%d %d %s",
        r->ranks, program, r->cells, r->steps, r->threads, r->words);
    FILE* pipe = popen(command, "r");
    if (pipe == NULL) {
        return false;
    }
    int read = fscanf(pipe, "%lf %lf %lf %lf %lf %lf %lf %lf %d %lf", &out->seconds, &out->work,
                      &out->exchange, &out->messages, &out->bytes, &out->particles, &out->memory,
                      &out->imbalance, &out->iterations, &out->resident);
    return pclose(pipe) == 0 && read == 10;
}

static void report_scaling(const bench* b, const char* name, const rank_figures* f,
                           const rank_figures* one) {
    char against[64];
    bench_text(against, sizeof(against), "one rank, %.3g s", one->seconds);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "a step",
                                 .value = f->seconds,
                                 .unit = "s",
                                 .yardstick = f == one ? NULL : against,
                                 .ratio = one->seconds / f->seconds});
    bench_text(against, sizeof(against), "one rank, %.3g s", one->work);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "work of a rank",
                                 .value = f->work,
                                 .unit = "s cpu",
                                 .yardstick = f == one ? NULL : against,
                                 .ratio = one->work / f->work});
    if (f->messages > 0.0) {
        const struct {
            const char *quantity, *unit;
            double value;
        } rows[] = {
            {"share of exchange", "", f->exchange / f->seconds},
            {"messages a step", "", f->messages},
            {"sent a step", "MB", f->bytes * 1e-6},
            {"imbalance", "", f->imbalance},
        };
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
            bench_report(b, &(bench_row){.case_name = name,
                                         .quantity = rows[i].quantity,
                                         .value = rows[i].value,
                                         .unit = rows[i].unit});
        }
    }
}

// The dam on one rank, and on more threads or ranks.
static treacle_status measure_scaling(bench* b, int cells, const char* words) {
    static const int ways[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}, {4, 1}}; // ranks, threads
    rank_figures one = {0};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
        rank_run r = {ways[i][0], ways[i][1], cells, 5, words};
        rank_figures f;
        char name[96];
        if (!run(&r, &f)) {
            fprintf(stderr, "bench: no figures of %d ranks\n", r.ranks);
            return TREACLE_ERR_EXTERNAL;
        }
        one = i == 0 ? f : one;
        bench_text(name, sizeof(name), "%sdam %d^3, %d rank%s of %d", words, cells, r.ranks,
                   r.ranks == 1 ? "" : "s", r.threads);
        report_scaling(b, name, &f, i == 0 ? &f : &one);
    }
    return TREACLE_OK;
}

static treacle_status measure_growth(bench* b) {
    static const int cells[] = {72, 136, 216}; // 1.2, 8 and 32 million particles
    enum { SIZES = 3, QUICK_SIZES = 2 };
    const double growth_max = 1.3;
    double first = 0.0;
    for (int i = 0; i < (b->is_full ? SIZES : QUICK_SIZES); ++i) {
        rank_run r = {1, 2, cells[i], i == SIZES - 1 ? 2 : 5, ""};
        rank_figures f;
        char name[64], against[64];
        if (!run(&r, &f)) {
            return TREACLE_ERR_EXTERNAL;
        }
        double each = 1e9 * f.work / f.particles;
        first = i == 0 ? each : first;
        bench_text(name, sizeof(name), "dam of %.3g particles", f.particles);
        bench_text(against, sizeof(against), "the smallest, %.3g", first);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "work of a step",
                                     .value = each,
                                     .unit = "ns/part",
                                     .yardstick = i == 0 ? NULL : against,
                                     .ratio = first / each,
                                     .limit = i == 0 ? BENCH_NO_LIMIT : BENCH_RATIO_AT_LEAST,
                                     .minimum = 1.0 / growth_max});
    }
    return TREACLE_OK;
}

static treacle_status measure_memory(bench* b) {
    static const char* const words[] = {"", "apic", "thick", "thick apic"};
    static const char* const names[] = {"FLIP", "APIC", "FLIP, thick", "APIC, thick"};
    for (int i = 0; i < 4; ++i) {
        rank_run r = {1, 2, 96, 2, words[i]};
        rank_figures f;
        char name[64];
        if (!run(&r, &f)) {
            return TREACLE_ERR_EXTERNAL;
        }
        bench_text(name, sizeof(name), "%s, %.3g particles", names[i], f.particles);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "memory at peak",
                                     .value = f.memory / f.particles,
                                     .unit = "B/part"});
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "resident at peak",
                                     .value = f.resident / f.particles,
                                     .unit = "B/part"});
    }
    return TREACLE_OK;
}

// What the rank that needs most holds at its peak, of the same dam on one, two and four ranks.
static treacle_status measure_shares(bench* b, int cells, const char* words) {
    static const int ranks[] = {1, 2, 4};
    double one = 0.0;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); ++i) {
        rank_run r = {ranks[i], 1, cells, 2, words};
        rank_figures f;
        char name[96], against[64];
        if (!run(&r, &f)) {
            return TREACLE_ERR_EXTERNAL;
        }
        one = i == 0 ? f.resident : one;
        bench_text(name, sizeof(name), "%sdam of %.3g particles, %d rank%s", words, f.particles,
                   r.ranks, r.ranks == 1 ? "" : "s");
        bench_text(against, sizeof(against), "one rank, %.3g MB", one * 1e-6);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "resident at peak",
                                     .value = f.resident * 1e-6,
                                     .unit = "MB/rank",
                                     .yardstick = i == 0 ? NULL : against,
                                     .ratio = one / f.resident});
    }
    return TREACLE_OK;
}

treacle_status bench_ranks(bench* b) {
    char program[PATH_MAX + 32];
    if (!find_program(program, sizeof(program))) {
        fprintf(stderr, "bench: ranks: there is no mpi/bench_rank beside this program; install "
                        "MPI and p4est (tools/install_packages.sh ranks) and build again\n");
        return TREACLE_OK;
    }
    TREACLE_TRY(measure_scaling(b, 96, ""));
    TREACLE_TRY(measure_scaling(b, 64, "thick "));
    TREACLE_TRY(measure_growth(b));
    TREACLE_TRY(measure_shares(b, b->is_full ? 192 : 128, ""));
    TREACLE_TRY(measure_shares(b, b->is_full ? 128 : 96, "thick "));
    return measure_memory(b);
}
