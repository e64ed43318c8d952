#include "run/output.h"

#include "base/alloc.h"
#include "base/background.h"
#include "cache/frame_copy.h"
#include "run/frame_files.h"

struct output {
    treacle_context* ctx; // of the run
    treacle_context* own; // of the thread
    background* thread;
    run_job job; // as the thread sees it: the same files, its own context, no simulation
    frame_copy copy;
    bool is_begun;         // a frame is on its way
    bool lacks_state;      // the newest frame is on disk without its state
    treacle_status status; // of its files
    treacle_progress progress;
    treacle_step_stats stats; // behind the progress
};

static void write_files(void* data) {
    output* o = data;
    const frame_copy* copy = &o->copy;
    o->status = frame_files_write_picture(&o->job, &copy->frames[0]);
    if (o->status == TREACLE_OK && frame_files_have_state(&o->job, o->progress.frame)) {
        o->status = frame_files_write_state(&o->job, &copy->frames[1]);
        o->lacks_state = false;
    }
}

// Writing says what is wrong by its status: its messages are dropped.
static void drop_message(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static treacle_status start(output* o, const run_job* job) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.isa = treacle_context_isa(job->ctx);
    def.log = drop_message;
    TREACLE_TRY(treacle_context_create(&def, &o->own));
    TREACLE_TRY(background_create(job->ctx, &o->thread));
    o->job = *job;
    o->job.ctx = o->own;
    o->job.folder.ctx = o->own;
    o->job.stats.folder = &o->job.folder;
    o->job.sim = NULL;
    return TREACLE_OK;
}

treacle_status output_create(const run_job* job, output** out) {
    void* block = NULL;
    *out = NULL;
    if (comm_size(job->ctx) > 1 || !context_has_plain_memory(job->ctx)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(job->ctx, 1, sizeof(output), "the output of a run", &block));
    output* o = block;
    o->ctx = job->ctx;
    if (start(o, job) != TREACLE_OK) {
        output_destroy(o);
        return TREACLE_OK;
    }
    *out = o;
    return TREACLE_OK;
}

void output_destroy(output* o) {
    if (o == NULL) {
        return;
    }
    TREACLE_ASSERT(!o->is_begun);
    background_destroy(o->thread);
    treacle_context_destroy(o->own);
    frame_copy_free(&o->copy);
    alloc_free(o->ctx, o, sizeof(*o));
}

static treacle_status copy_view(output* o, const run_job* job, treacle_frame_kind kind) {
    treacle_frame frame;
    TREACLE_TRY(treacle_sim_view(job->sim, kind, o->progress.frame, &frame));
    return frame_copy_add(&o->copy, &frame);
}

static treacle_status copy_moment(output* o, const run_job* job) {
    frame_copy_begin(&o->copy, o->ctx);
    TREACLE_TRY(copy_view(o, job, TREACLE_FRAME_PICTURE));
    return copy_view(o, job, TREACLE_FRAME_STATE);
}

treacle_status output_begin(output* o, const run_job* job, const treacle_progress* progress,
                            bool* is_taken) {
    TREACLE_ASSERT(!o->is_begun);
    o->progress = *progress;
    if (progress->stats != NULL) {
        o->stats = *progress->stats;
        o->progress.stats = &o->stats;
    }
    o->lacks_state = false;
    treacle_status status = copy_moment(o, job);
    *is_taken = status == TREACLE_OK;
    if (*is_taken) {
        o->is_begun = true;
        o->lacks_state = true;
        background_begin(o->thread, write_files, o);
    }
    return status == TREACLE_ERR_MEMORY ? TREACLE_OK : status;
}

// Hands what went wrong with files from the writer's context to that of the run.
static treacle_status told(output* o, treacle_status status) {
    return status == TREACLE_OK ? TREACLE_OK
                                : check_fail(o->ctx, status, "%s", treacle_context_error(o->own));
}

bool output_is_over(output* o) {
    return o != NULL && o->is_begun && background_is_idle(o->thread);
}

treacle_status output_end(output* o, bool* is_news, treacle_progress* done) {
    *is_news = o->is_begun;
    *done = o->progress;
    if (!o->is_begun) {
        return TREACLE_OK;
    }
    background_wait(o->thread);
    o->is_begun = false;
    return told(o, o->status);
}

treacle_status output_save_state(output* o) {
    TREACLE_ASSERT(!o->is_begun);
    if (!o->lacks_state || o->status != TREACLE_OK) {
        return TREACLE_OK;
    }
    o->lacks_state = false;
    return told(o, frame_files_write_state(&o->job, &o->copy.frames[1]));
}
