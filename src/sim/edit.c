#include "treacle/edit.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_ranks.h"
#include "sim/sim_internal.h"

enum { EDIT_SOURCE = 0xfff0 }; // of ids; the sources of a scene are far fewer

typedef struct edit_column {
    treacle_array array;
    size_t item_bytes;
    int64_t capacity; // items
} edit_column;

struct treacle_edit {
    treacle_sim* sim;
    treacle_context* ctx;
    treacle_frame head;
    int column_count;
    edit_column columns[SIM_ARRAYS_MAX];
    uint64_t births; // ids given out by this edit
};

static edit_column* edit_find(treacle_edit* e, const char* name) {
    for (int c = 0; c < e->column_count; ++c) {
        if (strcmp(e->columns[c].array.name, name) == 0) {
            return &e->columns[c];
        }
    }
    return NULL;
}

treacle_array* treacle_edit_find(treacle_edit* e, const char* name) {
    edit_column* found = edit_find(e, name);
    return found == NULL ? NULL : &found->array;
}

int64_t treacle_edit_particle_count(const treacle_edit* e) {
    return edit_find((treacle_edit*)e, "id")->array.count; // it only looks
}

void treacle_edit_destroy(treacle_edit* e) {
    if (e == NULL) {
        return;
    }
    for (int c = 0; c < e->column_count; ++c) {
        edit_column* column = &e->columns[c];
        alloc_free(e->ctx, (void*)column->array.data,
                   (size_t)column->capacity * column->item_bytes);
    }
    alloc_free(e->ctx, e, sizeof(*e));
}

static treacle_status copy_column(treacle_edit* e, const treacle_array* from) {
    edit_column* column = &e->columns[e->column_count];
    void* block = NULL;
    size_t bytes = treacle_type_size(from->type) * (size_t)from->components;
    TREACLE_TRY(alloc_array(e->ctx, (size_t)from->count, bytes, "an edit", &block));
    if (from->count > 0) {
        memcpy(block, from->data, (size_t)from->count * bytes);
    }
    *column = (edit_column){*from, bytes, from->count};
    column->array.data = block;
    e->column_count += 1;
    return TREACLE_OK;
}

// Ids go on after those of earlier edits.
static uint64_t count_births(const treacle_edit* e) {
    const treacle_array* id = &edit_find((treacle_edit*)e, "id")->array;
    uint64_t most = 0;
    for (int64_t i = 0; i < id->count; ++i) {
        uint64_t one = ((const uint64_t*)id->data)[i];
        uint64_t birth = one & (((uint64_t)1 << 48) - 1);
        most = one >> 48 == EDIT_SOURCE && birth + 1 > most ? birth + 1 : most;
    }
    return most;
}

treacle_status treacle_edit_begin(treacle_sim* sim, treacle_edit** out) {
    void* block = NULL;
    *out = NULL;
    treacle_frame frame;
    TREACLE_TRY(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame));
    TREACLE_TRY(alloc_zero(sim->ctx, 1, sizeof(treacle_edit), "an edit", &block));
    treacle_edit* e = block;
    e->sim = sim;
    e->ctx = sim->ctx;
    e->head = frame;
    for (int c = 0; c < frame.array_count; ++c) {
        treacle_status status = copy_column(e, &frame.arrays[c]);
        if (status != TREACLE_OK) {
            treacle_edit_destroy(e);
            return status;
        }
    }
    e->births = count_births(e);
    *out = e;
    return TREACLE_OK;
}

static treacle_status make_room(treacle_edit* e, edit_column* column, int64_t more) {
    int64_t needed = column->array.count + more;
    if (needed <= column->capacity) {
        return TREACLE_OK;
    }
    void* block = (void*)column->array.data;
    int64_t larger = needed + needed / 2;
    TREACLE_TRY(alloc_resize(e->ctx, &block, (size_t)column->capacity, (size_t)larger,
                             column->item_bytes, "an edit"));
    column->array.data = block;
    column->capacity = larger;
    return TREACLE_OK;
}

