// Frame files that are not as they should be: every damage is an error, none is a crash or wrong
// data, and a write that fails leaves the earlier file as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <xxhash.h>

#include "cache/frame_format.h"
#include "cache/frame_read.h"
#include "unit/alloc_failure.h"
#include "unit/frame_fixture.h"

typedef struct fixture {
    treacle_context* ctx;
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    uint8_t* noise;
    treacle_array arrays[3];
    treacle_frame frame;
    uint8_t* bytes; // of the small frame's file
    size_t size;
} fixture;

enum { NOISE = 4 << 20 };

static int set_up(void** state) {
    static fixture f;
    fixture_folder(f.folder);
    snprintf(f.path, sizeof(f.path), "%s/frame_0001.trf", f.folder);
    f.ctx = fixture_context(2);
    f.noise = fixture_noise(NOISE);
    f.arrays[0] = fixture_array("position", TREACLE_TYPE_F32, 3, 50, f.noise);
    f.arrays[1] = fixture_array("empty", TREACLE_TYPE_U8, 1, 0, NULL);
    f.arrays[2] = fixture_array("id", TREACLE_TYPE_U64, 1, 9, f.noise);
    f.frame = fixture_frame(f.arrays, 3);
    assert_int_equal(treacle_frame_write(f.ctx, &f.frame, f.path), TREACLE_OK);
    f.size = fixture_bytes(f.path, &f.bytes);
    *state = &f;
    return 0;
}

static int tear_down(void** state) {
    fixture* f = *state;
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(rmdir(f->folder), 0); // no temporary file is left
    treacle_context_destroy(f->ctx);
    free(f->noise);
    free(f->bytes);
    return 0;
}

static treacle_status parse(fixture* f, const uint8_t* bytes, size_t size) {
    size_t before = treacle_context_memory(f->ctx);
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = frame_parse(f->ctx, "file", bytes, size, &loaded);
    assert_true((status == TREACLE_OK) == (loaded != NULL));
    treacle_loaded_frame_destroy(loaded);
    assert_int_equal(treacle_context_memory(f->ctx), before);
    return status;
}

static void expect(fixture* f, const uint8_t* bytes, treacle_status status, const char* text) {
    assert_int_equal(parse(f, bytes, f->size), status);
    if (strstr(treacle_context_error(f->ctx), text) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", text, treacle_context_error(f->ctx));
    }
}

static void test_every_truncation_is_an_error(void** state) {
    fixture* f = *state;
    assert_int_equal(parse(f, f->bytes, f->size), TREACLE_OK);
    for (size_t size = 0; size < f->size; ++size) {
        // A copy of exactly that size, so that a sanitizer sees reads beyond it.
        uint8_t* cut = malloc(size + (size == 0));
        assert_non_null(cut);
        memcpy(cut, f->bytes, size);
        assert_int_equal(parse(f, cut, size), TREACLE_ERR_FORMAT);
        free(cut);
    }
    uint8_t* longer = calloc(1, f->size + 1);
    assert_non_null(longer);
    memcpy(longer, f->bytes, f->size);
    assert_int_equal(parse(f, longer, f->size + 1), TREACLE_ERR_FORMAT);
    free(longer);
}

static void test_every_changed_byte_is_an_error(void** state) {
    fixture* f = *state;
    for (size_t at = 0; at < f->size; ++at) {
        uint8_t good = f->bytes[at];
        for (int bit = 0; bit <= 8; ++bit) {
            f->bytes[at] = (uint8_t)(good ^ (bit == 8 ? 0xff : 1 << bit));
            treacle_status status = parse(f, f->bytes, f->size);
            bool is_version = at >= FRAME_AT_VERSION && at < FRAME_AT_VERSION + 4;
            assert_true(status == TREACLE_ERR_FORMAT ||
                        (is_version && status == TREACLE_ERR_VERSION));
        }
        f->bytes[at] = good;
    }
}

static uint8_t* copy_of(const fixture* f) {
    uint8_t* copy = malloc(f->size);
    assert_non_null(copy);
    memcpy(copy, f->bytes, f->size);
    return copy;
}

// Makes the checksums of head and tables right again: what a hostile writer would do.
static void sign(uint8_t* bytes, uint64_t chunk_count) {
    size_t tables = 3 * FRAME_ARRAY_BYTES + chunk_count * FRAME_CHUNK_BYTES;
    frame_put_u64(bytes, FRAME_AT_CHECKSUM, XXH3_64bits(bytes, FRAME_AT_CHECKSUM));
    frame_put_u64(bytes + FRAME_HEAD_BYTES, (int)tables,
                  XXH3_64bits(bytes + FRAME_HEAD_BYTES, tables));
}

