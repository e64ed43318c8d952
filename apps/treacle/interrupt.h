// Ctrl-C: the first asks the run to end after its step, the second ends the process at once.
#pragma once

#include <stdbool.h>

/// Begins to listen for SIGINT, SIGTERM and SIGHUP.
void interrupt_begin(void);
bool interrupt_wanted(void);
