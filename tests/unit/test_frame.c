// Frame files: what is written comes back, the bytes depend on the content alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cache/frame_format.h"
#include "unit/frame_fixture.h"

enum { ITEMS_MAX = 3 * FRAME_CHUNK_RAW / 4 };

typedef struct fixture {
    treacle_context* ctx;
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    uint8_t* noise; // enough for every array below
} fixture;

static int set_up(void** state) {
    static fixture f;
    fixture_folder(f.folder);
    snprintf(f.path, sizeof(f.path), "%s/frame_0001.trf", f.folder);
    f.ctx = fixture_context(2);
    f.noise = fixture_noise(ITEMS_MAX * 12);
    *state = &f;
    return 0;
}

static int tear_down(void** state) {
    fixture* f = *state;
    unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0); // nothing else was left behind
    treacle_context_destroy(f->ctx);
    free(f->noise);
    return 0;
}

static void assert_same_frame(const treacle_frame* got, const treacle_frame* want) {
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->number, want->number);
    assert_int_equal(got->step, want->step);
    assert_memory_equal(&got->time, &want->time, sizeof(double));
    assert_memory_equal(&got->fps, &want->fps, sizeof(double));
    assert_memory_equal(got->origin, want->origin, sizeof(want->origin));
    assert_memory_equal(&got->cell, &want->cell, sizeof(double));
    assert_memory_equal(got->cells, want->cells, sizeof(want->cells));
    assert_int_equal(got->scene_hash, want->scene_hash);
    assert_int_equal(got->array_count, want->array_count);
    for (int a = 0; a < want->array_count; ++a) {
        const treacle_array* g = &got->arrays[a];
        const treacle_array* w = &want->arrays[a];
        assert_string_equal(g->name, w->name);
        assert_int_equal(g->type, w->type);
        assert_int_equal(g->components, w->components);
        assert_int_equal(g->count, w->count);
        size_t bytes = (size_t)w->count * (size_t)w->components * treacle_type_size(w->type);
        if (bytes > 0) {
            assert_memory_equal(g->data, w->data, bytes);
        }
        assert_ptr_equal(treacle_frame_find(got, w->name), g);
    }
}

static void round_trip(fixture* f, const treacle_frame* frame) {
    size_t before = treacle_context_memory(f->ctx);
    assert_int_equal(treacle_frame_write(f->ctx, frame, f->path), TREACLE_OK);
    assert_int_equal(treacle_context_memory(f->ctx), before);
    treacle_loaded_frame* loaded = NULL;
    assert_int_equal(treacle_frame_read(f->ctx, f->path, &loaded), TREACLE_OK);
    assert_same_frame(treacle_loaded_frame_view(loaded), frame);
    treacle_loaded_frame_destroy(loaded);
    assert_int_equal(treacle_context_memory(f->ctx), before);
}

static void test_every_type_and_size_comes_back(void** state) {
    fixture* f = *state;
    const int64_t chunk = FRAME_CHUNK_RAW;
    for (int type = TREACLE_TYPE_U8; type <= TREACLE_TYPE_F64; ++type) {
        int64_t per_chunk = chunk / (int64_t)treacle_type_size((treacle_type)type);
        const int64_t counts[] = {0, 1, 2, 31, 1000, per_chunk - 1, per_chunk, per_chunk + 1};
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
            treacle_array array = fixture_array("a", (treacle_type)type, 1, counts[i], f->noise);
            treacle_frame frame = fixture_frame(&array, 1);
            round_trip(f, &frame);
        }
    }
}

static void test_several_arrays_of_several_chunks_come_back(void** state) {
    fixture* f = *state;
    treacle_array arrays[] = {
        fixture_array("position", TREACLE_TYPE_F32, 3, ITEMS_MAX, f->noise),
        fixture_array("nothing", TREACLE_TYPE_U8, 16, 0, NULL),
        fixture_array("a_name_of_23_characters", TREACLE_TYPE_I64, 16, 12345, f->noise + 1),
        fixture_array("material", TREACLE_TYPE_U8, 1, 2 * FRAME_CHUNK_RAW, f->noise + 2),
    };
    treacle_frame frame = fixture_frame(arrays, 4);
    round_trip(f, &frame);
    frame.array_count = 0;
    round_trip(f, &frame);
}

static void test_bytes_are_equal_for_1_to_4_threads(void** state) {
    fixture* f = *state;
    treacle_array arrays[] = {
        fixture_array("position", TREACLE_TYPE_F32, 3, ITEMS_MAX, f->noise),
        fixture_array("id", TREACLE_TYPE_U64, 1, ITEMS_MAX, f->noise + 3),
    };
    treacle_frame frame = fixture_frame(arrays, 2);
    uint8_t* first = NULL;
    size_t first_size = 0;
    for (int threads = 1; threads <= 4; ++threads) {
        treacle_context* ctx = fixture_context(threads);
        assert_int_equal(treacle_frame_write(ctx, &frame, f->path), TREACLE_OK);
        uint8_t* bytes = NULL;
        size_t size = fixture_bytes(f->path, &bytes);
        if (first == NULL) {
            first = bytes;
            first_size = size;
        } else {
            assert_int_equal(size, first_size);
            assert_memory_equal(bytes, first, size);
            free(bytes);
        }
        treacle_context_destroy(ctx);
    }
    free(first);
}

static void refuse(fixture* f, const treacle_frame* frame, const char* text) {
    assert_int_equal(treacle_frame_write(f->ctx, frame, f->path), TREACLE_ERR_USAGE);
    assert_non_null(strstr(treacle_context_error(f->ctx), text));
    assert_int_not_equal(access(f->path, F_OK), 0);
}

static void test_a_frame_that_could_not_be_read_is_not_written(void** state) {
    fixture* f = *state;
    unlink(f->path);
    treacle_array arrays[] = {
        fixture_array("a", TREACLE_TYPE_U8, 1, 4, f->noise),
        fixture_array("a", TREACLE_TYPE_U8, 1, 4, f->noise),
    };
    treacle_frame frame = fixture_frame(arrays, 2);
    refuse(f, &frame, "two arrays are named 'a'");
    arrays[1] = fixture_array("B", TREACLE_TYPE_U8, 1, 4, f->noise);
    refuse(f, &frame, "the name of array 1");
    arrays[1] = fixture_array("b", TREACLE_TYPE_U8, 17, 4, f->noise);
    refuse(f, &frame, "17 components");
    arrays[1] = fixture_array("b", TREACLE_TYPE_F64, 2, INT64_MAX, f->noise);
    refuse(f, &frame, "not possible");
    arrays[1] = fixture_array("b", TREACLE_TYPE_F64, 2, 1, NULL);
    refuse(f, &frame, "has no data");
    frame.array_count = 1;
    frame.cell = 0.0;
    refuse(f, &frame, "the cell positive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_and_size_comes_back),
        cmocka_unit_test(test_several_arrays_of_several_chunks_come_back),
        cmocka_unit_test(test_bytes_are_equal_for_1_to_4_threads),
        cmocka_unit_test(test_a_frame_that_could_not_be_read_is_not_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
