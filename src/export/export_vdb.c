// Volumes and particles as VDB files.
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "export/export_volume.h"
#include "vdb/vdb.h"

typedef int write_fcn(const void* what, const char* path, char error[VDB_ERROR_MAX]);

static int write_volume(const void* what, const char* path, char error[VDB_ERROR_MAX]) {
    return vdb_write_volume(what, path, error);
}

static int write_points(const void* what, const char* path, char error[VDB_ERROR_MAX]) {
    return vdb_write_points(what, path, error);
}

static treacle_status write_atomic(treacle_context* ctx, write_fcn* write, const void* what,
                                   const char* path) {
    char error[VDB_ERROR_MAX];
    char* temporary = NULL;
    if (!vdb_is_there()) {
        return check_fail(ctx, TREACLE_ERR_UNSUPPORTED,
                          "%s: this build has no OpenVDB; build it again with libopenvdb-dev "
                          "installed",
                          path);
    }
    TREACLE_TRY(atomic_file_temporary(ctx, path, &temporary));
    treacle_status status = TREACLE_OK;
    int result = write(what, temporary, error);
    if (result == 0) {
        status = atomic_file_publish(ctx, temporary, path);
    } else {
        unlink(temporary);
        status = check_fail(ctx, result == VDB_NO_MEMORY ? TREACLE_ERR_MEMORY : TREACLE_ERR_IO,
                            "%s: cannot write: %s", path, error);
    }
    alloc_free_text(ctx, temporary);
    return status;
}

treacle_status export_write_vdb(const export_volume* v, double surface_voxel, const char* path) {
    TREACLE_ASSERT(v->surface != NULL);
    vdb_field fields[3];
    int count = 0;
    if (v->value[VOLUME_VELOCITY_X] != NULL) {
        vdb_field* f = &fields[count++];
        *f = (vdb_field){.name = "vel", .components = 3};
        for (int k = 0; k < 3; ++k) {
            f->value[k] = v->value[VOLUME_VELOCITY_X + k];
            f->weight[k] = v->weight[VOLUME_VELOCITY_X + k];
        }
    }
    fields[count++] = (vdb_field){"density",
                                  1,
                                  {v->value[VOLUME_DENSITY], NULL, NULL},
                                  {v->weight[VOLUME_DENSITY], NULL, NULL}};
    if (v->value[VOLUME_TEMPERATURE] != NULL) {
        fields[count++] = (vdb_field){"temperature",
                                      1,
                                      {v->value[VOLUME_TEMPERATURE], NULL, NULL},
                                      {v->weight[VOLUME_TEMPERATURE], NULL, NULL}};
    }
    vdb_volume volume = {
        .origin = {v->origin[0], v->origin[1], v->origin[2]},
        .cell = v->cell,
        .tile_count = v->tile_count,
        .tile = (const int32_t(*)[3])v->tile,
        .field_count = count,
        .fields = fields,
        .vertex_count = v->surface->point_count,
        .triangle_count = v->surface->triangle_count,
        .vertices = v->surface->value[EXPORT_POSITION],
        .triangles = v->surface->triangles,
        .surface_voxel = surface_voxel,
    };
    return write_atomic(v->ctx, write_volume, &volume, path);
}

treacle_status export_write_vdb_points(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count >= 0 && g->triangles == NULL);
    vdb_point_column columns[EXPORT_ATTRIBUTE_COUNT];
    int count = 0;
    for (int a = EXPORT_POSITION + 1; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            columns[count++] = (vdb_point_column){export_attributes[a].bgeo,
                                                  export_attributes[a].components, g->value[a]};
        }
    }
    // Voxels of a few particles each.
    const float* radius = g->value[EXPORT_PSCALE];
    vdb_points points = {
        .count = g->point_count,
        .position = g->value[EXPORT_POSITION],
        .id = g->id,
        .column_count = count,
        .columns = columns,
        .voxel = g->point_count > 0 && radius[0] > 0.0f ? 4.0 * (double)radius[0] : 1.0,
    };
    return write_atomic(g->ctx, write_points, &points, path);
}
