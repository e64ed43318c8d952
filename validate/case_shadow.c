// Light of a point on a pool, past a ball that shades it [heat.8, heat.15].
//
// The pool is as wide as twice its distance from the point, so that it is one face of a cube around
// it and gets a sixth of the power. A ball of radius R at the distance d takes the cone of sin a =
// R/d, (1 - cos a)/2 of the power: a solid one takes it from the pool, and one of liquid gets
// itself what the pool does not get, so that nothing changes. A lamp with a cone of its own gives
// the pool all of its power.
//
// 2 R = 8 cells on the coarse grid. Bounds: 3 % of what comes, 5 % with a shadow.
#include <math.h>

#include "cases.h"

static const char scene[] =
    "domain: {size: [32, 32, 32], cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "step: {max_dt: 1}\n"
    "heat: {air: 300 K}\n"
    "materials: {wax: {density: 1, heat_capacity: 1000, conductivity: 1}}\n"
    "heat_sources: [{place: [16, 24, 16], power: 1000, %s}]\n"
    "solids: {%s}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [-1, -1, -1], max: [33, 8, 33]}}, temperature: 300 K}\n"
    "  %s\n";

typedef struct shadow {
    const char *source, *solid, *liquid, *name;
    double expected, bound; // W
} shadow;

static treacle_status run_shadow(validate* v, const shadow* s, int cells) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_status status =
        validate_sim_create(v, &sim, scene, 32.0 / cells, s->source, s->solid, s->liquid);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 1e-3, &stats);
    }
    if (status == TREACLE_OK) {
        validate_relative(v, stats.heat_in / 1e-3, s->expected, s->bound, "%s, W, %d cells",
                          s->name, cells);
    }
    treacle_sim_destroy(sim);
    return status;
}

#define BALL "shape: {sphere: {radius: 4, centre: [16, 16, 16]}}"

treacle_status case_shadow(validate* v) {
    double all = 1000.0, sixth = all / 6.0, cone = 0.5 * all * (1.0 - sqrt(0.75));
    const shadow all_of_them[] = {
        {"shadows: true", "", "", "the pool alone", sixth, 0.03},
        {"shadows: true", "ball: {" BALL "}", "", "behind a solid ball", sixth - cone, 0.05},
        {"shadows: true", "", "- {" BALL ", temperature: 300 K}",
         "behind a ball of liquid, and the ball", sixth, 0.05},
        {"shadows: false", "ball: {" BALL "}", "", "behind a solid ball without shadows", sixth,
         0.03},
        {"aim: [0, -1, 0], angle: 30 deg", "", "", "of a lamp, the pool", all, 0.05},
    };
    static const int cells[] = {32, 48};
    for (int k = 0; k < 10; ++k) {
        VALIDATE_TRY(run_shadow(v, &all_of_them[k / 2], cells[k % 2]));
    }
    return TREACLE_OK;
}
