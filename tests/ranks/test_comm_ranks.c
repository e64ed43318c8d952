// Run by mpirun on three ranks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#include "base/comm_hash.h"
#include "grid/partition.h"
#include "grid/tile_loop.h"
#include "treacle/cache.h"

enum { RANKS = 3 };

static treacle_context* make_context(void) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = 1;
    def.ranks = true;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    assert_int_equal(comm_size(ctx), RANKS);
    return ctx;
}

static void end_context(treacle_context* ctx) {
    comm_close(ctx);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
}

static void test_sums_and_maxima_are_over_all_ranks(void** state) {
    (void)state;
    treacle_context* ctx = make_context();
    int rank = comm_rank(ctx);
    int64_t sum[2] = {rank, 1}, most[2] = {-rank, rank};
    comm_sum_i64(ctx, sum, 2);
    comm_max_i64(ctx, most, 2);
    assert_int_equal(sum[0], 3);
    assert_int_equal(sum[1], RANKS);
    assert_int_equal(most[0], 0);
    assert_int_equal(most[1], 2);
    double real[2] = {rank == 1 ? 7.5 : -1.0, rank == 2 ? NAN : 1.0};
    comm_max_f64(ctx, real, 2);
    assert_true(real[0] == 7.5);
    assert_true(isnan(real[1]));
    end_context(ctx);
}

static void test_exact_sums_lose_nothing_between_ranks(void** state) {
    (void)state;
    static const double terms[RANKS] = {1e300, 1.0, -1e300};
    treacle_context* ctx = make_context();
    exact_sum sum;
    exact_sum_init(&sum);
    exact_sum_add(&sum, terms[comm_rank(ctx)]);
    comm_sum_exact(ctx, &sum, 1);
    assert_true(exact_sum_value(&sum) == 1.0);
    end_context(ctx);
}

static void test_gathered_items_are_everywhere(void** state) {
    (void)state;
    static const int64_t first[RANKS + 1] = {0, 3, 3, 8}; // the second has none
    treacle_context* ctx = make_context();
    int rank = comm_rank(ctx);
    int32_t items[8][2] = {{0}};
    for (int64_t i = first[rank]; i < first[rank + 1]; ++i) {
        items[i][0] = (int32_t)i;
        items[i][1] = rank;
    }
    comm_gather(ctx, items, sizeof(items[0]), first);
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(items[i][0], i);
        assert_int_equal(items[i][1], i < 3 ? 0 : 2);
    }
    end_context(ctx);
}

// Rank r sends rank s 100 r + s bytes, each of them r.
static void test_parcels_of_any_size_arrive(void** state) {
    (void)state;
    enum { MOST = 100 * RANKS + RANKS };
    treacle_context* ctx = make_context();
    int rank = comm_rank(ctx);
    uint8_t given[MOST], taken[RANKS][MOST + 1];
    memset(given, rank, sizeof(given));
    memset(taken, 255, sizeof(taken));
    comm_parcel parcels[RANKS];
    for (int i = 0; i < RANKS; ++i) {
        int other = (rank + i) % RANKS; // each rank has an order of its own
        parcels[i] = (comm_parcel){other, (size_t)(100 * rank + other),
                                   (size_t)(100 * other + rank), given, taken[other]};
    }
    comm_trade(ctx, RANKS - 1, parcels + 1);
    for (int other = 0; other < RANKS; ++other) {
        for (int i = 0; i <= MOST; ++i) {
            bool is_sent = other != rank && i < 100 * other + rank;
            assert_int_equal(taken[other][i], is_sent ? other : 255);
        }
    }
    end_context(ctx);
}

// An array of three and a half chunks, of which ranks have parts that end within chunks, the second
// less than one of them; the rest of each rank's memory is rubbish.
static void test_a_frame_in_parts_is_that_of_one_rank(void** state) {
    (void)state;
    enum { ITEMS = 7 << 17 }; // 4 bytes each
    static const char path[] = "test_comm_ranks.trf";
    static const int64_t first[RANKS + 1] = {0, 300001, 300007, ITEMS};
    treacle_context* ctx = make_context();
    int rank = comm_rank(ctx);
    int32_t* items = malloc(ITEMS * sizeof(*items));
    memset(items, rank, ITEMS * sizeof(*items));
    for (int64_t i = first[rank]; i < first[rank + 1]; ++i) {
        items[i] = (int32_t)(i * 7 % 1013);
    }
    treacle_array array = {.name = "items", .type = TREACLE_TYPE_I32, .components = 1};
    array.count = ITEMS;
    array.data = items;
    const int64_t* const parts[] = {first};
    treacle_frame frame = {.kind = TREACLE_FRAME_STATE,
                           .number = 1,
                           .fps = 24.0,
                           .cell = 1.0,
                           .cells = {8, 8, 8},
                           .array_count = 1,
                           .arrays = &array,
                           .parts = parts};
    assert_int_equal(treacle_frame_write(ctx, &frame, path), TREACLE_OK);
    treacle_loaded_frame* loaded = NULL;
    assert_int_equal(treacle_frame_open(ctx, path, &loaded), TREACLE_OK);
    int64_t begin = 123456 * rank, end = ITEMS - 65432 * rank;
    assert_int_equal(treacle_loaded_frame_fetch(loaded, "items", begin, end), TREACLE_OK);
    const int32_t* read = treacle_loaded_frame_view(loaded)->arrays[0].data;
    for (int64_t i = begin; i < end; ++i) {
        assert_int_equal(read[i], i * 7 % 1013);
    }
    comm_array whole = {read, sizeof(*read), ITEMS, NULL}, part = {items, 4, ITEMS, first};
    assert_int_equal(treacle_loaded_frame_fetch(loaded, "items", 0, ITEMS), TREACLE_OK);
    assert_true(comm_hash(ctx, &whole, 5) == comm_hash(ctx, &part, 5));
    assert_true(comm_hash(ctx, &whole, 0) == comm_hash(ctx, &part, 0));
    assert_int_not_equal(treacle_loaded_frame_fetch(loaded, "items", 0, ITEMS + 1), TREACLE_OK);
    treacle_loaded_frame_destroy(loaded);
    free(items);
    comm_barrier(ctx);
    remove(path);
    end_context(ctx);
}

