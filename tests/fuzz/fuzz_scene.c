// Any bytes as a scene: it loads or it is refused, nothing leaks, and what loads loads again from
// its canonical text, to the same hash. Files are out of reach: a scene in memory cannot include.
#include <stdlib.h>
#include <string.h>

#include "treacle/treacle.h"

static void drop_message(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static treacle_context* make_context(void) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = drop_message;
    treacle_context* ctx = NULL;
    return treacle_context_create(&def, &ctx) == TREACLE_OK ? ctx : NULL;
}

static void check_round_trip(treacle_context* ctx, const treacle_scene* scene) {
    const char* text = treacle_scene_text(scene);
    treacle_scene* again = NULL;
    if (treacle_scene_parse(ctx, "again", text, strlen(text), 0, NULL, &again) != TREACLE_OK ||
        treacle_scene_hash(again) != treacle_scene_hash(scene)) {
        abort();
    }
    treacle_scene_destroy(again);
}

// The first line of the input, if it begins with '!', is a setting.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    treacle_context* ctx = make_context();
    char setting[128] = "";
    const char* sets[1] = {setting};
    int set_count = 0;
    const uint8_t* end = size > 0 && data[0] == '!' ? memchr(data, '\n', size) : NULL;
    if (end != NULL && (size_t)(end - data) < sizeof(setting)) {
        memcpy(setting, data + 1, (size_t)(end - data) - 1);
        set_count = 1;
        size -= (size_t)(end - data) + 1;
        data = end + 1;
    }
    treacle_scene* scene = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "fuzz.yaml", (const char*)data, size, set_count, sets, &scene);
    if (scene == NULL || (status != TREACLE_OK && status != TREACLE_ERR_SCENE)) {
        abort();
    }
    if (status == TREACLE_OK) {
        check_round_trip(ctx, scene);
    }
    treacle_scene_destroy(scene);
    if (treacle_context_memory(ctx) != 0) {
        abort();
    }
    treacle_context_destroy(ctx);
    return 0;
}
