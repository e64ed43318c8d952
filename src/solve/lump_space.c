// Aggregates are kept tile by tile: a list of those that a tile has faces of, and for each face the
// place in that list. Sums go from faces to the tile's list, by threads, and from the lists to the
// aggregates in the order of tiles, by one.
#include "solve/lump_space.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/lump_assembly.h"
#include "solve/viscosity_kernels.h"

// Z has six columns an aggregate: at a face along a that belongs to it the translation along a and
// the two rotations that move it. The best correction within the span of Z minimises the energy of
// the error, so Z^T A Z m = Z^T (r - A z): with E the matrix, m its solution by the factor, z += Z
// m. Z itself is never stored. A row of it is a unit and two arms, so that Z^T v is forces and
// torques, summed half a row at a time, and Z m a translation and a slope.
struct lump_space {
    treacle_context* ctx;
    const viscosity_level* level;
    lump_map map;
    block_ldl* ldl;
    double (*local)[BLOCK_SIZE];  // [map.first[map.used]], sums by tile and aggregate
    double (*motion)[BLOCK_SIZE]; // [map.count]
    int64_t* rank_first;          // [ranks + 1], sums of each
};

// E is factored once; a correction is then two passes over the tiles of lumps and a solve by the
// factor.
static treacle_status lump_space_build(lump_space* s, const lump_map_def* def,
                                       lump_labels* labels) {
    TREACLE_TRY(lump_map_create(def, labels, &s->map));
    // All lumps may prove to be held by walls: then there is no space.
    if (s->map.count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(lump_assembly_factor(s->level, labels, &s->map, &s->ldl));
    TREACLE_TRY(alloc_array(s->ctx, (size_t)s->map.first[s->map.used], sizeof(*s->local),
                            "sums over aggregates", (void**)&s->local));
    TREACLE_TRY(alloc_zero(s->ctx, (size_t)comm_size(s->ctx) + 1, sizeof(int64_t), "sums of ranks",
                           (void**)&s->rank_first));
    return alloc_array(s->ctx, (size_t)s->map.count, sizeof(*s->motion), "motions of aggregates",
                       (void**)&s->motion);
}

treacle_status lump_space_create(const lump_def* def, lump_space** out) {
    const viscosity_level* level = def->level;
    treacle_context* ctx = level->ctx;
    lump_labels labels;
    lump_space* s = NULL;
    *out = NULL;
    // Labels cross tiles and ranks, so everybody labels everything: it needs all weights.
    viscosity_level_complete(level);
    TREACLE_TRY(lump_labels_create(def, &labels));
    treacle_status status = TREACLE_OK;
    if (labels.count == 0) {
        goto finish;
    }
    TREACLE_TRY_GOTO(alloc_zero(ctx, 1, sizeof(*s), "rigid motions", (void**)&s), finish);
    s->ctx = ctx;
    s->level = level;
    lump_map_def map = {level, def->bodies, def->scope == LUMP_SCOPE_GRID};
    status = lump_space_build(s, &map, &labels);
finish:
    lump_labels_destroy(&labels);
    if (s != NULL && (status != TREACLE_OK || s->map.count == 0)) {
        lump_space_destroy(s);
        s = NULL;
    }
    *out = s;
    return status;
}

void lump_space_destroy(lump_space* space) {
    if (space == NULL) {
        return;
    }
    // A space that failed while it was made has no lists yet.
    size_t lists = space->map.first == NULL ? 0 : (size_t)space->map.first[space->map.used];
    alloc_free(space->ctx, space->local, lists * sizeof(*space->local));
    alloc_free(space->ctx, space->rank_first,
               ((size_t)comm_size(space->ctx) + 1) * sizeof(int64_t));
    alloc_free(space->ctx, space->motion, (size_t)space->map.count * sizeof(*space->motion));
    block_ldl_destroy(space->ldl);
    lump_map_destroy(&space->map);
    alloc_free(space->ctx, space, sizeof(*space));
}

int32_t lump_space_count(const lump_space* space) {
    return space == NULL ? 0 : space->map.count;
}

// ---- Sums -----------------------------------------------------------------------------------

typedef struct lump_job {
    const lump_space* space;
    const float* r;
    float* z;
    const double* from;
    double* to;
} lump_job;

// Adds the force v at arm to a sum: push along a, and torque.
static void add_force(double* sum, int a, const double push, const double moment[AXES]) {
    // Torque is arm x force: a force along a has components along b and c alone.
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    sum[a] += push;
    sum[AXES + b] += moment[c];
    sum[AXES + c] -= moment[b];
}

// A row of forces on one aggregate: its total, and its moment along x from the first face.
static void sum_row(const double* v, double* total, double* along) {
    // In the order in which the lanes of a vector would be added: it is part of what results are.
    *total = (v[0] + v[2]) + (v[1] + v[3]);
    *along = 2.0 * v[2] + (v[1] + 3.0 * v[3]);
}

// Face by face, where several aggregates meet in half a row.
static void sum_faces(const lump_space* s, int64_t used, int begin, int count, const double* v) {
    const lump_map* map = &s->map;
    double(*sums)[BLOCK_SIZE] = s->local + map->first[used];
    for (int n = begin; n < begin + count; ++n) {
        uint8_t place = map->place[map->block[used] * VISCOSITY_BLOCK + n];
        if (place != LUMP_NO_PLACE) {
            double arm[AXES];
            int32_t g = map->list[map->first[used] + place];
            lump_map_arm(map, s->level, map->tile[used], n, g, arm);
            const double moment[AXES] = {arm[0] * v[n], arm[1] * v[n], arm[2] * v[n]};
            add_force(sums[place], n / TILE_CELLS, v[n], moment);
        }
    }
}

// Adds Z^T v of one tile to the sums of its list. v is zero where there is no unknown.
static void sum_tile(const lump_space* s, int64_t used, const double* v) {
    const lump_map* map = &s->map;
    double(*sums)[BLOCK_SIZE] = s->local + map->first[used];
    // A tile's sums are its own: no two threads add to one.
    memset(sums, 0, (size_t)(map->first[used + 1] - map->first[used]) * sizeof(*sums));
    for (int row = 0; row < LUMP_ROWS; ++row) {
        uint8_t place = map->row[used * LUMP_ROWS + row];
        int n = row * LUMP_ROW;
        if (place == LUMP_MIXED) {
            sum_faces(s, used, n, LUMP_ROW, v);
        } else if (place != LUMP_NO_PLACE) {
            double arm[AXES], total, along;
            int32_t g = map->list[map->first[used] + place];
            lump_map_arm(map, s->level, map->tile[used], n, g, arm);
            sum_row(v + n, &total, &along);
            // Faces of a row lie one apart along x: the arm of the first serves for all, and the
            // rest is the moment along x, which flat grids do not have.
            bool is_wide = s->level->domain.is_active[0];
            const double moment[AXES] = {arm[0] * total + (is_wide ? along : 0.0), arm[1] * total,
                                         arm[2] * total};
            add_force(sums[place], n / TILE_CELLS, total, moment);
        }
    }
}

static void sum_defects(void* data, int64_t begin, int64_t end) {
    const lump_job* job = data;
    const lump_space* s = job->space;
    for (int64_t u = begin; u < end; ++u) {
        // r - A z of one tile, in double and never stored: rigid motions are what float cannot see.
        double defect[VISCOSITY_BLOCK];
        ISA_CALL(s->ctx, viscosity_defect)(s->level, s->map.tile[u], job->r, job->z, defect);
        sum_tile(s, u, defect);
    }
}

// Z^T of a vector that is given, for the momentum of lumps.
static void sum_values(void* data, int64_t begin, int64_t end) {
    const lump_job* job = data;
    for (int64_t u = begin; u < end; ++u) {
        int64_t t = job->space->map.tile[u];
        sum_tile(job->space, u, job->from + t * VISCOSITY_BLOCK);
    }
}

// The tiles' sums and those of bodies together, and the motions that they cause.
// E^-1 is a factor that every rank has whole, so all ranks find the same motions.
static void solve_motions(const lump_space* s, const double* bodies) {
    const lump_map* map = &s->map;
    // Tiles in their order, by one thread: so the sums have the same bits for every number of them.
    memset(s->motion, 0, (size_t)map->count * sizeof(*s->motion));
    for (int64_t i = 0; i < map->first[map->used]; ++i) {
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            s->motion[map->list[i]][k] += s->local[i][k];
        }
    }
    for (int32_t b = 0; b < map->bodies->count; ++b) {
        if (map->body[b] >= 0) {
            lump_map_push_body(map, s->level, b, bodies + (size_t)b * BLOCK_SIZE,
                               s->motion[map->body[b]]);
        }
    }
    // Sums in, motions out.
    block_ldl_solve(s->ldl, &s->motion[0][0]);
}

