// glTF, through Assimp where it is installed. Nothing else is read through it.
//
// All nodes' transforms are applied and all triangles of all meshes put together; units are metres
// and y is up, as here. Buffers may lie in files beside the mesh.
#include <string.h>

#include "base/check.h"
#include "geometry/mesh_input.h"

#ifdef TREACLE_HAS_ASSIMP

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

static treacle_status add_mesh(const mesh_input* in, const struct aiMesh* mesh, mesh_builder* out) {
    const size_t first = out->vertex_count;
    for (unsigned i = 0; i < mesh->mNumVertices; ++i) {
        const struct aiVector3D* v = &mesh->mVertices[i];
        vec3 x = {{(double)v->x, (double)v->y, (double)v->z}};
        TREACLE_TRY(mesh_check_vertex(in, (mesh_place){.byte = 0}, x));
        TREACLE_TRY(mesh_builder_add_vertex(out, x));
    }
    for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
        const struct aiFace* face = &mesh->mFaces[i];
        mesh_fan fan = {0};
        for (unsigned k = 0; face->mNumIndices >= 3 && k < face->mNumIndices; ++k) {
            if (face->mIndices[k] >= mesh->mNumVertices) {
                return mesh_fail(in, (mesh_place){.byte = 0}, "vertex %u of %u in a triangle",
                                 face->mIndices[k], mesh->mNumVertices);
            }
            TREACLE_TRY(mesh_fan_add(&fan, out, (int32_t)(first + face->mIndices[k])));
        }
    }
    return TREACLE_OK;
}

static treacle_status add_meshes(const mesh_input* in, const struct aiScene* scene,
                                 mesh_builder* out) {
    size_t vertices = 0;
    for (unsigned i = 0; i < scene->mNumMeshes; ++i) {
        vertices += scene->mMeshes[i]->mNumVertices;
    }
    if (vertices > INT32_MAX) {
        return mesh_fail(in, (mesh_place){.byte = 0}, "%zu vertices are too many", vertices);
    }
    for (unsigned i = 0; i < scene->mNumMeshes; ++i) {
        TREACLE_TRY(add_mesh(in, scene->mMeshes[i], out));
    }
    return TREACLE_OK;
}

treacle_status mesh_gltf_read(const mesh_input* in, mesh_builder* out) {
    const struct aiScene* scene =
        aiImportFile(in->name, aiProcess_Triangulate | aiProcess_PreTransformVertices);
    if (scene == NULL) {
        return mesh_fail(in, (mesh_place){.byte = 0}, "Assimp cannot read it: %s",
                         aiGetErrorString());
    }
    treacle_status status = add_meshes(in, scene, out);
    aiReleaseImport(scene);
    return status;
}

#else

treacle_status mesh_gltf_read(const mesh_input* in, mesh_builder* out) {
    (void)out;
    return check_fail(in->ctx, TREACLE_ERR_FORMAT,
                      "%s: this build reads no glTF, since it was made without Assimp "
                      "(libassimp-dev): save the mesh as .ply, .obj or .stl",
                      in->name);
}

#endif
