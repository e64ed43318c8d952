// Any bytes through a reader of meshes: they are a mesh or they are refused, nothing leaks, and
// what is a mesh has indices that exist and answers questions with numbers.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh_tree.h"

static inline void mesh_check_that(bool holds) {
    if (!holds) {
        abort();
    }
}

static inline void mesh_check_silent(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static inline void mesh_check_questions(const triangle_mesh* mesh) {
    mesh_tree* tree = NULL;
    mesh_check_that(mesh->triangle_count > 0 && mesh->volume >= 0.0);
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            int32_t at = mesh->triangles[i].at[k];
            mesh_check_that(at >= 0 && at < mesh->vertex_count);
        }
    }
    mesh_check_that(mesh_tree_create(mesh, &tree) == TREACLE_OK);
    mesh_check_that(!isnan(mesh_tree_distance(tree, mesh->bounds.low)));
    mesh_check_that(!isnan(mesh_tree_distance(tree, vec3_make(0.5, -0.25, 0.125))));
    mesh_tree_destroy(tree);
}

static inline void mesh_check_bytes(mesh_read_fcn* reader, const uint8_t* data, size_t size) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = mesh_check_silent;
    treacle_context* ctx = NULL;
    if (treacle_context_create(&def, &ctx) != TREACLE_OK) {
        return;
    }
    triangle_mesh* mesh = NULL;
    mesh_input in = {.ctx = ctx, .name = "/nowhere/fuzz", .data = data, .size = size};
    treacle_status status = triangle_mesh_read(&in, reader, &mesh);
    mesh_check_that(status == TREACLE_OK || status == TREACLE_ERR_FORMAT ||
                    status == TREACLE_ERR_IO); // of a file that it names
    if (status == TREACLE_OK) {
        mesh_check_questions(mesh);
    }
    // Nothing is allocated beyond what the file's size allows.
    mesh_check_that(treacle_context_memory_peak(ctx) < 65536 + 4096 * size);
    triangle_mesh_destroy(mesh);
    mesh_check_that(treacle_context_memory(ctx) == 0);
    treacle_context_destroy(ctx);
}