static void test_errors_say_what_is_wrong(void** state) {
    fixture* f = *state;
    uint8_t* b = copy_of(f);
    b[FRAME_AT_VERSION] = 9;
    expect(f, b, TREACLE_ERR_VERSION, "version 9");
    expect(f, b, TREACLE_ERR_VERSION, "version 2");
    b[FRAME_AT_VERSION] = FRAME_VERSION;
    b[0] = 'x';
    expect(f, b, TREACLE_ERR_FORMAT, "not a frame or state file");
    b[0] = f->bytes[0];
    b[FRAME_AT_TIME] ^= 1;
    expect(f, b, TREACLE_ERR_FORMAT, "the head is damaged");
    b[FRAME_AT_TIME] ^= 1;
    b[FRAME_HEAD_BYTES] ^= 1;
    expect(f, b, TREACLE_ERR_FORMAT, "the table of arrays is damaged");
    b[FRAME_HEAD_BYTES] ^= 1;
    b[f->size - 1] ^= 1;
    expect(f, b, TREACLE_ERR_FORMAT, "array 'id' is damaged: the checksum of chunk 0");
    free(b);
}

static void test_hostile_sizes_take_no_memory(void** state) {
    fixture* f = *state;
    size_t peak = treacle_context_memory_peak(f->ctx);
    uint8_t* b = copy_of(f);
    frame_put_u64(b, FRAME_AT_CHUNK_COUNT, UINT64_C(1) << 60);
    sign(b, 2);
    expect(f, b, TREACLE_ERR_FORMAT, "cut short");
    memcpy(b, f->bytes, f->size);
    frame_put_u32(b, FRAME_AT_ARRAY_COUNT, UINT32_MAX);
    sign(b, 2);
    expect(f, b, TREACLE_ERR_FORMAT, "4294967295 arrays");
    memcpy(b, f->bytes, f->size);
    uint8_t* first = b + FRAME_HEAD_BYTES;
    frame_put_u64(first, FRAME_ARRAY_AT_COUNT, UINT64_C(1) << 56);
    sign(b, 2);
    expect(f, b, TREACLE_ERR_FORMAT, "array 'position' claims 1 chunks");
    frame_put_u64(first, FRAME_ARRAY_AT_COUNT, INT64_MAX);
    sign(b, 2);
    expect(f, b, TREACLE_ERR_FORMAT, "not possible");
    // One chunk's worth of items, which its few bytes cannot hold.
    frame_put_u64(first, FRAME_ARRAY_AT_COUNT, 80000);
    frame_put_u32(first + 3 * FRAME_ARRAY_BYTES, FRAME_CHUNK_AT_RAW, 960000);
    sign(b, 2);
    expect(f, b, TREACLE_ERR_FORMAT, "is said to unpack to 960000");
    free(b);
    assert_true(treacle_context_memory_peak(f->ctx) <= peak + 4096);
}

static void test_a_wrong_blosc_buffer_is_found(void** state) {
    fixture* f = *state;
    uint8_t* b = copy_of(f);
    size_t table = FRAME_HEAD_BYTES + 3 * FRAME_ARRAY_BYTES;
    size_t chunks = table + 2 * FRAME_CHUNK_BYTES + FRAME_CHECKSUM_BYTES;
    uint32_t stored = frame_get_u32(b + table, FRAME_CHUNK_AT_STORED);
    for (size_t at = 0; at < stored; ++at) {
        b[chunks + at] ^= 0xff;
        frame_put_u64(b + table, FRAME_CHUNK_AT_CHECKSUM, XXH3_64bits(b + chunks, stored));
        sign(b, 2);
        treacle_status status = parse(f, b, f->size);
        // Bytes of the payload may be anything once they are signed; the head of blosc may not.
        bool is_size = at >= 4 && at < 16 && !(at >= 8 && at < 12);
        assert_true(status == TREACLE_ERR_FORMAT || (status == TREACLE_OK && !is_size));
        b[chunks + at] ^= 0xff;
    }
    free(b);
}

static void expect_io(fixture* f, const char* path, const char* text) {
    treacle_loaded_frame* loaded = NULL;
    assert_int_equal(treacle_frame_read(f->ctx, path, &loaded), TREACLE_ERR_IO);
    assert_null(loaded);
    assert_non_null(strstr(treacle_context_error(f->ctx), path));
    assert_non_null(strstr(treacle_context_error(f->ctx), text));
}

static void test_what_is_not_a_file_is_said(void** state) {
    fixture* f = *state;
    expect_io(f, "/nowhere/frame_0001.trf", "No such file");
    expect_io(f, f->folder, "a folder");
    expect_io(f, "/dev/null", "a device");
}

