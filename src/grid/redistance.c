// Distances by the nearest point of the surface [geometry.1].
//
// Where phi changes sign between two neighbouring cells, the surface crosses the line between their
// centres at a point p, found by interpolation, with a normal n, the slope of phi there. The
// surface is taken as the set of all these small discs (p, n, REACH).
//
// Every cell keeps the vector v to the nearest p it has heard of, and its n. Cells next to a
// crossing know theirs; the others hear of it from their neighbours: sweeps along +x, -x, +y, ..
// -z in which a cell takes over the p of the cell before it if that is nearer than its own. A tile
// sweeps alone, looking one cell into its neighbours across faces; tiles of one colour of a
// checkerboard go together, the two colours in turn, until nothing changes. So the result does not
// depend on threads.
//
// At the end every cell looks at the p of all its 26 neighbours, and the distance to the disc is
//
//     |phi|^2 = (v . n)^2 + max(0, |v - (v . n) n| - REACH)^2
//
// which is exact for planes, whatever lattice points p the crossings happen to be at. Crossings
// behind the sides of the domain do not count: phi there is only a guess.
#include "grid/redistance.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/redistance_kernels.h"
#include "grid/tile_loop.h"
#include "grid/tile_mask.h"

enum {
    MARGIN = 2,
    SIDE = BLOCK_SIDE(MARGIN, MARGIN),
    PASSES_MAX = 2, // over a tile in one turn
    TURNS_MAX = 6,  // what is left then are feet that are nearer by a hair
};

static const int block_stride[AXES] = {1, SIDE, SIDE* SIDE};

// Radius of a disc in cells: a plane through a cell meets one of the six lines to its neighbours at
// most sqrt(2/3) from the foot of the cell's centre on the plane.
static const float disc_radius = 0.85f;
// Cosine between two normals of one smooth piece of surface.
static const float agreement = 0.8f;
// A point of the surface near a cell: the vector to it and the normal there.
typedef struct foot {
    float v[AXES], n[AXES];
} foot;

typedef struct foot_normals {
    float of[AXES][TILE_CELLS];
} foot_normals;

typedef struct sweep_job {
    const redistance_params* params;
    float* phi;
    foot_tile* feet;       // [count + 1]
    foot_normals* normals; // [count], of cells with a foot of their own
    int32_t* last_change;  // [count + 1], turn in which a tile's feet last changed
    int32_t* last_sweep;   // [count], turn in which it last swept
    int32_t turn;
} sweep_job;

static float minmod(float p, float q) {
    if (p * q <= 0.0f) {
        return 0.0f;
    }
    return fabsf(p) < fabsf(q) ? p : q;
}

typedef struct root {
    float t, slope;
} root;

// Where phi = 0 between at[0] and at[stride], t in 0..1, and its slope there, by the parabola
//
//     phi(t) = p + (q - p) t - bend t (1 - t) / 2
//
// with the lesser of the second differences at both ends for bend: the chord where phi has a kink.
static root crossing(const float* at, int stride) {
    float p = at[0], q = at[stride];
    float bend = minmod(at[-stride] - 2.0f * p + q, p - 2.0f * q + at[2 * stride]);
    root r = {p / (p - q), q - p};
    for (int step = 0; step < 2; ++step) { // of Newton, from the chord's root
        float value = p + (q - p) * r.t - 0.5f * bend * r.t * (1.0f - r.t);
        float next = r.t - value / r.slope;
        r.t = next < 0.0f ? 0.0f : next > 1.0f ? 1.0f : next;
        r.slope = (q - p) - 0.5f * bend * (1.0f - 2.0f * r.t);
    }
    return r;
}

// Makes n a unit vector. False if it is too short to have a direction.
static bool normalise(float n[AXES]) {
    float square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!(square > 1e-12f)) {
        return false;
    }
    float scale = 1.0f / sqrtf(square);
    for (int a = 0; a < AXES; ++a) {
        n[a] *= scale;
    }
    return true;
}

// Slope of phi along axis a at `at` in the block, by central differences.
static float redistance_slope_at(const float* at, int a) {
    return 0.5f * (at[block_stride[a]] - at[-block_stride[a]]);
}

// The crossing on the line from a cell, `at` in the block of phi, to its neighbour at `stride`
// along `axis`; the side is the sign of the stride.
static foot foot_on_line(const float* at, int axis, int stride) {
    root r = crossing(at, stride);
    float side = stride > 0 ? 1.0f : -1.0f;
    foot out = {{0}, {0}};
    float* n = out.n;
    for (int a = 0; a < AXES; ++a) {
        n[a] =
            (1.0f - r.t) * redistance_slope_at(at, a) + r.t * redistance_slope_at(at + stride, a);
    }
    n[axis] = side * r.slope;
    if (!normalise(n)) {
        n[axis] = at[0] < 0.0f ? side : -side;
    }
    out.v[axis] = side * r.t;
    return out;
}

