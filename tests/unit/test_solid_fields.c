#include "solid_fixture.h"

#include <string.h>

static treacle_shape plate(double thickness, double angle, double x, double y) {
    treacle_shape out = treacle_shape_default(TREACLE_SHAPE_BOX);
    out.size[0] = thickness;
    out.size[1] = 200.0;
    out.size[2] = 200.0;
    out.rotate[2] = angle;
    out.move[0] = x;
    out.move[1] = y;
    return out;
}

static void test_area_beside_a_plane_is_exact(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 2, (const int[AXES]){24, 24, 24});
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE); // below y = 10.3
    plane.move[1] = 10.3;
    solid_world_shape(&w, 0, &plane);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    assert_true(fabsf(w.out.face_open.at[0][value_at(&w, 5, 10, 7)] - 0.7f) < 1e-5f);
    assert_true(fabsf(w.out.cell_open[value_at(&w, 5, 10, 7)] - 0.7f) < 1e-5f);
    assert_true(w.out.face_open.at[0][value_at(&w, 5, 11, 7)] == 1.0f);
    assert_true(w.out.face_open.at[0][value_at(&w, 5, 9, 7)] == 0.0f);
    assert_true(w.out.face_open.at[1][value_at(&w, 5, 10, 7)] == 0.0f);
    assert_true(w.out.face_open.at[1][value_at(&w, 5, 11, 7)] == 1.0f);
    assert_true(fabsf(w.out.cell_phi[value_at(&w, 5, 12, 7)] - 2.2f) < 1e-5f);
    assert_int_equal(w.id[value_at(&w, 5, 12, 7)], 0);
    assert_int_equal(w.id[value_at(&w, 5, 20, 7)], SOLID_NONE);
    solid_world_end(&w);
}

// Whether the distance in such a face is a little more or less than nothing is chance.
static void test_walls_on_grid_planes_close_their_faces(void** state) {
    (void)state;
    static const double off[] = {0.0, 1e-7, -1e-7};
    for (int n = 0; n < 3; ++n) {
        solid_world w;
        solid_world_begin(&w, 1, (const int[AXES]){24, 24, 24});
        treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
        box.size[0] = box.size[1] = box.size[2] = 6.0;
        box.move[0] = box.move[1] = box.move[2] = 8.0 + off[n];
        solid_world_shape(&w, 0, &box);
        solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
        for (int i = 5; i < 11; ++i) {
            assert_true(w.out.face_open.at[0][value_at(&w, 5, i, 10)] == 0.0f);
            assert_true(w.out.face_open.at[0][value_at(&w, 11, i, 10)] == 0.0f);
            assert_true(w.out.face_open.at[1][value_at(&w, i, 5, 5)] == 0.0f);
            assert_true(w.out.face_open.at[1][value_at(&w, i, 11, 5)] == 0.0f);
            assert_true(w.out.face_open.at[1][value_at(&w, i, 12, 5)] == 1.0f);
            assert_true(w.out.face_open.at[0][value_at(&w, 11, i, 11)] > 0.999f);
        }
        solid_world_end(&w);
    }
}

// Area of the low face of axis a of a cell that is above a tilted plane, by many samples.
static double sampled_area(const solid_world* w, int a, const int cell[AXES]) {
    enum { N = 200 };
    int b = (a + 1) % AXES, c = (a + 2) % AXES, count = 0;
    for (int i = 0; i < N * N; ++i) {
        vec3 x = vec3_make(cell[0], cell[1], cell[2]);
        x.at[b] += (i % N + 0.5) / N;
        x.at[c] += ((double)(i / N) + 0.5) / N;
        count += solid_distance(&w->solids[0], &w->poses[0], x) > 0.0;
    }
    return count / (double)(N * N);
}

