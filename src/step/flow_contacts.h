// The outermost loop of a flow: which walls hold the liquid, and which it has let go of [sep.4].
#pragma once

#include "step/flow_room.h"

typedef struct flow_contacts {
    face_field before; // m/s, what the flow begins with
    int pass;
    bool is_over;
} flow_contacts;

treacle_status flow_contacts_begin(const flow_inputs* in, const flow_outputs* out,
                                   flow_contacts* loop) TREACLE_NODISCARD;
/// The velocity before the flow, with that of walls in contact; sides that let go are open.
void flow_contacts_set(const flow_inputs* in, const flow_outputs* out, flow_contacts* loop);
/// Asks walls what they answer to a unified solve, of whose liquid `liquid` tells.
void flow_contacts_judge(const flow_inputs* in, const flow_outputs* out,
                         const stress_params* liquid, flow_contacts* loop);
