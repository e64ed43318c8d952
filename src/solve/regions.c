// Components in two stages: inside each tile, by threads; then between tiles, by one.
//
// Both are union-find with the smaller index as the root, so that the outcome does not depend on
// the order of the unions. A tile whose cells all hang together, the usual case, is one part.
#include "solve/regions.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exact_sum.h"
#include "grid/tile_loop.h"
#include "math/forest.h"
#include "solve/policy.h"

enum { ROW = TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE, NO_PART = 0xffff };

typedef struct tile_parts {
    uint16_t part[TILE_CELLS]; // NO_PART at cells without an unknown
} tile_parts;

// A region is what links join. In a closed one, which no extra ties to a value, the pressure is
// known up to a constant only: A has a null space of one vector a region, the right-hand side must
// have no part in it, and the solution is made unique by taking it out. Flat labels make both a sum
// a region.
typedef struct part_job {
    const pressure_level* level;
    tile_parts* parts;    // [tile]
    uint16_t* part_count; // [tile]
} part_job;

// From a cell to the next one along an axis.
static int stride_of(int axis) {
    return axis == 0 ? 1 : axis == 1 ? ROW : LAYER;
}

static int coordinate(int q, int axis) {
    return q >> 3 * axis & 7;
}

// Links along x are kept in rows of nine (solve/pressure_level.h), the others as fields.
// The link of the low face of cell q of tile t.
static float link_of(const pressure_level* level, int64_t t, int q, int axis) {
    if (axis == 0) {
        return level->link_x[t * PRESSURE_PADDED_TILE + (q / ROW) * PRESSURE_PADDED + q % ROW];
    }
    return level->link[axis][t * TILE_CELLS + q];
}

// Paths are halved on the way up: the next search is shorter, and no rank needs to be kept.
static uint16_t find_root(uint16_t* parent, uint16_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(uint16_t* parent, uint16_t i, uint16_t j) {
    uint16_t p = find_root(parent, i), q = find_root(parent, j);
    // The smaller index stays a root: a set is then named by its first cell, in whatever order its
    // links are met.
    parent[p > q ? p : q] = p > q ? q : p;
}

// The usual tile, inside of liquid, needs no union-find at all: 512 unknowns with all links between
// them are one part.
static bool is_whole(const pressure_level* level, int64_t t) {
    for (int q = 0; q < TILE_CELLS; ++q) {
        if (!(level->inverse[t * TILE_CELLS + q] > 0.0f)) {
            return false;
        }
        // Only links inside of the tile count: those across its sides are for the second stage.
        for (int a = 0; a < AXES; ++a) {
            if (coordinate(q, a) > 0 && !(link_of(level, t, q, a) > 0.0f)) {
                return false;
            }
        }
    }
    return true;
}

// Parts of one tile, by its own links; returns how many.
static int split_tile(const pressure_level* level, int64_t t, uint16_t* part) {
    uint16_t parent[TILE_CELLS];
    const float* inverse = level->inverse + t * TILE_CELLS;
    for (int q = 0; q < TILE_CELLS; ++q) {
        parent[q] = (uint16_t)q;
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        for (int a = 0; a < AXES; ++a) {
            if (coordinate(q, a) > 0 && link_of(level, t, q, a) > 0.0f) {
                unite(parent, (uint16_t)q, (uint16_t)(q - stride_of(a)));
            }
        }
    }
    // A root comes before its members, so its number stands when they ask. Cells without an unknown
    // are roots of nothing.
    int count = 0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        uint16_t root = find_root(parent, (uint16_t)q);
        bool is_new = root == q && inverse[q] > 0.0f;
        part[q] = is_new ? (uint16_t)count++ : inverse[q] > 0.0f ? part[root] : NO_PART;
    }
    return count;
}

// Labels are of 16 bits: a tile has at most 512 parts.
static void split_tiles(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        if (is_whole(job->level, t)) {
            memset(job->parts[t].part, 0, sizeof(tile_parts));
            job->part_count[t] = 1;
        } else {
            job->part_count[t] = (uint16_t)split_tile(job->level, t, job->parts[t].part);
        }
    }
}

