#include "solid_fixture.h"

#include "phys/solid_velocity.h"

static const float along[AXES] = {0.8f, 0.6f, 0.0f}; // along the wall below

// A wall that rises by 3 in 4, everything below it solid; u on all faces.
static void constrain(solid_world* w, const float u[AXES], float* out[AXES]) {
    solid_world_begin(w, 2, (const int[AXES]){24, 24, 1});
    treacle_shape wall = treacle_shape_default(TREACLE_SHAPE_PLANE);
    wall.rotate[2] = 0.6435011087932844; // atan(3/4)
    wall.move[0] = wall.move[1] = 12.0;
    solid_world_shape(w, 0, &wall);
    w->poses[0].velocity = vec3_make(0.0, 0.5, 0.0);
    solid_world_compute(w, 1, TREACLE_WALLS_AREA);
    float* room[AXES];
    for (int a = 0; a < AXES; ++a) {
        out[a] = calloc(w->values, sizeof(float));
        room[a] = calloc(w->values, sizeof(float));
        assert_true(out[a] != NULL && room[a] != NULL);
        for (size_t i = 0; i < w->values; ++i) {
            out[a][i] = u[a];
        }
    }
    solid_velocity_params params = {.domain = &w->domain,
                                    .map = &w->map,
                                    .scene = {1, w->solids, w->poses},
                                    .cell_phi = w->out.cell_phi,
                                    .cell_id = w->id};
    for (int a = 0; a < AXES; ++a) {
        params.face_open.at[a] = w->out.face_open.at[a];
    }
    solid_velocity_constrain(&params, out, room);
    for (int a = 0; a < AXES; ++a) {
        free(room[a]);
    }
}

static void finish(solid_world* w, float* u[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        free(u[a]);
    }
    solid_world_end(w);
}

static void test_sliding_stays_and_the_wall_takes_its_liquid_along(void** state) {
    (void)state;
    solid_world w;
    float* u[AXES];
    constrain(&w, along, u);
    // The wall rises with 0.5: across it by 0.5 * 0.8, so 0.4 (-0.6, 0.8) is added.
    size_t at = value_at(&w, 13, 11, 0);
    assert_true(w.out.face_open.at[0][at] == 0.0f && w.out.face_open.at[1][at] == 0.0f);
    assert_true(fabsf(u[0][at] - (0.8f - 0.24f)) < 1e-5f);
    assert_true(fabsf(u[1][at] - (0.6f + 0.32f)) < 1e-5f);
    finish(&w, u);
}

static void test_nothing_is_left_across(void** state) {
    (void)state;
    solid_world w;
    float* u[AXES];
    constrain(&w, (const float[AXES]){-0.6f, 0.8f, 0.0f}, u);
    size_t at = value_at(&w, 13, 11, 0);
    assert_true(fabsf(u[0][at] - -0.24f) < 1e-5f);
    assert_true(fabsf(u[1][at] - 0.32f) < 1e-5f);
    finish(&w, u);
}

static void test_open_faces_are_untouched(void** state) {
    (void)state;
    solid_world w;
    float* u[AXES];
    constrain(&w, (const float[AXES]){1.0f, -2.0f, 0.0f}, u);
    size_t at = value_at(&w, 10, 14, 0);
    assert_true(u[0][at] == 1.0f && u[1][at] == -2.0f);
    finish(&w, u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sliding_stays_and_the_wall_takes_its_liquid_along),
        cmocka_unit_test(test_nothing_is_left_across),
        cmocka_unit_test(test_open_faces_are_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
