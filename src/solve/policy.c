#include "solve/policy.h"

#include <stddef.h>

// A change here changes the bits of all results, and the figures in policy.h with it.
static const solve_policy standard = {
    // Where coarser levels begin to pay, measured by time on blocks and drops of 8 to 64 cells.
    .cycle = {.single_links = 0.5,
              .single_weight = 0.201,
              .single_weight_small = 2.0,
              .small_tiles = 16,
              .last_k_level = 2,
              .crowd = 16,
              .pressure_bottom = 10,
              .pressure_bottom_crowd = 4,
              .viscosity_bottom = 20,
              .surface_sweeps = 2},
    // Weights of lumps: stress against mass. Shares: of weights around. Counts: tiles, faces,
    // aggregates.
    .lump = {.thick_weight = 10.0,
             .stacked_weight = 1e4,
             .few_tiles = 256,
             .strong = 0.2f,
             .strong_of_aggregate = 0.7f,
             .smallest = 12,
             .smallest_speck = 2,
             .speck_contrast = 1e3,
             .speck_jump = 10.0,
             .jump_mass = 0.75f,
             .speck_strong = 0.2f,
             .speck_mass = 0.1,
             .dissection_part = 8},
    // Found on thin films, slip walls and drops, where the textbook's Schur complement is wrong.
    .schur = {.smallest_volume = 0.02f,
              .smallest_mass = 1e-3f,
              .held = 0.3,
              .surface = 0.5,
              .weight_of_image = 0.03f,
              .waves = 30.0},
    // The two loops ask differently: conjugate gradients by the iterations that are left at their
    // pace, since they go on from where they are; GCR by how fast the energy falls, since it begins
    // anew and must gain more than it forgets.
    .slow = {.patience = 20.0, .pace_iterations = 10, .factor = 0.78, .iterations = 6, .recent = 2},
    // Mostly what float vectors allow: images are rounded to 6e-8 of themselves.
    .krylov = {.stagnation_ratio = 0.9,
               .stagnation_iterations = 60,
               .restart = 30,
               .restart_long = 60,
               .caution = 1.4,
               .small_region = 500.0,
               .twice_below = 0.01,
               .stalled = 0.9999,
               .stalls = 8,
               .weighed_reach = 1e-4,
               .cycle_reach = 1e-6,
               .drift_of_target = 1.1,
               .drift_of_said = 2.0,
               .push_divergence = 1.1,
               .push_force = 4.0},
    // See policy.h: these are no choices, and no regime depends on them.
    .rounding = {.pivot = 1e-11,
                 .body_mass = 1e-9,
                 .body_row = 1e-12,
                 .region_held = 1e-9,
                 .region_new = 1e-6,
                 .residual = 1e-9,
                 .velocity = 1e-12},
};

const solve_policy* solve_policy_default(void) {
    return &standard;
}

// Systems bring a policy of their own in tests and benches, where one switch is held against
// another.
const solve_policy* solve_policy_or_default(const solve_policy* own) {
    return own != NULL ? own : &standard;
}
