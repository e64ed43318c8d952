// Liquids on walls against closed forms. Cells of 0.22 mm, 60 mN/m, 1000 kg/m^3, steps of 5 ms;
// from jittered points, and of all seeds the worst counts. Walls have a slip length of one cell,
// for lines of contact that have to retreat.
//
//     sessile    a drop without weight is the cap of a circle, or of a ball, that meets the floor
//                at the contact angle. It has the area of half a disk of 9 cells, or the volume of
//                half a ball, 0.097 Pa s, and begins as that, or at another angle; after 0.5 s the
//                circle through its surface, from 1.5 cells above the floor on, meets it at 45 to
//                135 degrees within 3 degrees, at 30 and 150 within 8; on walls across the grid
//                within 10, and slides by 4 cells at most.
//     puddle     far from its rim a puddle is 2 l sin(theta/2) high, l = sqrt(sigma/(rho g)),
//                within 4 % [G04].
//     meniscus   at a wall liquid rises to l sqrt(2 (1 - sin theta)), or falls as much, and the
//                height z at a distance x from it obeys
//
//                    dx/dz = -c / sqrt(1 - c^2),    c = 1 - z^2/(2 l^2):
//
//                at 1.5 cells from the wall within half a cell.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "tension_lab.h"

static const double pi = 3.14159265358979323846;
static const double sigma = 0.06, rho = 1000.0, cell = 0.22e-3, dt = 5e-3; // SI

static const char scene[] =
    "domain: {size: [%.17g, %.17g, %.17g], cell: %.17g,\n"
    "         sides: {all: open%s}, contact_angle: %.17g,\n"
    "         slip_length: {bottom: 0.22 mm, left: 0.22 mm, right: 0.22 mm}}\n"
    "gravity: [0, %.17g, 0]\n"
    "flow: unified\n"
    "step: {max_dt: %.17g}\n"
    "particles: {per_cell: %d}\n"
    "materials: {drop: {density: %g, viscosity: %.17g,\n"
    "                   surface_tension: %g}}\n"
    "%s";

// Where a drop lies, and how.
typedef struct lying {
    double angle, from; // degrees, of contact and of the cap that it begins as
    double tilt;        // degrees, of a solid floor; NAN: on the side of the domain
    bool is_flat;
    double viscosity;
    uint64_t seed;
    double until; // s
} lying;

// --- caps ----------------------------------------------------------------------------------------

// The radius of the cap that a drop is at an angle, in cells.
static double cap_radius(double degrees, bool is_flat) {
    double angle = degrees * pi / 180.0, c = cos(angle), s = sin(angle), size = 9.0;
    return is_flat ? size * sqrt(0.5 * pi / (angle - s * c))
                   : size * cbrt(2.0 / ((2.0 + c) * (1.0 - c) * (1.0 - c)));
}

static tension_plane floor_of; // of the drop that is made
static double start_radius, start_angle;
static bool start_is_flat;

static double cap_at_start(const double x[3]) {
    double square = 0.0, height = 0.0;
    for (int a = 0; a < (start_is_flat ? 2 : 3); ++a) {
        double up = floor_of.up[a], from = x[a] - floor_of.foot[a];
        double way = from + start_radius * cos(start_angle) * up;
        square += way * way;
        height += from * up;
    }
    return fmax(sqrt(square) - start_radius, -height);
}

