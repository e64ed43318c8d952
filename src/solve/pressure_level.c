// A level of the multigrid on cells. It is given as links and extras, and made ready for sweeps:
// inverse diagonals, links along x with the ninth one of the next tile, a mask of rows that have
// unknowns, how often a tile is swept, and colours of tiles. Coarser levels are made from finer
// ones by sums over blocks. An extra ties a cell to a value outside; a cell whose links and extra
// are all zero is no unknown, and keeps the zero that vectors begin with.
#include "solve/pressure_level.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/body_term.h"
#include "solve/policy.h"
#include "solve/pressure_kernels.h"

enum { ROW = TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE, GRAIN = 8 };

static const float zero_tile[TILE_CELLS];

// ---- Set-up ---------------------------------------------------------------------------------

// A level keeps links along x in rows of nine, so that a row of eight cells finds both its low and
// its high links with two loads; along y and z the high links are the low ones of other rows.
typedef struct setup_job {
    pressure_level* level;
    const pressure_level* fine; // NULL at level 0
    uint16_t* unknowns;         // of each tile
} setup_job;

static void pad_links(void* data, int64_t begin, int64_t end) {
    const pressure_level* level = ((const setup_job*)data)->level;
    for (int64_t t = begin; t < end; ++t) {
        // The ninth place of each row is filled when the diagonals are: it is another tile's link.
        const float* from = level->link[0] + t * TILE_CELLS;
        float* to = level->link_x + t * PRESSURE_PADDED_TILE;
        for (int row = 0; row < PRESSURE_ROWS; ++row) {
            memcpy(to + row * PRESSURE_PADDED, from + row * ROW, ROW * sizeof(float));
        }
    }
}

// Adds the eight values of a fine row to a coarse one, in pairs where x is halved.
static void add_row(const pyramid_step* step, const float* from, float* to) {
    for (int i = 0; i < ROW; ++i) {
        // An axis that does not coarsen keeps its places.
        to[step->shift[0] != 0 ? i >> 1 : i] += from[i];
    }
}

// Adds the links that lie on coarse faces: every second one where x is halved.
static void add_links_x(const pyramid_step* step, const float* from, float* to) {
    // Of two fine faces along a halved axis the even one lies on a coarse face; the odd one is
    // inside of a block, where x is constant: it has no energy.
    int stride = step->shift[0] != 0 ? 2 : 1;
    for (int i = 0; i < ROW; i += stride) {
        to[i / stride] += from[i];
    }
}

// Whether the low face of a fine cell is part of a coarse face, and not inside of a block.
static bool is_on_coarse_face(const pyramid_step* step, int axis, int at) {
    return step->shift[axis] == 0 || at % 2 == 0;
}

// Coarse coordinate, in its tile, of fine coordinate `at` of child o.
static int coarse_at(const pyramid_step* step, int o, int axis, int at) {
    return step->shift[axis] != 0 ? (o >> axis & 1) * 4 + (at >> 1) : at;
}

// Galerkin's coarse operator with constant blocks: between two blocks P^T A P has the sum of the
// links that cross their common face, and links inside of a block vanish. So it is links again, on
// a grid of half the resolution, and no matrix is ever assembled.
static void aggregate_child(const pressure_level* fine, pressure_level* level, int64_t T, int o) {
    const pyramid_step* step = &level->step;
    // Tile T of the coarse level has up to eight children, each an octant of it.
    size_t t = (size_t)step->child[T][o], block = TILE_CELLS;
    float* own = level->owned;
    size_t field = ((size_t)level->map->count + 1) * block;
    for (int row = 0; row < PRESSURE_ROWS; ++row) {
        int j = row % ROW, k = row / ROW;
        // Row by row: eight fine cells along x lie in four coarse ones of one coarse row.
        int J = coarse_at(step, o, 1, j), K = coarse_at(step, o, 2, k);
        int X = coarse_at(step, o, 0, 0);
        size_t from = t * block + (size_t)(row * ROW);
        size_t to = (size_t)T * block + (size_t)(K * LAYER + J * ROW + X);
        const float* link_x =
            fine->link_x + t * PRESSURE_PADDED_TILE + (size_t)(row * PRESSURE_PADDED);
        add_links_x(step, link_x,
                    level->link_x + T * PRESSURE_PADDED_TILE + (K * ROW + J) * PRESSURE_PADDED + X);
        if (is_on_coarse_face(step, 1, j)) {
            add_row(step, fine->link[1] + from, own + to);
        }
        if (is_on_coarse_face(step, 2, k)) {
            add_row(step, fine->link[2] + from, own + field + to);
        }
    }
}

