// Shadows of balls, solid and liquid, on points behind them.
#include "solid_fixture.h"
#include "unit.h"

#include "phys/shade.h"

static const vec3 open_air = {{0.0, 0.0, 0.0}};
static const int cube[AXES] = {32, 32, 32};

typedef struct shade_world {
    solid_world w;
    float* phi;
    shade shade;
} shade_world;

// Liquid: a ball of this radius in the middle; below 0: none.
static void begin(shade_world* s, double radius) {
    solid_world_begin(&s->w, 1, cube);
    s->phi = malloc(s->w.values * sizeof(float));
    assert_non_null(s->phi);
    for (size_t i = 0; i < s->w.values; ++i) {
        int at[AXES];
        double squared = 0.0;
        tile_ix tile = (tile_ix)(i / TILE_CELLS);
        s->phi[i] = 5.0f;
        if (tile < s->w.map.count) {
            tile_cell_at(&s->w.map, tile, (int)(i % TILE_CELLS), at);
            for (int a = 0; a < AXES; ++a) {
                squared += (at[a] + 0.5 - 16.0) * (at[a] + 0.5 - 16.0);
            }
            s->phi[i] = (float)fmin(sqrt(squared) - radius, 5.0);
        }
    }
    s->shade = (shade){.domain = &s->w.domain, .map = &s->w.map, .cell_phi = s->phi};
}

static void add_ball(shade_world* s, double radius) {
    treacle_shape ball = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    ball.radius = radius;
    ball.move[0] = ball.move[1] = ball.move[2] = 16.0;
    solid_world_shape(&s->w, 0, &ball);
    s->shade.solids = (solid_scene){1, s->w.solids, s->w.poses};
}

static void end(shade_world* s) {
    free(s->phi);
    solid_world_end(&s->w);
}

// m^2 of the plane y = 4 that a lamp at y = 28 does not light.
static double dark_area(const shade_world* s) {
    const int n = 128;
    double sum = 0.0, width = 32.0 / n;
    for (int i = 0; i < n * n; ++i) {
        vec3 x = vec3_make((i % n + 0.5) * width, 4.0, (i / n + 0.5) * width);
        double light = shade_light(&s->shade, x, open_air, vec3_make(16.0, 28.0, 16.0));
        assert_true(light >= 0.0 && light <= 1.0);
        sum += (1.0 - light) * width * width;
    }
    return sum;
}

// The cone around a ball of radius 5 at the distance 12, where it meets the plane at 24.
static double cone_area(void) {
    double radius = 24.0 * 5.0 / sqrt(144.0 - 25.0);
    return 3.14159265358979 * radius * radius;
}

static void test_nothing_shades_the_open(void** state) {
    (void)state;
    shade_world s;
    begin(&s, -10.0);
    assert_true(dark_area(&s) == 0.0);
    end(&s);
}

static void test_the_shadow_of_a_solid_ball_is_its_cone(void** state) {
    (void)state;
    shade_world s;
    begin(&s, -10.0);
    add_ball(&s, 5.0);
    assert_close(dark_area(&s), cone_area(), 0.02 * cone_area());
    vec3 lamp = vec3_make(16.0, 28.0, 16.0);
    assert_true(shade_light(&s.shade, vec3_make(16.0, 4.0, 16.0), open_air, lamp) == 0.0);
    assert_true(shade_light(&s.shade, vec3_make(4.0, 4.0, 4.0), open_air, lamp) == 1.0);
    // Nor does it shade what is before it.
    assert_true(shade_light(&s.shade, vec3_make(16.0, 24.0, 16.0), open_air, lamp) == 1.0);
    end(&s);
}

static void test_liquid_shades_as_a_solid_does(void** state) {
    (void)state;
    shade_world s;
    begin(&s, 5.0);
    assert_close(dark_area(&s), cone_area(), 0.02 * cone_area());
    end(&s);
}

// A wick in the wax that it heats.
static void test_liquid_around_the_flame_does_not_hide_it(void** state) {
    (void)state;
    shade_world s;
    begin(&s, 5.0);
    vec3 flame = vec3_make(16.0, 21.2, 16.0);
    assert_true(shade_light(&s.shade, vec3_make(16.0, 30.0, 16.0), open_air, flame) == 1.0);
    assert_true(shade_light(&s.shade, vec3_make(16.0, 21.0, 16.0), open_air, flame) == 1.0);
    assert_true(shade_light(&s.shade, vec3_make(16.0, 2.0, 16.0), open_air, flame) == 0.0);
    end(&s);
}

static void test_rays_may_begin_and_end_outside_the_domain(void** state) {
    (void)state;
    shade_world s;
    begin(&s, 5.0);
    assert_true(shade_light(&s.shade, vec3_make(16.0, 4.0, 16.0), open_air,
                            vec3_make(16.0, 400.0, 16.0)) == 0.0);
    assert_true(shade_light(&s.shade, vec3_make(4.0, 4.0, 4.0), open_air,
                            vec3_make(4.0, 400.0, 4.0)) == 1.0);
    end(&s);
}

// A plane of liquid in light that comes in flat does not shade itself.
static void test_a_surface_is_clear_of_itself(void** state) {
    (void)state;
    shade_world s;
    begin(&s, -10.0);
    for (size_t i = 0; i < s.w.values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&s.w.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        s.phi[i] = (float)(at[1] + 0.5 - 8.0);
    }
    vec3 up = vec3_make(0.0, 1.0, 0.0);
    for (double y = 11.0; y < 30.0; y += 1.0) {
        double light =
            shade_light(&s.shade, vec3_make(2.0, 8.0, 16.0), up, vec3_make(30.0, y, 16.0));
        assert_true(light == 1.0);
    }
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_shades_the_open),
        cmocka_unit_test(test_the_shadow_of_a_solid_ball_is_its_cone),
        cmocka_unit_test(test_liquid_shades_as_a_solid_does),
        cmocka_unit_test(test_liquid_around_the_flame_does_not_hide_it),
        cmocka_unit_test(test_a_surface_is_clear_of_itself),
        cmocka_unit_test(test_rays_may_begin_and_end_outside_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