static bool is_particle_column(const edit_column* column) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (strcmp(column->array.name, particle_columns[c].name) == 0) {
            return true;
        }
    }
    return false;
}

// The first row of the material, or -1.
static int64_t find_like(treacle_edit* e, int material) {
    const treacle_array* column = &edit_find(e, "material")->array;
    const uint8_t* rows = column->data;
    for (int64_t i = 0; i < column->count; ++i) {
        if (rows[i] == material) {
            return i;
        }
    }
    return -1;
}

static treacle_status check_particle(const treacle_edit* e, const treacle_particle_def* def) {
    const grid_domain* domain = &e->sim->domain;
    bool is_inside = def->volume > 0.0 && isfinite(def->volume) && def->material >= 0 &&
                     def->material < e->sim->material_count;
    for (int a = 0; a < AXES; ++a) {
        double cells = (def->position[a] - domain->origin[a]) / domain->h;
        is_inside = is_inside && cells >= 0.0 && cells < (double)domain->cells[a] &&
                    isfinite(def->velocity[a]);
    }
    return is_inside ? TREACLE_OK
                     : check_fail(e->ctx, TREACLE_ERR_USAGE,
                                  "a particle of %g m^3 of material %d at (%g, %g, %g) m: expected "
                                  "it inside the domain, with a volume > 0, of a known material",
                                  def->volume, def->material, def->position[0], def->position[1],
                                  def->position[2]);
}

// Room is there. A new particle opens a group if it is not in the tile of the last.
static void add_place(treacle_edit* e, const treacle_particle_def* def, float local[3]) {
    const grid_domain* domain = &e->sim->domain;
    edit_column *tile = edit_find(e, "tile_coord"), *first = edit_find(e, "tile_first");
    int32_t at[AXES];
    for (int a = 0; a < AXES; ++a) {
        double cells = (def->position[a] - domain->origin[a]) / domain->h;
        at[a] = (int32_t)(cells / TILE_SIZE);
        local[a] = domain->is_active[a] ? (float)(cells - TILE_SIZE * at[a]) : 0.5f;
    }
    int32_t* tiles = (int32_t*)tile->array.data;
    int64_t* firsts = (int64_t*)first->array.data;
    int64_t groups = tile->array.count;
    bool is_last = groups > 0 && memcmp(tiles + AXES * (groups - 1), at, sizeof(at)) == 0;
    if (!is_last) {
        memcpy(tiles + AXES * groups, at, sizeof(at));
        tile->array.count += 1;
        first->array.count += 1;
        groups += 1;
        firsts[groups] = firsts[groups - 1];
    }
    firsts[groups] += 1;
}

static void add_row(treacle_edit* e, const treacle_particle_def* def) {
    int64_t like = find_like(e, def->material);
    float local[3];
    add_place(e, def, local);
    for (int c = 0; c < e->column_count; ++c) {
        edit_column* column = &e->columns[c];
        if (is_particle_column(column)) {
            char* data = (char*)column->array.data;
            size_t bytes = column->item_bytes;
            char* row = data + (size_t)column->array.count * bytes;
            memset(row, 0, bytes);
            if (like >= 0) {
                memcpy(row, data + (size_t)like * bytes, bytes);
            }
            column->array.count += 1;
        }
    }
    int64_t at = treacle_edit_particle_count(e) - 1;
    memcpy((float*)edit_find(e, "position")->array.data + AXES * at, local, sizeof(local));
    for (int a = 0; a < AXES; ++a) {
        ((float*)edit_find(e, "velocity")->array.data)[AXES * at + a] = (float)def->velocity[a];
    }
    ((float*)edit_find(e, "volume")->array.data)[at] = (float)def->volume;
    ((uint8_t*)edit_find(e, "material")->array.data)[at] = (uint8_t)def->material;
    ((uint64_t*)edit_find(e, "id")->array.data)[at] = (uint64_t)EDIT_SOURCE << 48 | e->births++;
    static const char* const fresh[] = {"affine", "damage"}; // nothing of another particle's
    for (int i = 0; i < 2; ++i) {
        edit_column* column = edit_find(e, fresh[i]);
        if (column != NULL) {
            memset((char*)column->array.data + (size_t)at * column->item_bytes, 0,
                   column->item_bytes);
        }
    }
}

