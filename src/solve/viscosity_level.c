// A level of the multigrid on faces. Weights of stress come as fields and are packed tile by tile
// with the neighbours' layer that a tile reads, so that a sweep reads one block and no map. What
// else sweeps need is made with it: inverse diagonals, masks of rows, how often a tile is swept,
// eight colours of tiles. A coarser level restricts the weights as the transposed interpolation
// does its values, times 1/4 for stresses, whose differences are over twice the width; and asks
// fine faces which coarse ones are fixed, and by whom.
#include "solve/viscosity_level.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/policy.h"
#include "solve/stagger_transfer.h"
#include "solve/viscosity_kernels.h"

// A level of viscosity is the operator itself, with weights of its own: nothing here is P^T A P.
// The reason is in README.md of this folder: with linear interpolation of a staggered field the
// products would couple 5 x 5 x 5 cells, and with constant one rotations become stiff.
enum { ROW = TILE_SIZE, ROWS = TILE_SIZE * TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE, GRAIN = 4 };
// A colour of a small liquid has a tile or two, and a sweep of one takes longer than to share it.
enum { SWEEP_GRAIN = 1 };

// Differences double from level to level, so their squares count four times.
static const float stress_scale = 0.25f;

static size_t viscosity_level_field_length(const viscosity_level* level) {
    return ((size_t)level->map->count + 1) * TILE_CELLS;
}

// ---- Packing --------------------------------------------------------------------------------

// Copies a field of a tile and one layer of its neighbours: cells start .. start + 8 an axis, where
// start is -1 or 0.
static void pad_field(const float* field, const tile_ix* near, int start, float scale, float* to) {
    for (int k = 0; k < VISCOSITY_SIDE; ++k) {
        for (int j = 0; j < VISCOSITY_SIDE; ++j) {
            // Shifted by a tile, so that quotients and remainders are of numbers that are not
            // negative: 0, 1, 2 is the tile below, this one, the one above.
            int y = j + start + ROW, z = k + start + ROW;
            const tile_ix* tiles = near + 9 * (z / ROW) + 3 * (y / ROW);
            const float* row = field + z % ROW * LAYER + y % ROW * ROW;
            float* out = to + (k * VISCOSITY_SIDE + j) * VISCOSITY_SIDE;
            for (int i = 0; i < ROW; ++i) {
                out[i - start] = scale * row[(size_t)tiles[1] * TILE_CELLS + (size_t)i];
            }
            // Cells need the layer below (a face enters the stretch of the cell under it), edges
            // the one above (the shear at the far side of its cell).
            if (start < 0) {
                out[0] = scale * row[(size_t)tiles[0] * TILE_CELLS + ROW - 1];
            } else {
                out[ROW] = scale * row[(size_t)tiles[2] * TILE_CELLS];
            }
        }
    }
}

// Whether the face across an axis of a cell that is -1 .. 8 from a tile along each axis is fixed,
// or in no tile.
static bool is_held_beside(const viscosity_level* level, int64_t t, int axis, const int at[AXES]) {
    int place =
        TILE_NEIGHBOUR((at[0] + ROW) / ROW - 1, (at[1] + ROW) / ROW - 1, (at[2] + ROW) / ROW - 1);
    tile_ix tile = level->map->neighbour[t][place];
    int q = ((at[2] & 7) * ROW + (at[1] & 7)) * ROW + (at[0] & 7);
    return tile == level->map->count ||
           (level->weights.fixed[(size_t)tile * TILE_CELLS + (size_t)q] >> axis & 1) != 0;
}

// One weight of a tile's edges: the change of u_along across another axis.
static bool pack_sheet(const viscosity_level* level, int64_t t, int axis, int which, float* to) {
    int along = (axis + 1 + which) % AXES, across = (axis + 2 - which) % AXES;
    bool is_any = false;
    pad_field(level->weights.sheet[axis][which], level->map->neighbour[t], 0, 1.0f, to);
    for (int n = 0; n < VISCOSITY_PADDED; ++n) {
        int at[AXES] = {n % VISCOSITY_SIDE, n / VISCOSITY_SIDE % VISCOSITY_SIDE,
                        n / VISCOSITY_SIDE / VISCOSITY_SIDE};
        if (!(to[n] > 0.0f)) {
            continue;
        }
        bool is_held = is_held_beside(level, t, along, at);
        at[across] -= 1;
        is_held = is_held || is_held_beside(level, t, along, at);
        to[n] = is_held ? 0.0f : to[n];
        is_any = is_any || !is_held;
    }
    return is_any;
}

// All six; whether there is one.
static bool pack_sheets(const viscosity_level* level, int64_t t, float* to) {
    bool is_any = false;
    for (int n = 0; n < VISCOSITY_SHEETS; ++n) {
        bool is_there = pack_sheet(level, t, n / 2, n % 2, to + n * VISCOSITY_PADDED);
        is_any = is_any || is_there;
    }
    return is_any;
}

static void find_sheets(void* data, int64_t begin, int64_t end) {
    viscosity_level* level = data;
    float packed[VISCOSITY_SHEET_BLOCK];
    for (int64_t t = begin; t < end; ++t) {
        level->sheets.of[t] = pack_sheets(level, t, packed) ? 0 : -1;
    }
}

static void keep_sheets(void* data, int64_t begin, int64_t end) {
    viscosity_level* level = data;
    for (int64_t t = begin; t < end; ++t) {
        if (level->sheets.of[t] >= 0) {
            pack_sheets(level, t,
                        level->sheets.at + (size_t)level->sheets.of[t] * VISCOSITY_SHEET_BLOCK);
        }
    }
}

