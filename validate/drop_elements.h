// A drop of thick liquid on a floor, by a method that shares nothing with the simulator: finite
// elements that move with the liquid. There is no grid for the surface to cross and no transfer;
// where the surface rolls onto the floor its nodes stick.
#pragma once

#include "treacle/treacle.h"

/// In units of the drop's diameter D, its speed U and its density.
typedef struct drop_elements_def {
    double fall;      ///< from the lowest point to the floor at time 0
    double viscosity; ///< nu/(U D) = 1/Re
    double gravity;   ///< g D/U^2
    int elements;     ///< from the axis to the surface
    double dt;        ///< D/U
} drop_elements_def;

/// The width of the drop at times after it has landed, in their order. ERR_MEMORY, or ERR_INTERNAL
/// if elements were turned inside out.
treacle_status drop_elements_widths(const drop_elements_def* def, int count, const double* times,
                                    double* widths);