// ---- Between tiles --------------------------------------------------------------------------

typedef struct forest {
    int32_t* parent; // [parts of all tiles]
    uint8_t* is_open;
    int32_t* first;      // [tile + 1], its first part
    int32_t* told;       // [parts of all tiles], the root that all ranks know of
    int64_t* rank_first; // [rank + 1], its first part
    bool is_all;         // open regions count too
} forest;

static void join_low_face(const part_job* job, const forest* trees, int64_t t, int axis) {
    static const int low[AXES] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                  TILE_NEIGHBOUR(0, 0, -1)};
    tile_ix s = job->level->map->neighbour[t][low[axis]];
    // No tile, or none with unknowns: nothing to join.
    if (s == job->level->map->count || job->part_count[t] == 0 || job->part_count[s] == 0) {
        return;
    }
    // Two tiles of one part each are joined by the first link that there is.
    bool is_one_pair = job->part_count[t] == 1 && job->part_count[s] == 1;
    int across = stride_of(axis), b = stride_of((axis + 1) % AXES),
        c = stride_of((axis + 2) % AXES);
    for (int n = 0; n < LAYER; ++n) {
        int q = n % ROW * b + n / ROW * c;
        if (link_of(job->level, t, q, axis) > 0.0f) {
            uint16_t here = job->parts[t].part[q];
            uint16_t there = job->parts[s].part[q + (ROW - 1) * across];
            forest_unite(trees->parent, trees->first[t] + here, trees->first[s] + there);
            if (is_one_pair) {
                return;
            }
        }
    }
}

// An extra ties a cell to a given value: its region is open, and has no free constant.
// One extra is enough: the pressure of the whole region is then known and not only up to a
// constant.
static void open_tile(const part_job* job, const forest* trees, int64_t t) {
    const float* extra = job->level->extra + t * TILE_CELLS;
    for (int q = 0; q < TILE_CELLS; ++q) {
        if (extra[q] > 0.0f) {
            trees->is_open[trees->first[t] + job->parts[t].part[q]] = 1;
        }
    }
}

// The faces of one's own tiles; those on the high side too where another rank has the tile beyond.
static void join_own(const part_job* job, const forest* trees) {
    static const int high[AXES] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                   TILE_NEIGHBOUR(0, 0, 1)};
    const tile_map* map = job->level->map;
    tile_range own = tile_ranks_own(map);
    for (int64_t t = own.begin; t < own.end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            tile_ix next = map->neighbour[t][high[a]];
            // A link is kept by the cell above it, so a face on the high side is the next tile's
            // low one.
            join_low_face(job, trees, t, a);
            if (next != map->count && (next < own.begin || next >= own.end)) {
                join_low_face(job, trees, next, a);
            }
        }
    }
}

// What ranks say of the parts of their own tiles comes to all.
static void gather_parts(const part_job* job, const forest* trees, void* data, size_t bytes) {
    const tile_map* map = job->level->map;
    for (int r = 0; r <= comm_size(map->ctx); ++r) {
        trees->rank_first[r] = trees->first[map->ranks->first[r]];
    }
    comm_gather(map->ctx, data, bytes, trees->rank_first);
}

// A rank knows the faces of its own tiles: one that has learned of an earlier root tells the others
// of it, until nobody learns more. True if it has to be done again.
static bool has_news(const part_job* job, const forest* trees) {
    const tile_map* map = job->level->map;
    if (map->ranks == NULL) {
        return false;
    }
    tile_range own = tile_ranks_own(map);
    int64_t has_any = 0;
    for (int32_t i = trees->first[own.begin]; i < trees->first[own.end]; ++i) {
        int32_t root = forest_root(trees->parent, i);
        has_any = has_any != 0 || trees->told[i] != root;
        trees->told[i] = root;
    }
    // Everybody must agree to go on, also ranks that have learned nothing themselves.
    comm_max_i64(map->ctx, &has_any, 1);
    gather_parts(job, trees, trees->told, sizeof(*trees->told));
    // Roots of all parts as their owners know them: the next round joins what two owners see apart.
    memcpy(trees->parent, trees->told, (size_t)trees->first[map->count] * sizeof(int32_t));
    return has_any != 0;
}

