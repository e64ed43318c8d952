// From a look to what the path tracer knows: materials, environment, lamps.
#pragma once

#include "render/trace_scene.h"
#include "treacle/render.h"

/// What looks depend on beside the look.
typedef struct trace_look_room {
    double size;  // m, the domain's diagonal
    double depth; // m, of the liquid, the way that is shortest
    bool is_flat; // liquid that would be clear by its name is not: one would look through it
} trace_look_room;

/// The material of the scene's i-th material.
void trace_look_material(const treacle_render_def* def, int index, const trace_look_room* room,
                         trace_material* out);
/// The same where it is molten. False if it looks no different then.
bool trace_look_molten(const treacle_render_def* def, int index, const trace_look_room* room,
                       trace_material* out);
void trace_look_ground(const treacle_look_def* look, double size, trace_material* out);
enum { TRACE_LOOK_PAINTS = 7 };
/// Linear RGB.
const float* trace_look_paint(int paint);
/// The material of a solid or a body. `paint` says which paint it gets if the look has no colour: 0
/// is grey.
void trace_look_solid(const treacle_look_material* look, int paint, double size,
                      trace_material* out);
trace_lamp trace_look_lamp(const treacle_lamp_def* lamp);

/// Paints the environment; ERR_IO or ERR_FORMAT if its file cannot be read.
treacle_status trace_look_environment(treacle_context* ctx, const treacle_look_def* look,
                                      trace_environment* out) TREACLE_NODISCARD;
