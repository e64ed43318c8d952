#include "grid_fixture.h"

#include <math.h>
#include <string.h>

#include "field_fixture.h"
#include "grid/extrapolate.h"

typedef struct world {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    grid_field f;
    tile_mask* valid;
    const float* slope;
} world;

static world world_with(int threads, const int cells[AXES], treacle_side side) {
    world w = {.ctx = context_with(threads)};
    w.domain = domain_with(w.ctx, cells[0], cells[1], cells[2], side);
    w.map = whole_map(w.ctx, &w.domain);
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, NAN, &w.f), TREACLE_OK);
    w.valid = calloc((size_t)w.map.count + 1, sizeof(tile_mask));
    assert_non_null(w.valid);
    return w;
}

static void world_end(world* w) {
    free(w->valid);
    grid_field_destroy(&w->f);
    tile_map_destroy(&w->map);
    treacle_context_destroy(w->ctx);
}

static void cell_of(const world* w, int64_t i, int out[AXES]) {
    const int32_t* tile = w->map.coord[i / TILE_CELLS].at;
    out[0] = tile[0] * 8 + (int)(i % 8);
    out[1] = tile[1] * 8 + (int)(i / 8 % 8);
    out[2] = tile[2] * 8 + (int)(i / 64 % 8);
}

static void set(world* w, int64_t i, float value) {
    w->f.values[i] = value;
    tile_mask_add(&w->valid[i / TILE_CELLS], (int)(i % TILE_CELLS));
}

static void run(world* w, grid_place place, int layers) {
    extrapolate_params params = {
        .domain = &w->domain, .map = &w->map, .place = place, .layers = layers, .slope = w->slope};
    assert_int_equal(extrapolate(&params, w->f.values, w->valid), TREACLE_OK);
}

static bool is_valid(const world* w, int64_t i) {
    return tile_mask_has(&w->valid[i / TILE_CELLS], (int)(i % TILE_CELLS));
}

static void test_a_plane_carries_its_values_straight_out(void** state) {
    (void)state;
    for (int a = 0; a < AXES; ++a) {
        for (int layers = 0; layers <= 9; ++layers) {
            world w = world_with(2, (const int[AXES]){30, 30, 30}, TREACLE_SIDE_SLIP);
            int64_t count = (int64_t)w.map.count * TILE_CELLS;
            int at[AXES];
            for (int64_t i = 0; i < count; ++i) {
                cell_of(&w, i, at);
                if (at[a] < 11 && at[0] < 30 && at[1] < 30 && at[2] < 30) {
                    set(&w, i, (float)(3 * at[0] - at[1] + 2 * at[2]));
                }
            }
            run(&w, PLACE_CELL, layers);
            for (int64_t i = 0; i < count; ++i) {
                cell_of(&w, i, at);
                bool is_inside = at[0] < 30 && at[1] < 30 && at[2] < 30;
                assert_int_equal(is_valid(&w, i), is_inside && at[a] < 11 + layers);
                at[a] = at[a] > 10 ? 10 : at[a];
                float expected = (float)(3 * at[0] - at[1] + 2 * at[2]);
                assert_true(is_valid(&w, i) ? w.f.values[i] == expected : isnan(w.f.values[i]));
            }
            world_end(&w);
        }
    }
}

// Around a ball every sample of the first layers has two known ones in a row behind it.
static void test_slopes_go_on_where_they_are_asked_for(void** state) {
    (void)state;
    for (int fraction = 0; fraction <= 1; ++fraction) {
        world w = world_with(2, (const int[AXES]){32, 32, 32}, TREACLE_SIDE_SLIP);
        int64_t count = (int64_t)w.map.count * TILE_CELLS, new_count = 0;
        float* slope = malloc((size_t)(count + TILE_CELLS) * sizeof(float));
        assert_non_null(slope);
        bool* was_valid = malloc((size_t)count * sizeof(bool));
        assert_non_null(was_valid);
        for (int64_t i = 0; i < count + TILE_CELLS; ++i) {
            slope[i] = (float)fraction;
        }
        for (int64_t i = 0; i < count; ++i) {
            int at[AXES];
            cell_of(&w, i, at);
            int x = at[0] - 15, y = at[1] - 16, z = at[2] - 14;
            was_valid[i] = x * x + y * y + z * z < 64;
            if (was_valid[i]) {
                set(&w, i, (float)(3 * at[0] - at[1] + 2 * at[2]));
            }
        }
        w.slope = slope;
        run(&w, PLACE_CELL, 2);
        double most = 0.0;
        for (int64_t i = 0; i < count; ++i) {
            int at[AXES];
            cell_of(&w, i, at);
            if (is_valid(&w, i) && !was_valid[i]) {
                float exact = (float)(3 * at[0] - at[1] + 2 * at[2]);
                most = fmax(most, fabs((double)(w.f.values[i] - exact)));
                new_count += 1;
            }
        }
        assert_true(new_count > 500);
        assert_true(fraction == 1 ? most < 1e-4 : most > 1.0);
        free(slope);
        free(was_valid);
        world_end(&w);
    }
}

static void test_layers_are_steps_across_faces_and_wrap(void** state) {
    (void)state;
    world w = world_with(1, (const int[AXES]){16, 32, 16}, TREACLE_SIDE_PERIODIC);
    tile_ix tile = tile_map_find(&w.map, (tile_coord){{0, 0, 0}});
    set(&w, (int64_t)tile * TILE_CELLS, 5.0f); // the cell in the corner
    run(&w, PLACE_CELL, 6);
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        int at[AXES], steps = 0;
        cell_of(&w, i, at);
        for (int a = 0; a < AXES; ++a) {
            int back = w.domain.cells[a] - at[a];
            steps += at[a] < back ? at[a] : back;
        }
        assert_int_equal(is_valid(&w, i), steps <= 6);
        assert_true(!is_valid(&w, i) || w.f.values[i] == 5.0f);
    }
    world_end(&w);
}