static void grow_forest(const part_job* job, const forest* trees) {
    tile_ix tiles = job->level->map->count;
    tile_range own = tile_ranks_own(job->level->map);
    for (int32_t i = 0; i < trees->first[tiles]; ++i) {
        trees->parent[i] = trees->told[i] = i;
    }
    // At most as many rounds as a region crosses borders of ranks; one without ranks.
    do {
        join_own(job, trees);
    } while (has_news(job, trees));
    for (int64_t t = own.begin; t < own.end; ++t) {
        open_tile(job, trees, t);
    }
    if (job->level->map->ranks != NULL) {
        gather_parts(job, trees, trees->is_open, sizeof(*trees->is_open));
    }
    // From parts to their roots, which alone are asked later.
    for (int32_t i = 0; i < trees->first[tiles]; ++i) {
        if (trees->is_open[i] != 0) {
            trees->is_open[forest_root(trees->parent, i)] = 1;
        }
    }
}

// Makes parent[i] the number of the region of part i, or REGION_NONE. A root comes before
// its members, so its number stands when they ask for it.
static int32_t number_regions(const forest* trees, int32_t parts) {
    // Flat first: numbering overwrites parents, and a path through an overwritten one leads
    // nowhere.
    int32_t count = 0;
    for (int32_t i = 0; i < parts; ++i) {
        trees->parent[i] = forest_root(trees->parent, i);
    }
    for (int32_t i = 0; i < parts; ++i) {
        int32_t root = trees->parent[i];
        if (root != i) {
            trees->parent[i] = trees->parent[root];
        } else {
            bool is_counted = trees->is_all || trees->is_open[i] == 0;
            trees->parent[i] = is_counted ? count++ : REGION_NONE;
        }
    }
    return count;
}

static void label_tile(region_set* out, const part_job* job, const forest* trees, int64_t t) {
    int32_t* label = out->label + t * TILE_CELLS;
    // A tile whose unknowns all have one label is summed as a whole; the label says so.
    int32_t only = REGION_NONE;
    bool is_first = true;
    for (int q = 0; q < TILE_CELLS; ++q) {
        uint16_t part = job->parts[t].part[q];
        label[q] = part == NO_PART ? REGION_NONE : trees->parent[trees->first[t] + part];
        if (part == NO_PART) {
            continue;
        }
        only = is_first || only == label[q] ? label[q] : REGION_MIXED;
        is_first = false;
    }
    out->tile_label[t] = only;
}

static treacle_status measure_regions(region_set* out, const tile_map* map) {
    size_t count = (size_t)out->count;
    // Counted as integers: they are sums over ranks, and must not depend on their order.
    int64_t* cells = NULL;
    TREACLE_TRY(alloc_zero(out->ctx, count, sizeof(double), "region sizes", (void**)&out->size));
    TREACLE_TRY(alloc_zero(out->ctx, count, sizeof(*cells), "region sizes", (void**)&cells));
    tile_range own = tile_ranks_own(map);
    for (int64_t i = own.begin * TILE_CELLS; i < own.end * TILE_CELLS; ++i) {
        if (out->label[i] != REGION_NONE) {
            cells[out->label[i]] += 1;
        }
    }
    if (map->ranks != NULL) {
        comm_sum_i64(out->ctx, cells, out->count);
    }
    for (size_t r = 0; r < count; ++r) {
        out->size[r] = (double)cells[r];
    }
    alloc_free(out->ctx, cells, count * sizeof(*cells));
    return TREACLE_OK;
}