// Separate from the links: extras alone may change later.
static void aggregate_extra(const pressure_level* fine, pressure_level* level, int64_t T, int o) {
    const pyramid_step* step = &level->step;
    const float* from = fine->extra + (int64_t)step->child[T][o] * TILE_CELLS;
    // Behind the links along y and z, as allocate_coarse has it.
    float* to = level->owned + 2 * ((size_t)level->map->count + 1) * TILE_CELLS + T * TILE_CELLS;
    for (int row = 0; row < PRESSURE_ROWS; ++row) {
        int J = coarse_at(step, o, 1, row % ROW), K = coarse_at(step, o, 2, row / ROW);
        add_row(step, from + row * ROW, to + K * LAYER + J * ROW + coarse_at(step, o, 0, 0));
    }
}

static void aggregate(void* data, int64_t begin, int64_t end) {
    const setup_job* job = data;
    for (int64_t T = begin; T < end; ++T) {
        // A coarse tile is one thread's, and its children come in order: the same sums always.
        for (int o = 0; o < PYRAMID_CHILDREN; ++o) {
            if (job->level->step.child[T][o] != PYRAMID_NONE) {
                aggregate_child(job->fine, job->level, T, o);
                aggregate_extra(job->fine, job->level, T, o);
            }
        }
    }
}