// As wide as the widest of both caps, and what is around it.
static void size_domain(const lying* l, tension_drop* d) {
    double wide = 0.0, high = 0.0, tilt = isnan(l->tilt) ? 0.0 : l->tilt * pi / 180.0;
    for (int i = 0; i < 2; ++i) {
        double degrees = i == 0 ? l->angle : l->from, radius = cap_radius(degrees, l->is_flat);
        double width = degrees < 90.0 ? 2.0 * radius * sin(degrees * pi / 180.0) : 2.0 * radius;
        wide = fmax(wide, width + 14.0);
        high = fmax(high, radius * (1.0 - cos(degrees * pi / 180.0)) + 9.0);
    }
    double x = wide * cos(tilt) + high * sin(tilt), y = wide * sin(tilt) + high * cos(tilt);
    d->cells[0] = (int)ceil(x) + 4;
    d->cells[1] = (int)ceil(y) + (isnan(l->tilt) ? 0 : 8);
    d->cells[2] = l->is_flat ? 1 : (int)ceil(wide);
    floor_of = (tension_plane){.up = {-sin(tilt), cos(tilt), 0.0}, .least = 1.5};
    floor_of.foot[0] = 0.5 * wide * cos(tilt) + high * sin(tilt) + 2.3;
    floor_of.foot[1] = isnan(l->tilt) ? 0.0 : 6.3 + 0.5 * wide * sin(tilt);
    floor_of.foot[2] = l->is_flat ? 0.5 : 0.5 * d->cells[2] + 0.1;
}

static treacle_status open_lying(validate* v, const lying* l, tension_drop* d, treacle_sim** sim) {
    char solid[256] = "";
    *d = (tension_drop){.seed = l->seed, .cell = cell, .shape = cap_at_start};
    size_domain(l, d);
    start_is_flat = l->is_flat;
    start_angle = l->from * pi / 180.0;
    start_radius = cap_radius(l->from, l->is_flat);
    bool is_side = isnan(l->tilt);
    if (!is_side) {
        snprintf(solid, sizeof(solid),
                 "solids: {floor: {shape: {plane: {point: [%.17g, %.17g, 0], normal: [%.17g, "
                 "%.17g, 0]}}, wall: slip-length, slip_length: 0.22 mm, contact_angle: %.17g}}\n",
                 floor_of.foot[0] * cell, floor_of.foot[1] * cell, floor_of.up[0], floor_of.up[1],
                 l->angle * pi / 180.0);
    }
    VALIDATE_TRY(validate_sim_create(v, sim, scene, d->cells[0] * cell, d->cells[1] * cell,
                                     l->is_flat ? 0.0 : d->cells[2] * cell, cell,
                                     is_side ? ", bottom: no-slip" : "",
                                     is_side ? l->angle * pi / 180.0 : 0.5 * pi, 0.0, dt,
                                     l->is_flat ? 4 : 8, rho, l->viscosity, sigma, solid));
    return tension_lab_put(*sim, d);
}

typedef struct lain {
    double angle, slide; // degrees, cells
    double height;       // over that of the cap
} lain;

static treacle_status let_lie(validate* v, const lying* l, lain* out) {
    treacle_sim* sim = NULL;
    tension_drop d;
    tension_surface surface = {0};
    treacle_status status = open_lying(v, l, &d, &sim);
    status = status == TREACLE_OK ? validate_advance(sim, l->until, dt) : status;
    status = status == TREACLE_OK ? tension_lab_surface(sim, &d, &surface) : status;
    if (status == TREACLE_OK) {
        tension_ball ball = tension_lab_fit(&surface, &floor_of, l->is_flat);
        double radius = cap_radius(l->angle, l->is_flat);
        *out = (lain){.angle = ball.angle,
                      .height = ball.top / (radius * (1.0 - cos(l->angle * pi / 180.0)))};
        for (int a = 0; a < 3; ++a) { // along the floor
            out->slide += (ball.middle[a] - floor_of.foot[a]) * (a == 0 ? floor_of.up[1] : 0.0) -
                          (ball.middle[a] - floor_of.foot[a]) * (a == 1 ? floor_of.up[0] : 0.0);
        }
    }
    free(surface.at);
    treacle_sim_destroy(sim);
    return status;
}

