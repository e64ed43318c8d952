#include "step/flow_room.h"

#include "grid/tile_loop.h"

treacle_status flow_take(const flow_inputs* in, const char* what, float** out) {
    return arena_take(in->frame.scratch, flow_values(in), sizeof(float), what, (void**)out);
}

treacle_status flow_take_faces(const flow_inputs* in, const char* what, face_field* out) {
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(flow_take(in, what, &out->at[a]));
    }
    return TREACLE_OK;
}

void flow_copy_faces(const flow_inputs* in, face_field from, face_field to) {
    TREACLE_ASSERT(from.at[0] != NULL && to.at[0] != NULL && from.at[0] != to.at[0]);
    for (int a = 0; a < AXES; ++a) {
        tile_copy(in->wet.map, to.at[a], from.at[a], TILE_CELLS * sizeof(float));
    }
}

bool flow_has_past(const flow_inputs* in) {
    return in->history->from != NULL && in->history->from->count > 0;
}

void flow_remap_velocity(const flow_inputs* in, face_field now, face_field to) {
    TREACLE_ASSERT(in->history != NULL &&
                   (in->history->to == NULL || in->history->to == in->wet.map));
    flow_copy_faces(in, now, to);
    for (int a = 0; a < AXES && flow_has_past(in); ++a) {
        tile_history_remap(in->history, in->past_u.at[a], to.at[a], TILE_CELLS * sizeof(float));
    }
}

viscosity_grid flow_viscosity(const flow_inputs* in, float* cell_log_mu) {
    TREACLE_ASSERT(in->given->volume != NULL && in->wet.known != NULL);
    return (viscosity_grid){.domain = in->wet.domain,
                            .map = in->wet.map,
                            .cell_volume = in->given->volume,
                            .known = in->wet.known,
                            .cell_log_mu = cell_log_mu};
}

treacle_status flow_extend_velocity(const flow_inputs* in, float* cell_log_mu, face_field u) {
    TREACLE_ASSERT(u.at[0] != NULL && in->wet.domain->h > 0.0);
    int mark = arena_mark(in->frame.scratch);
    double h = in->wet.domain->h;
    float* slope = NULL;
    viscosity_grid viscosity = flow_viscosity(in, cell_log_mu);
    TREACLE_TRY(viscosity_slopes(&viscosity, in->frame.setup,
                                 in->frame.setup->reference_density * h * h / in->frame.dt,
                                 in->frame.scratch, &slope));
    TREACLE_TRY(wet_faces_extend_velocity(&in->wet, LIQUID_KERNEL_RADIUS, true, slope, u.at));
    arena_give_to(in->frame.scratch, mark);
    return TREACLE_OK;
}
