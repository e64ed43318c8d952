// Pictures and PNG files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <png.h>
#include <signal.h>
#include <sys/resource.h>

#include "image/image.h"
#include "unit/frame_fixture.h"

static image_rgb8 make_picture(treacle_context* ctx, int width, int height) {
    image_rgb8 image;
    assert_int_equal(image_create(ctx, width, height, &image), TREACLE_OK);
    size_t size = (size_t)width * (size_t)height * 3;
    uint8_t* noise = fixture_noise(size);
    memcpy(image.pixels, noise, size);
    free(noise);
    return image;
}

static void test_libpng_reads_back_the_same_pixels(void** state) {
    (void)state;
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/a.png", folder);
    treacle_context* ctx = fixture_context(1);
    const int sizes[][2] = {{1, 1}, {7, 3}, {640, 361}};
    for (size_t i = 0; i < 3; ++i) {
        image_rgb8 image = make_picture(ctx, sizes[i][0], sizes[i][1]);
        size_t size = (size_t)image.width * (size_t)image.height * 3;
        uint8_t* bytes[2];
        size_t lengths[2];
        for (int round = 0; round < 2; ++round) {
            assert_int_equal(png_write(ctx, &image, path), TREACLE_OK);
            lengths[round] = fixture_bytes(path, &bytes[round]);
        }
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(bytes[0], bytes[1], lengths[0]);
        png_image reader = {.version = PNG_IMAGE_VERSION};
        assert_true(png_image_begin_read_from_file(&reader, path));
        assert_int_equal(reader.width, image.width);
        assert_int_equal(reader.height, image.height);
        reader.format = PNG_FORMAT_RGB;
        uint8_t* pixels = malloc(size);
        assert_non_null(pixels);
        assert_true(png_image_finish_read(&reader, NULL, pixels, 0, NULL));
        assert_memory_equal(pixels, image.pixels, size);
        free(pixels);
        free(bytes[0]);
        free(bytes[1]);
        image_destroy(&image);
    }
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_a_full_disk_leaves_nothing(void** state) {
    (void)state;
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/a.png", folder);
    treacle_context* ctx = fixture_context(1);
    image_rgb8 image = make_picture(ctx, 200, 200);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {.rlim_cur = 5000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    treacle_status status = png_write(ctx, &image, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, TREACLE_ERR_IO);
    assert_non_null(strstr(treacle_context_error(ctx), "File too large"));
    image_destroy(&image);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
    assert_int_equal(rmdir(folder), 0);
}

static void test_srgb_curve_is_within_a_step(void** state) {
    (void)state;
    int last = 0;
    for (int i = 0; i <= 100000; ++i) {
        double x = i / 100000.0;
        double exact = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
        int got = image_encode_srgb((float)x);
        assert_true(fabs(got - 255.0 * exact) <= 0.75);
        assert_true(got >= last);
        last = got;
    }
    assert_int_equal(image_encode_srgb(-1.0f), 0);
    assert_int_equal(image_encode_srgb(NAN), 0);
    assert_int_equal(image_encode_srgb(INFINITY), 255);
}

static void test_paste_places_a_picture(void** state) {
    (void)state;
    treacle_context* ctx = fixture_context(1);
    image_rgb8 small = make_picture(ctx, 3, 2);
    image_rgb8 large;
    assert_int_equal(image_create(ctx, 5, 4, &large), TREACLE_OK);
    image_paste(&small, &large, 2, 1);
    assert_memory_equal(image_at(&large, 2, 2), image_at(&small, 0, 1), 9);
    assert_int_equal(image_at(&large, 1, 1)[0], 0);
    image_destroy(&small);
    image_destroy(&large);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libpng_reads_back_the_same_pixels),
        cmocka_unit_test(test_a_full_disk_leaves_nothing),
        cmocka_unit_test(test_srgb_curve_is_within_a_step),
        cmocka_unit_test(test_paste_places_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