// Every rank packs those of all tiles.
static treacle_status create_sheets(viscosity_level* level) {
    viscosity_sheets* s = &level->sheets;
    if (level->weights.sheet[0][0] == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(level->ctx, (size_t)level->map->count, sizeof(*s->of), "tiles of sheets",
                           (void**)&s->of));
    tile_use use = {.reads = TILE_ANYWHERE, .grain = GRAIN};
    tile_for(level->map, &use, find_sheets, level);
    for (tile_ix t = 0; t < level->map->count; ++t) {
        s->of[t] = s->of[t] >= 0 ? s->count++ : -1;
    }
    TREACLE_TRY(alloc_array(level->ctx, (size_t)s->count, VISCOSITY_SHEET_BLOCK * sizeof(*s->at),
                            "sheets", (void**)&s->at));
    tile_for(level->map, &use, keep_sheets, level);
    return TREACLE_OK;
}

// The diagonals of a row of faces across a: their masses and the weights of the strains they enter.
static void diagonal_of_row(const viscosity_level* level, int64_t t, int a, int row,
                            float out[ROW]) {
    int j = row % ROW, k = row / ROW;
    const float* stress = level->stress + t * VISCOSITY_STRESS_BLOCK;
    const float* cell = stress + viscosity_cell_at(0, j, k);
    const float* below = cell - VISCOSITY_STRIDE(a);
    const float* mass = level->weights.mass[a] + t * TILE_CELLS + row * ROW;
    const float* sheet = viscosity_level_sheet(level, t);
    for (int i = 0; i < ROW; ++i) {
        // Weights of cells are packed times two, as the second derivative of w (D u)^2 has them.
        out[i] = mass[i] + cell[i] + below[i];
    }
    for (int n = 1; n < AXES; ++n) {
        // Edges along c carry the shear of a and b; the face has one at each of its sides along b.
        int b = (a + n) % AXES, c = 3 - a - b;
        const float* edge = stress + viscosity_edge_at(c, 0, j, k);
        const float* next = edge + VISCOSITY_STRIDE(b);
        for (int i = 0; i < ROW; ++i) {
            out[i] += edge[i] + next[i];
        }
    }
    for (int n = 1; n < AXES && sheet != NULL; ++n) {
        int b = (a + n) % AXES, c = 3 - a - b;
        const float* weight = sheet + viscosity_sheet_at(c, n - 1, 0, j, k);
        const float* next = weight + VISCOSITY_STRIDE(b);
        for (int i = 0; i < ROW; ++i) {
            out[i] += weight[i] + next[i];
        }
    }
}

static bool is_fixed(const viscosity_level* level, int64_t t, int a, int q) {
    return (level->weights.fixed[t * TILE_CELLS + q] >> a & 1) != 0;
}

// Inverse diagonals of one component, and which rows of eight have an unknown. Returns how many
// there are.
static int pack_component(viscosity_level* level, int64_t t, int a) {
    int found = 0;
    for (int row = 0; row < ROWS; ++row) {
        const uint8_t* fixed = level->weights.fixed + t * TILE_CELLS + row * ROW;
        float* inverse = level->inverse + t * VISCOSITY_BLOCK + a * TILE_CELLS + row * ROW;
        float diagonal[ROW];
        int count = 0;
        diagonal_of_row(level, t, a, row, diagonal);
        for (int i = 0; i < ROW; ++i) {
            // A zero diagonal, fixed or without liquid: no unknown, and sweeps leave it alone.
            bool is_unknown = (fixed[i] >> a & 1) == 0 && diagonal[i] > 0.0f;
            inverse[i] = is_unknown ? 1.0f / diagonal[i] : 0.0f;
            count += is_unknown ? 1 : 0;
        }
        level->rows[t][a] |= (uint64_t)(count > 0 ? 1 : 0) << row;
        found += count;
    }
    return found;
}

// Faces of bodies in a tile.
// A tile with faces of bodies alone is active too: their motion is in the vectors of a cycle.
static int count_owned(const viscosity_level* level, int64_t t) {
    int found = 0;
    for (int n = 0; n < VISCOSITY_BLOCK && level->weights.owner[0] != NULL; ++n) {
        found += level->weights.owner[n / TILE_CELLS][t * TILE_CELLS + n % TILE_CELLS] != 0 ? 1 : 0;
    }
    return found;
}

typedef struct setup_job {
    viscosity_level* level;
    uint16_t* unknowns; // of each tile
    uint16_t* owned;    // faces of bodies
} setup_job;

// All that sweeps read of a tile, side by side: 9 x 9 x 9 weights of cells and of three kinds of
// edges.
static void pack_tiles(void* data, int64_t begin, int64_t end) {
    const setup_job* job = data;
    viscosity_level* level = job->level;
    uint8_t at_surface = (uint8_t)solve_policy_default()->cycle.surface_sweeps;
    for (int64_t t = begin; t < end; ++t) {
        const tile_ix* near = level->map->neighbour[t];
        float* stress = level->stress + t * VISCOSITY_STRESS_BLOCK;
        int found = 0;
        // Packed once: sweeps then read a tile's own block, and no neighbour's weights.
        pad_field(level->weights.cell, near, -1, 2.0f, stress);
        for (int c = 0; c < AXES; ++c) {
            pad_field(level->weights.edge[c], near, 0, 1.0f,
                      stress + viscosity_edge_at(c, 0, 0, 0));
        }
        for (int a = 0; a < AXES; ++a) {
            found += pack_component(level, t, a);
        }
        // Sweeps repeat where faces are missing: at walls and at the surface.
        level->repeats[t] = found == VISCOSITY_BLOCK ? 1 : at_surface;
        job->unknowns[t] = (uint16_t)found;
        job->owned[t] = (uint16_t)count_owned(level, t);
    }
}

