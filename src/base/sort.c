#include "base/sort.h"

#include "base/check.h"

typedef struct sort_job {
    char* items;
    size_t bytes;
    sort_order* order;
} sort_job;

static void* item(const sort_job* job, size_t i) {
    return job->items + i * job->bytes;
}

static void swap(const sort_job* job, size_t i, size_t j) {
    char *a = item(job, i), *b = item(job, j);
    for (size_t k = 0; k < job->bytes; ++k) {
        char kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

// Lets item i sink in a heap of `count`, whose largest item is the first.
static void sink(const sort_job* job, size_t i, size_t count) {
    for (size_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && job->order(item(job, child), item(job, child + 1)) < 0) {
            child += 1;
        }
        if (job->order(item(job, i), item(job, child)) >= 0) {
            return;
        }
        swap(job, i, child);
        i = child;
    }
}

void sort_items(void* items, size_t count, size_t bytes, sort_order* order) {
    TREACLE_ASSERT(items != NULL || count == 0);
    TREACLE_ASSERT(bytes > 0 && order != NULL);
    sort_job job = {items, bytes, order};
    for (size_t i = count / 2; i > 0; --i) {
        sink(&job, i - 1, count);
    }
    for (size_t n = count; n > 1; --n) {
        swap(&job, 0, n - 1);
        sink(&job, 0, n - 1);
    }
}
