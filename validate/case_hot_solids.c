// Solids that heat: liquid between two cylinders, at walls of every angle.
//
//     held at T_1 and T_2:     T = T_1 + (T_2 - T_1) ln(r / r_1) / ln(r_2 / r_1), in the end
//     a flux q from the inner: the liquid gains 2 pi r_1 h q t, h the thickness of a flat scene
//     held through a contact u: the same as if the wall were k / u farther away
//
// and a plane slab between walls that lie between the grid's lines. The liquid does not move.
#include <math.h>
#include <string.h>

#include "cases.h"
#include "heat_measure.h"

#define PI 3.14159265358979323846

static const char ring[] =
    "domain: {size: [1, 1], cell: %.17g, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "particles: {per_cell: 9, jitter: 0.2}\n"
    "step: {max_dt: 1000}\n"
    "materials: {wax: {density: 1, heat_capacity: 1, conductivity: 1}}\n"
    "solids:\n"
    "  core: {shape: {sphere: {radius: %.17g, centre: [0.503, 0.497, 0]}}, %s}\n"
    "  pot: {shape: {sphere: {radius: 0.45, centre: [0.503, 0.497, 0]}}, inside_out: true, %s}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [2, 2, 1]}}, temperature: 300 K}]\n";

static const double inner = 0.15, outer = 0.45;

// The largest and the mean error of temperature against the logarithm that is 400 K at `hot`.
static treacle_status ring_error(treacle_sim* sim, double hot, double* mean, double* most) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const treacle_array* column = treacle_frame_find(&frame, "temperature");
    const int64_t* rows = first->data;
    double sum = 0.0;
    *most = 0.0;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = rows[tile]; i < rows[tile + 1]; ++i) {
            double x[3];
            validate_position(&frame, tile, i, x);
            double r = sqrt(pow(x[0] - 0.503, 2.0) + pow(x[1] - 0.497, 2.0));
            double exact = 400.0 - 100.0 * log(r / hot) / log(outer / hot);
            double error = ((double)((const float*)column->data)[i] - exact) / 100.0;
            sum += error * error;
            *most = fmax(*most, fabs(error));
        }
    }
    *mean = sqrt(sum / (double)column->count);
    return TREACLE_OK;
}

static treacle_status held(validate* v, double contact) {
    static const int sizes[] = {24, 48, 64};
    double h[3], mean[3], most = 0.0;
    for (int k = 0; k < 3; ++k) {
        treacle_sim* sim = NULL;
        char core[96] = "temperature: 400 K";
        if (contact > 0.0) {
            snprintf(core, sizeof(core), "temperature: 400 K, contact: %.17g", contact);
        }
        h[k] = 1.0 / sizes[k];
        treacle_status status =
            validate_sim_create(v, &sim, ring, h[k], inner, core, "temperature: 300 K");
        // By then what is left of the begin has fallen by exp(-40).
        if (status == TREACLE_OK) {
            status = validate_advance(sim, 0.3, 0.01);
        }
        // A wall that touches badly: its heat comes as from a hotter, smaller core.
        double virtual_radius = contact > 0.0 ? inner * exp(-1.0 / (contact * inner)) : inner;
        if (status == TREACLE_OK) {
            status = ring_error(sim, virtual_radius, &mean[k], &most);
        }
        treacle_sim_destroy(sim);
        if (status != TREACLE_OK) {
            return status;
        }
        validate_info(v, most, NAN, "held, contact %g, %d cells: largest error", contact, sizes[k]);
    }
    validate_at_most(v, mean[2], 0.0, 0.01, "held, contact %g, 64 cells: mean error", contact);
    validate_order(v, 3, h, mean, 1.0, 0.2, "held, contact %g: order", contact);
    return TREACLE_OK;
}

static treacle_status warmed(validate* v, int cells) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    double came = 0.0;
    treacle_status status =
        validate_sim_create(v, &sim, ring, 1.0 / cells, inner, "flux: 2 W/m^2", "wall: slip");
    for (int i = 0; status == TREACLE_OK && i < 10; ++i) {
        status = treacle_sim_step(sim, 0.01, &stats);
        came += stats.heat_in;
    }
    if (status == TREACLE_OK) {
        validate_relative(v, came, 2.0 * PI * inner / cells * 2.0 * 0.1, 0.01,
                          "flux of a cylinder, %d cells: heat, J", cells);
    }
    treacle_sim_destroy(sim);
    return status;
}

static const char slab[] =
    "domain: {size: [16, 8], cell: 1, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "flow: pressure\n"
    "density_correction: false\n"
    "particles: {per_cell: 16, jitter: 0}\n"
    "step: {max_dt: 1000}\n"
    "materials: {wax: {density: 1, heat_capacity: 1, conductivity: 1}}\n"
    "solids:\n"
    "  hot: {shape: {box: {min: [-9, -9, -9], max: [%.17g, 19, 9]}}, temperature: 400 K}\n"
    "  cold: {shape: {box: {min: [%.17g, -9, -9], max: [29, 19, 9]}}, temperature: 300 K}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [99, 9, 9]}}, temperature: 350 K}]\n";

static treacle_status between_lines(validate* v, double offset) {
    treacle_sim* sim = NULL;
    heat_layer layer[16];
    double from = 2.0 + offset, to = 13.0 + offset, most = 0.0;
    treacle_status status = validate_sim_create(v, &sim, slab, from, to);
    if (status == TREACLE_OK) {
        status = validate_advance(sim, 200.0, 0.5);
    }
    if (status == TREACLE_OK) {
        status = heat_layers(sim, 0, layer, 16);
    }
    for (int k = 3; status == TREACLE_OK && k < 13; ++k) {
        double low = fmax(k, from),
               exact = 400.0 - 100.0 * (0.5 * (low + k + 1) - from) / (to - from);
        most = fmax(most, fabs(layer[k].temperature - exact) / 100.0);
    }
    if (status == TREACLE_OK) {
        validate_at_most(v, most, 0.0, 0.01, "walls at %g of a cell: error of 11 cells", offset);
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_hot_solids(validate* v) {
    static const double offsets[] = {0.0, 0.2, 0.5, 0.8};
    for (int k = 0; k < 4; ++k) {
        VALIDATE_TRY(between_lines(v, offsets[k]));
    }
    VALIDATE_TRY(held(v, 0.0));
    VALIDATE_TRY(held(v, 10.0));
    VALIDATE_TRY(warmed(v, 48));
    return warmed(v, 96);
}
