// Speed, beside a yardstick measured in the same run.
//
// The machine's speed changes by the hour, so a figure means little without the memory bandwidth of
// the moment and without something known to compare with. Every run prints the bandwidth first;
// every row names its yardstick where it has one. Times are medians. A yardstick is stopped after
// BENCH_CAP_SECONDS; the ratio is then a lower bound, "at least n times".
//
// A row may say what is asked of it: "pass" or "MISS" is printed beside it, and a run in which a
// row missed ends with exit code 2.
#pragma once

#include <stdio.h>

#include "treacle/treacle.h"

#define BENCH_CAP_SECONDS 60.0

typedef struct bench bench;
typedef treacle_status bench_fcn(bench* b);

typedef struct bench_entry {
    const char* name;
    double seconds;   ///< on 2 cores, estimated
    const char* text; ///< one line
    bench_fcn* run;
} bench_entry;

/// What is asked of a row.
typedef enum bench_limit {
    BENCH_NO_LIMIT,
    BENCH_VALUE_AT_MOST,
    BENCH_VALUE_AT_LEAST,
    BENCH_RATIO_AT_LEAST,
} bench_limit;

/// One measured number. Texts are not kept.
typedef struct bench_row {
    const char* case_name;
    const char* quantity;
    double value;
    const char* unit;
    const char* yardstick; ///< what the ratio compares with, and its own value; NULL if nothing
    double ratio;          ///< how many times better than the yardstick
    bool is_at_least;      ///< the yardstick was stopped: the ratio is a lower bound
    bench_limit limit;
    double minimum; ///< what the limit is
} bench_row;

/// Whether the row is as good as asked.
bool bench_row_passes(const bench_row* row);

/// Rows of a run that had a limit.
typedef struct bench_tally {
    int passed, missed;
} bench_tally;

struct bench {
    treacle_context* ctx;
    FILE* out;
    bool as_json;
    bool is_full;       ///< rows that take long too
    const char* folder; ///< for files, made if missing
    const bench_entry* current;
    bench_tally* tally; ///< may be NULL
};

void bench_print_head(const bench* b);
void bench_report(const bench* b, const bench_row* row);

/// Seconds on a clock that only goes forward.
double bench_clock(void);
/// A text from a printf format in the caller's buffer.
const char* bench_text(char* buffer, size_t capacity, const char* format, ...) TREACLE_PRINTF(3, 4);

/// The simulation of a scene's text.
treacle_status bench_make_sim(treacle_context* ctx, const char* text, treacle_sim** out);

/// Something to be timed. Returns false if it failed.
typedef bool bench_work(void* data);
/// The median time of `repeats` calls, after one that is not counted; NAN if one failed.
double bench_median(int repeats, bench_work* work, void* data);

/// The time of a yardstick, and whether it was stopped.
typedef struct bench_yardstick {
    double seconds; ///< NAN if it failed
    bool is_stopped;
} bench_yardstick;
/// Times `work` in a process of its own, so that it can be stopped after `cap` seconds, which is
/// BENCH_CAP_SECONDS for all but tests.
bench_yardstick bench_time_yardstick(double cap, bench_work* work, void* data);

/// Bandwidth of a[i] = b[i] + s c[i].
typedef struct bench_triad {
    int threads;
    double array_bytes;      ///< of one of the three arrays
    double bytes_per_second; ///< 24 bytes an item, the median of several passes; 0 on failure
} bench_triad;
bench_triad bench_measure_triad(int threads);
