#include "particle_fixture.h"

#include "alloc_failure.h"

static void add_row(particles* p, const grid_domain* domain, tile_coord tile, uint64_t id) {
    particle_ix row;
    particle_birth birth = {.id = id, .volume = (double)id + 1.0, .material = (uint8_t)(id % 251)};
    assert_int_equal(particles_append(p, tile, 1, &row), TREACLE_OK);
    particle_init(p, domain, row, &birth);
}

static void test_only_the_columns_asked_for_exist(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    particles p;
    assert_int_equal(particles_create(ctx, 1u << PARTICLE_REST, &p), TREACLE_OK);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bool exists = c <= PARTICLE_MATERIAL || c == PARTICLE_REST;
        assert_int_equal(p.column[c] != NULL, exists);
        size_t bytes = treacle_type_size(particle_columns[c].type);
        assert_int_equal(particle_columns[c].bytes, bytes * (size_t)particle_columns[c].components);
    }
    particles_destroy(&p);
    particles_destroy(&p);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
}

static void test_rows_of_one_tile_share_a_group(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 64, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    for (uint64_t i = 0; i < 1000; ++i) {
        add_row(&p, &domain, (tile_coord){{(int32_t)(i / 100) % 3, 0, 0}}, i);
    }
    assert_int_equal(p.tile_count, 10);
    assert_int_equal(p.count, 1000);
    assert_true(particles_is_grouped(&p));
    assert_false(particles_is_sorted(&p, &domain)); // the same tile again and again
    for (uint64_t i = 0; i < 1000; ++i) {
        assert_true(particles_id(&p)[i] == i);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_removal_keeps_order_and_groups(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 80, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    uint8_t is_removed[1000];
    assert_int_equal(particles_create(ctx, 1u << PARTICLE_AFFINE, &p), TREACLE_OK);
    for (uint64_t i = 0; i < 1000; ++i) {
        add_row(&p, &domain, (tile_coord){{(int32_t)(i / 100), 0, 0}}, i);
        is_removed[i] = i % 3 == 1 || i / 100 == 4;
    }
    particles_remove(&p, is_removed);
    assert_true(particles_is_grouped(&p));
    assert_int_equal(p.tile_first[5], p.tile_first[4]);
    particle_ix row = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
        if (!is_removed[i]) {
            assert_true(particles_id(&p)[row] == i);
            assert_true(particles_f32(&p, PARTICLE_VOLUME)[row] == (float)(i + 1));
            assert_int_equal(particles_material(&p)[row], i % 251);
            row += 1;
        }
    }
    assert_int_equal(p.count, row);
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_true(particles_is_sorted(&p, &domain));
    assert_int_equal(p.tile_count, 9); // the empty one is gone
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_places_go_to_tiles_and_back(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 100, 40, 64, 0.01, TREACLE_SIDE_SLIP);
    for (uint64_t i = 0; i < 1000; ++i) {
        vec3 place;
        for (int a = 0; a < AXES; ++a) {
            place.at[a] = 2.0 * hash_random_f64(1, AXES * i + (uint64_t)a, RANDOM_TEST) - 0.5;
        }
        tile_coord tile;
        float position[AXES];
        particles_locate(&domain, place, &tile, position);
        vec3 back = particles_place(&domain, tile, position);
        assert_true(vec3_length(vec3_sub(back, place)) < 1e-7);
        for (int a = 0; a < AXES; ++a) {
            assert_true(tile.at[a] >= -1 && tile.at[a] <= domain.tiles[a]);
        }
    }
    treacle_context_destroy(ctx);
}

static treacle_status grow_and_copy(treacle_context* ctx, void* data) {
    (void)data;
    particles a, b = {0};
    TREACLE_TRY(particles_create(ctx, 1u << PARTICLE_AFFINE, &a));
    treacle_status status = particles_create(ctx, 1u << PARTICLE_AFFINE, &b);
    for (int i = 0; status == TREACLE_OK && i < 100; ++i) {
        particle_ix row, before = a.count;
        status = particles_append(&a, (tile_coord){{i, 0, 0}}, 1, &row);
        assert_int_equal(a.count, status == TREACLE_OK ? before + 1 : before);
        assert_true(particles_is_grouped(&a));
    }
    if (status == TREACLE_OK) {
        status = particles_copy(&b, &a);
        assert_int_equal(b.count, status == TREACLE_OK ? 100 : 0);
        assert_true(particles_is_grouped(&b));
    }
    particles_destroy(&a);
    particles_destroy(&b);
    return status;
}

static void test_failing_memory_leaves_the_store_as_it_was(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(grow_and_copy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_columns_asked_for_exist),
        cmocka_unit_test(test_rows_of_one_tile_share_a_group),
        cmocka_unit_test(test_removal_keeps_order_and_groups),
        cmocka_unit_test(test_places_go_to_tiles_and_back),
        cmocka_unit_test(test_failing_memory_leaves_the_store_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
