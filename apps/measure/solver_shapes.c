#include "solver_shapes.h"

#include <math.h>
#include <stdint.h>

static const double pi = 3.14159265358979323846;

static double clamp01(double x) {
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static double distance(point3 p, double x, double y, double z) {
    double dx = p.at[0] - x, dy = p.at[1] - y, dz = p.at[2] - z;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

static double box(point3 p, const double low[3], const double high[3]) {
    double inside = -INFINITY, outside = 0.0;
    for (int a = 0; a < 3; ++a) {
        double d = fmax(low[a] - p.at[a], p.at[a] - high[a]);
        inside = fmax(inside, d);
        outside += fmax(d, 0.0) * fmax(d, 0.0);
    }
    return inside <= 0.0 ? inside : sqrt(outside);
}

// A thread wound around the axis x = 0.45, z = 0.5, with hemispherical ends.
typedef struct helix {
    double low, high; // y of the ends of its centre line
    double pitch, radius, thickness;
} helix;

static double helix_distance(const helix* h, point3 p) {
    double dx = p.at[0] - 0.45, dz = p.at[2] - 0.5;
    double turn = atan2(dz, dx) / (2.0 * pi), from_axis = sqrt(dx * dx + dz * dz);
    double nearest = round((p.at[1] - h->low) / h->pitch - turn), best = INFINITY;
    for (int k = -1; k <= 1; ++k) {
        double y = h->low + h->pitch * (turn + nearest + k);
        double end = fmin(fmax(y, h->low), h->high);
        double angle = (end - h->low) / h->pitch * 2.0 * pi;
        double d = y == end ? hypot(from_axis - h->radius, p.at[1] - y)
                            : distance(p, 0.45 + h->radius * cos(angle), end,
                                       0.5 + h->radius * sin(angle));
        best = fmin(best, d);
    }
    return best - h->thickness;
}

static double coil(const solver_scene* scene, point3 p) {
    double thickness = 3.5 / scene->n, bottom = 0.24 + 0.8 * thickness;
    double top = bottom + 3.0 * 1.8 * thickness;
    helix pile = {bottom, top, 1.8 * thickness, 0.17, thickness};
    helix thread = {top, 0.88, fmax(0.1, 4.0 * thickness), 0.15, thickness};
    double side = hypot(p.at[0] - 0.45, p.at[2] - 0.5) - 0.25;
    double disc = fmax(side, fmax(p.at[1] - 0.24, 0.1 - p.at[1]));
    double pool = p.at[1] - 0.18;
    return fmin(fmin(pool, disc), fmin(helix_distance(&pile, p), helix_distance(&thread, p)));
}

// Five towers of drops, each leaning a little to one side of the one below it. Right where it is
// less than a drop.
static double castle(const solver_scene* scene, point3 p) {
    enum { TOWERS = 5, DROPS = 9 };
    static const double foot[TOWERS][2] = {
        {0.5, 0.5}, {0.3, 0.32}, {0.7, 0.3}, {0.33, 0.71}, {0.69, 0.68}};
    double dx = 1.0 / scene->n, radius = 2.2 * dx, best = 1.0;
    int nearest = (int)floor(((p.at[1] - dx) / radius - 0.9) / 1.7 + 0.5);
    for (int n = 0; n < TOWERS * 3; ++n) {
        int tower = n / 3, drop = nearest + n % 3 - 1;
        double turn = 2.4 * drop + tower; // radians: leaves no two drops exactly above each other
        double x = foot[tower][0] + 0.7 * dx * cos(turn), y = dx + radius * (0.9 + 1.7 * drop);
        double d = distance(p, x, y, foot[tower][1] + 0.7 * dx * sin(turn)) - radius;
        best = drop >= 0 && drop < DROPS ? fmin(best, d) : best;
    }
    return best;
}

static double candle(point3 p) {
    return fmax(hypot(p.at[0] - 0.5, p.at[2] - 0.5) - 0.25, p.at[1] - 0.6);
}

static double drop_radius(const solver_scene* scene) {
    return 0.5 * (scene->n - 16) / scene->n;
}

double solver_scene_liquid(const solver_scene* scene, point3 p) {
    static const double low[3] = {0.203, -0.5, 0.201}, high[3] = {0.803, 0.602, 0.801};
    static const double cube_low[3] = {0.25, -0.5, 0.25}, cube_high[3] = {0.75, 0.507, 0.75};
    switch (scene->shape) {
    case SOLVER_SHAPE_BALL:
        return fmin(p.at[1] - 0.4, distance(p, 0.4, 0.72, 0.45) - 0.12);
    case SOLVER_SHAPE_COIL:
        return coil(scene, p);
    case SOLVER_SHAPE_DROP:
        return distance(p, 0.5, 0.5, 0.5) - drop_radius(scene);
    case SOLVER_SHAPE_TANK:
        return p.at[1] - 1.0;
    case SOLVER_SHAPE_CUBE:
        return box(p, cube_low, cube_high);
    case SOLVER_SHAPE_CANDLE:
        return candle(p);
    case SOLVER_SHAPE_CASTLE:
        return castle(scene, p);
    case SOLVER_SHAPE_SPECKS:
        return p.at[1] - 0.4;
    case SOLVER_SHAPE_BLOCK:
        break;
    }
    return box(p, low, high);
}

double solver_scene_solid(const solver_scene* scene, point3 p) {
    if (scene->shape == SOLVER_SHAPE_TANK) {
        return 1.0;
    }
    if (scene->shape == SOLVER_SHAPE_DROP) {
        double radius = drop_radius(scene);
        return distance(p, 0.5, 0.5 - 0.75 * radius, 0.5) - radius;
    }
    double dx = 1.0 / scene->n;
    double low[3] = {dx, dx, dx}, high[3] = {1.0 - dx, 1.0 - dx, 1.0 - dx};
    double wall = -box(p, low, high);
    if (scene->shape >= SOLVER_SHAPE_CUBE) {
        return wall;
    }
    double floor_level = (0.2 * (p.at[0] - 0.5) + (p.at[1] - 0.08) + 0.1 * (p.at[2] - 0.5)) /
                         sqrt(0.2 * 0.2 + 1.0 + 0.1 * 0.1);
    return fmin(wall, fmin(floor_level, distance(p, 0.6, 0.25, 0.5) - 0.12));
}

double solver_scene_fraction(const solver_scene* scene, point3 p) {
    double dx = 1.0 / scene->n, centre = solver_scene_liquid(scene, p), sum = 0.0;
    if (fabs(centre) > dx) {
        return centre > 0.0 ? 0.0 : 1.0;
    }
    for (int corner = 0; corner < 8; ++corner) {
        point3 q = p;
        for (int a = 0; a < 3; ++a) {
            q.at[a] += (corner >> a & 1) != 0 ? 0.25 * dx : -0.25 * dx;
        }
        sum += clamp01(0.5 - solver_scene_liquid(scene, q) / (0.5 * dx));
    }
    return sum / 8.0 < 1e-4 ? 0.0 : sum / 8.0;
}

double solver_scene_tent(const solver_scene* scene, point3 p, int axis) {
    double sum = 0.0;
    for (int k = -2; k <= 2; ++k) {
        point3 q = p;
        q.at[axis] += 0.25 * k / scene->n;
        sum += (k == -2 || k == 2 ? 0.125 : 0.25) * solver_scene_fraction(scene, q);
    }
    return sum;
}

double solver_scene_opening(const solver_scene* scene, point3 p, int axis) {
    double dx = 1.0 / scene->n, centre = solver_scene_solid(scene, p), sum = 0.0;
    if (fabs(centre) > dx) {
        return centre > 0.0 ? 1.0 : 0.0;
    }
    for (int corner = 0; corner < 4; ++corner) {
        point3 q = p;
        q.at[(axis + 1) % 3] += (corner & 1) != 0 ? 0.25 * dx : -0.25 * dx;
        q.at[(axis + 2) % 3] += (corner & 2) != 0 ? 0.25 * dx : -0.25 * dx;
        sum += clamp01(0.5 + solver_scene_solid(scene, q) / (0.5 * dx));
    }
    return sum / 4.0 < 1e-3 ? 0.0 : sum / 4.0;
}

double solver_scene_velocity(point3 p, int axis) {
    double k = 2.0 * pi, x = p.at[0], y = p.at[1], z = p.at[2];
    if (axis == 0) {
        return sin(k * y) * cos(2 * k * z) + 0.3 * sin(7 * k * y + 3 * k * x) + 2.0 * (y - 0.5);
    }
    if (axis == 1) {
        return -1.0 + 0.5 * cos(k * x) * sin(k * z) + 0.3 * cos(6 * k * z + 2 * k * x) -
               2.0 * (x - 0.5);
    }
    return 0.5 * sin(k * x) * cos(k * y) + 0.3 * sin(5 * k * x + 4 * k * y);
}

// ---- Viscosity ------------------------------------------------------------------------------

// A number in [0, 1) that looks random, of a cell.
static double scatter(const int cell[3]) {
    uint64_t n = (uint64_t)cell[0] + ((uint64_t)cell[1] << 20) + ((uint64_t)cell[2] << 40);
    n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15u;
    n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9u;
    return (double)(n >> 11) * 0x1p-53;
}

// How far a cell has melted, from 0 to 1: all of it in a bowl at the top and in a run down one
// side, none two cells from there, and in between, as here and there in the melt, what did not.
static double melted_fraction(const solver_scene* scene, const int cell[3]) {
    double n = scene->n;
    point3 p = {{(cell[0] + 0.5) / n, (cell[1] + 0.5) / n, (cell[2] + 0.5) / n}};
    double bowl = distance(p, 0.56, 0.62, 0.5) - 0.16;
    double run = fmax(hypot(p.at[0] - 0.75, p.at[2] - 0.5) - 0.08, 0.15 - p.at[1]);
    double depth = -n * fmin(bowl, run), chance = scatter(cell); // cells
    if (depth > 1.0) {
        return chance < 0.04 ? 10.0 * chance : 1.0;
    }
    return depth < -1.0 ? 0.0 : chance < 0.3 ? 0.0 : chance < 0.7 ? 1.0 : 2.0 * (chance - 0.6);
}

static bool is_speck(const int cell[3]) {
    return cell[0] % 7 == 3 && cell[1] % 5 == 2 && cell[2] % 9 < 1 + cell[0] % 2;
}

// The logarithm of what viscosity is in a cell, over the largest. `thin` is that of thin liquid.
static double cell_log(const solver_scene* scene, const int cell[3], double thin) {
    return scene->shape == SOLVER_SHAPE_CANDLE ? thin * melted_fraction(scene, cell)
           : is_speck(cell)                    ? 0.0
                                               : thin;
}

// Of the cells around p, the mean in the logarithm: one at centres, four at edges.
static double mean_viscosity(const solver_scene* scene, point3 p, double thin) {
    double sum = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
        int cell[3];
        for (int a = 0; a < 3; ++a) {
            cell[a] = (int)floor(p.at[a] * scene->n + ((corner >> a & 1) != 0 ? 0.25 : -0.25));
        }
        sum += cell_log(scene, cell, thin);
    }
    return exp(sum / 8.0);
}

double solver_scene_viscosity(const solver_scene* scene, point3 p, solver_thickness thick) {
    const double thin_weight = scene->shape == SOLVER_SHAPE_CANDLE ? 0.4 : 0.1;
    double x = p.at[0], y = p.at[1], z = p.at[2];
    if (scene->shape == SOLVER_SHAPE_CANDLE || scene->shape == SOLVER_SHAPE_SPECKS) {
        return mean_viscosity(scene, p, log(thin_weight / thick.r));
    }
    double s = 0.5 + 0.5 * sin(2 * pi * (0.9 * x + 0.4 * y)) * cos(2 * pi * (0.7 * z + 0.3 * y));
    return thick.has_contrast ? pow(10.0, -4.0 * s) : 1.0;
}
