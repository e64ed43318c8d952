// Ctrl-C: the first asks the run to end after its step, the second ends the process at once.
#pragma once

#include "treacle/base.h"

/// Begins to listen for SIGINT, SIGTERM and SIGHUP.
void interrupt_begin(void);
/// The same for a run into the folder. On ranks a SIGTERM is mpirun's: a rank has died and the
/// others wait for it. Then there is nothing to finish, and the process says so and ends.
void interrupt_begin_run(const treacle_context* ctx, const char* folder);
bool interrupt_wanted(void);
