#include "base/parallel_sum.h"
#include "treacle/unstable/kernels.h"

static double value_at(void* data, int64_t item) {
    const double* values = data;
    return values[item];
}

double treacle_unstable_sum(treacle_context* ctx, int64_t count, const double* values) {
    return parallel_sum(ctx, count, value_at, (void*)values);
}
