// What dries shrinks: by the share that its material says, whatever it is made of, and where it is
// held it is pulled.
//
//     V = V_0 exp(b (m - m_0)),   m = m_0 exp(-r t)                                     [shrink.1]
//
// A free block, in the plane and in space, of gel, of thick liquid and of water: the root mean
// square of its particles' distance from their centre along each axis shrinks by (V/V_0)^(1/d), and
// gel has no strain then. A bar between two sides that it slides along, held across by them: it
// cannot get shorter, so that in the plane, with g = -log V/V_0,
//
//     eps_xx = g/2 = -eps_yy,   sigma_xx = mu_e eps_xx - p = mu_e g,   energy mu_e g^2 / 4
//     [shrink.3]
//
// The energy is the work of shrinking against the pressure: the account is closed.
//
// Tolerances: widths 0.1 % of themselves at three grids, of water, which does not keep its shape, 1
// %; strain of the bar 1 % with 8 cells across it, and in proportion to the cell; its energy 2 %;
// what the account leaves open 1e-3 of the work.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

static const double rate = 2.0, until = 1.0;

static const char block_scene[] =
    "domain: {size: %s, cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.02}\n"
    "materials: {clay: {density: 1500, marker_rate: %g, marker_target: 0,\n"
    "                   shrinkage: {drying: %g}, %s}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.03, 0.03, %g], max: [0.13, 0.13, 0.13]}}, material: clay,\n"
    "     marker: 1}\n";

static const char bar_scene[] =
    "domain: {size: [0.16, 0.08], cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.02}\n"
    "pressure: {tolerance: 1e-6}\n"
    "materials: {clay: {density: 1500, marker_rate: %g, marker_target: 0,\n"
    "                   shrinkage: {drying: %g}, viscosity: 10,\n"
    "                   elastic: {shear_modulus: 5 kPa}}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [-1, 0.02, -1], max: [1, 0.06, 1]}}, material: clay, marker: 1}\n";

// log of the volume at the end over that at the start.
static double log_volume(double drying) {
    return drying * (exp(-rate * until) - 1.0);
}

// Root mean square distances from the centre along the axes.
static treacle_status widths(treacle_sim* sim, double out[3]) {
    validate_particle* at = NULL;
    int64_t count = 0;
    VALIDATE_TRY(validate_particles(sim, &at, &count));
    for (int a = 0; a < 3; ++a) {
        double sum = 0.0, square = 0.0;
        for (int64_t i = 0; i < count; ++i) {
            sum += at[i].place[a];
        }
        for (int64_t i = 0; i < count; ++i) {
            double d = at[i].place[a] - sum / (double)count;
            square += d * d;
        }
        out[a] = sqrt(square / (double)count);
    }
    free(at);
    return TREACLE_OK;
}

// The account of all steps, and what is there after the last.
typedef struct account {
    double shrinkage, open, elastic, kinetic;
} account;

static treacle_status run(treacle_sim* sim, account* out) {
    *out = (account){0};
    while (treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats step;
        VALIDATE_TRY(treacle_sim_step(sim, until - treacle_sim_time(sim), &step));
        out->shrinkage += step.energy.shrinkage;
        out->open += fabs(step.energy.error);
        out->elastic = step.energy.elastic;
        out->kinetic = step.energy.kinetic;
    }
    return TREACLE_OK;
}

typedef struct block {
    const char *name, *size, *material;
    int axes;
    double cell, drying, tolerance;
} block;

static treacle_status run_block(validate* v, const block* b) {
    treacle_sim* sim = NULL;
    double before[3], after[3], strain[6];
    account sums;
    VALIDATE_TRY(validate_sim_create(v, &sim, block_scene, b->size, b->cell, rate, b->drying,
                                     b->material, b->axes == 3 ? 0.03 : -1.0));
    treacle_status status = widths(sim, before);
    status = status == TREACLE_OK ? run(sim, &sums) : status;
    status = status == TREACLE_OK ? widths(sim, after) : status;
    double expected = exp(log_volume(b->drying) / b->axes);
    for (int a = 0; a < b->axes && status == TREACLE_OK; ++a) {
        validate_relative(v, after[a] / before[a], expected, b->tolerance,
                          "width along %c, %s, h %g", "xyz"[a], b -> name, b -> cell);
    }
    if (status == TREACLE_OK && b->name[0] == 'g') {
        status = measure_strain(v, sim, strain);
        double most = 0.0;
        for (int k = 0; k < 6 && status == TREACLE_OK; ++k) {
            most = fmax(most, fabs(strain[k]));
        }
        validate_absolute(v, most / -log_volume(b->drying), 0.0, 5e-3,
                          "mean strain over what it shrinks by, %s, h %g", b->name, b->cell);
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status run_bar(validate* v, double cell, double drying) {
    treacle_sim* sim = NULL;
    double strain[6], modulus = 1e4, g = -log_volume(drying);
    account sums;
    VALIDATE_TRY(validate_sim_create(v, &sim, bar_scene, cell, rate, drying));
    treacle_status status = run(sim, &sums);
    status = status == TREACLE_OK ? measure_strain(v, sim, strain) : status;
    if (status == TREACLE_OK) {
        double volume = 0.16 * 0.04 * cell;
        validate_relative(v, strain[0], 0.5 * g, 2.0 * cell, "strain along a held bar, h %g", cell);
        validate_relative(v, strain[1], -0.5 * g, 2.0 * cell, "strain across it, h %g", cell);
        validate_relative(v, sums.elastic, 0.25 * modulus * g * g * volume, 0.02,
                          "elastic energy, J, h %g", cell);
        validate_relative(v, sums.shrinkage, 0.25 * modulus * g * g * volume, 0.05,
                          "work of shrinking, J, h %g", cell);
        validate_absolute(v, sums.open / sums.shrinkage, 0.0, 1e-3, "open in the account, h %g",
                          cell);
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_shrinkage(validate* v) {
    static const char gel[] = "viscosity: 10, elastic: {shear_modulus: 5 kPa}";
    static const char plane[] = "[0.16, 0.16]", space[] = "[0.16, 0.16, 0.16]";
    const block blocks[] = {
        {"gel", plane, gel, 2, 0.01, 0.1, 1e-3},
        {"gel", plane, gel, 2, 0.005, 0.1, 1e-3},
        {"gel", plane, gel, 2, 0.0025, 0.1, 1e-3},
        {"honey", plane, "viscosity: 10", 2, 0.005, 0.1, 1e-3},
        {"water", plane, "viscosity: 0", 2, 0.005, 0.1, 0.01},
        {"gel in space", space, gel, 3, 0.01, 0.1, 1e-3},
    };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); ++i) {
        VALIDATE_TRY(run_block(v, &blocks[i]));
    }
    const double cells[] = {0.01, 0.005, 0.0025};
    for (int i = 0; i < 3; ++i) {
        VALIDATE_TRY(run_bar(v, cells[i], 0.02));
    }
    return TREACLE_OK;
}
