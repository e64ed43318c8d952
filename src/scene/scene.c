// The public door: text in, a scene with its defs or with its diagnostics out.
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "scene/scene_internal.h"

enum { NAME_MAX_LENGTH = 64 };

treacle_status scene_locale_begin(treacle_context* ctx, scene_locale* out) {
    out->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (out->c == (locale_t)0) {
        return check_fail(ctx, TREACLE_ERR_MEMORY, "out of memory for the C locale");
    }
    out->before = uselocale(out->c);
    return TREACLE_OK;
}

void scene_locale_end(const scene_locale* locale) {
    uselocale(locale->before);
    freelocale(locale->c);
}

// What a scene is made from.
typedef struct scene_source {
    const char* name;
    const char* chars; // NULL: the file `name`
    size_t length;
    int set_count;
    const char* const* sets;
    overlay_text look; // look and camera that are laid over the scene; no path: none
} scene_source;

// A name for files from the scene's path: its stem, with '_' for what does not belong there.
static treacle_status default_name(treacle_scene* scene, const char* path, const char** out) {
    const char* slash = strrchr(path, '/');
    const char* base = slash == NULL ? path : slash + 1;
    const char* dot = strrchr(base, '.');
    size_t length = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
    char name[NAME_MAX_LENGTH + 1] = "scene";
    length = length > NAME_MAX_LENGTH ? NAME_MAX_LENGTH : length;
    for (size_t i = 0; i < length; ++i) {
        bool is_safe = isalnum((unsigned char)base[i]) || (i > 0 && strchr("-.", base[i]) != NULL);
        name[i] = is_safe ? base[i] : '_';
        name[i + 1] = '\0';
    }
    return scene_pool_text(&scene->pool, name, strlen(name), out);
}

static treacle_status bind(treacle_scene* scene, const scene_source* source,
                           const scene_node* tree) {
    binder b = {.ctx = scene->ctx,
                .pool = &scene->pool,
                .diags = &scene->diags,
                .root = &scene->root,
                .flat_axis = -1};
    schema_root.init(&scene->root);
    TREACLE_TRY(default_name(scene, source->name, &scene->root.output.name));
    TREACLE_TRY(bind_section(&b, &schema_root, tree, &scene->root, NULL));
    scene->mesh_hash = b.mesh_hash;
    return TREACLE_OK;
}

static treacle_status read_all(treacle_scene* scene, const scene_source* source) {
    overlay o = {.ctx = scene->ctx, .reader = {.pool = &scene->pool, .diags = &scene->diags}};
    scene_node* tree = NULL;
    TREACLE_TRY(source->chars == NULL
                    ? overlay_load(&o, source->name, &tree)
                    : overlay_parse(&o, source->name, source->chars, source->length, &tree));
    if (o.is_broken || tree == NULL) {
        return TREACLE_OK;
    }
    if (source->look.path != NULL) {
        TREACLE_TRY(overlay_look(&o, &source->look, tree));
    }
    if (o.is_broken) {
        return TREACLE_OK;
    }
    for (int i = 0; i < source->set_count; ++i) {
        TREACLE_TRY(overlay_set(&o, tree, source->sets[i]));
    }
    TREACLE_VALIDATE(scene_node_is_valid(tree));
    return bind(scene, source, tree);
}

// Where meshes lie does not count, what is in them does.
static treacle_status hash_scene(treacle_scene* scene) {
    text t;
    text_init(&t, scene->ctx);
    scene_print(&t, &scene->root, false);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        uint64_t hash = hash_bytes(t.at, t.length, 0);
        scene->hash = scene->mesh_hash == 0 ? hash : hash_combine(hash, scene->mesh_hash);
    }
    text_finish(&t);
    return status;
}

