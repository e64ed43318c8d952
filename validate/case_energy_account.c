// The account of energy in every step [docs/math/energy.md].
//
// (i) Where the answer is known: gravity's work on a block in free fall is what it weighs times the
// way; a piston that lifts liquid does weight times speed times time, and nothing else changes; a
// wave of shear in a liquid of viscosity mu dissipates
//
//     2 (mu / rho) k^2 K dt     in a step, with the kinetic energy K at its end.
//
// (ii) Where it is not: what the account does not explain is at most ten times the tolerance of the
// solve, of the energy, of all that was done in the step and of what forces give to liquid at rest.
// In every kind of flow, with all that does work and all that takes it.
#include <math.h>

#include "cases.h"

static const double gravity = 9.81, pi = 3.14159265358979323846;

// --- known works ---------------------------------------------------------------------------------

static const char falling[] = "domain: {size: [0.32, 0.96], cell: 2 cm, sides: {all: slip}}\n"
                              "flow: %s\n"
                              "step: {max_dt: 5 ms}\n"
                              "materials: {any: {density: 1000, viscosity: %g}}\n"
                              "liquids: [{shape: {box: {min: [0.1, 0.7], max: [0.2, 0.8]}}}]\n";

static treacle_status fall(validate* v, const char* flow, double viscosity) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    double work = 0.0;
    VALIDATE_TRY(validate_sim_create(v, &sim, falling, flow, viscosity));
    treacle_status status = TREACLE_OK;
    while (status == TREACLE_OK && treacle_sim_time(sim) < 0.2) {
        status = treacle_sim_step(sim, 0.2 - treacle_sim_time(sim) + 1e-9, &stats);
        work += stats.energy.gravity;
    }
    double speed = gravity * stats.time, mass = 1000.0 * stats.volume;
    treacle_sim_destroy(sim);
    validate_relative(v, work, 0.5 * mass * speed * speed, 1e-5, "%s: work of gravity, free fall",
                      flow);
    return status;
}

static const char lifted[] =
    "domain: {size: [0.32, 0.96], cell: 2 cm, sides: {all: slip}}\n"
    "flow: %s\n"
    "transfer: apic\n"
    "step: {max_dt: 5 ms}\n"
    "materials: {any: {density: 1000, viscosity: %g}}\n"
    "liquids: [{shape: {box: {min: [0, 0.2], max: [1, 0.4]}}, velocity: [0, 0.5, 0]}]\n"
    "solids:\n"
    "  piston:\n"
    "    shape: {box: {min: [-1, -1], max: [2, 0.2]}}\n"
    "    velocity: [0, 0.5, 0]\n"
    "    wall: slip\n";

static treacle_status lift(validate* v, const char* flow, double viscosity) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    double work = 0.0, speed = 0.5;
    VALIDATE_TRY(validate_sim_create(v, &sim, lifted, flow, viscosity));
    treacle_status status = TREACLE_OK;
    while (status == TREACLE_OK && treacle_sim_time(sim) < 0.4) {
        status = treacle_sim_step(sim, 0.4 - treacle_sim_time(sim) + 1e-9, &stats);
        work += stats.energy.solids;
    }
    double weight = 1000.0 * stats.volume * gravity;
    treacle_sim_destroy(sim);
    validate_relative(v, work, weight * speed * stats.time, 0.01, "%s: work of a piston", flow);
    return status;
}

static const char wave[] = "domain: {size: [0.64, 0.64], cell: 2 cm, sides: periodic}\n"
                           "flow: %s\n"
                           "fill: all\n"
                           "gravity: [0, 0, 0]\n"
                           "step: {max_dt: 5 ms}\n"
                           "materials: {any: {density: 1000, viscosity: 5}}\n"
                           "liquids:\n"
                           "  - shape: {box: {min: [-1, -1], max: [2, 2]}}\n"
                           "    velocity: [\"0.1 * sin(%.17g * y)\", 0, 0]\n";

static treacle_status decay(validate* v, const char* flow) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    double k = 2.0 * pi / 0.64, dissipated = 0.0, expected = 0.0;
    VALIDATE_TRY(validate_sim_create(v, &sim, wave, flow, k));
    treacle_status status = TREACLE_OK;
    for (int i = 0; status == TREACLE_OK && i < 20; ++i) {
        status = treacle_sim_step(sim, 0.005, &stats);
        dissipated += stats.energy.dissipation;
        expected += 2.0 * (5.0 / 1000.0) * k * k * stats.energy.kinetic * stats.dt;
    }
    treacle_sim_destroy(sim);
    validate_relative(v, dissipated, expected, 0.02, "%s: dissipation of a wave of shear", flow);
    return status;
}

// --- the identity --------------------------------------------------------------------------------

#define TANK "domain: {size: [0.64, 0.64], cell: 2 cm, sides: {all: no-slip, top: open}}\n"
#define BLOCK "liquids: [{shape: {box: {min: [0.1, 0.1], max: [0.4, 0.4]}}}]\n"
#define POOL "liquids: [{shape: {box: {min: [0, 0], max: [0.64, 0.3]}}}]\n"
#define THICK "materials: {any: {density: 1000, viscosity: 5}}\n"
#define SOLID(more)                                                                                \
    "solids: {paddle: {shape: {box: {size: [0.1, 0.16], centre: [0.2, 0.15]}}, velocity: [0.6, "   \
    "0.1, 0]" more "}}\n"
