// build/bench: measures speed beside yardsticks of the same run.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "benches.h"
#include "measure_program.h"

static const char usage[] =
    "usage: build/bench [NAME ...] [--full] [--json] [--threads N]\n"
    "       build/bench --list\n"
    "\n"
    "Measures speed; without NAME everything. Each run first measures the bandwidth of memory,\n"
    "because that is what the figures hang on and it changes by the hour. Times are medians.\n"
    "\n"
    "  --list        the benches, with estimated seconds\n"
    "  --full        also the rows that take long\n"
    "  --json        one JSON object a line: bench, case, quantity, value, unit, yardstick, ratio\n"
    "  --threads N   worker threads; one per core without it\n";

static int list_entries(void) {
    printf("%-12s %8s  %s\n", "bench", "seconds", "what");
    for (int i = 0; i < bench_entry_count; ++i) {
        printf("%-12s %8.0f  %s\n", bench_entries[i].name, bench_entries[i].seconds,
               bench_entries[i].text);
    }
    return 0;
}

static bool is_wanted(const measure_arguments* args, const char* name) {
    for (int i = 0; i < args->name_count; ++i) {
        if (strcmp(args->names[i], name) == 0) {
            return true;
        }
    }
    return args->name_count == 0;
}

static bool names_exist(const measure_arguments* args) {
    for (int i = 0; i < args->name_count; ++i) {
        bool is_known = false;
        for (int k = 0; k < bench_entry_count; ++k) {
            is_known |= strcmp(args->names[i], bench_entries[k].name) == 0;
        }
        if (!is_known) {
            fprintf(stderr, "bench: there is no bench \"%s\"; build/bench --list shows all\n",
                    args->names[i]);
            return false;
        }
    }
    return true;
}

static void report_triad(bench* b, int threads) {
    bench_triad triad = bench_measure_triad(threads);
    char name[64];
    bench_text(name, sizeof(name), "%d thread%s, %.0f MB arrays", threads, threads == 1 ? "" : "s",
               triad.array_bytes * 1e-6);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "triad bandwidth",
                                 .value = triad.bytes_per_second * 1e-9,
                                 .unit = "GB/s"});
}

enum { EXIT_MISSED = 2 }; // all benches ran, but a row missed what is asked of it

static int run_entries(bench* b, const measure_arguments* args) {
    static const bench_entry stream = {.name = "stream"};
    int failed = 0;
    double begin = bench_clock();
    bench_print_head(b);
    b->current = &stream;
    report_triad(b, 1);
    report_triad(b, 2);
    for (int i = 0; i < bench_entry_count; ++i) {
        b->current = &bench_entries[i];
        if (!is_wanted(args, b->current->name)) {
            continue;
        }
        treacle_status status = b->current->run(b);
        if (status != TREACLE_OK) {
            fprintf(stderr, "bench: %s: %s: %s\n", b->current->name, treacle_status_text(status),
                    treacle_context_error(b->ctx));
            failed += 1;
        }
    }
    if (!b->as_json && b->tally->passed + b->tally->missed > 0) {
        fprintf(b->out, "%d rows as good as asked, %d not; %.0f s\n", b->tally->passed,
                b->tally->missed, bench_clock() - begin);
    }
    return failed > 0 ? 1 : b->tally->missed > 0 ? EXIT_MISSED : 0;
}

typedef struct plan {
    measure_arguments args;
    bool is_full;
} plan;

static int run(treacle_context* ctx, void* user) {
    const plan* p = user;
    char folder[] = "/tmp/treacle-bench-XXXXXX";
    bench_tally tally = {0};
    bench b = {.ctx = ctx,
               .out = stdout,
               .tally = &tally,
               .as_json = p->args.is_json,
               .is_full = p->is_full,
               .folder = mkdtemp(folder)};
    if (b.folder == NULL) {
        return TREACLE_ERR_IO;
    }
    int exit_code = run_entries(&b, &p->args);
    rmdir(b.folder);
    return exit_code;
}

int main(int argc, char** argv) {
    plan p = {.args = {.program = "bench", .usage = usage, .option_count = 1}};
    const measure_option options[] = {{.name = "full", .flag = &p.is_full}};
    int exit_code = 0;
    p.args.options = options;
    if (!measure_parse(&p.args, argc, argv, &exit_code)) {
        return exit_code;
    }
    if (p.args.is_list) {
        return list_entries();
    }
    return names_exist(&p.args) ? measure_go(&p.args, run, &p) : TREACLE_ERR_USAGE;
}
