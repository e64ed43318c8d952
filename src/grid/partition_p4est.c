// By p4est: a forest of one cube, refined to single tiles where there are any. Its leaves follow
// the Morton curve in the order of our keys; leaves without a tile weigh nothing.
#include <p8est.h>
#include <p8est_communication.h>
#include <p8est_extended.h>
#include <string.h>

#include "base/comm.h"
#include "base/comm_world.h"
#include "grid/partition.h"

// What the callbacks of p4est see.
typedef struct forest_load {
    const partition_load* load;
    int depth; // levels from the cube to a tile
} forest_load;

static int depth_of(const partition_load* load) {
    int depth = 0;
    for (tile_ix t = 0; t < load->count; ++t) {
        for (int a = 0; a < AXES; ++a) {
            while (load->tile[t].at[a] >> depth != 0) {
                depth += 1;
            }
        }
    }
    return depth;
}

static tile_coord coord_of(const forest_load* forest, const p8est_quadrant_t* q) {
    int shift = P8EST_MAXLEVEL - forest->depth;
    return (tile_coord){{q->x >> shift, q->y >> shift, q->z >> shift}};
}

// The first tile whose key is at least `key`.
static tile_ix find_key(const partition_load* load, uint64_t key) {
    tile_ix low = 0, high = load->count;
    while (low < high) {
        tile_ix middle = low + (high - low) / 2;
        if (tile_key(load->tile[middle]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int refine(p8est_t* p8est, p4est_topidx_t tree, p8est_quadrant_t* q) {
    const forest_load* forest = p8est->user_pointer;
    (void)tree;
    if (q->level >= forest->depth) {
        return 0;
    }
    uint64_t key = tile_key(coord_of(forest, q));
    uint64_t end = key + (UINT64_C(1) << 3 * (forest->depth - q->level));
    tile_ix t = find_key(forest->load, key);
    return t < forest->load->count && tile_key(forest->load->tile[t]) < end;
}

static int weigh(p8est_t* p8est, p4est_topidx_t tree, p8est_quadrant_t* q) {
    const forest_load* forest = p8est->user_pointer;
    (void)tree;
    if (q->level < forest->depth) {
        return 0;
    }
    uint64_t key = tile_key(coord_of(forest, q));
    tile_ix t = find_key(forest->load, key);
    bool is_tile = t < forest->load->count && tile_key(forest->load->tile[t]) == key;
    return is_tile ? forest->load->weight[t] : 0;
}

static void quieten(MPI_Comm world) {
    if (sc_package_id < 0) {
        sc_init(world, 0, 0, NULL, SC_LP_ERROR);
        p4est_init(NULL, SC_LP_ERROR);
    }
}

static MPI_Comm world_of(const treacle_context* ctx) {
    MPI_Comm world;
    memcpy(&world, comm_world(ctx), sizeof(world));
    quieten(world);
    return world;
}

treacle_status partition_find(treacle_context* ctx, const partition_load* load,
                              uint64_t* rank_key) {
    TREACLE_ASSERT(load->count >= 0);
    int size = comm_size(ctx);
    rank_key[0] = 0;
    rank_key[size] = UINT64_MAX;
    if (size == 1) {
        return TREACLE_OK;
    }
    forest_load forest = {load, depth_of(load)};
    MPI_Comm world = world_of(ctx);
    if (forest.depth > P8EST_QMAXLEVEL) {
        return check_fail(ctx, TREACLE_ERR_LIMIT, "a domain of 2^%d tiles is too long for ranks",
                          forest.depth);
    }
    p8est_connectivity_t* cube = p8est_connectivity_new_unitcube();
    p8est_t* p8est = p8est_new_ext(world, cube, 0, 0, 1, 0, NULL, &forest);
    p8est_refine_ext(p8est, 1, forest.depth, refine, NULL, NULL);
    p8est_partition(p8est, 1, weigh);
    for (int r = 1; r < size; ++r) {
        const p8est_quadrant_t* first = &p8est->global_first_position[r];
        rank_key[r] = first->p.which_tree > 0 ? UINT64_MAX : tile_key(coord_of(&forest, first));
    }
    p8est_destroy(p8est);
    p8est_connectivity_destroy(cube);
    return TREACLE_OK;
}

// p4est copies what stays to itself, and messages go from and to places that do not overlap.
void partition_move(treacle_context* ctx, const int64_t* before, const int64_t* after, void* items,
                    size_t item_bytes) {
    TREACLE_ASSERT(item_bytes > 0);
    TREACLE_ASSERT(before[0] == after[0] && before[comm_size(ctx)] == after[comm_size(ctx)]);
    int rank = comm_rank(ctx);
    if (comm_size(ctx) > 1) {
        p8est_transfer_fixed(after, before, world_of(ctx), 0,
                             (char*)items + (size_t)after[rank] * item_bytes,
                             (const char*)items + (size_t)before[rank] * item_bytes, item_bytes);
    }
}
