// What the library says of VDB files where OpenVDB is not installed.
#ifndef TREACLE_HAS_OPENVDB

#include <stdio.h>

#include "vdb/vdb.h"

static int vdb_absent_refuse(char error[VDB_ERROR_MAX]) {
    snprintf(error, VDB_ERROR_MAX, "this build has no OpenVDB");
    return -1;
}

int vdb_is_there(void) {
    return 0;
}

int vdb_write_volume(const vdb_volume* volume, const char* path, char error[VDB_ERROR_MAX]) {
    (void)volume;
    (void)path;
    return vdb_absent_refuse(error);
}

int vdb_write_points(const vdb_points* points, const char* path, char error[VDB_ERROR_MAX]) {
    (void)points;
    (void)path;
    return vdb_absent_refuse(error);
}

int vdb_mesh_level(const vdb_level* level, vdb_mesh* out, char error[VDB_ERROR_MAX]) {
    (void)level;
    *out = (vdb_mesh){0};
    return vdb_absent_refuse(error);
}

void vdb_mesh_free(vdb_mesh* mesh) {
    *mesh = (vdb_mesh){0};
}

#else
typedef int vdb_absent_is_empty; // a file must not be
#endif
