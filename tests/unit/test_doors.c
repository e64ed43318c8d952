// Functions whose caller breaks their contract stop at their doors, before anything has changed.
// One of each kind of contract; builds without assertions have nothing to see here.
#include "broken.h"

#include "grid_fixture.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "grid/redistance.h"
#include "grid/tile_mask.h"
#include "math/curve.h"
#include "particles/particles.h"
#include "phys/heat_curve.h"
#include "phys/velocity.h"

static void count_items(void* data, int64_t begin, int64_t end) {
    *(int64_t*)data += end - begin;
}

static void test_sizes_of_nothing_are_stopped(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    int64_t items = 0;
    assert_broken(parallel_for(ctx, 10, 0, count_items, &items));
    assert_broken(parallel_for(ctx, 10, 1, NULL, &items));
    assert_int_equal(items, 0);
    parallel_for(ctx, 10, 1, count_items, &items);
    assert_int_equal(items, 10);
    treacle_context_destroy(ctx);
}

static void test_blocks_go_back_in_the_order_of_a_stack(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    arena a;
    void *first = NULL, *second = NULL;
    arena_init(&a, ctx);
    assert_int_equal(arena_take(&a, 1, 1, "first", &first), TREACLE_OK);
    assert_int_equal(arena_take(&a, 1, 1, "second", &second), TREACLE_OK);
    assert_broken(arena_give(&a, first));
    assert_broken(arena_give_to(&a, 3));
    assert_broken((void)!arena_end_step(&a));
    assert_int_equal(arena_mark(&a), 2);
    arena_finish(&a);
    treacle_context_destroy(ctx);
}

static void test_places_outside_are_stopped(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 16, 16, 16, TREACLE_SIDE_SLIP);
    tile_map map = whole_map(ctx, &domain);
    uint32_t rows[MASK_ROWS_MAX];
    tile_mask* masks = calloc((size_t)map.count + 1, sizeof(*masks));
    assert_non_null(masks);
    assert_broken(tile_mask_rows(&map, masks, map.count, 1, rows));
    assert_broken(tile_mask_rows(&map, masks, 0, MASK_MARGIN_MAX + 1, rows));
    assert_broken((void)tile_key((tile_coord){{-1, 0, 0}}));
    assert_broken((void)grid_domain_side_at(&domain, AXES, 0, 1));
    face_velocity field = {.map = &map, .domain = &domain};
    assert_broken((void)velocity_mirror_of(&field, 0, -1, 0));
    free(masks);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_numbers_that_make_no_sense_are_stopped(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 16, 16, 16, TREACLE_SIDE_SLIP);
    tile_map map = whole_map(ctx, &domain);
    float* phi = calloc(tile_map_values(&map), sizeof(float));
    assert_non_null(phi);
    redistance_params params = {&domain, &map, 1.0f};
    assert_broken((void)!redistance(&params, phi));
    treacle_key key = {.value = {1.0}};
    treacle_curve curve = {1, &key}, none = {0};
    double way[3];
    assert_broken(curve_way(&curve, 2.0, 1.0, way));
    assert_broken((void)curve_eval_scalar(&none, 0.0));
    heat_curve ice = {.capacity = 1.0};
    assert_broken((void)heat_curve_energy(&ice, 300.0, 1.5));
    free(phi);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_stores_that_do_not_fit_are_stopped(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    particles one, other;
    particle_ix row;
    assert_int_equal(particles_create(ctx, 0, &one), TREACLE_OK);
    assert_int_equal(particles_create(ctx, 1u << PARTICLE_AFFINE, &other), TREACLE_OK);
    assert_broken((void)!particles_copy(&one, &other));
    assert_broken((void)!particles_copy(&one, &one));
    assert_broken((void)!particles_append(&one, (tile_coord){{0, 0, 0}}, -1, &row));
    assert_int_equal(one.count, 0);
    particles_destroy(&one);
    particles_destroy(&other);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_nothing_are_stopped),
        cmocka_unit_test(test_blocks_go_back_in_the_order_of_a_stack),
        cmocka_unit_test(test_places_outside_are_stopped),
        cmocka_unit_test(test_numbers_that_make_no_sense_are_stopped),
        cmocka_unit_test(test_stores_that_do_not_fit_are_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
