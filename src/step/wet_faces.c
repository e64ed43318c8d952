#include "step/wet_faces.h"

#include <math.h>
#include <string.h>

#include "grid/extrapolate.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/unified.h"

typedef struct wet_job {
    const wet_faces* w;
    int axis;
    bool has_closed;
} wet_job;

// Beyond the sides the surface goes on, but no velocity is known.
static bool is_face_of_domain(const grid_domain* domain, int axis, const int at[AXES]) {
    bool is_inside = true;
    for (int a = 0; a < AXES; ++a) {
        is_inside = is_inside && at[a] < domain->cells[a] + (a == axis ? 1 : 0);
    }
    return is_inside;
}

static bool is_side_face(const grid_domain* domain, int axis, const int face[AXES]) {
    return grid_domain_side_at(domain, axis, face[axis], domain->cells[axis]) != 0;
}

static bool has_surface(const wet_faces* w) {
    return w->surface.values != NULL;
}

// How far a face is from the surface, in cells of the lattice.
static float wet_faces_distance_at(const wet_faces* w, int axis, const int face[AXES]) {
    tile_sampler phi = w->surface;
    int at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = 2 * face[a] + place_half(place_face(axis), a);
    }
    return tile_sample_at(&phi, at);
}

// Whether a face has liquid on one of its sides, or a mass; phi is that of its cell in a block.
static bool is_wet_at(const float* phi, int step, const float* tent, int64_t i) {
    bool has_mass = tent != NULL && tent[i] >= UNIFIED_FRACTION_MIN;
    return has_mass || phi[0] < 0.0f || phi[-step] < 0.0f;
}

// Face by face, for flat domains and where the surface is that of a lattice, whose own distances
// count, too.
static void mark_tracked(const wet_job* job, tile_ix t, const float* block) {
    const wet_faces* w = job->w;
    int a = job->axis;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    const float* open = w->solid->phi != NULL ? w->solid->face_open.at[a] : NULL;
    const float* tent = w->liquid->fraction.tent.at[a];
    for (int q = 0; q < TILE_CELLS; ++q) {
        int64_t i = (int64_t)t * TILE_CELLS + q;
        int at =
            BLOCK_INDEX(1, 0, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE, q / TILE_SIZE / TILE_SIZE);
        bool is_wet = is_wet_at(block + at, steps[a], tent, i);
        bool is_open = open == NULL || open[i] > 0.0f || job->has_closed;
        int face[AXES];
        tile_cell_at(w->map, t, q, face);
        is_open = is_open || (has_surface(w) && is_side_face(w->domain, a, face));
        is_wet = is_wet || (has_surface(w) && wet_faces_distance_at(w, a, face) < 0.0f);
        if (is_open && is_wet && is_face_of_domain(w->domain, a, face)) {
            tile_mask_add(&w->known[t], q);
        }
    }
}

// Else a tile is asked a layer at a time, without a branch.
static void mark_plain(const wet_job* job, tile_ix t, const float* block) {
    const wet_faces* w = job->w;
    int a = job->axis;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    const float* open =
        w->solid->phi != NULL && !job->has_closed ? w->solid->face_open.at[a] : NULL;
    const float* tent = w->liquid->fraction.tent.at[a];
    tile_mask inside = tile_mask_inside(w->domain, place_face(a), w->map->coord[t]);
    for (int z = 0; z < TILE_SIZE; ++z) {
        uint64_t bits = 0;
        for (int q = 0; q < TILE_SIZE * TILE_SIZE; ++q) {
            int64_t i = (int64_t)t * TILE_CELLS + z * TILE_SIZE * TILE_SIZE + q;
            int at = BLOCK_INDEX(1, 0, q % TILE_SIZE, q / TILE_SIZE, z);
            bool is_wet = is_wet_at(block + at, steps[a], tent, i);
            bool is_open = open == NULL || open[i] > 0.0f;
            bits |= (uint64_t)(is_wet && is_open ? 1 : 0) << q;
        }
        w->known[t].layer[z] = bits & inside.layer[z];
    }
}