static void aggregate_extras(void* data, int64_t begin, int64_t end) {
    const setup_job* job = data;
    for (int64_t T = begin; T < end; ++T) {
        // Sums begin anew; links stand.
        memset((float*)job->level->extra + T * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
        for (int o = 0; o < PYRAMID_CHILDREN; ++o) {
            if (job->level->step.child[T][o] != PYRAMID_NONE) {
                aggregate_extra(job->fine, job->level, T, o);
            }
        }
    }
}

// The ninth link of each row is the first one of the next tile.
static void close_padding(pressure_level* level, int64_t t) {
    tile_ix next = level->map->neighbour[t][TILE_NEIGHBOUR(1, 0, 0)];
    float* to = level->link_x + t * PRESSURE_PADDED_TILE;
    const float* from = level->link_x + (int64_t)next * PRESSURE_PADDED_TILE;
    for (int row = 0; row < PRESSURE_ROWS; ++row) {
        to[row * PRESSURE_PADDED + ROW] =
            next < level->map->count ? from[row * PRESSURE_PADDED] : 0.0f;
    }
}

// Links of the tile above along y or z: high faces of the last row are low faces there.
static const float* high_links(const pressure_level* level, int64_t t, int axis) {
    int n = axis == 1 ? TILE_NEIGHBOUR(0, 1, 0) : TILE_NEIGHBOUR(0, 0, 1);
    tile_ix next = level->map->neighbour[t][n];
    // Where there is no tile there is no link.
    return next < level->map->count ? level->link[axis] + (int64_t)next * TILE_CELLS : zero_tile;
}

// The diagonal of a row: its extras and the links of its six faces.
static void add_up_row(const pressure_level* level, int64_t t, int row, float* diagonal) {
    int j = row % ROW, k = row / ROW, q = row * ROW;
    const float* x = level->link_x + t * PRESSURE_PADDED_TILE + row * PRESSURE_PADDED;
    const float* y = level->link[1] + t * TILE_CELLS + q;
    const float* z = level->link[2] + t * TILE_CELLS + q;
    const float* y_high = j < ROW - 1 ? y + ROW : high_links(level, t, 1) + k * LAYER;
    const float* z_high = k < ROW - 1 ? z + LAYER : high_links(level, t, 2) + j * ROW;
    const float* extra = level->extra + t * TILE_CELLS + q;
    for (int i = 0; i < ROW; ++i) {
        // Pairs along each axis, then the axes: the order is part of the results' bits.
        diagonal[i] = extra[i] + (x[i] + x[i + 1]) + (y[i] + y_high[i]) + (z[i] + z_high[i]);
    }
}

// Whether some cell of a tile is tied to a value outside: at the free surface, or by mass in heat.
static bool has_extra(const pressure_level* level, int64_t t) {
    // Extras are not negative, so the sum is zero only if all are.
    float sum = 0.0f;
    for (int q = 0; q < TILE_CELLS; ++q) {
        sum += level->extra[t * TILE_CELLS + q];
    }
    return sum > 0.0f;
}

// Sweeps repeat where the surface is: extra diagonals or missing cells.
static void invert_diagonal(void* data, int64_t begin, int64_t end) {
    const setup_job* job = data;
    pressure_level* level = job->level;
    uint8_t at_surface = (uint8_t)solve_policy_default()->cycle.surface_sweeps;
    for (int64_t t = begin; t < end; ++t) {
        uint64_t rows = 0;
        int unknowns = 0;
        // Before the diagonals, which read the ninth link.
        close_padding(level, t);
        for (int row = 0; row < PRESSURE_ROWS; ++row) {
            float diagonal[ROW];
            float* inverse = level->inverse + t * TILE_CELLS + row * ROW;
            int found = 0;
            add_up_row(level, t, row, diagonal);
            for (int i = 0; i < ROW; ++i) {
                // A cell with a zero diagonal is no unknown: with an inverse of zero sweeps leave
                // it as it is.
                inverse[i] = diagonal[i] > 0.0f ? 1.0f / diagonal[i] : 0.0f;
                found += diagonal[i] > 0.0f ? 1 : 0;
            }
            rows |= (uint64_t)(found > 0 ? 1 : 0) << row;
            unknowns += found;
        }
        // Errors live at the surface, where aggregates of few cells stand for whole blocks.
        bool is_inside = unknowns == TILE_CELLS && !has_extra(level, t);
        level->rows[t] = rows;
        level->repeats[t] = is_inside ? 1 : at_surface;
        job->unknowns[t] = (uint16_t)unknowns;
    }
}

// What a tile has a few bytes of, all ranks know.
static void invert(setup_job* job) {
    const pressure_level* level = job->level;
    tile_use use = {
        .reads = TILE_AROUND,
        .grain = GRAIN,
        .writes = {{.at = level->inverse},
                   tile_block(level->link_x, PRESSURE_PADDED_TILE * sizeof(float), TILE_TO_HOLDERS),
                   tile_block(level->rows, sizeof(*level->rows), TILE_TO_ALL),
                   tile_block(level->repeats, sizeof(*level->repeats), TILE_TO_ALL),
                   tile_block(job->unknowns, sizeof(*job->unknowns), TILE_TO_ALL)}};
    tile_for(level->map, &use, invert_diagonal, job);
}

// Sweeps and sums visit active tiles alone; the band around the liquid has none.
static void list_active(pressure_level* level, const uint16_t* unknowns) {
    // In order of tiles: lists of own tiles are then stretches of it.
    level->space.active = level->active;
    for (tile_ix t = 0; t < level->map->count; ++t) {
        if (unknowns[t] > 0) {
            level->active[level->space.active_count++] = t;
        }
        level->unknowns += unknowns[t];
    }
}

// What every level has; coarse ones get more in allocate_coarse.
static treacle_status pressure_level_allocate(pressure_level* level) {
    treacle_context* ctx = level->ctx;
    size_t tiles = (size_t)level->map->count;
    TREACLE_TRY(vec_space_create(ctx, level->map->count, TILE_CELLS, 0, &level->space));
    TREACLE_TRY(vec_create_float(&level->space, "inverse diagonals", &level->inverse));
    TREACLE_TRY(alloc_zero(ctx, tiles, PRESSURE_PADDED_TILE * sizeof(float), "padded links",
                           (void**)&level->link_x));
    TREACLE_TRY(alloc_zero(ctx, tiles, sizeof(uint64_t), "row masks", (void**)&level->rows));
    TREACLE_TRY(alloc_zero(ctx, tiles, sizeof(uint8_t), "sweep counts", (void**)&level->repeats));
    return alloc_zero(ctx, tiles, sizeof(tile_ix), "active tiles", (void**)&level->active);
}

// For a system whose extras have changed and whose links have not: contacts that let go tie cells,
// and the hierarchy is kept for all passes of that loop.
treacle_status pressure_level_refresh(pressure_level* level, const pressure_level* fine,
                                      bool* is_same) {
    size_t tiles = (size_t)level->map->count;
    // Diagonals anew, and whether the same tiles have unknowns: active lists and colours depend on
    // that.
    void* unknowns = NULL;
    TREACLE_TRY(alloc_zero(level->ctx, tiles, sizeof(uint16_t), "counts of unknowns", &unknowns));
    setup_job job = {.level = level, .fine = fine, .unknowns = unknowns};
    if (fine != NULL) {
        tile_for(level->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 2}, aggregate_extras,
                 &job);
    }
    invert(&job);
    tile_ix active = 0;
    *is_same = true;
    level->unknowns = 0.0;
    for (tile_ix t = 0; t < level->map->count; ++t) {
        bool was_active = active < level->space.active_count && level->active[active] == t;
        *is_same = *is_same && was_active == (job.unknowns[t] > 0);
        active += was_active ? 1 : 0;
        level->unknowns += job.unknowns[t];
    }
    alloc_free(level->ctx, unknowns, tiles * sizeof(uint16_t));
    return TREACLE_OK;
}

