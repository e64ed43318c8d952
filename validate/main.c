// build/validate: runs cases whose answer is known and compares.
#include <string.h>
#include <time.h>

#include "cases.h"
#include "measure_program.h"

static const char usage[] =
    "usage: build/validate [CASE ...] [--tier quick|full|long] [--json] [--record] [--plot]\n"
    "                      [--part TEXT] [--threads N]\n"
    "       build/validate --list\n"
    "\n"
    "Compares simulations with known solutions. Without CASE it runs all cases of the tier and of\n"
    "the tiers below it. The exit code is 0 only if every row passes.\n"
    "\n"
    "  --list        the cases, with tier and estimated seconds on 2 cores\n"
    "  --tier TIER   quick (at most 8 minutes, the default), full (60 minutes) or long\n"
    "  --json        one JSON object a line: case, quantity, measured, reference, error,\n"
    "                tolerance, pass; a row that is only shown has the tolerance null\n"
    "  --record      keep the rows in validate/results/CASE.json with the commit of the sources,\n"
    "                and those of parts of long cases in validate/parts/CASE.json\n"
    "  --part TEXT   of a long case only parts whose names have the text; others as recorded\n"
    "  --plot        draw measured against reference for every case, into out/validate\n"
    "  --threads N   worker threads; one per core without it\n";

typedef struct plan {
    measure_arguments args;
    validate_tier tier;
    const char* part;
    bool is_record, is_plot;
} plan;

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

static void run_case(validate* v, const plan* p, const validate_case* which) {
    validate_run_case(v, which);
    if (p->is_plot && validate_plot_case(v, "out/validate") != TREACLE_OK) {
        fprintf(stderr, "validate: no plot of %s: %s\n", which->name,
                treacle_context_error(v->ctx));
    }
}

static int run_named(validate* v, const plan* p) {
    for (int i = 0; i < p->args.name_count; ++i) {
        if (find_case(p->args.names[i]) == NULL) {
            return -1;
        }
    }
    validate_print_head(v);
    for (int i = 0; i < p->args.name_count; ++i) {
        run_case(v, p, find_case(p->args.names[i]));
    }
    return p->args.name_count;
}

static int run_tier(validate* v, const plan* p) {
    int count = 0;
    validate_print_head(v);
    // Plots begin with the curve of coiling.
    const validate_case* first = p->is_plot ? find_case("coiling") : NULL;
    if (first != NULL && first->tier <= p->tier) {
        run_case(v, p, first);
        count += 1;
    }
    for (int i = 0; i < validate_case_count; ++i) {
        if (validate_cases[i].tier <= p->tier && &validate_cases[i] != first) {
            run_case(v, p, &validate_cases[i]);
            count += 1;
        }
    }
    return count;
}

static int run(treacle_context* ctx, void* user) {
    const plan* p = user;
    char commit[128];
    find_commit(commit, sizeof(commit));
    validate_options options = {.out = stdout,
                                .as_json = p->args.is_json,
                                .results = p->is_record ? "validate/results" : NULL,
                                .work = "out/validate",
                                .part = p->part,
                                .parts = "validate/parts",
                                .records_parts = p->is_record,
                                .commit = commit};
    validate v;
    validate_init(&v, ctx, &options);
    time_t start = time(NULL);
    int count = p->args.name_count > 0 ? run_named(&v, p) : run_tier(&v, p);
    if (count >= 0) {
        validate_print_sum(&v, count, difftime(time(NULL), start));
    }
    validate_finish(&v);
    return count < 0 ? TREACLE_ERR_USAGE : v.failed == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    plan p = {.args = {.program = "validate", .usage = usage, .option_count = 4}};
    const char* tier = "quick";
    const measure_option options[] = {{.name = "tier", .word = &tier},
                                      {.name = "part", .word = &p.part},
                                      {.name = "record", .flag = &p.is_record},
                                      {.name = "plot", .flag = &p.is_plot}};
    int exit_code = 0;
    p.args.options = options;
    if (!measure_parse(&p.args, argc, argv, &exit_code)) {
        return exit_code;
    }
    if (!parse_tier(tier, &p.tier)) {
        return TREACLE_ERR_USAGE;
    }
    return p.args.is_list ? list_cases() : measure_go(&p.args, run, &p);
}