static void test_area_beside_a_tilted_plane_is_exact(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){16, 16, 16});
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.rotate[0] = 0.4;
    plane.rotate[2] = 0.3;
    plane.move[0] = plane.move[2] = 8.2;
    plane.move[1] = 7.7;
    solid_world_shape(&w, 0, &plane);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    for (int i = 0; i < 8; ++i) {
        for (int a = 0; a < AXES; ++a) {
            const int cell[AXES] = {5 + i % 4, 7 + i % 3, 8 + i % 2};
            float open = w.out.face_open.at[a][value_at(&w, cell[0], cell[1], cell[2])];
            assert_true(fabs((double)open - sampled_area(&w, a, cell)) < 0.005);
        }
    }
    solid_world_end(&w);
}

// Whether liquid finds a way from cell (1, 1) to cell (n - 2, n - 2) of a flat domain.
static bool has_way(const solid_world* w, int n) {
    int* stack = malloc(sizeof(int) * (size_t)(n * n * 4));
    uint8_t* seen = calloc((size_t)(n * n), 1);
    int top = 0;
    stack[top++] = n + 1;
    seen[n + 1] = 1;
    while (top > 0) {
        int at = stack[--top], x = at % n, y = at / n;
        for (int k = 0; k < 4; ++k) {
            int a = k / 2, to_x = x + (k == 0) - (k == 1), to_y = y + (k == 2) - (k == 3);
            if (to_x < 0 || to_y < 0 || to_x >= n || to_y >= n || seen[to_y * n + to_x]) {
                continue;
            }
            size_t face = k % 2 == 0 ? value_at(w, to_x, to_y, 0) : value_at(w, x, y, 0);
            if (w->out.face_open.at[a][face] > 0.0f) {
                seen[to_y * n + to_x] = 1;
                stack[top++] = to_y * n + to_x;
            }
        }
    }
    bool is_there = seen[(n - 2) * n + n - 2];
    free(stack);
    free(seen);
    return is_there;
}

static void test_thin_plates_hold_liquid_at_every_angle(void** state) {
    (void)state;
    static const treacle_walls walls[] = {TREACLE_WALLS_AREA, TREACLE_WALLS_EXACT};
    for (int i = 0; i < 60; ++i) {
        solid_world w;
        solid_world_begin(&w, 1, (const int[AXES]){16, 16, 1});
        double thickness = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 0.25 : 0.1;
        double angle = i % 10 * 0.0785398; // 0 to 40 degrees from upright
        treacle_shape def = plate(thickness, angle, 7.5 + 0.07 * i, 8.0);
        solid_world_shape(&w, 0, &def);
        solid_world_compute(&w, 1, walls[i % 2]);
        assert_false(has_way(&w, 16));
        solid_world_end(&w);
    }
}

static void test_a_gap_lets_liquid_through(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){16, 16, 1});
    treacle_shape def = plate(0.5, 0.0, 8.0, 102.0); // from y = 2 up
    solid_world_shape(&w, 0, &def);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    assert_true(has_way(&w, 16));
    solid_world_end(&w);
}

static void test_thick_corners_stay_open(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){16, 16, 1});
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_BOX);
    def.size[0] = def.size[1] = 5.0;
    def.move[0] = def.move[1] = 2.8; // its corner at (5.3, 5.3)
    solid_world_shape(&w, 0, &def);
    solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
    assert_true(fabsf(w.out.face_open.at[0][value_at(&w, 5, 5, 0)] - 0.7f) < 1e-5f);
    assert_true(fabsf(w.out.face_open.at[1][value_at(&w, 5, 5, 0)] - 0.7f) < 1e-5f);
    solid_world_end(&w);
}

