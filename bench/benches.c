#include "benches.h"

const bench_entry bench_entries[] = {
    {"house", 10, "frame files against memcpy, sorting, exact sums", bench_house},
    {"step", 200, "a step of dam breaks by stage: growth, speed-up, bandwidth, memory", bench_step},
    {"solver", 120, "pressure against incomplete Cholesky", bench_solver},
    {"viscosity", 400, "viscosity against incomplete Cholesky", bench_viscosity},
};

const int bench_entry_count = sizeof(bench_entries) / sizeof(bench_entries[0]);