treacle_status treacle_edit_add(treacle_edit* e, int64_t count, const treacle_particle_def* defs) {
    for (int64_t i = 0; i < count; ++i) {
        TREACLE_TRY(check_particle(e, &defs[i]));
    }
    for (int c = 0; c < e->column_count; ++c) {
        edit_column* column = &e->columns[c];
        bool is_tile = strncmp(column->array.name, "tile_", 5) == 0;
        if (is_tile || is_particle_column(column)) {
            TREACLE_TRY(make_room(e, column, count));
        }
    }
    for (int64_t i = 0; i < count; ++i) {
        add_row(e, &defs[i]);
    }
    return TREACLE_OK;
}

static void keep_rows(edit_column* column, const uint8_t* is_gone) {
    char* data = (char*)column->array.data;
    int64_t kept = 0;
    for (int64_t i = 0; i < column->array.count; ++i) {
        if (is_gone[i] == 0) {
            memmove(data + (size_t)kept * column->item_bytes, data + (size_t)i * column->item_bytes,
                    column->item_bytes);
            kept += 1;
        }
    }
    column->array.count = kept;
}

void treacle_edit_remove(treacle_edit* e, const uint8_t* is_gone) {
    edit_column *tile = edit_find(e, "tile_coord"), *first = edit_find(e, "tile_first");
    int32_t(*tiles)[3] = (int32_t(*)[3])tile->array.data;
    int64_t* firsts = (int64_t*)first->array.data;
    int64_t groups = 0, kept = 0;
    for (int64_t t = 0; t < tile->array.count; ++t) {
        int64_t begin = firsts[t], before = kept;
        for (int64_t i = begin; i < firsts[t + 1]; ++i) {
            kept += is_gone[i] == 0;
        }
        if (kept > before) {
            memmove(tiles[groups], tiles[t], sizeof(tiles[t]));
            firsts[groups] = before;
            groups += 1;
        }
    }
    firsts[groups] = kept;
    tile->array.count = groups;
    first->array.count = groups + 1;
    for (int c = 0; c < e->column_count; ++c) {
        if (is_particle_column(&e->columns[c])) {
            keep_rows(&e->columns[c], is_gone);
        }
    }
}

void treacle_edit_positions(const treacle_edit* e, double* out) {
    treacle_edit* reader = (treacle_edit*)e; // find() only looks
    const treacle_array* tile = &edit_find(reader, "tile_coord")->array;
    const int32_t(*tiles)[3] = (const int32_t(*)[3])tile->data;
    const int64_t* first = edit_find(reader, "tile_first")->array.data;
    const float* local = edit_find(reader, "position")->array.data;
    for (int64_t t = 0; t < tile->count; ++t) {
        for (int64_t i = first[t]; i < first[t + 1]; ++i) {
            for (int a = 0; a < AXES; ++a) {
                double cells = TILE_SIZE * (double)tiles[t][a] + (double)local[AXES * i + a];
                out[AXES * i + a] = e->sim->domain.origin[a] + e->sim->domain.h * cells;
            }
        }
    }
}

// The grid of the state -----------------------------------------------------------------------

// The liquid's tiles, and those that particles are in now. What is new is at rest, far outside.
static treacle_status widen(treacle_edit* e, liquid_state* out) {
    const liquid_state* old = &e->sim->now.liquid;
    const treacle_array* tiles = &edit_find(e, "tile_coord")->array;
    size_t count = (size_t)(old->map.count + tiles->count);
    void* block = NULL;
    TREACLE_TRY(alloc_array(e->ctx, count, sizeof(tile_coord), "an edit", &block));
    tile_coord* coords = block;
    memcpy(coords, old->map.coord, (size_t)old->map.count * sizeof(*coords));
    if (tiles->count > 0) {
        memcpy(coords + old->map.count, tiles->data, (size_t)tiles->count * sizeof(*coords));
    }
    treacle_status status =
        liquid_state_create(e->ctx, &e->sim->domain, (int64_t)count, coords, out);
    if (status == TREACLE_OK) {
        status = tile_ranks_create(e->sim->now.particles.owners, &out->map);
    }
    alloc_free(e->ctx, block, count * sizeof(tile_coord));
    return status;
}