// Moves the foot of a cell from a crossing to where the cell's own normal meets the surface. To a
// point p of a curved surface, |v . n| is too short with the normal at p and too long with that at
// the cell, by the same amount: with their mean it is the distance, to third order. Where the two
// disagree there is an edge or a sheet, and the foot stays.
static void slide_foot(const float* at, foot* f) {
    float n[AXES] = {redistance_slope_at(at, 0), redistance_slope_at(at, 1),
                     redistance_slope_at(at, 2)};
    float *v = f->v, *at_p = f->n;
    if (!normalise(n) || n[0] * at_p[0] + n[1] * at_p[1] + n[2] * at_p[2] < agreement) {
        return;
    }
    for (int a = 0; a < AXES; ++a) {
        n[a] += at_p[a];
    }
    normalise(n);
    float distance = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
    for (int a = 0; a < AXES; ++a) {
        v[a] = distance * n[a];
        at_p[a] = n[a];
    }
}

// How much of the lines from a cell, upward and downward along each axis, is in the domain: all of
// them, or one half where a side is in between.
typedef struct line_lengths {
    float of[AXES][2];
} line_lengths;

static line_lengths lengths_of(const grid_domain* domain, tile_coord coord, int i) {
    const int cell[AXES] = {i & 7, i >> 3 & 7, i >> 6};
    line_lengths out;
    for (int a = 0; a < AXES; ++a) {
        int at = coord.at[a] * TILE_SIZE + cell[a];
        bool has_sides = !domain->is_periodic[a];
        out.of[a][0] = has_sides && at == domain->cells[a] - 1 ? 0.5f : 1.0f;
        out.of[a][1] = has_sides && at == 0 ? 0.5f : 1.0f;
    }
    return out;
}

// The foot of a cell by the nearest crossing on the six lines to its neighbours.
static foot nearest_on_lines(const float* at, const line_lengths* lengths) {
    foot best = {{FOOT_FAR, FOOT_FAR, FOOT_FAR}, {0}};
    float best_square = FOOT_FAR;
    bool is_inside = at[0] < 0.0f;
    for (int line = 0; line < 2 * AXES; ++line) {
        int axis = line / 2, stride = line % 2 == 0 ? block_stride[axis] : -block_stride[axis];
        if ((at[stride] < 0.0f) == is_inside) {
            continue;
        }
        foot f = foot_on_line(at, axis, stride);
        float square = f.v[axis] * f.v[axis], length = lengths->of[axis][line % 2];
        if (square < best_square && square <= length * length) {
            best_square = square;
            best = f;
        }
    }
    if (best_square < FOOT_FAR) {
        slide_foot(at, &best);
    }
    return best;
}

static void gather_phi(const sweep_job* job, tile_ix t, float* block) {
    const tile_map* map = job->params->map;
    gather_block(map, job->phi, t, MARGIN, MARGIN, block);
    gather_extend(job->params->domain, map->coord[t], (const int[2]){MARGIN, MARGIN}, block);
}

// True if the whole block is on one side of the surface.
static bool is_one_sided(const float* block) {
    int inside = 0, outside = 0;
    for (int i = 0; i < BLOCK_VALUES(MARGIN, MARGIN); ++i) {
        inside |= block[i] < 0.0f;
        outside |= block[i] >= 0.0f;
    }
    return inside == 0 || outside == 0;
}

// A tile that the surface does not cut knows no feet yet.
static void start_uncut(const sweep_job* job, tile_ix t) {
    foot_tile* feet = &job->feet[t];
    for (int i = 0; i < TILE_CELLS; ++i) {
        feet->from[i] = t * TILE_CELLS + i;
    }
    for (int n = 0; n < AXES * TILE_CELLS; ++n) {
        feet->v[n / TILE_CELLS][n % TILE_CELLS] = FOOT_FAR;
    }
    memset(&job->normals[t], 0, sizeof(job->normals[t]));
    job->last_change[t] = job->last_sweep[t] = -1;
}

