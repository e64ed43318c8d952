// Tiles around liquid that the grid carries.
#pragma once

#include "compare/euler_work.h"

treacle_status euler_build_tiles(euler_work* e) TREACLE_NODISCARD;
