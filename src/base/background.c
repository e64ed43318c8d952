#include "base/background.h"

#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"

struct background {
    treacle_context* ctx;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; // any of what follows
    background_fcn* fcn;    // NULL: no job
    void* data;
    bool is_ending;
};

// Waits for a job; NULL when the thread shall end. A job that was begun before that is still done.
static background_fcn* next_job(background* b) {
    pthread_mutex_lock(&b->mutex);
    while (b->fcn == NULL && !b->is_ending) {
        pthread_cond_wait(&b->changed, &b->mutex);
    }
    background_fcn* fcn = b->fcn;
    pthread_mutex_unlock(&b->mutex);
    return fcn;
}

static void end_job(background* b) {
    pthread_mutex_lock(&b->mutex);
    b->fcn = NULL;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

static void* background_run(void* data) {
    background* b = data;
    for (background_fcn* fcn = next_job(b); fcn != NULL; fcn = next_job(b)) {
        fcn(b->data);
        end_job(b);
    }
    return NULL;
}

// A new thread has the mask of the one that makes it.
static bool start_thread(background* b) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool has_started = pthread_create(&b->thread, NULL, background_run, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return has_started;
}

static void release(background* b) {
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    alloc_free(b->ctx, b, sizeof(*b));
}

treacle_status background_create(treacle_context* ctx, background** out) {
    TREACLE_ASSERT(out != NULL);
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(background), "a thread", &block));
    background* b = block;
    b->ctx = ctx;
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, NULL);
    if (!start_thread(b)) {
        release(b);
        return check_fail(ctx, TREACLE_ERR_UNSUPPORTED, "the system has no thread to give");
    }
    *out = b;
    return TREACLE_OK;
}

void background_destroy(background* b) {
    if (b == NULL) {
        return;
    }
    background_wait(b);
    pthread_mutex_lock(&b->mutex);
    b->is_ending = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    pthread_join(b->thread, NULL);
    release(b);
}

void background_begin(background* b, background_fcn* fcn, void* data) {
    TREACLE_ASSERT(fcn != NULL);
    background_wait(b);
    pthread_mutex_lock(&b->mutex);
    TREACLE_ASSERT(b->fcn == NULL && !b->is_ending);
    b->data = data;
    b->fcn = fcn;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

bool background_is_idle(background* b) {
    pthread_mutex_lock(&b->mutex);
    bool is_idle = b->fcn == NULL;
    pthread_mutex_unlock(&b->mutex);
    return is_idle;
}

void background_wait(background* b) {
    pthread_mutex_lock(&b->mutex);
    while (b->fcn != NULL) {
        pthread_cond_wait(&b->changed, &b->mutex);
    }
    pthread_mutex_unlock(&b->mutex);
}