static void list_active(const setup_job* job) {
    viscosity_level* level = job->level;
    // Sums skip rows without unknowns, but where bodies are rows without have values, too.
    level->space.active = level->active;
    level->space.rows = level->weights.owner[0] == NULL ? level->rows[0] : NULL; // bodies fill more
    for (tile_ix t = 0; t < level->map->count; ++t) {
        if (job->unknowns[t] > 0 || job->owned[t] > 0) {
            level->active[level->space.active_count++] = t;
        }
        level->unknowns += job->unknowns[t];
    }
}

// What every level has.
static treacle_status viscosity_level_allocate(viscosity_level* level) {
    treacle_context* ctx = level->ctx;
    size_t tiles = (size_t)level->map->count;
    TREACLE_TRY(vec_space_create(ctx, level->map->count, VISCOSITY_BLOCK, 0, &level->space));
    TREACLE_TRY(vec_create_float(&level->space, "inverse diagonals", &level->inverse));
    TREACLE_TRY(vec_create_float(&level->space, "residuals", &level->residual));
    TREACLE_TRY(alloc_array(ctx, tiles, VISCOSITY_STRESS_BLOCK * sizeof(float), "stress weights",
                            (void**)&level->stress));
    TREACLE_TRY(alloc_zero(ctx, tiles, sizeof(*level->rows), "row masks", (void**)&level->rows));
    TREACLE_TRY(alloc_zero(ctx, tiles, sizeof(uint8_t), "sweep counts", (void**)&level->repeats));
    return alloc_zero(ctx, tiles, sizeof(tile_ix), "active tiles", (void**)&level->active);
}

// What follows from the weights, the same on every level.
static treacle_status viscosity_level_finish(viscosity_level* level) {
    size_t tiles = (size_t)level->map->count;
    uint16_t* counts = NULL;
    TREACLE_TRY(create_sheets(level));
    TREACLE_TRY(
        alloc_zero(level->ctx, 2 * tiles, sizeof(uint16_t), "counts of unknowns", (void**)&counts));
    setup_job job = {.level = level, .unknowns = counts, .owned = counts + tiles};
    // Bodies reach anywhere, so with them every rank has all of every level.
    bool has_bodies = level->weights.owner[0] != NULL;
    level->space.shared = level->map->ranks != NULL && !has_bodies ? level->map : NULL;
    if (level->space.shared != NULL) {
        tile_for(level->map, &(tile_use){.reads = TILE_AROUND, .grain = GRAIN}, pack_tiles, &job);
        vec_publish_float(&level->space, level->inverse);
        tile_publish(level->map, &(tile_values){.at = job.unknowns,
                                                .tile_bytes = sizeof(uint16_t),
                                                .readers = TILE_TO_ALL});
    } else {
        tile_for(level->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = GRAIN}, pack_tiles, &job);
    }
    list_active(&job);
    alloc_free(level->ctx, counts, 2 * tiles * sizeof(uint16_t));
    // Shears reach across edges of tiles, so tiles of a colour must not touch at all: eight
    // colours.
    return tile_colours_create(&level->domain, level->map, level->space.active_count, level->active,
                               TILE_CONTACT_ANY, &level->colours);
}

treacle_status viscosity_level_create(treacle_context* ctx, const grid_domain* domain,
                                      const tile_map* map, const viscosity_weights* weights,
                                      viscosity_level* out) {
    TREACLE_ASSERT(weights->cell != NULL && weights->fixed != NULL && weights->mass[0] != NULL);
    TREACLE_ASSERT((weights->owner[0] == NULL) == (weights->owner[2] == NULL)); // all axes or none
    *out = (viscosity_level){.ctx = ctx, .domain = *domain, .map = map, .weights = *weights};
    treacle_status status;
    TREACLE_TRY_GOTO(viscosity_level_allocate(out), fail);
    TREACLE_TRY_GOTO(viscosity_level_finish(out), fail);
    return TREACLE_OK;
fail:
    viscosity_level_destroy(out);
    return status;
}

// ---- Coarsening -----------------------------------------------------------------------------

// What interpolation writes to: unknowns, and faces of bodies.
static bool is_moving(const viscosity_level* level, int64_t t, int n) {
    const uint16_t* owner = level->weights.owner[n / TILE_CELLS];
    return level->inverse[t * VISCOSITY_BLOCK + n] > 0.0f ||
           (owner != NULL && owner[t * TILE_CELLS + n % TILE_CELLS] != 0);
}

// The neighbours' places that the faces of cell q of a tile reach: one in the first or last layer
// along an axis interpolates from the next coarse tile over.
// A bit for each of the 27 places of tiles around; the pyramid makes a coarse tile of each that is
// set.
static uint32_t reach_of_cell(const grid_domain* domain, int q) {
    uint32_t reach = 0;
    int low[AXES], high[AXES];
    for (int a = 0; a < AXES; ++a) {
        int at = q >> 3 * a & 7;
        // Linear interpolation reads coarse values up to one cell away: from the first and last
        // layers of a tile that may be another coarse tile.
        low[a] = domain->is_active[a] && at == 0 ? -1 : 0;
        high[a] = domain->is_active[a] && at == ROW - 1 ? 1 : 0;
    }
    for (int z = low[2]; z <= high[2]; ++z) {
        for (int y = low[1]; y <= high[1]; ++y) {
            for (int x = low[0]; x <= high[0]; ++x) {
                reach |= PYRAMID_REACH(x, y, z);
            }
        }
    }
    return reach;
}