static void test_all_ranks_fail_with_the_lowest_that_did(void** state) {
    (void)state;
    treacle_context* ctx = make_context();
    int rank = comm_rank(ctx);
    assert_int_equal(comm_agree(ctx, TREACLE_OK), TREACLE_OK);
    treacle_status status = TREACLE_OK;
    if (rank > 0) {
        status =
            check_fail(ctx, rank == 1 ? TREACLE_ERR_IO : TREACLE_ERR_MEMORY, "trouble %d", rank);
    }
    assert_int_equal(comm_agree(ctx, status), TREACLE_ERR_IO);
    assert_string_equal(treacle_context_error(ctx), "rank 1: trouble 1");
    assert_int_equal(comm_check_same(ctx, "it", "same"), TREACLE_OK);
    assert_int_equal(comm_check_same(ctx, "it", rank == 2 ? "b" : "a"), TREACLE_ERR_USAGE);
    end_context(ctx);
}

// A slab of 8 x 4 x 4 tiles.
static void test_the_load_is_shared_out_in_whole_families(void** state) {
    (void)state;
    enum { TILES = 8 * 4 * 4 };
    treacle_context* ctx = make_context();
    treacle_domain_def def = {.size = {64, 32, 32}, .cell = 1.0};
    for (int a = 0; a < AXES; ++a) {
        def.sides[a][0] = def.sides[a][1] = TREACLE_SIDE_PERIODIC;
    }
    grid_domain domain;
    assert_int_equal(grid_domain_init(ctx, &def, &domain), TREACLE_OK);
    tile_coord coords[TILES];
    int32_t weight[TILES];
    for (int i = 0; i < TILES; ++i) {
        coords[i] = (tile_coord){{i % 8, i / 8 % 4, i / 32}};
        weight[i] = 10 + i % 3;
    }
    tile_map map;
    assert_int_equal(tile_map_create(ctx, &domain, TILES, coords, &map), TREACLE_OK);
    uint64_t key[RANKS + 1];
    partition_load load = {TILES, map.coord, weight};
    assert_int_equal(partition_find(ctx, &load, key), TREACLE_OK);
    assert_true(key[0] == 0 && key[RANKS] == UINT64_MAX);
    assert_true(key[1] % 8 == 0 && key[2] % 8 == 0 && key[1] < key[2]);
    assert_true(partition_imbalance(ctx, &load, key) < 1.2);
    tile_owners owners = {.key = key};
    assert_int_equal(tile_ranks_create(&owners, &map), TREACLE_OK);
    float* field = calloc((TILES + 1) * TILE_CELLS, sizeof(float));
    tile_range own = tile_ranks_own(&map);
    assert_true(own.end > own.begin);
    for (int64_t i = own.begin * TILE_CELLS; i < own.end * TILE_CELLS; ++i) {
        field[i] = (float)i;
    }
    tile_publish(&map, &(tile_values){.at = field, .readers = TILE_TO_NEIGHBOURS});
    for (int64_t t = own.begin; t < own.end; ++t) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            int64_t i = (int64_t)map.neighbour[t][n] * TILE_CELLS + n;
            assert_true(field[i] == (float)i);
        }
    }
    tile_publish(&map, &(tile_values){.at = field, .readers = TILE_TO_ALL});
    for (int64_t i = 0; i < TILES * TILE_CELLS; ++i) {
        assert_true(field[i] == (float)i);
    }
    free(field);
    tile_map_destroy(&map);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_maxima_are_over_all_ranks),
        cmocka_unit_test(test_exact_sums_lose_nothing_between_ranks),
        cmocka_unit_test(test_gathered_items_are_everywhere),
        cmocka_unit_test(test_parcels_of_any_size_arrive),
        cmocka_unit_test(test_a_frame_in_parts_is_that_of_one_rank),
        cmocka_unit_test(test_all_ranks_fail_with_the_lowest_that_did),
        cmocka_unit_test(test_the_load_is_shared_out_in_whole_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