// What follows from the links, the same on every level.
// Diagonals, lists and colours.
static treacle_status pressure_level_finish(pressure_level* level) {
    size_t tiles = (size_t)level->map->count;
    void* unknowns = NULL;
    TREACLE_TRY(alloc_zero(level->ctx, tiles, sizeof(uint16_t), "counts of unknowns", &unknowns));
    setup_job job = {.level = level, .unknowns = unknowns};
    invert(&job);
    list_active(level, unknowns);
    alloc_free(level->ctx, unknowns, tiles * sizeof(uint16_t));
    // Stencils reach across faces only, so two colours do, but for odd periodic axes.
    return tile_colours_create(&level->domain, level->map, level->space.active_count, level->active,
                               TILE_CONTACT_FACE, &level->colours);
}

treacle_status pressure_level_create(treacle_context* ctx, const grid_domain* domain,
                                     const tile_map* map, const float* const link[AXES],
                                     const float* extra, pressure_level* out) {
    TREACLE_ASSERT(link[0] != NULL && link[1] != NULL && link[2] != NULL && extra != NULL);
    *out = (pressure_level){.ctx = ctx, .domain = *domain, .map = map, .extra = extra};
    memcpy(out->link, link, sizeof(out->link));
    treacle_status status;
    TREACLE_TRY_GOTO(pressure_level_allocate(out), fail);
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = GRAIN}, pad_links,
             &(setup_job){.level = out});
    TREACLE_TRY_GOTO(pressure_level_finish(out), fail);
    return TREACLE_OK;
fail:
    pressure_level_destroy(out);
    return status;
}

// Which coarse tiles there are: the parents of tiles with unknowns.
static treacle_status create_step(const pressure_level* fine, pyramid_step* step) {
    size_t tiles = (size_t)fine->map->count;
    uint32_t* reach = NULL;
    TREACLE_TRY(alloc_array(fine->ctx, tiles, sizeof(*reach), "reach of tiles", (void**)&reach));
    for (size_t t = 0; t < tiles; ++t) {
        // Constant interpolation reaches its own block only: no tile is needed beside the parents.
        reach[t] = fine->rows[t] != 0 ? PYRAMID_REACH(0, 0, 0) : 0;
    }
    treacle_status status =
        pyramid_step_create(fine->ctx, &fine->domain, fine->map, reach, PYRAMID_EACH, step);
    alloc_free(fine->ctx, reach, tiles * sizeof(*reach));
    return status;
}

static size_t pressure_level_field_length(const pressure_level* level) {
    return ((size_t)level->map->count + 1) * TILE_CELLS;
}

static treacle_status allocate_coarse(pressure_level* level, bool has_k_cycle) {
    TREACLE_TRY(alloc_zero(level->ctx, 3 * pressure_level_field_length(level), sizeof(float),
                           "coarse links", (void**)&level->owned));
    level->link[1] = level->owned;
    level->link[2] = level->owned + pressure_level_field_length(level);
    level->extra = level->owned + 2 * pressure_level_field_length(level);
    TREACLE_TRY(vec_create_float(&level->space, "coarse right-hand sides", &level->b));
    TREACLE_TRY(vec_create_float(&level->space, "coarse corrections", &level->x));
    // Two directions of a K-cycle and no more: z2 is x itself.
    for (int i = 0; i < 2 && has_k_cycle; ++i) {
        TREACLE_TRY(vec_create_float(&level->space, "coarse directions", &level->k[i]));
    }
    return TREACLE_OK;
}

