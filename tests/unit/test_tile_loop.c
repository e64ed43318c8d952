#include "grid/tile_loop.h"

#include "grid_fixture.h"

// Two tiles side by side along x.
static const tile_coord pair[] = {{{0, 0, 0}}, {{1, 0, 0}}};
enum { PAIR = sizeof(pair) / sizeof(pair[0]) };

typedef struct look_job {
    const tile_map* map;
    tile_ix* seen; // [tiles], the neighbour above along x
} look_job;

static void look_above(void* data, int64_t begin, int64_t end) {
    const look_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        job->seen[t] = job->map->neighbour[t][TILE_NEIGHBOUR(1, 0, 0)];
    }
}

static void run(const tile_map* map, tile_reads reads, tile_ix seen[PAIR]) {
    look_job job = {map, seen};
    tile_for(map, &(tile_use){.reads = reads, .grain = 1}, look_above, &job);
}

static void test_loops_see_what_they_say_that_they_read(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_SLIP);
    tile_map map;
    assert_int_equal(tile_map_create(ctx, &domain, PAIR, pair, &map), TREACLE_OK);
    tile_ix seen[PAIR];
    for (int poisons = 0; poisons < 2; ++poisons) {
        ctx->poisons = poisons != 0;
        run(&map, TILE_AROUND, seen);
        assert_int_equal(seen[0], 1);
        run(&map, TILE_ANYWHERE, seen);
        assert_int_equal(seen[0], 1);
        // A loop that reads further than it says gets by unless it is looked for.
        run(&map, TILE_ALONE, seen);
        assert_int_equal(seen[0], poisons != 0 ? map.count : 1);
        assert_int_equal(map.neighbour[0][TILE_NEIGHBOUR(1, 0, 0)], 1); // as it was
    }
    tile_map_destroy(&map);
    unit_context_end(ctx);
}

static void test_a_rank_alone_sends_nothing(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_SLIP);
    tile_map map;
    assert_int_equal(tile_map_create(ctx, &domain, PAIR, pair, &map), TREACLE_OK);
    float field[(PAIR + 1) * TILE_CELLS], kept[(PAIR + 1) * TILE_CELLS];
    for (int i = 0; i < (PAIR + 1) * TILE_CELLS; ++i) {
        field[i] = kept[i] = (float)i;
    }
    ctx->poisons = true;
    const tile_readers readers[] = {TILE_TO_HOLDERS, TILE_TO_NEIGHBOURS, TILE_TO_ALL};
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); ++i) {
        tile_publish(&map, &(tile_values){.at = field, .readers = readers[i]});
        assert_memory_equal(field, kept, sizeof(field));
    }
    tile_map_destroy(&map);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_see_what_they_say_that_they_read),
        cmocka_unit_test(test_a_rank_alone_sends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
