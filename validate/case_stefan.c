// Ice melts from a warm side: Stefan's problem [SUITE 8c].
//
//     the front is at s = 2 l sqrt(k t); with Ste = c (T_side - T_melt) / L:
//     Ste 0.1: l = 0.220016,  0.5: 0.464786,  1: 0.620063;
//     body at T_melt - 0.5 (T_side - T_melt), Ste 1: 0.469851
//
// at one sharp temperature, with particles that carry enthalpy, until the front is 64 cells in. It
// is measured by the melted volume. Bound of the suite: 2 % at 64 cells.
//
// With heat 60 times as fast as the motion, [heat.12], the same front is there after a sixtieth of
// the time; and what `treacle check` foresees by [heat.13] is when it has gone through 64 cells.
#include <math.h>

#include "cases.h"
#include "heat_measure.h"

static const char scene[] =
    "domain: {size: [%d, 8], cell: 1, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "particles: {per_cell: 4}\n"
    "step: {max_dt: 1000}\n"
    "heat: {method: lod, air: 300 K, speed: %d}\n"
    "materials: {ice: {density: 1, heat_capacity: 1, conductivity: 1, latent_heat: %.17g,\n"
    "                  solidus: 300 K, liquidus: 300 K}}\n"
    "heat_walls: [{side: left, temperature: 400 K}]\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [999, 9, 9]}}, temperature: %.17g}]\n";

typedef struct stefan {
    double number, body, lambda;
    int cells, speed;
} stefan;

static treacle_status run_stefan(validate* v, const stefan* s) {
    treacle_sim* sim = NULL;
    double until = pow(64.0 / (2.0 * s->lambda), 2.0), melted = 0.0;
    double dt = until / s->speed / 300.0;
    // A body that is born at the melting point would be born melted.
    double start = s->body == 0.0 ? 300.0 - 1e-4 : 300.0 + 100.0 * s->body;
    treacle_status status =
        validate_sim_create(v, &sim, scene, s->cells, s->speed, 100.0 / s->number, start);
    for (int part = 1; status == TREACLE_OK && part <= 2; ++part) {
        double t = part == 1 ? 0.25 * until : until;
        status = validate_advance(sim, t / s->speed, dt);
        if (status == TREACLE_OK) {
            status = heat_melted(sim, &melted);
        }
        if (status == TREACLE_OK) {
            validate_relative(v, melted / 8.0, 2.0 * s->lambda * sqrt(t), 0.02,
                              "front, cells, Ste %g, body %g, speed %d", s->number, s->body,
                              s->speed);
        }
    }
    treacle_sim_destroy(sim);
    return status;
}

// When a slab of 64 cells is through, by the def alone.
static treacle_status foresee(validate* v, const stefan* s) {
    char text[1000];
    treacle_scene* loaded = NULL;
    treacle_heat_estimate found = {0};
    int length = snprintf(text, sizeof(text), scene, 64, s->speed, 100.0 / s->number,
                          300.0 + 100.0 * s->body);
    treacle_status status =
        treacle_scene_parse(v->ctx, "stefan", text, (size_t)length, 0, NULL, &loaded);
    if (status == TREACLE_OK) {
        status = treacle_scene_heat(loaded, 0, &found);
    }
    if (status == TREACLE_OK) {
        validate_relative(v, found.seconds, pow(64.0 / (2.0 * s->lambda), 2.0), 1e-4,
                          "foreseen, s, Ste %g, body %g", s->number, s->body);
    }
    treacle_scene_destroy(loaded);
    return status;
}

treacle_status case_stefan(validate* v) {
    static const stefan all[] = {{0.1, 0.0, 0.220016, 72, 1},
                                 {0.5, 0.0, 0.464786, 72, 1},
                                 {1.0, 0.0, 0.620063, 72, 1},
                                 {0.5, 0.0, 0.464786, 72, 60},
                                 {1.0, -0.5, 0.469851, 256, 1}};
    for (int k = 0; k < 5; ++k) {
        VALIDATE_TRY(run_stefan(v, &all[k]));
        VALIDATE_TRY(foresee(v, &all[k]));
    }
    return TREACLE_OK;
}
