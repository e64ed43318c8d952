#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "run/run_record.h"
#include "run/stats_file.h"

enum { PATH_CAPACITY = 256, TEXT_CAPACITY = 65536 };

typedef struct fixture {
    treacle_context* ctx;
    folder folder;
    int warnings;
    char path[PATH_CAPACITY];
} fixture;

static void count_warning(treacle_log_level level, const char* text, void* user) {
    (void)text;
    *(int*)user += level == TREACLE_LOG_WARNING;
}

static int set_up(void** state) {
    fixture* f = calloc(1, sizeof(*f));
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = count_warning;
    def.log_user = &f->warnings;
    snprintf(f->path, sizeof(f->path), "/tmp/treacle-stats-XXXXXX");
    *state = f;
    bool made = mkdtemp(f->path) != NULL && treacle_context_create(&def, &f->ctx) == TREACLE_OK;
    return made && folder_open(f->ctx, f->path, &f->folder) == TREACLE_OK ? 0 : 1;
}

static int tear_down(void** state) {
    fixture* f = *state;
    char command[PATH_CAPACITY + 16];
    snprintf(command, sizeof(command), "rm -rf %s", f->path);
    int failed = system(command);
    folder_close(&f->folder);
    treacle_context_destroy(f->ctx);
    free(f);
    return failed;
}

static void read_text(const fixture* f, char text[TEXT_CAPACITY]) {
    char path[FOLDER_PATH_CAPACITY];
    assert_int_equal(folder_file(&f->folder, FOLDER_STATS, path), TREACLE_OK);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, TEXT_CAPACITY - 1, file);
    text[length] = '\0';
    fclose(file);
}

