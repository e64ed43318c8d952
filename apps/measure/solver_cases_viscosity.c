#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "solver_cases.h"

// While a case is made its fields cover the whole cube of (n + 1)^3 cells, x fastest.
typedef struct cube {
    const viscosity_case* c;
    int n;
    int64_t stride[AXES];
    float *cell, *edge[AXES], *mass[AXES];
    uint8_t* fixed;
    uint8_t* is_unknown; // bit a: face a
} cube;

typedef struct cell3 {
    int at[AXES];
} cell3;

static int64_t index_of(const cube* q, cell3 cell) {
    return cell.at[0] + q->stride[1] * cell.at[1] + q->stride[2] * cell.at[2];
}

// The centre of a box at cell + half a cell along the axes of the set.
static point3 point_at(const cube* q, cell3 cell, int axes) {
    point3 p;
    for (int a = 0; a < AXES; ++a) {
        p.at[a] = (cell.at[a] + ((axes >> a & 1) != 0 ? 0.5 : 0.0)) / q->n;
    }
    return p;
}

static float stress_at(const cube* q, cell3 cell, int axes) {
    point3 p = point_at(q, cell, axes);
    solver_thickness thick = {q->c->r, q->c->has_contrast};
    double viscosity = solver_scene_viscosity(&q->c->scene, p, thick);
    return (float)(q->c->r * viscosity * solver_scene_fraction(&q->c->scene, p));
}

static bool is_inside(const cube* q, cell3 cell) {
    return cell.at[0] < q->n && cell.at[1] < q->n && cell.at[2] < q->n;
}

static double opening_at(const cube* q, point3 face, int a) {
    const double smallest = 0.1;
    double opening = solver_scene_opening(&q->c->scene, face, a);
    return opening > smallest ? opening : smallest;
}

static float mass_at(const cube* q, point3 face, int a) {
    const solver_scene* scene = &q->c->scene;
    return (float)(q->c->is_unified ? opening_at(q, face, a) * solver_scene_tent(scene, face, a)
                                    : solver_scene_fraction(scene, face));
}

static void fill_cell(const cube* q, cell3 cell) {
    int64_t i = index_of(q, cell);
    bool is_in = is_inside(q, cell);
    q->cell[i] = is_in ? stress_at(q, cell, 7) : 0.0f;
    for (int a = 0; a < AXES; ++a) {
        point3 face = point_at(q, cell, 7 & ~(1 << a));
        bool is_fixed = !is_in || solver_scene_solid(&q->c->scene, face) <= 0.0;
        q->edge[a][i] = cell.at[a] < q->n ? stress_at(q, cell, 1 << a) : 0.0f;
        q->mass[a][i] = is_fixed ? 0.0f : mass_at(q, face, a);
        q->fixed[i] |= (uint8_t)((is_fixed ? 1 : 0) << a);
    }
}

static void mark_unknowns(const cube* q, cell3 cell) {
    int64_t i = index_of(q, cell);
    for (int a = 0; a < AXES && is_inside(q, cell); ++a) {
        if ((q->fixed[i] >> a & 1) != 0 || cell.at[a] == 0) {
            continue;
        }
        float sum = q->mass[a][i] + q->cell[i] + q->cell[i - q->stride[a]];
        for (int n = 1; n < AXES; ++n) {
            int b = (a + n) % AXES;
            sum += q->edge[3 - a - b][i] + q->edge[3 - a - b][i + q->stride[b]];
        }
        q->is_unknown[i] |= (uint8_t)((sum > 0.0f ? 1 : 0) << a);
    }
}

static bool has_unknown(const cube* q, cell3 cell, int axis, int a, int by) {
    cell3 at = cell;
    at.at[axis] += by;
    return at.at[axis] >= 0 && at.at[axis] <= q->n &&
           (q->is_unknown[index_of(q, at)] >> a & 1) != 0;
}

// Weights that no unknown feels are dropped.
static void drop_idle(const cube* q, cell3 cell) {
    int64_t i = index_of(q, cell);
    bool is_used = false;
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        is_used = is_used || has_unknown(q, cell, a, a, 0) || has_unknown(q, cell, a, a, 1);
        bool is_edge_used = has_unknown(q, cell, c, b, 0) || has_unknown(q, cell, c, b, -1) ||
                            has_unknown(q, cell, b, c, 0) || has_unknown(q, cell, b, c, -1);
        q->edge[a][i] = is_edge_used ? q->edge[a][i] : 0.0f;
    }
    q->cell[i] = is_used ? q->cell[i] : 0.0f;
}