typedef struct reach_job {
    const viscosity_level* level;
    uint32_t of_cell[TILE_CELLS]; // the same in all tiles
    uint32_t* reach;
} reach_job;

// What a tile's unknowns and bodies reach.
static void find_reach(void* data, int64_t begin, int64_t end) {
    const reach_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        uint32_t reach = 0;
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            reach |= is_moving(job->level, t, n) ? job->of_cell[n % TILE_CELLS] : 0;
        }
        job->reach[t] = reach;
    }
}

// A coarse tile exists where a moving face interpolates from it. Tiles around the children are
// found at once, so that restriction needs no search.
static treacle_status create_step(const viscosity_level* fine, pyramid_step* step) {
    size_t tiles = (size_t)fine->map->count;
    uint32_t* reach = NULL;
    TREACLE_TRY(alloc_array(fine->ctx, tiles, sizeof(*reach), "reach of tiles", (void**)&reach));
    reach_job job = {.level = fine, .reach = reach};
    for (int q = 0; q < TILE_CELLS; ++q) {
        job.of_cell[q] = reach_of_cell(&fine->domain, q);
    }
    // Which coarse tiles there are must be known to all ranks alike.
    tile_use use = {.reads = TILE_AROUND,
                    .grain = GRAIN,
                    .writes = {tile_block(reach, sizeof(*reach), TILE_TO_ALL)}};
    tile_for(fine->map, &use, find_reach, &job);
    treacle_status status =
        pyramid_step_create(fine->ctx, &fine->domain, fine->map, reach, PYRAMID_TOGETHER, step);
    alloc_free(fine->ctx, reach, tiles * sizeof(*reach));
    TREACLE_TRY(status);
    // And their 4 x 4 x 4 fine tiles, since restriction reads a layer beyond the children.
    status = pyramid_step_widen(step, &fine->domain, fine->map);
    if (status != TREACLE_OK) {
        pyramid_step_destroy(step);
    }
    return status;
}

enum {
    OWNED_STRESSES = 4,
    OWNED_MASSES = 3,
    OWNED_FIELDS = OWNED_STRESSES + OWNED_MASSES,
    OWNED_MOST = OWNED_FIELDS + VISCOSITY_SHEETS
};

// All fields of weights that coarser levels have, too; returns their number: sheets are the last.
static int list_weights(const viscosity_weights* w, const float* list[OWNED_MOST]) {
    list[0] = w->cell;
    for (int a = 0; a < AXES; ++a) {
        list[1 + a] = w->edge[a];
        list[OWNED_STRESSES + a] = w->mass[a];
        list[OWNED_FIELDS + 2 * a] = w->sheet[a][0];
        list[OWNED_FIELDS + 2 * a + 1] = w->sheet[a][1];
    }
    return w->sheet[0][0] != NULL ? OWNED_MOST : OWNED_FIELDS;
}

static treacle_status allocate_sheets(viscosity_level* level) {
    size_t length = viscosity_level_field_length(level);
    TREACLE_TRY(alloc_zero(level->ctx, VISCOSITY_SHEETS * length, sizeof(float), "coarse sheets",
                           (void**)&level->owned.sheet));
    for (int n = 0; n < VISCOSITY_SHEETS; ++n) {
        level->weights.sheet[n / 2][n % 2] = level->owned.sheet + (size_t)n * length;
    }
    return TREACLE_OK;
}

// Which body a coarse face moves with: a field an axis, with bodies alone.
static treacle_status allocate_owners(viscosity_level* level) {
    size_t length = viscosity_level_field_length(level);
    TREACLE_TRY(alloc_zero(level->ctx, AXES * length, sizeof(uint16_t), "faces of bodies",
                           (void**)&level->owned.owner));
    for (int a = 0; a < AXES; ++a) {
        level->weights.owner[a] = level->owned.owner + (size_t)a * length;
    }
    return TREACLE_OK;
}

// Stress and mass live in blocks of their own, since the first can be freed when the set-up ends.
static treacle_status allocate_coarse(viscosity_level* level, const viscosity_weights* fine) {
    size_t length = viscosity_level_field_length(level);
    TREACLE_TRY(fine->owner[0] != NULL ? allocate_owners(level) : TREACLE_OK);
    TREACLE_TRY(fine->sheet[0][0] != NULL ? allocate_sheets(level) : TREACLE_OK);
    TREACLE_TRY(alloc_zero(level->ctx, OWNED_STRESSES * length, sizeof(float), "coarse stresses",
                           (void**)&level->owned.stress));
    TREACLE_TRY(alloc_zero(level->ctx, OWNED_MASSES * length, sizeof(float), "coarse masses",
                           (void**)&level->owned.mass));
    TREACLE_TRY(alloc_zero(level->ctx, length, sizeof(uint8_t), "fixed faces",
                           (void**)&level->owned.fixed));
    level->weights.cell = level->owned.stress;
    for (int a = 0; a < AXES; ++a) {
        level->weights.edge[a] = level->owned.stress + (size_t)(1 + a) * length;
        level->weights.mass[a] = level->owned.mass + (size_t)a * length;
    }
    level->weights.fixed = level->owned.fixed;
    TREACLE_TRY(vec_create_float(&level->space, "coarse right-hand sides", &level->b));
    return vec_create_float(&level->space, "coarse corrections", &level->x);
}

