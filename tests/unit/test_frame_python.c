// Files as the library writes them, read by tools/read_frame.py, which knows only the text of
// docs/formats/frame.md.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <spawn.h>
#include <sys/wait.h>

#include "unit/frame_fixture.h"

extern char** environ;

enum { PARTICLES = 300000, TILES = 3 };

static int run_python(const char* script, const char* path) {
    const char* python = getenv("PYTHON");
    python = python == NULL ? "/usr/bin/python3" : python;
    const char* arguments[] = {python, "-B", script, path, NULL};
    pid_t pid = 0;
    assert_int_equal(posix_spawnp(&pid, python, NULL, NULL, (char* const*)arguments, environ), 0);
    int result = 0;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    return result;
}

// The same formulas stand in tests/cli/check_frames.py.
static void fill(float* position, float* velocity, uint64_t* id, uint8_t* material) {
    for (int64_t i = 0; i < PARTICLES; ++i) {
        for (int64_t k = 0; k < 3; ++k) {
            position[3 * i + k] = (float)((i * 7 + k * 31) % 8192) / 1024.0f;
            velocity[3 * i + k] = (float)((i * 13 + k * 17) % 1000 - 500) / 64.0f;
        }
        id[i] = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        material[i] = (uint8_t)(i % 251);
    }
}

static void python_reads(treacle_frame_kind kind) {
    float* velocity = malloc(PARTICLES * 3 * sizeof(float));
    float* position = malloc(PARTICLES * 3 * sizeof(float));
    uint64_t* id = malloc(PARTICLES * sizeof(uint64_t));
    uint8_t* material = malloc(PARTICLES);
    assert_true(position != NULL && velocity != NULL && id != NULL && material != NULL);
    fill(position, velocity, id, material);
    const int64_t first[TILES + 1] = {0, 1000, 1000, PARTICLES};
    const int32_t coord[TILES * 3] = {0, 1, 2, -3, 4, 5, 100, 200, -300};
    const uint16_t small[3] = {0, 1, 65535};
    const double wide[4] = {-1.5, 0.0, 1e300, 5e-324};
    treacle_array arrays[] = {
        fixture_array("tile_first", TREACLE_TYPE_I64, 1, TILES + 1, first),
        fixture_array("tile_coord", TREACLE_TYPE_I32, 3, TILES, coord),
        fixture_array("position", TREACLE_TYPE_F32, 3, PARTICLES, position),
        fixture_array("velocity", TREACLE_TYPE_F32, 3, PARTICLES, velocity),
        fixture_array("id", TREACLE_TYPE_U64, 1, PARTICLES, id),
        fixture_array("material", TREACLE_TYPE_U8, 1, PARTICLES, material),
        fixture_array("small", TREACLE_TYPE_U16, 1, 3, small),
        fixture_array("wide", TREACLE_TYPE_F64, 2, 2, wide),
        fixture_array("nothing", TREACLE_TYPE_F32, 3, 0, NULL),
    };
    treacle_frame frame = fixture_frame(arrays, 9);
    frame.kind = kind;
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/frame_0001.trf", folder);
    treacle_context* ctx = fixture_context(2);
    assert_int_equal(treacle_frame_write(ctx, &frame, path), TREACLE_OK);
    assert_int_equal(run_python("tests/cli/check_frames.py", path), 0);
    treacle_context_destroy(ctx);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    free(position);
    free(velocity);
    free(id);
    free(material);
}

static void test_python_reads_what_the_library_writes(void** state) {
    (void)state;
    python_reads(TREACLE_FRAME_STATE);
}

static void test_python_reads_what_the_library_packs(void** state) {
    (void)state;
    python_reads(TREACLE_FRAME_PICTURE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_python_reads_what_the_library_writes),
        cmocka_unit_test(test_python_reads_what_the_library_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
