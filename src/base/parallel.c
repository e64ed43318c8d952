#include "base/parallel.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

// How long a worker looks for new work before it sleeps, in rounds of a pause instruction: about
// 50 microseconds, the time between two loops with coarse levels of a multigrid between them.
enum { SPIN_ROUNDS = 3000 };

typedef struct job {
    parallel_fcn* fcn;
    void* data;
    int64_t count, grain;
} job;

struct parallel_pool {
    pthread_mutex_t mutex;
    pthread_cond_t begin;        // a job was posted, or the pool ends
    pthread_cond_t end;          // the last worker left the job
    _Atomic uint64_t generation; // of the posted job
    _Atomic int64_t next;        // first item that nobody has taken
    _Atomic int busy;            // workers in the job
    job current;
    bool is_open; // workers may join the job; who wakes too late is not waited for
    bool is_ending;
    bool may_spin; // only where every worker has a core
    int started;
    pthread_t* threads;
    struct worker* workers;
};

typedef struct worker {
    struct parallel_pool* pool;
    int index;
} worker;

// The worker that this thread is while it does a chunk; -1 outside of loops.
static _Thread_local int current_worker = -1;

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void do_chunks(struct parallel_pool* pool, const job* work, int index) {
    current_worker = index;
    for (;;) {
        int64_t begin = atomic_fetch_add(&pool->next, work->grain);
        if (begin >= work->count) {
            break;
        }
        int64_t end = begin + work->grain;
        work->fcn(work->data, begin, end < work->count ? end : work->count);
    }
    current_worker = -1;
}

static void spin_for_job(struct parallel_pool* pool, uint64_t seen) {
    for (int i = 0; pool->may_spin && i < SPIN_ROUNDS; ++i) {
        if (atomic_load(&pool->generation) != seen) {
            break;
        }
        pause_cpu();
    }
}

// Waits for a job newer than *seen and joins it. False when the pool ends.
static bool join_job(struct parallel_pool* pool, uint64_t* seen) {
    bool has_joined = false, is_ending = false;
    while (!has_joined && !is_ending) {
        spin_for_job(pool, *seen);
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->generation) == *seen && !pool->is_ending) {
            pthread_cond_wait(&pool->begin, &pool->mutex);
        }
        *seen = atomic_load(&pool->generation);
        is_ending = pool->is_ending;
        has_joined = pool->is_open && !is_ending;
        if (has_joined) {
            atomic_fetch_add(&pool->busy, 1);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    return has_joined;
}

static void leave_job(struct parallel_pool* pool) {
    if (atomic_fetch_sub(&pool->busy, 1) == 1) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->end);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void* worker_main(void* argument) {
    worker* self = argument;
    struct parallel_pool* pool = self->pool;
    uint64_t seen = 0;
    while (join_job(pool, &seen)) {
        // The job stays posted until every worker that joined it has left it.
        do_chunks(pool, &pool->current, self->index);
        leave_job(pool);
    }
    return NULL;
}

static treacle_status start_threads(treacle_context* ctx, struct parallel_pool* pool) {
    for (int i = 1; i < ctx->threads; ++i) {
        pool->workers[i - 1] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->threads[i - 1], NULL, worker_main, &pool->workers[i - 1]) != 0) {
            return check_fail(ctx, TREACLE_ERR_LIMIT, "cannot start thread %d of %d", i + 1,
                              ctx->threads);
        }
        pool->started += 1;
    }
    return TREACLE_OK;
}

treacle_status parallel_pool_create(treacle_context* ctx) {
    TREACLE_ASSERT(ctx->threads >= 1 && ctx->pool == NULL);
    if (ctx->threads == 1) {
        return TREACLE_OK; // no pool: loops run in the caller
    }
    size_t helpers = (size_t)ctx->threads - 1;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(struct parallel_pool), "the thread pool", &block));
    struct parallel_pool* pool = block;
    ctx->pool = pool;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->may_spin = ctx->threads <= context_core_count();
    treacle_status status = alloc_zero(ctx, helpers, sizeof(pthread_t), "threads", &block);
    pool->threads = block;
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, helpers, sizeof(worker), "workers", &block);
        pool->workers = block;
    }
    if (status == TREACLE_OK) {
        status = start_threads(ctx, pool);
    }
    if (status != TREACLE_OK) {
        parallel_pool_destroy(ctx);
    }
    return status;
}

void parallel_pool_destroy(treacle_context* ctx) {
    struct parallel_pool* pool = ctx->pool;
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->started; ++i) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->mutex);
    size_t helpers = (size_t)ctx->threads - 1;
    alloc_free(ctx, pool->threads, helpers * sizeof(pthread_t));
    alloc_free(ctx, pool->workers, helpers * sizeof(worker));
    alloc_free(ctx, pool, sizeof(*pool));
    ctx->pool = NULL;
}

static void post_job(struct parallel_pool* pool, job work) {
    pthread_mutex_lock(&pool->mutex);
    pool->current = work;
    pool->is_open = true;
    atomic_store(&pool->next, 0);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_helpers(struct parallel_pool* pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->is_open = false;
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; pool->may_spin && i < SPIN_ROUNDS; ++i) {
        if (atomic_load(&pool->busy) == 0) {
            break;
        }
        pause_cpu();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) != 0) {
        pthread_cond_wait(&pool->end, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void parallel_for(treacle_context* ctx, int64_t count, int64_t grain, parallel_fcn* fcn,
                  void* data) {
    TREACLE_ASSERT(fcn != NULL);
    TREACLE_ASSERT(grain > 0);
    if (count <= 0) {
        return;
    }
    if (current_worker < 0) {
        ctx->work.loops += 1;
        ctx->work.items += count;
    }
    struct parallel_pool* pool = ctx->pool;
    if (pool == NULL || current_worker >= 0 || count <= grain) {
        fcn(data, 0, count);
        return;
    }
    job work = {.fcn = fcn, .data = data, .count = count, .grain = grain};
    post_job(pool, work);
    do_chunks(pool, &work, 0);
    wait_for_helpers(pool);
}

int parallel_worker(void) {
    return current_worker >= 0 ? current_worker : 0;
}

void parallel_count_pass(treacle_context* ctx) {
    if (current_worker < 0) {
        ctx->work.particle_passes += 1;
    }
}
