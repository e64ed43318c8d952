// Level sets from VDB files. OpenVDB's own reader believes what a file says of its sizes and writes
// beyond its memory where they are wrong; this one holds each of them against what is there.
//
// It reads trees of floats in 32, 16 and 8 voxels a side, format 222 on (OpenVDB 3, 2014), as
// floats or halves, plain, zipped or by Blosc.
#pragma once

#include "base/context.h"
#include "vdb/vdb.h"

enum { VDB_FORMAT_LEAST = 222, VDB_FORMAT_MOST = 224 };

/// The first level set of the file's bytes. ERR_FORMAT, or ERR_MEMORY; the sentence is in `error`.
/// Free with vdb_level_free, whatever came of it.
treacle_status vdb_level_read(treacle_context* ctx, const uint8_t* bytes, size_t size,
                              vdb_level* out, char error[VDB_ERROR_MAX]) TREACLE_NODISCARD;
void vdb_level_free(treacle_context* ctx, vdb_level* level);
