#include "step/side_faces.h"

#include "grid/tile_loop.h"

typedef struct side_job {
    const grid_domain* domain;
    const tile_map* map;
    const solid_grid* grid;
    float* u; // m/s
    int axis;
} side_job;

// Whether the face lies in the domain or on an open side of it.
static bool is_open_face(const grid_domain* domain, int axis, const int at[AXES]) {
    for (int b = 0; b < AXES; ++b) {
        if (b != axis && at[b] >= domain->cells[b]) {
            return false;
        }
    }
    if (domain->is_periodic[axis]) {
        return at[axis] < domain->cells[axis];
    }
    if (at[axis] == 0 || at[axis] == domain->cells[axis]) {
        return domain->sides[axis][at[axis] == 0 ? 0 : 1] == TREACLE_SIDE_OPEN;
    }
    return at[axis] < domain->cells[axis];
}

// Whether the face lies on a side of the domain.
static bool is_side_face(const grid_domain* domain, int axis, const int at[AXES]) {
    bool is_on_plane = at[axis] == 0 || at[axis] == domain->cells[axis];
    for (int b = 0; b < AXES; ++b) {
        is_on_plane = is_on_plane && (b == axis || at[b] < domain->cells[b]);
    }
    return is_on_plane;
}

// Whether all faces of a tile lie inside of the domain, and none on a side of it.
static bool is_tile_inside(const grid_domain* domain, tile_coord tile) {
    bool is_so = true;
    for (int b = 0; b < AXES; ++b) {
        int first = tile.at[b] * TILE_SIZE;
        is_so = is_so && first > 0 && first + TILE_SIZE <= domain->cells[b];
    }
    return is_so;
}

static void close_tiles(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        float* open = job->grid->face_open.at[job->axis] + (size_t)t * TILE_CELLS;
        float* held = job->grid->face_u.at[job->axis];
        if (is_tile_inside(job->domain, job->map->coord[t])) {
            for (int i = 0; i < TILE_CELLS && held == NULL; ++i) {
                open[i] = 1.0f;
            }
            continue;
        }
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(job->map, (tile_ix)t, i, at);
            bool is_open = is_open_face(job->domain, job->axis, at);
            if (held != NULL && !is_open) {
                bool is_side = is_side_face(job->domain, job->axis, at);
                held[t * TILE_CELLS + i] *= is_side ? 1.0f - open[i] : 0.0f;
            }
            open[i] = !is_open ? 0.0f : held != NULL ? open[i] : 1.0f;
        }
    }
}

void side_faces_close(const grid_domain* domain, const tile_map* map, solid_grid* grid) {
    TREACLE_ASSERT(grid->face_open.at[0] != NULL && grid->face_open.at[1] != NULL &&
                   grid->face_open.at[2] != NULL);
    for (int a = 0; a < AXES; ++a) {
        side_job job = {.domain = domain, .map = map, .grid = grid, .axis = a};
        tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, close_tiles, &job);
    }
}

static bool may_let_go(const grid_domain* domain, int axis, const int at[AXES]) {
    return (at[axis] == 0 && domain->separation[axis][0].is_on) ||
           (at[axis] == domain->cells[axis] && domain->separation[axis][1].is_on);
}

static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    const float* open = job->grid->face_open.at[job->axis];
    const float* held = job->grid->face_u.at[job->axis];
    float* u = job->u;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (open[i] > 0.0f) {
            continue;
        }
        int at[AXES];
        tile_cell_at(job->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        bool keeps = may_let_go(job->domain, job->axis, at);
        u[i] = keeps ? u[i] : held != NULL ? held[i] : 0.0f;
    }
}

void side_faces_hold(const grid_domain* domain, const solid_grid* grid, liquid_state* out) {
    TREACLE_ASSERT(out->face_u.at[0] != NULL && grid->face_open.at[0] != NULL);
    for (int a = 0; a < AXES; ++a) {
        side_job job = {domain, &out->map, grid, out->face_u.at[a], a};
        tile_for(&out->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, hold_tiles, &job);
    }
}

static void bound_tiles(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    const treacle_separation* sides = job->domain->separation[job->axis];
    for (int64_t t = begin; t < end; ++t) {
        float* u = job->u + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(job->map, (tile_ix)t, i, at);
            bool is_low = at[job->axis] == 0 && sides[0].is_on;
            bool is_high = at[job->axis] == job->domain->cells[job->axis] && sides[1].is_on;
            u[i] = (is_low && u[i] < 0.0f) || (is_high && u[i] > 0.0f) ? 0.0f : u[i];
        }
    }
}

void side_faces_bound(const grid_domain* domain, liquid_state* out) {
    TREACLE_ASSERT(out->cell_contact == NULL || out->face_u.at[0] != NULL);
    for (int a = 0; a < AXES && out->cell_contact != NULL; ++a) {
        side_job job = {.domain = domain, .map = &out->map, .u = out->face_u.at[a], .axis = a};
        tile_for(&out->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, bound_tiles, &job);
    }
}