static void test_closed_faces_move_as_the_nearest_solid_does(void** state) {
    (void)state;
    solid_world w;
    solid_world_begin(&w, 1, (const int[AXES]){16, 16, 1});
    treacle_shape left = treacle_shape_default(TREACLE_SHAPE_SPHERE), right = left;
    left.radius = right.radius = 3.0;
    left.move[0] = 3.0;
    right.move[0] = 12.0;
    left.move[1] = right.move[1] = 8.0;
    solid_world_shape(&w, 0, &left);
    solid_world_shape(&w, 1, &right);
    w.poses[0].velocity = vec3_make(2.0, 0.0, 0.0);
    w.poses[1].place = w.solids[1].pivot = vec3_make(12.0, 8.0, 0.0);
    w.poses[1].spin = vec3_make(0.0, 0.0, 3.0);
    solid_world_compute(&w, 2, TREACLE_WALLS_AREA);
    assert_true(w.out.face_u.at[0][value_at(&w, 3, 8, 0)] == 2.0f);
    assert_true(w.out.face_u.at[1][value_at(&w, 3, 8, 0)] == 0.0f);
    assert_true(fabsf(w.out.face_u.at[1][value_at(&w, 13, 8, 0)] - 3.0f * 1.5f) < 1e-5f);
    assert_true(w.out.face_u.at[0][value_at(&w, 3, 14, 0)] == 0.0f);
    solid_world_end(&w);
}

static void test_threads_do_not_matter(void** state) {
    (void)state;
    solid_world one, three;
    treacle_shape def = plate(0.7, 0.5, 12.0, 12.0);
    solid_world_begin(&one, 1, (const int[AXES]){24, 24, 24});
    solid_world_begin(&three, 3, (const int[AXES]){24, 24, 24});
    solid_world_shape(&one, 0, &def);
    solid_world_shape(&three, 0, &def);
    solid_world_compute(&one, 1, TREACLE_WALLS_EXACT);
    solid_world_compute(&three, 1, TREACLE_WALLS_EXACT);
    assert_memory_equal(one.block, three.block, 8 * one.values * sizeof(float));
    solid_world_end(&one);
    solid_world_end(&three);
}

static void test_what_stands_still_need_not_be_found_again(void** state) {
    (void)state;
    solid_world then, now, fresh;
    solid_world* all[] = {&then, &now, &fresh};
    treacle_shape ball = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    treacle_shape wall = plate(0.7, 0.5, 8.0, 12.0);
    for (int i = 0; i < 3; ++i) {
        solid_world_begin(all[i], 1, (const int[AXES]){64, 24, 1});
        solid_world_shape(all[i], 0, &wall);
        solid_world_shape(all[i], 1, &ball);
        all[i]->poses[1].place = vec3_make(i == 0 ? 30.0 : 55.0, 12.0, 0.0);
        all[i]->poses[1].velocity = vec3_make(3.0, 0.0, 0.0);
    }
    solid_world_compute(&then, 2, TREACLE_WALLS_AREA);
    solid_world_compute(&fresh, 2, TREACLE_WALLS_AREA);
    float* marked = &then.out.cell_phi[value_at(&then, 5, 3, 0)];
    solid_fields_before before = {&then.map, then.poses, then.out};
    solid_fields_params params = {.domain = &now.domain,
                                  .map = &now.map,
                                  .scene = {2, now.solids, now.poses},
                                  .openings = TREACLE_WALLS_AREA,
                                  .before = &before};
    solid_fields_compute(&params, &now.out);
    assert_memory_equal(now.block, fresh.block, 8 * now.values * sizeof(float));
    assert_memory_equal(now.id, fresh.id, now.values * sizeof(uint16_t));
    *marked = 77.0f; // near the wall it is copied indeed
    solid_fields_compute(&params, &now.out);
    assert_true(now.out.cell_phi[value_at(&now, 5, 3, 0)] == 77.0f);
    for (int i = 0; i < 3; ++i) {
        solid_world_end(all[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area_beside_a_plane_is_exact),
        cmocka_unit_test(test_walls_on_grid_planes_close_their_faces),
        cmocka_unit_test(test_area_beside_a_tilted_plane_is_exact),
        cmocka_unit_test(test_thin_plates_hold_liquid_at_every_angle),
        cmocka_unit_test(test_a_gap_lets_liquid_through),
        cmocka_unit_test(test_thick_corners_stay_open),
        cmocka_unit_test(test_closed_faces_move_as_the_nearest_solid_does),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_what_stands_still_need_not_be_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
