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
    extend_surface_params params = {&w->domain, &w->map, w->out.cell_phi, {NULL}};
    for (int a = 0; a < AXES; ++a) {
        params.face_open[a] = w->out.face_open[a];
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
        phi[at] = w.out.cell_phi[at] < 0.0f ? 9.0f : level_at(i % 24, i / 24);
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

static void test_cells_outside_solids_stay(void** state) {
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
    open_volume_normalise(&w.map, w.out.cell_room, volume);
    assert_true(fabsf(volume[value_at(&w, 12, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(fabsf(volume[value_at(&w, 0, 8, 0)] - 1.0f) < 1e-5f);
    assert_true(volume[value_at(&w, 12, 7, 0)] <= 1.0f);
    assert_true(volume[value_at(&w, 12, 15, 0)] == 1.0f);
    free(volume);
    solid_world_end(&w);
}

// What a cell sees outside a solid through the linear kernel, sampled: 1 at the middle, falling to
// 0 one cell away; beyond the sides of the domain it is mirrored.
static double room_sampled(const solid_world* w, int x, int y) {
    enum { SAMPLES = 64 };
    double sum = 0.0;
    for (int i = 0; i < SAMPLES * SAMPLES; ++i) {
        double dx = (i % SAMPLES + 0.5) * 2.0 / SAMPLES - 1.0;
        double dy = (i / SAMPLES + 0.5) * 2.0 / SAMPLES - 1.0;
        double at[2] = {fabs(x + 0.5 + dx), fabs(y + 0.5 + dy)};
        for (int a = 0; a < 2; ++a) {
            at[a] = at[a] > w->domain.cells[a] ? 2.0 * w->domain.cells[a] - at[a] : at[a];
        }
        vec3 place = vec3_make(at[0], at[1], 0.5);
        bool is_open = solid_distance(&w->solids[0], &w->poses[0], place) > 0.0;
        sum += is_open ? (1.0 - fabs(dx)) * (1.0 - fabs(dy)) : 0.0;
    }
    return sum * 4.0 / (SAMPLES * SAMPLES);
}

static void test_room_is_the_kernels_own_share(void** state) {
    (void)state;
    for (int turn = 0; turn < 5; ++turn) {
        solid_world w;
        solid_world_begin(&w, 2, (const int[AXES]){24, 24, 1});
        treacle_shape wall = treacle_shape_default(TREACLE_SHAPE_PLANE);
        wall.rotate[2] = 0.35 * turn;
        wall.move[0] = 11.3;
        wall.move[1] = 9.25;
        solid_world_shape(&w, 0, &wall);
        solid_world_compute(&w, 1, TREACLE_WALLS_AREA);
        for (int i = 0; i < 24 * 24; ++i) {
            float room = w.out.cell_room[value_at(&w, i % 24, i / 24, 0)];
            assert_true(fabs((double)room - room_sampled(&w, i % 24, i / 24)) < 6e-3);
        }
        solid_world_end(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plane_stays_a_plane),
        cmocka_unit_test(test_cells_outside_solids_stay),
        cmocka_unit_test(test_nothing_comes_through_a_thin_wall),
        cmocka_unit_test(test_even_liquid_beside_a_wall_is_full),
        cmocka_unit_test(test_room_is_the_kernels_own_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
