#include "frame_range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { NUMBER_MAX = 1000000 };

static bool format_path(char out[FRAME_PATH_CAPACITY], const char* folder, const char* stem,
                        int64_t number, const char* ending) {
    int length =
        snprintf(out, FRAME_PATH_CAPACITY, "%s/%s_%04" PRId64 ".%s", folder, stem, number, ending);
    if (length < 0 || length >= FRAME_PATH_CAPACITY) {
        cli_error("the path %.60s... is too long", folder);
        return false;
    }
    return true;
}

bool frame_range_output(const char* folder, const char* stem, int64_t number, const char* ending,
                        char out[FRAME_PATH_CAPACITY]) {
    return format_path(out, folder, stem, number, ending);
}

bool frame_range_path(const frame_range* range, int64_t number, char out[FRAME_PATH_CAPACITY]) {
    if (range->file != NULL) {
        int length = snprintf(out, FRAME_PATH_CAPACITY, "%s", range->file);
        return length >= 0 && length < FRAME_PATH_CAPACITY;
    }
    return format_path(out, range->folder, "frame", number, "trf");
}

// A number from 1 up to the end of the text or to `end`; 0 if there is none.
static int64_t number_at(const char* text, const char** end) {
    char* after = NULL;
    if (text[0] < '0' || text[0] > '9') {
        *end = text;
        return 0;
    }
    errno = 0;
    long long number = strtoll(text, &after, 10);
    *end = after;
    return errno == 0 && number >= 1 && number <= NUMBER_MAX ? number : 0;
}

static bool parse(const char* text, frame_range* out) {
    const char* rest = text;
    int64_t first = text[0] == ':' ? out->first : number_at(text, &rest);
    int64_t last = first;
    if (rest[0] == ':') {
        rest += 1;
        last = rest[0] == '\0' ? out->last : number_at(rest, &rest);
    }
    if (first < 1 || last < first || rest[0] != '\0') {
        cli_error("--frames must be a frame or a range of them, like 12, 10:20, 10: or :20, not "
                  "\"%s\"",
                  text);
        return false;
    }
    out->first = first;
    out->last = last;
    return true;
}

static int find_in_folder(treacle_context* ctx, const char* text, frame_range* out) {
    treacle_run_info info;
    treacle_status status = treacle_run_inspect(ctx, out->folder, &info);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    out->first = 1;
    out->last = info.frames_done;
    if (text != NULL && !parse(text, out)) {
        return TREACLE_ERR_USAGE;
    }
    if (out->last < 1) {
        cli_error("%s has no frames yet", out->folder);
        return TREACLE_ERR_IO;
    }
    for (int64_t k = out->first; k <= out->last; ++k) {
        char path[FRAME_PATH_CAPACITY];
        struct stat found;
        if (!frame_range_path(out, k, path)) {
            return TREACLE_ERR_LIMIT;
        }
        if (stat(path, &found) != 0) {
            cli_error("frame %" PRId64 " is missing: there is no %s", k, path);
            cli_hint("%s has the frames 1 to %" PRId64 "; choose with --frames", out->folder,
                     info.frames_done);
            return TREACLE_ERR_IO;
        }
    }
    return TREACLE_OK;
}

static int find_file(treacle_context* ctx, const char* text, frame_range* out) {
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(ctx, out->file, &loaded);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    out->first = out->last = treacle_loaded_frame_view(loaded)->number;
    treacle_loaded_frame_destroy(loaded);
    if (text != NULL) {
        cli_error("--frames goes with the folder of a run, but %s is one frame", out->file);
        return TREACLE_ERR_USAGE;
    }
    return TREACLE_OK;
}

int frame_range_find(treacle_context* ctx, const char* operand, const char* text,
                     frame_range* out) {
    struct stat found;
    *out = (frame_range){.folder = operand};
    if (stat(operand, &found) != 0) {
        cli_error("there is no file or folder %s", operand);
        return TREACLE_ERR_IO;
    }
    if (S_ISDIR(found.st_mode)) {
        return find_in_folder(ctx, text, out);
    }
    out->folder = NULL;
    out->file = operand;
    return find_file(ctx, text, out);
}

static bool make_one(const char* folder) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST) {
        return true;
    }
    cli_error("cannot make the folder %s: %s", folder, strerror(errno));
    return false;
}

bool frame_range_make_folder(const char* folder) {
    char part[FRAME_PATH_CAPACITY];
    size_t length = strlen(folder);
    bool is_made = true;
    if (length >= sizeof(part)) {
        cli_error("the name of the folder is too long");
        return false;
    }
    memcpy(part, folder, length + 1);
    for (size_t i = 1; i < length && is_made; ++i) {
        if (part[i] == '/' && part[i - 1] != '/') {
            part[i] = '\0';
            is_made = make_one(part);
            part[i] = '/';
        }
    }
    return is_made && make_one(part);
}

treacle_scene* frame_range_scene(treacle_context* ctx, const frame_range* range) {
    char path[FRAME_PATH_CAPACITY];
    struct stat found;
    treacle_scene* scene = NULL;
    int length =
        range->folder == NULL ? -1 : snprintf(path, sizeof(path), "%s/scene.yaml", range->folder);
    if (length < 0 || length >= FRAME_PATH_CAPACITY || stat(path, &found) != 0) {
        return NULL;
    }
    if (treacle_scene_load(ctx, path, 0, NULL, &scene) != TREACLE_OK) {
        treacle_scene_destroy(scene);
        return NULL;
    }
    return scene;
}
