// What pushes liquid on the grid, its own elastic stress among it.
#pragma once

#include "compare/euler_work.h"

treacle_status euler_push(euler_work* e) TREACLE_NODISCARD;
/// Strain follows the new velocity.
treacle_status euler_strain_step(euler_work* e) TREACLE_NODISCARD;
