// The surface of liquid on the grid where it touches walls.
#pragma once

#include "compare/euler_work.h"

/// The surface at cells, continued into solids; part of the geometry.
treacle_status euler_surface(euler_work* e) TREACLE_NODISCARD;