// The worst of some seeds.
static treacle_status lie(validate* v, lying l, int seeds, double within, const char* name) {
    lain worst = {.angle = l.angle};
    for (int seed = 1; seed <= seeds; ++seed) {
        lain found;
        l.seed = (uint64_t)seed;
        VALIDATE_TRY(let_lie(v, &l, &found));
        bool is_worse = fabs(found.angle - l.angle) >= fabs(worst.angle - l.angle);
        worst.angle = is_worse ? found.angle : worst.angle;
        worst.height = is_worse ? found.height : worst.height;
        worst.slide = fabs(found.slide) > fabs(worst.slide) ? found.slide : worst.slide;
    }
    validate_absolute(v, worst.angle, l.angle, within, "%s, %g degrees from %g", name, l.angle,
                      l.from);
    if (isnan(l.tilt)) {
        validate_info(v, worst.height, 1.0, "%s, %g from %g: height over exact", name, l.angle,
                      l.from);
    } else {
        validate_at_most(v, fabs(worst.slide), 4.0, 0.0, "%s, %g from %g: slide, cells", name,
                         l.angle, l.from);
    }
    return TREACLE_OK;
}

static const double thick = 0.0968; // Pa s: mu dt/(rho h^2) = 10

treacle_status case_sessile(validate* v) {
    const double angles[][3] = {{30, 90, 8},  {45, 90, 3},  {60, 90, 3}, {90, 60, 3},  {120, 90, 3},
                                {135, 90, 3}, {150, 90, 8}, {60, 45, 3}, {120, 140, 3}};
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); ++i) {
        lying l = {angles[i][0], angles[i][1], NAN, true, thick, 1, 0.5};
        VALIDATE_TRY(lie(v, l, 3, angles[i][2], "side"));
    }
    return TREACLE_OK;
}

static treacle_status lie_tilted(validate* v, double tilt, int seeds) {
    const double angles[][2] = {{60, 90},  {60, 60},  {60, 120}, {90, 90},
                                {120, 90}, {120, 60}, {120, 120}};
    char name[32];
    snprintf(name, sizeof(name), "wall at %g", tilt);
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); ++i) {
        lying l = {angles[i][0], angles[i][1], tilt, true, thick, 1, 0.5};
        VALIDATE_TRY(lie(v, l, seeds, 10.0, name));
    }
    return TREACLE_OK;
}

treacle_status case_sessile_tilted(validate* v) {
    VALIDATE_TRY(lie_tilted(v, 17.0, 3));
    VALIDATE_TRY(lie_tilted(v, 45.0, 3));
    return lie_tilted(v, 0.0, 3);
}

treacle_status case_sessile_space(validate* v) {
    for (int degrees = 60; degrees <= 120; degrees += 30) {
        lying l = {degrees, degrees == 90 ? 60.0 : 90.0, NAN, false, thick, 1, 0.3};
        VALIDATE_TRY(lie(v, l, 1, 3.0, "ball on a side"));
    }
    lying l = {60.0, 90.0, 17.0, false, thick, 1, 0.3};
    return lie(v, l, 1, 10.0, "ball on a wall at 17");
}

// --- puddle --------------------------------------------------------------------------------------

static double puddle_middle, puddle_wide, puddle_high;

static double puddle(const double x[3]) {
    return fmax(fabs(x[0] - puddle_middle) - 0.5 * puddle_wide, x[1] - puddle_high);
}

