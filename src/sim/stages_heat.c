#include <string.h>

#include "base/alloc.h"
#include "phys/conduction.h"
#include "treacle/unstable/stages.h"

// The box on tiles; capacity 1 a cell.
typedef struct box_work {
    grid_domain domain;
    tile_map map;
    size_t values;
    float* fields; // capacity, conductance, exchange, outside
    double *energy, *exchanged;
} box_work;
enum { FIELDS = 1 + 3 * AXES };

static float* field_at(const box_work* w, int i) {
    return w->fields + (size_t)i * w->values;
}

static treacle_status make_map(treacle_context* ctx, const treacle_stages_box* box, box_work* w) {
    treacle_domain_def def = {.cell = box->cell};
    for (int a = 0; a < AXES; ++a) {
        if (box->cells[a] != 1 && (box->cells[a] < TILE_SIZE || box->cells[a] % TILE_SIZE != 0)) {
            return check_fail(ctx, TREACLE_ERR_USAGE,
                              "the box is %d cells wide: expected a multiple of %d, or 1",
                              box->cells[a], TILE_SIZE);
        }
        def.size[a] = box->cells[a] == 1 ? 0.0 : box->cells[a] * box->cell;
    }
    TREACLE_TRY(grid_domain_init(ctx, &def, &w->domain));
    int count = w->domain.tiles[0] * w->domain.tiles[1] * w->domain.tiles[2];
    void* coords = NULL;
    TREACLE_TRY(alloc_array(ctx, (size_t)count, sizeof(tile_coord), "tiles of a box", &coords));
    for (int i = 0; i < count; ++i) {
        int x = w->domain.tiles[0], y = w->domain.tiles[1];
        ((tile_coord*)coords)[i] = (tile_coord){{i % x, i / x % y, i / x / y}};
    }
    treacle_status status = tile_map_create(ctx, &w->domain, count, coords, &w->map);
    alloc_free(ctx, coords, (size_t)count * sizeof(tile_coord));
    return status;
}

static void fill_cell(const treacle_stages_box* box, const box_work* w, size_t i,
                      const int at[AXES]) {
    double link = box->diffusivity / (box->cell * box->cell);
    field_at(w, 0)[i] = 1.0f;
    for (int a = 0; a < AXES; ++a) {
        bool is_active = w->domain.is_active[a], is_low = at[a] == 0;
        bool is_high = at[a] == box->cells[a] - 1;
        field_at(w, 1 + a)[i] = is_active && !is_low ? (float)link : 0.0f;
        field_at(w, 1 + AXES + a)[i] = is_active ? (float)(2.0 * link * (is_low + is_high)) : 0.0f;
    }
}

// Carries temperatures to the tiles, or back.
static void copy_box(const treacle_stages_box* box, const box_work* w, bool is_back) {
    for (size_t i = 0; i < w->values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        if (at[0] >= box->cells[0] || at[1] >= box->cells[1] || at[2] >= box->cells[2]) {
            continue;
        }
        double* own = &box->temperature[((size_t)at[2] * (size_t)box->cells[1] + (size_t)at[1]) *
                                            (size_t)box->cells[0] +
                                        (size_t)at[0]];
        if (is_back) {
            *own = w->energy[i];
        } else {
            w->energy[i] = *own;
            fill_cell(box, w, i, at);
        }
    }
}

static treacle_status step_box(treacle_context* ctx, const treacle_stages_box* box, box_work* w) {
    w->values = ((size_t)w->map.count + 1) * TILE_CELLS;
    TREACLE_TRY(alloc_zero(ctx, FIELDS * w->values, sizeof(float), "a box", (void**)&w->fields));
    TREACLE_TRY(alloc_zero(ctx, 2 * w->values, sizeof(double), "a box", (void**)&w->energy));
    w->exchanged = w->energy + w->values;
    copy_box(box, w, false);
    conduction_params params = {.domain = &w->domain,
                                .map = &w->map,
                                .capacity = field_at(w, 0),
                                .method = box->method,
                                .dt = box->dt,
                                .solve = {.relative = 1e-12, .max_iterations = 200}};
    for (int a = 0; a < AXES; ++a) {
        params.conductance[a] = field_at(w, 1 + a);
        params.exchange[a] = field_at(w, 1 + AXES + a);
        params.outside[a] = field_at(w, 1 + 2 * AXES + a);
    }
    for (int i = 0; i < box->steps; ++i) {
        solve_stats stats;
        TREACLE_TRY(conduction_step(&params, w->energy, w->exchanged, &stats));
    }
    copy_box(box, w, true);
    return TREACLE_OK;
}

treacle_status treacle_stages_conduct(treacle_context* ctx, const treacle_stages_box* box) {
    box_work w = {0};
    TREACLE_TRY(make_map(ctx, box, &w));
    treacle_status status = step_box(ctx, box, &w);
    alloc_free(ctx, w.fields, FIELDS * w.values * sizeof(float));
    alloc_free(ctx, w.energy, 2 * w.values * sizeof(double));
    tile_map_destroy(&w.map);
    return status;
}
