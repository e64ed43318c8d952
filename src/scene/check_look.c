// Checks of look and camera, and the files that they name.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "math/suggest.h"
#include "scene/scene_internal.h"

treacle_status bind_file(binder* b, const bind_slot* slot) {
    const scene_node* node = slot->node;
    const char *path = NULL, *kept = NULL;
    if (node->kind != NODE_SCALAR || scene_node_is_null(node) || node->text[0] == '\0') {
        char quote[BIND_QUOTE_MAX];
        bind_quote(node, quote);
        return bind_error(b, node->place, slot->path, "expected the path of a file, got %s", quote);
    }
    const char* from = node->place.file->is_set ? "" : node->place.file->name;
    TREACLE_TRY(overlay_join_path(b->pool, from, node->text, &path));
    char* absolute = realpath(path, NULL);
    if (absolute == NULL) {
        return bind_error(b, node->place, slot->path, "cannot read the file %s: %s", path,
                          strerror(errno));
    }
    treacle_status status = scene_pool_text(b->pool, absolute, strlen(absolute), &kept);
    free(absolute);
    memcpy(slot->item + slot->key->offset, &kept, sizeof(kept));
    return status;
}

// Materials, solids and bodies are bound before the look: their names are known.
static bool has_material(const treacle_sim_def* sim, const char* name) {
    const treacle_material_def other = treacle_material_def_default(); // of a scene without any
    bool is_known = sim->material_count == 0 && strcmp(name, other.name) == 0;
    for (int i = 0; i < sim->material_count; ++i) {
        is_known = is_known || strcmp(name, sim->materials[i].name) == 0;
    }
    return is_known;
}

static bool has_solid(const treacle_sim_def* sim, const char* name) {
    bool is_known = false;
    for (int i = 0; i < sim->solid_count; ++i) {
        is_known =
            is_known || (sim->solids[i].name != NULL && strcmp(name, sim->solids[i].name) == 0);
    }
    for (int i = 0; i < sim->body_count; ++i) {
        is_known =
            is_known || (sim->bodies[i].name != NULL && strcmp(name, sim->bodies[i].name) == 0);
    }
    return is_known;
}

static treacle_status check_names(binder* b, const scene_node* map, const treacle_look_def* look,
                                  const schema_path* path) {
    const treacle_sim_def* sim = &b->root->sim;
    for (int i = 0; i < look->material_count; ++i) {
        if (!has_material(sim, look->materials[i].name)) {
            TREACLE_TRY(bind_error(b, bind_place(map, "materials"), path,
                                   "materials has a look for \"%s\", but the scene has no such "
                                   "material",
                                   look->materials[i].name));
        }
    }
    for (int i = 0; i < look->solid_count; ++i) {
        if (!has_solid(sim, look->solids[i].name)) {
            TREACLE_TRY(bind_error(b, bind_place(map, "solids"), path,
                                   "solids has a look for \"%s\", but the scene has no solid and "
                                   "no body of that name",
                                   look->solids[i].name));
        }
    }
    return TREACLE_OK;
}

// A texture needs particles that remember where they were born.
static void ask_for_rest(treacle_sim_def* sim, const treacle_look_def* look) {
    bool has_texture = look->liquid.texture != TREACLE_TEXTURE_NONE;
    for (int i = 0; i < look->material_count; ++i) {
        has_texture = has_texture || look->materials[i].texture != TREACLE_TEXTURE_NONE;
    }
    sim->particles.rest = sim->particles.rest || has_texture;
}

treacle_status bind_check_look(binder* b, const scene_node* map, void* item,
                               const schema_path* path) {
    const treacle_look_def* look = item;
    bool wants_file = look->environment == TREACLE_ENVIRONMENT_FILE;
    if (wants_file && look->file == NULL) {
        return bind_error(b, bind_place(map, "environment"), path,
                          "environment is `file`, but there is no key `file`");
    }
    if (!wants_file && look->file != NULL) {
        TREACLE_TRY(bind_warning(b, bind_place(map, "file"), path,
                                 "file is not used: environment is not `file`"));
    }
    ask_for_rest(&b->root->sim, look);
    return check_names(b, map, look, path);
}

treacle_status bind_check_camera(binder* b, const scene_node* map, void* item,
                                 const schema_path* path) {
    treacle_camera_def* camera = item;
    camera->eye_set = scene_node_find(map, "eye") != NULL;
    double apart = 0.0;
    for (int k = 0; k < 3; ++k) {
        apart += (camera->eye[k] - camera->target[k]) * (camera->eye[k] - camera->target[k]);
    }
    if (camera->eye_set && !(apart > 0.0)) {
        return bind_error(b, bind_place(map, "eye"), path, "eye and target are the same point");
    }
    for (int i = 1; i < camera->key_count; ++i) {
        if (!(camera->keys[i].time > camera->keys[i - 1].time)) {
            return bind_error(b, bind_place(map, "keys"), path,
                              "keys must be in the order of their times, but key %d is at %g s and "
                              "key %d at %g s",
                              i, camera->keys[i - 1].time, i + 1, camera->keys[i].time);
        }
    }
    return TREACLE_OK;
}