#define BODY(density, more)                                                                        \
    "bodies: {disk: {shape: {sphere: {radius: 0.07, centre: [0.3, 0.35]}}, density: " density      \
    ", velocity: [0.3, -0.5, 0]" more "}}\n"

typedef struct account_scene {
    const char *name, *text;
} account_scene;

static const account_scene scenes[] = {
    {"pressure", TANK BLOCK "flow: pressure\n"},
    {"unified", TANK BLOCK THICK "flow: unified\n"},
    {"split", TANK BLOCK THICK "flow: split\n"},
    {"pic", TANK BLOCK THICK "transfer: pic\n"},
    {"flip", TANK BLOCK THICK "transfer: flip\n"},
    {"second order", TANK BLOCK THICK "step: {splitting: second}\n"},
    {"pressure, moving solid", TANK POOL "flow: pressure\n" SOLID("")},
    {"unified, moving solid", TANK POOL THICK "flow: unified\n" SOLID("")},
    {"split, moving solid", TANK POOL THICK "flow: split\n" SOLID("")},
    {"slip length", TANK POOL THICK SOLID(", wall: slip-length, slip_length: 1 cm")},
    {"pressure, body", TANK POOL "flow: pressure\n" BODY("600", "")},
    {"unified, body", TANK POOL THICK "flow: unified\n" BODY("2500", ", force: [2, 0, 0]")},
    {"split, body", TANK POOL THICK "flow: split\n" BODY("2500", "")},
    {"Bingham",
     TANK BLOCK "materials: {any: {density: 1000, viscosity: 5, rheology: {law: bingham, "
                "yield_stress: 100, consistency: 5}}}\n"},
    {"gel", TANK BLOCK
     "materials: {any: {density: 1000, viscosity: 1, elastic: {shear_modulus: 2 kPa}}}\n"},
    {"slime",
     TANK BLOCK "materials: {any: {density: 1000, viscosity: 1, elastic: {mu_e: 4 kPa, alpha: "
                "10, gamma: 0.1}}}\n"},
    {"separation", "domain: {size: [0.64, 0.64], cell: 2 cm, sides: {all: slip}, separation: {all: "
                   "on}}\n" BLOCK THICK},
    {"emitter and force", TANK POOL THICK "emitters: [{shape: {box: {min: [0.2, 0.5], max: [0.3, "
                                          "0.54]}}, direction: [0, -1, 0], speed: 1}]\n"
                                          "forces: [{acceleration: [\"3*sin(9*t)\", 0, 0]}]\n"},
    {"two densities",
     TANK "materials: {oil: {density: 800, viscosity: 2}, syrup: {density: 1400, "
          "viscosity: 20}}\n"
          "liquids: [{shape: {box: {min: [0, 0], max: [0.3, 0.3]}}, material: oil}, "
          "{shape: {box: {min: [0.3, 0], max: [0.64, 0.3]}}, material: syrup}]\n"},
};

// Of all that the step had and did; `limit` has what forces give to liquid at rest, to which the
// solve's target is relative there.
static double open_share(const treacle_energy_stats* e) {
    double scale = e->kinetic + e->bodies + e->elastic + e->limit;
    const double columns[] = {e->gravity,     e->forces,    e->solids,   e->contacts,
                              e->particles,   e->exchanged, e->transfer, e->advection,
                              e->dissipation, e->numerical, e->density};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); ++i) {
        scale += fabs(columns[i]);
    }
    return scale > 0.0 ? fabs(e->error) / scale : 0.0;
}

static treacle_status balance(validate* v, const account_scene* scene) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    double worst = 0.0, gain = 0.0, tolerance = 1e-4;
    VALIDATE_TRY(validate_sim_create(v, &sim, "%s", scene->text));
    treacle_status status = TREACLE_OK;
    while (status == TREACLE_OK && treacle_sim_time(sim) < 0.25) {
        status = treacle_sim_step(sim, 0.01, &stats);
        worst = fmax(worst, open_share(&stats.energy));
        gain = fmax(gain, stats.energy.gain / stats.energy.limit);
    }
    treacle_sim_destroy(sim);
    validate_absolute(v, worst, 0.0, 10.0 * tolerance, "%s: open", scene->name);
    validate_info(v, gain, 1.0, "%s: gain over what is refused", scene->name);
    return status;
}

treacle_status case_energy_account(validate* v) {
    VALIDATE_TRY(fall(v, "pressure", 0.0));
    VALIDATE_TRY(fall(v, "unified", 10.0));
    VALIDATE_TRY(fall(v, "split", 10.0));
    VALIDATE_TRY(lift(v, "pressure", 0.0));
    VALIDATE_TRY(lift(v, "unified", 10.0));
    VALIDATE_TRY(lift(v, "split", 10.0));
    VALIDATE_TRY(decay(v, "unified"));
    VALIDATE_TRY(decay(v, "split"));
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        VALIDATE_TRY(balance(v, &scenes[i]));
    }
    return TREACLE_OK;
}
