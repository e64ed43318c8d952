// Speed, beside a yardstick measured in the same run.
//
// The machine's speed changes by the hour, so a figure means little without the memory bandwidth of
// the moment and without something known to compare with. Every run prints the bandwidth first;
// every row names its yardstick where it has one. Times are medians. A yardstick is stopped after
// BENCH_CAP_SECONDS; the ratio is then a lower bound, "at least n times".
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

/// One measured number. Texts are not kept.
typedef struct bench_row {
    const char* case_name;
    const char* quantity;
    double value;
    const char* unit;
    const char* yardstick; ///< what the ratio compares with, and its own value; NULL if nothing
    double ratio;          ///< how many times better than the yardstick
    bool is_at_least;      ///< the yardstick was stopped: the ratio is a lower bound
} bench_row;

struct bench {
    treacle_context* ctx;
    FILE* out;
    bool as_json;
    bool is_full;       ///< rows that take long too
    const char* folder; ///< for files, made if missing
    const bench_entry* current;
};

void bench_print_head(const bench* b);
void bench_report(const bench* b, const bench_row* row);

/// Seconds on a clock that only goes forward.
double bench_clock(void);
/// A text from a printf format in the caller's buffer.
const char* bench_text(char* buffer, size_t capacity, const char* format, ...) TREACLE_PRINTF(3, 4);

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
