// build/validate: runs cases whose answer is known and compares.
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"

static const char usage[] =
    "usage: build/validate [CASE ...] [--tier quick|full|long] [--json] [--record] [--plot]\n"
    "                      [--threads N]\n"
    "       build/validate --list\n"
    "\n"
    "Compares simulations with known solutions. Without CASE it runs all cases of the tier and of\n"
    "the tiers below it. The exit code is 0 only if every row passes.\n"
    "\n"
    "  --list        the cases, with tier and estimated seconds on 2 cores\n"
    "  --tier TIER   quick (at most 8 minutes, the default), full (60 minutes) or long\n"
    "  --json        one JSON object a line: case, quantity, measured, reference, error,\n"
    "                tolerance, pass; a row that is only shown has the tolerance null\n"
    "  --record      keep the rows in validate/results/CASE.json with the commit of the sources\n"
    "  --plot        draw measured against reference for every case, into out/validate\n"
    "  --threads N   worker threads; one per core without it\n";

typedef struct arguments {
    validate_tier tier;
    bool is_list, is_record, is_json, is_plot;
    int threads;
    int name_count;
    char** names;
} arguments;

static bool parse_tier(const char* text, validate_tier* out) {
    for (int t = 0; t < VALIDATE_TIER_COUNT; ++t) {
        if (strcmp(text, validate_tier_name((validate_tier)t)) == 0) {
            *out = (validate_tier)t;
            return true;
        }
    }
    fprintf(stderr, "validate: --tier %s: there are quick, full and long\n", text);
    return false;
}

static bool parse_threads(const char* text, int* out) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1024) {
        fprintf(stderr, "validate: --threads %s: expected a number from 1 to 1024\n", text);
        return false;
    }
    *out = (int)value;
    return true;
}

// False ends the program with the exit code in *exit_code.
static bool parse_arguments(int argc, char** argv, arguments* out, int* exit_code) {
    static const struct option options[] = {
        {"list", no_argument, NULL, 'l'}, {"tier", required_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'}, {"record", no_argument, NULL, 'r'},
        {"plot", no_argument, NULL, 'p'}, {"threads", required_argument, NULL, 'n'},
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
        out->is_record |= o == 'r';
        out->is_plot |= o == 'p';
        if (o == 't' && !parse_tier(optarg, &out->tier)) {
            return false;
        }
        if (o == 'n' && !parse_threads(optarg, &out->threads)) {
            return false;
        }
    }
    out->name_count = argc - optind;
    out->names = argv + optind;
    return true;
}

static int list_cases(void) {
    double sum[VALIDATE_TIER_COUNT] = {0};
    printf("%-20s %-6s %8s  %s\n", "case", "tier", "seconds", "what");
    for (int i = 0; i < validate_case_count; ++i) {
        const validate_case* c = &validate_cases[i];
        printf("%-20s %-6s %8.0f  %s\n", c->name, validate_tier_name(c->tier), c->seconds, c->text);
        for (int t = c->tier; t < VALIDATE_TIER_COUNT; ++t) {
            sum[t] += c->seconds;
        }
    }
    printf("in all: quick %.0f s, full %.0f s, long %.0f s\n", sum[VALIDATE_QUICK],
           sum[VALIDATE_FULL], sum[VALIDATE_LONG]);
    return 0;
}

static const validate_case* find_case(const char* name) {
    for (int i = 0; i < validate_case_count; ++i) {
        if (strcmp(name, validate_cases[i].name) == 0) {
            return &validate_cases[i];
        }
    }
    fprintf(stderr, "validate: there is no case \"%s\"; build/validate --list shows all\n", name);
    return NULL;
}

// The commit of the sources in the current folder, with -dirty behind it if they were changed.
static void find_commit(char* out, size_t capacity) {
    snprintf(out, capacity, "unknown");
    FILE* pipe = popen("git describe --always --abbrev=40 --exclude='*' --dirty 2>/dev/null", "r");
    char line[128];
    if (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, capacity, "%s", line);
    }
    if (pipe != NULL) {
        pclose(pipe);
    }
}

static void run_case(validate* v, const arguments* args, const validate_case* which) {
    validate_run_case(v, which);
    if (args->is_plot && validate_plot_case(v, "out/validate") != TREACLE_OK) {
        fprintf(stderr, "validate: no plot of %s: %s\n", which->name,
                treacle_context_error(v->ctx));
    }
}

static int run_named(validate* v, const arguments* args) {
    for (int i = 0; i < args->name_count; ++i) {
        if (find_case(args->names[i]) == NULL) {
            return -1;
        }
    }
    validate_print_head(v);
    for (int i = 0; i < args->name_count; ++i) {
        run_case(v, args, find_case(args->names[i]));
    }
    return args->name_count;
}

static int run_tier(validate* v, const arguments* args) {
    int count = 0;
    validate_print_head(v);
    // Plots begin with the curve of coiling.
    const validate_case* first = args->is_plot ? find_case("coiling") : NULL;
    if (first != NULL && first->tier <= args->tier) {
        run_case(v, args, first);
        count += 1;
    }
    for (int i = 0; i < validate_case_count; ++i) {
        if (validate_cases[i].tier <= args->tier && &validate_cases[i] != first) {
            run_case(v, args, &validate_cases[i]);
            count += 1;
        }
    }
    return count;
}

static int run(const arguments* args, treacle_context* ctx) {
    char commit[128];
    find_commit(commit, sizeof(commit));
    validate_options options = {.out = stdout,
                                .as_json = args->is_json,
                                .results = args->is_record ? "validate/results" : NULL,
                                .work = "out/validate",
                                .commit = commit};
    validate v;
    validate_init(&v, ctx, &options);
    time_t start = time(NULL);
    int count = args->name_count > 0 ? run_named(&v, args) : run_tier(&v, args);
    if (count >= 0) {
        validate_print_sum(&v, count, difftime(time(NULL), start));
    }
    validate_finish(&v);
    return count < 0 ? TREACLE_ERR_USAGE : v.failed == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    arguments args = {.tier = VALIDATE_QUICK};
    int exit_code = 0;
    if (!parse_arguments(argc, argv, &args, &exit_code)) {
        return exit_code;
    }
    if (args.is_list) {
        return list_cases();
    }
    treacle_context_def def = treacle_context_def_default();
    def.threads = args.threads;
    treacle_context* ctx = NULL;
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status != TREACLE_OK) {
        fprintf(stderr, "validate: %s\n", treacle_status_text(status));
        return (int)status;
    }
    exit_code = run(&args, ctx);
    treacle_context_destroy(ctx);
    return exit_code;
}
