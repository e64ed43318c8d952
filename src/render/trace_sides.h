// The closed sides of a domain as walls around the liquid.
//
// Panes of glass have a thickness and stand on the ground; liquid reaches a little into them, so
// that no air is in between. Other walls are single faces that look inwards.
#pragma once

#include "mesh/surface_mesh.h"
#include "treacle/cache.h"
#include "treacle/types.h"

/// Of upright sides; the mesh may be empty, as in flat domains. In the world, m.
treacle_status trace_sides_create(treacle_context* ctx, const treacle_domain_def* domain,
                                  const treacle_frame* frame, bool is_glass,
                                  surface_mesh* out) TREACLE_NODISCARD;
