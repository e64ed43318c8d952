#include "level_fixture.h"

#include <string.h>

#include "grid/redistance.h"

static const float limit = 5.0f;

static void run(level_world* w) {
    redistance_params params = {&w->domain, &w->map, limit};
    assert_int_equal(redistance(&params, w->phi.values), TREACLE_OK);
}

typedef struct errors {
    double cut, all; // largest error of cells with a neighbour across the surface, and within 4
} errors;

static bool is_cut(shape_fcn* shape, const double x[AXES]) {
    for (int i = 0; i < 2 * AXES; ++i) {
        double y[AXES] = {x[0], x[1], x[2]};
        y[i / 2] += i % 2 == 0 ? 1.0 : -1.0;
        if ((shape(x) < 0.0) != (shape(y) < 0.0)) {
            return true;
        }
    }
    return false;
}

static errors errors_of(const level_world* w, shape_fcn* distance) {
    errors e = {0};
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        double x[AXES];
        if (!level_centre(w, i, x)) {
            continue;
        }
        double exact = distance(x), error = fabs(w->phi.values[i] - exact);
        e.cut = is_cut(distance, x) && error > e.cut ? error : e.cut;
        e.all = fabs(exact) < 4.0 && error > e.all ? error : e.all;
    }
    return e;
}

static double normal[AXES] = {1, 0, 0};
static double plane(const double x[AXES]) {
    double d = 0.0;
    for (int a = 0; a < AXES; ++a) {
        d += normal[a] * (x[a] - 15.3);
    }
    return d;
}

static double steep_plane(const double x[AXES]) {
    return 3.7 * plane(x);
}

static void test_planes_are_exact_at_any_tilt(void** state) {
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 12; ++round) {
        double length = 0.0;
        for (int a = 0; a < AXES; ++a) {
            normal[a] = random_unit(&seed) - 0.5;
            length += normal[a] * normal[a];
        }
        for (int a = 0; a < AXES; ++a) {
            normal[a] /= sqrt(length);
        }
        level_world w = level_world_with(2, (const int[AXES]){32, 30, 29}, TREACLE_SIDE_SLIP);
        level_sample(&w, steep_plane);
        run(&w);
        // Far from a wall that cuts the plane off, the nearest point is in the domain.
        double beside = 0.0, worst = 0.0;
        for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
            double x[AXES];
            bool is_inside = level_centre(&w, i, x), has_foot = true;
            double exact = plane(x);
            for (int a = 0; a < AXES; ++a) {
                double foot = x[a] - exact * normal[a];
                has_foot = has_foot && foot > 2.0 && foot < w.domain.cells[a] - 2.0;
            }
            if (is_inside && has_foot && fabs(exact) < 4.0) {
                double error = fabs(w.phi.values[i] - exact);
                beside = is_cut(plane, x) && error > beside ? error : beside;
                worst = error > worst ? error : worst;
            }
        }
        assert_true(beside < 2e-5 && worst < 0.02);
        level_world_end(&w);
    }
}

static double radius = 8.0;
static double sphere(const double x[AXES]) {
    double square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        square += (x[a] - 16.2) * (x[a] - 16.2);
    }
    return sqrt(square) - radius;
}

// Not a distance, but zero on the same sphere.
static double bent_sphere(const double x[AXES]) {
    double d = sphere(x) + radius;
    return (d * d - radius * radius) * (1.0 + 0.3 * sin(3.0 * x[0] / radius));
}

static void test_a_sphere_comes_out_of_a_bent_one(void** state) {
    (void)state;
    double last = 0.0;
    for (int i = 0; i < 3; ++i) {
        radius = 3.0 * (1 << i);
        level_world w = level_world_with(2, (const int[AXES]){34, 34, 34}, TREACLE_SIDE_SLIP);
        level_sample(&w, bent_sphere);
        run(&w);
        errors e = errors_of(&w, sphere);
        print_message("radius %g: error %.4f beside the surface, %.4f in the band\n", radius, e.cut,
                      e.all);
        assert_true(e.cut < 0.21 / radius && e.all < 1.2 / radius);
        assert_true(i == 0 || e.cut < 0.6 * last); // of first order in cells, of second in metres
        last = e.cut;
        level_world_end(&w);
    }
}

static double box(const double x[AXES]) {
    double outside = 0.0, inside = -100.0;
    for (int a = 0; a < AXES; ++a) {
        double d = fabs(x[a] - 16.2) - 6.1;
        outside += d > 0.0 ? d * d : 0.0;
        inside = d > inside ? d : inside;
    }
    return outside > 0.0 ? sqrt(outside) : inside;
}

static void test_a_box_keeps_its_distance(void** state) {
    (void)state;
    level_world w = level_world_with(2, (const int[AXES]){34, 34, 34}, TREACLE_SIDE_SLIP);
    level_sample(&w, box);
    run(&w);
    errors e = errors_of(&w, box);
    print_message("box: error %.4f beside the surface, %.4f in the band\n", e.cut, e.all);
    assert_true(e.cut < 0.45 && e.all < 0.45); // corners are rounded by a part of a cell
    level_world_end(&w);
}