static void mark_wet(void* data, int64_t begin, int64_t end) {
    const wet_job* job = data;
    const wet_faces* w = job->w;
    bool is_flat = w->map->is_flat[0] || w->map->is_flat[1] || w->map->is_flat[2];
    for (int64_t t = begin; t < end; ++t) {
        float phi[BLOCK_VALUES(1, 0)];
        gather_block(w->map, w->cell_phi, (tile_ix)t, 1, 0, phi);
        memset(&w->known[t], 0, sizeof(w->known[t]));
        if (has_surface(w) || is_flat) {
            mark_tracked(job, (tile_ix)t, phi);
        } else {
            mark_plain(job, (tile_ix)t, phi);
        }
    }
}

void wet_faces_find(const wet_faces* w, int axis, bool has_closed) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    TREACLE_ASSERT(w->solid != NULL);
    TREACLE_ASSERT(w->known != NULL && w->cell_phi != NULL);
    wet_job job = {w, axis, has_closed};
    tile_for(w->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 8,
                         .writes = {tile_block(w->known, sizeof(tile_mask), TILE_TO_HOLDERS)}},
             mark_wet, &job);
}

treacle_status wet_faces_extend(const wet_faces* w, int axis, int layers, const float* slope,
                                float* values) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES && layers >= 0);
    TREACLE_ASSERT(values != NULL);
    extrapolate_params params = {.domain = w->domain,
                                 .map = w->map,
                                 .place = place_face(axis),
                                 .layers = layers,
                                 .slope = slope,
                                 .cell_across = w->solid->across,
                                 .axis = axis};
    return extrapolate(&params, values, w->known);
}

treacle_status wet_faces_extend_all(const wet_faces* w, int layers, float* const values[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        wet_faces_find(w, a, false);
        TREACLE_TRY(wet_faces_extend(w, a, layers, NULL, values[a]));
    }
    return TREACLE_OK;
}

typedef struct face_job {
    const wet_faces* w;
    int axis;
    const float* from;
    float* u;
} face_job;

// Where nobody knows the velocity it is zero: faces that keep what pushes them would fall, and
// shorten the steps of liquid that rests. Where the grid carries the liquid they do fall beside a
// drop that is too small for the flow.
static void still_unknown(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    const wet_faces* w = job->w;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool keeps = tile_mask_has(&w->known[i / TILE_CELLS], (int)(i % TILE_CELLS));
        if (!keeps && has_surface(w)) {
            int face[AXES];
            tile_cell_at(w->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), face);
            keeps = wet_faces_distance_at(w, job->axis, face) < w->surface_reach;
        }
        job->u[i] = keeps ? job->u[i] : 0.0f;
    }
}

treacle_status wet_faces_extend_velocity(const wet_faces* w, int layers, bool has_closed,
                                         const float* slope, float* const u[AXES]) {
    TREACLE_ASSERT(layers >= 0);
    for (int a = 0; a < AXES; ++a) {
        wet_faces_find(w, a, has_closed);
        TREACLE_TRY(wet_faces_extend(w, a, layers, slope, u[a]));
        if (has_surface(w) || !has_closed) {
            face_job job = {.w = w, .axis = a, .u = u[a]};
            tile_for(w->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, still_unknown, &job);
        }
    }
    return TREACLE_OK;
}

static void copy_known(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool is_known = tile_mask_has(&job->w->known[i / TILE_CELLS], (int)(i % TILE_CELLS));
        job->u[i] = is_known ? job->from[i] : NAN;
    }
}

void wet_faces_copy(const wet_faces* w, face_view u, float* const out[AXES]) {
    TREACLE_ASSERT(u.at[0] != NULL && u.at[0] != out[0]);
    for (int a = 0; a < AXES; ++a) {
        face_job job = {.w = w, .axis = a, .from = u.at[a], .u = out[a]};
        wet_faces_find(w, a, true);
        tile_for(w->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, copy_known, &job);
        for (int i = 0; i < TILE_CELLS; ++i) {
            out[a][(size_t)w->map->count * TILE_CELLS + (size_t)i] = NAN;
        }
    }
}
