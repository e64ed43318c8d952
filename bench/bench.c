#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void bench_print_head(const bench* b) {
    if (!b->as_json) {
        fprintf(b->out, "%-10s %-26s %-22s %12s %-10s %s\n", "bench", "case", "quantity", "value",
                "unit", "yardstick");
    }
}

static json_t* number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static void print_json(const bench* b, const bench_row* row) {
    bool has_yardstick = row->yardstick != NULL;
    json_t* object = json_object();
    json_object_set_new(object, "bench", json_string(b->current->name));
    json_object_set_new(object, "case", json_string(row->case_name));
    json_object_set_new(object, "quantity", json_string(row->quantity));
    json_object_set_new(object, "value", number(row->value));
    json_object_set_new(object, "unit", json_string(row->unit));
    char text[256];
    bench_text(text, sizeof(text), "%s%s", has_yardstick ? row->yardstick : "",
               row->is_at_least ? ", stopped: the ratio is at least" : "");
    json_object_set_new(object, "yardstick", has_yardstick ? json_string(text) : json_null());
    json_object_set_new(object, "ratio", has_yardstick ? number(row->ratio) : json_null());
    bool has_limit = row->limit != BENCH_NO_LIMIT;
    json_object_set_new(object, "minimum", has_limit ? number(row->minimum) : json_null());
    json_object_set_new(object, "pass",
                        has_limit ? json_boolean(bench_row_passes(row)) : json_null());
    json_dumpf(object, b->out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', b->out);
    json_decref(object);
}

bool bench_row_passes(const bench_row* row) {
    switch (row->limit) {
    case BENCH_NO_LIMIT:
        break;
    case BENCH_VALUE_AT_MOST:
        return row->value <= row->minimum;
    case BENCH_VALUE_AT_LEAST:
        return row->value >= row->minimum;
    case BENCH_RATIO_AT_LEAST:
        return row->ratio >= row->minimum;
    }
    return true;
}

static void print_limit(const bench* b, const bench_row* row) {
    static const char* const texts[] = {"", "at most", "at least", "at least"};
    fprintf(b->out, "  [%s %.4g%s: %s]", texts[row->limit], row->minimum,
            row->limit == BENCH_RATIO_AT_LEAST ? " times" : "",
            bench_row_passes(row) ? "pass" : "MISS");
}

static void count_row(const bench* b, const bench_row* row) {
    if (row->limit != BENCH_NO_LIMIT && b->tally != NULL) {
        b->tally->passed += bench_row_passes(row) ? 1 : 0;
        b->tally->missed += bench_row_passes(row) ? 0 : 1;
    }
}

void bench_report(const bench* b, const bench_row* row) {
    count_row(b, row);
    if (b->as_json) {
        print_json(b, row);
    } else {
        fprintf(b->out, "%-10s %-26s %-22s %12.5g %-10s", b->current->name, row->case_name,
                row->quantity, row->value, row->unit);
        if (row->yardstick != NULL) {
            fprintf(b->out, " %s%.3g times %s", row->is_at_least ? "at least " : "", row->ratio,
                    row->yardstick);
        }
        if (row->limit != BENCH_NO_LIMIT) {
            print_limit(b, row);
        }
        fputc('\n', b->out);
    }
    fflush(b->out);
}

treacle_status bench_make_sim(treacle_context* ctx, const char* text, treacle_sim** out) {
    treacle_scene* scene = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "bench.yaml", text, strlen(text), 0, NULL, &scene);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(scene), out);
    }
    treacle_scene_destroy(scene);
    return status;
}

double bench_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char* bench_text(char* buffer, size_t capacity, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, capacity, format, arguments);
    va_end(arguments);
    return buffer;
}

static int compare_seconds(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double bench_median(int repeats, bench_work* work, void* data) {
    double seconds[64];
    repeats = repeats > 64 ? 64 : repeats;
    bool is_good = work(data);
    for (int i = 0; is_good && i < repeats; ++i) {
        double start = bench_clock();
        is_good = work(data);
        seconds[i] = bench_clock() - start;
    }
    if (!is_good) {
        return (double)NAN;
    }
    qsort(seconds, (size_t)repeats, sizeof(seconds[0]), compare_seconds);
    return 0.5 * (seconds[(repeats - 1) / 2] + seconds[repeats / 2]);
}

static void run_child(int to, bench_work* work, void* data) {
    double start = bench_clock();
    double seconds = work(data) ? bench_clock() - start : (double)NAN;
    ssize_t written = write(to, &seconds, sizeof(seconds));
    _exit(written == (ssize_t)sizeof(seconds) ? 0 : 1);
}

// Waits for the child's answer; a child that takes too long is killed.
static bench_yardstick wait_for_child(double cap, int from, pid_t child) {
    bench_yardstick result = {.seconds = (double)NAN};
    struct pollfd ready = {.fd = from, .events = POLLIN};
    if (poll(&ready, 1, (int)(1000.0 * cap)) == 0) {
        kill(child, SIGKILL);
        result = (bench_yardstick){.seconds = cap, .is_stopped = true};
    } else if (read(from, &result.seconds, sizeof(result.seconds)) !=
               (ssize_t)sizeof(result.seconds)) {
        result.seconds = (double)NAN;
    }
    waitpid(child, NULL, 0);
    return result;
}

bench_yardstick bench_time_yardstick(double cap, bench_work* work, void* data) {
    int ends[2];
    if (pipe(ends) != 0) {
        return (bench_yardstick){.seconds = (double)NAN};
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_child(ends[1], work, data);
    }
    close(ends[1]);
    bench_yardstick result = {.seconds = (double)NAN};
    if (child > 0) {
        result = wait_for_child(cap, ends[0], child);
    }
    close(ends[0]);
    return result;
}
