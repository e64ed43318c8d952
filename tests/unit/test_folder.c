#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_failure.h"
#include "run/folder.h"

enum { PATH_CAPACITY = 256 };

typedef struct fixture {
    treacle_context* ctx;
    char path[PATH_CAPACITY];
} fixture;

static int set_up(void** state) {
    fixture* f = calloc(1, sizeof(*f));
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    snprintf(f->path, sizeof(f->path), "/tmp/treacle-folder-XXXXXX");
    *state = f;
    return mkdtemp(f->path) != NULL && treacle_context_create(&def, &f->ctx) == TREACLE_OK ? 0 : 1;
}

static int tear_down(void** state) {
    fixture* f = *state;
    char command[PATH_CAPACITY + 16];
    snprintf(command, sizeof(command), "rm -rf %s", f->path);
    int failed = system(command);
    treacle_context_destroy(f->ctx);
    free(f);
    return failed;
}

static void touch(const char* folder_path, const char* name) {
    char path[2 * PATH_CAPACITY];
    snprintf(path, sizeof(path), "%s/%s", folder_path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "12345", 5), 5);
    close(fd);
}

static void test_a_folder_is_made_with_its_parents(void** state) {
    fixture* f = *state;
    char path[PATH_CAPACITY + 16];
    struct stat info;
    snprintf(path, sizeof(path), "%s/a/b//c/", f->path);
    assert_int_equal(folder_make(f->ctx, path), TREACLE_OK);
    assert_int_equal(folder_make(f->ctx, path), TREACLE_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
}

static void test_a_file_in_the_way_is_an_error(void** state) {
    fixture* f = *state;
    char path[PATH_CAPACITY + 16];
    touch(f->path, "file");
    snprintf(path, sizeof(path), "%s/file", f->path);
    assert_int_equal(folder_make(f->ctx, path), TREACLE_ERR_IO);
    assert_non_null(strstr(treacle_context_error(f->ctx), "a file is in the way"));
}

static void test_the_lock_keeps_a_second_one_out(void** state) {
    fixture* f = *state;
    folder first, second;
    assert_int_equal(folder_open(f->ctx, f->path, &first), TREACLE_OK);
    assert_int_equal(folder_open(f->ctx, f->path, &second), TREACLE_ERR_USAGE);
    assert_non_null(strstr(treacle_context_error(f->ctx), "another treacle is writing"));
    folder_close(&first);
    assert_int_equal(folder_open(f->ctx, f->path, &second), TREACLE_OK);
    folder_close(&second);
}

static void test_names_have_four_digits_or_more(void** state) {
    fixture* f = *state;
    const folder place = {.ctx = f->ctx, .path = "out/", .fd = -1};
    char path[FOLDER_PATH_CAPACITY];
    assert_int_equal(folder_numbered(&place, FOLDER_FRAME, 7, path), TREACLE_OK);
    assert_string_equal(path, "out/frame_0007.trf");
    assert_int_equal(folder_numbered(&place, FOLDER_STATE, 12345, path), TREACLE_OK);
    assert_string_equal(path, "out/state_12345.trs");
}

static void test_only_our_own_names_are_listed_in_order(void** state) {
    fixture* f = *state;
    static const char* const names[] = {
        "frame_0003.trf",  "frame_0001.trf",     "frame_10000.trf", "frame_1.trf",
        "frame_00004.trf", "frame_0002.trf.tmp", "frame_x.trf",     "state_0002.trs",
    };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); ++k) {
        touch(f->path, names[k]);
    }
    folder place;
    folder_list list;
    assert_int_equal(folder_open(f->ctx, f->path, &place), TREACLE_OK);
    assert_int_equal(folder_list_kind(&place, FOLDER_FRAME, &list), TREACLE_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.numbers[0], 1);
    assert_int_equal(list.numbers[1], 3);
    assert_int_equal(list.numbers[2], 10000);
    folder_list_free(&place, &list);
    double bytes = 0.0;
    assert_int_equal(folder_bytes(&place, &bytes), TREACLE_OK);
    assert_int_equal((int)bytes, 4 * 5);
    folder_close(&place);
}

static void test_a_staged_file_appears_only_when_committed(void** state) {
    fixture* f = *state;
    static const char* const names[] = {FOLDER_SCENE};
    folder place;
    assert_int_equal(folder_open(f->ctx, f->path, &place), TREACLE_OK);
    assert_int_equal(folder_stage(&place, FOLDER_SCENE, "a: 1\n", 5), TREACLE_OK);
    assert_false(folder_has(&place, FOLDER_SCENE));
    assert_int_equal(folder_commit(&place, 1, names), TREACLE_OK);
    assert_true(folder_has(&place, FOLDER_SCENE));
    folder_close(&place);
}

static void test_only_unfinished_files_are_removed(void** state) {
    fixture* f = *state;
    folder place;
    touch(f->path, "frame_0002.trf.tmp");
    touch(f->path, "run.json.tmp");
    touch(f->path, "notes.tmp");
    touch(f->path, "frame_0001.trf");
    assert_int_equal(folder_open(f->ctx, f->path, &place), TREACLE_OK);
    assert_int_equal(folder_remove_unfinished(&place), TREACLE_OK);
    assert_false(folder_has(&place, "frame_0002.trf.tmp"));
    assert_false(folder_has(&place, "run.json.tmp"));
    assert_true(folder_has(&place, "notes.tmp"));
    assert_true(folder_has(&place, "frame_0001.trf"));
    folder_close(&place);
}

static treacle_status list_body(treacle_context* ctx, void* data) {
    folder place;
    folder_list list;
    TREACLE_TRY(folder_open(ctx, data, &place));
    treacle_status status = folder_list_kind(&place, FOLDER_FRAME, &list);
    folder_list_free(&place, &list);
    folder_close(&place);
    return status;
}

static void test_listing_survives_every_failed_allocation(void** state) {
    fixture* f = *state;
    for (int k = 1; k <= 100; ++k) {
        char name[32];
        snprintf(name, sizeof(name), "frame_%04d.trf", k);
        touch(f->path, name);
    }
    ALLOC_FAILURE_CHECK(list_body, f->path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_folder_is_made_with_its_parents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_in_the_way_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_lock_keeps_a_second_one_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_have_four_digits_or_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_our_own_names_are_listed_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_staged_file_appears_only_when_committed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_only_unfinished_files_are_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_listing_survives_every_failed_allocation, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
