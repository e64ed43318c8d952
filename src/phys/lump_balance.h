// Forces of a lump of liquid on itself: without a net force and without a torque.
#pragma once

#include "phys/stress.h"
#include "solve/regions.h"

typedef struct lump_balance {
    const stress_params* liquid;
    const stress_weights* weights;
    const region_set* lumps; // connected cells with a pressure
} lump_balance;

/// Takes what would move or turn a lump as a whole out of force, [tile][axis][512], of each lump
/// that touches no fixed face [tension.7].
treacle_status lump_balance_apply(const lump_balance* balance, double* force) TREACLE_NODISCARD;
