// A frame is valid if all of its arrays agree, and not once one of them does not.
#include "unit.h"

#include "frame_fixture.h"

#include "cache/frame_format.h"

enum { ARRAYS = 5, TILES = 2, ROWS = 5 };

static const float values[3 * ROWS];
static const int32_t coords[3 * TILES];

static void fill(treacle_array arrays[ARRAYS], const int64_t first[TILES + 1]) {
    arrays[0] = fixture_array("tile_first", TREACLE_TYPE_I64, 1, TILES + 1, first);
    arrays[1] = fixture_array("tile_coord", TREACLE_TYPE_I32, 3, TILES, coords);
    arrays[2] = fixture_array("position", TREACLE_TYPE_F32, 3, ROWS, values);
    arrays[3] = fixture_array("velocity", TREACLE_TYPE_F32, 3, ROWS, values);
    arrays[4] = fixture_array("volume", TREACLE_TYPE_F32, 1, ROWS, values);
}

static bool is_valid_with(int64_t at0, int64_t at1, int64_t at2) {
    const int64_t first[TILES + 1] = {at0, at1, at2};
    treacle_array arrays[ARRAYS];
    fill(arrays, first);
    treacle_frame frame = fixture_frame(arrays, ARRAYS);
    return frame_is_valid(&frame);
}

static void test_rows_of_tiles_follow_each_other(void** state) {
    (void)state;
    assert_true(is_valid_with(0, 2, ROWS));
    assert_true(is_valid_with(0, 0, ROWS));
    assert_false(is_valid_with(1, 2, ROWS));
    assert_false(is_valid_with(0, ROWS + 1, ROWS));
    assert_false(is_valid_with(0, 2, ROWS - 1));
}

static void test_arrays_that_do_not_agree_are_seen(void** state) {
    (void)state;
    const int64_t first[TILES + 1] = {0, 2, ROWS};
    for (int i = 0; i < ARRAYS; ++i) {
        treacle_array arrays[ARRAYS];
        fill(arrays, first);
        treacle_frame frame = fixture_frame(arrays, ARRAYS);
        arrays[i].count -= 1;
        assert_false(frame_is_valid(&frame));
        fill(arrays, first);
        arrays[i].components = 0; // a fault of the array itself
        assert_false(frame_is_valid(&frame));
        fill(arrays, first);
        snprintf(arrays[i].name, sizeof(arrays[i].name), "other");
        assert_int_equal(frame_is_valid(&frame), i > 2); // the others a frame may be without
    }
    treacle_array arrays[ARRAYS];
    fill(arrays, first);
    treacle_frame frame = fixture_frame(arrays, ARRAYS);
    assert_true(frame_is_valid(&frame));
    arrays[0].type = TREACLE_TYPE_U64;
    assert_false(frame_is_valid(&frame));
    fill(arrays, first);
    frame.cell = 0.0;
    assert_false(frame_is_valid(&frame));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_tiles_follow_each_other),
        cmocka_unit_test(test_arrays_that_do_not_agree_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
