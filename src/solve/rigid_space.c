// Aggregates are kept tile by tile: a list of those that a tile has faces of, and for each face the
// place in that list. Sums go from faces to the tile's list, by threads, and from the lists to the
// aggregates in the order of tiles, by one.
#include "solve/rigid_space.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/rigid_assembly.h"
#include "solve/viscosity_kernels.h"

struct rigid_space {
    treacle_context* ctx;
    const viscosity_level* level;
    rigid_map map;
    block_ldl* ldl;
    double (*local)[BLOCK_SIZE];  // [map.first[map.used]], sums by tile and aggregate
    double (*motion)[BLOCK_SIZE]; // [map.count]
};

static treacle_status build(rigid_space* s, rigid_scope scope, rigid_labels* labels) {
    TREACLE_TRY(rigid_map_create(s->level, scope == RIGID_SCOPE_GRID, labels, &s->map));
    if (s->map.count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(rigid_assembly_factor(s->level, labels, &s->map, &s->ldl));
    TREACLE_TRY(alloc_array(s->ctx, (size_t)s->map.first[s->map.used], sizeof(*s->local),
                            "sums over aggregates", (void**)&s->local));
    return alloc_array(s->ctx, (size_t)s->map.count, sizeof(*s->motion), "motions of aggregates",
                       (void**)&s->motion);
}

treacle_status rigid_space_create(const viscosity_level* level, const float* whole,
                                  rigid_scope scope, rigid_space** out) {
    treacle_context* ctx = level->ctx;
    rigid_labels labels;
    rigid_space* s = NULL;
    *out = NULL;
    TREACLE_TRY(rigid_labels_create(level, whole, scope, &labels));
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_zero(ctx, 1, sizeof(*s), "rigid motions", (void**)&s), finish);
    s->ctx = ctx;
    s->level = level;
    status = build(s, scope, &labels);
finish:
    rigid_labels_destroy(&labels);
    if (status != TREACLE_OK || s->map.count == 0) {
        rigid_space_destroy(s);
        s = NULL;
    }
    *out = s;
    return status;
}

void rigid_space_destroy(rigid_space* space) {
    if (space == NULL) {
        return;
    }
    size_t lists = space->map.first == NULL ? 0 : (size_t)space->map.first[space->map.used];
    alloc_free(space->ctx, space->local, lists * sizeof(*space->local));
    alloc_free(space->ctx, space->motion, (size_t)space->map.count * sizeof(*space->motion));
    block_ldl_destroy(space->ldl);
    rigid_map_destroy(&space->map);
    alloc_free(space->ctx, space, sizeof(*space));
}

int32_t rigid_space_count(const rigid_space* space) {
    return space == NULL ? 0 : space->map.count;
}

// ---- Sums -----------------------------------------------------------------------------------

typedef struct rigid_job {
    const rigid_space* space;
    const float* r;
    float* z;
    const double* from;
    double* to;
} rigid_job;

// Adds Z^T v of one tile to the sums of its list.
static void sum_tile(const rigid_space* s, int64_t used, const double* v) {
    const rigid_map* map = &s->map;
    const uint8_t* place = map->place + used * VISCOSITY_BLOCK;
    double(*sums)[BLOCK_SIZE] = s->local + map->first[used];
    tile_ix t = map->tile[used];
    memset(sums, 0, (size_t)(map->first[used + 1] - map->first[used]) * sizeof(*sums));
    for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
        if (place[n] == RIGID_NO_PLACE) {
            continue;
        }
        int a = n / TILE_CELLS, b = (a + 1) % AXES, c = (a + 2) % AXES;
        double arm[AXES];
        rigid_map_arm(map, s->level, t, n, map->list[map->first[used] + place[n]], arm);
        double* sum = sums[place[n]];
        sum[a] += v[n];
        sum[AXES + b] += arm[c] * v[n];
        sum[AXES + c] -= arm[b] * v[n];
    }
}

static void sum_defects(void* data, int64_t begin, int64_t end, int worker) {
    const rigid_job* job = data;
    const rigid_space* s = job->space;
    (void)worker;
    for (int64_t u = begin; u < end; ++u) {
        double defect[VISCOSITY_BLOCK];
        ISA_CALL(s->ctx, viscosity_defect)(s->level, s->map.tile[u], job->r, job->z, defect);
        sum_tile(s, u, defect);
    }
}

static void sum_values(void* data, int64_t begin, int64_t end, int worker) {
    const rigid_job* job = data;
    (void)worker;
    for (int64_t u = begin; u < end; ++u) {
        int64_t t = job->space->map.tile[u];
        sum_tile(job->space, u, job->from + t * VISCOSITY_BLOCK);
    }
}

// The tiles' sums together, and the motions that they cause.
static void solve_motions(const rigid_space* s) {
    const rigid_map* map = &s->map;
    memset(s->motion, 0, (size_t)map->count * sizeof(*s->motion));
    for (int64_t i = 0; i < map->first[map->used]; ++i) {
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            s->motion[map->list[i]][k] += s->local[i][k];
        }
    }
    block_ldl_solve(s->ldl, &s->motion[0][0]);
}

// The motion of an aggregate at a face.
static double motion_at(const rigid_space* s, int64_t used, int n) {
    const rigid_map* map = &s->map;
    uint8_t place = map->place[used * VISCOSITY_BLOCK + n];
    if (place == RIGID_NO_PLACE) {
        return 0.0;
    }
    int32_t g = map->list[map->first[used] + place];
    int a = n / TILE_CELLS, b = (a + 1) % AXES, c = (a + 2) % AXES;
    double arm[AXES];
    rigid_map_arm(map, s->level, map->tile[used], n, g, arm);
    return s->motion[g][a] + s->motion[g][AXES + b] * arm[c] - s->motion[g][AXES + c] * arm[b];
}

static void add_motions(void* data, int64_t begin, int64_t end, int worker) {
    const rigid_job* job = data;
    const rigid_space* s = job->space;
    (void)worker;
    for (int64_t u = begin; u < end; ++u) {
        int64_t slot = (int64_t)s->map.tile[u] * VISCOSITY_BLOCK;
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            double here = motion_at(s, u, n);
            if (job->z != NULL) {
                job->z[slot + n] += (float)here;
            } else {
                job->to[slot + n] += here;
            }
        }
    }
}

void rigid_space_correct(const rigid_space* space, const float* r, float* z) {
    rigid_job job = {.space = space, .r = r, .z = z};
    parallel_for(space->ctx, space->map.used, 2, sum_defects, &job);
    solve_motions(space);
    parallel_for(space->ctx, space->map.used, 4, add_motions, &job);
}

void rigid_space_project(const rigid_space* space, const double* r, double* x) {
    rigid_job job = {.space = space, .from = r, .to = x};
    parallel_for(space->ctx, space->map.used, 4, sum_values, &job);
    solve_motions(space);
    parallel_for(space->ctx, space->map.used, 4, add_motions, &job);
}
