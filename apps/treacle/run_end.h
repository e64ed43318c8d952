// How "run" and "resume" end: the summary, or the error and what can be done about it.
#pragma once

#include "progress_line.h"

/// Prints it and returns the exit code.
int run_end(const treacle_context* ctx, treacle_status status, const char* folder,
            progress_line* line);
