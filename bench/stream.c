// The bandwidth of main memory, as the STREAM triad measures it.
//
//     a[i] = b[i] + s c[i]        24 bytes of traffic an item; write-allocate is not counted
//
// Each array should be four times the last cache. Where a virtual machine shows the cache of the
// whole host that is too much to ask: arrays end at ARRAY_BYTES_MAX and at a sixteenth of the free
// memory, and the size is reported beside the figure. Threads are C17's own and each first touches
// the part that it works on.
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "bench.h"

enum { PASSES = 7, THREADS_MAX = 64 };
static const double ARRAY_BYTES_MIN = 64e6;
static const double ARRAY_BYTES_MAX = 512e6;

typedef struct slice {
    double *a, *b, *c;
    size_t begin, end;
} slice;

static int touch(void* data) {
    slice* s = data;
    for (size_t i = s->begin; i < s->end; ++i) {
        s->a[i] = 0.0;
        s->b[i] = 1.0;
        s->c[i] = 2.0;
    }
    return 0;
}

static int triad(void* data) {
    const slice* s = data;
    double* restrict a = s->a;
    const double* restrict b = s->b;
    const double* restrict c = s->c;
    for (size_t i = s->begin; i < s->end; ++i) {
        a[i] = b[i] + 3.0 * c[i];
    }
    return 0;
}

typedef struct triad_work {
    int threads;
    slice slices[THREADS_MAX];
    thrd_start_t fcn;
} triad_work;

static bool run_slices(void* data) {
    triad_work* work = data;
    thrd_t others[THREADS_MAX];
    int started = 1;
    while (started < work->threads &&
           thrd_create(&others[started], work->fcn, &work->slices[started]) == thrd_success) {
        started += 1;
    }
    work->fcn(&work->slices[0]);
    for (int i = 1; i < started; ++i) {
        thrd_join(others[i], NULL);
    }
    return started == work->threads;
}

static size_t choose_count(void) {
    double bytes = 4.0 * (double)sysconf(_SC_LEVEL3_CACHE_SIZE);
    double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    bytes = bytes > ARRAY_BYTES_MAX ? ARRAY_BYTES_MAX : bytes;
    bytes = bytes > free_bytes / 16.0 ? free_bytes / 16.0 : bytes;
    bytes = bytes < ARRAY_BYTES_MIN ? ARRAY_BYTES_MIN : bytes;
    return (size_t)(bytes / 64.0) * 8;
}

bench_triad bench_measure_triad(int threads) {
    size_t count = choose_count();
    bench_triad result = {.threads = threads, .array_bytes = 8.0 * (double)count};
    triad_work work = {.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
    double* block = aligned_alloc(64, 3 * count * sizeof(double));
    if (block == NULL) {
        return result;
    }
    for (int i = 0; i < work.threads; ++i) {
        work.slices[i] = (slice){
            .a = block,
            .b = block + count,
            .c = block + 2 * count,
            .begin = count / (size_t)work.threads * (size_t)i,
            .end = i + 1 < work.threads ? count / (size_t)work.threads * (size_t)(i + 1) : count};
    }
    work.fcn = touch;
    if (run_slices(&work)) {
        work.fcn = triad;
        double seconds = bench_median(PASSES, run_slices, &work);
        result.bytes_per_second = seconds > 0.0 ? 24.0 * (double)count / seconds : 0.0;
    }
    free(block);
    return result;
}