typedef struct layer_job {
    const cube* q;
    void (*visit)(const cube* q, cell3 cell);
} layer_job;

static void visit_layers(void* data, int64_t begin, int64_t end) {
    const layer_job* job = data;
    for (int64_t k = begin; k < end; ++k) {
        for (int j = 0; j <= job->q->n; ++j) {
            for (int i = 0; i <= job->q->n; ++i) {
                job->visit(job->q, (cell3){{i, j, (int)k}});
            }
        }
    }
}

static bool cube_allocate(cube* q) {
    size_t cells = (size_t)q->stride[2] * (size_t)(q->n + 1);
    float** fields[7] = {&q->cell,    &q->edge[0], &q->edge[1], &q->edge[2],
                         &q->mass[0], &q->mass[1], &q->mass[2]};
    bool is_complete = true;
    for (int i = 0; i < 7; ++i) {
        *fields[i] = calloc(cells, sizeof(float));
        is_complete = is_complete && *fields[i] != NULL;
    }
    q->fixed = calloc(cells, 1);
    q->is_unknown = calloc(cells, 1);
    return is_complete && q->fixed != NULL && q->is_unknown != NULL;
}

static void cube_destroy(cube* q) {
    free(q->cell);
    for (int a = 0; a < AXES; ++a) {
        free(q->edge[a]);
        free(q->mass[a]);
    }
    free(q->fixed);
    free(q->is_unknown);
}

// ---- From the cube to tiles -----------------------------------------------------------------

static bool is_cell_used(const cube* q, int64_t i) {
    return q->is_unknown[i] != 0 || q->cell[i] > 0.0f || q->edge[0][i] > 0.0f ||
           q->edge[1][i] > 0.0f || q->edge[2][i] > 0.0f;
}

