// A studio: warm key light from the upper left, soft sky, a pale floor that fades into the
// backdrop. The liquid is a translucent body under a clear skin:
//
//     body    albedo x (wrapped key light x what gets through from the lit side + sky)
//     thin    where there is little liquid along the line of sight, the backdrop shines through,
//             tinted
//     skin    reflection of sky and lamps by Schlick's Fresnel term
//
// Solids and bodies are matt. Walls of containers are glass: hardly there where one looks straight
// through them, more so towards their rims and along their edges.
//
// Absorption per metre follows from the albedo a as in Kubelka and Munk, K = (1 - a)^2 / (2 a):
// no logarithm, and a thicker layer of the same paint becomes deeper, not greyer. exp(-x) is
// replaced by the reciprocal of its series, which costs four multiplications and is the same on
// every machine.
#include "render/preview_shade.h"

#include <math.h>

#include "base/parallel.h"
#include "render/trace_look.h"

typedef struct vec3 {
    float x, y, z;
} vec3;

static const vec3 key_colour = {1.22f, 1.12f, 0.98f};
static const vec3 sky_colour = {0.44f, 0.46f, 0.49f};
static const vec3 bounce_colour = {0.30f, 0.27f, 0.23f};
static const vec3 backdrop_high = {0.50f, 0.56f, 0.63f};
static const vec3 backdrop_low = {0.86f, 0.85f, 0.82f};
static const vec3 floor_albedo = {0.80f, 0.79f, 0.76f};

// Liquid's depth, over the sum of the front halves of its balls: they overlap this much.
static const float thickness_factor = 0.61f;
// How bright liquid is drawn, so that a surface that faces the light shows about the colour that
// was asked for.
static const float exposure = 0.82f;
// Lengths below are fractions of the domain's diagonal.
static const float absorption_length = 0.065f; // over which K counts once
static const float veil_length = 0.016f;       // of liquid hides most of what is behind it
// What moves in the liquid is to be seen, however cloudy that is.
static const float clarity_before_solids = 0.45f;

typedef struct shade_job {
    const preview_scene* scene;
    image_rgb8* out;
    vec3 eye, to_light;
    vec3 right, up, forward;
    vec3 tint; // of the light that gets through the liquid
    float floor_y;
    float diagonal;
    float sharpness; // 1/m: larger steps of depth are edges
    bool has_floor;
} shade_job;

