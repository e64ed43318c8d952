#include "base/comm.h"

int comm_rank(const treacle_context* ctx) {
    (void)ctx;
    return 0;
}

int comm_size(const treacle_context* ctx) {
    (void)ctx;
    return 1;
}

void comm_barrier(treacle_context* ctx) {
    (void)ctx;
}

void comm_sum_i64(treacle_context* ctx, int64_t* values, int count) {
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_max_i64(treacle_context* ctx, int64_t* values, int count) {
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_max_f64(treacle_context* ctx, double* values, int count) {
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_sum_exact(treacle_context* ctx, exact_sum* sums, int count) {
    (void)ctx;
    (void)sums;
    (void)count;
}

treacle_status comm_agree(treacle_context* ctx, treacle_status status) {
    (void)ctx;
    return status;
}
