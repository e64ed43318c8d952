// What the tests of simulations share.
#pragma once

#include "particle_fixture.h"
#include "sim_scene.h"
