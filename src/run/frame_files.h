// The files of a frame: what is written, in which order, and what may go.
//
// On ranks all of them write frames and states together; rank 0 alone writes the rest.
#pragma once

#include "run/frame_loop.h"
#include "treacle/cache.h"

/// On all ranks together: writes the frame file, and the preview if the run has them.
treacle_status frame_files_write_picture(run_job* job,
                                         const treacle_frame* frame) TREACLE_NODISCARD;
/// On all ranks together: makes the statistics safe, writes the state that makes all before it
/// count, and removes the states that it has made needless.
treacle_status frame_files_write_state(run_job* job, const treacle_frame* frame) TREACLE_NODISCARD;
/// Whether the run has a state of that frame.
bool frame_files_have_state(const run_job* job, int64_t number);
/// Removes the states before `newest` but for the one before it that is due by the scene's
/// `resume_every`, and those that are kept for good.
treacle_status frame_files_prune(run_job* job, int64_t newest) TREACLE_NODISCARD;