// Levels with bodies are not: a body's rows may lie in tiles of any rank.
void pressure_level_distribute(pressure_level* level) {
    level->space.shared = level->map->ranks != NULL ? level->map : NULL;
}

treacle_status pressure_level_attach(pressure_level* level, body_term* bodies) {
    TREACLE_ASSERT(level->bodies == NULL && level->space.shared == NULL); // rows reach anywhere
    level->bodies = bodies;
    TREACLE_TRY(vec_create_float(&level->space, "inverse diagonals", &level->relax));
    // Sites of bodies are left out of the sweep over tiles, and taken exactly afterwards [body.1].
    memcpy(level->relax, level->inverse, pressure_level_field_length(level) * sizeof(float));
    for (int64_t s = 0; s < bodies->site_count; ++s) {
        level->relax[bodies->site[s].slot] = 0.0f;
    }
    return TREACLE_OK;
}

// Bodies go down with their level, or there are none on any.
static treacle_status coarsen_bodies(const pressure_level* fine, pressure_level* out) {
    body_term* bodies = NULL;
    if (fine->bodies == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(body_term_coarsen(fine, out, &bodies));
    return pressure_level_attach(out, bodies);
}

// What aggregation has summed in own tiles, to ranks that hold copies, or to all.
static void tell_links(const pressure_level* level, tile_readers readers) {
    const tile_values links[] = {
        tile_block(level->link_x, PRESSURE_PADDED_TILE * sizeof(float), readers),
        {.at = (void*)level->link[1], .readers = readers},
        {.at = (void*)level->link[2], .readers = readers},
        {.at = (void*)level->extra, .readers = readers}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); ++i) {
        tile_publish(level->map, &links[i]);
    }
}

treacle_status pressure_level_coarsen(const pressure_level* fine, bool has_k_cycle,
                                      pressure_level* out) {
    TREACLE_ASSERT(fine != out && fine->space.active_count > 0);
    *out = (pressure_level){.ctx = fine->ctx};
    treacle_status status;
    TREACLE_TRY_GOTO(create_step(fine, &out->step), fail);
    out->domain = out->step.domain;
    out->map = &out->step.map;
    TREACLE_TRY_GOTO(pressure_level_allocate(out), fail);
    TREACLE_TRY_GOTO(allocate_coarse(out, has_k_cycle), fail);
    // From here on down all ranks have all tiles, so they need all links of the last level that was
    // shared out.
    if (tile_ranks_are_distributed(fine->map) &&
        out->map->ranks == NULL) { // everybody does all of it
        tell_links(fine, TILE_TO_ALL);
    }
    tile_for(out->map, &(tile_use){.reads = TILE_AROUND, .grain = 2}, aggregate,
             &(setup_job){.level = out, .fine = fine});
    tell_links(out, TILE_TO_HOLDERS);
    TREACLE_TRY_GOTO(pressure_level_finish(out), fail);
    TREACLE_TRY_GOTO(coarsen_bodies(fine, out), fail);
    return TREACLE_OK;
fail:
    pressure_level_destroy(out);
    return status;
}

void pressure_level_destroy(pressure_level* level) {
    if (level->ctx == NULL || level->map == NULL) {
        return;
    }
    treacle_context* ctx = level->ctx;
    size_t tiles = (size_t)level->map->count;
    alloc_free(ctx, level->link_x, tiles * PRESSURE_PADDED_TILE * sizeof(float));
    alloc_free(ctx, level->owned, 3 * pressure_level_field_length(level) * sizeof(float));
    alloc_free(ctx, level->rows, tiles * sizeof(uint64_t));
    alloc_free(ctx, level->repeats, tiles * sizeof(uint8_t));
    alloc_free(ctx, level->active, tiles * sizeof(tile_ix));
    float* vectors[] = {level->inverse, level->relax, level->b, level->x, level->k[0], level->k[1]};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); ++i) {
        vec_destroy_float(&level->space, vectors[i]);
    }
    body_term_destroy(level->bodies);
    tile_colours_destroy(&level->colours);
    vec_space_destroy(&level->space);
    pyramid_step_destroy(&level->step);
    *level = (pressure_level){0};
}

// ---- Loops ----------------------------------------------------------------------------------

