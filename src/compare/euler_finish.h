// After the flow of liquid on the grid.
#pragma once

#include "compare/euler_work.h"

// The fraction of the volume whose loss is worth a warning.
#define EULER_LOSS_MOST 0.02

/// Carried fields go on beyond the surface; what is measured.
treacle_status euler_finish(euler_work* e) TREACLE_NODISCARD;