// Labels of cells, and of whole tiles where one label is all there is.
static treacle_status label_cells(region_set* out, const part_job* job, const forest* trees) {
    const tile_map* map = job->level->map;
    size_t tiles = (size_t)map->count;
    // Liquid with a free surface everywhere, the usual case, has no closed region, and no labels.
    if (out->count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(
        alloc_array(out->ctx, tiles, sizeof(int32_t), "region labels", (void**)&out->tile_label));
    TREACLE_TRY(alloc_array(out->ctx, tiles * TILE_CELLS, sizeof(int32_t), "region labels",
                            (void**)&out->label));
    for (size_t t = 0; t < tiles; ++t) {
        if (tile_ranks_holds(map, (tile_ix)t)) {
            label_tile(out, job, trees, (int64_t)t);
        }
    }
    return measure_regions(out, map);
}

// Parts of all tiles numbered through, then joined across the sides of tiles, then counted.
static treacle_status find_regions(region_set* out, const part_job* job, int32_t* first,
                                   bool is_all) {
    tile_ix tiles = job->level->map->count;
    for (tile_ix t = 0; t < tiles; ++t) {
        first[t + 1] = first[t] + job->part_count[t];
    }
    size_t parts = (size_t)first[tiles], ranks = (size_t)comm_size(out->ctx) + 1;
    forest trees = {.first = first, .is_all = is_all};
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_array(out->ctx, parts, sizeof(int32_t), "parts of regions", (void**)&trees.parent),
        finish);
    TREACLE_TRY_GOTO(
        alloc_zero(out->ctx, parts, sizeof(uint8_t), "parts of regions", (void**)&trees.is_open),
        finish);
    TREACLE_TRY_GOTO(
        alloc_array(out->ctx, parts, sizeof(int32_t), "parts of regions", (void**)&trees.told),
        finish);
    TREACLE_TRY_GOTO(
        alloc_array(out->ctx, ranks, sizeof(int64_t), "parts of ranks", (void**)&trees.rank_first),
        finish);
    grow_forest(job, &trees);
    out->count = number_regions(&trees, (int32_t)parts);
    status = label_cells(out, job, &trees);
finish:
    alloc_free(out->ctx, trees.parent, parts * sizeof(int32_t));
    alloc_free(out->ctx, trees.is_open, parts * sizeof(uint8_t));
    alloc_free(out->ctx, trees.told, parts * sizeof(int32_t));
    alloc_free(out->ctx, trees.rank_first, ranks * sizeof(int64_t));
    return status;
}

static treacle_status create(const pressure_level* level, bool is_all, region_set* out) {
    treacle_context* ctx = level->ctx;
    size_t tiles = (size_t)level->map->count;
    int32_t* first = NULL;
    part_job job = {.level = level};
    treacle_status status;
    *out = (region_set){.ctx = ctx, .space = &level->space, .map = level->map};
    TREACLE_TRY_GOTO(
        alloc_array(ctx, tiles, sizeof(tile_parts), "parts of tiles", (void**)&job.parts), finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, tiles, sizeof(uint16_t), "parts of tiles", (void**)&job.part_count),
        finish);
    TREACLE_TRY_GOTO(alloc_zero(ctx, tiles + 1, sizeof(int32_t), "parts of tiles", (void**)&first),
                     finish);
    // By threads, each tile for itself; what lies between tiles is one thread's, in order.
    tile_use use = {.reads = TILE_AROUND,
                    .grain = 8,
                    .writes = {tile_block(job.parts, sizeof(tile_parts), TILE_TO_HOLDERS),
                               tile_block(job.part_count, sizeof(uint16_t), TILE_TO_ALL)}};
    tile_for(level->map, &use, split_tiles, &job);
    status = find_regions(out, &job, first, is_all);
finish:
    alloc_free(ctx, job.parts, tiles * sizeof(tile_parts));
    alloc_free(ctx, job.part_count, tiles * sizeof(uint16_t));
    alloc_free(ctx, first, (tiles + 1) * sizeof(int32_t));
    if (status != TREACLE_OK) {
        regions_destroy(out);
    }
    return status;
}