// Field n of the owned ones: cell, edges, masses; and the axes along which it is nodal.
// The same transfer as for the unknowns: a weight of the coarse level is the sum of the fine ones
// that lie nearest, so that the energy of a smooth motion is the same on both.
static void restrict_weights(const viscosity_level* fine, viscosity_level* level, int n) {
    const float* from[OWNED_MOST];
    list_weights(&fine->weights, from);
    // Bits of the axes along which a field lies on nodes: cells none, an edge along c the two
    // others, a face its own.
    static const int nodal_axes[OWNED_MOST] = {0, 6, 5, 3, 1, 2, 4, 6, 6, 5, 5, 3, 3};
    bool is_mass = n >= OWNED_STRESSES && n < OWNED_FIELDS;
    float* to = is_mass            ? level->owned.mass
                : n < OWNED_FIELDS ? level->owned.stress
                                   : level->owned.sheet;
    int first = is_mass ? OWNED_STRESSES : n < OWNED_FIELDS ? 0 : OWNED_FIELDS;
    stagger_job job = {.step = &level->step,
                       .fine = {TILE_CELLS, 0},
                       .coarse = {TILE_CELLS, 0},
                       .from = from[n],
                       .to = to + (size_t)(n - first) * viscosity_level_field_length(level),
                       .scale = is_mass ? 1.0f : stress_scale};
    stagger_set_rules(&job, nodal_axes[n]);
    stagger_restrict(level->map, &job, tile_ranks_own(level->map));
    tile_publish(level->map, &(tile_values){.at = job.to});
}

// Whether face a of coarse cell `at` lies on a far side of the domain or past one.
static bool is_beyond(const viscosity_level* level, const int at[AXES]) {
    bool is_out = false;
    // Faces on the far side have no tile of their own and are walls.
    for (int b = 0; b < AXES; ++b) {
        is_out = is_out || (!level->domain.is_periodic[b] && at[b] >= level->domain.cells[b]);
    }
    return is_out;
}

// What the fine faces on a coarse one say of it: it is fixed if any is, and belongs to a body if
// all that are fixed do.
typedef struct coarse_face {
    bool is_fixed, is_by_script;
    uint16_t owner;
} coarse_face;

static void ask_face(const viscosity_level* fine, int64_t t, int a, int q, coarse_face* out) {
    const uint16_t* owners = fine->weights.owner[a];
    uint16_t owner = owners != NULL ? owners[t * TILE_CELLS + q] : 0;
    if (is_fixed(fine, t, a, q)) {
        out->is_fixed = true;
        out->is_by_script = out->is_by_script || owner == 0;
        // Two bodies that meet on one coarse face: the one with the lower number has it.
        out->owner = out->owner == 0 || owner < out->owner ? owner : out->owner;
    }
}

// A coarse face is fixed if any fine face on it is: else a wall that covers a part of it would leak
// on coarse levels, and their corrections would push liquid through it.
static coarse_face find_face(const viscosity_level* fine, const viscosity_level* level, int64_t T,
                             const int I[AXES], int a) {
    const int* shift = level->step.shift;
    const int32_t* tile = level->map->coord[T].at;
    const int coarse[AXES] = {8 * tile[0] + I[0], 8 * tile[1] + I[1], 8 * tile[2] + I[2]};
    coarse_face out = {0};
    // The four fine faces that lie on a coarse one: even along its axis, either along the others.
    for (int n = 0; n < 4; ++n) {
        int at[AXES], place = 0, q = 0;
        for (int m = 0; m < AXES; ++m) {
            int b = (a + m) % AXES;
            int extra = m == 0 ? 0 : n >> (m - 1) & 1;
            at[b] = (I[b] << shift[b]) + (shift[b] != 0 ? extra : 0);
            // The fine tile in the step's 4 x 4 x 4, and the cell in it.
            place += (at[b] / ROW + 1) << 2 * b;
            q += (at[b] % ROW) << 3 * b;
        }
        tile_ix t = level->step.wide[T][place];
        if (t < fine->map->count) {
            ask_face(fine, t, a, q, &out);
        } else if (is_beyond(level, coarse)) {
            out.is_fixed = out.is_by_script = true;
        }
    }
    return out;
}

typedef struct fix_job {
    const viscosity_level* fine;
    viscosity_level* level;
} fix_job;

// Whether no fine face on those of a coarse tile is fixed, and none of the tile's own lies past a
// side, as far from walls.
static bool is_all_free(const viscosity_level* fine, const viscosity_level* level, int64_t T) {
    const int32_t* tile = level->map->coord[T].at;
    const int last[AXES] = {8 * tile[0] + ROW - 1, 8 * tile[1] + ROW - 1, 8 * tile[2] + ROW - 1};
    unsigned bits = 0;
    for (int n = 0; n < 8; ++n) {
        int place = (1 + (n & 1)) + ((1 + (n >> 1 & 1)) << 2) + ((1 + (n >> 2)) << 4);
        tile_ix t = level->step.wide[T][place];
        for (int q = 0; q < TILE_CELLS && t < fine->map->count; ++q) {
            bits |= fine->weights.fixed[(size_t)t * TILE_CELLS + (size_t)q];
        }
    }
    return bits == 0 && !is_beyond(level, last);
}

