// The step of liquid that moves on the grid: its list of stages.
#pragma once

#include "compare/euler_work.h"
#include "step/stage_run.h"

treacle_status euler_step(const stage_run* r, euler_work* e) TREACLE_NODISCARD;
/// Before the first step: velocity is brought to the grid and made free of divergence.
treacle_status euler_first_step(const stage_run* r, euler_work* e) TREACLE_NODISCARD;
