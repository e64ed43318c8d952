// Whether what emitters bring still fits.
#pragma once

#include "step/move_solids.h"

/// What solids leave of the domain, where they stood when it was last found; not state.
typedef struct room_memory {
    uint64_t poses;  // a hash of them; 0: not found yet
    double volume;   // m^3
    bool has_warned; // that nothing fits any more: said once a session
} room_memory;

/// Whether emitters bring something in this step, and into a space without a way out: only then is
/// there anything to find. *brought is what they bring, m^3.
bool find_room_is_asked(const step_frame* f, bool has_sinks, double* brought);
/// Whether so much fits; solids have moved. If not, it is said, once.
bool find_room(const step_frame* f, const solid_poses* poses, double volume, room_memory* memory);
