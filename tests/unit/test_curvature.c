// Facts about the curvature of surfaces, and about their area.
#include "points_fixture.h"

#include "grid/level_liquid.h"
#include "grid/sheet.h"
#include "grid/tile_band.h"
#include "phys/curvature.h"

static const float step_limit = 4.0f; // cells, of distances in a step
static float limit = 100.0f;          // of those that are sampled
static double middle[AXES], radius, slope[AXES];

// How far the curvature at cells is from that at their feet: root mean square, times the radius.
typedef double curvature_fcn(const double x[AXES]);

static double from_middle(const double x[AXES], int axes) {
    double sum = 0.0;
    for (int a = 0; a < axes; ++a) {
        sum += (x[a] - middle[a]) * (x[a] - middle[a]);
    }
    return sqrt(sum);
}

static double plane(const double x[AXES]) {
    return slope[0] * (x[0] - middle[0]) + slope[1] * (x[1] - middle[1]) +
           slope[2] * (x[2] - middle[2]);
}

static double no_curvature(const double x[AXES]) {
    (void)x;
    return 0.0;
}

static double sphere(const double x[AXES]) {
    return from_middle(x, 3) - radius;
}

static double sphere_curvature(const double x[AXES]) {
    (void)x;
    return 2.0 / radius;
}

// A thread along z, and a disk where the domain is flat.
static double cylinder(const double x[AXES]) {
    return from_middle(x, 2) - radius;
}

static double cylinder_curvature(const double x[AXES]) {
    (void)x;
    return 1.0 / radius;
}

static double bubble(const double x[AXES]) {
    return -sphere(x);
}

static double bubble_curvature(const double x[AXES]) {
    (void)x;
    return -2.0 / radius;
}

// A ring of 2 radii around the middle, about z.
static double torus(const double x[AXES]) {
    double out = from_middle(x, 2) - 2.0 * radius, up = x[2] - middle[2];
    return sqrt(out * out + up * up) - radius;
}

static double torus_curvature(const double x[AXES]) {
    double out = from_middle(x, 2) - 2.0 * radius, up = x[2] - middle[2];
    double cosine = out / sqrt(out * out + up * up);
    return 1.0 / radius + cosine / (2.0 * radius + radius * cosine);
}

// A cone about z of half an angle whose cosine is 0.8, apex below; it is as thick as the radius at
// the middle.
static double cone(const double x[AXES]) {
    double height = x[2] - middle[2] + radius / 0.75;
    return 0.8 * from_middle(x, 2) - 0.6 * height;
}

static double cone_curvature(const double x[AXES]) {
    double foot = from_middle(x, 2) - 0.8 * cone(x);
    return 0.8 / foot;
}

typedef struct bent {
    shape_fcn* shape;
    curvature_fcn* exact;
} bent;

static double largest_part(const double x[AXES]) {
    double most = 0.0;
    for (int a = 0; a < AXES; ++a) {
        most = fmax(most, fabs(x[a] - middle[a]));
    }
    return most;
}

// Over cells beside the surface, as far from the middle as `reach`.
static double error_of(const level_world* w, const float* kappa, bent of, double reach) {
    double sum = 0.0;
    int count = 0;
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        double x[AXES];
        if (level_centre(w, i, x) && fabs(of.shape(x)) < 0.7 && largest_part(x) < reach) {
            double error = (double)kappa[i] - of.exact(x);
            sum += error * error;
            ++count;
        }
    }
    assert_true(count > 50);
    return radius * sqrt(sum / count);
}

static double error_on_grid(bent of, int side, bool is_flat, double reach) {
    level_world w =
        level_world_with(1, (const int[AXES]){side, side, is_flat ? 1 : side}, TREACLE_SIDE_SLIP);
    grid_field kappa;
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, 0.0f, &kappa), TREACLE_OK);
    level_sample(&w, of.shape);
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        w.phi.values[i] = fminf(fmaxf(w.phi.values[i], -limit), limit);
    }
    curvature_compute(
        &(curvature_params){.domain = &w.domain, .map = &w.map, .cell_phi = w.phi.values},
        kappa.values);
    double error = error_of(&w, kappa.values, of, reach);
    grid_field_destroy(&kappa);
    level_world_end(&w);
    return error;
}

// The middle of a domain, moved by less than a cell.
static void put_middle(double at, uint64_t* seed) {
    for (int a = 0; a < AXES; ++a) {
        middle[a] = at + random_unit(seed);
    }
}

// The largest error for several places on the grid.
static double worst_on_grid(bent of, int side, bool is_flat, double reach) {
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        uint64_t counter = seed;
        put_middle(0.5 * side, &counter);
        worst = fmax(worst, error_on_grid(of, side, is_flat, reach));
    }
    return worst;
}

static void test_planes_are_not_curved(void** state) {
    (void)state;
    uint64_t seed = 3;
    radius = 1.0;
    for (int n = 0; n < 4; ++n) {
        double length = 0.0;
        put_middle(12.0, &seed);
        for (int a = 0; a < AXES; ++a) {
            slope[a] = random_unit(&seed) - 0.5;
            length += slope[a] * slope[a];
        }
        for (int a = 0; a < AXES; ++a) {
            slope[a] /= sqrt(length);
        }
        limit = 100.0f;
        double whole = error_on_grid((bent){plane, no_curvature}, 24, false, 6.0);
        limit = step_limit;
        double cut = error_on_grid((bent){plane, no_curvature}, 24, false, 6.0);
        assert_true(whole < 1e-6);
        assert_true(cut < 5e-4);
    }
}

typedef struct bound {
    bent of;
    bool is_flat;
    double coarse, fine; // radius 6, 12 (of a torus 5, 8: it is wide)
    double cut;          // the latter, with distances cut off as in a step
} bound;

