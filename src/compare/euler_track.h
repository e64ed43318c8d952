// The surface of liquid on the grid follows the flow; emitters fill, sinks drain.
#pragma once

#include "compare/euler_work.h"

/// Through the last step's velocity. ERR_DIVERGED if it would cross too many cells.
treacle_status euler_track(euler_work* e) TREACLE_NODISCARD;
/// Whether what emitters bring still fits [step.4]; solids have moved.
treacle_status euler_find_room(euler_work* e) TREACLE_NODISCARD;
/// Running emitters are full of liquid, sinks that work are empty.
treacle_status euler_emit(euler_work* e) TREACLE_NODISCARD;
