#include "points_fixture.h"

#include <string.h>

#include "grid/fraction.h"
#include "grid/level_liquid.h"
#include "grid/tile_band.h"

static const float limit = 3.0f;
static const fill_def eight = {.per_axis = 2, .jitter = 1.0, .seed = 7};

typedef struct liquid_world {
    treacle_context* ctx;
    grid_domain domain;
    points_world points;
    tile_map map;
    grid_field phi, cell;
} liquid_world;

static liquid_world liquid_with(treacle_context* ctx, grid_domain domain, shape_fcn* shape,
                                level_kind kind) {
    liquid_world w = {.ctx = ctx, .domain = domain};
    w.points = points_in(&domain, shape, eight);
    assert_int_equal(tile_band_create(ctx, &domain, &w.points.view, 4, &w.map), TREACLE_OK);
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, limit, &w.phi), TREACLE_OK);
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, 0.0f, &w.cell), TREACLE_OK);
    double per_cell = domain.is_active[2] ? 8.0 : 4.0;
    level_params params = {.domain = &w.domain,
                           .map = &w.map,
                           .points = &w.points.view,
                           .kind = kind,
                           .radius = level_radius_default(&domain, kind, per_cell),
                           .per_cell = per_cell,
                           .limit = limit};
    assert_int_equal(level_liquid(&params, w.phi.values), TREACLE_OK);
    fraction_params fraction = {&w.domain, &w.map, w.phi.values};
    fraction_compute(&fraction, &(fraction_fields){.cell = w.cell.values});
    return w;
}

static void liquid_end(liquid_world* w) {
    grid_field_destroy(&w->phi);
    grid_field_destroy(&w->cell);
    tile_map_destroy(&w->map);
    points_end(&w->points);
}

typedef struct liquid_facts {
    double volume;
    double rough;   // root mean square of the error of phi within 0.6 of the surface
    int wrong_side; // cells more than 1 from the surface that are on the wrong side of it
} liquid_facts;

static liquid_facts facts_of(const liquid_world* w, shape_fcn* shape) {
    liquid_facts facts = {0};
    level_world view = {.domain = w->domain, .map = w->map};
    double squares = 0.0;
    int count = 0;
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        double x[AXES];
        if (!level_centre(&view, i, x)) {
            continue;
        }
        double exact = shape(x), error = w->phi.values[i] - exact;
        facts.volume += w->cell.values[i];
        facts.wrong_side += fabs(exact) > 1.0 && (exact < 0.0) != (w->phi.values[i] < 0.0f);
        squares += fabs(exact) < 0.6 ? error * error : 0.0;
        count += fabs(exact) < 0.6;
    }
    facts.rough = sqrt(squares / count);
    return facts;
}

static double ball(const double x[AXES]) {
    return sqrt(pow(x[0] - 16.2, 2) + pow(x[1] - 15.7, 2) + pow(x[2] - 16.4, 2)) - 8.0;
}

static double pool(const double x[AXES]) {
    return x[1] - 16.3;
}

static double circle(const double x[AXES]) {
    return hypot(x[0] - 16.2, x[1] - 15.7) - 8.0;
}

static void check_volume(const int cells[AXES], shape_fcn* shape, double volume, double error) {
    for (int kind = LEVEL_SMOOTH; kind <= LEVEL_SPHERES; ++kind) {
        treacle_context* ctx = context_with(2);
        grid_domain domain = domain_with(ctx, cells[0], cells[1], cells[2], TREACLE_SIDE_SLIP);
        liquid_world w = liquid_with(ctx, domain, shape, (level_kind)kind);
        liquid_facts facts = facts_of(&w, shape);
        print_message("kind %d: volume %.4f of the exact, roughness %.3f\n", kind,
                      facts.volume / volume, facts.rough);
        assert_true(fabs(facts.volume / volume - 1.0) < error);
        assert_true(facts.rough < 0.16);
        assert_int_equal(facts.wrong_side, 0);
        liquid_end(&w);
        treacle_context_destroy(ctx);
    }
}

static void test_a_ball_has_its_volume(void** state) {
    (void)state;
    check_volume((const int[AXES]){32, 32, 32}, ball, 4.0 / 3.0 * 3.141592653589793 * 512.0, 0.01);
}

// To 0.08 of a cell in height, walls and floor included.
static void test_a_pool_is_as_deep_as_it_was_filled(void** state) {
    (void)state;
    check_volume((const int[AXES]){32, 32, 30}, pool, 32.0 * 30.0 * 16.3, 0.005);
}

static void test_a_disc_has_its_area(void** state) {
    (void)state;
    check_volume((const int[AXES]){32, 32, 0}, circle, 3.141592653589793 * 64.0, 0.015);
}

static double seam_ball(const double x[AXES]) {
    double square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double d = x[a] - 30.5;
        d -= 32.0 * floor(d / 32.0 + 0.5);
        square += d * d;
    }
    return sqrt(square) - 8.0;
}

static void test_a_ball_across_the_seams_is_whole(void** state) {
    (void)state;
    treacle_context* ctx = context_with(2);
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_PERIODIC);
    liquid_world w = liquid_with(ctx, domain, seam_ball, LEVEL_SMOOTH);
    liquid_facts facts = facts_of(&w, seam_ball);
    assert_true(fabs(facts.volume / (4.0 / 3.0 * 3.141592653589793 * 512.0) - 1.0) < 0.01);
    assert_int_equal(facts.wrong_side, 0);
    liquid_end(&w);
    treacle_context_destroy(ctx);
}

static double half_ball(const double x[AXES]) {
    return sqrt(pow(x[0] - 16.0, 2) + pow(x[1], 2) + pow(x[2] - 16.0, 2)) - 8.0;
}

