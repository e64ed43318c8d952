#include "solver_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

size_t solver_case_length(const tile_map* map) {
    return ((size_t)map->count + 1) * TILE_CELLS;
}

treacle_status solver_case_domain(treacle_context* ctx, int n, grid_domain* out) {
    treacle_domain_def def = {.size = {1.0, 1.0, 1.0}, .cell = 1.0 / n};
    return grid_domain_init(ctx, &def, out);
}

typedef struct cell3 {
    int at[AXES];
} cell3;

static cell3 cell_of(const tile_map* map, int64_t t, int q) {
    const int32_t* tile = map->coord[t].at;
    return (cell3){{8 * tile[0] + (q & 7), 8 * tile[1] + (q >> 3 & 7), 8 * tile[2] + (q >> 6)}};
}

// The point at cell + offset, offset in halves of a cell.
static point3 point_at(int n, cell3 cell, int half_x, int half_y, int half_z) {
    const int half[AXES] = {half_x, half_y, half_z};
    point3 p;
    for (int a = 0; a < AXES; ++a) {
        p.at[a] = (cell.at[a] + 0.5 * half[a]) / n;
    }
    return p;
}

static point3 cell_centre(int n, cell3 cell) {
    return point_at(n, cell, 1, 1, 1);
}

static point3 face_centre(int n, cell3 cell, int axis) {
    return point_at(n, cell, axis != 0, axis != 1, axis != 2);
}

static cell3 step(cell3 cell, int axis, int by) {
    cell.at[axis] += by;
    return cell;
}

static bool is_inside(int n, cell3 cell) {
    bool is_in = true;
    for (int a = 0; a < AXES; ++a) {
        is_in = is_in && cell.at[a] >= 0 && cell.at[a] < n;
    }
    return is_in;
}

static size_t slot_of(const tile_map* map, cell3 cell) {
    tile_coord at = {{cell.at[0] >> 3, cell.at[1] >> 3, cell.at[2] >> 3}};
    tile_ix t = tile_map_find(map, at);
    return (size_t)t * TILE_CELLS +
           (size_t)((cell.at[2] & 7) * 64 + (cell.at[1] & 7) * 8 + (cell.at[0] & 7));
}

// ---- Pressure -------------------------------------------------------------------------------

static double face_opening(const solver_scene* scene, cell3 cell, int axis) {
    int at = cell.at[axis];
    bool is_open_top = scene->shape == SOLVER_SHAPE_TANK && axis == 1 && at == scene->n;
    return (at > 0 && at < scene->n) || is_open_top
               ? solver_scene_opening(scene, face_centre(scene->n, cell, axis), axis)
               : 0.0;
}

static bool is_unknown(const solver_scene* scene, cell3 cell) {
    double sum = 0.0;
    if (!is_inside(scene->n, cell) ||
        solver_scene_liquid(scene, cell_centre(scene->n, cell)) >= 0.0) {
        return false;
    }
    for (int a = 0; a < AXES && sum == 0.0; ++a) {
        sum += face_opening(scene, cell, a) + face_opening(scene, step(cell, a, 1), a);
    }
    return sum > 0.0;
}

typedef struct tile_search {
    const solver_scene* scene;
    int tiles;
    uint8_t* is_wanted;
} tile_search;

static void search_tiles(void* data, int64_t begin, int64_t end) {
    const tile_search* search = data;
    int tiles = search->tiles;
    for (int64_t t = begin; t < end; ++t) {
        int tile[AXES] = {(int)(t % tiles), (int)(t / tiles % tiles), (int)(t / tiles / tiles)};
        for (int q = 0; q < TILE_CELLS && search->is_wanted[t] == 0; ++q) {
            cell3 cell = {
                {8 * tile[0] + (q & 7), 8 * tile[1] + (q >> 3 & 7), 8 * tile[2] + (q >> 6)}};
            search->is_wanted[t] = is_unknown(search->scene, cell) ? 1 : 0;
        }
    }
}

treacle_status solver_case_map(treacle_context* ctx, const grid_domain* domain,
                               const uint8_t* is_wanted, tile_map* out) {
    int tiles = domain->tiles[0];
    int64_t all = (int64_t)tiles * tiles * tiles, count = 0;
    tile_coord* coords = malloc((size_t)all * sizeof(*coords));
    if (coords == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    for (int64_t t = 0; t < all; ++t) {
        if (is_wanted[t] != 0) {
            coords[count++] = (tile_coord){
                {(int32_t)(t % tiles), (int32_t)(t / tiles % tiles), (int32_t)(t / tiles / tiles)}};
        }
    }
    treacle_status status = tile_map_create(ctx, domain, count, coords, out);
    free(coords);
    return status;
}

static treacle_status find_tiles(treacle_context* ctx, treacle_context* helper,
                                 const solver_scene* scene, const grid_domain* domain,
                                 tile_map* out) {
    int tiles = (scene->n + TILE_SIZE - 1) / TILE_SIZE;
    int64_t all = (int64_t)tiles * tiles * tiles;
    uint8_t* is_wanted = calloc((size_t)all, 1);
    if (is_wanted == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    parallel_for(helper, all, 4, search_tiles, &(tile_search){scene, tiles, is_wanted});
    treacle_status status = solver_case_map(ctx, domain, is_wanted, out);
    free(is_wanted);
    return status;
}

// What the air beyond a face adds to the diagonal: the link to the surface at distance theta.
static double ghost_link(const solver_scene* scene, cell3 cell, cell3 other, double opening) {
    const double smallest_theta = 0.01;
    double here = solver_scene_liquid(scene, cell_centre(scene->n, cell));
    double there = solver_scene_liquid(scene, cell_centre(scene->n, other));
    double theta = here / (here - there);
    return there < 0.0 ? 0.0 : opening / (theta < smallest_theta ? smallest_theta : theta);
}

static void fill_cell(pressure_case* c, cell3 cell, size_t slot) {
    const solver_scene* scene = &c->scene;
    double extra = 0.0, rhs = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int side = 0; side < 2; ++side) {
            cell3 face = step(cell, a, side), other = step(cell, a, 2 * side - 1);
            double opening = face_opening(scene, face, a);
            bool is_linked = opening > 0.0 && is_unknown(scene, other);
            extra += opening > 0.0 && !is_linked ? ghost_link(scene, cell, other, opening) : 0.0;
            rhs -= (side == 0 ? -1.0 : 1.0) * opening *
                   solver_scene_velocity(face_centre(scene->n, face, a), a);
            if (side == 0) {
                c->link[a][slot] = is_linked ? (float)opening : 0.0f;
            }
        }
    }
    c->extra[slot] = (float)extra;
    c->rhs[slot] = rhs;
}

