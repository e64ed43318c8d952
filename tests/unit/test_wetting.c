// Facts about the curvature of surfaces that meet sides and solids at a contact angle.
#include "level_fixture.h"

#include "phys/curvature.h"
#include "phys/solid_fields.h"

static const double pi = 3.14159265358979323846;
static const float limit = 4.0f; // cells, of distances in a step

// A cap of a circle, or of a ball, on a plane: the plane goes through `foot`, its normal is `up`.
static double radius, angle, foot[AXES], up[AXES];
static bool is_plane;

static double height_of(const double x[AXES]) {
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        sum += (x[a] - foot[a]) * up[a];
    }
    return sum;
}

static double cap(const double x[AXES]) {
    double sum = 0.0;
    for (int a = 0; a < (is_plane ? 2 : 3); ++a) {
        double way = x[a] - foot[a] + radius * cos(angle) * up[a];
        sum += way * way;
    }
    return sqrt(sum) - radius;
}

typedef struct wet_world {
    level_world level;
    grid_field solid_phi, phi, kappa, across, bend;
    uint16_t* id;
    solid solid;
} wet_world;

static void wet_open(wet_world* w, int side, int high) {
    const int cells[AXES] = {side, high, is_plane ? 1 : side};
    *w = (wet_world){.level = level_world_with(1, cells, TREACLE_SIDE_NO_SLIP)};
    grid_field* fields[] = {&w->solid_phi, &w->phi, &w->kappa, &w->across, &w->bend};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(grid_field_create(&w->level.map, PLACE_CELL, 0.0f, fields[i]), TREACLE_OK);
    }
    w->id = calloc(tile_map_values(&w->level.map), sizeof(*w->id));
    assert_non_null(w->id);
    for (int a = 0; a < AXES; ++a) {
        w->level.domain.contact_angle[a][0] = w->level.domain.contact_angle[a][1] = 0.5 * pi;
    }
    level_sample(&w->level, cap);
    for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
        float* phi = &w->level.phi.values[i];
        *phi = fminf(fmaxf(*phi, -limit), limit);
    }
}

static void wet_close(wet_world* w) {
    grid_field* fields[] = {&w->solid_phi, &w->phi, &w->kappa, &w->across, &w->bend};
    for (int i = 0; i < 5; ++i) {
        grid_field_destroy(fields[i]);
    }
    free(w->id);
    level_world_end(&w->level);
}

// Below the plane is solid; what the liquid would be like deeper than a cell nobody knows.
static void put_solid(wet_world* w) {
    w->solid.contact_angle = angle;
    for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
        double x[AXES];
        level_centre(&w->level, i, x);
        float height = (float)height_of(x);
        w->solid_phi.values[i] = fminf(fmaxf(height, -SOLID_DISTANCE_MAX), SOLID_DISTANCE_MAX);
        w->id[i] = fabsf(height) < SOLID_DISTANCE_MAX ? 0 : SOLID_NONE;
        w->level.phi.values[i] = height < -1.0f ? limit : w->level.phi.values[i];
    }
}

// The two passes of a step.
static void find_curvature(wet_world* w, bool has_solid) {
    wetting_params wetting = {.domain = &w->level.domain,
                              .map = &w->level.map,
                              .cell_phi = w->level.phi.values,
                              .cell_solid_phi = has_solid ? w->solid_phi.values : NULL,
                              .cell_solid = w->id,
                              .solids = &w->solid};
    curvature_params params = {.domain = &w->level.domain,
                               .map = &w->level.map,
                               .cell_phi = w->level.phi.values,
                               .wetting = &wetting,
                               .cell_wet_phi = w->phi.values,
                               .cell_across = w->across.values};
    wetting_extend(&wetting, w->phi.values);
    curvature_compute(&params, w->kappa.values);
    wetting_bend(&wetting, w->across.values, w->bend.values);
    wetting.cell_bend = w->bend.values;
    wetting_extend(&wetting, w->phi.values);
    params.is_near_only = true;
    params.cell_across = NULL;
    curvature_compute(&params, w->kappa.values);
}

// The root mean square of the error, over the exact value, in cells beside the surface.
static double error_of(const wet_world* w) {
    double sum = 0.0, exact = (is_plane ? 1.0 : 2.0) / radius;
    int count = 0;
    for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
        double x[AXES];
        bool is_in = level_centre(&w->level, i, x);
        double height = height_of(x);
        if (is_in && fabs(cap(x)) < 0.7 && height > 0.0) {
            double error = ((double)w->kappa.values[i] - exact) / exact;
            sum += error * error;
            ++count;
        }
    }
    assert_true(count > 20);
    return sqrt(sum / count);
}