static void start_tile(const sweep_job* job, tile_ix t) {
    static const foot none = {{FOOT_FAR, FOOT_FAR, FOOT_FAR}, {0}};
    float block[BLOCK_VALUES(MARGIN, MARGIN)];
    gather_phi(job, t, block);
    if (is_one_sided(block)) {
        start_uncut(job, t);
        return;
    }
    const grid_domain* domain = job->params->domain;
    const tile_coord coord = job->params->map->coord[t];
    tile_mask inside = tile_mask_inside(domain, PLACE_CELL, coord);
    bool has_any = false;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at = BLOCK_INDEX(MARGIN, MARGIN, i & 7, i >> 3 & 7, i >> 6);
        foot f = none;
        if (tile_mask_has(&inside, i)) {
            line_lengths lengths = lengths_of(domain, coord, i);
            f = nearest_on_lines(block + at, &lengths);
        }
        has_any = has_any || f.v[0] != FOOT_FAR;
        job->feet[t].from[i] = t * TILE_CELLS + i;
        for (int a = 0; a < AXES; ++a) {
            job->feet[t].v[a][i] = f.v[a];
            job->normals[t].of[a][i] = f.n[a];
        }
    }
    job->last_change[t] = has_any ? 0 : -1;
    job->last_sweep[t] = -1;
}

static void start_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        start_tile(data, (tile_ix)t);
    }
}

// True if the tile or one that it looks into has changed since it last swept.
static bool is_due(const sweep_job* job, tile_ix t) {
    static const int next[] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(1, 0, 0),
                               TILE_NEIGHBOUR(0, -1, 0), TILE_NEIGHBOUR(0, 1, 0),
                               TILE_NEIGHBOUR(0, 0, -1), TILE_NEIGHBOUR(0, 0, 1)};
    int32_t newest = job->last_change[t];
    for (int i = 0; i < 6; ++i) {
        int32_t change = job->last_change[job->params->map->neighbour[t][next[i]]];
        newest = change > newest ? change : newest;
    }
    return newest > job->last_sweep[t];
}

static foot_sweep sweep_of(const sweep_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    float limit = job->params->limit + 1.0f;
    foot_sweep sweep = {.tile = &job->feet[t], .limit_square = limit * limit};
    for (int a = 0; a < AXES; ++a) {
        for (int side = 0; side < 2; ++side) {
            int n = TILE_SELF + (2 * side - 1) * (a == 0 ? 1 : a == 1 ? 3 : 9);
            sweep.next[a][side] = &job->feet[map->neighbour[t][n]];
        }
        sweep.is_flat[a] = map->is_flat[a];
    }
    return sweep;
}

static void sweep_tile(const sweep_job* job, tile_ix t) {
    const tile_coord coord = job->params->map->coord[t];
    bool is_turn = ((coord.at[0] ^ coord.at[1] ^ coord.at[2] ^ job->turn) & 1) == 0;
    if (!is_turn || !is_due(job, t)) {
        return;
    }
    job->last_sweep[t] = job->turn;
    foot_sweep sweep = sweep_of(job, t);
    for (int pass = 0; pass < PASSES_MAX; ++pass) {
        if (!ISA_CALL(job->params->map->ctx, foot_sweep_tile)(&sweep)) {
            break;
        }
        job->last_change[t] = job->turn;
    }
}

static void sweep_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        sweep_tile(data, (tile_ix)t);
    }
}

static bool has_changed_in_turn(const sweep_job* job) {
    const tile_map* map = job->params->map;
    tile_range own = tile_ranks_own(map);
    int64_t has_changed = 0;
    for (int64_t t = own.begin; t < own.end && has_changed == 0; ++t) {
        has_changed = job->last_change[t] == job->turn;
    }
    if (map->ranks != NULL) {
        comm_max_i64(map->ctx, &has_changed, 1);
    }
    return has_changed != 0;
}

// Turns of the two colours until neither changes anything.
static void sweep_all(sweep_job* job) {
    int quiet = 0;
    for (job->turn = 1; job->turn <= TURNS_MAX && quiet < 2; ++job->turn) {
        const tile_map* map = job->params->map;
        tile_for(
            map,
            &(tile_use){.reads = TILE_AROUND,
                        .grain = 8,
                        .writes = {tile_block(job->feet, sizeof(foot_tile), TILE_TO_NEIGHBOURS),
                                   tile_block(job->last_change, sizeof(*job->last_change),
                                              TILE_TO_NEIGHBOURS)}},
            sweep_tiles, job);
        quiet = has_changed_in_turn(job) ? 0 : quiet + 1;
    }
}

static float disc_distance(const foot* f) {
    const float *v = f->v, *n = f->n;
    float along = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
    float aside = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - along * along;
    aside = aside > 0.0f ? sqrtf(aside) - disc_radius : 0.0f;
    aside = aside > 0.0f ? aside : 0.0f;
    return sqrtf(along * along + aside * aside);
}

