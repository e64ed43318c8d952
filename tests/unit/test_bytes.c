#include "alloc_failure.h"

#include "base/bytes.h"

static void write_all(byte_writer* w) {
    bytes_write_u8(w, 0x12);
    bytes_write_u16(w, 0x3456);
    bytes_write_u32(w, 0x789abcdeu);
    bytes_write_u64(w, 0x0123456789abcdefu);
    bytes_write_i32(w, -2);
    bytes_write_i64(w, INT64_MIN);
    bytes_write_f32(w, -1.5f);
    bytes_write_f64(w, 0x1.8p-1060);
    bytes_write(w, "text", 5);
    bytes_pad(w, 16);
}

static void test_what_is_written_is_read(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    byte_writer w;
    bytes_writer_init(&w, ctx);
    write_all(&w);
    assert_int_equal(bytes_status(&w), TREACLE_OK);
    assert_int_equal(w.size, 48);
    byte_reader r;
    bytes_reader_init(&r, w.data, w.size);
    assert_int_equal(bytes_read_u8(&r), 0x12);
    assert_int_equal(bytes_read_u16(&r), 0x3456);
    assert_int_equal(bytes_read_u32(&r), 0x789abcdeu);
    assert_true(bytes_read_u64(&r) == 0x0123456789abcdefu);
    assert_int_equal(bytes_read_i32(&r), -2);
    assert_true(bytes_read_i64(&r) == INT64_MIN);
    assert_true(bytes_read_f32(&r) == -1.5f);
    assert_true(bytes_read_f64(&r) == 0x1.8p-1060);
    char word[5];
    bytes_read(&r, word, 5);
    assert_string_equal(word, "text");
    assert_int_equal(bytes_remaining(&r), 4);
    bytes_skip(&r, 4);
    assert_false(bytes_failed(&r));
    assert_int_equal(bytes_remaining(&r), 0);
    bytes_writer_finish(&w);
    unit_context_end(ctx);
}

static void test_bytes_are_little_endian(void** state) {
    (void)state;
    const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8};
    byte_reader r;
    bytes_reader_init(&r, data, sizeof(data));
    assert_true(bytes_read_u64(&r) == 0x0807060504030201u);
    bytes_seek(&r, 2);
    assert_int_equal(bytes_read_u32(&r), 0x06050403u);
    assert_false(bytes_failed(&r));
}

static void test_past_the_end_there_are_zeros(void** state) {
    (void)state;
    const uint8_t data[] = {0xff, 0xff, 0xff};
    for (size_t size = 0; size <= 3; ++size) {
        byte_reader r;
        bytes_reader_init(&r, data, size);
        assert_int_equal(bytes_read_u32(&r), 0);
        assert_true(bytes_failed(&r));
        assert_int_equal(bytes_read_u8(&r), 0); // nothing after a gap
        assert_true(bytes_read_f64(&r) == 0.0);
        uint8_t out[2] = {7, 7};
        bytes_read(&r, out, 2);
        assert_int_equal(out[0] + out[1], 0);
        assert_null(bytes_read_span(&r, 1));
    }
    byte_reader r;
    bytes_reader_init(&r, data, 3);
    bytes_skip(&r, SIZE_MAX);
    assert_true(bytes_failed(&r));
    bytes_reader_init(&r, data, 3);
    bytes_seek(&r, 4);
    assert_true(bytes_failed(&r));
    assert_int_equal(bytes_remaining(&r), 0);
    bytes_reader_init(&r, NULL, 0);
    assert_int_equal(bytes_read_u16(&r), 0);
    bytes_read(&r, NULL, 0);
}

static void test_the_writer_grows(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    byte_writer w;
    bytes_writer_init(&w, ctx);
    for (uint32_t i = 0; i < 10000; ++i) {
        bytes_write_u32(&w, i);
    }
    byte_reader r;
    bytes_reader_init(&r, w.data, w.size);
    for (uint32_t i = 0; i < 10000; ++i) {
        assert_int_equal(bytes_read_u32(&r), i);
    }
    bytes_writer_finish(&w);
    unit_context_end(ctx);
}

static treacle_status write_much(treacle_context* ctx, void* data) {
    (void)data;
    byte_writer w;
    bytes_writer_init(&w, ctx);
    for (int i = 0; i < 100; ++i) {
        write_all(&w);
    }
    treacle_status status = bytes_status(&w);
    bytes_writer_finish(&w);
    return status;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(write_much, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_bytes_are_little_endian),
        cmocka_unit_test(test_past_the_end_there_are_zeros),
        cmocka_unit_test(test_the_writer_grows),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
