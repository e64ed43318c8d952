// Liquid that the grid carries, as a simulation has it; its stages are in src/compare.
#pragma once

#include "compare/euler_work.h"
#include "particles/seed.h"
#include "sim/sim_internal.h"

/// Makes the surfaces of both states.
treacle_status eulerian_create(treacle_sim* sim) TREACLE_NODISCARD;
level_set_work eulerian_level(treacle_sim* sim);
/// What its stages work on in a step.
euler_work eulerian_work(treacle_sim* sim, step_work* w);
/// The liquids of a def in `now`.
treacle_status eulerian_seed(treacle_sim* sim, const seed_def* seeding) TREACLE_NODISCARD;
/// Makes the points that pictures show.
treacle_status eulerian_show(treacle_sim* sim) TREACLE_NODISCARD;
