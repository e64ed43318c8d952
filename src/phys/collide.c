// Particles and solids that move [BBB07 sec. 2].
//
// A ray through the world misses a solid that moves, so each particle is looked at in the frame of
// the solid: it goes from b0 (its place at the begin, the solid at its begin) to b1 (both at the
// end). If the straight path between them comes nearer to the solid than a gap e, it ends there and
// the rest of it goes on along the surface:
//
//     b = b(s) + (1 - n n^T) (b1 - b(s)),   n the normal at the first s with distance < e [solid.3]
//
// a few times over, since a corner has several sides. The path is followed in steps of the
// distance, which is a bound, so that nothing is stepped over, however thin. A particle that begins
// inside, because it was born there, goes out along the normal. One that finds no place between
// solids that close on each other, or on a side of the domain, goes to the nearest free one on its
// side.
// Solids that change their shape are in phys/collide_form.c.
//
// Properties that tests check: particles stay on their side of a plate that moves several cells a
// step; tangential motion goes on; particles far from solids are untouched.
#include "phys/collide.h"

#include <math.h>
#include <string.h>

#include "grid/tile_points.h"
#include "particles/particle_loop.h"
#include "phys/collide_form.h"

enum {
    STEPS_MAX = 48, // of a path; each at least a quarter of the gap
    SLIDES = 4,     // along surfaces
    PUSHES = 8,     // out of a solid
    PASSES = 3,     // over all solids
    NEAR_MAX = 64,  // solids that a tile lists; beyond it looks at all of them
};

typedef struct path {
    const solid* s;
    double gap, h; // m
} path;

static double collide_distance_at(const path* p, vec3 b) {
    double distance = shape_distance(p->s->shape, b);
    return p->s->is_inside_out ? -distance : distance;
}

static vec3 normal_at(const path* p, vec3 b) {
    vec3 n = vec3_normalise(shape_gradient(p->s->shape, b, 1e-3 * p->h));
    return p->s->is_inside_out ? vec3_scale(-1.0, n) : n;
}

// Outward until the gap is kept.
static vec3 push_out(const path* p, vec3 b) {
    for (int i = 0; i < PUSHES; ++i) {
        double distance = collide_distance_at(p, b);
        if (distance >= p->gap) {
            break;
        }
        b = vec3_add_scaled(b, p->gap * 1.01 - distance, normal_at(p, b));
    }
    return b;
}

// The fraction of the way from b0 to b1 up to which the gap is kept; 1: all of it.
static double free_fraction(const path* p, vec3 b0, vec3 b1) {
    vec3 way = vec3_sub(b1, b0);
    double length = vec3_length(way), at = 0.0;
    double least = fmax(0.25 * p->gap, length / STEPS_MAX);
    for (int i = 0; i < STEPS_MAX && at < length; ++i) {
        double free = collide_distance_at(p, vec3_add_scaled(b0, at / length, way)) - p->gap;
        if (free < 0.0) {
            return at / length;
        }
        at += fmax(free, least);
    }
    bool is_free = collide_distance_at(p, b1) >= p->gap;
    return is_free ? 1.0 : fmin(at / length, 1.0);
}

// The path from b0, outside, towards b1: its end [solid.3].
static vec3 follow(const path* p, vec3 b0, vec3 b1) {
    vec3 at = b0;
    for (int i = 0; i < SLIDES; ++i) {
        vec3 way = vec3_sub(b1, at);
        double fraction = free_fraction(p, at, b1);
        if (fraction >= 1.0) {
            return b1;
        }
        vec3 hit = vec3_add_scaled(at, fraction, way);
        vec3 n = normal_at(p, hit);
        double inward = vec3_dot(n, vec3_sub(b1, hit));
        b1 = inward < 0.0 ? vec3_add_scaled(b1, -inward, n) : b1;
        vec3 out = push_out(p, hit);
        // Pushed through a thin solid: rather stay where it was still free.
        at = free_fraction(p, at, out) >= 1.0 || i == 0 ? out : at;
    }
    return at;
}

static vec3 flatten(const grid_domain* domain, vec3 x, vec3 like) {
    for (int a = 0; a < AXES; ++a) {
        x.at[a] = domain->is_active[a] ? x.at[a] : like.at[a];
    }
    return x;
}

// Where the particle ends for one solid. True if it was in the way.
static bool collide_one(const collide_params* params, int i, vec3 x0, vec3* x1) {
    const solid* s = &params->to.solids[i];
    double h = params->domain->h;
    path p = {s, COLLIDE_GAP * h, h};
    vec3 b0 = solid_to_body(s, &params->from.poses[i], x0);
    vec3 b1 = solid_to_body(s, &params->to.poses[i], *x1);
    if (s->sequence != NULL) {
        form_path way = {.form = form_between(&params->from.poses[i], &params->to.poses[i]),
                         .gap = p.gap,
                         .is_inside_out = s->is_inside_out};
        bool is_hit = collide_form_follow(&way, b0, &b1);
        *x1 = is_hit ? flatten(params->domain, solid_to_world(s, &params->to.poses[i], b1), *x1)
                     : *x1;
        return is_hit;
    }
    double begin = collide_distance_at(&p, b0), end = collide_distance_at(&p, b1);
    if (begin + end > vec3_length(vec3_sub(b1, b0)) + 2.0 * p.gap) {
        return false;
    }
    bool is_free = begin >= p.gap && end >= p.gap && free_fraction(&p, b0, b1) >= 1.0;
    if (is_free) {
        return false;
    }
    vec3 start = begin >= p.gap ? b0 : push_out(&p, b0);
    vec3 at = push_out(&p, follow(&p, start, b1));
    *x1 = flatten(params->domain, solid_to_world(s, &params->to.poses[i], at), *x1);
    return true;
}

