// Fields of a flow: room in the scratch arena, copies, and velocity of other places and times.
#pragma once

#include "step/flow.h"
#include "step/viscosity_grid.h"

/// Values of a field, dummy tile included.
static inline size_t flow_values(const flow_inputs* in) {
    return ((size_t)in->wet.map->count + 1) * TILE_CELLS;
}
/// Not initialised.
treacle_status flow_take(const flow_inputs* in, const char* what, float** out) TREACLE_NODISCARD;
treacle_status flow_take_faces(const flow_inputs* in, const char* what,
                               face_field* out) TREACLE_NODISCARD;
void flow_copy_faces(const flow_inputs* in, face_field from, face_field to);

/// Whether there was a last step.
bool flow_has_past(const flow_inputs* in);
/// The velocity of the last step on the tiles of this one; on new tiles that of now.
void flow_remap_velocity(const flow_inputs* in, face_field now, face_field to);
/// A viscosity at cells, to be spread.
viscosity_grid flow_viscosity(const flow_inputs* in, float* cell_log_mu);
/// Extends the velocity of faces next to liquid, closed ones too; with slopes by a viscosity, which
/// is spread.
treacle_status flow_extend_velocity(const flow_inputs* in, float* cell_log_mu,
                                    face_field u) TREACLE_NODISCARD;
