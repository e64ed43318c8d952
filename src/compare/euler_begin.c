#include "compare/euler_begin.h"

#include <math.h>

#include "compare/euler_tiles.h"
#include "grid/tile_loop.h"

typedef struct scaled_shape {
    const shape* what;
    double cell; // m
} scaled_shape;

static float liquid_distance(const void* data, vec3 x) {
    const scaled_shape* s = data;
    return (float)(shape_distance(s->what, x) / s->cell);
}

// Solids are cut out by the images of the first step [level.5].
static treacle_status make_surface(const euler_work* e, const seed_def* seeding) {
    for (int i = 0; i < seeding->liquid_count; ++i) {
        scaled_shape s = {seeding->liquids[i].shape, e->level.lattice->h};
        level_set_part part = {liquid_distance, &s, shape_bounds(s.what), false};
        TREACLE_TRY(level_set_combine(&e->level, &part, e->surface));
    }
    return level_set_restore(&e->level, e->surface);
}

typedef struct begin_job {
    const step_work* w;
    const seed_def* seeding;
} begin_job;

static const seed_liquid* nearest_liquid(const seed_def* seeding, vec3 x) {
    const seed_liquid* best = NULL;
    double least = INFINITY;
    for (int i = 0; i < seeding->liquid_count; ++i) {
        double d = shape_distance(seeding->liquids[i].shape, x);
        if (best == NULL || d < least) {
            best = &seeding->liquids[i];
            least = d;
        }
    }
    return best;
}

static vec3 place_at(const grid_domain* domain, grid_place place, const int at[AXES]) {
    vec3 x;
    for (int a = 0; a < AXES; ++a) {
        x.at[a] = domain->origin[a] + domain->h * (at[a] + (double)place_offset(place, a));
    }
    return x;
}

static void begin_tiles(void* data, int64_t begin, int64_t end) {
    const begin_job* job = data;
    const liquid_state* state = job->w->state;
    const grid_domain* domain = job->w->f.setup->domain;
    const heat_curve* curve = job->w->f.setup->heat.curve;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (!tile_cell_counts(&state->map, (int)(i % TILE_CELLS))) {
            continue;
        }
        for (int a = 0; a < AXES; ++a) {
            vec3 x = place_at(domain, place_face(a), at), u;
            const seed_liquid* l = nearest_liquid(job->seeding, x);
            field_eval(l->velocity, x, 0.0, u.at);
            u = vec3_add(u, vec3_cross(l->spin, vec3_sub(x, l->spin_centre)));
            state->face_u.at[a][i] = domain->is_active[a] ? (float)u.at[a] : 0.0f;
        }
        if (state->carried[CARRIED_TEMPERATURE] != NULL) {
            vec3 x = place_at(domain, PLACE_CELL, at);
            double kelvin;
            field_eval(nearest_liquid(job->seeding, x)->temperature, x, 0.0, &kelvin);
            state->carried[CARRIED_TEMPERATURE][i] = (float)kelvin;
            if (state->carried[CARRIED_MELTED] != NULL) {
                state->carried[CARRIED_MELTED][i] =
                    (float)heat_curve_melted(&curve[0], kelvin, 0.0);
            }
        }
    }
}

treacle_status euler_begin(euler_work* e, const seed_def* seeding) {
    TREACLE_ASSERT(seeding->liquid_count >= 0 &&
                   (seeding->liquids != NULL || seeding->liquid_count == 0));
    const step_work* w = e->w;
    TREACLE_TRY(make_surface(e, seeding));
    TREACLE_TRY(euler_build_tiles(e));
    if (seeding->liquid_count > 0) {
        begin_job job = {w, seeding};
        tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, begin_tiles,
                 &job);
    }
    return TREACLE_OK;
}