static void test_a_drop_on_a_wall_has_no_surface_there(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_NO_SLIP);
    liquid_world w = liquid_with(ctx, domain, half_ball, LEVEL_SMOOTH);
    liquid_facts facts = facts_of(&w, half_ball);
    assert_true(fabs(facts.volume / (2.0 / 3.0 * 3.141592653589793 * 512.0) - 1.0) < 0.012);
    assert_int_equal(facts.wrong_side, 0);
    liquid_end(&w);
    treacle_context_destroy(ctx);
}

static double speck(const double x[AXES]) {
    return fmax(fmax(fabs(x[0] - 12.25), fabs(x[1] - 12.25)), fabs(x[2] - 12.25)) - 0.25;
}

static void test_a_lone_particle_is_liquid(void** state) {
    (void)state;
    for (int kind = LEVEL_SMOOTH; kind <= LEVEL_SPHERES; ++kind) {
        treacle_context* ctx = context_with(1);
        grid_domain domain = domain_with(ctx, 24, 24, 24, TREACLE_SIDE_OPEN);
        liquid_world w = liquid_with(ctx, domain, speck, (level_kind)kind);
        assert_int_equal(w.points.count, 1);
        for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
            level_world view = {.domain = w.domain, .map = w.map};
            double x[AXES];
            level_centre(&view, i, x);
            double d = fabs(x[0] - 12.25) + fabs(x[1] - 12.25) + fabs(x[2] - 12.25);
            assert_true(d < 2.0 || w.phi.values[i] > 0.0f);
        }
        liquid_end(&w);
        treacle_context_destroy(ctx);
    }
}

// Points that run together in the corner of a cell, 0.87 from all centres.
static double clump(const double x[AXES]) {
    return fmax(fmax(fabs(x[0] - 12.0), fabs(x[1] - 12.0)), fabs(x[2] - 12.0)) - 0.3;
}

static void test_a_crowd_is_liquid(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 24, 24, 24, TREACLE_SIDE_SLIP);
    liquid_world w = liquid_with(ctx, domain, clump, LEVEL_SMOOTH);
    assert_true(w.points.count > 0);
    level_params params = {.domain = &w.domain,
                           .map = &w.map,
                           .points = &w.points.view,
                           .radius = 1.5f,
                           .per_cell = 8.0,
                           .limit = limit,
                           .cell_volume = w.cell.values};
    tile_ix tile = tile_map_find(&w.map, (tile_coord){{1, 1, 1}});
    size_t beside = (size_t)tile * TILE_CELLS + 4 * (1 + TILE_SIZE + TILE_SIZE * TILE_SIZE);
    for (int crowded = 0; crowded < 2; ++crowded) {
        // 20 cells full of points, or one.
        w.cell.values[beside] = crowded ? 2.5f : 0.125f;
        assert_int_equal(level_liquid(&params, w.phi.values), TREACLE_OK);
        assert_true((w.phi.values[beside] < 0.0f) == crowded);
    }
    liquid_end(&w);
    treacle_context_destroy(ctx);
}

static void test_bits_do_not_depend_on_threads_or_instructions(void** state) {
    (void)state;
    float* first = NULL;
    for (int round = 0; round < 4; ++round) {
        treacle_context* ctx = context_with(1 + round);
        treacle_isa best = ctx->isa;
        ctx->isa = round == 0                               ? TREACLE_ISA_SSE2
                   : round == 1 && best != TREACLE_ISA_SSE2 ? TREACLE_ISA_AVX2
                                                            : best;
        grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_SLIP);
        liquid_world w = liquid_with(ctx, domain, ball, LEVEL_SMOOTH);
        size_t bytes = (size_t)w.map.count * TILE_CELLS * sizeof(float);
        if (round == 0) {
            first = malloc(bytes);
            assert_non_null(first);
            memcpy(first, w.phi.values, bytes);
        }
        assert_memory_equal(first, w.phi.values, bytes);
        liquid_end(&w);
        treacle_context_destroy(ctx);
    }
    free(first);
}

static treacle_status make_level(treacle_context* ctx, void* user) {
    const points_world* points = user;
    grid_domain domain = domain_with(ctx, 24, 24, 24, TREACLE_SIDE_OPEN);
    tile_map map;
    TREACLE_TRY(tile_band_create(ctx, &domain, &points->view, 4, &map));
    grid_field phi;
    treacle_status status = grid_field_create(&map, PLACE_CELL, limit, &phi);
    if (status == TREACLE_OK) {
        level_params params = {.domain = &domain,
                               .map = &map,
                               .points = &points->view,
                               .kind = LEVEL_SPHERES,
                               .radius = 0.3f,
                               .per_cell = 8.0,
                               .limit = limit};
        status = level_liquid(&params, phi.values);
    }
    grid_field_destroy(&phi);
    tile_map_destroy(&map);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 24, 24, 24, TREACLE_SIDE_OPEN);
    points_world points = points_in(&domain, speck, eight);
    treacle_context_destroy(ctx);
    ALLOC_FAILURE_CHECK(make_level, &points);
    points_end(&points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ball_has_its_volume),
        cmocka_unit_test(test_a_pool_is_as_deep_as_it_was_filled),
        cmocka_unit_test(test_a_disc_has_its_area),
        cmocka_unit_test(test_a_ball_across_the_seams_is_whole),
        cmocka_unit_test(test_a_drop_on_a_wall_has_no_surface_there),
        cmocka_unit_test(test_a_lone_particle_is_liquid),
        cmocka_unit_test(test_a_crowd_is_liquid),
        cmocka_unit_test(test_bits_do_not_depend_on_threads_or_instructions),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