static void fill_tiles(void* data, int64_t begin, int64_t end) {
    pressure_case* c = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            cell3 cell = cell_of(&c->map, t, q);
            if (is_unknown(&c->scene, cell)) {
                fill_cell(c, cell, (size_t)t * TILE_CELLS + (size_t)q);
            }
        }
    }
}

static bool has_row(const pressure_case* c, cell3 cell) {
    size_t slot = slot_of(&c->map, cell);
    double sum = slot < (size_t)c->map.count * TILE_CELLS ? (double)c->extra[slot] : 0.0;
    for (int a = 0; a < AXES && slot < (size_t)c->map.count * TILE_CELLS; ++a) {
        size_t next = slot_of(&c->map, step(cell, a, 1));
        sum += (double)(c->link[a][slot] + c->link[a][next]);
    }
    return sum > 0.0;
}

treacle_status pressure_case_create(treacle_context* ctx, treacle_context* helper,
                                    solver_scene scene, pressure_case* out) {
    *out = (pressure_case){.scene = scene};
    TREACLE_TRY(solver_case_domain(ctx, scene.n, &out->domain));
    TREACLE_TRY(find_tiles(ctx, helper, &scene, &out->domain, &out->map));
    size_t length = solver_case_length(&out->map);
    for (int a = 0; a < AXES; ++a) {
        out->link[a] = calloc(length, sizeof(float));
    }
    out->extra = calloc(length, sizeof(float));
    out->rhs = calloc(length, sizeof(double));
    if (out->link[0] == NULL || out->link[1] == NULL || out->link[2] == NULL ||
        out->extra == NULL || out->rhs == NULL) {
        pressure_case_destroy(out);
        return TREACLE_ERR_MEMORY;
    }
    parallel_for(helper, out->map.count, 4, fill_tiles, out);
    return TREACLE_OK;
}

void pressure_case_destroy(pressure_case* c) {
    for (int a = 0; a < AXES; ++a) {
        free(c->link[a]);
    }
    free(c->extra);
    free(c->rhs);
    tile_map_destroy(&c->map);
}

// Adds the row of a cell: its lower neighbours from z down to x, itself, its upper ones.
static void add_row(const pressure_case* c, const int32_t* number, csr_matrix* m, cell3 cell,
                    int64_t* entries) {
    int n = c->scene.n;
    int64_t stride[AXES] = {1, n, (int64_t)n * n}, at = *entries, middle = 0;
    int64_t here = cell.at[0] + n * (cell.at[1] + (int64_t)n * cell.at[2]);
    size_t slot = slot_of(&c->map, cell);
    double diagonal = (double)c->extra[slot];
    for (int k = 0; k < 2 * AXES; ++k) {
        int a = k < AXES ? AXES - 1 - k : k - AXES, side = k < AXES ? 0 : 1;
        middle = k == AXES ? at++ : middle;
        size_t face = side == 0 ? slot : slot_of(&c->map, step(cell, a, 1));
        double link = (double)c->link[a][face];
        if (link > 0.0) {
            m->column[at] = number[here + (side == 0 ? -stride[a] : stride[a])];
            m->value[at++] = -link;
            diagonal += link;
        }
    }
    int32_t row = number[here];
    m->column[middle] = row;
    m->value[middle] = diagonal;
    m->slot[row] = slot;
    m->first[row + 1] = *entries = at;
}

#define FOR_EACH_CELL(n, cell)                                                                     \
    for (cell3 cell = {{0, 0, 0}}; cell.at[2] < (n); ++cell.at[2])                                 \
        for (cell.at[1] = 0; cell.at[1] < (n); ++cell.at[1])                                       \
            for (cell.at[0] = 0; cell.at[0] < (n); ++cell.at[0])

bool pressure_case_assemble(const pressure_case* c, csr_matrix* out) {
    int n = c->scene.n;
    int32_t rows = 0;
    int64_t at = 0, entries = 0;
    int32_t* number = malloc((size_t)n * (size_t)n * (size_t)n * sizeof(*number));
    if (number == NULL) {
        return false;
    }
    FOR_EACH_CELL(n, cell) {
        number[at++] = has_row(c, cell) ? rows++ : -1;
    }
    bool is_made = csr_create(out, rows, 7 * (int64_t)rows);
    at = 0;
    FOR_EACH_CELL(n, cell) {
        if (is_made && number[at] >= 0) {
            add_row(c, number, out, cell, &entries);
        }
        ++at;
    }
    free(number);
    return is_made;
}