static void test_an_unknown_sample_is_the_mean_of_its_known_neighbours(void** state) {
    (void)state;
    world w = world_with(1, (const int[AXES]){24, 24, 24}, TREACLE_SIDE_SLIP);
    tile_ix tile = tile_map_find(&w.map, (tile_coord){{1, 1, 1}});
    tile_ix low = tile_map_find(&w.map, (tile_coord){{0, 1, 1}});
    set(&w, (int64_t)low * TILE_CELLS + 7, 1.0f);   // at x - 1 of the corner cell
    set(&w, (int64_t)tile * TILE_CELLS + 1, 2.0f);  // x + 1
    set(&w, (int64_t)tile * TILE_CELLS + 64, 6.0f); // z + 1
    run(&w, PLACE_CELL, 1);
    assert_true(w.f.values[(int64_t)tile * TILE_CELLS] == 3.0f);
    assert_true(w.f.values[(int64_t)tile * TILE_CELLS + 1] == 2.0f);
    world_end(&w);
}

static void test_nothing_is_carried_out_of_the_domain(void** state) {
    (void)state;
    // x ends in the middle of a tile, y on a tile's end, z is flat.
    world w = world_with(1, (const int[AXES]){12, 16, 0}, TREACLE_SIDE_OPEN);
    set(&w, (int64_t)tile_map_find(&w.map, (tile_coord){{1, 1, 0}}) * TILE_CELLS + 63 - 4, 1.0f);
    run(&w, PLACE_FACE_Y, 40);
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        int at[AXES];
        cell_of(&w, i, at);
        assert_int_equal(is_valid(&w, i), at[0] < 12 && at[1] <= 16 && at[2] == 0);
        assert_true(!is_valid(&w, i) || w.f.values[i] == 1.0f);
    }
    world_end(&w);
}

static void scatter_seeds(world* w) {
    uint64_t seed = 3;
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        w->f.values[i] = 0.0f;
        if (random_unit(&seed) < 0.01) {
            set(w, i, (float)random_unit(&seed));
        }
    }
}

static void test_bits_do_not_depend_on_threads(void** state) {
    (void)state;
    const int cells[AXES] = {40, 40, 40};
    world one = world_with(1, cells, TREACLE_SIDE_NO_SLIP);
    scatter_seeds(&one);
    run(&one, PLACE_CELL, 5);
    for (int threads = 2; threads <= 4; ++threads) {
        world many = world_with(threads, cells, TREACLE_SIDE_NO_SLIP);
        scatter_seeds(&many);
        run(&many, PLACE_CELL, 5);
        size_t tiles = (size_t)one.map.count;
        assert_memory_equal(one.f.values, many.f.values, tiles * TILE_CELLS * sizeof(float));
        assert_memory_equal(one.valid, many.valid, tiles * sizeof(tile_mask));
        world_end(&many);
    }
    world_end(&one);
}

// Faces across x, kept apart between the cells at y = 9 and y = 10; one side is known.
static void test_nothing_passes_where_cells_are_kept_apart(void** state) {
    (void)state;
    world w = world_with(2, (const int[AXES]){24, 24, 0}, TREACLE_SIDE_SLIP);
    int64_t count = (int64_t)w.map.count * TILE_CELLS;
    uint8_t* across = calloc((size_t)count + TILE_CELLS, 1);
    assert_non_null(across);
    for (int64_t i = 0; i < count; ++i) {
        int at[AXES];
        cell_of(&w, i, at);
        across[i] = at[1] == 10 ? 1 << 1 : 0;
        if (at[1] == 8 && at[2] == 0) {
            set(&w, i, 1.0f);
        }
    }
    extrapolate_params params = {.domain = &w.domain,
                                 .map = &w.map,
                                 .place = place_face(0),
                                 .layers = 6,
                                 .cell_across = across,
                                 .axis = 0};
    assert_int_equal(extrapolate(&params, w.f.values, w.valid), TREACLE_OK);
    for (int64_t i = 0; i < count; ++i) {
        int at[AXES];
        cell_of(&w, i, at);
        if (at[2] == 0 && at[0] <= 24 && at[1] < 24) {
            assert_int_equal(is_valid(&w, i), at[1] >= 2 && at[1] <= 9);
        }
    }
    free(across);
    world_end(&w);
}

static treacle_status extend(treacle_context* ctx, void* user) {
    (void)user;
    grid_domain domain = domain_with(ctx, 16, 8, 0, TREACLE_SIDE_SLIP);
    const tile_coord coord = {{1, 0, 0}};
    tile_map map;
    TREACLE_TRY(tile_map_create(ctx, &domain, 1, &coord, &map));
    float values[2 * TILE_CELLS] = {0};
    tile_mask valid[2] = {{{1}}};
    extrapolate_params params = {.domain = &domain, .map = &map, .place = PLACE_CELL, .layers = 2};
    treacle_status status = extrapolate(&params, values, valid);
    tile_map_destroy(&map);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(extend, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plane_carries_its_values_straight_out),
        cmocka_unit_test(test_slopes_go_on_where_they_are_asked_for),
        cmocka_unit_test(test_layers_are_steps_across_faces_and_wrap),
        cmocka_unit_test(test_an_unknown_sample_is_the_mean_of_its_known_neighbours),
        cmocka_unit_test(test_nothing_is_carried_out_of_the_domain),
        cmocka_unit_test(test_nothing_passes_where_cells_are_kept_apart),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
