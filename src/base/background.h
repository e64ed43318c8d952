// A thread that does one job at a time while its owner goes on.
//
// The owner hands a job over and takes what it made after background_wait, or once
// background_is_idle says so; between the two it must not touch what belongs to the job. Signals
// are left to other threads, so that Ctrl-C reaches whoever asked for it.
#pragma once

#include "base/context.h"

typedef struct background background;
typedef void background_fcn(void* data);

/// Starts the thread. ERR_UNSUPPORTED if the system has no more threads to give.
treacle_status background_create(treacle_context* ctx, background** out) TREACLE_NODISCARD;
/// Waits for the job that runs, then ends the thread. Accepts NULL.
void background_destroy(background* b);

/// Begins a job, after the one before it has ended.
void background_begin(background* b, background_fcn* fcn, void* data);
/// Whether no job runs.
bool background_is_idle(background* b);
/// Waits until no job runs.
void background_wait(background* b);
