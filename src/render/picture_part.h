// Pictures that were ended early, kept in a file to go on with later.
//
// The file is for the same program on the same machine: a line that names it, a hash of all that
// the picture shows, its size, the samples that are done, and the sums of its pixels as they lie in
// memory. A file that belongs to something else is as good as none.
#pragma once

#include "render/trace_image.h"
#include "render/trace_stage.h"

/// Of the surface, the solids' looks, the light and the camera; not of how good it shall become.
uint64_t picture_part_hash(const trace_stage* s);
/// Fills the image, fresh or not, if the file is there and fits.
void picture_part_read(const char* path, uint64_t hash, trace_image* image);
treacle_status picture_part_write(const char* path, uint64_t hash,
                                  const trace_image* image) TREACLE_NODISCARD;
