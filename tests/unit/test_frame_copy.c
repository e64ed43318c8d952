// Copies of a moment: equal, apart from what goes on, and of common arrays only one.
#include "cache/frame_copy.h"

#include <stdlib.h>

#include "particle_fixture.h"

enum { COUNT = 300000 }; // more than a piece that a thread copies

typedef struct moment {
    treacle_context* ctx;
    size_t memory; // of the context alone
    float* position;
    int32_t tile[3];
    treacle_array arrays[3];
    treacle_frame picture, frame;
} moment;

static treacle_array array_of(const char* name, treacle_type type, int64_t count, void* data) {
    treacle_array out = {.type = type, .components = 3, .count = count, .data = data};
    memcpy(out.name, name, strlen(name));
    return out;
}

static void open_moment(moment* m) {
    memset(m, 0, sizeof(*m));
    m->ctx = make_context(2);
    m->memory = treacle_context_memory(m->ctx);
    m->position = malloc(sizeof(float) * 3 * COUNT);
    for (int i = 0; i < 3 * COUNT; ++i) {
        m->position[i] = 0.5f * (float)i;
    }
    m->arrays[0] = array_of("position", TREACLE_TYPE_F32, COUNT, m->position);
    m->arrays[1] = array_of("tile_coord", TREACLE_TYPE_I32, 1, m->tile);
    m->arrays[2] = array_of("nothing", TREACLE_TYPE_F32, 0, NULL);
    m->picture = (treacle_frame){.kind = TREACLE_FRAME_PICTURE,
                                 .number = 3,
                                 .time = 0.25,
                                 .array_count = 1,
                                 .arrays = m->arrays};
    m->frame = m->picture;
    m->frame.kind = TREACLE_FRAME_STATE;
    m->frame.array_count = 3;
}

static void close_moment(moment* m) {
    assert_int_equal(treacle_context_memory(m->ctx), m->memory);
    free(m->position);
    treacle_context_destroy(m->ctx);
}

static void test_a_copy_stays_when_the_original_goes_on(void** state) {
    (void)state;
    moment m;
    static frame_copy copy;
    open_moment(&m);
    frame_copy_begin(&copy, m.ctx);
    assert_int_equal(frame_copy_add(&copy, &m.picture), TREACLE_OK);
    assert_int_equal(frame_copy_add(&copy, &m.frame), TREACLE_OK);
    m.position[0] = -1.0f;
    m.position[3 * COUNT - 1] = -1.0f;
    const treacle_frame* saved = &copy.frames[1];
    const float* position = saved->arrays[0].data;
    assert_int_equal(copy.frame_count, 2);
    assert_int_equal(saved->number, 3);
    assert_true(saved->time == 0.25);
    for (int i = 0; i < 3 * COUNT; ++i) {
        assert_true(position[i] == 0.5f * (float)i);
    }
    frame_copy_free(&copy);
    close_moment(&m);
}

static void test_an_array_of_both_frames_is_copied_once(void** state) {
    (void)state;
    moment m;
    static frame_copy copy;
    open_moment(&m);
    frame_copy_begin(&copy, m.ctx);
    assert_int_equal(frame_copy_add(&copy, &m.picture), TREACLE_OK);
    size_t before = treacle_context_memory(m.ctx);
    assert_int_equal(frame_copy_add(&copy, &m.frame), TREACLE_OK);
    assert_ptr_equal(copy.frames[0].arrays[0].data, copy.frames[1].arrays[0].data);
    assert_true(treacle_context_memory(m.ctx) - before < 1024);
    frame_copy_free(&copy);
    close_moment(&m);
}

static void test_memory_is_kept_from_moment_to_moment(void** state) {
    (void)state;
    moment m;
    static frame_copy copy;
    open_moment(&m);
    frame_copy_begin(&copy, m.ctx);
    assert_int_equal(frame_copy_add(&copy, &m.frame), TREACLE_OK);
    size_t before = treacle_context_memory(m.ctx);
    m.arrays[0].count = COUNT - 1000;
    m.position[1] = 7.0f;
    frame_copy_begin(&copy, m.ctx);
    assert_int_equal(frame_copy_add(&copy, &m.frame), TREACLE_OK);
    assert_int_equal(treacle_context_memory(m.ctx), before);
    assert_int_equal(copy.frames[0].arrays[0].count, COUNT - 1000);
    assert_true(((const float*)copy.frames[0].arrays[0].data)[1] == 7.0f);
    frame_copy_free(&copy);
    close_moment(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_stays_when_the_original_goes_on),
        cmocka_unit_test(test_an_array_of_both_frames_is_copied_once),
        cmocka_unit_test(test_memory_is_kept_from_moment_to_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
