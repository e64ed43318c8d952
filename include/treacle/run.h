// A run: a scene simulated into a folder, frame by frame, that can be killed and resumed.
#pragma once

#include "scene.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How far a run is. Handed to the progress callback after every step.
typedef struct treacle_progress {
    int64_t frame, frames;      ///< being simulated, last to do
    int64_t step;               ///< of the run
    int substep;                ///< of this frame, from 1
    double seconds_spent;       ///< s, in this process
    double seconds_left;        ///< s, estimated; < 0 while unknown
    bool frame_done;            ///< the frame's file is on disk
    const treacle_step_stats* stats; ///< of the step; NULL for the first frame
} treacle_progress;

/// Return false to end after this step with a valid cache.
typedef bool treacle_progress_fcn(const treacle_progress* progress, void* user);

typedef struct treacle_run_def {
    size_t def_size;
    const char* folder;      ///< made if missing; must be empty of frames unless resuming
    int64_t frames;          ///< 0: as the scene says
    bool preview;            ///< write preview_0001.png beside every frame
    int preview_width, preview_height;
    treacle_progress_fcn* progress; ///< may be NULL
    void* progress_user;
} treacle_run_def;

TREACLE_API treacle_run_def treacle_run_def_default(void);
/// Simulates the scene into the folder. ERR_USAGE if the folder already holds a run.
/// ERR_INTERRUPTED if the callback ended it.
TREACLE_API treacle_status treacle_run_start(treacle_context* ctx, const treacle_scene* scene,
                                             const treacle_run_def* def);
/// Goes on where the folder's last whole state file ends.
TREACLE_API treacle_status treacle_run_resume(treacle_context* ctx, const treacle_run_def* def);

#ifdef __cplusplus
}
#endif
