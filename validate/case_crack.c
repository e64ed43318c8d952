// A bar that shrinks between two sides breaks at its strength, and that takes the energy of a crack
// through it: on any grid, however it lies in it [crack.1, crack.3].
//
//     sigma = mu_e (-log V / V_0) / 2  until sigma = f;   energy G A
//
// It slides along the sides, so that it is pulled evenly. A bar that lies askew in the grid is
// pulled by clamps instead: what sticks to them cannot shrink, and would not be pulled evenly. Both
// have a stronger material at their ends; where they break between is up to chance. The stress
// along the bar is the mean over particles near its axis of what they carry, (1 - d) mu_e eps_nn.
//
// Tolerances: strength 2 %; energy 15 % on three grids and at 0, 17 and 45 degrees; 2 % of the
// strength are left at the end.
#include <math.h>

#include "cases.h"

static const double modulus = 1e4, strength = 50.0, toughness = 0.02, width = 0.04;
static const double pi = 3.14159265358979323846;

// Held by the sides of the domain, and drying; what they hold does not break.
static const char dry_scene[] =
    "domain: {origin: [-0.08, -0.04], size: [0.16, 0.08], cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.01}\n"
    "materials:\n"
    "  clay: {density: 15, marker_rate: 1, marker_target: 0, shrinkage: {drying: 0.03},\n"
    "         viscosity: 0.1,\n"
    "         elastic: {shear_modulus: 5 kPa, strength: %g, fracture_energy: %g}}\n"
    "  grip: {density: 15, marker_rate: 1, marker_target: 0, shrinkage: {drying: 0.03},\n"
    "         viscosity: 0.1,\n"
    "         elastic: {shear_modulus: 5 kPa, strength: 10 kPa, fracture_energy: 1000}}\n"
    "liquids:\n"
    "  - {shape: {box: {size: [0.1, 0.04, 2]}}, material: clay, marker: 1}\n"
    "  - {shape: {difference: [{box: {size: [1, 0.04, 2]}}, {box: {size: [0.1, 0.1, 2]}}]},\n"
    "     material: grip, marker: 1}\n";

// Held by clamps that move apart, however the bar lies in the grid.
static const char pull_scene[] =
    "domain: {origin: [-0.12, -0.12], size: [0.24, 0.24], cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.01}\n"
    "materials:\n"
    "  clay: {density: 15, viscosity: 0.1,\n"
    "         elastic: {shear_modulus: 5 kPa, strength: %g, fracture_energy: %g}}\n"
    "  grip: {density: 15, viscosity: 0.1,\n"
    "         elastic: {shear_modulus: 5 kPa, strength: 10 kPa, fracture_energy: 1000}}\n"
    "solids:\n"
    "  left: {shape: {box: {size: [0.12, 0.12, 2]}, rotate: [0, 0, %g deg], move: [%.17g, %.17g, "
    "0]},\n"
    "         wall: no-slip, velocity: [%.17g, %.17g, 0]}\n"
    "  right: {shape: {box: {size: [0.12, 0.12, 2]}, rotate: [0, 0, %g deg], move: [%.17g, %.17g, "
    "0]},\n"
    "          wall: no-slip, velocity: [%.17g, %.17g, 0]}\n"
    "liquids:\n"
    "  - {shape: {box: {size: [0.1, 0.04, 2]}, rotate: [0, 0, %g deg]}, material: clay}\n"
    "  - {shape: {difference: [\n"
    "       {box: {size: [0.162, 0.04, 2]}, rotate: [0, 0, %g deg]},\n"
    "       {box: {size: [0.1, 0.1, 2]}, rotate: [0, 0, %g deg]}]}, material: grip}\n";

typedef struct bar {
    double peak, end; // Pa, of the stress along it
    double energy;    // J
    double broken;    // share of its volume
} bar;

// The stress along the bar, and how much of it is broken, by what particles in its middle carry.
static treacle_status look(treacle_sim* sim, double angle, double* stress, double* broken) {
    treacle_frame frame;
    VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame));
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const float* strain = treacle_frame_find(&frame, "strain")->data;
    const float* damage = treacle_frame_find(&frame, "damage")->data;
    double c = cos(angle), s = sin(angle), sum = 0.0, lost = 0.0;
    int64_t count = 0, all = 0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = tile_first[t]; i < tile_first[t + 1]; ++i) {
            const float* e = strain + 6 * i;
            double x[3];
            validate_position(&frame, t, i, x);
            lost += damage[i] >= 1.0f ? 1.0 : 0.0;
            all += 1;
            if (fabs(x[0] * c + x[1] * s) < 0.04 && fabs(x[1] * c - x[0] * s) < 0.01) {
                double along =
                    c * c * (double)e[0] + s * s * (double)e[1] + 2.0 * s * c * (double)e[5];
                sum += modulus * along * (along > 0.0 ? 1.0 - (double)damage[i] : 1.0);
                count += 1;
            }
        }
    }
    *stress = sum / (double)count;
    *broken = lost / (double)all;
    return TREACLE_OK;
}

static treacle_status create(validate* v, double cell, double degrees, bool is_dry,
                             treacle_sim** out) {
    double c = cos(degrees * pi / 180.0), s = sin(degrees * pi / 180.0), far = 0.14, speed = 7e-4;
    return is_dry
               ? validate_sim_create(v, out, dry_scene, cell, strength, toughness)
               : validate_sim_create(v, out, pull_scene, cell, strength, toughness, degrees,
                                     -far * c, -far * s, -speed * c, -speed * s, degrees, far * c,
                                     far * s, speed * c, speed * s, degrees, degrees, degrees);
}

static treacle_status run_bar(validate* v, double cell, double degrees, bool is_dry, bar* out) {
    treacle_sim* sim = NULL;
    double until = is_dry ? 2.0 : 1.5;
    *out = (bar){0};
    VALIDATE_TRY(create(v, cell, degrees, is_dry, &sim));
    treacle_status status = TREACLE_OK;
    while (status == TREACLE_OK && treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &stats);
        if (status == TREACLE_OK) {
            status = look(sim, degrees * pi / 180.0, &out->end, &out->broken);
        }
        out->peak = fmax(out->peak, out->end);
        out->energy += stats.energy.fracture;
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status compare(validate* v, double cell, double angle, bool is_dry) {
    const char* name = is_dry ? "dries" : "pulled";
    bar b;
    VALIDATE_TRY(run_bar(v, cell, angle, is_dry, &b));
    validate_relative(v, b.peak, strength, 0.02, "strength, Pa, %s, h %.3g, %g deg", name, cell,
                      angle);
    validate_absolute(v, b.end / strength, 0.0, 0.02, "stress left, %s, h %.3g, %g deg", name, cell,
                      angle);
    validate_relative(v, b.energy, toughness * width * cell, 0.15, "energy, J, %s, h %.3g, %g deg",
                      name, cell, angle);
    validate_info(v, b.broken * 0.16 / cell, NAN, "cells broken, %s, h %.3g, %g deg", name, cell,
                  angle);
    return TREACLE_OK;
}

static treacle_status all_ways(validate* v, double cell) {
    VALIDATE_TRY(compare(v, cell, 0.0, true));
    VALIDATE_TRY(compare(v, cell, 0.0, false));
    VALIDATE_TRY(compare(v, cell, 17.0, false));
    return compare(v, cell, 45.0, false);
}

treacle_status case_crack_bar(validate* v) {
    return all_ways(v, 0.005);
}

treacle_status case_crack_bar_grids(validate* v) {
    VALIDATE_TRY(all_ways(v, 0.02 / 3.0));
    return all_ways(v, 0.01 / 3.0);
}
