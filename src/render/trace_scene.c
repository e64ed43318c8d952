#include "render/trace_scene.h"

#include <string.h>

static v3f interpolate(const float* values, const int32_t* v, float a, float b, float c) {
    v3f p = v3f_from(values + 3 * v[0]), q = v3f_from(values + 3 * v[1]);
    v3f r = v3f_from(values + 3 * v[2]);
    return v3f_madd(v3f_madd(v3f_scale(a, p), b, q), c, r);
}

// Smooth noise in [0, 1] with features of size 1.
static float lattice(int x, int y, int z) {
    uint32_t h = trace_hash((uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^
                            (uint32_t)z * 0xcb1ab31fu);
    return trace_unit(h);
}

static float noise(v3f p) {
    float fx = floorf(p.x), fy = floorf(p.y), fz = floorf(p.z);
    int x = (int)fx, y = (int)fy, z = (int)fz;
    float t[3] = {p.x - fx, p.y - fy, p.z - fz};
    for (int k = 0; k < 3; ++k) {
        t[k] = t[k] * t[k] * (3.0f - 2.0f * t[k]);
    }
    float sum = 0.0f;
    for (int c = 0; c < 8; ++c) {
        int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        float w = (i != 0 ? t[0] : 1.0f - t[0]) * (j != 0 ? t[1] : 1.0f - t[1]) *
                  (k != 0 ? t[2] : 1.0f - t[2]);
        sum += w * lattice(x + i, y + j, z + k);
    }
    return sum;
}

static float layered_noise(v3f p) {
    float sum = 0.0f, size = 0.5f;
    for (int octave = 0; octave < 4; ++octave) {
        sum += size * noise(p);
        p = v3f_scale(2.03f, p);
        size *= 0.5f;
    }
    return sum;
}

// Planks along x, one wide across z: each cut from another place of a tree whose rings are far
// longer than wide.
static v3f wood_colour(v3f p) {
    float plank = floorf(p.z), across = p.z - plank;
    float shade = lattice((int)plank, 3, 7), edge = trace_min(across, 1.0f - across) / 0.02f;
    v3f q = v3f_make(0.15f * p.x + 17.0f * shade, p.y, 2.5f * across + 5.0f * shade);
    float ring = 6.0f * layered_noise(q), dark = ring - floorf(ring);
    float fibre = noise(v3f_make(1.5f * p.x, 3.0f, 40.0f * p.z));
    float light = (0.72f + 0.28f * shade) * (1.0f - 0.30f * dark * dark - 0.12f * fibre);
    light *= 0.35f + 0.65f * trace_min(edge, 1.0f);
    return v3f_make(light, light * (0.70f + 0.30f * light), light * (0.45f + 0.55f * light));
}

// No two tiles are quite alike.
static v3f tile_colour(v3f p) {
    float x = p.x - floorf(p.x), z = p.z - floorf(p.z);
    float edge = trace_min(trace_min(x, 1.0f - x), trace_min(z, 1.0f - z));
    float shade = lattice((int)floorf(p.x), 5, (int)floorf(p.z));
    return v3f_grey(edge < 0.03f ? 0.45f : 0.86f + 0.14f * shade);
}

static v3f texture_colour(const trace_material* m, v3f rest) {
    v3f p = v3f_scale(1.0f / m->texture_size, rest);
    switch (m->texture) {
    case TRACE_TEXTURE_NONE:
        return v3f_grey(1.0f);
    case TRACE_TEXTURE_CHECKER: {
        int sum = (int)floorf(p.x) + (int)floorf(p.y) + (int)floorf(p.z);
        return v3f_grey((sum & 1) != 0 ? 0.25f : 1.0f);
    }
    case TRACE_TEXTURE_MARBLE: {
        float wave = sinf(TRACE_PI * (p.x + p.y + 4.0f * layered_noise(p)));
        return v3f_grey(0.35f + 0.65f * sqrtf(fabsf(wave)));
    }
    case TRACE_TEXTURE_GRAIN:
        return v3f_grey(0.55f + 0.9f * (layered_noise(v3f_scale(4.0f, p)) - 0.25f));
    case TRACE_TEXTURE_WOOD:
        return wood_colour(p);
    case TRACE_TEXTURE_TILES:
        return tile_colour(p);
    }
    return v3f_grey(1.0f);
}

static void paint(const trace_scene* s, v3f rest, trace_point* out) {
    const trace_material* m = &s->materials[out->material];
    if (m->texture != TRACE_TEXTURE_NONE) {
        out->colour = v3f_mul(out->colour, texture_colour(m, rest));
    }
}

// Between corners of different materials each is met as often as it is near, so that borders do not
// follow the edges of triangles. What is by chance is a function of the place.
static int added_material(const trace_mesh* mesh, const int32_t v[3], float b, float c) {
    const uint8_t* of = mesh->vertex_material;
    if (of == NULL || (of[v[0]] == of[v[1]] && of[v[0]] == of[v[2]])) {
        return of == NULL ? 0 : of[v[0]];
    }
    uint32_t bits[2];
    memcpy(&bits[0], &b, sizeof(b));
    memcpy(&bits[1], &c, sizeof(c));
    float chance = (float)(trace_hash(bits[0] ^ trace_hash(bits[1])) >> 8) * 0x1p-24f;
    return of[v[chance < b ? 1 : chance < b + c ? 2 : 0]];
}

// Where a body of melting temperatures is molten, its other material is met; in between as often as
// it is near to that.
static int by_temperature(const trace_scene* s, int material, float temperature, v3f place) {
    const trace_material* m = &s->materials[material];
    if (m->molten == 0 || temperature <= m->melting[0]) {
        return material;
    }
    float fraction =
        (temperature - m->melting[0]) / trace_max(m->melting[1] - m->melting[0], 1e-3f);
    uint32_t bits[2];
    memcpy(&bits[0], &place.x, sizeof(place.x));
    memcpy(&bits[1], &place.z, sizeof(place.z));
    return trace_unit(trace_hash(bits[0] ^ trace_hash(bits[1]))) < fraction ? m->molten : material;
}

// Plates of a cold skin with cracks between them, which no simulation of this size has: at the
// cracks the rock is as hot as the liquid under it, on the plates by up to 400 K colder. The skin
// is thicker where the lava itself is colder. Plates are rough, too.
static void cover_with_crust(const trace_material* m, v3f rest, trace_point* out) {
    const float coldest = 400.0f, wide = 0.09f, rough = 0.55f;
    v3f p = v3f_scale(1.0f / m->texture_size, rest);
    float bend = layered_noise(v3f_scale(0.7f, p));
    v3f q = v3f_add(p, v3f_scale(1.5f, v3f_make(bend, 0.0f, bend)));
    float ridge = fabsf(layered_noise(q) - 0.47f);
    float plate = trace_min(ridge / wide, 1.0f);
    float cold =
        m->melting[1] > 0.0f
            ? trace_min(trace_max((m->melting[1] + 150.0f - out->temperature) / 300.0f, 0.25f),
                        1.0f)
            : 0.6f;
    plate = plate * plate * (3.0f - 2.0f * plate);
    out->temperature -= coldest * m->crust * (0.35f + 0.65f * cold) * plate;
    v3f fine = v3f_scale(5.0f, p);
    v3f slope = {noise(v3f_add(fine, v3f_make(0.3f, 0.0f, 0.0f))) - noise(fine),
                 noise(v3f_add(fine, v3f_make(0.0f, 0.3f, 0.0f))) - noise(fine),
                 noise(v3f_add(fine, v3f_make(0.0f, 0.0f, 0.3f))) - noise(fine)};
    out->shading = v3f_normalise(v3f_madd(out->shading, rough / 0.3f * plate, slope));
}

void trace_scene_look_up(const trace_scene* s, const trace_touch* touch, trace_point* out) {
    TREACLE_ASSERT(touch->mesh >= 0 && touch->mesh < s->mesh_count);
    TREACLE_ASSERT(touch->triangle >= 0);
    const trace_mesh* mesh = &s->meshes[touch->mesh];
    const int32_t* v = mesh->triangles + 3 * (int64_t)touch->triangle;
    float b = touch->u, c = touch->v, a = 1.0f - b - c;
    out->mesh = touch->mesh;
    out->triangle = touch->triangle;
    out->lamp = -1;
    out->normal = touch->normal;
    out->shading =
        mesh->normal == NULL ? touch->normal : v3f_normalise(interpolate(mesh->normal, v, a, b, c));
    int added = added_material(mesh, v, b, c);
    out->material = mesh->material + (added <= mesh->added_most ? added : mesh->added_most);
    out->temperature = mesh->temperature == NULL
                           ? 0.0f
                           : a * mesh->temperature[v[0]] + b * mesh->temperature[v[1]] +
                                 c * mesh->temperature[v[2]];
    out->material = by_temperature(s, out->material, out->temperature, out->place);
    const trace_material* m = &s->materials[out->material];
    out->colour = m->is_tinted && mesh->colour != NULL ? interpolate(mesh->colour, v, a, b, c)
                                                       : v3f_grey(1.0f);
    out->velocity =
        mesh->velocity == NULL ? v3f_grey(0.0f) : interpolate(mesh->velocity, v, a, b, c);
    v3f rest = mesh->rest == NULL ? out->place : interpolate(mesh->rest, v, a, b, c);
    if (m->crust > 0.0f) {
        cover_with_crust(m, rest, out);
    }
    paint(s, rest, out);
}

// How much of the ground is gone at a place.
static float fading(const trace_ground* g, v3f place) {
    float x = place.x - g->centre.x, z = place.z - g->centre.z;
    float t = (sqrtf(x * x + z * z) - g->near) / (g->far - g->near);
    t = trace_min(trace_max(t, 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

static float ground_distance(const trace_ground* g, const trace_ray* ray) {
    float t = (g->height - ray->origin.y) / ray->direction.y;
    return g->is_there && t > ray->near && t < ray->far ? t : INFINITY;
}

static void find_ground(const trace_scene* s, const trace_ray* ray, float fade, trace_point* out) {
    float t = ground_distance(&s->ground, ray);
    if (!(t < out->distance)) {
        return;
    }
    v3f place = v3f_madd(ray->origin, t, ray->direction);
    if (fade < fading(&s->ground, place)) {
        return;
    }
    *out = (trace_point){.distance = t,
                         .place = place,
                         .normal = {0.0f, 1.0f, 0.0f},
                         .shading = {0.0f, 1.0f, 0.0f},
                         .colour = {1.0f, 1.0f, 1.0f},
                         .material = s->ground.material,
                         .mesh = -1,
                         .lamp = -1};
    // Half way between the floors of the pattern: it does not flicker with rounding.
    paint(s, v3f_make(place.x, 0.5f * s->materials[out->material].texture_size, place.z), out);
}

void trace_scene_find(const trace_scene* s, const trace_ray* ray, float fade, trace_point* out) {
    TREACLE_ASSERT(fade >= 0.0f && fade < 1.0f);
    trace_touch touch;
    trace_rays_hit(s->rays, ray, &touch);
    out->distance = touch.distance;
    if (touch.distance < INFINITY) {
        out->place = v3f_madd(ray->origin, touch.distance, ray->direction);
    }
    trace_point other = {.distance = touch.distance};
    find_ground(s, ray, fade, &other);
    for (int i = 0; i < s->lights.lamp_count; ++i) {
        if (ray->is_first && !s->lights.lamps[i].is_seen) {
            continue;
        }
        float t = trace_lamp_hit(&s->lights.lamps[i], ray->origin, ray->direction);
        if (t > ray->near && t < other.distance) {
            other = (trace_point){.distance = t, .material = -1, .mesh = -1, .lamp = i};
        }
    }
    if (other.distance < touch.distance) {
        *out = other;
    } else if (touch.distance < INFINITY) {
        trace_scene_look_up(s, &touch, out);
    }
}

float trace_scene_visibility(const trace_scene* s, const trace_ray* ray) {
    if (trace_rays_blocked(s->rays, ray)) {
        return 0.0f;
    }
    float t = ground_distance(&s->ground, ray);
    return t < INFINITY ? fading(&s->ground, v3f_madd(ray->origin, t, ray->direction)) : 1.0f;
}

v3f trace_scene_backdrop(const trace_scene* s, v3f direction) {
    float t = trace_min(trace_max(direction.y / 0.35f, 0.0f), 1.0f);
    return v3f_mix(s->backdrop_low, s->backdrop_high, t * t * (3.0f - 2.0f * t));
}

v3f trace_scene_glow(const trace_scene* s, float kelvin) {
    float x = (kelvin - 500.0f) * 0.1f;
    if (!(x > 0.0f)) {
        return v3f_grey(0.0f);
    }
    int i = x < (float)TRACE_GLOW_STEPS - 1.0f ? (int)x : TRACE_GLOW_STEPS - 1;
    return v3f_mix(s->glow[i], s->glow[i + 1], trace_min(x - (float)i, 1.0f));
}