// The bits of fixed faces, and owners where bodies and nothing else fix a face.
static void fix_faces(void* data, int64_t begin, int64_t end) {
    const fix_job* job = data;
    viscosity_level* level = job->level;
    for (int64_t T = begin; T < end; ++T) {
        bool is_free = is_all_free(job->fine, level, T);
        for (int q = 0; q < TILE_CELLS && !is_free; ++q) {
            const int I[AXES] = {q & 7, q >> 3 & 7, q >> 6};
            for (int a = 0; a < AXES; ++a) {
                coarse_face face = find_face(job->fine, level, T, I, a);
                level->owned.fixed[T * TILE_CELLS + q] |= (uint8_t)((face.is_fixed ? 1 : 0) << a);
                if (level->owned.owner != NULL && !face.is_by_script) {
                    level->owned.owner[(size_t)a * viscosity_level_field_length(level) +
                                       (size_t)(T * TILE_CELLS + q)] = face.owner;
                }
            }
        }
    }
}

// What coarse tiles read of a distributed fine level: what lies around their children, or all of it
// where everybody has all coarse tiles.
static void bring_weights(const viscosity_level* fine, const viscosity_level* level) {
    const viscosity_weights* w = &fine->weights;
    const tile_ranks* wide = level->step.wide_ranks;
    const float* fields[OWNED_MOST];
    int count = list_weights(w, fields);
    const size_t bytes = TILE_CELLS * sizeof(float);
    if (!tile_ranks_are_distributed(fine->map)) {
        return;
    }
    // The first level that everybody has: all weights to all.
    if (level->map->ranks == NULL) {
        for (int n = 0; n < count; ++n) {
            tile_publish(fine->map, &(tile_values){.at = (void*)fields[n],
                                                   .tile_bytes = bytes,
                                                   .readers = TILE_TO_ALL});
        }
        tile_publish(fine->map, &(tile_values){.at = (void*)w->fixed,
                                               .tile_bytes = TILE_CELLS,
                                               .readers = TILE_TO_ALL});
        return;
    }
    for (int n = 0; n < count; ++n) {
        comm_items items = {.data = (void*)fields[n], .item_bytes = bytes};
        comm_exchange(fine->ctx, wide->peer_count, wide->peers, &items);
    }
    comm_items items = {.data = (void*)w->fixed, .item_bytes = TILE_CELLS};
    comm_exchange(fine->ctx, wide->peer_count, wide->peers, &items);
}

treacle_status viscosity_level_coarsen(const viscosity_level* fine, viscosity_level* out) {
    TREACLE_ASSERT(fine != out && fine->space.active_count > 0);
    TREACLE_ASSERT(fine->weights.cell != NULL); // its set-up has not ended
    *out = (viscosity_level){.ctx = fine->ctx};
    treacle_status status;
    TREACLE_TRY_GOTO(create_step(fine, &out->step), fail);
    out->domain = out->step.domain;
    out->map = &out->step.map;
    TREACLE_TRY_GOTO(viscosity_level_allocate(out), fail);
    TREACLE_TRY_GOTO(allocate_coarse(out, &fine->weights), fail);
    // Restriction first asks for what it reads of other ranks, then every rank does its own tiles.
    bring_weights(fine, out);
    const float* weights[OWNED_MOST];
    int count = list_weights(&fine->weights, weights);
    for (int n = 0; n < count; ++n) {
        restrict_weights(fine, out, n);
    }
    tile_values owners = {.at = out->owned.owner,
                          .tile_bytes = TILE_CELLS * sizeof(uint16_t),
                          .fields = AXES,
                          .readers = TILE_TO_ALL};
    tile_use use = {.reads = TILE_AROUND,
                    .grain = 2,
                    .writes = {tile_block(out->owned.fixed, TILE_CELLS, TILE_TO_HOLDERS), owners}};
    tile_for(out->map, &use, fix_faces, &(fix_job){fine, out});
    TREACLE_TRY_GOTO(viscosity_level_finish(out), fail);
    return TREACLE_OK;
fail:
    viscosity_level_destroy(out);
    return status;
}

void viscosity_level_end_setup(viscosity_level* level) {
    // The caller's fields may go, or change, from now on: mass and owner are read on.
    level->weights.cell = NULL;
    memset(level->weights.edge, 0, sizeof(level->weights.edge));
    memset(level->weights.sheet, 0, sizeof(level->weights.sheet));
    level->weights.fixed = NULL;
    if (level->owned.fixed != NULL) {
        alloc_free(level->ctx, level->owned.fixed,
                   viscosity_level_field_length(level) * sizeof(uint8_t));
        level->owned.fixed = NULL;
    }
    if (level->owned.owner != NULL) {
        alloc_free(level->ctx, level->owned.owner,
                   AXES * viscosity_level_field_length(level) * sizeof(uint16_t));
        level->owned.owner = NULL;
        memset(level->weights.owner, 0, sizeof(level->weights.owner));
    }
    if (level->owned.sheet != NULL) {
        alloc_free(level->ctx, level->owned.sheet,
                   VISCOSITY_SHEETS * viscosity_level_field_length(level) * sizeof(float));
        level->owned.sheet = NULL;
    }
    if (level->owned.stress != NULL) {
        alloc_free(level->ctx, level->owned.stress,
                   OWNED_STRESSES * viscosity_level_field_length(level) * sizeof(float));
        level->owned.stress = NULL;
    }
}

