// The zero surface of a VDB level set as a mesh.
#include "base/check.h"
#include "geometry/mesh_input.h"
#include "vdb/vdb_file.h"

static treacle_status add_all(const mesh_input* in, const vdb_mesh* mesh, mesh_builder* out) {
    const mesh_place nowhere = {.byte = 0};
    if (mesh->vertex_count > INT32_MAX) {
        return mesh_fail(in, nowhere, "%lld vertices are too many", (long long)mesh->vertex_count);
    }
    for (int64_t i = 0; i < mesh->vertex_count; ++i) {
        const float* v = mesh->vertices + 3 * i;
        vec3 x = {{(double)v[0], (double)v[1], (double)v[2]}};
        TREACLE_TRY(mesh_check_vertex(in, nowhere, x));
        TREACLE_TRY(mesh_builder_add_vertex(out, x));
    }
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        mesh_fan fan = {0};
        for (int c = 0; c < 3; ++c) {
            TREACLE_TRY(mesh_fan_add(&fan, out, mesh->triangles[3 * t + c]));
        }
    }
    return TREACLE_OK;
}

static treacle_status fail_file(const mesh_input* in, treacle_status status, const char* error) {
    return status == TREACLE_ERR_MEMORY
               ? check_fail(in->ctx, status, "%s: %s", in->name, error)
               : check_fail(in->ctx, status, "%s: not a VDB file of a level set: %s", in->name,
                            error);
}

treacle_status mesh_vdb_read(const mesh_input* in, mesh_builder* out) {
    char error[VDB_ERROR_MAX] = "";
    vdb_mesh mesh = {0};
    vdb_level level;
    treacle_status status = vdb_level_read(in->ctx, in->data, in->size, &level, error);
    if (status == TREACLE_OK) {
        int result = vdb_mesh_level(&level, &mesh, error);
        status = result == 0               ? TREACLE_OK
                 : result == VDB_NO_MEMORY ? TREACLE_ERR_MEMORY
                                           : TREACLE_ERR_FORMAT;
    }
    vdb_level_free(in->ctx, &level);
    status = status == TREACLE_OK ? add_all(in, &mesh, out) : fail_file(in, status, error);
    vdb_mesh_free(&mesh);
    return status;
}