// How body b moves with its aggregate; zero if it has none.
static void motion_of_body(const lump_space* s, int32_t b, double y[BLOCK_SIZE]) {
    memset(y, 0, BLOCK_SIZE * sizeof(double));
    if (s->map.body[b] >= 0) {
        lump_map_move_body(&s->map, s->level, b, s->motion[s->map.body[b]], y);
    }
}

// The motion of aggregate g at face n of a tile, and how it changes along x.
static void motion_at(const lump_space* s, tile_ix t, int n, int32_t g, double* here,
                      double* along) {
    int a = n / TILE_CELLS, b = (a + 1) % AXES, c = (a + 2) % AXES;
    const double* motion = s->motion[g];
    double arm[AXES];
    lump_map_arm(&s->map, s->level, t, n, g, arm);
    *here = motion[a] + motion[AXES + b] * arm[c] - motion[AXES + c] * arm[b];
    // A rotation changes the velocity linearly along a row: a start and a slope describe four
    // faces.
    *along = c == 0 ? motion[AXES + b] : b == 0 ? -motion[AXES + c] : 0.0;
    *along = s->level->domain.is_active[0] ? *along : 0.0;
}

// The motions of the faces of a row with several aggregates.
static void motions_of_mixed_row(const lump_space* s, int64_t used, int row, double out[LUMP_ROW]) {
    const lump_map* map = &s->map;
    for (int i = 0; i < LUMP_ROW; ++i) {
        int n = row * LUMP_ROW + i;
        uint8_t place = map->place[map->block[used] * VISCOSITY_BLOCK + n];
        double along;
        int64_t slot = (int64_t)map->tile[used] * VISCOSITY_BLOCK + n;
        out[i] = 0.0;
        // Labels also cover faces of bodies, which are no unknowns of the vector.
        if (place != LUMP_NO_PLACE && s->level->inverse[slot] > 0.0f) {
            int32_t g = map->list[map->first[used] + place];
            motion_at(s, map->tile[used], n, g, &out[i], &along);
        }
    }
}