// Over the job's tiles, which are of the map of `space`.
static void run_loop(parallel_fcn* loop, pressure_job* job, const vec_space* space, int64_t count,
                     int64_t grain) {
    tile_for_subset(space->ctx, &(tile_subset){space->shared, count, job->tiles}, grain, loop, job);
}

// One sweep of Gauss and Seidel: colours of tiles one after the other, within a tile red and black
// cells. Forward and in reverse they are each other's transpose, which conjugate gradients ask of a
// cycle.
static void smooth_tiles(const pressure_level* level, const float* b, float* x, bool is_reverse,
                         bool from_zero) {
    const tile_colours* colours = &level->colours;
    // From zero the first colour sees no neighbours, and the second none but the first: nobody
    // needs to write zeros first. That holds forward and with two colours.
    bool can_skip_zeros = from_zero && !is_reverse && colours->count == 2;
    if (from_zero && !can_skip_zeros) {
        vec_set_zero_float(&level->space, x);
        vec_exchange_float(&level->space, x);
    }
    for (int i = 0; i < colours->count; ++i) {
        int c = is_reverse ? colours->count - 1 - i : i;
        pressure_job job = {.level = level,
                            .tiles = colours->tile + colours->first[c],
                            .b = b,
                            .x = x,
                            .is_reverse = is_reverse,
                            .is_own_zero = can_skip_zeros,
                            .is_others_zero = can_skip_zeros && i == 0};
        run_loop(ISA_CALL(level->ctx, pressure_loop_smooth), &job, &level->space,
                 colours->first[c + 1] - colours->first[c], GRAIN);
        // The next colour reads this one across the borders of ranks.
        vec_exchange_colour(&level->space, colours, c, x);
    }
}

// Bodies are part of a sweep: their sites are solved for exactly after the liquid, or before it in
// reverse.
void pressure_level_smooth(const pressure_level* level, const float* b, float* x, bool is_reverse,
                           bool from_zero) {
    TREACLE_ASSERT(b != x);
    if (level->bodies == NULL) {
        smooth_tiles(level, b, x, is_reverse, from_zero);
        return;
    }
    if (from_zero) {
        body_term_reset(level->bodies);
    }
    if (!is_reverse) {
        // Liquid, red sites, black sites; in reverse the other way round, so that one is the
        // transpose of the other.
        smooth_tiles(level, b, x, false, from_zero);
        body_term_relax(level->bodies, 0, b, x);
        body_term_relax(level->bodies, 1, b, x);
        return;
    }
    // Sites come first here and read their neighbours.
    if (from_zero) {
        vec_set_zero_float(&level->space, x);
    }
    body_term_relax(level->bodies, 1, b, x);
    body_term_relax(level->bodies, 0, b, x);
    smooth_tiles(level, b, x, true, false);
}

// Where coarse tiles are everybody's, everybody needs the whole of what they are summed from.
void pressure_level_restrict(const pressure_level* fine, const float* b, const float* x,
                             const pressure_level* coarse, float* coarse_b) {
    TREACLE_ASSERT((fine->bodies == NULL) == (coarse->bodies == NULL)); // on all levels or on none
    pressure_job job = {.level = fine,
                        .coarse = coarse,
                        .tiles = coarse->active,
                        .b = b,
                        .x = (float*)x,
                        .y = coarse_b};
    if (coarse->space.shared == NULL) { // then everybody does all of it
        vec_gather_float(&fine->space, x);
        vec_gather_float(&fine->space, b);
    }
    // Residual and sum in one pass over the children of coarse tiles: the residual is never stored.
    run_loop(ISA_CALL(fine->ctx, pressure_loop_restrict), &job, &coarse->space,
             coarse->space.active_count, 2);
    if (fine->bodies != NULL) {
        body_term_restrict(fine->bodies, coarse->bodies, coarse_b);
    }
}

// x += the coarse correction, each block by its one value; and what that moves the bodies by.
void pressure_level_prolong(const pressure_level* fine, const pressure_level* coarse,
                            const float* coarse_x, float* x) {
    pressure_job job = {
        .level = fine, .coarse = coarse, .tiles = fine->active, .x = (float*)coarse_x, .y = x};
    run_loop(ISA_CALL(fine->ctx, pressure_loop_prolong), &job, &fine->space,
             fine->space.active_count, GRAIN);
    vec_exchange_float(&fine->space, x);
    if (fine->bodies != NULL) {
        body_term_prolong(fine->bodies, coarse->bodies, coarse_x);
    }
}