// Labels of lumps cross tiles and ranks; for them every rank gets all weights of the finest level.
void viscosity_level_complete(const viscosity_level* level) {
    if (level->space.shared != NULL) {
        tile_publish(level->map,
                     &(tile_values){.at = level->stress,
                                    .tile_bytes = VISCOSITY_STRESS_BLOCK * sizeof(float),
                                    .readers = TILE_TO_ALL});
        tile_publish(level->map, &(tile_values){.at = level->rows,
                                                .tile_bytes = sizeof(*level->rows),
                                                .readers = TILE_TO_ALL});
        for (int a = 0; a < AXES && tile_ranks_are_distributed(level->map); ++a) {
            tile_publish(level->map, &(tile_values){.at = (float*)level->weights.mass[a],
                                                    .readers = TILE_TO_ALL});
        }
        // Distributed maps hold own tiles only: what the labels of lumps read must come here in
        // full.
        if (tile_ranks_are_distributed(level->map)) {
            vec_gather_float(&level->space, level->inverse);
        }
    }
}

// For systems in which one sweep and its reverse stand for the whole cycle.
void viscosity_level_sweep_once(viscosity_level* level) {
    memset(level->repeats, 1, (size_t)level->map->count);
}

void viscosity_level_destroy(viscosity_level* level) {
    if (level->ctx == NULL || level->map == NULL) {
        return;
    }
    treacle_context* ctx = level->ctx;
    size_t tiles = (size_t)level->map->count;
    viscosity_level_end_setup(level);
    alloc_free(ctx, level->owned.mass,
               OWNED_MASSES * viscosity_level_field_length(level) * sizeof(float));
    alloc_free(ctx, level->stress, tiles * VISCOSITY_STRESS_BLOCK * sizeof(float));
    if (level->sheets.of != NULL) {
        alloc_free(ctx, level->sheets.at,
                   (size_t)level->sheets.count * VISCOSITY_SHEET_BLOCK * sizeof(float));
        alloc_free(ctx, level->sheets.of, tiles * sizeof(*level->sheets.of));
    }
    alloc_free(ctx, level->rows, tiles * sizeof(*level->rows));
    alloc_free(ctx, level->repeats, tiles * sizeof(uint8_t));
    alloc_free(ctx, level->active, tiles * sizeof(tile_ix));
    vec_destroy_float(&level->space, level->inverse);
    vec_destroy_float(&level->space, level->residual);
    vec_destroy_float(&level->space, level->b);
    vec_destroy_float(&level->space, level->x);
    tile_colours_destroy(&level->colours);
    vec_space_destroy(&level->space);
    pyramid_step_destroy(&level->step);
    *level = (viscosity_level){0};
}

// ---- Loops ----------------------------------------------------------------------------------

static void run_loop(parallel_fcn* loop, viscosity_job* job, int64_t count, int64_t grain) {
    tile_subset tiles = {job->level->space.shared, count, job->tiles};
    tile_for_subset(job->level->ctx, &tiles, grain, loop, job);
}

// Colours are swept in order and in reverse order; a sweep and its reverse are transposes of one
// another.
void viscosity_level_smooth(const viscosity_level* level, const float* b, float* x,
                            bool is_reverse) {
    TREACLE_ASSERT(b != x);
    const tile_colours* colours = &level->colours;
    // Tiles of one colour do not touch: threads may do them in any order. Colours have theirs, and
    // the reverse of it is the transpose.
    for (int i = 0; i < colours->count; ++i) {
        int c = is_reverse ? colours->count - 1 - i : i;
        viscosity_job job = {.level = level,
                             .tiles = colours->tile + colours->first[c],
                             .b = b,
                             .x = x,
                             .is_reverse = is_reverse};
        run_loop(ISA_CALL(level->ctx, viscosity_loop_smooth), &job,
                 colours->first[c + 1] - colours->first[c], SWEEP_GRAIN);
        vec_exchange_colour(&level->space, colours, c, x);
    }
}

void viscosity_level_residual(const viscosity_level* level, const float* b, const float* x) {
    TREACLE_ASSERT(x != level->residual);
    viscosity_job job = {
        .level = level, .tiles = level->active, .b = b, .x = (float*)x, .y = level->residual};
    run_loop(ISA_CALL(level->ctx, viscosity_loop_residual), &job, level->space.active_count, GRAIN);
}

// Coarse tiles read the residual of those that lie around their children.
static void publish_residual(const viscosity_level* fine, const viscosity_level* coarse) {
    const tile_ranks* wide = coarse->step.wide_ranks;
    if (fine->space.shared == NULL) {
        return;
    }
    // Wide ranks know which tiles around the children of own coarse tiles are others'.
    if (coarse->space.shared == NULL) { // then everybody does all of it
        vec_gather_float(&fine->space, fine->residual);
    } else {
        comm_items items = {.data = fine->residual, .item_bytes = VISCOSITY_BLOCK * sizeof(float)};
        comm_exchange(fine->ctx, wide->peer_count, wide->peers, &items);
    }
}

// The rows of component a that have unknowns; NULL where others count, too.
static const uint64_t* rows_of(const viscosity_level* level, int a) {
    return level->space.rows != NULL ? level->space.rows + a : NULL;
}

// b' = P^T (b - A x), one component at a time: each is nodal along its own axis and centred along
// the others.
void viscosity_level_restrict(const viscosity_level* fine, const float* b, const float* x,
                              const viscosity_level* coarse) {
    // Unlike pressure's the residual is stored: each value goes to up to eight coarse ones.
    viscosity_level_residual(fine, b, x);
    publish_residual(fine, coarse);
    tile_range own =
        tile_ranks_list(coarse->space.shared, coarse->space.active_count, coarse->active);
    for (int a = 0; a < AXES; ++a) {
        stagger_job job = {.step = &coarse->step,
                           .tiles = coarse->active,
                           .fine = {VISCOSITY_BLOCK, a * TILE_CELLS},
                           .coarse = {VISCOSITY_BLOCK, a * TILE_CELLS},
                           .from = fine->residual,
                           .to = coarse->b,
                           .rows = rows_of(coarse, a),
                           .scale = 1.0f};
        stagger_set_rules(&job, 1 << a);
        stagger_restrict(coarse->map, &job, own);
    }
}