static void copy_tile(const liquid_state* from, tile_ix old, liquid_state* to, tile_ix t) {
    const size_t bytes = TILE_CELLS * sizeof(float);
    for (int a = 0; a < AXES; ++a) {
        memcpy(to->face_u.at[a] + (size_t)t * TILE_CELLS,
               from->face_u.at[a] + (size_t)old * TILE_CELLS, bytes);
    }
    memcpy(to->cell_pressure + (size_t)t * TILE_CELLS,
           from->cell_pressure + (size_t)old * TILE_CELLS, bytes);
    memcpy(to->cell_phi + (size_t)t * TILE_CELLS, from->cell_phi + (size_t)old * TILE_CELLS, bytes);
    if (to->cell_contact != NULL && from->cell_contact != NULL) {
        memcpy(to->cell_contact + (size_t)t * TILE_CELLS,
               from->cell_contact + (size_t)old * TILE_CELLS, TILE_CELLS);
    }
}

static void fill_tile(liquid_state* to, tile_ix t) {
    const float far = 2.0f * TILE_SIZE;
    for (int i = 0; i < TILE_CELLS; ++i) {
        size_t at = (size_t)t * TILE_CELLS + (size_t)i;
        for (int a = 0; a < AXES; ++a) {
            to->face_u.at[a][at] = 0.0f;
        }
        to->cell_pressure[at] = 0.0f;
        to->cell_phi[at] = far;
        if (to->cell_contact != NULL) {
            to->cell_contact[at] = 0;
        }
    }
}

static void point_to(treacle_edit* e, treacle_array* arrays, const char* name, int64_t count,
                     const void* data) {
    for (int c = 0; c < e->column_count; ++c) {
        if (strcmp(arrays[c].name, name) == 0) {
            arrays[c].count = count;
            arrays[c].data = data;
        }
    }
}

static treacle_status apply_with_grid(treacle_edit* e, treacle_array* arrays) {
    const liquid_state* old = &e->sim->now.liquid;
    liquid_state wider;
    TREACLE_TRY(widen(e, &wider));
    for (tile_ix t = 0; t < wider.map.count; ++t) {
        tile_ix from = tile_map_find(&old->map, wider.map.coord[t]);
        if (from >= 0 && from < old->map.count) {
            copy_tile(old, from, &wider, t);
        } else {
            fill_tile(&wider, t);
        }
    }
    int64_t values = (int64_t)wider.map.count * TILE_CELLS;
    point_to(e, arrays, "grid_tile", wider.map.count, wider.map.coord);
    point_to(e, arrays, "face_u", values, wider.face_u.at[0]);
    point_to(e, arrays, "face_v", values, wider.face_u.at[1]);
    point_to(e, arrays, "face_w", values, wider.face_u.at[2]);
    point_to(e, arrays, "pressure", values, wider.cell_pressure);
    point_to(e, arrays, "surface", values, wider.cell_phi);
    point_to(e, arrays, "wall", values, wider.cell_contact);
    treacle_status status = treacle_sim_restore(e->sim, &e->head);
    liquid_state_destroy(&wider);
    return status;
}

treacle_status treacle_edit_apply(treacle_edit* e) {
    treacle_array arrays[SIM_ARRAYS_MAX];
    for (int c = 0; c < e->column_count; ++c) {
        arrays[c] = e->columns[c].array;
    }
    e->head.array_count = e->column_count;
    e->head.arrays = arrays;
    e->head.time = treacle_sim_time(e->sim);
    e->head.step = treacle_sim_step_count(e->sim);
    return e->sim->now.liquid.map.count > 0 ? apply_with_grid(e, arrays)
                                            : treacle_sim_restore(e->sim, &e->head);
}
