// Heat in equals heat stored, over a full cycle: a block of wax is melted by a heater, runs into a
// pool, and sets on a cold floor.
//
// Every joule that comes from outside is counted where it comes in (step statistics, heat_in); the
// enthalpy of the particles is counted on its own. Bound: 1e-4 of what the heater gave.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

static const char scene[] =
    "domain: {size: [64 mm, 32 mm], cell: 2 mm, sides: no-slip}\n"
    "step: {max_dt: 100 ms}\n"
    "particles: {per_cell: 4}\n"
    "heat: {air: 293.15 K, loss: 20, emissivity: 0.9}\n"
    "materials:\n"
    "  wax: {density: 800, viscosity: 0.1, heat_capacity: 2400, conductivity: 20,\n"
    "        latent_heat: 200 kJ/kg, solidus: 325 K, liquidus: 333 K,\n"
    "        freezing_liquidus: 330 K, freezing_solidus: 322 K,\n"
    "        viscosity_law: {kind: linear, from: 325 K, to: 333 K, low: 1000, high: 0.1}}\n"
    "heat_sources:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [0.064, 0.032, 1]}}, power: 220 W, stop: 3 s}\n"
    "heat_walls: [{side: bottom, temperature: {keys: {3 s: 300 K, 4 s: 250 K}}}]\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.016, 0, -1], max: [0.048, 0.02, 1]}}, temperature: 300 K}\n";

treacle_status case_heat_balance(validate* v) {
    treacle_sim* sim = NULL;
    treacle_step_stats last = {0};
    double came = 0.0, first = NAN, most = 0.0, melted = 0.0, all = 0.0;
    treacle_status status = validate_sim_create(v, &sim, scene);
    while (status == TREACLE_OK && treacle_sim_time(sim) < 30.0) {
        status = treacle_sim_step(sim, 0.1, &last);
        if (status == TREACLE_OK) {
            status = heat_melted(sim, &melted);
        }
        all = last.volume;
        came += last.heat_in;
        first = isnan(first) ? last.enthalpy - last.heat_in : first;
        most = fmax(most, status == TREACLE_OK ? melted / all : 0.0);
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_at_least(v, most, 0.99, 0.0, "melted at most");
        validate_at_most(v, melted / all, 0.01, 0.0, "melted at the end");
        validate_absolute(v, (last.enthalpy - first - came) / 660.0, 0.0, 1e-4,
                          "heat stored less heat in, over the heater's");
    }
    return status;
}
