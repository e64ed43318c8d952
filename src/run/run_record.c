#include "run/run_record.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    FORMAT = 1,
    HASH_DIGITS = 16,
    FRAMES_MAX = 1000000,
    PIXELS_MAX = 16384,
};

static json_t* set_array(const run_record* record) {
    json_t* array = json_array();
    for (int k = 0; k < record->set_count; ++k) {
        if (json_array_append_new(array, json_string(record->sets[k])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t* record_object(const run_record* record) {
    char hash[HASH_DIGITS + 1];
    snprintf(hash, sizeof(hash), "%016" PRIx64, record->scene_hash);
    return json_pack("{s:i, s:s, s:s, s:o, s:s, s:I, s:b, s:[i, i], s:s}", "format", FORMAT,
                     "version", record->version, "scene", record->scene, "sets", set_array(record),
                     "scene_hash", hash, "frames", (json_int_t)record->frames, "preview",
                     (int)record->preview, "preview_size", record->preview_width,
                     record->preview_height, "film", record->film);
}

treacle_status run_record_stage(const folder* f, const run_record* record) {
    TREACLE_ASSERT(record->set_count >= 0 && (record->sets != NULL || record->set_count == 0));
    TREACLE_ASSERT(record->scene != NULL && record->film != NULL);
    json_t* object = record_object(record);
    char* text = object == NULL ? NULL : json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    if (text == NULL) {
        return check_fail(f->ctx, TREACLE_ERR_MEMORY,
                          "cannot write " FOLDER_RECORD
                          ": out of memory, or the scene's path is not valid UTF-8");
    }
    treacle_status status = folder_stage(f, FOLDER_RECORD, text, strlen(text));
    free(text);
    return status;
}

static treacle_status fail_damaged(const folder* f, const char* what) {
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_RECORD, path));
    return check_fail(f->ctx, TREACLE_ERR_FORMAT, "%s is damaged: %s", path, what);
}

static treacle_status load_root(const folder* f, json_t** out) {
    char path[FOLDER_PATH_CAPACITY];
    json_error_t error;
    TREACLE_TRY(folder_file(f, FOLDER_RECORD, path));
    FILE* file = NULL;
    TREACLE_TRY(folder_read(f, FOLDER_RECORD, &file));
    if (file == NULL) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE, "%s holds no run: it has no " FOLDER_RECORD,
                          f->path);
    }
    *out = json_loadf(file, 0, &error);
    fclose(file);
    if (*out == NULL && json_error_code(&error) == json_error_out_of_memory) {
        return check_fail(f->ctx, TREACLE_ERR_MEMORY, "cannot read %s: out of memory", path);
    }
    if (*out == NULL) {
        return check_fail(f->ctx, TREACLE_ERR_FORMAT, "%s is damaged: line %d: %s", path,
                          error.line, error.text);
    }
    return TREACLE_OK;
}

static treacle_status check_format(const folder* f, json_t* root) {
    int format = 0;
    const char* version = "";
    if (json_unpack(root, "{s:i, s:s}", "format", &format, "version", &version) != 0) {
        return fail_damaged(f, "it lacks \"format\" or \"version\"");
    }
    if (format != FORMAT) {
        return check_fail(f->ctx, TREACLE_ERR_VERSION,
                          "%s/" FOLDER_RECORD
                          " has format %d, by treacle %s; this treacle reads format %d",
                          f->path, format, version, FORMAT);
    }
    return TREACLE_OK;
}

static bool parse_hash(const char* text, uint64_t* out) {
    char* end = NULL;
    *out = strtoull(text, &end, 16);
    return strlen(text) == HASH_DIGITS && *end == '\0' && text[0] != '-';
}

static bool in_range(const run_record* record) {
    return record->frames >= 1 && record->frames <= FRAMES_MAX && record->preview_width >= 1 &&
           record->preview_width <= PIXELS_MAX && record->preview_height >= 1 &&
           record->preview_height <= PIXELS_MAX;
}

static treacle_status unpack_sets(const folder* f, json_t* sets, loaded_record* out) {
    size_t count = json_array_size(sets);
    void* block = NULL;
    TREACLE_TRY(alloc_array(f->ctx, count, sizeof(char*), "the settings of a run", &block));
    out->set_pointers = block;
    out->record.set_count = (int)count;
    out->record.sets = out->set_pointers;
    for (size_t k = 0; k < count; ++k) {
        out->set_pointers[k] = json_string_value(json_array_get(sets, k));
        if (out->set_pointers[k] == NULL) {
            return fail_damaged(f, "\"sets\" must be a list of texts");
        }
    }
    return TREACLE_OK;
}

static treacle_status unpack(const folder* f, json_t* root, loaded_record* out) {
    run_record* record = &out->record;
    const char* hash = "";
    json_t* sets = NULL;
    int preview = 0;
    json_int_t frames = 0;
    json_error_t error;
    int failed =
        json_unpack_ex(root, &error, 0, "{s:s, s:s, s:o, s:s, s:I, s:b, s:[i, i], s:s}", "version",
                       &record->version, "scene", &record->scene, "sets", &sets, "scene_hash",
                       &hash, "frames", &frames, "preview", &preview, "preview_size",
                       &record->preview_width, &record->preview_height, "film", &record->film);
    if (failed != 0) {
        return fail_damaged(f, error.text);
    }
    record->frames = (int64_t)frames;
    record->preview = preview != 0;
    if (!parse_hash(hash, &record->scene_hash) || !in_range(record)) {
        return fail_damaged(f, "a number in it is out of range");
    }
    return unpack_sets(f, sets, out);
}

treacle_status run_record_read(const folder* f, loaded_record* out) {
    *out = (loaded_record){0};
    json_t* root = NULL;
    TREACLE_TRY(load_root(f, &root));
    out->root = root;
    treacle_status status = check_format(f, root);
    if (status == TREACLE_OK) {
        status = unpack(f, root, out);
    }
    if (status != TREACLE_OK) {
        run_record_free(f, out);
    }
    return status;
}

void run_record_free(const folder* f, loaded_record* loaded) {
    if (loaded->set_pointers != NULL) {
        alloc_free(f->ctx, loaded->set_pointers, (size_t)loaded->record.set_count * sizeof(char*));
    }
    json_decref(loaded->root);
    *loaded = (loaded_record){0};
}
