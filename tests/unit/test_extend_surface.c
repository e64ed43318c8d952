#include "solid_fixture.h"

#include "phys/extend_surface.h"
#include "phys/open_volume.h"

static float* make_room(const solid_world* w) {
    float* room = calloc(w->values, sizeof(float));
    assert_non_null(room);
    return room;
}

// Liquid below the slanted plane y = 8 + 0.2 x, in cells.
static float level_at(int x, int y) {
    return (float)((y + 0.5) - 8.0 - 0.2 * (x + 0.5)) / sqrtf(1.04f);
}

static void extend(const solid_world* w, float* phi) {
    float *one = make_room(w), *two = make_room(w);
    extend_surface_params params = {&w->domain, &w->map, w->out.cell_phi, {{NULL}}};
    for (int a = 0; a < AXES; ++a) {
        params.face_open.at[a] = w->out.face_open.at[a];
    }
    extend_surface(&params, phi, (float* const[2]){one, two});
    free(one);
    free(two);
}

static void test_a_plane_stays_a_plane(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 2, (const int[AXES]){24, 24, 1});
    treacle_shape wall = treacle_shape_default(TREACLE_SHAPE_PLANE);
    wall.rotate[2] = -1.0; // leans
    wall.move[0] = 8.0;
    wall.move[1] = 5.0;
    solid_world_shape(&w, 0, &wall);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    float* phi = make_room(&w);
    for (int i = 0; i < 24 * 24; ++i) {
        size_t at = value_at(&w, i % 24, i / 24, 0);
        phi[at] = w.out.cell_phi[at] < 1.0f ? 9.0f : level_at(i % 24, i / 24);
    }
    extend(&w, phi);
    for (int i = 0; i < 24 * 24; ++i) {
        int x = i % 24, y = i / 24;
        size_t at = value_at(&w, x, y, 0);
        bool is_inner = x > 2 && y > 2 && x < 21 && y < 21;
        if (is_inner && w.out.cell_phi[at] > -0.3f) {
            assert_true(fabsf(phi[at] - level_at(x, y)) < 1e-4f);
        }
    }
    free(phi);
    solid_world_end(&w);
}

static void test_a_film_beside_a_wall_stays(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){24, 24, 1});
    treacle_shape floor = treacle_shape_default(TREACLE_SHAPE_PLANE);
    floor.move[1] = 8.1;
    solid_world_shape(&w, 0, &floor);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    float* phi = make_room(&w);
    for (int i = 0; i < 24 * 24; ++i) {
        phi[value_at(&w, i % 24, i / 24, 0)] = i / 24 == 8 ? -0.3f : 3.0f;
    }
    extend(&w, phi);
    assert_true(phi[value_at(&w, 12, 8, 0)] == -0.3f);
    free(phi);
    solid_world_end(&w);
}

// The distance that a cell beside a floor is left with where liquid ends above the floor (side 1)
// or beside the cell (side 0), and what is drawn in the cell is 0.2 less than what continues to it.
static float left_beside_a_floor(int side) {
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){24, 24, 1});
    treacle_shape floor = treacle_shape_default(TREACLE_SHAPE_PLANE);
    floor.move[1] = 8.1;
    solid_world_shape(&w, 0, &floor);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    float* phi = make_room(&w);
    for (int i = 0; i < 24 * 24; ++i) {
        int x = i % 24, y = i / 24;
        float level = side == 1 ? 8.75f - (float)y : (float)x - 11.75f;
        phi[value_at(&w, x, y, 0)] = y == 8 ? level - 0.2f : level;
    }
    extend(&w, phi);
    float out = phi[value_at(&w, 12, 8, 0)];
    free(phi);
    solid_world_end(&w);
    return out;
}

static void test_what_is_drawn_counts_at_an_angle(void** state) {
    (void)state;
    assert_true(fabsf(left_beside_a_floor(0) - 0.05f) < 1e-5f);
    assert_true(fabsf(left_beside_a_floor(1) - 0.75f) < 1e-5f); // the gap stays
}

static void test_nothing_comes_through_a_thin_wall(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){24, 24, 1});
    treacle_shape plate = treacle_shape_default(TREACLE_SHAPE_BOX);
    plate.size[0] = 0.5;
    plate.size[1] = 100.0;
    plate.move[0] = 12.4; // the middle of column 12 is inside, and nearer to the right side
    solid_world_shape(&w, 0, &plate);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    float* phi = make_room(&w);
    for (int i = 0; i < 24 * 24; ++i) {
        phi[value_at(&w, i % 24, i / 24, 0)] = i % 24 < 12 ? -3.0f : 3.0f;
    }
    extend(&w, phi);
    assert_true(phi[value_at(&w, 12, 12, 0)] > 0.0f);
    free(phi);
    solid_world_end(&w);
}

static void test_even_liquid_beside_a_wall_is_full(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){24, 24, 1});
    treacle_shape floor = treacle_shape_default(TREACLE_SHAPE_PLANE);
    floor.move[1] = 8.0;
    solid_world_shape(&w, 0, &floor);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    float* volume = make_room(&w);
    for (int i = 0; i < 24 * 24; ++i) {
        int y = i / 24; // what the tent sees of a half space that begins at 8
        float seen = y > 8 ? 1.0f : y == 8 ? 0.875f : y == 7 ? 0.125f : 0.0f;
        volume[value_at(&w, i % 24, y, 0)] = seen;
    }
    open_volume_normalise(&w.domain, &w.map, w.out.cell_open, volume);
    assert_true(fabsf(volume[value_at(&w, 12, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(fabsf(volume[value_at(&w, 0, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(volume[value_at(&w, 12, 7, 0)] <= 1.0f);
    assert_true(volume[value_at(&w, 12, 15, 0)] == 1.0f);
    free(volume);
    solid_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plane_stays_a_plane),
        cmocka_unit_test(test_a_film_beside_a_wall_stays),
        cmocka_unit_test(test_what_is_drawn_counts_at_an_angle),
        cmocka_unit_test(test_nothing_comes_through_a_thin_wall),
        cmocka_unit_test(test_even_liquid_beside_a_wall_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
