// The density of liquid on faces, from that of cells.
#pragma once

#include "grid/face_field.h"
#include "step/step_frame.h"

/// Over the reference, in the scratch arena; NULL where all densities are one and no emitter may
/// change that.
treacle_status face_density_find(const step_frame* f, const tile_map* map,
                                 const float* cell_density, face_field* out) TREACLE_NODISCARD;
