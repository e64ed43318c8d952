// Fields that come along with liquid on the grid.
#pragma once

#include "compare/euler_work.h"

/// Velocity, heat and strain come along; viscosity and density as cells have them.
treacle_status euler_carry(euler_work* e) TREACLE_NODISCARD;
