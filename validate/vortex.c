#include "vortex.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char scene[] = "seed: %d\n"
                            "domain: {size: [1 m, 1 m], resolution: %d, sides: %s}\n"
                            "gravity: [0, 0, 0]\n"
                            "%s\n" // transfer
                            "kernel: %s\n"
                            "density_correction: false\n" // The transfers alone are measured.
                            "reseed: false\n"
                            "particles: {per_cell: 4, jitter: 1}\n"
                            "step: {cfl: 2, max_dt: %.17g s, splitting: %s}\n"
                            "materials: {liquid: {density: 1, viscosity: %.17g}}\n"
                            "liquids:\n"
                            "  - shape: {box: {size: [2 m, 2 m, 2 m], centre: [0.5, 0.5, 0]}}\n"
                            "    velocity: [\"%s\", \"%s\", 0]\n";

static treacle_status create(validate* v, const vortex_def* def, int seed, treacle_sim** out) {
    char transfer[128];
    if (strcmp(def->transfer, "flip") != 0) {
        snprintf(transfer, sizeof(transfer), "transfer: %s", def->transfer);
    } else if (def->viscosity > 0.0) {
        snprintf(transfer, sizeof(transfer), "transfer: flip\nflip_from_viscosity: true");
    } else {
        snprintf(transfer, sizeof(transfer), "transfer: flip\nflip_blend: %.17g", def->flip_blend);
    }
    return validate_sim_create(
        v, out, scene, seed, def->cells, def->has_walls ? "slip" : "periodic", transfer,
        def->is_quadratic ? "quadratic" : "linear", def->courant / def->cells,
        def->is_second ? "second" : "first", def->viscosity,
        def->has_walls ? "sin(pi*x)*cos(pi*y)" : "-cos(2*pi*x)*sin(2*pi*y)",
        def->has_walls ? "-cos(pi*x)*sin(pi*y)" : "sin(2*pi*x)*cos(2*pi*y)");
}

// 1/2 sum u^2 h^2 of one component over the faces of the domain; those on walls are at rest.
static double component_energy(const treacle_frame* frame, const char* name) {
    const treacle_array* tiles = treacle_frame_find(frame, "grid_tile");
    const int32_t* coord = tiles->data;
    const float* u = treacle_frame_find(frame, name)->data;
    double sum = 0.0;
    for (int64_t i = 0; i < tiles->count * 512; ++i) {
        const int32_t* tile = coord + 3 * (i / 512);
        int64_t x = 8 * tile[0] + i % 8, y = 8 * tile[1] + i / 8 % 8, z = i / 64 % 8;
        bool is_inside = x < frame->cells[0] && y < frame->cells[1] && z == 0;
        sum += is_inside ? (double)u[i] * (double)u[i] : 0.0;
    }
    return 0.5 * sum * frame->cell * frame->cell;
}

// Runs one placement of the particles. Particles at t = 0 are those of the exact flow, so the loss
// of bringing them to the grid for the first time counts, too.
static treacle_status run(validate* v, const vortex_def* def, int seed, double* energy) {
    treacle_sim* sim = NULL;
    treacle_frame frame;
    treacle_status status = create(v, def, seed, &sim);
    if (status == TREACLE_OK) {
        status = validate_advance(sim, def->until, def->courant / def->cells);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    }
    if (status == TREACLE_OK) {
        *energy = component_energy(&frame, "face_u") + component_energy(&frame, "face_v");
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status vortex_energy(validate* v, const vortex_def* def, int seeds, double* out) {
    *out = 0.0;
    for (int seed = 1; seed <= seeds; ++seed) {
        double energy = NAN;
        treacle_status status = run(v, def, seed, &energy);
        if (status != TREACLE_OK) {
            return status;
        }
        *out += energy / 0.25 / seeds;
    }
    return TREACLE_OK;
}

double vortex_viscosity(const vortex_def* def, double energy) {
    double k = def->has_walls ? pi : 2.0 * pi;
    return -log(energy) / (4.0 * k * k * def->until);
}