treacle_status regions_create(const pressure_level* level, region_set* out) {
    return create(level, false, out);
}

treacle_status regions_create_all(const pressure_level* level, region_set* out) {
    return create(level, true, out);
}

void regions_destroy(region_set* set) {
    if (set->ctx == NULL || set->space == NULL) {
        return;
    }
    size_t tiles = (size_t)set->space->tile_count;
    alloc_free(set->ctx, set->tile_label, tiles * sizeof(int32_t));
    alloc_free(set->ctx, set->label, tiles * TILE_CELLS * sizeof(int32_t));
    alloc_free(set->ctx, set->size, (size_t)set->count * sizeof(double));
    alloc_free(set->ctx, set->held, (size_t)set->held_room * (size_t)set->count * sizeof(double));
    set->ctx = NULL;
    set->count = 0;
}

// ---- Constants that are held ------------------------------------------------------------------

// v -= its part along the directions held so far.
static void take_out_held(const region_set* set, double* v) {
    for (int32_t n = 0; n < set->held_count; ++n) {
        const double* q = set->held + (size_t)n * (size_t)set->count;
        // Gram and Schmidt's, in the order in which directions came: they are orthonormal.
        double coefficient = 0.0;
        for (int32_t r = 0; r < set->count; ++r) {
            coefficient += q[r] * v[r];
        }
        for (int32_t r = 0; r < set->count; ++r) {
            v[r] -= coefficient * q[r];
        }
    }
}

// Euclidean, over regions: they are few.
static double length_of(const region_set* set, const double* v) {
    double square = 0.0;
    for (int32_t r = 0; r < set->count; ++r) {
        square += v[r] * v[r];
    }
    return sqrt(square);
}

// A row that is hardly more than a combination of earlier ones adds no direction.
// Directions are kept orthonormal in the space of constants, one coordinate a region, each scaled
// by the root of its size, so that lengths there are lengths of vectors over cells.
static void hold_row(region_set* set, const double* row, double floor) {
    double* to = set->held + (size_t)set->held_count * (size_t)set->count;
    double largest = 0.0;
    for (int32_t r = 0; r < set->count; ++r) {
        bool is_seen = fabs(row[r]) > floor;
        largest = is_seen ? fmax(largest, fabs(row[r])) : largest;
        // Constants are scaled to length one: a region of n cells has the constant 1 / sqrt(n) in
        // each.
        to[r] = is_seen ? row[r] / sqrt(set->size[r]) : 0.0;
    }
    double before = length_of(set, to);
    if (set->held_count == set->held_room - 1 || !(largest > 0.0)) {
        return;
    }
    // Twice: what is left after the first may be mostly rounding, and the second says so.
    take_out_held(set, to);
    take_out_held(set, to);
    double after = length_of(set, to);
    for (int32_t r = 0; r < set->count; ++r) {
        to[r] /= after;
    }
    set->held_count += after > solve_policy_default()->rounding.region_new * before ? 1 : 0;
}

// A body ties constants of regions to one another: moving into one region it moves out of the
// other. Rows are what a body feels of each constant. Constants in their span are resisted by its
// mass and so are part of the solution; only the rest of the null space is projected out.
treacle_status regions_hold(region_set* set, int32_t row_count, const double* row,
                            const double* floor) {
    if (set->count == 0) {
        return TREACLE_OK;
    }
    // No more directions than regions, and one place to work in.
    int32_t room = (row_count < set->count ? row_count : set->count) + 1;
    TREACLE_TRY(alloc_zero(set->ctx, (size_t)room * (size_t)set->count, sizeof(double),
                           "held regions", (void**)&set->held));
    set->held_room = room;
    for (int32_t n = 0; n < row_count; ++n) {
        hold_row(set, row + (size_t)n * (size_t)set->count, floor[n]);
    }
    return TREACLE_OK;
}

