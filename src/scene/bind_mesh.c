// Mesh files: found from the place that names them, read once to see that they are right.
//
// The def holds the absolute path, so that the canonical text works from anywhere. The scene's hash
// takes in what the file holds, not where it is: a run is not resumed with another mesh.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "math/triangle_mesh.h"
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

static treacle_status take(binder* b, const bind_slot* slot, const char* path,
                           const triangle_mesh* mesh) {
    char warning[TRIANGLE_MESH_WARNING_MAX];
    b->mesh_hash = hash_combine(b->mesh_hash, mesh->hash);
    if (triangle_mesh_warning(mesh, warning)) {
        TREACLE_TRY(bind_warning(b, slot->node->place, slot->path, "%s: %s", path, warning));
    }
    return store_path(b, slot, path);
}

treacle_status bind_mesh(binder* b, const bind_slot* slot) {
    const scene_node* node = slot->node;
    const char* path = NULL;
    if (node->kind != NODE_SCALAR || scene_node_is_null(node) || node->text[0] == '\0') {
        char quote[BIND_QUOTE_MAX];
        bind_quote(node, quote);
        return bind_error(b, node->place, slot->path,
                          "expected the path of a .ply, .obj, .stl, .gltf or .glb file, got %s",
                          quote);
    }
    const char* from = node->place.file->is_set ? "" : node->place.file->name;
    TREACLE_TRY(overlay_join_path(b->pool, from, node->text, &path));
    triangle_mesh* mesh = NULL;
    treacle_status status = triangle_mesh_load(b->ctx, path, &mesh);
    if (status == TREACLE_ERR_MEMORY) {
        return status;
    }
    status = status == TREACLE_OK
                 ? take(b, slot, path, mesh)
                 : bind_error(b, node->place, slot->path, "%s", treacle_context_error(b->ctx));
    triangle_mesh_destroy(mesh);
    return status;
}