// A drop of the area of half a disk of 9 cells, or of the volume of half a ball, lies at an angle.
static void put_drop(double degrees, bool is_flat) {
    angle = degrees * pi / 180.0;
    is_plane = is_flat;
    double c = cos(angle), s = sin(angle), size = 9.0;
    radius = is_flat ? size * sqrt(0.5 * pi / (angle - s * c))
                     : size * cbrt(2.0 / ((2.0 + c) * (1.0 - c) * (1.0 - c)));
}

static double error_on_side(double degrees, bool is_flat) {
    wet_world w;
    put_drop(degrees, is_flat);
    foot[0] = 32.3;
    foot[1] = 0.0;
    foot[2] = is_flat ? 0.5 : 32.1;
    up[0] = up[2] = 0.0;
    up[1] = 1.0;
    wet_open(&w, 64, 32);
    w.level.domain.contact_angle[1][0] = angle;
    find_curvature(&w, false);
    double out = error_of(&w);
    wet_close(&w);
    return out;
}

static double error_on_solid(double degrees, double tilt, bool is_flat) {
    wet_world w;
    put_drop(degrees, is_flat);
    foot[0] = 36.3;
    foot[1] = 24.2;
    foot[2] = is_flat ? 0.5 : 32.1;
    up[0] = -sin(tilt * pi / 180.0);
    up[1] = cos(tilt * pi / 180.0);
    up[2] = 0.0;
    wet_open(&w, 72, 64);
    put_solid(&w);
    find_curvature(&w, true);
    double out = error_of(&w);
    wet_close(&w);
    return out;
}

// Of drops at 30, 60, 90, 120 and 150 degrees.
static const double side_bounds[] = {0.03, 0.03, 0.01, 0.01, 0.01};
static const double solid_bounds[] = {0.4, 0.25, 0.1, 0.04, 0.07};

static void test_caps_on_sides_have_one_curvature(void** state) {
    (void)state;
    for (int i = 0; i < 10; ++i) {
        double error = error_on_side(30.0 * (i / 2 + 1), i % 2 == 1);
        assert_true(error < side_bounds[i / 2]);
    }
}

static void test_caps_on_solids_have_one_curvature(void** state) {
    (void)state;
    const double tilts[] = {0.0, 17.0, 45.0};
    for (int i = 0; i < 30; ++i) {
        double error = error_on_solid(30.0 * (i % 5 + 1), tilts[i / 5 % 3], i / 15 == 1);
        assert_true(error < solid_bounds[i % 5]);
    }
}

// A surface that comes at another angle than its own has a bend at the wall that pulls it there:
// more curvature where the angle is to become larger, less where smaller.
static void test_a_wrong_angle_bends_the_surface(void** state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        wet_world w;
        double sum = 0.0;
        int count = 0;
        bool is_solid = i / 2 == 1, grows = i % 2 == 1;
        put_drop(90.0, true);
        foot[0] = 32.3;
        foot[1] = is_solid ? 12.2 : 0.0;
        foot[2] = 0.5;
        up[0] = up[2] = 0.0;
        up[1] = 1.0;
        wet_open(&w, 64, 40);
        angle = (grows ? 120.0 : 60.0) * pi / 180.0;
        w.level.domain.contact_angle[1][0] = is_solid ? 0.5 * pi : angle;
        if (is_solid) {
            put_solid(&w);
        }
        find_curvature(&w, is_solid);
        angle = 0.5 * pi;
        for (int64_t n = 0; n < (int64_t)w.level.map.count * TILE_CELLS; ++n) {
            double x[AXES];
            bool is_in = level_centre(&w.level, n, x);
            double height = height_of(x);
            if (is_in && fabs(cap(x)) < 0.7 && height > 0.0 && height < 2.0) {
                sum += (double)w.kappa.values[n] - 1.0 / radius;
                ++count;
            }
        }
        assert_true(count > 2);
        assert_true(grows ? sum / count > 0.05 : sum / count < -0.05);
        wet_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caps_on_sides_have_one_curvature),
        cmocka_unit_test(test_caps_on_solids_have_one_curvature),
        cmocka_unit_test(test_a_wrong_angle_bends_the_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