// --- tiles ---------------------------------------------------------------------------------------

typedef struct near_solids {
    int count; // -1: all
    int at[NEAR_MAX];
    int cell;               // of the tile, for which the distances below are; -1: none
    double least[NEAR_MAX]; // m, from any place of the cell at the begin
} near_solids;

// How near the solids may be to particles of a cell: one question for all of them.
static void look_from_cell(const collide_params* params, tile_coord tile, int cell,
                           near_solids* near) {
    const float at[AXES] = {(float)(cell % TILE_SIZE) + 0.5f,
                            (float)(cell / TILE_SIZE % TILE_SIZE) + 0.5f,
                            (float)(cell / TILE_SIZE / TILE_SIZE) + 0.5f};
    vec3 x = particles_place(params->domain, tile, at);
    near->cell = cell;
    for (int k = 0; k < near->count; ++k) {
        int i = near->at[k];
        double d = solid_distance(&params->from.solids[i], &params->from.poses[i], x);
        near->least[k] = d - 0.8661 * params->domain->h;
    }
}

// Whether the way of a particle is shorter than its distance.
static bool is_far(const collide_params* params, int i, double least, const vec3 x[2]) {
    const solid* s = &params->to.solids[i];
    vec3 b0 = solid_to_body(s, &params->from.poses[i], x[0]);
    vec3 b1 = solid_to_body(s, &params->to.poses[i], x[1]);
    double way = vec3_length(vec3_sub(b1, b0)) + params->to.poses[i].form.reach;
    return least > way + COLLIDE_GAP * params->domain->h;
}

// Solids that particles of a tile may meet.
static void list_near(const collide_params* params, tile_coord tile, near_solids* out) {
    const grid_domain* domain = params->domain;
    vec3 middle;
    double squared = 0.0;
    for (int a = 0; a < AXES; ++a) {
        middle.at[a] = domain->origin[a] +
                       domain->h * (tile.at[a] * TILE_SIZE + (domain->is_active[a] ? 4.0 : 0.5));
        squared += domain->is_active[a] ? 16.0 : 0.0;
    }
    out->count = 0;
    out->cell = -1;
    for (int i = 0; i < params->to.count && out->count >= 0; ++i) {
        const solid* s = &params->to.solids[i];
        double reach = domain->h * (sqrt(squared) + params->reach + 1.0);
        double begin = solid_distance(s, &params->from.poses[i], middle);
        double end = solid_distance(s, &params->to.poses[i], middle);
        // A solid that is far at both ends may have passed between: its way counts.
        vec3 came = vec3_sub(solid_to_body(s, &params->from.poses[i], middle),
                             solid_to_body(s, &params->to.poses[i], middle));
        double way = vec3_length(came) + params->to.poses[i].form.reach;
        if (begin + end > 2.0 * reach + way) {
            continue;
        }
        if (out->count == NEAR_MAX) {
            out->count = -1;
        } else {
            out->at[out->count++] = i;
        }
    }
}

// Closed sides of the domain hold, too.
static vec3 clamp_to_domain(const grid_domain* domain, vec3 x) {
    for (int a = 0; a < AXES; ++a) {
        double gap = COLLIDE_GAP * domain->h, size = domain->cells[a] * domain->h;
        for (int high = 0; high < 2 && domain->is_active[a]; ++high) {
            double side = domain->origin[a] + (high == 1 ? size - gap : gap);
            bool is_closed = domain->sides[a][high] != TREACLE_SIDE_OPEN && !domain->is_periodic[a];
            bool is_beyond = high == 1 ? x.at[a] > side : x.at[a] < side;
            x.at[a] = is_closed && is_beyond ? side : x.at[a];
        }
    }
    return x;
}

static bool is_clear(const collide_params* params, const near_solids* near, vec3 x) {
    int count = near->count < 0 ? params->to.count : near->count;
    for (int k = 0; k < count; ++k) {
        int i = near->count < 0 ? k : near->at[k];
        if (solid_distance(&params->to.solids[i], &params->to.poses[i], x) < 0.0) {
            return false;
        }
    }
    return true;
}

