// Liquid that glows, as a light: its triangles are chosen by how much each of them shines.
#pragma once

#include "render/trace_scene.h"

typedef struct trace_glow {
    treacle_context* ctx;
    int mesh; // of the scene
    int64_t count;
    double* sum; // [count + 1], of the triangles so far: area times brightness
} trace_glow;

/// Of the scene's first mesh, whose materials and black bodies are known. Without triangles, and
/// harmless, if nothing of it glows.
treacle_status trace_glow_create(treacle_context* ctx, const trace_scene* s,
                                 trace_glow* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void trace_glow_destroy(trace_glow* g);

/// Light from a place of it that is drawn by chance. False if that shines the other way.
bool trace_glow_sample(const trace_scene* s, v3f place, trace_random* r, trace_light_sample* out);
/// The pdf of choosing a direction that has met a point of a glowing mesh.
float trace_glow_pdf(const trace_scene* s, const trace_point* at, v3f direction);