// ---- Projection -----------------------------------------------------------------------------

static double sum_tile(const double* v) {
    double lane[ROW] = {0};
    for (int q = 0; q < TILE_CELLS; ++q) {
        // Eight sums and a fixed tree, as the loops over vectors have it.
        lane[q % ROW] += v[q];
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// Whole tiles by their lanes, mixed ones cell by cell.
static void sum_regions(const region_set* set, const double* v, exact_sum* sums) {
    const vec_space* space = set->space;
    tile_range own = tile_ranks_list(space->shared, space->active_count, space->active);
    for (int64_t i = own.begin; i < own.end; ++i) {
        int64_t t = space->active[i];
        int32_t only = set->tile_label[t];
        if (only >= 0) {
            exact_sum_add(&sums[only], sum_tile(v + t * TILE_CELLS));
        }
        // Cell by cell into exact sums: no order matters.
        for (int q = 0; q < TILE_CELLS && only == REGION_MIXED; ++q) {
            int32_t label = set->label[t * TILE_CELLS + q];
            if (label >= 0) {
                exact_sum_add(&sums[label], v[t * TILE_CELLS + q]);
            }
        }
    }
}

treacle_status regions_sum(const region_set* set, const double* v, double* sum) {
    size_t count = (size_t)set->count;
    exact_sum* sums = NULL;
    TREACLE_TRY(alloc_array(set->ctx, count, sizeof(*sums), "sums over regions", (void**)&sums));
    for (size_t r = 0; r < count; ++r) {
        exact_sum_init(&sums[r]);
    }
    sum_regions(set, v, sums);
    if (set->space->shared != NULL) {
        comm_sum_exact(set->ctx, sums, (int)count);
    }
    for (size_t r = 0; r < count; ++r) {
        sum[r] = exact_sum_value(&sums[r]);
    }
    alloc_free(set->ctx, sums, count * sizeof(*sums));
    return TREACLE_OK;
}

typedef struct shift_job {
    const region_set* set;
    const double* mean;
    double* v;
} shift_job;

// v -= the mean of its region, cell by cell.
static void subtract_means(void* data, int64_t begin, int64_t end) {
    const shift_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = job->set->space->active[i];
        // Tiles of other ranks are not here in full; their owners do them.
        if (!tile_ranks_holds(job->set->map, (tile_ix)t)) {
            continue;
        }
        for (int q = 0; q < TILE_CELLS && job->set->tile_label[t] != REGION_NONE; ++q) {
            int32_t label = job->set->label[t * TILE_CELLS + q];
            job->v[t * TILE_CELLS + q] -= label >= 0 ? job->mean[label] : 0.0;
        }
    }
}

// v less its part in the null space that nothing holds; `dropped` is the largest mean that was
// taken out, which for a right-hand side is how far the system was from having a solution.
treacle_status regions_project_told(const region_set* set, double* v, double* dropped) {
    size_t count = (size_t)set->count;
    double* mean = NULL;
    *dropped = 0.0;
    if (count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_array(set->ctx, count, sizeof(*mean), "means of regions", (void**)&mean));
    treacle_status status;
    TREACLE_TRY_GOTO(regions_sum(set, v, mean), finish);
    for (size_t r = 0; r < count; ++r) {
        // To coordinates along unit constants; less what bodies hold of them, which b may well
        // have; and back to means.
        mean[r] /= sqrt(set->size[r]);
    }
    take_out_held(set, mean);
    for (size_t r = 0; r < count; ++r) {
        mean[r] /= sqrt(set->size[r]);
        *dropped = fmax(*dropped, fabs(mean[r]));
    }
    parallel_for(set->ctx, set->space->active_count, 8, subtract_means, &(shift_job){set, mean, v});
finish:
    alloc_free(set->ctx, mean, count * sizeof(*mean));
    return status;
}

treacle_status regions_project(const region_set* set, double* v) {
    double dropped;
    return regions_project_told(set, v, &dropped);
}