// Whether a place is on the side of the solids on which the particle began: the straight way to it
// in the frame of each is free.
static bool is_in_sight(const collide_params* params, const near_solids* near, vec3 x0, vec3 x) {
    int count = near->count < 0 ? params->to.count : near->count;
    bool is_seen = true;
    for (int k = 0; k < count && is_seen; ++k) {
        int i = near->count < 0 ? k : near->at[k];
        const solid* s = &params->to.solids[i];
        path p = {s, 0.0, params->domain->h};
        vec3 b0 = solid_to_body(s, &params->from.poses[i], x0);
        vec3 b1 = solid_to_body(s, &params->to.poses[i], x);
        is_seen = s->sequence != NULL || free_fraction(&p, b0, b1) >= 1.0;
    }
    return is_seen;
}

static vec3 step_aside(const grid_domain* domain, vec3 x, double cells, int way) {
    const int step[AXES] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1};
    for (int a = 0; a < AXES; ++a) {
        x.at[a] += domain->is_active[a] ? cells * step[a] * domain->h : 0.0;
    }
    return clamp_to_domain(domain, x);
}

// A place that is free, near one that is not: the first on widening circles, of those on the side
// on which the particle began if there is one. Liquid between solids that close on each other, or
// on a side, has to go somewhere.
static vec3 rescue(const collide_params* params, const near_solids* near, vec3 x0, vec3 x) {
    static const double radius[] = {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0};
    enum { RADII = sizeof(radius) / sizeof(radius[0]) };
    near_solids all = {.count = -1};
    vec3 found = x;
    bool is_any = false;
    for (int i = 0; i < RADII * 27; ++i) {
        vec3 y = step_aside(params->domain, x, radius[i / 27], i % 27);
        if (!is_clear(params, near, y) || !is_clear(params, &all, y)) {
            continue;
        }
        if (is_in_sight(params, near, x0, y)) {
            return y;
        }
        found = is_any ? found : y;
        is_any = true;
    }
    return found;
}

static void collide_row(const collide_params* params, const near_solids* near, tile_coord tile,
                        particle_ix row) {
    float* position = particles_f32(params->p, PARTICLE_POSITION) + AXES * row;
    vec3 x0 = particles_place(params->domain, tile, params->before + AXES * row);
    vec3 x1 = particles_place(params->domain, tile, position);
    bool is_moved = false, is_all_far = near->count >= 0;
    int count = near->count < 0 ? params->to.count : near->count;
    for (int k = 0; k < near->count && is_all_far; ++k) {
        is_all_far = is_far(params, near->at[k], near->least[k], (const vec3[2]){x0, x1});
    }
    if (is_all_far) {
        return;
    }
    for (int pass = 0, is_hit = 1; pass < (count > 1 ? PASSES : 1) && is_hit; ++pass) {
        is_hit = 0;
        for (int k = 0; k < count; ++k) {
            is_hit |= collide_one(params, near->count < 0 ? k : near->at[k], x0, &x1);
        }
        is_moved = is_moved || is_hit;
        x1 = is_hit ? clamp_to_domain(params->domain, x1) : x1;
    }
    if (is_moved && !is_clear(params, near, x1)) {
        x1 = rescue(params, near, x0, x1);
    }
    for (int a = 0; a < AXES && is_moved; ++a) {
        double at = (x1.at[a] - params->domain->origin[a]) / params->domain->h;
        position[a] = params->domain->is_active[a] ? (float)(at - (double)TILE_SIZE * tile.at[a])
                                                   : position[a];
    }
}

static void collide_tiles(void* data, int64_t begin, int64_t end) {
    const collide_params* params = data;
    near_solids near;
    for (int64_t t = begin; t < end; ++t) {
        list_near(params, params->p->tile[t], &near);
        for (particle_ix i = params->p->tile_first[t];
             near.count != 0 && i < params->p->tile_first[t + 1]; ++i) {
            int cell = tile_points_cell(params->before + AXES * i);
            if (cell != near.cell) {
                look_from_cell(params, params->p->tile[t], cell, &near);
            }
            collide_row(params, &near, params->p->tile[t], i);
        }
    }
}

void collide_particles(const collide_params* params) {
    TREACLE_ASSERT(params->from.count == params->to.count);
    TREACLE_ASSERT(params->reach >= 0.0 && isfinite(params->reach));
    TREACLE_ASSERT(params->before != NULL || params->p->count == 0);
    particle_for(params->p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1}, collide_tiles,
                 (void*)params);
}

void collide_stop(const collide_params* params, vec3 x, float v[AXES]) {
    TREACLE_ASSERT(params->domain->h > 0.0 && vec3_is_finite(x));
    double distance, h = params->domain->h;
    int i = solid_nearest(&params->to, x, &distance);
    if (i == SOLID_NONE || distance > 2.0 * COLLIDE_GAP * h) {
        return;
    }
    vec3 n = solid_normal(&params->to.solids[i], &params->to.poses[i], x, 1e-3 * h);
    vec3 of_solid = solid_velocity(&params->to.poses[i], x);
    vec3 relative = vec3_make((double)v[0] - of_solid.at[0], (double)v[1] - of_solid.at[1],
                              (double)v[2] - of_solid.at[2]);
    double inward = fmin(vec3_dot(relative, n), 0.0);
    for (int a = 0; a < AXES; ++a) {
        v[a] = (float)((double)v[a] - inward * n.at[a]);
    }
}
