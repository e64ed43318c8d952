// What is in a preview beside the liquid: solids, bodies, containers and emitters.
#pragma once

#include "render/preview_raster.h"

/// What a pixel of walls shows. From PREVIEW_WHAT_PAINT on: the paint of a solid or a body.
enum { PREVIEW_WHAT_NONE, PREVIEW_WHAT_GLASS, PREVIEW_WHAT_EMITTER, PREVIEW_WHAT_PAINT };

typedef struct preview_things {
    treacle_context* ctx;
    preview_surface solid; // what hides: solids and bodies
    preview_surface back;  // walls of containers, seen from inside
    preview_surface front; // walls of containers that one looks in through, and emitters
    preview_surface lamp;  // what hides from the key light; depths alone
} preview_things;

/// Draws them as they are at the frame's time. There is nothing if the def has no scene.
treacle_status preview_things_create(treacle_context* ctx, const treacle_frame* frame,
                                     const treacle_preview_def* def, const preview_view views[2],
                                     preview_things* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void preview_things_destroy(preview_things* t);
/// The box of the domain that the camera frames, m: what the scene begins with, and as much around
/// it as it is high, where that may flow. The whole domain if there is no scene.
treacle_status preview_things_box(treacle_context* ctx, const treacle_frame* frame,
                                  const treacle_preview_def* def, double low[3],
                                  double high[3]) TREACLE_NODISCARD;
