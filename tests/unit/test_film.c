// Films: by ffmpeg where it is, a clear error where it is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "image/image.h"
#include "treacle/preview.h"
#include "unit/alloc_failure.h"
#include "unit/frame_fixture.h"

enum { PICTURES = 4, LONG_PATH = FIXTURE_PATH + 100 };

typedef struct fixture {
    treacle_context* ctx;
    char folder[FIXTURE_PATH];
    char pictures[LONG_PATH]; // a folder whose name a shell or ffmpeg would trip over
    char film[LONG_PATH];
    char* search; // PATH as it was
} fixture;

static void picture_path(const fixture* f, int number, char path[LONG_PATH + 32]) {
    snprintf(path, LONG_PATH + 32, "%s/p_%04d.png", f->pictures, number);
}

static int set_up(void** state) {
    static fixture f;
    fixture_folder(f.folder);
    snprintf(f.pictures, sizeof(f.pictures), "%s/-a b%%d;$(false)'\":x", f.folder);
    assert_int_equal(mkdir(f.pictures, 0777), 0);
    f.ctx = fixture_context(1);
    f.search = strdup(getenv("PATH") ? getenv("PATH") : "");
    for (int i = 1; i <= PICTURES; ++i) {
        image_rgb8 image;
        assert_int_equal(image_create(f.ctx, 33, 17, &image), TREACLE_OK); // odd sizes
        memset(image.pixels, 60 * i, 33 * 17 * 3);
        char path[LONG_PATH + 32];
        picture_path(&f, i, path);
        assert_int_equal(png_write(f.ctx, &image, path), TREACLE_OK);
        image_destroy(&image);
    }
    *state = &f;
    return 0;
}

static int tear_down(void** state) {
    fixture* f = *state;
    for (int i = 1; i <= PICTURES; ++i) {
        char path[LONG_PATH + 32];
        picture_path(f, i, path);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(f->pictures), 0);
    assert_int_equal(rmdir(f->folder), 0); // neither film nor temporary file is left
    treacle_context_destroy(f->ctx);
    free(f->search);
    return 0;
}

static void name_film(fixture* f, const char* ending) {
    snprintf(f->film, sizeof(f->film), "%.290s/film%s", f->folder, ending);
}

static bool has_ffmpeg(void) {
    return access("/usr/bin/ffmpeg", X_OK) == 0;
}

static void test_every_format_is_made(void** state) {
    fixture* f = *state;
    if (!has_ffmpeg()) {
        unit_skip("there is no ffmpeg");
    }
    static const char* const endings[] = {".mp4", ".webm"};
    static const char* const marks[] = {"ftyp", "webm"};
    for (size_t i = 0; i < 2; ++i) {
        name_film(f, endings[i]);
        treacle_status status = treacle_film_write(f->ctx, f->pictures, "p", 24.0, f->film);
        assert_string_equal(status == TREACLE_OK ? "" : treacle_context_error(f->ctx), "");
        uint8_t* bytes = NULL;
        size_t size = fixture_bytes(f->film, &bytes);
        assert_true(size > 200);
        assert_non_null(memmem(bytes, 64, marks[i], 4));
        free(bytes);
        assert_int_equal(unlink(f->film), 0);
    }
}

static void expect(fixture* f, const char* stem, treacle_status status, const char* text) {
    assert_int_equal(treacle_film_write(f->ctx, f->pictures, stem, 24.0, f->film), status);
    if (strstr(treacle_context_error(f->ctx), text) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", text, treacle_context_error(f->ctx));
    }
    assert_int_equal(treacle_context_memory(f->ctx), 0);
    char temporary[LONG_PATH + 8];
    snprintf(temporary, sizeof(temporary), "%s.tmp", f->film);
    assert_int_not_equal(access(f->film, F_OK), 0);
    assert_int_not_equal(access(temporary, F_OK), 0);
}

static void test_what_cannot_be_made_is_said(void** state) {
    fixture* f = *state;
    name_film(f, ".avi");
    expect(f, "p", TREACLE_ERR_USAGE, ".mp4");
    name_film(f, ".mp4");
    expect(f, "q", TREACLE_ERR_IO, "there are no pictures");
    assert_int_equal(treacle_film_write(f->ctx, f->pictures, "p", 0.0, f->film), TREACLE_ERR_USAGE);
    if (has_ffmpeg()) {
        snprintf(f->film, sizeof(f->film), "%.290s/nowhere/film.mp4", f->folder);
        expect(f, "p", TREACLE_ERR_EXTERNAL, "No such file or directory");
    }
}

static void test_a_missing_ffmpeg_is_said(void** state) {
    fixture* f = *state;
    name_film(f, ".mp4");
    assert_int_equal(setenv("PATH", f->folder, 1), 0);
    expect(f, "p", TREACLE_ERR_EXTERNAL, "package ffmpeg");
    assert_int_equal(setenv("PATH", f->search, 1), 0);
}

// An ffmpeg that says much, writes a part of the film and fails: its last words are passed on, the
// part is removed.
static void test_a_failing_ffmpeg_is_quoted(void** state) {
    fixture* f = *state;
    name_film(f, ".mp4");
    char program[LONG_PATH];
    snprintf(program, sizeof(program), "%.290s/ffmpeg", f->folder);
    FILE* file = fopen(program, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\nfor last; do :; done\necho part > \"$last\"\n"
          "i=0; while [ $i -lt 200 ]; do echo \"noise $i\" >&2; i=$((i + 1)); done\n"
          "echo 'the last word' >&2\nexit 3\n",
          file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(setenv("PATH", f->folder, 1), 0);
    expect(f, "p", TREACLE_ERR_EXTERNAL, "code 3");
    expect(f, "p", TREACLE_ERR_EXTERNAL, "the last word");
    assert_null(strstr(treacle_context_error(f->ctx), "noise 0\n"));
    assert_int_equal(setenv("PATH", f->search, 1), 0);
    assert_int_equal(unlink(program), 0);
}

static treacle_status film_body(treacle_context* ctx, void* data) {
    fixture* f = data;
    treacle_status status = treacle_film_write(ctx, f->pictures, "p", 24.0, f->film);
    // Here PATH has no ffmpeg: that error means that all allocations succeeded.
    return status == TREACLE_ERR_EXTERNAL ? TREACLE_OK : status;
}

static void test_every_allocation_may_fail(void** state) {
    fixture* f = *state;
    name_film(f, ".mp4");
    assert_int_equal(setenv("PATH", f->folder, 1), 0);
    ALLOC_FAILURE_CHECK(film_body, f);
    assert_int_equal(setenv("PATH", f->search, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_is_made),
        cmocka_unit_test(test_what_cannot_be_made_is_said),
        cmocka_unit_test(test_a_missing_ffmpeg_is_said),
        cmocka_unit_test(test_a_failing_ffmpeg_is_quoted),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return unit_exit_code(cmocka_run_group_tests(tests, set_up, tear_down));
}
