// VTK's XML files with appended raw data: first all elements with offsets, then all bytes.
#pragma once

#include "export/export_stream.h"

typedef struct vtk_writer {
    export_stream* stream;
    uint64_t offset; // of the next array in the appended data
} vtk_writer;

/// <DataArray .../> of that many bytes. `type` is "Float32" and so on; `name` may be NULL.
void vtk_put_array(vtk_writer* w, const char* type, const char* name, int components,
                   uint64_t bytes);
void vtk_begin(vtk_writer* w, const char* kind);
/// From here on: for each array, in order, its bytes as u64, then the bytes.
void vtk_begin_data(vtk_writer* w, const char* kind);
void vtk_end(vtk_writer* w);