static treacle_status scene_finish(treacle_scene* scene) {
    scene_diags_sort(&scene->diags);
    TREACLE_TRY(scene_diags_report(&scene->diags, &scene->report));
    scene->text = "";
    if (scene->diags.errors > 0) {
        return TREACLE_OK;
    }
    text t;
    text_init(&t, scene->ctx);
    scene_print(&t, &scene->root, true);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = scene_pool_text(&scene->pool, t.at, t.length, &scene->text);
    }
    text_finish(&t);
    return status == TREACLE_OK ? hash_scene(scene) : status;
}

static treacle_status make(treacle_context* ctx, const scene_source* source, treacle_scene** out) {
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_scene), "a scene", &block));
    treacle_scene* scene = block;
    scene->ctx = ctx;
    scene_pool_init(&scene->pool, ctx);
    scene_diags_init(&scene->diags, &scene->pool);
    treacle_status status = read_all(scene, source);
    if (status == TREACLE_OK) {
        status = scene_finish(scene);
    }
    if (status != TREACLE_OK) {
        treacle_scene_destroy(scene);
        return status;
    }
    *out = scene;
    int errors = scene->diags.errors;
    return errors == 0 ? TREACLE_OK
                       : check_fail(ctx, TREACLE_ERR_SCENE, "the scene %s has %d error%s",
                                    source->name, errors, errors == 1 ? "" : "s");
}

static treacle_status make_in_c_locale(treacle_context* ctx, const scene_source* source,
                                       treacle_scene** out) {
    scene_locale locale = {0};
    *out = NULL;
    TREACLE_TRY(scene_locale_begin(ctx, &locale));
    treacle_status status = make(ctx, source, out);
    scene_locale_end(&locale);
    return status;
}

treacle_status treacle_scene_load(treacle_context* ctx, const char* path, int set_count,
                                  const char* const* sets, treacle_scene** out) {
    scene_source source = {.name = path, .set_count = set_count, .sets = sets};
    return make_in_c_locale(ctx, &source, out);
}

treacle_status treacle_scene_load_look(treacle_context* ctx, const treacle_scene_files* files,
                                       treacle_scene** out) {
    scene_source source = {.name = files->scene,
                           .set_count = files->set_count,
                           .sets = files->sets,
                           .look = {files->look, files->look_text, files->look_length}};
    return make_in_c_locale(ctx, &source, out);
}

treacle_status treacle_scene_parse(treacle_context* ctx, const char* name, const char* chars,
                                   size_t length, int set_count, const char* const* sets,
                                   treacle_scene** out) {
    scene_source source = {.name = name,
                           .chars = chars == NULL ? "" : chars,
                           .length = length,
                           .set_count = set_count,
                           .sets = sets};
    return make_in_c_locale(ctx, &source, out);
}

void treacle_scene_destroy(treacle_scene* scene) {
    if (scene == NULL) {
        return;
    }
    scene_diags_finish(&scene->diags);
    scene_pool_finish(&scene->pool);
    alloc_free(scene->ctx, scene, sizeof(*scene));
}

int treacle_scene_diagnostic_count(const treacle_scene* scene) {
    return scene->diags.count;
}

treacle_diagnostic treacle_scene_diagnostic(const treacle_scene* scene, int index) {
    TREACLE_ASSERT(index >= 0 && index < scene->diags.count);
    return scene_diag_show(&scene->diags.item[index]);
}

const char* treacle_scene_report(const treacle_scene* scene) {
    return scene->report;
}

const treacle_sim_def* treacle_scene_sim(const treacle_scene* scene) {
    return &scene->root.sim;
}

const treacle_output_def* treacle_scene_output(const treacle_scene* scene) {
    return &scene->root.output;
}

const treacle_look_def* treacle_scene_look(const treacle_scene* scene) {
    return &scene->root.look;
}

const treacle_camera_def* treacle_scene_camera(const treacle_scene* scene) {
    return &scene->root.camera;
}

const char* treacle_scene_text(const treacle_scene* scene) {
    return scene->text;
}

uint64_t treacle_scene_hash(const treacle_scene* scene) {
    return scene->hash;
}
