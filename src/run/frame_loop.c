#include "run/frame_loop.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/profile.h"
#include "run/frame_files.h"
#include "run/output.h"

// Time is a sum of steps and hits the frame's time up to rounding: this fraction of a frame is
// none.
static const double rounding = 1e-9;

static double seconds_spent(const run_job* job) {
    return profile_now() - job->began_clock;
}

// s, simulated from one frame to the next.
static double frame_seconds(const run_job* job) {
    return treacle_sim_def_frame_time(treacle_scene_sim(job->scene), 2);
}

// The frame that the simulation's time is at, with the part of the one being simulated.
static double frame_at(const run_job* job) {
    return 1.0 + treacle_sim_time(job->sim) / frame_seconds(job);
}

static double fraction_done(const run_job* job) {
    double frames = (double)job->record.frames;
    double fraction = frames > 1.0 ? (frame_at(job) - 1.0) / (frames - 1.0) : 1.0;
    return fmin(fmax(fraction, 0.0), 1.0);
}

// From the mean speed of this process so far.
static double seconds_left(const run_job* job) {
    double first = job->began_at > 0 ? (double)job->began_at : 1.0;
    double at = frame_at(job);
    if (at <= first) {
        return -1.0;
    }
    double left = (double)job->record.frames - at;
    return left <= 0.0 ? 0.0 : seconds_spent(job) / (at - first) * left;
}

static void report(run_job* job, treacle_progress progress) {
    if (job->def->progress == NULL) {
        return;
    }
    progress.frames = job->record.frames;
    progress.fraction = fraction_done(job);
    progress.seconds_spent = seconds_spent(job);
    progress.seconds_left = seconds_left(job);
    int64_t stop = job->stop || !job->def->progress(&progress, job->def->progress_user);
    comm_max_i64(job->ctx, &stop, 1);
    job->stop = stop != 0;
}

treacle_status frame_loop_write_picture(run_job* job, int64_t number) {
    TREACLE_ASSERT(job->sim != NULL && number >= 1);
    treacle_frame frame;
    TREACLE_TRY(
        comm_agree(job->ctx, treacle_sim_view(job->sim, TREACLE_FRAME_PICTURE, number, &frame)));
    return frame_files_write_picture(job, &frame);
}

static treacle_status write_state(run_job* job, int64_t number) {
    treacle_frame frame;
    TREACLE_TRY(
        comm_agree(job->ctx, treacle_sim_view(job->sim, TREACLE_FRAME_STATE, number, &frame)));
    return frame_files_write_state(job, &frame);
}

// Ranks know the same of the state, whole or in part; should they ever differ, nothing more is
// written.
static treacle_status check_ranks(run_job* job) {
    if (comm_size(job->ctx) == 1) {
        return TREACLE_OK;
    }
    char text[32];
    snprintf(text, sizeof(text), "%016" PRIx64, treacle_sim_hash(job->sim));
    return comm_check_same(job->ctx, "the hash of the state", text);
}

static treacle_status write_now(run_job* job, const treacle_progress* progress) {
    int64_t number = progress->frame;
    TREACLE_TRY(frame_loop_write_picture(job, number));
    TREACLE_TRY(frame_files_have_state(job, number) ? write_state(job, number) : TREACLE_OK);
    report(job, *progress);
    return TREACLE_OK;
}

// Waits for the files that are being written, and tells that they are there.
static treacle_status end_output(run_job* job) {
    treacle_progress done;
    bool is_news = false;
    if (job->output != NULL) {
        TREACLE_TRY(output_end(job->output, &is_news, &done));
    }
    if (is_news) {
        report(job, done);
    }
    return TREACLE_OK;
}

// Writes the frame that the simulation has reached, at once or beside the steps that follow.
static treacle_status write_frame(run_job* job, treacle_progress progress) {
    progress.frame_done = true;
    progress.step = treacle_sim_step_count(job->sim);
    TREACLE_TRY(check_ranks(job));
    TREACLE_TRY(end_output(job));
    bool is_taken = false;
    if (job->output != NULL) {
        TREACLE_TRY(output_begin(job->output, job, &progress, &is_taken));
    }
    return is_taken ? TREACLE_OK : write_now(job, &progress);
}

// s, that are missing to the frame's time; 0 once it is reached. Each step may
// take all of it: the simulation cuts it into equal steps where it needs several. Nothing but the
// state counts, so a resumed run cuts the same.
static double time_left(const run_job* job, int64_t number) {
    double left = treacle_sim_def_frame_time(treacle_scene_sim(job->scene), number) -
                  treacle_sim_time(job->sim);
    return left > rounding * frame_seconds(job) ? left : 0.0;
}

