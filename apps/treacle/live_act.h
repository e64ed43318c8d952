// What the page asks of a live simulation, as a message: {"pour": [x, y, z]} and the like.
#pragma once

#include "live_sim.h"

/// False if the message makes no sense; then nothing has changed, or what was held is let go.
bool live_act(live_sim* live, const char* message, size_t size);
