// How liquid on the grid begins.
#pragma once

#include "compare/euler_work.h"
#include "particles/seed.h"

/// The surface, tiles, velocity and heat of the liquids, in the empty state and surface of `e`.
treacle_status euler_begin(euler_work* e, const seed_def* seeding) TREACLE_NODISCARD;
