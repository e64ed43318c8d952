// Particles that change hands between ranks which hold no more than their own (particle_away).
#pragma once

#include "base/arena.h"
#include "base/comm.h"
#include "particles/particles.h"

/// Particles that go to a rank and come from it, by their numbers.
typedef struct particle_parcel {
    int rank;
    particle_ix give_count, take_count;
    uint32_t* give; // [give_count]
    uint32_t* take; // [take_count], filled in: the rank's `give`
} particle_parcel;

/// Delivers particles, in all columns, to where they have the same numbers. At most one parcel for
/// each other rank; ERR_MEMORY before anything is said.
treacle_status particle_trade(const particles* p, int count, const particle_parcel* parcels,
                              arena* scratch) TREACLE_NODISCARD;
