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
    open_volume_normalise(&w.domain, &w.map, w.out.cell_open, w.out.cell_phi, volume);
    assert_true(fabsf(volume[value_at(&w, 12, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(fabsf(volume[value_at(&w, 0, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(volume[value_at(&w, 12, 7, 0)] <= 1.0f);
    assert_true(volume[value_at(&w, 12, 15, 0)] == 1.0f);
    free(volume);
    solid_world_end(&w);
}

// What the kernel at the middle of a cell sees of the half space above a plane, by samples.
static float seen_above(const treacle_shape* plane, int x, int y) {
    enum { SAMPLES = 400 };
    double sum = 0.0;
    for (int i = 0; i < SAMPLES * SAMPLES; ++i) {
        double dx = 2.0 * (i % SAMPLES + 0.5) / SAMPLES - 1.0;
        double dy = 2.0 * (i / SAMPLES + 0.5) / SAMPLES - 1.0;
        double at[2] = {x + 0.5 + dx - plane->move[0], y + 0.5 + dy - plane->move[1]};
        bool is_open = at[1] * cos(plane->rotate[2]) - at[0] * sin(plane->rotate[2]) > 0.0;
        sum += is_open ? (1.0 - fabs(dx)) * (1.0 - fabs(dy)) : 0.0;
    }
    return (float)(sum * 4.0 / (SAMPLES * SAMPLES));
}

static void test_even_liquid_is_full_at_walls_of_every_slope(void** state) {
    (void)state;
    for (int k = 0; k < 12; ++k) {
        solid_world w;
        solid_world_begin(&w, 1, (const int[AXES]){24, 24, 1});
        treacle_shape wall = treacle_shape_default(TREACLE_SHAPE_PLANE);
        wall.move[0] = 12.5;
        wall.move[1] = 12.0 + 0.21 * (k / 4); // between the lines of the grid
        wall.rotate[2] = 0.26 * (k % 4);
        solid_world_shape(&w, 0, &wall);
        solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
        float* volume = make_room(&w);
        float seen[5];
        for (int y = 10; y < 15; ++y) {
            seen[y - 10] = volume[value_at(&w, 12, y, 0)] = seen_above(&wall, 12, y);
        }
        open_volume_normalise(&w.domain, &w.map, w.out.cell_open, w.out.cell_phi, volume);
        for (int y = 10; y < 15; ++y) {
            float is = volume[value_at(&w, 12, y, 0)];
            assert_true(seen[y - 10] < 0.35f || fabsf(is - 1.0f) < 3e-3f);
        }
        free(volume);
        solid_world_end(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plane_stays_a_plane),
        cmocka_unit_test(test_a_film_beside_a_wall_stays),
        cmocka_unit_test(test_what_is_drawn_counts_at_an_angle),
        cmocka_unit_test(test_nothing_comes_through_a_thin_wall),
        cmocka_unit_test(test_even_liquid_beside_a_wall_is_full),
        cmocka_unit_test(test_even_liquid_is_full_at_walls_of_every_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
