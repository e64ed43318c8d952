#include "grid_fixture.h"

#include <math.h>

#include "field_fixture.h"
#include "grid/gather.h"
#include "grid/tile_mask.h"

// Every value tells its cell.
static float value_of(tile_coord coord, int x, int y, int z) {
    return (float)((coord.at[2] * 8 + z) * 10000 + (coord.at[1] * 8 + y) * 100 +
                   (coord.at[0] * 8 + x));
}

static void fill(const tile_map* map, grid_field* f) {
    for (tile_ix t = 0; t < map->count; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            grid_field_tile(f, t)[i] = value_of(map->coord[t], i % 8, i / 8 % 8, i / 64);
        }
    }
}

// The cell that stands for global cell `at`: wrapped, folded where flat; false outside.
static bool fold(const grid_domain* domain, int at[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        int cells = domain->is_periodic[a] ? domain->cells[a] : (domain->cells[a] / 8 + 1) * 8;
        if (domain->is_periodic[a]) {
            at[a] = (at[a] + cells) % cells;
        } else if (!domain->is_active[a]) {
            at[a] = 0;
        } else if (at[a] < 0 || at[a] >= cells) {
            return false;
        }
    }
    return true;
}

static void check_block(const grid_domain* domain, const tile_map* map, const float* values,
                        tile_ix t) {
    enum { LOW = 3, HIGH = 2, SIDE = BLOCK_SIDE(LOW, HIGH) };
    float block[BLOCK_VALUES(LOW, HIGH)];
    gather_block(map, values, t, LOW, HIGH, block);
    for (int i = 0; i < BLOCK_VALUES(LOW, HIGH); ++i) {
        int x = i % SIDE - LOW, y = i / SIDE % SIDE - LOW, z = i / SIDE / SIDE - LOW;
        assert_int_equal(BLOCK_INDEX(LOW, HIGH, x, y, z), i);
        const int32_t* tile = map->coord[t].at;
        int at[AXES] = {tile[0] * 8 + x, tile[1] * 8 + y, tile[2] * 8 + z};
        float expected =
            fold(domain, at) ? value_of((tile_coord){{0, 0, 0}}, at[0], at[1], at[2]) : -7.0f;
        assert_true(block[i] == expected);
    }
}

static void check_domain(int x, int y, int z, treacle_side side) {
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, x, y, z, side);
    tile_map map = whole_map(ctx, &domain);
    grid_field f;
    assert_int_equal(grid_field_create(&map, PLACE_CELL, -7.0f, &f), TREACLE_OK);
    fill(&map, &f);
    for (tile_ix t = 0; t < map.count; ++t) {
        check_block(&domain, &map, f.values, t);
    }
    grid_field_destroy(&f);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_a_block_is_the_tile_and_its_surroundings(void** state) {
    (void)state;
    check_domain(20, 16, 9, TREACLE_SIDE_SLIP);
    check_domain(32, 16, 48, TREACLE_SIDE_PERIODIC);
}

static void test_flat_axes_repeat(void** state) {
    (void)state;
    check_domain(20, 16, 0, TREACLE_SIDE_OPEN);
    check_domain(0, 20, 16, TREACLE_SIDE_OPEN);
    check_domain(16, 0, 0, TREACLE_SIDE_PERIODIC);
}

static void test_mask_rows_agree_with_gathered_values(void** state) {
    (void)state;
    const int cells[][AXES] = {{20, 17, 12}, {20, 16, 0}, {0, 16, 20}, {16, 0, 12}};
    treacle_context* ctx = context_with(1);
    for (int d = 0; d < 4; ++d) {
        grid_domain domain =
            domain_with(ctx, cells[d][0], cells[d][1], cells[d][2], TREACLE_SIDE_SLIP);
        tile_map map = whole_map(ctx, &domain);
        grid_field f;
        assert_int_equal(grid_field_create(&map, PLACE_CELL, 0.0f, &f), TREACLE_OK);
        tile_mask masks[64] = {{{0}}};
        assert_true(map.count < 64);
        uint64_t seed = 1;
        for (int i = 0; i < map.count * TILE_CELLS; ++i) {
            if (random_unit(&seed) < 0.5) {
                f.values[i] = 1.0f;
                tile_mask_add(&masks[i / TILE_CELLS], i % TILE_CELLS);
            }
        }
        for (tile_ix t = 0; t < map.count; ++t) {
            float block[BLOCK_VALUES(2, 2)];
            uint32_t rows[MASK_ROWS_MAX];
            gather_block(&map, f.values, t, 2, 2, block);
            tile_mask_rows(&map, masks, t, 2, rows);
            for (int i = 0; i < BLOCK_VALUES(2, 2); ++i) {
                assert_int_equal(rows[i / 12] >> (i % 12) & 1, block[i] == 1.0f);
            }
            assert_int_equal(tile_mask_has(&masks[t], 77), grid_field_tile(&f, t)[77] == 1.0f);
        }
        grid_field_destroy(&f);
        tile_map_destroy(&map);
    }
    treacle_context_destroy(ctx);
}

static void test_places_are_on_the_doubled_lattice(void** state) {
    (void)state;
    for (int a = 0; a < AXES; ++a) {
        assert_true(place_offset(PLACE_CELL, a) == 0.5f);
        assert_true(place_offset(PLACE_NODE, a) == 0.0f);
        for (int b = 0; b < AXES; ++b) {
            assert_true(place_offset(place_face(a), b) == (a == b ? 0.0f : 0.5f));
            assert_true(place_offset(place_edge(a), b) == (a == b ? 0.5f : 0.0f));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_is_the_tile_and_its_surroundings),
        cmocka_unit_test(test_flat_axes_repeat),
        cmocka_unit_test(test_mask_rows_agree_with_gathered_values),
        cmocka_unit_test(test_places_are_on_the_doubled_lattice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
