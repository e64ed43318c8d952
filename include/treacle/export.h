// Frames as files of other programs. docs/formats/export.md has the names of attributes and grids.
#pragma once

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum treacle_export_format {
    TREACLE_EXPORT_PLY,  ///< surface, particles
    TREACLE_EXPORT_OBJ,  ///< surface, particles
    TREACLE_EXPORT_VTK,  ///< surface and particles (.vtp), volume (.vti)
    TREACLE_EXPORT_USD,  ///< surface, particles: all frames in one .usda
    TREACLE_EXPORT_BGEO, ///< surface, particles
    TREACLE_EXPORT_GLB,  ///< surface, particles
    TREACLE_EXPORT_VDB,  ///< volume, particles; ERR_UNSUPPORTED in a build without OpenVDB
} treacle_export_format;

typedef enum treacle_export_what {
    TREACLE_EXPORT_SURFACE,
    TREACLE_EXPORT_PARTICLES,
    TREACLE_EXPORT_VOLUME,
} treacle_export_what;

typedef struct treacle_export_def {
    size_t def_size; ///< set by treacle_export_def_default(), checked on entry
    treacle_export_format format;
    treacle_export_what what;
    bool is_z_up;          ///< (x, y, z) becomes (x, -z, y)
    const char* folder;    ///< must be there
    const char* name;      ///< of the files, NULL: surface, particles or volume
    treacle_mesh_def mesh; ///< how the surface is drawn
} treacle_export_def;

TREACLE_API treacle_export_def treacle_export_def_default(void);

/// Writes folder/name_0001.ending and so on, or folder/name.usda; beside VTK files folder/name.pvd,
/// which tells their times.
typedef struct treacle_exporter treacle_exporter;

TREACLE_API treacle_status treacle_exporter_create(treacle_context* ctx,
                                                   const treacle_export_def* def,
                                                   treacle_exporter** out);
/// Frames come in increasing order of their numbers. Each file is written as a whole or not at all.
/// Arrays that the frame may bring beside its own, see treacle_frame_dress(): `viscosity`,
/// `density`, `colour`.
TREACLE_API treacle_status treacle_exporter_add(treacle_exporter* exporter,
                                                const treacle_frame* frame);
/// Completes what spans all frames. Without it, a file of all frames does not appear.
TREACLE_API treacle_status treacle_exporter_finish(treacle_exporter* exporter);
/// The file that was written last, "" if none; valid until the next call.
TREACLE_API const char* treacle_exporter_path(const treacle_exporter* exporter);
/// Points and triangles, or voxels and grids, of the frame that was added last.
TREACLE_API void treacle_exporter_counts(const treacle_exporter* exporter, int64_t out[2]);
/// Accepts NULL.
TREACLE_API void treacle_exporter_destroy(treacle_exporter* exporter);

#ifdef __cplusplus
}
#endif
