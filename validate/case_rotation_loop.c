// A disk of thick liquid turns freely [SUITE 1d], as particles, step after step: R = 0.35 m, nu = 1
// m^2/s, 1 rad/s.
//
// Motion and flow take turns: in a step particles turn about the middle by w dt and keep their
// velocity, which then points outward a little; the flow takes that part away [BB08 sec. 7]. So of
// the angular momentum cos(w dt) is left after a step. rotation-loop compares with that, for a
// quarter of a turn, to 0.1 %: transfers, surface and solve take nothing more. The area inside the
// surface stays within 1 %. PIC loses what every transfer costs it; the split is shown beside.
//
// rotation-ten is the suite's own: 128 cells, 2000 steps, ten turns; at most 0.1 % of the angular
// momentum is lost with steps of second order, 'splitting: second'. With those of first order a
// third is lost for the reason above.
//
// Angular momentum is summed over the particles, with the affine part that APIC carries:
// sum V (r x v + m (C_yx - C_xy)), m the kernel's second moment; linear kernel, m = h^2/6 on
// average.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const char scene[] = "domain: {size: [1, 1], cell: %.17g, sides: {all: open}}\n"
                            "gravity: [0, 0, 0]\n"
                            "transfer: %s\n"
                            "flow: %s\n"
                            "step: {max_dt: %.17g, splitting: %s}\n"
                            "particles: {per_cell: 4}\n"
                            "materials: {syrup: {density: 1000, viscosity: 1 m^2/s}}\n"
                            "liquids:\n"
                            "  - shape: {sphere: {radius: 0.35, centre: [0.513, 0.479, 0]}}\n"
                            "    spin: [0, 0, 1]\n"
                            "    spin_centre: [0.513, 0.479, 0]\n";

static treacle_status angular_momentum(treacle_sim* sim, double cell, double* out) {
    treacle_frame frame;
    measure_sums sums;
    treacle_status status = measure_particles(sim, MEASURE_ALL, &sums);
    status = status == TREACLE_OK ? treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame) : status;
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const treacle_array* affine = treacle_frame_find(&frame, "affine");
    const float* velocity = treacle_frame_find(&frame, "velocity")->data;
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    const int64_t* tile_first = first->data;
    *out = 0.0;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            const float* u = velocity + 3 * i;
            const float* c = affine != NULL ? (const float*)affine->data + 9 * i : NULL;
            double x[3], turn = c != NULL ? (double)c[3] - (double)c[1] : 0.0;
            validate_position(&frame, tile, i, x);
            *out += (double)volume[i] *
                    ((x[0] - sums.centre[0]) * (double)u[1] -
                     (x[1] - sums.centre[1]) * (double)u[0] + cell * cell / 6.0 * turn);
        }
    }
    return TREACLE_OK;
}

typedef struct turn_def {
    int cells;
    const char *transfer, *flow, *splitting;
    double max_dt, revolutions;
} turn_def;

typedef struct turning {
    double momentum, area; // what is left of them
    double turned;         // what turning in steps leaves: cos(w dt) each
} turning;

static treacle_status turn(validate* v, const turn_def* def, turning* out) {
    treacle_sim* sim = NULL;
    double cell = 1.0 / def->cells, first = 0.0, last = 0.0, area = 0.0;
    double until = def->revolutions * 2.0 * acos(-1.0);
    treacle_step_stats stats = {0};
    double turned = 1.0;
    treacle_status status = validate_sim_create(v, &sim, scene, cell, def->transfer, def->flow,
                                                def->max_dt, def->splitting);
    for (int64_t k = 0; status == TREACLE_OK && stats.time < until - 1e-9; ++k) {
        status = treacle_sim_step(sim, until - stats.time, &stats);
        turned *= k == 0 ? 1.0 : cos(turned * stats.dt);
        if (k == 0 && status == TREACLE_OK) {
            status = angular_momentum(sim, cell, &first);
            area = stats.surface_volume;
        }
    }
    status = status == TREACLE_OK ? angular_momentum(sim, cell, &last) : status;
    *out = (turning){last / first, stats.surface_volume / area, turned};
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status show(validate* v, const turn_def* def) {
    turning left;
    VALIDATE_TRY(turn(v, def, &left));
    validate_info(v, left.momentum, left.turned,
                  "%d cells, %g turns, %s, %s, %s order: angular momentum left", def->cells,
                  def->revolutions, def->transfer, def->flow, def->splitting);
    validate_info(v, left.area, 1.0, "%d cells, %g turns, %s, %s, %s order: area left", def->cells,
                  def->revolutions, def->transfer, def->flow, def->splitting);
    return TREACLE_OK;
}

treacle_status case_rotation_loop(validate* v) {
    const turn_def first = {64, "apic", "unified", "first", 0.02, 0.25};
    const turn_def second = {48, "apic", "unified", "second", 0.02, 0.25};
    const turn_def pic = {48, "pic", "unified", "first", 0.02, 0.25};
    const turn_def split = {48, "apic", "split", "first", 0.02, 0.25};
    turning left;
    VALIDATE_TRY(turn(v, &first, &left));
    validate_relative(v, left.momentum, left.turned, 1e-3,
                      "64 cells, 0.25 turns: angular momentum left");
    validate_relative(v, left.area, 1.0, 0.01, "64 cells, 0.25 turns: area left");
    VALIDATE_TRY(turn(v, &second, &left));
    validate_relative(v, left.momentum, 1.0, 1e-3,
                      "48 cells, 0.25 turns, second order: angular momentum left");
    VALIDATE_TRY(show(v, &pic));
    return show(v, &split);
}

treacle_status case_rotation_ten(validate* v) {
    double step = 20.0 * acos(-1.0) / 2000.0;
    const turn_def ten = {128, "apic", "unified", "second", step, 10.0};
    turning left;
    VALIDATE_TRY(turn(v, &ten, &left));
    validate_relative(v, left.area, 1.0, 0.01, "128 cells, 10 turns: area left");
    validate_info(v, left.turned, NAN, "angular momentum that cos(w dt) a step would leave");
    validate_relative(v, left.momentum, 1.0, 1e-3, "128 cells, 10 turns: angular momentum left");
    return TREACLE_OK;
}
