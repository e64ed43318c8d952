// Rigid motions of lumps of liquid that nothing holds: what forces of a lump on itself must not
// cause.
#pragma once

#include "phys/stress.h"
#include "solve/regions.h"

typedef struct lump_set {
    const stress_params* liquid;
    const stress_weights* weights;
    const region_set* regions; // connected cells with a pressure
    struct lump* at;           // [regions]
} lump_set;

/// Finds the lumps: what they point to must outlive them.
treacle_status lump_set_create(const stress_params* liquid, const stress_weights* weights,
                               const region_set* regions, lump_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void lump_set_destroy(lump_set* set);

// Vectors are [tile][axis][512]. Lumps that touch a fixed face have no motion.

/// The motion of each lump that has that momentum.
void lump_set_find_motions(const lump_set* set, const double* momentum);
/// Takes the momentum of the motions that were found out of a vector [tension.7].
void lump_set_take_momentum(const lump_set* set, double* momentum);
/// u += the motions that were found, or their rotations alone.
void lump_set_add_motions(const lump_set* set, bool only_rotations, double* u);