// The motions of the faces of a row.
static void motions_of_row(const lump_space* s, int64_t used, int row, double out[LUMP_ROW]) {
    const lump_map* map = &s->map;
    uint8_t common = map->row[used * LUMP_ROWS + row];
    // Half a row of one lump: a start and a slope.
    int64_t slot = (int64_t)map->tile[used] * VISCOSITY_BLOCK + row * LUMP_ROW;
    double here = 0.0, along = 0.0;
    if (common == LUMP_MIXED) {
        motions_of_mixed_row(s, used, row, out);
        return;
    }
    int32_t g = map->list[map->first[used] + common];
    motion_at(s, map->tile[used], row * LUMP_ROW, g, &here, &along);
    for (int i = 0; i < LUMP_ROW; ++i) {
        out[i] = s->level->inverse[slot + i] > 0.0f ? here + along * i : 0.0;
    }
}

// z += Z motion, or x += Z motion.
static void add_motions(void* data, int64_t begin, int64_t end) {
    const lump_job* job = data;
    const lump_space* s = job->space;
    for (int64_t u = begin; u < end; ++u) {
        for (int row = 0; row < LUMP_ROWS; ++row) {
            int64_t slot = (int64_t)s->map.tile[u] * VISCOSITY_BLOCK + row * LUMP_ROW;
            double motion[LUMP_ROW];
            if (s->map.row[u * LUMP_ROWS + row] == LUMP_NO_PLACE) {
                continue;
            }
            motions_of_row(s, u, row, motion);
            // Into a correction in float, or into a solution in double.
            for (int i = 0; i < LUMP_ROW && job->z != NULL; ++i) {
                job->z[slot + i] += (float)motion[i];
            }
            for (int i = 0; i < LUMP_ROW && job->z == NULL; ++i) {
                job->to[slot + i] += motion[i];
            }
        }
    }
}

// A loop over one's own tiles of aggregates.
static void lump_space_run(const lump_space* s, int64_t grain, parallel_fcn* fcn, lump_job* job) {
    tile_subset tiles = {s->level->space.shared, s->map.used, s->map.tile};
    tile_for_subset(s->level->ctx, &tiles, grain, fcn, job);
}

// The tiles' sums of all ranks: they are added in the order of tiles.
// Sums come tile by tile and are added by every rank in the same order: so all have the same bits.
static void gather_sums(const lump_space* s) {
    const tile_map* shared = s->level->space.shared;
    if (shared == NULL) {
        return;
    }
    int size = comm_size(s->ctx);
    int64_t tile = 0, *first = s->rank_first;
    for (int r = 0; r <= size; ++r) {
        // Used tiles are in order and ranks own stretches of tiles: so ranks own stretches of sums.
        while (tile < s->map.used && s->map.tile[tile] < shared->ranks->first[r]) {
            tile += 1;
        }
        first[r] = s->map.first[tile];
    }
    comm_gather(s->ctx, s->local, sizeof(*s->local), first);
}

void lump_space_correct(const lump_space* space, const lump_vectors* v) {
    lump_job job = {.space = space, .r = v->r, .z = v->z};
    // Z^T (r - A z), then E^-1, then z += Z of it; and the bodies that lumps carry move with them.
    lump_space_run(space, 2, sum_defects, &job);
    gather_sums(space);
    solve_motions(space, v->body_residual);
    lump_space_run(space, 4, add_motions, &job);
    for (int32_t b = 0; b < space->map.bodies->count; ++b) {
        double y[BLOCK_SIZE];
        motion_of_body(space, b, y);
        for (int i = 0; i < BLOCK_SIZE; ++i) {
            v->y[b * BLOCK_SIZE + i] += (float)y[i];
        }
    }
}

// Unlike a correction this one is exact for motions of lumps: nothing is rounded on the way.
void lump_space_project(const lump_space* space, int64_t tail, const double* r, double* x) {
    lump_job job = {.space = space, .from = r, .to = x};
    // Z^T r of a given residual: for the exact momentum of free lumps, before and after a loop.
    lump_space_run(space, 4, sum_values, &job);
    gather_sums(space);
    solve_motions(space, r + tail);
    lump_space_run(space, 4, add_motions, &job);
    for (int32_t b = 0; b < space->map.bodies->count; ++b) {
        double y[BLOCK_SIZE];
        motion_of_body(space, b, y);
        for (int i = 0; i < BLOCK_SIZE; ++i) {
            x[tail + b * BLOCK_SIZE + i] += y[i];
        }
    }
}
