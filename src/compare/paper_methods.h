// The papers' own ways to find pressure and viscosity, to be compared with those of src/phys.
#pragma once

#include "step/step_setup.h"

/// Those that a def asks for.
other_methods paper_methods(const treacle_sim_def* def);
