// Particles that come and go, and their order.
#pragma once

#include "sim/sim_internal.h"
#include "step/step_work.h"

typedef struct traffic {
    treacle_sim* sim;
    double from, to; // s
    particles* p;    // of the new state
    treacle_step_stats* stats;
    bool is_full; // emitters bring nothing
} traffic;

/// Whether what emitters bring still fits [step.4]; solids have moved, and nothing was brought yet.
treacle_status traffic_find_room(traffic* t, step_work* w) TREACLE_NODISCARD;
/// Emitters and drops; poses are those of solids at the end, where nothing drops, NULL without.
treacle_status traffic_emit(const traffic* t, const solid_pose* poses) TREACLE_NODISCARD;
treacle_status traffic_absorb(const traffic* t) TREACLE_NODISCARD;
treacle_status traffic_sort(const traffic* t) TREACLE_NODISCARD;
/// Crowded cells merge particles, grown particles split; then they are in order again.
treacle_status traffic_reseed(const traffic* t) TREACLE_NODISCARD;