// The coarse tiles whose children are one's own.
static tile_range parents_of_own(const viscosity_level* fine, const viscosity_level* coarse) {
    if (fine->space.shared == NULL) {
        return (tile_range){0, coarse->map->count};
    }
    if (coarse->space.shared != NULL) {
        return tile_ranks_own(coarse->map);
    }
    tile_range own = tile_ranks_own(fine->map), out = {coarse->map->count, 0};
    for (int64_t t = own.begin; t < own.end; ++t) {
        tile_ix T = coarse->step.parent[t];
        // Children of a rank are a stretch, and so are their parents, as the order of tiles is that
        // of a space-filling curve.
        out.begin = T != PYRAMID_NONE && T < out.begin ? T : out.begin;
        out.end = T != PYRAMID_NONE && T + 1 > out.end ? T + 1 : out.end;
    }
    return out.end > out.begin ? out : (tile_range){0, 0};
}

// x += P x'. The result is read by the next sweep, so it goes to the neighbours at once.
void viscosity_level_prolong(const viscosity_level* fine, const viscosity_level* coarse, float* x) {
    tile_range own = parents_of_own(fine, coarse);
    vec_exchange_float(&coarse->space, coarse->x);
    for (int a = 0; a < AXES; ++a) {
        stagger_job job = {.step = &coarse->step,
                           .fine = {VISCOSITY_BLOCK, a * TILE_CELLS},
                           .coarse = {VISCOSITY_BLOCK, a * TILE_CELLS},
                           .from = coarse->x,
                           .to = x,
                           .rows = rows_of(fine, a),
                           // Only unknowns take a correction: fixed faces stay as they are.
                           .mask = fine->inverse};
        stagger_set_rules(&job, 1 << a);
        stagger_prolong(coarse->map, &job, own);
    }
    vec_exchange_float(&fine->space, x);
}

double viscosity_level_apply(const viscosity_level* level, const double* x, double* y) {
    viscosity_job job = {.level = level, .tiles = level->active, .from = x, .to = y};
    vec_exchange(&level->space, x);
    run_loop(ISA_CALL(level->ctx, viscosity_loop_apply), &job, level->space.active_count, GRAIN);
    return vec_sum_partial(&level->space, 0);
}

double viscosity_level_apply_rounded(const viscosity_level* level, const float* x, double* y) {
    viscosity_job job = {.level = level, .tiles = level->active, .x = (float*)x, .to = y};
    vec_exchange_float(&level->space, x);
    run_loop(ISA_CALL(level->ctx, viscosity_loop_apply_rounded), &job, level->space.active_count,
             GRAIN);
    return vec_sum_partial(&level->space, 0);
}

// The largest weight of a cell: how stiff the system is against a mass of one.
double viscosity_level_largest(const viscosity_level* level) {
    float most = 0.0f;
    tile_range own = tile_ranks_list(level->space.shared, level->space.active_count, level->active);
    for (int64_t i = own.begin; i < own.end; ++i) {
        // The first field of the padded block has the weights of cells, packed times two.
        const float* twice = level->stress + (size_t)level->active[i] * VISCOSITY_STRESS_BLOCK;
        for (int q = 0; q < VISCOSITY_PADDED; ++q) {
            most = twice[q] > most ? twice[q] : most;
        }
    }
    double largest = 0.5 * (double)most;
    if (level->space.shared != NULL) {
        comm_max_f64(level->ctx, &largest, 1);
    }
    return largest;
}

void viscosity_level_diagonal(const viscosity_level* level, double* d) {
    for (tile_ix i = 0; i < level->space.active_count; ++i) {
        int64_t t = level->active[i];
        for (int n = 0; n < AXES * ROWS; ++n) {
            float sum[ROW];
            diagonal_of_row(level, t, n / ROWS, n % ROWS, sum);
            for (int64_t x = 0, at = t * VISCOSITY_BLOCK + n * ROW; x < ROW; ++x) {
                d[at + x] = level->inverse[at + x] > 0.0f ? (double)sum[x] : 0.0;
            }
        }
    }
}

// As for pressure: masks cover all unknowns, diagonals are finite.
static bool is_tile_valid(const viscosity_level* level, int64_t t) {
    bool is_valid = level->repeats[t] > 0;
    for (int n = 0; n < VISCOSITY_BLOCK && is_valid; ++n) {
        float inverse = level->inverse[t * VISCOSITY_BLOCK + n];
        bool has_row = (level->rows[t][n / TILE_CELLS] >> n % TILE_CELLS / ROW & 1) != 0;
        is_valid = isfinite(inverse) && inverse >= 0.0f && (inverse == 0.0f || has_row);
    }
    return is_valid;
}

bool viscosity_level_is_valid(const viscosity_level* level) {
    const tile_ix* active = level->active;
    int64_t count = level->space.active_count;
    bool is_valid = count >= 0 && count <= level->map->count;
    for (int64_t i = 0; i < count && is_valid; ++i) {
        is_valid = active[i] >= 0 && active[i] < level->map->count &&
                   (i == 0 || active[i] > active[i - 1]);
    }
    tile_range own = tile_ranks_list(level->space.shared, is_valid ? count : 0, active);
    for (int64_t i = own.begin; i < own.end && is_valid; ++i) {
        is_valid = is_tile_valid(level, active[i]);
    }
    return is_valid;
}
