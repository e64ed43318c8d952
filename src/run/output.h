// A frame's files, written by a thread of their own while the simulation goes on.
//
// The frame and its state are copied once, whether the state is to be written or not: a run that
// ends early still has it. Packing, drawing, writing and waiting for the disk are the thread's. One
// frame at a time is on its way, so memory is bounded by one copy, and what is on disk is never
// more than a frame behind. The thread has a context of its own and makes no calls to other ranks.
//
// Files are written at once instead, by the caller, on several ranks, where a program has brought
// its own allocator (which then has one caller at a time), where the system has no thread to give,
// and for a frame whose copy finds no memory.
#pragma once

#include "run/frame_loop.h"

typedef struct output output;

/// *out stays NULL where files are to be written at once.
treacle_status output_create(const run_job* job, output** out) TREACLE_NODISCARD;
/// Accepts NULL. No frame may be on its way.
void output_destroy(output* o);

/// Copies the frame that the job's simulation is at, and lets it be written; progress is what to
/// tell once that is done. output_end comes before it. *is_taken is false if there was no memory.
treacle_status output_begin(output* o, const run_job* job, const treacle_progress* progress,
                            bool* is_taken) TREACLE_NODISCARD;
/// Whether a frame has been written that output_end has not told of. False for NULL.
bool output_is_over(output* o);
/// Waits for the frame that is on its way, if there is one: then *is_news. An error is that of its
/// files.
treacle_status output_end(output* o, bool* is_news, treacle_progress* done) TREACLE_NODISCARD;
/// Writes the state of the newest frame if it has none yet. No frame may be on its way.
treacle_status output_save_state(output* o) TREACLE_NODISCARD;
