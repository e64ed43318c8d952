#include "render/trace_look.h"

#include <math.h>
#include <string.h>

#include "image/exr.h"

static const char* const look_names[TREACLE_LOOK_COUNT] = {
#define TREACLE_LOOK_NAME(name, text) [TREACLE_LOOK_##name] = text,
    TREACLE_LOOK_LIST(TREACLE_LOOK_NAME)
#undef TREACLE_LOOK_NAME
};

const char* treacle_look_name(treacle_look_kind kind) {
    return kind >= 0 && kind < TREACLE_LOOK_COUNT ? look_names[kind] : "unknown";
}

// Scattering and absorption in 1/mm; the index.
typedef struct medium_preset {
    treacle_look_kind kind;
    float scatter[3], absorb[3], index, roughness;
} medium_preset;

// Reduced scattering and absorption of [JMLH01 table 1], but for wax and chocolate, which it does
// not have: those are typical, chosen so that a candle and a bar look right. Cocoa is the regular
// chocolate milk of [NGDRJN06].
static const medium_preset media[] = {
    {TREACLE_LOOK_MILK, {2.55f, 3.21f, 3.77f}, {0.0011f, 0.0024f, 0.014f}, 1.3f, 0.0f},
    {TREACLE_LOOK_CREAM, {7.38f, 5.47f, 3.15f}, {0.0002f, 0.0028f, 0.0163f}, 1.3f, 0.05f},
    {TREACLE_LOOK_KETCHUP, {0.18f, 0.07f, 0.03f}, {0.061f, 0.97f, 1.45f}, 1.3f, 0.05f},
    {TREACLE_LOOK_SKIN, {0.74f, 0.88f, 1.01f}, {0.032f, 0.17f, 0.48f}, 1.3f, 0.3f},
    {TREACLE_LOOK_MARBLE, {2.19f, 2.62f, 3.00f}, {0.0021f, 0.0041f, 0.0071f}, 1.5f, 0.1f},
    {TREACLE_LOOK_WAX, {1.50f, 1.40f, 1.20f}, {0.0030f, 0.0060f, 0.0180f}, 1.44f, 0.15f},
    {TREACLE_LOOK_COCOA, {1.4585f, 2.1289f, 2.9527f}, {0.0101f, 0.0431f, 0.1438f}, 1.33f, 0.0f},
    {TREACLE_LOOK_CHOCOLATE, {0.36f, 0.26f, 0.20f}, {0.220f, 0.560f, 1.100f}, 1.45f, 0.1f},
};

// Clear liquids: what is left of white light after a centimetre, or < 0 for the material's colour;
// index; scattering, 1/m; optical depths, of green light through all of the liquid, between which
// it is kept (below).
typedef struct clear_preset {
    treacle_look_kind kind;
    float left[3], index, cloudiness;
    float thin, thick;
} clear_preset;

static const clear_preset clears[] = {
    {TREACLE_LOOK_HONEY, {0.93f, 0.60f, 0.06f}, 1.49f, 6.0f, 0.5f, 1.4f},
    {TREACLE_LOOK_SYRUP, {0.80f, 0.42f, 0.06f}, 1.47f, 2.0f, 0.8f, 2.2f},
    {TREACLE_LOOK_MOLASSES, {0.20f, 0.02f, 0.003f}, 1.49f, 0.0f, 3.0f, 9.0f},
    {TREACLE_LOOK_OIL, {0.95f, 0.91f, 0.42f}, 1.467f, 0.0f, 0.12f, 0.5f},
    {TREACLE_LOOK_WATER, {0.996f, 0.9985f, 0.999f}, 1.333f, 0.0f, 0.05f, 0.3f},
    {TREACLE_LOOK_GLASS, {0.990f, 0.995f, 0.992f}, 1.52f, 0.0f, 0.0f, 0.3f},
    {TREACLE_LOOK_GEL, {0.90f, 0.97f, 0.99f}, 1.34f, 12.0f, 0.05f, 0.3f},
    {TREACLE_LOOK_EGG_WHITE, {0.93f, 0.92f, 0.66f}, 1.356f, 45.0f, 0.12f, 0.4f},
    {TREACLE_LOOK_JELLY, {-1.0f}, 1.36f, 15.0f, 0.2f, 3.0f},
    {TREACLE_LOOK_SLIME, {-1.0f}, 1.36f, 450.0f, 0.3f, 1.2f},
    {TREACLE_LOOK_SHAMPOO, {-1.0f}, 1.38f, 160.0f, 0.1f, 0.6f},
};

