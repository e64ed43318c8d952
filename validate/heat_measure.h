// What cases read off a simulation with heat.
#pragma once

#include "harness.h"

/// Means over the particles of a layer of cells across an axis.
typedef struct heat_layer {
    double volume;      ///< m^3
    double temperature; ///< K
    double melted;      ///< 0..1
    double speed[3];    ///< m/s
} heat_layer;

/// Layers across `axis`, one for each cell of the domain along it.
treacle_status heat_layers(treacle_sim* sim, int axis, heat_layer* out, int count);
/// Where, in cells from the low side, the temperature of layers falls through `level`, K; NAN if it
/// does not. Linear between the middles of layers.
double heat_front(const heat_layer* layers, int count, double level);
/// m^3 that is melted, in all.
treacle_status heat_melted(treacle_sim* sim, double* out);
