#include "base/parallel_sum.h"

#include <math.h>
#include <pthread.h>

#include "base/exact_sum.h"
#include "base/parallel.h"

enum { CHUNKS_PER_THREAD = 4, GRAIN_MAX = 1024 };

typedef struct reduction {
    parallel_term_fcn* fcn;
    void* data;
    pthread_mutex_t mutex;
    exact_sum sum;
    double max;
} reduction;

static int64_t grain_of(const treacle_context* ctx, int64_t count) {
    int64_t grain = count / ((int64_t)ctx->threads * CHUNKS_PER_THREAD);
    return grain < 1 ? 1 : grain > GRAIN_MAX ? GRAIN_MAX : grain;
}

static void sum_chunk(void* data, int64_t begin, int64_t end) {
    reduction* all = data;
    exact_sum part;
    exact_sum_init(&part);
    for (int64_t i = begin; i < end; ++i) {
        exact_sum_add(&part, all->fcn(all->data, i));
    }
    pthread_mutex_lock(&all->mutex);
    exact_sum_merge(&all->sum, &part);
    pthread_mutex_unlock(&all->mutex);
}

void parallel_sum_exact(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data,
                        exact_sum* out) {
    TREACLE_ASSERT(fcn != NULL);
    reduction all = {.fcn = fcn, .data = data, .mutex = PTHREAD_MUTEX_INITIALIZER};
    exact_sum_init(&all.sum);
    parallel_for(ctx, count, grain_of(ctx, count), sum_chunk, &all);
    *out = all.sum;
}

double parallel_sum(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data) {
    exact_sum sum;
    parallel_sum_exact(ctx, count, fcn, data, &sum);
    return exact_sum_value(&sum);
}

static double larger(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return a < b ? b : a;
}

static void max_chunk(void* data, int64_t begin, int64_t end) {
    reduction* all = data;
    double part = -INFINITY;
    for (int64_t i = begin; i < end; ++i) {
        part = larger(part, all->fcn(all->data, i));
    }
    pthread_mutex_lock(&all->mutex);
    all->max = larger(all->max, part);
    pthread_mutex_unlock(&all->mutex);
}

double parallel_max(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data) {
    TREACLE_ASSERT(fcn != NULL);
    reduction all = {
        .fcn = fcn, .data = data, .mutex = PTHREAD_MUTEX_INITIALIZER, .max = -INFINITY};
    parallel_for(ctx, count, grain_of(ctx, count), max_chunk, &all);
    return all.max + 0.0; // -0 and +0 are equal, and either might have come first
}