static void note_rheology(run_job* job, const treacle_rheology_stats* rheology) {
    bool is_left = rheology->iterations > 0 && !rheology->converged;
    job->rheology_steps += rheology->iterations > 0;
    job->rheology_unconverged += is_left;
    job->rheology_change =
        is_left ? fmax(job->rheology_change, rheology->change) : job->rheology_change;
}

static void tell_of_rheology(const run_job* job) {
    if (job->rheology_unconverged > 0 && run_is_writer(job)) {
        log_message(job->ctx, TREACLE_LOG_WARNING,
                    "%" PRId64 " of %" PRId64
                    " steps ended before viscosity and velocity agreed: the last pass still "
                    "changed the velocity by up to %.2g of itself. Shorter steps (step.max_dt), "
                    "more passes (viscosity_solve.max_iterations) or a larger critical_rate help",
                    job->rheology_unconverged, job->rheology_steps, job->rheology_change);
    }
}

// Steps until the frame's time is reached or the callback wants to end.
static treacle_status step_to(run_job* job, int64_t number, treacle_progress* progress,
                              treacle_step_stats* stats) {
    *progress = (treacle_progress){.frame = number};
    for (double left = time_left(job, number); left > 0.0 && !job->stop;
         left = time_left(job, number)) {
        TREACLE_TRY(treacle_sim_step(job->sim, left, stats));
        treacle_status status =
            run_is_writer(job) ? stats_file_append(&job->stats, number, stats) : TREACLE_OK;
        TREACLE_TRY(comm_agree(job->ctx, status));
        note_rheology(job, &stats->rheology);
        progress->stats = stats;
        progress->substep += 1;
        progress->step = treacle_sim_step_count(job->sim);
        report(job, *progress);
        TREACLE_TRY(output_is_over(job->output) ? end_output(job) : TREACLE_OK);
    }
    return TREACLE_OK;
}

static treacle_status next_frame(run_job* job, int64_t number) {
    treacle_progress progress;
    treacle_step_stats stats;
    TREACLE_TRY(step_to(job, number, &progress, &stats));
    if (time_left(job, number) > 0.0) {
        return TREACLE_OK;
    }
    return write_frame(job, progress);
}

// The first frame is waited for: what is wrong with the folder is known before hours of steps.
static treacle_status first_frame(run_job* job) {
    TREACLE_TRY(write_frame(job, (treacle_progress){.frame = 1}));
    return end_output(job);
}

// From frame *at on, which moves along.
static treacle_status run_frames(run_job* job, int64_t* at) {
    if (*at == 0) {
        TREACLE_TRY(first_frame(job));
        *at = 1;
    }
    while (*at < job->record.frames && !job->stop) {
        TREACLE_TRY(next_frame(job, *at + 1));
        *at += time_left(job, *at + 1) > 0.0 ? 0 : 1;
    }
    return TREACLE_OK;
}

// Waits for the last files. A run that ends early, by Ctrl-C or by a step that failed, leaves a
// state of the last frame that it has reached, so that nothing but a kill costs whole frames.
static treacle_status end_files(run_job* job, bool is_early) {
    TREACLE_TRY(end_output(job));
    return is_early && job->output != NULL ? output_save_state(job->output) : TREACLE_OK;
}

treacle_status frame_loop_run(run_job* job, int64_t at) {
    TREACLE_ASSERT(job->sim != NULL && job->scene != NULL);
    TREACLE_ASSERT(at >= 0 && at <= job->record.frames);
    int64_t frames = job->record.frames;
    job->began_at = at;
    job->began_clock = profile_now();
    TREACLE_TRY(output_create(job, &job->output));
    treacle_status status = run_frames(job, &at);
    treacle_status written = end_files(job, at < frames);
    status = status == TREACLE_OK ? written : status;
    output_destroy(job->output);
    job->output = NULL;
    tell_of_rheology(job);
    TREACLE_TRY(status);
    if (at < frames) {
        return check_fail(job->ctx, TREACLE_ERR_INTERRUPTED,
                          "interrupted after step %" PRId64 "; frames 1 to %" PRId64 " of %" PRId64
                          " are in %s",
                          treacle_sim_step_count(job->sim), at, frames, job->folder.path);
    }
    return TREACLE_OK;
}