static treacle_status make_map(treacle_context* ctx, const cube* q, viscosity_case* c) {
    int tiles = c->domain.tiles[0];
    uint8_t* is_wanted = calloc((size_t)tiles * (size_t)tiles * (size_t)tiles, 1);
    if (is_wanted == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    for (int k = 0; k < q->n; ++k) {
        for (int j = 0; j < q->n; ++j) {
            for (int i = 0; i < q->n; ++i) {
                if (is_cell_used(q, index_of(q, (cell3){{i, j, k}}))) {
                    is_wanted[(i >> 3) + tiles * ((j >> 3) + tiles * (k >> 3))] = 1;
                }
            }
        }
    }
    treacle_status status = solver_case_map(ctx, &c->domain, is_wanted, &c->map);
    free(is_wanted);
    return status;
}

static void copy_cell(const cube* q, viscosity_case* c, tile_ix t, int n) {
    const int32_t* tile = c->map.coord[t].at;
    cell3 cell = {{8 * tile[0] + (n & 7), 8 * tile[1] + (n >> 3 & 7), 8 * tile[2] + (n >> 6)}};
    size_t to = (size_t)t * TILE_CELLS + (size_t)n;
    if (cell.at[0] > q->n || cell.at[1] > q->n || cell.at[2] > q->n) {
        c->fixed[to] = 7;
        return;
    }
    int64_t i = index_of(q, cell);
    c->cell[to] = q->cell[i];
    c->fixed[to] = q->fixed[i];
    c->volume[to] = (float)solver_scene_fraction(&c->scene, point_at(q, cell, 7));
    c->volume[to] = q->cell[i] > 0.0f ? c->volume[to] : 0.0f;
    for (int a = 0; a < AXES; ++a) {
        c->edge[a][to] = q->edge[a][i];
        c->mass[a][to] = q->mass[a][i];
        point3 face = point_at(q, cell, 7 & ~(1 << a));
        c->opening[a][to] = c->is_unified ? (float)opening_at(q, face, a) : 0.0f;
        double velocity = solver_scene_velocity(face, a);
        size_t slot = (size_t)t * AXES * TILE_CELLS + (size_t)a * TILE_CELLS + (size_t)n;
        bool is_unknown = (q->is_unknown[i] >> a & 1) != 0;
        c->rhs[slot] = is_unknown ? (double)q->mass[a][i] * velocity : 0.0;
    }
}

static bool allocate(viscosity_case* c) {
    size_t length = solver_case_length(&c->map);
    c->cell = calloc(length, sizeof(float));
    c->volume = calloc(length, sizeof(float));
    c->fixed = calloc(length, 1);
    c->rhs = calloc(AXES * length, sizeof(double));
    bool is_complete = c->cell != NULL && c->volume != NULL && c->fixed != NULL && c->rhs != NULL;
    for (int a = 0; a < AXES; ++a) {
        c->edge[a] = calloc(length, sizeof(float));
        c->mass[a] = calloc(length, sizeof(float));
        c->opening[a] = calloc(length, sizeof(float));
        is_complete =
            is_complete && c->edge[a] != NULL && c->mass[a] != NULL && c->opening[a] != NULL;
    }
    return is_complete;
}

static treacle_status fill_tiles(treacle_context* ctx, const cube* q, viscosity_case* c) {
    TREACLE_TRY(make_map(ctx, q, c));
    if (!allocate(c)) {
        return TREACLE_ERR_MEMORY;
    }
    for (tile_ix t = 0; t < c->map.count; ++t) {
        for (int n = 0; n < TILE_CELLS; ++n) {
            copy_cell(q, c, t, n);
        }
    }
    return TREACLE_OK;
}

static void run_passes(treacle_context* helper, const cube* q) {
    parallel_for(helper, q->n + 1, 1, visit_layers, &(layer_job){q, fill_cell});
    parallel_for(helper, q->n + 1, 1, visit_layers, &(layer_job){q, mark_unknowns});
    parallel_for(helper, q->n + 1, 1, visit_layers, &(layer_job){q, drop_idle});
}

treacle_status viscosity_case_create(treacle_context* ctx, treacle_context* helper,
                                     viscosity_case* c) {
    int side = c->scene.n + 1;
    cube q = {.c = c, .n = c->scene.n, .stride = {1, side, (int64_t)side * side}};
    TREACLE_TRY(solver_case_domain(ctx, c->scene.n, &c->domain));
    treacle_status status = TREACLE_ERR_MEMORY;
    if (cube_allocate(&q)) {
        run_passes(helper, &q);
        status = fill_tiles(ctx, &q, c);
    }
    cube_destroy(&q);
    if (status != TREACLE_OK) {
        viscosity_case_destroy(c);
    }
    return status;
}

void viscosity_case_destroy(viscosity_case* c) {
    free(c->cell);
    free(c->volume);
    free(c->fixed);
    free(c->rhs);
    for (int a = 0; a < AXES; ++a) {
        free(c->edge[a]);
        free(c->mass[a]);
        free(c->opening[a]);
    }
    tile_map_destroy(&c->map);
}

// ---- Matrix ---------------------------------------------------------------------------------

typedef struct assembly {
    const viscosity_case* c;
    int32_t* number; // [axis][cell], -1 where there is no unknown
    csr_matrix* m;
    int64_t entries;
} assembly;

static size_t slot_of(const tile_map* map, cell3 cell) {
    tile_coord at = {{cell.at[0] >> 3, cell.at[1] >> 3, cell.at[2] >> 3}};
    return (size_t)tile_map_find(map, at) * TILE_CELLS +
           (size_t)((cell.at[2] & 7) * 64 + (cell.at[1] & 7) * 8 + (cell.at[0] & 7));
}

static cell3 moved(cell3 cell, int axis, int by) {
    cell.at[axis] += by;
    return cell;
}

static float weight_at(const viscosity_case* c, const float* field, cell3 cell) {
    size_t slot = slot_of(&c->map, cell);
    return slot < (size_t)c->map.count * TILE_CELLS ? field[slot] : 0.0f;
}

static int32_t number_at(const assembly* s, cell3 cell, int a) {
    int64_t n = s->c->scene.n, at = 0;
    for (int b = AXES - 1; b >= 0; --b) {
        if (cell.at[b] < 0 || cell.at[b] >= n) {
            return -1;
        }
        at = at * n + cell.at[b];
    }
    return s->number[a * n * n * n + at];
}

static double row_diagonal(const viscosity_case* c, cell3 cell, int a) {
    double sum = (double)weight_at(c, c->mass[a], cell) +
                 2.0 * (double)weight_at(c, c->cell, cell) +
                 2.0 * (double)weight_at(c, c->cell, moved(cell, a, -1));
    for (int n = 1; n < AXES; ++n) {
        int b = (a + n) % AXES;
        const float* edge = c->edge[3 - a - b];
        sum += (double)weight_at(c, edge, cell) + (double)weight_at(c, edge, moved(cell, b, 1));
    }
    return sum;
}

static bool is_unknown(const viscosity_case* c, cell3 cell, int a) {
    size_t slot = slot_of(&c->map, cell);
    return slot < (size_t)c->map.count * TILE_CELLS && (c->fixed[slot] >> a & 1) == 0 &&
           cell.at[a] > 0 && row_diagonal(c, cell, a) > 0.0;
}

// Adds an entry in its place among those of the row that begins at `begin`.
static void add_entry(assembly* s, int64_t begin, cell3 cell, int a, double value) {
    int32_t column = number_at(s, cell, a);
    if (column < 0 || value == 0.0) {
        return;
    }
    int64_t at = s->entries++;
    for (; at > begin && s->m->column[at - 1] > column; --at) {
        s->m->column[at] = s->m->column[at - 1];
        s->m->value[at] = s->m->value[at - 1];
    }
    s->m->column[at] = column;
    s->m->value[at] = value;
}

static void add_row(assembly* s, cell3 cell, int a) {
    const viscosity_case* c = s->c;
    int32_t row = number_at(s, cell, a);
    int64_t begin = s->entries;
    cell3 below = moved(cell, a, -1);
    add_entry(s, begin, cell, a, row_diagonal(c, cell, a));
    add_entry(s, begin, moved(cell, a, 1), a, -2.0 * (double)weight_at(c, c->cell, cell));
    add_entry(s, begin, below, a, -2.0 * (double)weight_at(c, c->cell, below));
    for (int n = 1; n < AXES; ++n) {
        int b = (a + n) % AXES;
        cell3 next = moved(cell, b, 1);
        double low = (double)weight_at(c, c->edge[3 - a - b], cell);
        double high = (double)weight_at(c, c->edge[3 - a - b], next);
        add_entry(s, begin, moved(cell, b, -1), a, -low);
        add_entry(s, begin, cell, b, low);
        add_entry(s, begin, below, b, -low);
        add_entry(s, begin, next, a, -high);
        add_entry(s, begin, next, b, -high);
        add_entry(s, begin, moved(next, a, -1), b, high);
    }
    size_t slot = slot_of(&c->map, cell);
    s->m->slot[row] =
        slot / TILE_CELLS * AXES * TILE_CELLS + (size_t)a * TILE_CELLS + slot % TILE_CELLS;
    s->m->first[row + 1] = s->entries;
}

#define FOR_EACH_FACE(n, a, cell)                                                                  \
    for (int a = 0; a < AXES; ++a)                                                                 \
        for (cell3 cell = {{0, 0, 0}}; cell.at[2] < (n); ++cell.at[2])                             \
            for (cell.at[1] = 0; cell.at[1] < (n); ++cell.at[1])                                   \
                for (cell.at[0] = 0; cell.at[0] < (n); ++cell.at[0])

bool viscosity_case_assemble(const viscosity_case* c, csr_matrix* out) {
    int n = c->scene.n;
    int32_t rows = 0;
    int64_t at = 0;
    assembly s = {.c = c, .m = out};
    s.number = malloc(AXES * (size_t)n * (size_t)n * (size_t)n * sizeof(*s.number));
    if (s.number == NULL) {
        return false;
    }
    FOR_EACH_FACE(n, a, cell) {
        s.number[at++] = is_unknown(c, cell, a) ? rows++ : -1;
    }
    bool is_made = csr_create(out, rows, 15 * (int64_t)rows);
    FOR_EACH_FACE(n, a, cell) {
        if (is_made && number_at(&s, cell, a) >= 0) {
            add_row(&s, cell, a);
        }
    }
    free(s.number);
    return is_made;
}