// Slope of phi between neighbours in the band, largest deviation from 1 and mean.
static void test_the_slope_is_one(void** state) {
    (void)state;
    radius = 9.0;
    level_world w = level_world_with(1, (const int[AXES]){34, 34, 34}, TREACLE_SIDE_SLIP);
    level_sample(&w, bent_sphere);
    run(&w);
    double sum = 0.0, worst = 0.0;
    int count = 0;
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        double x[AXES];
        int at[AXES] = {(int)(i % 8), (int)(i / 8 % 8), (int)(i / 64 % 8)};
        bool has_neighbours = at[0] > 0 && at[0] < 7 && at[1] > 0 && at[1] < 7 && at[2] > 0 &&
                              at[2] < 7 && level_centre(&w, i, x) && fabs(sphere(x)) < 3.0;
        if (!has_neighbours) {
            continue;
        }
        const float* phi = w.phi.values + i;
        double gx = (phi[1] - phi[-1]) / 2, gy = (phi[8] - phi[-8]) / 2;
        double gz = (phi[64] - phi[-64]) / 2;
        double error = fabs(sqrt(gx * gx + gy * gy + gz * gz) - 1.0);
        worst = error > worst ? error : worst;
        sum += error;
        count += 1;
    }
    print_message("slope: deviates by %.4f on average, %.4f at most\n", sum / count, worst);
    assert_true(sum / count < 0.015 && worst < 0.1);
    level_world_end(&w);
}

static double sheet(const double x[AXES]) {
    return fabs(x[1] - 15.5) - 0.6;
}

static void test_a_sheet_thinner_than_a_cell_keeps_both_sides(void** state) {
    (void)state;
    level_world w = level_world_with(1, (const int[AXES]){32, 32, 32}, TREACLE_SIDE_PERIODIC);
    level_sample(&w, sheet);
    run(&w);
    errors e = errors_of(&w, sheet);
    assert_true(e.all < 1e-5);
    level_world_end(&w);
}

// Inside everywhere, but less and less so towards the side x = 0.
static double fading(const double x[AXES]) {
    return -0.2 - 0.5 * x[0];
}

static void test_no_surface_appears_behind_a_side(void** state) {
    (void)state;
    level_world w = level_world_with(1, (const int[AXES]){24, 16, 16}, TREACLE_SIDE_SLIP);
    level_sample(&w, fading);
    run(&w);
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        assert_true(w.phi.values[i] == -limit);
    }
    level_world_end(&w);
}

static double across_the_seam(const double x[AXES]) {
    double d = fabs(x[0]) < fabs(x[0] - 32.0) ? x[0] : x[0] - 32.0;
    return 2.0 * (fabs(d + 0.8) - 2.3);
}

static void test_distances_wrap_around(void** state) {
    (void)state;
    level_world w = level_world_with(1, (const int[AXES]){32, 16, 0}, TREACLE_SIDE_PERIODIC);
    level_sample(&w, across_the_seam);
    run(&w);
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        double x[AXES];
        if (level_centre(&w, i, x)) {
            double exact = across_the_seam(x) / 2.0;
            exact = exact > limit ? limit : exact;
            assert_true(fabs(w.phi.values[i] - exact) < 1e-5);
        }
    }
    level_world_end(&w);
}

static double circle(const double x[AXES]) {
    return hypot(x[0] - 16.2, x[2] - 15.7) - 7.0;
}

static void test_a_flat_axis_does_not_count(void** state) {
    (void)state;
    level_world w = level_world_with(1, (const int[AXES]){32, 0, 32}, TREACLE_SIDE_SLIP);
    level_sample(&w, circle);
    run(&w);
    errors e = errors_of(&w, circle);
    print_message("circle: error %.4f beside the surface, %.4f in the band\n", e.cut, e.all);
    assert_true(e.cut < 0.01 && e.all < 0.1);
    level_world_end(&w);
}

static void test_signs_are_kept_and_bits_depend_neither_on_threads_nor_instructions(void** state) {
    (void)state;
    float* first = NULL;
    size_t bytes = 0;
    for (int threads = 1; threads <= 4; ++threads) {
        level_world w = level_world_with(threads, (const int[AXES]){40, 32, 24}, TREACLE_SIDE_OPEN);
        treacle_isa best = w.ctx->isa, isa = (treacle_isa)(TREACLE_ISA_SSE2 + threads - 1);
        w.ctx->isa = isa < best ? isa : best;
        uint64_t seed = 2;
        for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
            w.phi.values[i] = (float)(random_unit(&seed) - 0.3);
        }
        bytes = (size_t)w.map.count * TILE_CELLS * sizeof(float);
        float* before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, w.phi.values, bytes);
        run(&w);
        for (size_t i = 0; i < bytes / sizeof(float); ++i) {
            assert_true((before[i] < 0.0f) == (w.phi.values[i] < 0.0f) || w.phi.values[i] == 0.0f);
        }
        first = threads == 1 ? malloc(bytes) : first;
        assert_non_null(first);
        memcpy(threads == 1 ? first : before, w.phi.values, bytes);
        assert_memory_equal(first, w.phi.values, bytes);
        free(before);
        level_world_end(&w);
    }
    free(first);
}

static treacle_status run_once(treacle_context* ctx, void* user) {
    (void)user;
    grid_domain domain = domain_with(ctx, 16, 8, 0, TREACLE_SIDE_SLIP);
    const tile_coord coord = {{1, 0, 0}};
    tile_map map;
    TREACLE_TRY(tile_map_create(ctx, &domain, 1, &coord, &map));
    float phi[2 * TILE_CELLS] = {0};
    redistance_params params = {&domain, &map, limit};
    treacle_status status = redistance(&params, phi);
    tile_map_destroy(&map);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(run_once, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes_are_exact_at_any_tilt),
        cmocka_unit_test(test_a_sphere_comes_out_of_a_bent_one),
        cmocka_unit_test(test_a_box_keeps_its_distance),
        cmocka_unit_test(test_the_slope_is_one),
        cmocka_unit_test(test_a_sheet_thinner_than_a_cell_keeps_both_sides),
        cmocka_unit_test(test_no_surface_appears_behind_a_side),
        cmocka_unit_test(test_distances_wrap_around),
        cmocka_unit_test(test_a_flat_axis_does_not_count),
        cmocka_unit_test(test_signs_are_kept_and_bits_depend_neither_on_threads_nor_instructions),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