static void test_what_cannot_be_created_is_said(void** state) {
    fixture* f = *state;
    char below[FIXTURE_PATH + 64];
    snprintf(below, sizeof(below), "%s/x.trf", f->path); // below a file
    const char* paths[] = {"/nowhere/x.trf", "/proc/x.trf", below};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(treacle_frame_write(f->ctx, &f->frame, paths[i]), TREACLE_ERR_IO);
        assert_non_null(strstr(treacle_context_error(f->ctx), paths[i]));
    }
    // A folder has the name: the renaming fails and the temporary file goes.
    snprintf(below, sizeof(below), "%s/taken", f->folder);
    assert_int_equal(mkdir(below, 0777), 0);
    assert_int_equal(treacle_frame_write(f->ctx, &f->frame, below), TREACLE_ERR_IO);
    assert_int_equal(rmdir(below), 0);
}

// The file at f->path is still the small one that set_up wrote, and it is alone.
static void assert_untouched(fixture* f) {
    uint8_t* bytes = NULL;
    assert_int_equal(fixture_bytes(f->path, &bytes), f->size);
    assert_memory_equal(bytes, f->bytes, f->size);
    free(bytes);
    char temporary[FIXTURE_PATH + 40];
    snprintf(temporary, sizeof(temporary), "%s.tmp", f->path);
    assert_int_not_equal(access(temporary, F_OK), 0);
}

static void test_a_write_that_is_cut_off_leaves_the_old_file(void** state) {
    fixture* f = *state;
    treacle_array big = fixture_array("noise", TREACLE_TYPE_U8, 1, NOISE, f->noise);
    treacle_frame frame = fixture_frame(&big, 1);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const rlim_t limits[] = {0, 100, 70000, 2 << 20};
    for (size_t i = 0; i < 4; ++i) {
        struct rlimit small = {.rlim_cur = limits[i], .rlim_max = old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        treacle_status status = treacle_frame_write(f->ctx, &frame, f->path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, TREACLE_ERR_IO);
        assert_non_null(strstr(treacle_context_error(f->ctx), "File too large"));
        assert_untouched(f);
    }
    signal(SIGXFSZ, handler);
}

// In a child with mounts of its own: a disk of 256 KiB. Exit code 0: as it should be; 77: no
// mounts.
static int write_to_small_disk(const fixture* f) {
    bool is_mounted = unshare(CLONE_NEWNS) == 0 &&
                      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                      mount("none", f->folder, "tmpfs", 0, "size=256k") == 0;
    if (!is_mounted) {
        return 77;
    }
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    treacle_context* ctx = NULL;
    if (treacle_context_create(&def, &ctx) != TREACLE_OK ||
        treacle_frame_write(ctx, &f->frame, f->path) != TREACLE_OK) {
        return 1;
    }
    treacle_array big = fixture_array("noise", TREACLE_TYPE_U8, 1, NOISE, f->noise);
    treacle_frame frame = fixture_frame(&big, 1);
    if (treacle_frame_write(ctx, &frame, f->path) != TREACLE_ERR_IO ||
        strstr(treacle_context_error(ctx), "No space left on device") == NULL) {
        return 2;
    }
    treacle_loaded_frame* loaded = NULL; // the earlier file is whole
    return treacle_frame_read(ctx, f->path, &loaded) == TREACLE_OK ? 0 : 3;
}

static void test_a_full_disk_is_said_and_leaves_the_old_file(void** state) {
    fixture* f = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(write_to_small_disk(f));
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 77) {
        unit_skip("mounting a small disk is not allowed");
    }
    assert_int_equal(WEXITSTATUS(result), 0);
}

static treacle_status write_body(treacle_context* ctx, void* data) {
    fixture* f = data;
    treacle_status status = treacle_frame_write(ctx, &f->frame, f->path);
    assert_untouched(f); // the same content: old or new, it looks the same
    return status;
}

static treacle_status read_body(treacle_context* ctx, void* data) {
    fixture* f = data;
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(ctx, f->path, &loaded);
    treacle_loaded_frame_destroy(loaded);
    return status;
}

static void test_every_allocation_may_fail(void** state) {
    fixture* f = *state;
    ALLOC_FAILURE_CHECK(write_body, f);
    ALLOC_FAILURE_CHECK(read_body, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_truncation_is_an_error),
        cmocka_unit_test(test_every_changed_byte_is_an_error),
        cmocka_unit_test(test_errors_say_what_is_wrong),
        cmocka_unit_test(test_hostile_sizes_take_no_memory),
        cmocka_unit_test(test_a_wrong_blosc_buffer_is_found),
        cmocka_unit_test(test_what_is_not_a_file_is_said),
        cmocka_unit_test(test_what_cannot_be_created_is_said),
        cmocka_unit_test(test_a_write_that_is_cut_off_leaves_the_old_file),
        cmocka_unit_test(test_a_full_disk_is_said_and_leaves_the_old_file),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return unit_exit_code(cmocka_run_group_tests(tests, set_up, tear_down));
}
