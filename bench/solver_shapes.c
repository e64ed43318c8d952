#include "solver_shapes.h"

#include <math.h>

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

static double drop_radius(const solver_scene* scene) {
    return 0.5 * (scene->n - 16) / scene->n;
}

double solver_scene_liquid(const solver_scene* scene, point3 p) {
    static const double low[3] = {0.203, -0.5, 0.201}, high[3] = {0.803, 0.602, 0.801};
    switch (scene->shape) {
    case SOLVER_SHAPE_BALL:
        return fmin(p.at[1] - 0.4, distance(p, 0.4, 0.72, 0.45) - 0.12);
    case SOLVER_SHAPE_COIL:
        return coil(scene, p);
    case SOLVER_SHAPE_DROP:
        return distance(p, 0.5, 0.5, 0.5) - drop_radius(scene);
    case SOLVER_SHAPE_TANK:
        return p.at[1] - 1.0;
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

double solver_scene_viscosity(point3 p, int has_contrast) {
    double x = p.at[0], y = p.at[1], z = p.at[2];
    double s = 0.5 + 0.5 * sin(2 * pi * (0.9 * x + 0.4 * y)) * cos(2 * pi * (0.7 * z + 0.3 * y));
    return has_contrast ? pow(10.0, -4.0 * s) : 1.0;
}
