// An emitter brings the volume that it promises, whatever the time step.
//
//     V(t) = integral of the rate = speed x area of the nozzle across the stream
//
// Steps are of one length, of lengths that do not fit the frames, or of lengths that change.
#include <math.h>

#include "cases.h"

typedef struct nozzle {
    const char* name;
    const char* keys;   // of the emitter
    const char* domain; // sizes and cell
    double volume;      // m^3 after one second
} nozzle;

#define DOMAIN_3D "size: [2 m, 4 m, 2 m], cell: 5 cm"
#define DOMAIN_2D "size: [2 m, 4 m], cell: 5 cm"

static const nozzle nozzles[] = {
    {"rate",
     "shape: {cylinder: {radius: 15 cm, height: 10 cm, centre: [1, 3.5, 1]}}, "
     "direction: [0, -1, 0], rate: 0.05 m^3/s",
     DOMAIN_3D, 0.05},
    {"speed through a box",
     "shape: {box: {size: [20 cm, 5 cm, 30 cm], centre: [1, 3.5, 1]}}, "
     "direction: [0, -1, 0], speed: 2 m/s",
     DOMAIN_3D, 0.2 * 0.3 * 2.0},
    {"rate that ramps",
     "shape: {cylinder: {radius: 15 cm, height: 10 cm, centre: [1, 3.5, 1]}}, "
     "direction: [0, -1, 0], rate: {keys: {0 s: 0, 1 s: 0.1}}",
     DOMAIN_3D, 0.05},
    {"rate in 2D",
     "shape: {box: {size: [20 cm, 5 cm, 1 m], centre: [1, 3.5, 0]}}, "
     "direction: [0, -1, 0], rate: 0.02 m^3/s",
     DOMAIN_2D, 0.02},
};

static const char scene[] = "domain: {%s, sides: {all: slip}}\n"
                            "gravity: [0, 0, 0]\n"
                            "flow: none\n"
                            "step: {cfl: 5, max_dt: 1 s}\n"
                            "emitters: [{%s}]\n";

// Lengths of steps: one number, or two that take turns.
typedef struct pace {
    const char* name;
    double dt[2];
} pace;

static const pace paces[] = {
    {"dt 1/24 s", {1.0 / 24.0, 1.0 / 24.0}},
    {"dt 1/60 s", {1.0 / 60.0, 1.0 / 60.0}},
    {"dt 0.7 ms", {0.7e-3, 0.7e-3}},
    {"dt 23 and 2 ms", {23e-3, 2e-3}},
};

// The volume of all particles after one second.
static treacle_status emit(validate* v, const nozzle* n, const pace* p, double* volume) {
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, n->domain, n->keys);
    for (int i = 0; status == TREACLE_OK && treacle_sim_time(sim) < 1.0 - 1e-9; ++i) {
        double rest = 1.0 - treacle_sim_time(sim);
        treacle_step_stats stats;
        status = treacle_sim_step(sim, fmin(rest, p->dt[i % 2]), &stats);
        *volume = stats.volume;
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_emission(validate* v) {
    for (size_t n = 0; n < sizeof(nozzles) / sizeof(nozzles[0]); ++n) {
        for (size_t p = 0; p < sizeof(paces) / sizeof(paces[0]); ++p) {
            double volume = 0.0;
            treacle_status status = emit(v, &nozzles[n], &paces[p], &volume);
            if (status != TREACLE_OK) {
                return status;
            }
            validate_relative(v, volume, nozzles[n].volume, 0.01, "%s, %s, m^3", nozzles[n].name,
                              paces[p].name);
        }
    }
    return TREACLE_OK;
}
