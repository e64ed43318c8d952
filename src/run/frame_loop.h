// The loop over frames: steps, files, pruning, progress.
//
// A frame's files are written in the order frame, preview, statistics, state, and beside the steps
// of the next frame (run/output.h). Not every frame has a state; that file is what makes frames
// count: whoever resumes from it finds everything before it on disk.
//
// On ranks all of them go through the loop and write frames and states together; rank 0 alone
// writes the rest. Then they agree whether that went well.
#pragma once

#include "base/comm.h"
#include "run/run_record.h"
#include "run/stats_file.h"

typedef struct run_job {
    treacle_context* ctx;
    const treacle_run_def* def;
    folder folder;
    run_record record;
    char scene_path[FOLDER_PATH_CAPACITY]; // behind the record of a new run
    char film_path[FOLDER_PATH_CAPACITY];  // behind the record of a new run, too
    treacle_sim* sim;
    stats_file stats;
    double fps;                 // 1/s, of the film
    int state_every;            // frames between states that are kept for good; 0: none
    int resume_every;           // frames between states to resume from, at least 1
    struct output* output;      // writes files beside the steps; NULL: they are written at once
    const treacle_scene* scene; // of previews and of the times of frames
    int64_t began_at;           // frame at which this process began, 0 for a new run
    double began_clock;         // s, profile_now() when the loop began
    bool stop;                  // the callback wants to end
    // Steps of this process that have viscosity by shear, and those that ended before it was found.
    int64_t rheology_steps, rheology_unconverged;
    double rheology_change; // the largest that was left
} run_job;

/// Whether this process writes the run's small files.
static inline bool run_is_writer(const run_job* job) {
    return comm_rank(job->ctx) == 0;
}

/// Simulates from frame `at`, in whose state the simulation is (0: nothing is on disk yet), to the
/// record's last frame.
treacle_status frame_loop_run(run_job* job, int64_t at) TREACLE_NODISCARD;
/// On all ranks together: writes the frame file, and the preview if the run has them, of the
/// simulation's state.
treacle_status frame_loop_write_picture(run_job* job, int64_t number) TREACLE_NODISCARD;
