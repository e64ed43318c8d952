// Shadows by marching the grid.
//
// From a place at the surface a ray goes to the point that shines, up to a cell before it. It
// begins above the surface, clear of what it leaves, and is where it must be after four cells,
//
//     x(s) = x_0 + s l + 3/4 h n max(0, 1 - s / 4 h)
//
// With phi the distance to the liquid's surface and psi that to the nearest solid, both
// positive outside, what comes through is
//
//     t = min over s of min(1, max(0, 1/2 + 2 min(phi, psi) / h)) [heat.15]
//
// so the edge of a shadow is half a cell wide and lies, in the mean, where it must. The liquid is
// marched in steps of half a cell where there are tiles, of a cell where it is farther than two,
// and of two cells where there are none, since tiles reach farther than that around the liquid. The
// solids' distances are never too large, so that along them a ray may go by as much as they say;
// but at least a quarter of a cell, so that it ends.
//
// Staggering: phi at cells, linear between them. Everything is in double and in a fixed order: a
// ray's bits do not depend on who asks.
//
// Properties that tests check: a ball's shadow is its cone; nothing shades the open; what liquid
// behind a ball does not get, the ball gets.
#include "phys/shade.h"

#include <math.h>

#include "grid/tile_sample.h"

// Cells.
#define STEP_NEAR 0.5
#define STEP_FAR 1.0
#define STEP_NOWHERE 2.0
#define FAR 2.0
#define STEP_SOLID 0.25
// How high above its surface a ray begins, and where it has come down.
#define LIFT 0.75
#define LIFT_END 4.0

static double passed(double cells) {
    return fmin(fmax(0.5 + 2.0 * cells, 0.0), 1.0); // [heat.15]
}

static tile_coord tile_at(const double cells[AXES]) {
    tile_coord out;
    for (int a = 0; a < AXES; ++a) {
        out.at[a] = (int)floor(cells[a] / TILE_SIZE);
    }
    return out;
}

static bool is_inside(const grid_domain* domain, const double cells[AXES]) {
    bool is_in = true;
    for (int a = 0; a < AXES; ++a) {
        is_in = is_in && cells[a] >= 0.0 && cells[a] < (double)domain->cells[a];
    }
    return is_in;
}

typedef struct shade_ray {
    vec3 from, along, normal; // m; the other two of unit length
    double length;            // cells
} shade_ray;

static vec3 place_at(const shade* s, const shade_ray* ray, double cells) {
    double lift = LIFT * fmax(0.0, 1.0 - cells / LIFT_END), h = s->domain->h;
    vec3 x = vec3_add_scaled(ray->from, cells * h, ray->along);
    return vec3_add_scaled(x, lift * h, ray->normal);
}

static double past_liquid(const shade* s, const shade_ray* ray) {
    tile_sampler phi = tile_sampler_of(s->domain, s->map, PLACE_CELL, s->cell_phi);
    double light = 1.0, step = STEP_NEAR;
    for (double at = 0.0; at < ray->length && light > 0.0; at += step) {
        vec3 place = place_at(s, ray, at);
        double cells[AXES];
        for (int a = 0; a < AXES; ++a) {
            double x = (place.at[a] - s->domain->origin[a]) / s->domain->h;
            cells[a] = s->domain->is_active[a] ? x : 0.5;
        }
        step = STEP_NOWHERE;
        tile_coord tile = tile_at(cells);
        if (is_inside(s->domain, cells) && tile_map_find(s->map, tile) != s->map->count) {
            float x[AXES];
            for (int a = 0; a < AXES; ++a) {
                x[a] = (float)(cells[a] - (double)(TILE_SIZE * tile.at[a]));
            }
            double distance = (double)tile_sample(&phi, tile, x);
            light = fmin(light, passed(distance));
            step = distance > FAR ? STEP_FAR : STEP_NEAR;
        }
    }
    return light;
}

static double past_solids(const shade* s, const shade_ray* ray) {
    double light = 1.0, step = STEP_SOLID, h = s->domain->h;
    for (double at = 0.0; at < ray->length && light > 0.0; at += step) {
        double distance = 0.0;
        solid_nearest(&s->solids, place_at(s, ray, at), &distance);
        light = fmin(light, passed(distance / h));
        step = fmax(distance / h - LIFT, STEP_SOLID); // it may come down meanwhile
    }
    return light;
}

double shade_light(const shade* s, vec3 from, vec3 normal, vec3 to) {
    TREACLE_ASSERT(s->map != NULL && s->cell_phi != NULL);
    TREACLE_ASSERT(vec3_is_finite(from) && vec3_is_finite(to));
    for (int a = 0; a < AXES; ++a) {
        double middle = s->domain->origin[a] + 0.5 * s->domain->h;
        from.at[a] = s->domain->is_active[a] ? from.at[a] : middle;
        to.at[a] = s->domain->is_active[a] ? to.at[a] : middle;
    }
    vec3 way = vec3_sub(to, from);
    double distance = vec3_length(way), length = distance / s->domain->h - 1.0;
    if (!(length > 0.0)) {
        return 1.0;
    }
    shade_ray ray = {from, vec3_scale(1.0 / distance, way), normal, length};
    double light = past_liquid(s, &ray);
    return light > 0.0 && s->solids.count > 0 ? fmin(light, past_solids(s, &ray)) : light;
}
