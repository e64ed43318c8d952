// The outermost loop of a flow: which walls hold the liquid, and which it has let go of [sep.4].
#pragma once

#include "step/flow_room.h"

typedef struct flow_walls {
    face_field before; // m/s, what the flow begins with
    int pass;
    bool is_over;
} flow_walls;

treacle_status flow_walls_begin(const flow_inputs* in, const flow_outputs* out,
                                flow_walls* loop) TREACLE_NODISCARD;
/// The velocity before the flow, with that of walls in contact; sides that let go are open.
void flow_walls_set(const flow_inputs* in, const flow_outputs* out, flow_walls* loop);
/// Asks walls what they answer to a unified solve, of whose liquid `liquid` tells.
void flow_walls_judge(const flow_inputs* in, const flow_outputs* out, const stress_params* liquid,
                      flow_walls* loop);