// The foot that the neighbour n of cell i knows, as seen from the cell.
static foot foot_of_neighbour(const sweep_job* job, tile_ix t, int i, int n) {
    const int step[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    const int cell[AXES] = {i & 7, i >> 3 & 7, i >> 6};
    int at[AXES], side[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = job->params->map->is_flat[a] ? 0 : cell[a] + step[a];
        side[a] = block_side_of(at[a]);
    }
    tile_ix tile = job->params->map->neighbour[t][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    int from = block_row_at(at[1], at[2]) + (at[0] & 7);
    const foot_tile* feet = &job->feet[tile];
    int32_t origin = feet->from[from];
    foot f;
    for (int a = 0; a < AXES; ++a) {
        f.v[a] = feet->v[a][from] + (float)step[a];
        f.n[a] = job->normals[origin / TILE_CELLS].of[a][origin % TILE_CELLS];
    }
    return f;
}

// Sweeps across faces may miss a foot that only a diagonal neighbour knows: a last look round.
static void measure_tile(const sweep_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    float block[AXES][BLOCK_VALUES(1, 1)];
    for (int a = 0; a < AXES; ++a) {
        gather_source source = {map, job->feet->v[a], sizeof(foot_tile) / sizeof(float)};
        gather_strided(&source, t, 1, 1, block[a]);
    }
    foot_nearest nearest;
    ISA_CALL(map->ctx, foot_look_round)(block, &nearest);
    float limit = job->params->limit, too_far = (limit + 1.0f) * (limit + 1.0f);
    float* phi = job->phi + (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        float distance = limit;
        if (nearest.square[i] < too_far) {
            foot f = foot_of_neighbour(job, t, i, nearest.neighbour[i]);
            distance = disc_distance(&f);
            distance = distance < limit ? distance : limit;
        }
        phi[i] = phi[i] < 0.0f ? -distance : distance;
    }
}

// Tiles that have heard of no surface, nor have their neighbours: nothing within a tile's width.
static void cut_off_tile(const sweep_job* job, tile_ix t) {
    float* phi = job->phi + (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        phi[i] = phi[i] < 0.0f ? -job->params->limit : job->params->limit;
    }
}

static bool is_near(const sweep_job* job, tile_ix t) {
    bool is_any = false;
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        is_any = is_any || job->last_change[job->params->map->neighbour[t][n]] >= 0;
    }
    return is_any;
}

static void redistance_measure_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        if (is_near(data, (tile_ix)t)) {
            measure_tile(data, (tile_ix)t);
        } else {
            cut_off_tile(data, (tile_ix)t);
        }
    }
}

static void empty_dummy(sweep_job* job) {
    tile_ix dummy = job->params->map->count;
    job->last_change[dummy] = -1;
    for (int i = 0; i < TILE_CELLS; ++i) {
        job->feet[dummy].from[i] = 0;
        for (int a = 0; a < AXES; ++a) {
            job->feet[dummy].v[a][i] = FOOT_FAR;
        }
    }
}

treacle_status redistance(const redistance_params* params, float* phi) {
    TREACLE_ASSERT(params->limit >= 2.0f);
    TREACLE_ASSERT(phi != NULL);
    treacle_context* ctx = params->map->ctx;
    size_t count = (size_t)params->map->count + 1;
    sweep_job job = {.params = params, .phi = phi};
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_array(ctx, count, sizeof(foot_tile), "nearest points", (void**)&job.feet), finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(foot_normals), "normals", (void**)&job.normals),
                     finish);
    TREACLE_TRY_GOTO(
        alloc_array(ctx, count, sizeof(int32_t), "sweep turns", (void**)&job.last_change), finish);
    TREACLE_TRY_GOTO(
        alloc_array(ctx, count, sizeof(int32_t), "sweep turns", (void**)&job.last_sweep), finish);
    empty_dummy(&job);
    tile_for(
        params->map,
        &(tile_use){.reads = TILE_AROUND,
                    .grain = 8,
                    .writes = {tile_block(job.feet, sizeof(foot_tile), TILE_TO_NEIGHBOURS),
                               tile_block(job.normals, sizeof(foot_normals), TILE_TO_NEIGHBOURS),
                               tile_block(job.last_change, sizeof(int32_t), TILE_TO_NEIGHBOURS)}},
        start_tiles, &job);
    sweep_all(&job);
    tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 8, .writes = {{.at = phi}}},
             redistance_measure_tiles, &job);
finish:
    alloc_free(ctx, job.feet, count * sizeof(foot_tile));
    alloc_free(ctx, job.normals, count * sizeof(foot_normals));
    alloc_free(ctx, job.last_change, count * sizeof(int32_t));
    alloc_free(ctx, job.last_sweep, count * sizeof(int32_t));
    return status;
}
