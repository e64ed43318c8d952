// Why viscosity is implicit [CMVT02 sec. 4]: explicit steps must be shorter than h^2/(6 nu), 6000
// and 60,000 a second at viscosity 10 and 100 with h = 0.1; implicit ones do with 30.
//
// A box full of eddies, one frame of 1/30 s: the sub-steps that the explicit comparator takes to be
// stable (it has the whole stress, not the Laplacian alone, and a bound by Gershgorin's circles: it
// needs more than the paper's), and whether the energy falls; then one implicit step.
#include "cases.h"

static const char scene[] =
    "domain: {size: [1.6, 1.6, 1.6], cell: 0.1, sides: periodic}\n"
    "gravity: [0, 0, 0]\n"
    "flow: split\n"
    "fps: 30\n"
    "step: {max_dt: 1}\n"
    "density_correction: false\n"
    "viscosity_solve: {%s}\n"
    "materials: {any: {density: 1, viscosity: %.17g}}\n"
    "liquids:\n"
    "  - shape: {box: {min: [-1, -1, -1], max: [3, 3, 3]}}\n"
    "    velocity: [0.01 * sin(61 * y) * cos(47 * z), 0.01 * sin(59 * z) * cos(53 * x), "
    "0.01 * sin(57 * x) * cos(49 * y)]\n";

static treacle_status run(validate* v, const char* how, double nu, treacle_step_stats* out) {
    treacle_sim* sim = NULL;
    treacle_step_stats first = {0};
    treacle_status status = validate_sim_create(v, &sim, scene, how, nu);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 1e-9, &first);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 1.0 / 30.0, out);
    }
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        validate_at_most(v, out->kinetic_energy / first.kinetic_energy, 1.0, 0.0,
                         "energy that is left, %s, viscosity %g", how, nu);
    }
    return status;
}

treacle_status case_carlson_steps(validate* v) {
    static const double nu[] = {10.0, 100.0};
    static const double paper[] = {6000.0, 60000.0};
    for (int k = 0; k < 2; ++k) {
        treacle_step_stats stats = {0};
        treacle_status status = run(v, "method: explicit", nu[k], &stats);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_at_least(v, stats.viscosity_substeps / stats.dt, paper[k], 0.0,
                          "explicit steps a second at viscosity %g", nu[k]);
        status = run(v, "method: implicit", nu[k], &stats);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_relative(v, 1.0 / stats.dt, 30.0, 1e-6, "implicit steps a second at viscosity %g",
                          nu[k]);
    }
    return TREACLE_OK;
}
