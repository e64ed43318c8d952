// build/bench: measures speed beside yardsticks of the same run.
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "benches.h"

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

typedef struct arguments {
    bool is_list, is_json, is_full;
    int threads;
    int name_count;
    char** names;
} arguments;

static bool parse_threads(const char* text, int* out) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1024) {
        fprintf(stderr, "bench: --threads %s: expected a number from 1 to 1024\n", text);
        return false;
    }
    *out = (int)value;
    return true;
}

// False ends the program with the exit code in *exit_code.
static bool parse_arguments(int argc, char** argv, arguments* out, int* exit_code) {
    static const struct option options[] = {
        {"list", no_argument, NULL, 'l'}, {"json", no_argument, NULL, 'j'},
        {"full", no_argument, NULL, 'f'}, {"threads", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
    };
    *exit_code = TREACLE_ERR_USAGE;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o == 'h') {
            fputs(usage, stdout);
            *exit_code = 0;
            return false;
        }
        if (o == '?') {
            fputs(usage, stderr);
            return false;
        }
        out->is_list |= o == 'l';
        out->is_json |= o == 'j';
        out->is_full |= o == 'f';
        if (o == 'n' && !parse_threads(optarg, &out->threads)) {
            return false;
        }
    }
    out->name_count = argc - optind;
    out->names = argv + optind;
    return true;
}

static int list_entries(void) {
    printf("%-12s %8s  %s\n", "bench", "seconds", "what");
    for (int i = 0; i < bench_entry_count; ++i) {
        printf("%-12s %8.0f  %s\n", bench_entries[i].name, bench_entries[i].seconds,
               bench_entries[i].text);
    }
    return 0;
}

static bool is_wanted(const arguments* args, const char* name) {
    for (int i = 0; i < args->name_count; ++i) {
        if (strcmp(args->names[i], name) == 0) {
            return true;
        }
    }
    return args->name_count == 0;
}

static bool names_exist(const arguments* args) {
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

static int run(bench* b, const arguments* args) {
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

// Keeps freed memory for the next step, which wants as much again: getting pages back from the
// kernel costs a tenth of a solve.
static void keep_memory(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char** argv) {
    arguments args = {0};
    int exit_code = 0;
    keep_memory();
    if (!parse_arguments(argc, argv, &args, &exit_code)) {
        return exit_code;
    }
    if (args.is_list) {
        return list_entries();
    }
    if (!names_exist(&args)) {
        return TREACLE_ERR_USAGE;
    }
    treacle_context_def def = treacle_context_def_default();
    def.threads = args.threads;
    treacle_context* ctx = NULL;
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status != TREACLE_OK) {
        fprintf(stderr, "bench: %s\n", treacle_status_text(status));
        return (int)status;
    }
    char folder[] = "/tmp/treacle-bench-XXXXXX";
    bench_tally tally = {0};
    bench b = {.ctx = ctx,
               .out = stdout,
               .tally = &tally,
               .as_json = args.is_json,
               .is_full = args.is_full,
               .folder = mkdtemp(folder)};
    exit_code = b.folder != NULL ? run(&b, &args) : TREACLE_ERR_IO;
    if (b.folder != NULL) {
        rmdir(b.folder);
    }
    treacle_context_destroy(ctx);
    return exit_code;
}
