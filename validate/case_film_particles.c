// A film of particles runs down a solid that lies across the grid [SUITE 3c]: everything a step
// does, not one flow alone.
//
// The wall is a plane at an angle to the grid, with gravity at 30 degrees to it. The film starts
// at rest with thickness H; after 3 H^2/nu it runs steadily, its surface has moved by more than a
// thickness, and in the middle of 14 thicknesses nothing has come of its ends. Compared there, in a
// piece three thicknesses long: the mean speed g sin(30) H^2/(3 nu) for the thickness that is left,
// which is the flow over the thickness, within 2 % at 16 cells and 3 % at 8 [SUITE 3, flux]; and
// the volume, 2 %. Lengths are in cells, nu = 1.
#include <math.h>

#include "cases.h"
#include "measure.h"

static const char scene[] =
    "domain: {origin: [%.17g, %.17g], size: [%.17g, %.17g], cell: 1, sides: {all: open}}\n"
    "gravity: [%.17g, %.17g, 0]\n"
    "step: {max_dt: %.17g}\n"
    "particles: {per_cell: 9}\n"
    "flow: %s\n"
    "materials: {syrup: {density: 1, viscosity: 1}}\n"
    "liquids:\n"
    "  - shape: {box: {size: [%.17g, %.17g, 9]}, rotate: [0, 0, %.17g deg],\n"
    "            move: [%.17g, %.17g, 0]}\n"
    "solids:\n"
    "  wall: {shape: {plane: {}, rotate: [0, 0, %.17g deg]}, wall: no-slip}\n";

typedef struct tilted_film {
    double cells; // thickness
    double angle; // rad, of the wall
    const char* flow;
} tilted_film;

static const double reynolds = 0.4; // of the surface speed

static double pull_of(const tilted_film* f) {
    return 2.0 * reynolds / (f->cells * f->cells * f->cells);
}

static treacle_status open_film(validate* v, const tilted_film* f, treacle_sim** out) {
    double pull = pull_of(f), press = pull / tan(acos(-1.0) / 6.0), h = f->cells;
    double c = cos(f->angle), s = sin(f->angle), length = 14.0 * h;
    double wide = ceil(0.5 * length * fabs(c) + 2.0 * h) + 3.0;
    double high = ceil(0.5 * length * fabs(s) + 2.0 * h) + 3.0;
    double degrees = f->angle * 180.0 / acos(-1.0);
    // along the wall: (c, s); away from it: (-s, c)
    return validate_sim_create(v, out, scene, -wide + 0.237, -high + 0.371, 2.0 * wide, 2.0 * high,
                               pull * c + press * s, pull * s - press * c, 0.06 * h * h, f->flow,
                               length, h, degrees, -0.5 * h * s, 0.5 * h * c, degrees);
}

typedef struct film_piece {
    double speed, volume; // mean along the wall; over that of the start
} film_piece;

static treacle_status look(const tilted_film* f, treacle_sim* sim, film_piece* out) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const float* velocity = treacle_frame_find(&frame, "velocity")->data;
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    const int64_t* tile_first = first->data;
    double c = cos(f->angle), s = sin(f->angle), half = 1.5 * f->cells;
    *out = (film_piece){0};
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            double x[3];
            validate_position(&frame, tile, i, x);
            if (fabs(c * x[0] + s * x[1]) < half) {
                const float* u = velocity + 3 * i;
                out->speed += (double)volume[i] * (c * (double)u[0] + s * (double)u[1]);
                out->volume += (double)volume[i];
            }
        }
    }
    out->speed /= out->volume;
    out->volume /= 2.0 * half * f->cells;
    return TREACLE_OK;
}

static treacle_status run(validate* v, tilted_film f, double tolerance) {
    treacle_sim* sim = NULL;
    film_piece piece = {0};
    double degrees = f.angle * 180.0 / acos(-1.0);
    treacle_status status = open_film(v, &f, &sim);
    status = status == TREACLE_OK ? validate_advance(sim, 3.0 * f.cells * f.cells, 1e9) : status;
    status = status == TREACLE_OK ? look(&f, sim, &piece) : status;
    treacle_sim_destroy(sim);
    if (status == TREACLE_OK) {
        double now = piece.volume * f.cells, exact = pull_of(&f) * now * now / 3.0;
        validate_relative(v, piece.speed, exact, tolerance,
                          "%g cells, %.0f degrees, %s: mean speed", f.cells, degrees, f.flow);
        validate_relative(v, piece.volume, 1.0, 0.02, "%g cells, %.0f degrees, %s: volume", f.cells,
                          degrees, f.flow);
    }
    return status;
}

treacle_status case_film_particles(validate* v) {
    static const struct {
        double cells, degrees, tolerance;
        const char* flow;
    } rows[] = {{8.0, 17.0, 0.03, "unified"},
                {8.0, 45.0, 0.03, "unified"},
                {8.0, 17.0, 0.03, "split"},
                {16.0, 17.0, 0.02, "unified"}};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        tilted_film f = {rows[i].cells, rows[i].degrees * acos(-1.0) / 180.0, rows[i].flow};
        status = run(v, f, rows[i].tolerance);
    }
    return status;
}