// Opaque or nearly so, in the material's colour: extinction, 1/m; index; roughness.
typedef struct soft_preset {
    treacle_look_kind kind;
    float extinction, index, roughness;
} soft_preset;

static const soft_preset softs[] = {
    {TREACLE_LOOK_SOFT, 900.0f, 1.4f, 0.1f},
    {TREACLE_LOOK_GLOSS, 12000.0f, 1.5f, 0.04f},
    {TREACLE_LOOK_DOUGH, 3000.0f, 1.35f, 0.55f},
};

static float choose(double wanted, float preset) {
    return wanted >= 0.0 ? (float)wanted : preset;
}

static v3f absorption_of(const float left[3]) {
    float a[3];
    for (int k = 0; k < 3; ++k) {
        a[k] = -logf(trace_min(trace_max(left[k], 0.003f), 0.9999f)) / 0.01f;
    }
    return v3f_from(a);
}

// A spoonful and a tank of honey both look like honey, which by true lengths only a jar would: the
// one is pale, the other black. So the liquid is drawn as much larger or smaller as brings the
// optical depth of green light between the preset's bounds; in between lengths are true.
static float clear_scale(const clear_preset* p, const treacle_look_material* look, v3f absorb,
                         const trace_look_room* room) {
    float depth = absorb.y * (float)room->depth;
    float thick = depth / p->thick, thin = p->thin > 0.0f ? depth / p->thin : 1.0f;
    float scale = thick > 1.0f ? thick : thin < 1.0f ? trace_max(thin, 0.05f) : 1.0f;
    return look->scale > 0.0 ? (float)look->scale : scale;
}

static void set_clear(const clear_preset* p, const treacle_look_material* look,
                      const trace_look_room* room, v3f colour, trace_material* out) {
    float left[3] = {p->left[0], p->left[1], p->left[2]};
    if (look->colour[0] >= 0.0 || p->left[0] < 0.0f) {
        left[0] = colour.x;
        left[1] = colour.y;
        left[2] = colour.z;
    }
    v3f absorb = absorption_of(left);
    float scale = clear_scale(p, look, absorb, room);
    float cloud = choose(look->cloudiness, p->cloudiness);
    out->kind = TRACE_GLASS;
    trace_medium_init(&out->medium, v3f_grey(cloud / scale), v3f_scale(1.0f / scale, absorb),
                      p->index);
    out->g = 0.6f;
    trace_facets_init(&out->facets, choose(look->roughness, 0.0f), choose(look->index, p->index));
}

static void set_medium(v3f scatter, v3f absorb, float index, float roughness,
                       const treacle_look_material* look, trace_material* out) {
    bool is_dipole = look->scattering == TREACLE_SCATTERING_DIPOLE;
    out->kind = is_dipole ? TRACE_DIPOLE : TRACE_WALK;
    trace_medium_init(&out->medium, scatter, absorb, choose(look->index, index));
    trace_facets_init(&out->facets, choose(look->roughness, roughness), 0.0f);
}

// The fraction of scattering that makes a half space reflect the colour.
static float albedo_for(float reflected, float index) {
    float low = 0.0f, high = 1.0f;
    for (int round = 0; round < 24; ++round) {
        float middle = 0.5f * (low + high);
        bool is_below = trace_dipole_total(middle, 1.0f - middle, index) < reflected;
        low = is_below ? middle : low;
        high = is_below ? high : middle;
    }
    return 0.5f * (low + high);
}

static void set_soft(const soft_preset* p, v3f colour, const treacle_look_material* look,
                     float scale, trace_material* out) {
    const float index = p->index, extinction = p->extinction / scale;
    float s[3], a[3];
    for (int k = 0; k < 3; ++k) {
        float albedo = albedo_for(trace_min(trace_max(v3f_at(colour, k), 0.01f), 0.95f), index);
        s[k] = albedo * extinction;
        a[k] = (1.0f - albedo) * extinction;
    }
    set_medium(v3f_from(s), v3f_from(a), index, p->roughness, look, out);
}