static void write_text(const fixture* f, const char* mode, const char* text) {
    char path[FOLDER_PATH_CAPACITY];
    assert_int_equal(folder_file(&f->folder, FOLDER_STATS, path), TREACLE_OK);
    FILE* file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void append_steps(fixture* f, int64_t after, int64_t last) {
    stats_file file;
    assert_int_equal(stats_file_open(&f->folder, after, &file), TREACLE_OK);
    for (int64_t step = after + 1; step <= last; ++step) {
        treacle_step_stats stats = {
            .step = step,
            .time = 0.1 * (double)step,
            .dt = 0.1 / (double)step,
            .particles = 100 * step,
            .split = 7,
            .volume = 1.0 / 3.0,
            .surface_volume = 0.5,
            .density_spread = 0.125,
            .max_speed = step == 2 ? 1.0 / 0.0 : 1.0,
            .pressure = {.iterations = (int)step,
                         .residual = 1e-7,
                         .converged = step != 3,
                         .regime = "levels"},
            .rheology = {.iterations = step == 1 ? 0 : (int)(2 * step), .converged = step < 4},
            .seconds = {[TREACLE_STAGE_SORT] = 0.25},
            .memory_peak = 1000,
        };
        assert_int_equal(stats_file_append(&file, 2, &stats), TREACLE_OK);
    }
    assert_int_equal(stats_file_sync(&file), TREACLE_OK);
    stats_file_close(&file);
}

static void test_a_line_tells_all_of_a_step(void** state) {
    fixture* f = *state;
    char text[TEXT_CAPACITY];
    append_steps(f, 0, 1);
    read_text(f, text);
    assert_non_null(strstr(text, "{\"step\":1,\"frame\":2,\"time\":0.10000000000000001,"));
    assert_non_null(strstr(text, "\"volume\":0.33333333333333331,"));
    assert_non_null(strstr(text, "\"split\":7,\"merged\":0,"));
    assert_non_null(strstr(text, "\"surface_volume\":0.5,"));
    assert_non_null(strstr(text, "\"density_spread\":0.125,"));
    assert_non_null(strstr(text, "\"pressure\":{\"iterations\":1,"));
    assert_non_null(strstr(text, "\"regime\":\"levels\"}"));
    assert_non_null(strstr(text, "\"sort\":0.25,"));
    assert_non_null(strstr(text, "\"memory_peak\":1000}\n"));
}

static void test_infinity_is_null(void** state) {
    fixture* f = *state;
    char text[TEXT_CAPACITY];
    append_steps(f, 0, 2);
    read_text(f, text);
    assert_non_null(strstr(text, "\"max_speed\":null"));
}

static void test_lines_after_the_state_are_cut_off(void** state) {
    fixture* f = *state;
    char whole[TEXT_CAPACITY], again[TEXT_CAPACITY];
    append_steps(f, 0, 5);
    read_text(f, whole);
    write_text(f, "a", "{\"step\":6,\"fra");
    append_steps(f, 3, 5);
    read_text(f, again);
    assert_string_equal(again, whole);
    assert_int_equal(f->warnings, 0);
}

static void test_missing_lines_are_a_warning(void** state) {
    fixture* f = *state;
    append_steps(f, 0, 3);
    append_steps(f, 7, 9);
    assert_int_equal(f->warnings, 1);
}

static void test_garbage_ends_what_is_kept(void** state) {
    fixture* f = *state;
    char text[TEXT_CAPACITY];
    append_steps(f, 0, 2);
    write_text(f, "a", "garbage\n");
    append_steps(f, 2, 3);
    read_text(f, text);
    assert_null(strstr(text, "garbage"));
    assert_non_null(strstr(text, "\n{\"step\":3,"));
}

static void test_the_summary_adds_up(void** state) {
    fixture* f = *state;
    treacle_run_info info = {0};
    append_steps(f, 0, 4);
    assert_int_equal(stats_file_summarise(&f->folder, &info), TREACLE_OK);
    assert_int_equal(info.steps, 4);
    assert_int_equal(info.iterations, 1 + 2 + 3 + 4);
    assert_int_equal(info.iterations_max, 4);
    assert_int_equal(info.regime_count, 1);
    assert_string_equal(info.regimes[0].name, "levels");
    assert_int_equal(info.regimes[0].steps, 4);
    assert_int_equal(info.unconverged, 1);
    assert_int_equal(info.rheology_steps, 3);
    assert_int_equal(info.rheology_passes, 4 + 6 + 8);
    assert_int_equal(info.rheology_passes_max, 8);
    assert_int_equal(info.rheology_unconverged, 1);
    assert_int_equal(info.particles, 400);
    assert_float_equal(info.seconds_total, 1.0, 0.0);
    assert_float_equal(info.dt_max, 0.1, 0.0);
    assert_float_equal(info.dt_min, 0.025, 0.0);
}

static void test_a_record_comes_back_as_it_was(void** state) {
    fixture* f = *state;
    static const char* const names[] = {FOLDER_RECORD};
    static const char* const sets[] = {"frames=3", "name=\"\xc3\xa4\""};
    const run_record record = {
        .version = "1.2.3",
        .scene = "/a/b.yaml",
        .set_count = 2,
        .sets = sets,
        .scene_hash = 0xfedcba9876543210u,
        .frames = 48,
        .preview = true,
        .preview_width = 640,
        .preview_height = 360,
        .film = "film.mp4",
    };
    loaded_record loaded;
    assert_int_equal(run_record_stage(&f->folder, &record), TREACLE_OK);
    assert_int_equal(folder_commit(&f->folder, 1, names), TREACLE_OK);
    assert_int_equal(run_record_read(&f->folder, &loaded), TREACLE_OK);
    assert_string_equal(loaded.record.version, "1.2.3");
    assert_string_equal(loaded.record.scene, "/a/b.yaml");
    assert_int_equal(loaded.record.set_count, 2);
    assert_string_equal(loaded.record.sets[1], sets[1]);
    assert_true(loaded.record.scene_hash == record.scene_hash);
    assert_int_equal(loaded.record.frames, 48);
    assert_true(loaded.record.preview);
    assert_int_equal(loaded.record.preview_width, 640);
    assert_int_equal(loaded.record.preview_height, 360);
    assert_string_equal(loaded.record.film, "film.mp4");
    run_record_free(&f->folder, &loaded);
    assert_int_equal(treacle_context_memory(f->ctx), 0);
}

static void test_a_damaged_record_is_refused(void** state) {
    fixture* f = *state;
    static const char* const names[] = {FOLDER_RECORD};
    static const struct {
        const char* text;
        treacle_status status;
    } cases[] = {
        {"", TREACLE_ERR_FORMAT},
        {"[1]", TREACLE_ERR_FORMAT},
        {"{\"format\": 1, \"version\": \"1\"}", TREACLE_ERR_FORMAT},
        {"{\"format\": 99, \"version\": \"9\"}", TREACLE_ERR_VERSION},
        {"{\"format\": 1, \"version\": \"1\", \"scene\": \"\", \"sets\": [3], \"scene_hash\": "
         "\"0000000000000001\", \"frames\": 3, \"preview\": false, \"preview_size\": [9, 9], "
         "\"film\": \"\"}",
         TREACLE_ERR_FORMAT},
        {"{\"format\": 1, \"version\": \"1\", \"scene\": \"\", \"sets\": [], \"scene_hash\": "
         "\"0000000000000001\", \"frames\": 0, \"preview\": false, \"preview_size\": [9, 9], "
         "\"film\": \"\"}",
         TREACLE_ERR_FORMAT},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        loaded_record loaded;
        assert_int_equal(
            folder_stage(&f->folder, FOLDER_RECORD, cases[k].text, strlen(cases[k].text)),
            TREACLE_OK);
        assert_int_equal(folder_commit(&f->folder, 1, names), TREACLE_OK);
        assert_int_equal(run_record_read(&f->folder, &loaded), cases[k].status);
        assert_int_equal(treacle_context_memory(f->ctx), 0);
    }
}

// Nobody writes into them: a reader would wait for ever, and so would a writer.
static void test_pipes_are_refused(void** state) {
    fixture* f = *state;
    static const char* const names[] = {FOLDER_STATS, FOLDER_RECORD};
    char path[FOLDER_PATH_CAPACITY];
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(folder_file(&f->folder, names[i], path), TREACLE_OK);
        assert_int_equal(mkfifo(path, 0666), 0);
    }
    treacle_run_info info = {0};
    stats_file file;
    loaded_record record;
    assert_int_equal(stats_file_summarise(&f->folder, &info), TREACLE_ERR_IO);
    assert_non_null(strstr(treacle_context_error(f->ctx), "not a plain file"));
    assert_int_equal(stats_file_visit(&f->folder, NULL, NULL), TREACLE_ERR_IO);
    assert_int_equal(stats_file_open(&f->folder, 0, &file), TREACLE_ERR_IO);
    assert_int_equal(run_record_read(&f->folder, &record), TREACLE_ERR_IO);
    assert_non_null(strstr(treacle_context_error(f->ctx), "not a plain file"));
    assert_int_equal(treacle_context_memory(f->ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_line_tells_all_of_a_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_infinity_is_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_after_the_state_are_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_lines_are_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_garbage_ends_what_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_summary_adds_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_record_comes_back_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_damaged_record_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pipes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
