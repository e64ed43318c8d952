// Scene files and what the library says of them.
//
// tests/scene/bad/NAME.yaml must give exactly the text of NAME.expect, errors among them;
// tests/scene/good/NAME.yaml and scenes/*.yaml load without errors, and what the good ones say
// (warnings) is NAME.expect, if there is one. A first line "# --set key=value" of a file is a
// setting; there may be several. TREACLE_UPDATE=1 writes the .expect files anew: read them then.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "treacle/treacle.h"

enum { FILES_MAX = 512, PATH_LENGTH = 512, TEXT_LENGTH = 1 << 16, SETS_MAX = 8 };

typedef struct folder {
    int count;
    char* name[FILES_MAX];
} folder;

static int compare_names(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static void folder_list(const char* path, folder* out) {
    out->count = 0;
    DIR* dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0) {
            assert_true(out->count < FILES_MAX);
            out->name[out->count] = strdup(entry->d_name);
            out->count += 1;
        }
    }
    closedir(dir);
    qsort(out->name, (size_t)out->count, sizeof(char*), compare_names);
}

static void folder_free(folder* f) {
    for (int i = 0; i < f->count; ++i) {
        free(f->name[i]);
    }
}

static bool read_text(const char* path, char out[TEXT_LENGTH]) {
    FILE* file = fopen(path, "rb");
    out[0] = '\0';
    if (file == NULL) {
        return false;
    }
    size_t length = fread(out, 1, TEXT_LENGTH - 1, file);
    out[length] = '\0';
    fclose(file);
    return true;
}

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static treacle_context* make_context(void) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

// Settings in the first lines of a file: "# --set key=value".
static int read_sets(char* text, const char* sets[SETS_MAX]) {
    int count = 0;
    static const char mark[] = "# --set ";
    for (char* line = text; strncmp(line, mark, strlen(mark)) == 0 && count < SETS_MAX;) {
        sets[count] = line + strlen(mark);
        count += 1;
        char* end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        line = end + 1;
    }
    return count;
}

// Loads the file and hands out its report; the caller frees it.
static treacle_status load_report(const char* path, char report[TEXT_LENGTH]) {
    static char text[TEXT_LENGTH];
    const char* sets[SETS_MAX];
    read_text(path, text);
    int set_count = read_sets(text, sets);
    treacle_context* ctx = make_context();
    treacle_scene* scene = NULL;
    treacle_status status = treacle_scene_load(ctx, path, set_count, sets, &scene);
    assert_non_null(scene);
    snprintf(report, TEXT_LENGTH, "%s", treacle_scene_report(scene));
    treacle_scene_destroy(scene);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
    return status;
}

// The report against NAME.expect beside the file. Returns the number of differences, 0 or 1.
static int compare_report(const char* path, const char* report) {
    static char expected[TEXT_LENGTH];
    char expect_path[PATH_LENGTH];
    snprintf(expect_path, sizeof(expect_path), "%.*s.expect", (int)strlen(path) - 5, path);
    bool has_file = read_text(expect_path, expected);
    if (getenv("TREACLE_UPDATE") != NULL && (has_file || report[0] != '\0')) {
        write_text(expect_path, report);
        return 0;
    }
    if (strcmp(expected, report) != 0) {
        print_message("%s\nexpected:\n%sgot:\n%s\n", path, expected, report);
        return 1;
    }
    return 0;
}

static int check_folder(const char* path, treacle_status expected) {
    static char report[TEXT_LENGTH];
    folder f;
    int wrong = 0;
    folder_list(path, &f);
    assert_true(f.count > 0);
    for (int i = 0; i < f.count; ++i) {
        char file[PATH_LENGTH];
        snprintf(file, sizeof(file), "%s/%s", path, f.name[i]);
        treacle_status status = load_report(file, report);
        if (status != expected) {
            print_message("%s: status %s\n%s", file, treacle_status_name(status), report);
            wrong += 1;
        }
        wrong += compare_report(file, report);
    }
    folder_free(&f);
    return wrong;
}

static void test_bad_scenes_give_their_diagnostics(void** state) {
    (void)state;
    assert_int_equal(check_folder("tests/scene/bad", TREACLE_ERR_SCENE), 0);
}

static void test_there_are_a_hundred_bad_scenes(void** state) {
    (void)state;
    folder f;
    folder_list("tests/scene/bad", &f);
    assert_true(f.count >= 100);
    folder_free(&f);
}

static void test_good_scenes_load(void** state) {
    (void)state;
    assert_int_equal(check_folder("tests/scene/good", TREACLE_OK), 0);
}

static void test_shipped_scenes_load_without_a_word(void** state) {
    (void)state;
    static char report[TEXT_LENGTH];
    folder f;
    folder_list("scenes", &f);
    for (int i = 0; i < f.count; ++i) {
        char file[PATH_LENGTH];
        snprintf(file, sizeof(file), "scenes/%s", f.name[i]);
        treacle_status status = load_report(file, report);
        if (status != TREACLE_OK || report[0] != '\0') {
            print_message("%s", report);
        }
        assert_int_equal(status, TREACLE_OK);
        assert_string_equal(report, "");
    }
    folder_free(&f);
}

// Loading the canonical text again gives the same text and hash, and makes a simulation.
static void check_round_trip(const char* path) {
    treacle_context* ctx = make_context();
    treacle_scene *first = NULL, *second = NULL;
    assert_int_equal(treacle_scene_load(ctx, path, 0, NULL, &first), TREACLE_OK);
    const char* text = treacle_scene_text(first);
    treacle_status status =
        treacle_scene_parse(ctx, "again.yaml", text, strlen(text), 0, NULL, &second);
    if (status != TREACLE_OK) {
        print_message("%s\n%s\n%s", path, text, treacle_scene_report(second));
    }
    assert_int_equal(status, TREACLE_OK);
    assert_string_equal(treacle_scene_text(second), text);
    assert_int_equal(treacle_scene_hash(second), treacle_scene_hash(first));
    treacle_estimate estimate;
    assert_int_equal(treacle_scene_estimate(second, &estimate), TREACLE_OK);
    assert_true(estimate.particles_end >= estimate.particles);
    assert_true(estimate.particles_end > 0);
    treacle_sim* sim = NULL;
    status = treacle_sim_create(ctx, treacle_scene_sim(second), &sim);
    if (status != TREACLE_OK) {
        print_message("%s: %s\n", path, treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(first);
    treacle_scene_destroy(second);
    treacle_context_destroy(ctx);
}

static void test_canonical_text_loads_to_itself_and_simulates(void** state) {
    (void)state;
    static const char* const folders[] = {"scenes", "tests/scene/good"};
    for (int k = 0; k < 2; ++k) {
        folder f;
        folder_list(folders[k], &f);
        for (int i = 0; i < f.count; ++i) {
            char file[PATH_LENGTH];
            snprintf(file, sizeof(file), "%s/%s", folders[k], f.name[i]);
            check_round_trip(file);
        }
        folder_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_scenes_give_their_diagnostics),
        cmocka_unit_test(test_there_are_a_hundred_bad_scenes),
        cmocka_unit_test(test_good_scenes_load),
        cmocka_unit_test(test_shipped_scenes_load_without_a_word),
        cmocka_unit_test(test_canonical_text_loads_to_itself_and_simulates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
