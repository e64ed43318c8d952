#include "scene/scene_diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

void scene_diags_init(scene_diags* diags, scene_pool* pool) {
    *diags = (scene_diags){.pool = pool};
}

void scene_diags_finish(scene_diags* diags) {
    if (diags->item != NULL) {
        alloc_free(diags->pool->ctx, diags->item, (size_t)diags->capacity * sizeof(scene_diag));
    }
    diags->item = NULL;
}

static bool is_same_place(const scene_place* a, const scene_place* b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

static bool is_known(const scene_diags* diags, scene_place place, const char* sentence) {
    for (int i = 0; i < diags->count; ++i) {
        const scene_diag* known = &diags->item[i];
        if (is_same_place(&known->place, &place) && strcmp(known->text, sentence) == 0) {
            return true;
        }
    }
    return false;
}

static treacle_status scene_diag_reserve(scene_diags* diags) {
    if (diags->count < diags->capacity) {
        return TREACLE_OK;
    }
    int capacity = diags->capacity == 0 ? 16 : 2 * diags->capacity;
    void* block = diags->item;
    TREACLE_TRY(alloc_resize(diags->pool->ctx, &block, (size_t)diags->capacity, (size_t)capacity,
                             sizeof(scene_diag), "scene diagnostics"));
    diags->item = block;
    diags->capacity = capacity;
    return TREACLE_OK;
}

treacle_status scene_diag_add(scene_diags* diags, treacle_log_level level, scene_place place,
                              const char* sentence) {
    TREACLE_ASSERT(sentence != NULL && place.file != NULL);
    TREACLE_ASSERT(diags->pool != NULL);
    diags->errors += level == TREACLE_LOG_ERROR;
    if (is_known(diags, place, sentence) || diags->count >= SCENE_DIAG_MAX) {
        return TREACLE_OK;
    }
    const char* copy = NULL;
    TREACLE_TRY(scene_diag_reserve(diags));
    TREACLE_TRY(scene_pool_text(diags->pool, sentence, strlen(sentence), &copy));
    diags->item[diags->count] =
        (scene_diag){.level = level, .place = place, .number = diags->count, .text = copy};
    diags->count += 1;
    return TREACLE_OK;
}

treacle_status scene_diag_error(scene_diags* diags, scene_place place, const char* format, ...) {
    text t;
    text_init(&t, diags->pool->ctx);
    va_list args;
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = scene_diag_add(diags, TREACLE_LOG_ERROR, place, t.at);
    }
    text_finish(&t);
    return status;
}

static int compare(const void* left, const void* right) {
    const scene_diag* a = left;
    const scene_diag* b = right;
    int keys[4][2] = {{a->place.file->order, b->place.file->order},
                      {a->place.line, b->place.line},
                      {a->place.column, b->place.column},
                      {a->number, b->number}};
    for (int i = 0; i < 4; ++i) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

void scene_diags_sort(scene_diags* diags) {
    if (diags->count > 1) {
        qsort(diags->item, (size_t)diags->count, sizeof(scene_diag), compare);
    }
}

treacle_diagnostic scene_diag_show(const scene_diag* diag) {
    TREACLE_ASSERT(diag->place.file != NULL);
    bool has_line = !diag->place.file->is_set;
    return (treacle_diagnostic){
        .level = diag->level,
        .file = diag->place.file->name,
        .line = has_line ? diag->place.line : 0,
        .column = has_line ? diag->place.column : 0,
        .text = diag->text,
    };
}

static void append_line(text* t, const scene_diag* diag) {
    treacle_diagnostic d = scene_diag_show(diag);
    text_append(t, d.file);
    if (d.line > 0) {
        text_printf(t, ":%d:%d", d.line, d.column);
    }
    const char* kind = d.level == TREACLE_LOG_ERROR     ? "error"
                       : d.level == TREACLE_LOG_WARNING ? "warning"
                                                        : "note";
    text_printf(t, ": %s: %s\n", kind, d.text);
}

treacle_status scene_diags_report(const scene_diags* diags, const char** out) {
    text t;
    text_init(&t, diags->pool->ctx);
    for (int i = 0; i < diags->count; ++i) {
        append_line(&t, &diags->item[i]);
    }
    if (diags->count >= SCENE_DIAG_MAX) {
        text_printf(&t, "only the first %d messages are shown\n", diags->count);
    }
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = scene_pool_text(diags->pool, t.at, t.length, out);
    }
    text_finish(&t);
    return status;
}