// For K-cycles, whose coefficients are quotients of such energies.
double pressure_level_apply_float(const pressure_level* level, const float* x, float* y) {
    pressure_job job = {.level = level, .tiles = level->active, .x = (float*)x, .y = y};
    vec_exchange_float(&level->space, x);
    run_loop(ISA_CALL(level->ctx, pressure_loop_apply_float), &job, &level->space,
             level->space.active_count, GRAIN);
    double energy = vec_sum_partial(&level->space, 0);
    return level->bodies == NULL ? energy : energy + body_term_apply_float(level->bodies, x, y);
}

double pressure_level_apply(const pressure_level* level, const double* x, double* y) {
    pressure_job job = {.level = level, .tiles = level->active, .from = x, .to = y};
    vec_exchange(&level->space, x);
    run_loop(ISA_CALL(level->ctx, pressure_loop_apply), &job, &level->space,
             level->space.active_count, GRAIN);
    double energy = vec_sum_partial(&level->space, 0);
    return level->bodies == NULL ? energy : energy + body_term_apply(level->bodies, x, y);
}

double pressure_level_apply_rounded(const pressure_level* level, const float* x, double* y) {
    pressure_job job = {.level = level, .tiles = level->active, .x = (float*)x, .to = y};
    vec_exchange_float(&level->space, x);
    run_loop(ISA_CALL(level->ctx, pressure_loop_apply_rounded), &job, &level->space,
             level->space.active_count, GRAIN);
    double energy = vec_sum_partial(&level->space, 0);
    return level->bodies == NULL ? energy : energy + body_term_apply_rounded(level->bodies, x, y);
}

// How much of a diagonal is links, at most. Near zero the matrix is almost its diagonal, and a
// single sweep solves it; this number chooses between that and all levels (policy.h, single_links).
double pressure_level_link_fraction(const pressure_level* level) {
    // Searched as the least fraction of extras, and cut short at zero: liquid with one free cell
    // inside is the usual case.
    float least = 1.0f; // fraction of the extra
    tile_range own = tile_ranks_list(level->map, level->space.active_count, level->active);
    for (int64_t i = own.begin; i < own.end && least > 0.0f; ++i) {
        int64_t begin = (int64_t)level->active[i] * TILE_CELLS;
        for (int64_t q = begin; q < begin + TILE_CELLS; ++q) {
            float fraction = level->extra[q] * level->inverse[q];
            least = level->inverse[q] > 0.0f && fraction < least ? fraction : least;
        }
    }
    double most = 1.0 - (double)least;
    if (level->map->ranks != NULL) {
        comm_max_f64(level->ctx, &most, 1);
    }
    return most;
}

// In double and with bodies, for methods that want the diagonal of A itself.
void pressure_level_diagonal(const pressure_level* level, double* d) {
    for (tile_ix i = 0; i < level->space.active_count; ++i) {
        int64_t t = level->active[i];
        for (int row = 0; row < PRESSURE_ROWS; ++row) {
            float sum[ROW];
            add_up_row(level, t, row, sum);
            for (int n = 0; n < ROW; ++n) {
                d[t * TILE_CELLS + row * ROW + n] = (double)sum[n];
            }
        }
    }
    if (level->bodies != NULL) {
        body_term_add_diagonal(level->bodies, d);
    }
}

// Row masks must cover all unknowns, or sweeps would leave some out without a word.
static bool is_tile_valid(const pressure_level* level, int64_t t) {
    bool is_valid = level->repeats[t] > 0 && level->rows[t] != 0;
    for (int q = 0; q < TILE_CELLS && is_valid; ++q) {
        float inverse = level->inverse[t * TILE_CELLS + q];
        bool has_row = (level->rows[t] >> q / ROW & 1) != 0;
        is_valid = isfinite(inverse) && inverse >= 0.0f && (inverse == 0.0f || has_row);
    }
    return is_valid;
}

bool pressure_level_is_valid(const pressure_level* level) {
    const tile_ix* active = level->active;
    int64_t count = level->space.active_count;
    bool is_valid = count >= 0 && count <= level->map->count && level->unknowns >= (double)count;
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
