#include "render/trace_glow.h"

#include <string.h>

#include "base/alloc.h"

// Of the brightness that a triangle would have without its crust: what its middle does not show may
// still be hot at a corner.
static const float hidden_fraction = 0.05f;

// A triangle with its area as a vector, whose length is twice the area.
typedef struct glow_triangle {
    v3f corner[3];
    v3f across;
} glow_triangle;

static glow_triangle triangle_at(const trace_mesh* mesh, int64_t t) {
    glow_triangle out;
    for (int c = 0; c < 3; ++c) {
        out.corner[c] = v3f_from(mesh->position + 3 * (ptrdiff_t)mesh->triangles[3 * t + c]);
    }
    out.across =
        v3f_cross(v3f_sub(out.corner[1], out.corner[0]), v3f_sub(out.corner[2], out.corner[0]));
    return out;
}

static v3f place_in(const glow_triangle* t, float b, float c) {
    v3f at = v3f_scale(1.0f - b - c, t->corner[0]);
    return v3f_madd(v3f_madd(at, b, t->corner[1]), c, t->corner[2]);
}

static trace_point look_at(const trace_scene* s, const glow_triangle* t, trace_touch touch) {
    touch.normal = v3f_normalise(t->across);
    trace_point out = {.place = place_in(t, touch.u, touch.v)};
    trace_scene_look_up(s, &touch, &out);
    return out;
}

static v3f radiance_of(const trace_scene* s, const trace_point* at) {
    const trace_material* m = &s->materials[at->material];
    return m->glows ? v3f_scale(m->glow, trace_scene_glow(s, at->temperature)) : v3f_grey(0.0f);
}

static double power_of(const trace_scene* s, int mesh, int64_t t) {
    const trace_mesh* m = &s->meshes[mesh];
    glow_triangle triangle = triangle_at(m, t);
    const float third = 1.0f / 3.0f;
    trace_point middle = look_at(
        s, &triangle, (trace_touch){.mesh = mesh, .triangle = (int)t, .u = third, .v = third});
    const trace_material* material = &s->materials[middle.material];
    if (!material->glows || m->temperature == NULL) {
        return 0.0;
    }
    float hottest = 0.0f;
    for (int c = 0; c < 3; ++c) {
        hottest = trace_max(hottest, m->temperature[m->triangles[3 * t + c]]);
    }
    float bare = material->glow * v3f_luminance(trace_scene_glow(s, hottest));
    float bright = v3f_luminance(radiance_of(s, &middle)) + hidden_fraction * bare;
    return 0.5 * (double)v3f_length(triangle.across) * (double)bright;
}

treacle_status trace_glow_create(treacle_context* ctx, const trace_scene* s, trace_glow* out) {
    *out = (trace_glow){0};
    bool glows = false;
    for (int i = 0; i < s->material_count; ++i) {
        glows = glows || (s->materials[i].glows && !s->materials[i].is_hidden);
    }
    if (!glows || s->mesh_count == 0 || s->meshes[0].temperature == NULL) {
        return TREACLE_OK;
    }
    int64_t count = s->meshes[0].triangle_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, (size_t)count + 1, sizeof(double), "liquid that glows", &block));
    *out = (trace_glow){.ctx = ctx, .count = count, .sum = block};
    out->sum[0] = 0.0;
    for (int64_t t = 0; t < count; ++t) {
        out->sum[t + 1] = out->sum[t] + power_of(s, 0, t);
    }
    if (!(out->sum[count] > 0.0)) {
        trace_glow_destroy(out);
    }
    return TREACLE_OK;
}

void trace_glow_destroy(trace_glow* g) {
    if (g->ctx != NULL) {
        alloc_free(g->ctx, g->sum, ((size_t)g->count + 1) * sizeof(double));
    }
    *g = (trace_glow){0};
}

static int64_t find_triangle(const trace_glow* g, double x) {
    int64_t low = 0, high = g->count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (g->sum[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Per solid angle, of a direction that meets the triangle at a distance.
static float pdf_of(const trace_glow* g, int64_t t, const glow_triangle* triangle, v3f direction,
                    float distance) {
    float fraction = (float)((g->sum[t + 1] - g->sum[t]) / g->sum[g->count]);
    float facing = 0.5f * fabsf(v3f_dot(direction, triangle->across)); // area times cosine
    return fraction * distance * distance / trace_max(facing, 1e-20f);
}

bool trace_glow_sample(const trace_scene* s, v3f place, trace_random* r, trace_light_sample* out) {
    const trace_glow* g = s->glowing;
    TREACLE_ASSERT(g != NULL && g->count > 0);
    int64_t t = find_triangle(g, (double)trace_random_one(r) * g->sum[g->count]);
    trace_pair u = trace_random_pair(r);
    float root = sqrtf(u.a);
    glow_triangle triangle = triangle_at(&s->meshes[g->mesh], t);
    trace_touch touch = {
        .mesh = g->mesh, .triangle = (int)t, .u = root * (1.0f - u.b), .v = root * u.b};
    trace_point at = look_at(s, &triangle, touch);
    v3f to = v3f_sub(at.place, place);
    *out = (trace_light_sample){.distance = v3f_length(to), .direction = v3f_normalise(to)};
    out->radiance = radiance_of(s, &at);
    out->pdf = pdf_of(g, t, &triangle, out->direction, out->distance);
    return v3f_dot(out->direction, triangle.across) < 0.0f && out->distance > 0.0f;
}

float trace_glow_pdf(const trace_scene* s, const trace_point* at, v3f direction) {
    const trace_glow* g = s->glowing;
    if (g == NULL || at->mesh != g->mesh) {
        return 0.0f;
    }
    glow_triangle triangle = triangle_at(&s->meshes[g->mesh], at->triangle);
    return pdf_of(g, at->triangle, &triangle, direction, at->distance);
}