// How high it stands in the middle, in cells, of a capillary length in cells.
static treacle_status stand(validate* v, double degrees, double length, double* out) {
    treacle_sim* sim = NULL;
    double height = 2.0 * length * sin(0.5 * degrees * pi / 180.0), step = 2e-3;
    puddle_wide = 10.0 * length;
    puddle_high = 0.93 * height;
    tension_drop d = {.seed = 1,
                      .cell = cell,
                      .cells = {(int)(15.0 * length) + 16, (int)height + 10, 1},
                      .shape = puddle};
    double heights[256], gravity = sigma / (rho * length * length * cell * cell);
    puddle_middle = 0.5 * d.cells[0] + 0.2;
    treacle_status status = validate_sim_create(
        v, &sim, scene, d.cells[0] * cell, d.cells[1] * cell, 0.0, cell, ", bottom: no-slip",
        degrees * pi / 180.0, -gravity, step, 4, rho, 10.0 * rho * cell * cell / step, sigma, "");
    status = status == TREACLE_OK ? tension_lab_put(sim, &d) : status;
    status = status == TREACLE_OK ? validate_advance(sim, 0.3, step) : status;
    status = status == TREACLE_OK ? tension_lab_heights(sim, &d, heights) : status;
    *out = 0.0;
    for (int i = -5; i <= 5 && status == TREACLE_OK; ++i) {
        *out += heights[(int)puddle_middle + i] / 11.0;
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status stand_at(validate* v, double degrees, double length) {
    double height;
    VALIDATE_TRY(stand(v, degrees, length, &height));
    validate_relative(v, height, 2.0 * length * sin(0.5 * degrees * pi / 180.0), 0.04,
                      "%g degrees, capillary length of %g cells: height", degrees, length);
    return TREACLE_OK;
}

treacle_status case_puddle(validate* v) {
    VALIDATE_TRY(stand_at(v, 90.0, 5.0));
    VALIDATE_TRY(stand_at(v, 120.0, 5.0));
    VALIDATE_TRY(stand_at(v, 60.0, 8.0));
    return stand_at(v, 120.0, 8.0);
}

treacle_status case_puddle_coarse(validate* v) {
    return stand_at(v, 60.0, 5.0);
}

// --- meniscus ------------------------------------------------------------------------------------

static double pool_high;

static double pool(const double x[3]) {
    return x[1] - pool_high;
}

// The height at a distance from the wall, all in capillary lengths; by steps of the height.
static double rise_at(double degrees, double distance) {
    enum { PARTS = 20000 };
    double at_wall = sqrt(2.0 * (1.0 - sin(degrees * pi / 180.0))), x = 0.0, z = at_wall;
    for (int i = 0; i < PARTS && x < distance; ++i) {
        double middle = at_wall * (1.0 - (i + 0.5) / PARTS), c = 1.0 - 0.5 * middle * middle;
        x += at_wall / PARTS * c / sqrt(1.0 - c * c);
        z = at_wall * (1.0 - (i + 1.0) / PARTS);
    }
    return degrees < 90.0 ? z : -z;
}

static treacle_status climb(validate* v, double degrees, double length, double* out) {
    treacle_sim* sim = NULL;
    double step = 2e-3;
    pool_high = floor(2.0 * length) + 1.3;
    tension_drop d = {.seed = 1,
                      .cell = cell,
                      .cells = {(int)(8.0 * length), (int)(4.0 * length) + 9, 1},
                      .shape = pool};
    double heights[256], gravity = sigma / (rho * length * length * cell * cell);
    treacle_status status = validate_sim_create(
        v, &sim, scene, d.cells[0] * cell, d.cells[1] * cell, 0.0, cell,
        ", bottom: no-slip, left: no-slip, right: no-slip", degrees * pi / 180.0, -gravity, step, 4,
        rho, 10.0 * rho * cell * cell / step, sigma, "");
    status = status == TREACLE_OK ? tension_lab_put(sim, &d) : status;
    status = status == TREACLE_OK ? validate_advance(sim, 0.4, step) : status;
    status = status == TREACLE_OK ? tension_lab_heights(sim, &d, heights) : status;
    if (status == TREACLE_OK) {
        int n = d.cells[0];
        double middle = 0.0;
        for (int i = -3; i < 3; ++i) {
            middle += heights[n / 2 + i] / 6.0;
        }
        *out = 0.5 * (heights[1] + heights[n - 2]) - middle;
    }
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_meniscus(validate* v) {
    const double angles[] = {30.0, 45.0, 60.0, 120.0};
    for (int i = 0; i < 4; ++i) {
        double rise, length = 5.0;
        VALIDATE_TRY(climb(v, angles[i], length, &rise));
        validate_absolute(v, rise, length * rise_at(angles[i], 1.5 / length), 0.5,
                          "%g degrees, capillary length of 5 cells: rise, cells", angles[i]);
    }
    return TREACLE_OK;
}