static void test_round_shapes_have_their_curvature(void** state) {
    (void)state;
    const bound bounds[] = {
        {{sphere, sphere_curvature}, false, 0.008, 0.002, 0.011},
        {{bubble, bubble_curvature}, false, 0.008, 0.002, 0.011},
        {{cylinder, cylinder_curvature}, false, 0.007, 0.002, 0.008},
        {{cylinder, cylinder_curvature}, true, 0.007, 0.002, 0.008},
        {{cone, cone_curvature}, false, 0.03, 0.006, 0.01},
        {{torus, torus_curvature}, false, 0.01, 0.0035, 0.008},
    };
    limit = 100.0f;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); ++i) {
        const bound* b = &bounds[i];
        bool is_torus = b->of.shape == torus, is_cone = b->of.shape == cone;
        radius = is_torus ? 5.0 : 6.0;
        double coarse = worst_on_grid(b->of, is_torus ? 48 : 32, b->is_flat, is_cone ? 4.0 : 100.0);
        radius = is_torus ? 8.0 : 12.0;
        double fine = worst_on_grid(b->of, is_torus ? 64 : 40, b->is_flat, is_cone ? 8.0 : 100.0);
        limit = step_limit;
        double cut = worst_on_grid(b->of, is_torus ? 64 : 40, b->is_flat, is_cone ? 8.0 : 100.0);
        limit = 100.0f;
        assert_true(cut < b->cut);
        assert_true(coarse < b->coarse);
        assert_true(fine < b->fine);
    }
}

// --- particles -----------------------------------------------------------------------------------

static double error_of_points(bent of, int side, bool is_flat, uint64_t seed) {
    limit = step_limit;
    treacle_context* ctx = context_with(1);
    level_world w = {.ctx = ctx};
    w.domain = domain_with(ctx, side, side, is_flat ? 1 : side, TREACLE_SIDE_SLIP);
    points_world points =
        points_in(&w.domain, of.shape, (fill_def){.per_axis = 2, .jitter = 1.0, .seed = seed});
    assert_int_equal(tile_band_create(ctx, &w.domain, &points.view, 5, &w.map), TREACLE_OK);
    grid_field kappa;
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, limit, &w.phi), TREACLE_OK);
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, 0.0f, &kappa), TREACLE_OK);
    double per_cell = is_flat ? 4.0 : 8.0;
    level_params params = {.domain = &w.domain,
                           .map = &w.map,
                           .points = &points.view,
                           .kind = LEVEL_SMOOTH,
                           .radius = level_radius_default(&w.domain, LEVEL_SMOOTH, per_cell),
                           .per_cell = per_cell,
                           .limit = limit};
    assert_int_equal(level_liquid(&params, w.phi.values), TREACLE_OK);
    curvature_compute(
        &(curvature_params){.domain = &w.domain, .map = &w.map, .cell_phi = w.phi.values},
        kappa.values);
    double error = error_of(&w, kappa.values, of, 100.0);
    grid_field_destroy(&kappa);
    points_end(&points);
    level_world_end(&w);
    return error;
}

static void test_noise_of_particles_is_smoothed(void** state) {
    (void)state;
    for (int is_flat = 0; is_flat < 2; ++is_flat) {
        double worst = 0.0;
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            radius = 8.0;
            put_middle(16.0, &(uint64_t){seed});
            bent of =
                is_flat ? (bent){cylinder, cylinder_curvature} : (bent){sphere, sphere_curvature};
            worst = fmax(worst, error_of_points(of, 32, is_flat == 1, seed));
        }
        assert_true(worst < (is_flat ? 0.7 : 0.45));
    }
}

// --- area ----------------------------------------------------------------------------------------

static void test_areas_of_planes_and_balls_add_up(void** state) {
    (void)state;
    level_world w = level_world_with(1, (const int[AXES]){32, 32, 32}, TREACLE_SIDE_SLIP);
    grid_field field[1 + 2 * AXES];
    for (int i = 0; i < 1 + 2 * AXES; ++i) {
        assert_int_equal(grid_field_create(&w.map, PLACE_CELL, 0.0f, &field[i]), TREACLE_OK);
    }
    sheet_fields out = {.cell = field[0].values};
    for (int i = 0; i < 2 * AXES; ++i) {
        out.edge[i / 2][i % 2] = field[1 + i].values;
    }
    uint64_t seed = 5;
    radius = 10.0;
    put_middle(15.0, &seed);
    level_sample(&w, sphere);
    sheet_compute(&(sheet_params){&w.domain, &w.map, w.phi.values}, &out);
    double area = 0.0, along[2 * AXES] = {0}, exact = 4.0 * acos(-1.0) * radius * radius;
    for (int64_t i = 0; i < (int64_t)w.map.count * TILE_CELLS; ++i) {
        area += (double)out.cell[i];
        for (int k = 0; k < 2 * AXES; ++k) {
            along[k] += (double)out.edge[k / 2][k % 2][i];
        }
    }
    assert_close(area, exact, 1e-3 * exact);
    for (int k = 0; k < 2 * AXES; ++k) { // L - N is two thirds of L, whatever the axis
        assert_close(along[k], area * 2.0 / 3.0, 1e-3 * area);
    }
    for (int i = 0; i < 1 + 2 * AXES; ++i) {
        grid_field_destroy(&field[i]);
    }
    level_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes_are_not_curved),
        cmocka_unit_test(test_round_shapes_have_their_curvature),
        cmocka_unit_test(test_noise_of_particles_is_smoothed),
        cmocka_unit_test(test_areas_of_planes_and_balls_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
