// From a look to what the path tracer knows: materials, environment, lamps.
#pragma once

#include "render/trace_scene.h"
#include "treacle/render.h"

/// The material of the scene's i-th material. `size` is the domain's diagonal, m.
/// Unless the look says what it looks like, liquid in a flat domain is not clear: one would look
/// through it.
void trace_look_material(const treacle_render_def* def, int index, double size, bool is_flat,
                         trace_material* out);
void trace_look_ground(const treacle_look_def* look, double size, trace_material* out);
enum { TRACE_LOOK_PAINTS = 7 };
/// Of a solid or a body. Which of the paints it gets counts if the look has no colour: 0 is grey.
void trace_look_solid(const treacle_look_material* look, int paint, double size,
                      trace_material* out);
trace_lamp trace_look_lamp(const treacle_lamp_def* lamp);

/// Paints the environment; ERR_IO or ERR_FORMAT if its file cannot be read.
treacle_status trace_look_environment(treacle_context* ctx, const treacle_look_def* look,
                                      trace_environment* out) TREACLE_NODISCARD;