static vec3 vec(const double v[3]) {
    return (vec3){(float)v[0], (float)v[1], (float)v[2]};
}
static vec3 add(vec3 a, vec3 b) {
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static vec3 scale(vec3 a, float s) {
    return (vec3){a.x * s, a.y * s, a.z * s};
}
static vec3 mul(vec3 a, vec3 b) {
    return (vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}
static float dot(vec3 a, vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static vec3 cross(vec3 a, vec3 b) {
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static vec3 normalise(vec3 a) {
    return scale(a, 1.0f / sqrtf(dot(a, a) + 1e-30f));
}
static vec3 mix(vec3 a, vec3 b, float t) {
    return add(scale(a, 1.0f - t), scale(b, t));
}
static float saturate(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
static float smooth_step(float from, float to, float x) {
    float t = saturate((x - from) / (to - from));
    return t * t * (3.0f - 2.0f * t);
}
// About exp(-x), x >= 0.
static float fade(float x) {
    return 1.0f / (1.0f + x * (1.0f + x * (0.5f + x * (1.0f / 6.0f))));
}

static float absorb(float albedo) {
    float a = albedo < 0.02f ? 0.02f : albedo > 0.98f ? 0.98f : albedo;
    return (1.0f - a) * (1.0f - a) / (2.0f * a);
}
// What gets through a layer of paint.
static vec3 transmit(vec3 albedo, float lengths) {
    return (vec3){fade(absorb(albedo.x) * lengths), fade(absorb(albedo.y) * lengths),
                  fade(absorb(albedo.z) * lengths)};
}

// Bilinear; the edge value outside. INFINITY never mixes: it is skipped.
static float sample(const preview_layer* layer, const float* field, float x, float y) {
    float fx = floorf(x - 0.5f);
    float fy = floorf(y - 0.5f);
    float tx = x - 0.5f - fx;
    float ty = y - 0.5f - fy;
    float sum = 0.0f;
    float weight = 0.0f;
    for (int k = 0; k < 4; ++k) {
        int ix = (int)fx + (k & 1);
        int iy = (int)fy + (k >> 1);
        if (ix < 0 || iy < 0 || ix >= layer->view.width || iy >= layer->view.height) {
            continue;
        }
        float value = field[(size_t)iy * (size_t)layer->view.width + (size_t)ix];
        float w = ((k & 1) != 0 ? tx : 1.0f - tx) * ((k >> 1) != 0 ? ty : 1.0f - ty);
        if (value < INFINITY) {
            sum += w * value;
            weight += w;
        }
    }
    return weight > 1e-6f ? sum / weight : INFINITY;
}

static preview_point in_light(const shade_job* job, vec3 p) {
    const double place[3] = {p.x, p.y, p.z};
    return preview_view_project(&job->scene->light->view, place);
}

// Metres of liquid that the key light crosses on its way to a place on the floor.
static float liquid_over_floor(const shade_job* job, vec3 p) {
    preview_point at = in_light(job, p);
    const preview_layer* light = job->scene->light;
    if (!(at.x > 0.0f && at.y > 0.0f && at.x < (float)light->view.width &&
          at.y < (float)light->view.height)) {
        return 0.0f;
    }
    return thickness_factor * sample(light, light->thickness, at.x, at.y);
}

// Metres between a place in the liquid and the side of the liquid that the key light reaches,
// averaged over a few texels for a soft edge.
static float depth_under_light(const shade_job* job, vec3 p) {
    static const float spread[4][2] = {{-1.5f, -0.5f}, {0.5f, -1.5f}, {1.5f, 0.5f}, {-0.5f, 1.5f}};
    preview_point at = in_light(job, p);
    const preview_layer* light = job->scene->light;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        float lit = sample(light, light->depth, at.x + spread[k][0], at.y + spread[k][1]);
        sum += lit < at.depth ? at.depth - lit : 0.0f;
    }
    return 0.25f * sum;
}

static vec3 backdrop(const shade_job* job, vec3 ray) {
    float up = dot(ray, job->up) + 0.5f * ray.y;
    return mix(backdrop_low, backdrop_high, smooth_step(-0.25f, 0.75f, up + 0.12f));
}

// The fraction of the key light that solids let through to a place, over a few texels.
static float past_solids(const shade_job* job, vec3 p) {
    const preview_surface* lamp = &job->scene->things->lamp;
    if (lamp->depth == NULL) {
        return 1.0f;
    }
    preview_point at = in_light(job, p);
    float lit = 0.0f, slack = 3.0f / (float)lamp->view.scale;
    for (int k = 0; k < 16; ++k) {
        int x = (int)floorf(at.x) + k % 4 - 1, y = (int)floorf(at.y) + k / 4 - 1;
        bool is_inside = x >= 0 && y >= 0 && x < lamp->view.width && y < lamp->view.height;
        float nearest =
            is_inside ? lamp->depth[(size_t)y * (size_t)lamp->view.width + (size_t)x] : INFINITY;
        lit += at.depth < nearest + slack ? 1.0f / 16.0f : 0.0f;
    }
    return lit;
}

static vec3 floor_light(const shade_job* job, vec3 p) {
    float liquid = liquid_over_floor(job, p) / job->diagonal;
    vec3 through = transmit(job->tint, liquid / absorption_length);
    float veil = 0.30f + 0.70f * fade(liquid / veil_length);
    vec3 key = scale(mul(key_colour, through), veil * past_solids(job, p) * job->to_light.y);
    vec3 glow = scale(job->tint, 0.55f * (1.0f - veil));
    const vec3 white = {1.0f, 1.0f, 1.0f};
    vec3 ambient =
        mul(scale(sky_colour, 0.30f + 0.20f * veil), mix(white, job->tint, 0.6f * (1.0f - veil)));
    return mul(floor_albedo, add(add(scale(key, 0.93f), glow), ambient));
}

// What the pixel shows where there is no liquid. `ray` has unit length.
static vec3 surroundings(const shade_job* job, vec3 ray) {
    vec3 far = backdrop(job, ray);
    if (!job->has_floor || ray.y > -1e-3f) {
        return far;
    }
    float t = (job->floor_y - job->eye.y) / ray.y;
    vec3 p = add(job->eye, scale(ray, t));
    float away = sqrtf(p.x * p.x + p.z * p.z) / job->diagonal;
    float gone = smooth_step(0.45f, 1.9f, away);
    return mix(floor_light(job, p), far, gone);
}

// Two soft boxes and the sky, for the skin to mirror.
static vec3 studio(const shade_job* job, vec3 r) {
    vec3 sky = mix(bounce_colour, scale(sky_colour, 1.5f), smooth_step(-0.3f, 0.8f, r.y));
    float key = smooth_step(0.90f, 0.975f, dot(r, job->to_light));
    vec3 side = normalise((vec3){0.85f, 0.25f, -0.35f});
    float rim = smooth_step(0.80f, 0.97f, dot(r, side));
    return add(sky, add(scale(key_colour, 3.2f * key), scale(sky_colour, 2.0f * rim)));
}

typedef struct surface {
    vec3 place, normal, albedo;
    vec3 ray;        // towards it, unit length
    float thickness; // m
    vec3 behind;     // what is seen without it
    float clarity;   // 0..1, by which what is behind shows more than it would
} surface;

static vec3 shade_liquid(const shade_job* job, const surface* s) {
    float facing = -dot(s->normal, s->ray);
    float depth = depth_under_light(job, s->place) / job->diagonal;
    float lit = saturate((dot(s->normal, job->to_light) + 0.35f) / 1.35f);
    vec3 inner = transmit(s->albedo, depth / absorption_length);
    float shadow = 0.25f + 0.75f * past_solids(job, s->place);
    vec3 key = scale(mul(key_colour, inner), shadow * lit * fade(depth / (3.0f * veil_length)));
    vec3 glow = scale(mul(key_colour, inner), 0.28f * fade(depth / (5.0f * veil_length)));
    vec3 sky = mix(bounce_colour, sky_colour, 0.5f + 0.5f * s->normal.y);
    float lengths = s->thickness / job->diagonal;
    vec3 deep = transmit(s->albedo, 0.5f * lengths / absorption_length);
    vec3 paint = mul(s->albedo, add(scale(deep, 0.45f), (vec3){0.65f, 0.65f, 0.65f}));
    vec3 body = scale(mul(paint, add(add(key, glow), sky)), exposure);

    vec3 behind = mul(s->behind, transmit(s->albedo, lengths / absorption_length));
    float veil = (1.0f - s->clarity) * (1.0f - fade(lengths / veil_length));
    vec3 inside = mix(behind, body, veil);

    float grazing = 1.0f - saturate(facing);
    float square = grazing * grazing;
    float fresnel = 0.04f + 0.50f * square * square * grazing;
    vec3 mirrored = add(s->ray, scale(s->normal, 2.0f * facing));
    float open = 0.35f + 0.65f * fade(depth / veil_length);
    return add(scale(inside, 1.0f - fresnel), scale(studio(job, mirrored), fresnel * open));
}

// The line of sight through a place of the buffer, with depth 1.
static vec3 line_of_sight(const shade_job* job, float x, float y) {
    const preview_view* v = &job->scene->camera->view;
    float across = (x - (float)v->middle[0]) / (float)v->scale;
    float upward = ((float)v->middle[1] - y) / (float)v->scale;
    return add(job->forward, add(scale(job->right, across), scale(job->up, upward)));
}

static float depth_at(const preview_layer* layer, int x, int y) {
    const preview_view* v = &layer->view;
    bool is_inside = x >= 0 && y >= 0 && x < v->width && y < v->height;
    return is_inside ? layer->depth[(size_t)y * (size_t)v->width + (size_t)x] : INFINITY;
}

// The change of depth a pixel, between (x, y) and a neighbour `reach` pixels away along the sign of
// (dx, dy), and how much it is to be believed: a step to something else is not a slope.
static float slope_to(const shade_job* job, const int at[2], const int by[2], float* weight) {
    const preview_layer* camera = job->scene->camera;
    float here = depth_at(camera, at[0], at[1]);
    float change = depth_at(camera, at[0] + by[0], at[1] + by[1]) - here;
    float pixels = (float)(by[0] + by[1]);
    float rest = 1.0f - change * change * job->sharpness * job->sharpness;
    *weight = rest > 0.0f ? rest * rest * rest + 1e-6f : 0.0f;
    return rest > 0.0f ? change / pixels : 0.0f;
}

// The change of place over one pixel along axis 0 (across) or 1 (down) of the buffer.
static vec3 tangent(const shade_job* job, int x, int y, int axis) {
    const int at[2] = {x, y};
    float sum = 0.0f;
    float total = 0.0f;
    for (int k = 1; k <= 2; ++k) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const int by[2] = {axis == 0 ? sign * k : 0, axis == 1 ? sign * k : 0};
            float weight = 0.0f;
            float slope = slope_to(job, at, by, &weight);
            sum += weight * slope;
            total += weight;
        }
    }
    float slope = total > 0.0f ? sum / total : 0.0f;
    float depth = depth_at(job->scene->camera, x, y);
    vec3 sight = line_of_sight(job, (float)x + 0.5f, (float)y + 0.5f);
    float pixel = depth / (float)job->scene->camera->view.scale;
    vec3 aside = axis == 0 ? scale(job->right, pixel) : scale(job->up, -pixel);
    return add(aside, scale(sight, slope));
}

static surface surface_at(const shade_job* job, int x, int y) {
    const preview_layer* camera = job->scene->camera;
    size_t at = (size_t)y * (size_t)camera->view.width + (size_t)x;
    vec3 sight = line_of_sight(job, (float)x + 0.5f, (float)y + 0.5f);
    float rgb[3];
    preview_unpack(camera->colour[at], rgb);
    surface s = {
        .place = add(job->eye, scale(sight, camera->depth[at])),
        .normal = normalise(cross(tangent(job, x, y, 1), tangent(job, x, y, 0))),
        .albedo = {rgb[0], rgb[1], rgb[2]},
        .ray = normalise(sight),
        .thickness = thickness_factor * camera->thickness[at],
    };
    return s;
}

// What walls have at a sample of the buffer.
typedef struct shaded_point {
    float depth; // m; INFINITY: nothing is there
    vec3 normal; // towards the eye
    int what;
    float outline; // 1 along edges
} shaded_point;

static vec3 normal_of(const preview_surface* w, size_t at) {
    float n[3];
    preview_unpack_normal(w->normal[at], n);
    return (vec3){n[0], n[1], n[2]};
}

// Along the rim of walls, and where their normals change at once.
static float outline_at(const preview_surface* w, int x, int y, int reach) {
    size_t at = (size_t)y * (size_t)w->view.width + (size_t)x;
    vec3 n = normal_of(w, at);
    const int by[4][2] = {{reach, 0}, {-reach, 0}, {0, reach}, {0, -reach}};
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        int u = x + by[k][0], v = y + by[k][1];
        if (u >= 0 && v >= 0 && u < w->view.width && v < w->view.height) {
            size_t other = (size_t)v * (size_t)w->view.width + (size_t)u;
            bool is_edge = w->what[other] != w->what[at] || dot(normal_of(w, other), n) < 0.8f;
            sum += is_edge ? 0.5f : 0.0f;
        }
    }
    return saturate(sum);
}

static shaded_point shaded_point_at(const shade_job* job, const preview_surface* w, int x, int y) {
    shaded_point out = {.depth = INFINITY};
    if (w->depth == NULL) {
        return out;
    }
    size_t at = (size_t)y * (size_t)w->view.width + (size_t)x;
    if (w->depth[at] < INFINITY) {
        out.depth = w->depth[at];
        out.what = w->what[at];
        vec3 n = normal_of(w, at);
        vec3 sight = line_of_sight(job, (float)x + 0.5f, (float)y + 0.5f);
        out.normal = dot(n, sight) > 0.0f ? scale(n, -1.0f) : n;
        out.outline = out.what < PREVIEW_WHAT_PAINT ? outline_at(w, x, y, job->scene->samples) : 0;
    }
    return out;
}

// Matt, under the key light and the sky.
static vec3 shade_solid(const shade_job* job, const shaded_point* w, vec3 sight) {
    vec3 place = add(job->eye, scale(sight, w->depth));
    const float* paint = trace_look_paint(w->what - PREVIEW_WHAT_PAINT);
    float lit = saturate(dot(w->normal, job->to_light)) * past_solids(job, place);
    float liquid = depth_under_light(job, place) / job->diagonal;
    vec3 key = scale(key_colour, lit * (0.4f + 0.6f * fade(liquid / veil_length)));
    vec3 sky = mix(bounce_colour, sky_colour, 0.5f + 0.5f * w->normal.y);
    return mul((vec3){paint[0], paint[1], paint[2]}, scale(add(key, sky), 1.1f));
}

// Something clear over what is behind it.
static vec3 shade_glass(const shade_job* job, const shaded_point* w, vec3 ray, vec3 behind) {
    static const vec3 ink = {0.16f, 0.19f, 0.22f};
    static const vec3 ink_of_emitters = {0.35f, 0.20f, 0.05f};
    bool is_glass = w->what == PREVIEW_WHAT_GLASS;
    float grazing = 1.0f - saturate(-dot(w->normal, ray)), square = grazing * grazing;
    vec3 mirrored = add(ray, scale(w->normal, -2.0f * dot(w->normal, ray)));
    float fresnel = is_glass ? 0.05f + 0.35f * square * square : 0.0f;
    vec3 seen = mix(behind, studio(job, mirrored), fresnel);
    float cover = is_glass ? 0.04f + 0.30f * square * grazing : 0.10f;
    cover += (is_glass ? 0.45f : 0.25f) * w->outline;
    return mix(seen, is_glass ? ink : ink_of_emitters, saturate(cover));
}

// Highlights roll off instead of clipping.
static float tone(float x) {
    return x < 0.7f ? x : 0.7f + 0.3f * (1.0f - fade((x - 0.7f) / 0.3f));
}

static vec3 tone_of(vec3 light) {
    return (vec3){tone(light.x), tone(light.y), tone(light.z)};
}

// A sample of the picture, from what is farthest to what is nearest.
static vec3 shade_sample(const shade_job* job, int x, int y) {
    const preview_things* things = job->scene->things;
    vec3 sight = line_of_sight(job, (float)x + 0.5f, (float)y + 0.5f), ray = normalise(sight);
    float liquid = depth_at(job->scene->camera, x, y);
    shaded_point solid = shaded_point_at(job, &things->solid, x, y);
    const shaded_point clear[2] = {shaded_point_at(job, &things->back, x, y),
                                   shaded_point_at(job, &things->front, x, y)};
    vec3 light = solid.depth < INFINITY ? shade_solid(job, &solid, sight) : surroundings(job, ray);
    bool is_drawn[3] = {clear[0].depth >= solid.depth, clear[1].depth >= solid.depth,
                        liquid >= solid.depth};
    const float depth[3] = {clear[0].depth, clear[1].depth, liquid};
    for (int round = 0; round < 3; ++round) {
        int next = -1;
        for (int k = 0; k < 3; ++k) {
            next = !is_drawn[k] && (next < 0 || depth[k] > depth[next]) ? k : next;
        }
        if (next == 2) {
            surface s = surface_at(job, x, y);
            s.thickness = fminf(s.thickness, solid.depth - liquid);
            s.behind = light;
            s.clarity = solid.depth < INFINITY ? clarity_before_solids : 0.0f;
            light = shade_liquid(job, &s);
        } else if (next >= 0) {
            light = shade_glass(job, &clear[next], ray, light);
        }
        if (next >= 0) {
            is_drawn[next] = true;
        }
    }
    return tone_of(light);
}

// -1: nothing.
static int what_is_at(const preview_surface* w, size_t at) {
    return w->depth[at] < INFINITY ? (int)w->what[at] : -1;
}

// Whether what is solid is the same, or nothing, at all samples of a pixel.
static bool things_are_even(const shade_job* job, const preview_surface* w, int x, int y) {
    if (w->depth == NULL) {
        return true;
    }
    int n = job->scene->samples;
    size_t width = (size_t)w->view.width;
    int first = what_is_at(w, (size_t)(y * n) * width + (size_t)(x * n));
    bool is_even = true;
    for (int k = 1; k < n * n; ++k) {
        size_t at = (size_t)(y * n + k / n) * width + (size_t)(x * n + k % n);
        is_even = is_even && what_is_at(w, at) == first;
    }
    return is_even;
}

// Whether one sample stands for all of a pixel: nothing ends in it. Liquid may slope as steeply as
// light from it still varies little from sample to sample.
static bool is_even(const shade_job* job, int x, int y) {
    const preview_layer* camera = job->scene->camera;
    const preview_things* things = job->scene->things;
    int n = job->scene->samples;
    float least = INFINITY, most = -INFINITY;
    int seen = 0;
    for (int k = 0; k < n * n; ++k) {
        float depth = depth_at(camera, x * n + k % n, y * n + k / n);
        seen += depth < INFINITY;
        least = fminf(least, depth);
        most = fmaxf(most, depth);
    }
    bool is_smooth = seen == 0 || (seen == n * n && (most - least) * job->sharpness < 0.5f);
    return is_smooth && things_are_even(job, &things->solid, x, y) &&
           things_are_even(job, &things->back, x, y) && things_are_even(job, &things->front, x, y);
}

static void shade_pixel(const shade_job* job, int x, int y) {
    int n = job->scene->samples;
    int samples = is_even(job, x, y) ? 1 : n * n;
    vec3 sum = {0};
    for (int k = 0; k < samples; ++k) {
        sum = add(sum, shade_sample(job, x * n + k % n, y * n + k / n));
    }
    sum = scale(sum, 1.0f / (float)samples);
    uint8_t* pixel = image_at(job->out, x, y);
    pixel[0] = image_encode_srgb(sum.x);
    pixel[1] = image_encode_srgb(sum.y);
    pixel[2] = image_encode_srgb(sum.z);
}

static void shade_rows(void* data, int64_t begin, int64_t end) {
    const shade_job* job = data;
    for (int64_t y = begin; y < end; ++y) {
        for (int x = 0; x < job->out->width; ++x) {
            shade_pixel(job, x, (int)y);
        }
    }
}

void preview_shade(const preview_scene* scene, image_rgb8* out) {
    TREACLE_ASSERT(scene->samples >= 1 && scene->samples <= 2);
    TREACLE_ASSERT(scene->camera->view.width == out->width * scene->samples &&
                   scene->camera->view.height == out->height * scene->samples);
    const preview_view* view = &scene->camera->view;
    shade_job job = {
        .scene = scene,
        .out = out,
        .eye = vec(view->eye),
        .to_light = normalise(scale(vec(scene->light_direction), -1.0f)),
        .right = vec(view->right),
        .up = vec(view->up),
        .forward = vec(view->forward),
        .tint = {scene->tint[0], scene->tint[1], scene->tint[2]},
        .floor_y = (float)-scene->box.half[1],
        .diagonal = (float)scene->box.diagonal,
        .sharpness = 1.0f / scene->edge,
    };
    job.has_floor = scene->box.flat_axis < 0 && job.eye.y > job.floor_y;
    parallel_for(scene->ctx, out->height, 4, shade_rows, &job);
}

// ---------------------------------------------------------------------------------------------
// The domain's edges

typedef struct line {
    preview_point from, to; // in pixels of the picture
} line;

static void blend(uint8_t* pixel, float fraction) {
    static const float ink[3] = {70.0f, 74.0f, 84.0f};
    for (int i = 0; i < 3; ++i) {
        float old = (float)pixel[i];
        pixel[i] = (uint8_t)(old + fraction * (ink[i] - old) + 0.5f);
    }
}

// The depth of the nearest thing that hides what is behind: liquid or a solid.
static float hiding_depth(const preview_scene* scene, int x, int y) {
    const preview_surface* solid = &scene->things->solid;
    float depth = depth_at(scene->camera, x, y);
    return solid->depth == NULL
               ? depth
               : fminf(depth, solid->depth[(size_t)y * (size_t)solid->view.width + (size_t)x]);
}

// One pixel column or row across the line, at parameter t from its start.
static void draw_line_at(const preview_scene* scene, image_rgb8* out, const line* l, float t) {
    bool is_steep = fabsf(l->to.y - l->from.y) > fabsf(l->to.x - l->from.x);
    float x = l->from.x + t * (l->to.x - l->from.x);
    float y = l->from.y + t * (l->to.y - l->from.y);
    float depth = 1.0f / ((1.0f - t) / l->from.depth + t / l->to.depth);
    for (int k = -1; k <= 1; ++k) {
        int px = (int)floorf(x) + (is_steep ? k : 0);
        int py = (int)floorf(y) + (is_steep ? 0 : k);
        if (px < 0 || py < 0 || px >= out->width || py >= out->height) {
            continue;
        }
        float off = is_steep ? (float)px + 0.5f - x : (float)py + 0.5f - y;
        float cover = saturate(1.1f - fabsf(off));
        float hides = hiding_depth(scene, px * scene->samples, py * scene->samples);
        blend(image_at(out, px, py), cover * (hides < depth ? 0.05f : 0.34f));
    }
}

static void draw_line(const preview_scene* scene, image_rgb8* out, const line* l) {
    float dx = l->to.x - l->from.x;
    float dy = l->to.y - l->from.y;
    float length = fmaxf(fabsf(dx), fabsf(dy));
    bool is_drawable = l->from.depth > 0.0f && l->to.depth > 0.0f && length >= 1.0f &&
                       length < 8.0f * (float)(out->width + out->height);
    int steps = is_drawable ? (int)length : 0;
    for (int i = 0; i <= steps && steps > 0; ++i) {
        draw_line_at(scene, out, l, ((float)i + 0.5f) / ((float)steps + 1.0f));
    }
}

static preview_point corner_point(const preview_scene* scene, int corner) {
    double place[3];
    for (int i = 0; i < 3; ++i) {
        place[i] = preview_box_sign(corner, i) * scene->box.half[i];
    }
    preview_point p = preview_view_project(&scene->camera->view, place);
    p.x /= (float)scene->samples;
    p.y /= (float)scene->samples;
    return p;
}

void preview_draw_box(const preview_scene* scene, image_rgb8* out) {
    TREACLE_ASSERT(scene->box.flat_axis >= -1 && scene->box.flat_axis < 3);
    for (int corner = 0; corner < 8; ++corner) {
        for (int axis = 0; axis < 3; ++axis) {
            bool is_low = (corner >> axis & 1) == 0;
            bool is_back = scene->box.flat_axis >= 0 && (corner >> scene->box.flat_axis & 1) == 0;
            if (is_low && !is_back && axis != scene->box.flat_axis) {
                line l = {corner_point(scene, corner), corner_point(scene, corner | 1 << axis)};
                draw_line(scene, out, &l);
            }
        }
    }
}
