// Mesh files: found from the place that names them, read once to see that they are right.
//
// The def holds the absolute path, so that the canonical text works from anywhere. The scene's hash
// takes in what the file holds, not where it is: a run is not resumed with another mesh.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "geometry/mesh_sequence.h"
#include "scene/scene_internal.h"

static treacle_status store_path(binder* b, const bind_slot* slot, const char* path) {
    char* absolute = realpath(path, NULL);
    if (absolute == NULL) {
        return bind_error(b, slot->node->place, slot->path, "cannot read the mesh %s: %s", path,
                          strerror(errno));
    }
    const char* kept = NULL;
    treacle_status status = scene_pool_text(b->pool, absolute, strlen(absolute), &kept);
    free(absolute);
    memcpy(slot->item + slot->key->offset, &kept, sizeof(kept));
    return status;
}

// A sequence is a pattern of names: only its folder can be looked for here.
static treacle_status store_pattern(binder* b, const bind_slot* slot, const char* path) {
    const char *slash = strrchr(path, '/'), *folder = ".", *kept = NULL;
    if (slash != NULL) {
        TREACLE_TRY(scene_pool_text(b->pool, path, (size_t)(slash - path) + 1, &folder));
    }
    char* absolute = realpath(folder, NULL);
    if (absolute == NULL) {
        return bind_error(b, slot->node->place, slot->path, "cannot read the meshes %s: %s", path,
                          strerror(errno));
    }
    char joined[MESH_SEQUENCE_PATH_MAX];
    int length =
        snprintf(joined, sizeof(joined), "%s/%s", absolute, slash == NULL ? path : slash + 1);
    free(absolute);
    if (length >= (int)sizeof(joined)) {
        return bind_error(b, slot->node->place, slot->path, "the path is too long");
    }
    TREACLE_TRY(scene_pool_text(b->pool, joined, (size_t)length, &kept));
    memcpy(slot->item + slot->key->offset, &kept, sizeof(kept));
    return TREACLE_OK;
}

static treacle_status bind_mesh_take(binder* b, const bind_slot* slot, const char* path,
                                     const triangle_mesh* mesh) {
    char warning[TRIANGLE_MESH_WARNING_MAX];
    b->mesh_hash = hash_combine(b->mesh_hash, mesh->hash);
    if (triangle_mesh_warning(mesh, warning)) {
        TREACLE_TRY(bind_warning(b, slot->node->place, slot->path, "%s: %s", path, warning));
    }
    return store_path(b, slot, path);
}

static treacle_status find_path(binder* b, const scene_node* node, const char** out) {
    const char* from = node->place.file->is_set ? "" : node->place.file->name;
    return overlay_join_path(b->pool, from, node->text, out);
}

treacle_status bind_mesh(binder* b, const bind_slot* slot) {
    const scene_node* node = slot->node;
    const char* path = NULL;
    if (node->kind != NODE_SCALAR || scene_node_is_null(node) || node->text[0] == '\0') {
        char quote[BIND_QUOTE_MAX];
        bind_quote(node, quote);
        return bind_error(
            b, node->place, slot->path,
            "expected the path of a .ply, .obj, .stl, .gltf, .glb or .vdb file, got %s", quote);
    }
    TREACLE_TRY(find_path(b, node, &path));
    if (strchr(node->text, '#') != NULL) {
        return store_pattern(b, slot, path);
    }
    triangle_mesh* mesh = NULL;
    treacle_status status = triangle_mesh_load(b->ctx, path, &mesh);
    if (status == TREACLE_ERR_MEMORY) {
        return status;
    }
    status = status == TREACLE_OK
                 ? bind_mesh_take(b, slot, path, mesh)
                 : bind_error(b, node->place, slot->path, "%s", treacle_context_error(b->ctx));
    triangle_mesh_destroy(mesh);
    return status;
}

// --- sequences ----------------------------------------------------------------------------------

static treacle_status check_keys(binder* b, const scene_node* map, bool is_sequence,
                                 const schema_path* path) {
    static const char* const keys[] = {"last", "fps", "first", "start", "repeat"};
    for (int i = 0; i < (int)(sizeof(keys) / sizeof(keys[0])); ++i) {
        bool is_given = scene_node_find(map, keys[i]) != NULL, is_needed = i < 2;
        if (is_sequence && is_needed && !is_given) {
            TREACLE_TRY(bind_error(b, bind_place(map, "file"), path,
                                   "the file has a # in the place of a number, so it is a sequence "
                                   "of meshes: the key '%s' is missing",
                                   keys[i]));
        } else if (!is_sequence && is_given) {
            TREACLE_TRY(bind_error(b, bind_place(map, keys[i]), path,
                                   "'%s' is for a sequence of meshes, and the file has no # in the "
                                   "place of a number, as in wave_####.ply",
                                   keys[i]));
        }
    }
    return TREACLE_OK;
}

treacle_status bind_check_mesh(binder* b, const scene_node* map, void* item,
                               const schema_path* path) {
    const shape_spec* spec = item;
    const scene_node* file = scene_node_find(map, "file");
    if (file == NULL || spec->file == NULL || file->kind != NODE_SCALAR) {
        return TREACLE_OK;
    }
    const int errors = b->diags->errors;
    bool is_sequence = strchr(file->text, '#') != NULL;
    TREACLE_TRY(check_keys(b, map, is_sequence, path));
    if (!is_sequence || b->diags->errors != errors) {
        return TREACLE_OK;
    }
    mesh_sequence* seq = NULL;
    const char* pattern = NULL;
    TREACLE_TRY(find_path(b, file, &pattern));
    treacle_status status = mesh_sequence_load(b->ctx, pattern, &spec->frames, &seq);
    if (status == TREACLE_ERR_MEMORY) {
        return status;
    }
    if (status != TREACLE_OK) {
        return bind_error(b, file->place, path, "%s", treacle_context_error(b->ctx));
    }
    char warning[TRIANGLE_MESH_WARNING_MAX];
    b->mesh_hash = hash_combine(b->mesh_hash, seq->hash);
    bool is_worth = triangle_mesh_warning(seq->first, warning);
    mesh_sequence_destroy(seq);
    return is_worth ? bind_warning(b, file->place, path, "%s: %s", pattern, warning) : TREACLE_OK;
}