static bool is_clear(treacle_look_kind kind) {
    bool is = false;
    for (size_t i = 0; i < sizeof(clears) / sizeof(clears[0]); ++i) {
        is = is || clears[i].kind == kind;
    }
    return is;
}

static treacle_look_kind kind_of_name(const char* name) {
    for (int k = 1; k < TREACLE_LOOK_COUNT && name != NULL; ++k) {
        if (strcmp(name, look_names[k]) == 0) {
            return (treacle_look_kind)k;
        }
    }
    return TREACLE_LOOK_SOFT;
}

static const treacle_look_material* named(const treacle_look_material* looks, int count,
                                          const char* name, const treacle_look_material* other) {
    for (int i = 0; i < count && name != NULL; ++i) {
        if (looks[i].name != NULL && strcmp(looks[i].name, name) == 0) {
            return &looks[i];
        }
    }
    return other;
}

// How bright liquid of 1500 K is beside the white walls of the studio: in truth some ten times.
static const float lava_glow = 10.0f;

// Domains larger than this are drawn as if they were that large.
static const double largest = 0.25; // m

static float scale_of(const treacle_look_material* look, const trace_look_room* room) {
    return (float)(look->scale > 0.0 ? look->scale : fmax(1.0, room->size / largest));
}

// Those that are made of numbers alone. False if the kind is none of them.
static bool set_preset(treacle_look_kind kind, const treacle_look_material* look,
                       const trace_look_room* room, v3f colour, trace_material* out) {
    float scale = scale_of(look, room);
    for (size_t i = 0; i < sizeof(clears) / sizeof(clears[0]); ++i) {
        if (clears[i].kind == kind) {
            set_clear(&clears[i], look, room, colour, out);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(media) / sizeof(media[0]); ++i) {
        const medium_preset* p = &media[i];
        if (p->kind == kind) {
            set_medium(v3f_scale(1000.0f / scale, v3f_from(p->scatter)),
                       v3f_scale(1000.0f / scale, v3f_from(p->absorb)), p->index, p->roughness,
                       look, out);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(softs) / sizeof(softs[0]); ++i) {
        if (softs[i].kind == kind) {
            set_soft(&softs[i], colour, look, scale, out);
            return true;
        }
    }
    return false;
}

static void set_kind(treacle_look_kind kind, const treacle_look_material* look,
                     const trace_look_room* room, v3f colour, trace_material* out) {
    if (set_preset(kind, look, room, colour, out)) {
        return;
    }
    out->is_hidden = kind == TREACLE_LOOK_NONE;
    if (kind == TREACLE_LOOK_METAL) {
        out->kind = TRACE_METAL;
        trace_facets_init(&out->facets, choose(look->roughness, 0.15f), 0.0f);
    } else {
        out->kind = TRACE_DIFFUSE;
        if (kind == TREACLE_LOOK_LAVA) {
            out->colour = v3f_make(0.035f, 0.032f, 0.030f);
            out->glows = true;
            out->glow = lava_glow * (float)look->glow;
            out->crust = 1.0f;
        }
    }
}

static void set_material(const treacle_look_material* look, treacle_look_kind kind, v3f colour,
                         const trace_look_room* room, trace_material* out) {
    colour = look->colour[0] >= 0.0 ? v3f_from_double(look->colour) : colour;
    *out = (trace_material){.colour = colour};
    set_kind(kind, look, room, colour, out);
    out->texture = (trace_texture)look->texture;
    out->texture_size = (float)(look->texture_size > 0.0 ? look->texture_size : 0.05 * room->size);
}

// What the look, the material or its name say, in that order.
static treacle_look_kind kind_of(const treacle_look_material* look,
                                 const treacle_material_def* material, bool is_flat) {
    if (look->kind != TREACLE_LOOK_AUTO) {
        return look->kind;
    }
    treacle_look_kind kind = material == NULL                      ? TREACLE_LOOK_HONEY
                             : material->look != TREACLE_LOOK_AUTO ? material->look
                                                                   : kind_of_name(material->name);
    return is_flat && is_clear(kind) ? TREACLE_LOOK_SOFT : kind;
}

void trace_look_material(const treacle_render_def* def, int index, const trace_look_room* room,
                         trace_material* out) {
    TREACLE_ASSERT(index >= 0);
    const treacle_material_def* material =
        index < def->material_count ? &def->materials[index] : NULL;
    const treacle_look_def* all = &def->look;
    const treacle_look_material* look =
        named(all->materials, all->material_count, material == NULL ? NULL : material->name,
              &all->liquid);
    treacle_look_kind kind = kind_of(look, material, room->is_flat);
    v3f colour = material != NULL ? v3f_from_double(material->colour) : v3f_make(0.8f, 0.45f, 0.1f);
    set_material(look, kind, colour, room, out);
    if (material != NULL && material->liquidus > 0.0) {
        out->melting[0] = (float)material->solidus;
        out->melting[1] = (float)material->liquidus;
    }
    bool is_plain = kind == TREACLE_LOOK_PAINT || kind == TREACLE_LOOK_METAL;
    out->is_tinted = is_plain && look->colour[0] < 0.0;
}

bool trace_look_molten(const treacle_render_def* def, int index, const trace_look_room* room,
                       trace_material* out) {
    const treacle_material_def* material =
        index < def->material_count ? &def->materials[index] : NULL;
    if (material == NULL || !(material->liquidus > 0.0)) {
        return false;
    }
    const treacle_look_def* all = &def->look;
    const treacle_look_material* look =
        named(all->materials, all->material_count, material->name, &all->liquid);
    if (kind_of(look, material, room->is_flat) != TREACLE_LOOK_WAX || room->is_flat) {
        return false;
    }
    // What is left of white light after a centimetre of molten candle wax: nearly all of it.
    static const clear_preset molten = {
        TREACLE_LOOK_WAX, {0.97f, 0.93f, 0.80f}, 1.43f, 4.0f, 0.0f, 0.4f};
    *out = (trace_material){.colour = v3f_grey(1.0f)};
    set_clear(&molten, look, room, v3f_grey(0.9f), out);
    return true;
}

const float* trace_look_paint(int paint) {
    TREACLE_ASSERT(paint >= 0 && paint < TRACE_LOOK_PAINTS);
    static const float paints[TRACE_LOOK_PAINTS][3] = {
        {0.36f, 0.38f, 0.40f}, {0.55f, 0.13f, 0.10f}, {0.10f, 0.28f, 0.45f}, {0.60f, 0.42f, 0.08f},
        {0.14f, 0.36f, 0.20f}, {0.40f, 0.22f, 0.42f}, {0.62f, 0.60f, 0.56f}};
    return paints[paint];
}

void trace_look_solid(const treacle_look_material* look, int paint, double size,
                      trace_material* out) {
    bool is_auto = look->kind == TREACLE_LOOK_AUTO;
    const trace_look_room room = {.size = size, .depth = fmin(0.1 * size, 0.1 * largest)};
    set_material(look, is_auto ? TREACLE_LOOK_PAINT : look->kind, v3f_from(trace_look_paint(paint)),
                 &room, out);
}

void trace_look_ground(const treacle_look_def* look, double size, trace_material* out) {
    *out = (trace_material){.kind = TRACE_DIFFUSE,
                            .colour = v3f_from_double(look->ground_colour),
                            .texture = (trace_texture)look->ground_texture,
                            .texture_size = (float)(0.06 * size)};
    if (look->ground_roughness >= 0.0) {
        out->coat = 1.5f;
        trace_facets_init(&out->facets, (float)look->ground_roughness, 0.0f);
    }
}

trace_lamp trace_look_lamp(const treacle_lamp_def* lamp) {
    v3f centre = v3f_from_double(lamp->centre);
    trace_lamp out = {.is_disc = lamp->radius > 0.0, .centre = centre};
    out.normal = v3f_normalise(v3f_sub(v3f_from_double(lamp->target), centre));
    v3f_frame(out.normal, &out.side, &out.up);
    out.half[0] = (float)(out.is_disc ? lamp->radius : 0.5 * lamp->size[0]);
    out.half[1] = (float)(0.5 * lamp->size[1]);
    out.is_seen = lamp->seen;
    out.radiance = v3f_scale((float)lamp->strength, v3f_from_double(lamp->colour));
    return out;
}

// A lamp in the environment, with soft edges.
static v3f glow_of(v3f d, v3f towards, float half_angle, v3f radiance) {
    float c = v3f_dot(d, v3f_normalise(towards));
    float inner = cosf(0.75f * half_angle), outer = cosf(1.25f * half_angle);
    float t = trace_min(trace_max((c - outer) / (inner - outer), 0.0f), 1.0f);
    return v3f_scale(t * t * (3.0f - 2.0f * t), radiance);
}

static v3f studio(v3f d) {
    v3f low = v3f_make(0.62f, 0.61f, 0.59f), high = v3f_make(0.40f, 0.44f, 0.50f);
    v3f sum = v3f_mix(low, high, trace_min(trace_max(d.y, 0.0f), 1.0f));
    // A large lamp from the left above and before, a smaller one from behind that shines through.
    sum = v3f_add(sum,
                  glow_of(d, v3f_make(-0.75f, 0.85f, 0.55f), 0.24f, v3f_make(36.0f, 34.7f, 32.7f)));
    return v3f_add(
        sum, glow_of(d, v3f_make(0.55f, 0.42f, -0.85f), 0.20f, v3f_make(36.0f, 34.0f, 31.0f)));
}

static v3f sky(v3f d) {
    float t = sqrtf(trace_min(trace_max(d.y, 0.0f), 1.0f));
    return v3f_mix(v3f_make(0.95f, 0.97f, 1.00f), v3f_make(0.20f, 0.42f, 0.85f), t);
}

static v3f paint(treacle_environment kind, v3f d) {
    return kind == TREACLE_ENVIRONMENT_SKY    ? sky(d)
           : kind == TREACLE_ENVIRONMENT_DARK ? v3f_make(0.020f, 0.022f, 0.028f)
                                              : studio(d);
}

static v3f turned(v3f d, float angle) {
    float c = cosf(angle), s = sinf(angle);
    return v3f_make(c * d.x - s * d.z, d.y, s * d.x + c * d.z);
}

static treacle_status load_file(treacle_context* ctx, const treacle_look_def* look,
                                trace_environment* out) {
    exr_picture picture;
    TREACLE_TRY(exr_read_rgb(ctx, look->file, &picture));
    treacle_status status = trace_environment_create(ctx, picture.width, picture.height, out);
    for (int i = 0; i < picture.width * picture.height && status == TREACLE_OK; ++i) {
        const float* p = picture.values + 3 * (size_t)i;
        for (int k = 0; k < 3; ++k) {
            bool is_light = isfinite(p[k]) && p[k] > 0.0f;
            float light = is_light ? trace_min(p[k], 1e5f) * (float)look->light : 0.0f;
            ((float*)&out->pixel[i])[k] = light;
        }
    }
    exr_picture_destroy(&picture);
    return status;
}

treacle_status trace_look_environment(treacle_context* ctx, const treacle_look_def* look,
                                      trace_environment* out) {
    enum { WIDTH = 256, HEIGHT = 128 };
    if (look->environment == TREACLE_ENVIRONMENT_FILE) {
        return load_file(ctx, look, out);
    }
    TREACLE_TRY(trace_environment_create(ctx, WIDTH, HEIGHT, out));
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        v3f d = trace_environment_direction(out, i % WIDTH, i / WIDTH);
        v3f light = paint(look->environment, turned(d, (float)look->turn));
        out->pixel[i] = v3f_scale((float)look->light, light);
    }
    if (look->environment == TREACLE_ENVIRONMENT_SKY && look->sun_strength > 0.0) {
        const float half_angle = 0.0093f; // twice the true sun: softer shadows
        out->sun_direction = v3f_normalise(v3f_from_double(look->sun));
        out->sun_cosine = cosf(half_angle);
        float angle = 2.0f * TRACE_PI * (1.0f - out->sun_cosine);
        float strength = (float)(look->sun_strength * look->light) * 4.0f / angle;
        out->sun_radiance = v3f_scale(strength, v3f_make(1.0f, 0.93f, 0.82f));
    }
    return TREACLE_OK;
}
