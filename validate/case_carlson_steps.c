// Why viscosity is implicit [CMVT02 sec. 4]: explicit steps must be shorter than h^2/(6 nu), 6000
// and 60,000 a second at viscosity 10 and 100 with h = 0.1; implicit ones do with 30.
//
// A box full of eddies, one frame of 1/30 s: the least number of explicit sub-steps with which the
// energy falls, found by halving, and whether one implicit step does. The explicit comparator has
// the whole stress, not the Laplacian alone, and needs somewhat more than the paper's.
#include <math.h>
#include <stdio.h>

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

static treacle_status falls(validate* v, const char* how, double nu, bool* out) {
    treacle_sim* sim = NULL;
    treacle_step_stats first = {0}, last = {0};
    treacle_status status = validate_sim_create(v, &sim, scene, how, nu);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 1e-9, &first);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 1.0 / 30.0, &last);
    }
    treacle_sim_destroy(sim);
    bool has_failed = status == TREACLE_ERR_DIVERGED;
    *out = status == TREACLE_OK && last.kinetic_energy < first.kinetic_energy &&
           fabs(last.dt - 1.0 / 30.0) < 1e-6;
    return has_failed ? TREACLE_OK : status;
}

static treacle_status least_steps(validate* v, double nu, int most, int* out) {
    int low = most / 10, high = most;
    treacle_status status = TREACLE_OK;
    while (status == TREACLE_OK && high > low + low / 20 + 1) {
        char how[64];
        bool is_stable = false;
        int middle = (low + high) / 2;
        snprintf(how, sizeof(how), "method: explicit, substeps: %d", middle);
        status = falls(v, how, nu, &is_stable);
        low = is_stable ? low : middle;
        high = is_stable ? middle : high;
    }
    *out = high;
    return status;
}

treacle_status case_carlson_steps(validate* v) {
    static const double nu[] = {10.0, 100.0};
    static const double paper[] = {6000.0, 60000.0};
    static const int most[] = {600, 6000};
    for (int k = 0; k < 2; ++k) {
        int steps = 0;
        bool is_stable = false;
        treacle_status status = least_steps(v, nu[k], most[k], &steps);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_at_least(v, 30.0 * steps, paper[k], 0.1 * paper[k],
                          "explicit steps a second at viscosity %g", nu[k]);
        validate_at_most(v, 30.0 * steps, 2.5 * paper[k], 0.0,
                         "explicit steps a second at viscosity %g, at most", nu[k]);
        status = falls(v, "method: implicit", nu[k], &is_stable);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_absolute(v, is_stable ? 30.0 : 0.0, 30.0, 0.0,
                          "implicit steps a second at viscosity %g", nu[k]);
    }
    return TREACLE_OK;
}
