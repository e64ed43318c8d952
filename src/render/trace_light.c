#include "render/trace_light.h"

#include "base/alloc.h"

// Directions of no brightness may still be bright between pixels: a floor under the density.
static const float brightness_floor = 0.02f;

treacle_status trace_environment_create(treacle_context* ctx, int width, int height,
                                        trace_environment* out) {
    TREACLE_ASSERT(width > 0 && height > 0);
    *out = (trace_environment){.ctx = ctx, .width = width, .height = height, .sun_cosine = 2.0f};
    size_t w = (size_t)width, h = (size_t)height;
    void* block = NULL;
    treacle_status status = alloc_zero(ctx, w * h, sizeof(v3f), "an environment", &block);
    out->pixel = block;
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, h + 1, sizeof(float), "an environment", &block);
        out->row_cdf = status == TREACLE_OK ? block : NULL;
    }
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, h + 1, sizeof(float), "an environment", &block);
        out->row_edge = status == TREACLE_OK ? block : NULL;
    }
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, h * (w + 1), sizeof(float), "an environment", &block);
        out->column_cdf = status == TREACLE_OK ? block : NULL;
    }
    if (status != TREACLE_OK) {
        trace_environment_destroy(out);
        return status;
    }
    for (int y = 0; y <= height; ++y) {
        out->row_edge[y] = cosf(TRACE_PI * (float)y / (float)height);
    }
    return TREACLE_OK;
}

void trace_environment_destroy(trace_environment* e) {
    if (e->ctx != NULL) {
        size_t w = (size_t)e->width, h = (size_t)e->height;
        alloc_free(e->ctx, e->pixel, w * h * sizeof(v3f));
        alloc_free(e->ctx, e->row_cdf, (h + 1) * sizeof(float));
        alloc_free(e->ctx, e->row_edge, (h + 1) * sizeof(float));
        alloc_free(e->ctx, e->column_cdf, h * (w + 1) * sizeof(float));
    }
    *e = (trace_environment){0};
}

v3f trace_environment_direction(const trace_environment* e, int x, int y) {
    TREACLE_ASSERT(x >= 0 && x < e->width && y >= 0 && y < e->height);
    float phi = 2.0f * TRACE_PI * (((float)x + 0.5f) / (float)e->width - 0.5f);
    float theta = TRACE_PI * ((float)y + 0.5f) / (float)e->height;
    return v3f_make(sinf(theta) * sinf(phi), cosf(theta), -sinf(theta) * cosf(phi));
}

// Rows differ in height by their area.
static float row_height(const trace_environment* e, int y) {
    return e->row_edge[y] - e->row_edge[y + 1];
}

void trace_environment_finish(trace_environment* e) {
    double sum = 0.0;
    for (int y = 0; y < e->height; ++y) {
        float* cdf = e->column_cdf + (size_t)y * (size_t)(e->width + 1);
        for (int x = 0; x < e->width; ++x) {
            float brightness = v3f_luminance(e->pixel[y * e->width + x]) + brightness_floor;
            cdf[x + 1] = cdf[x] + brightness;
        }
        sum += (double)(cdf[e->width] * row_height(e, y));
        e->row_cdf[y + 1] = (float)sum;
    }
    e->scale = (float)e->width / (2.0f * TRACE_PI * (float)sum);
}

typedef struct picture_place {
    float x, y; // pixels
} picture_place;

static float row_of(const trace_environment* e, float height) {
    float angle = acosf(trace_min(trace_max(height, -1.0f), 1.0f));
    return angle * (1.0f / TRACE_PI) * (float)e->height;
}

static picture_place trace_light_place_of(const trace_environment* e, v3f d) {
    float u = atan2f(d.x, -d.z) * (0.5f / TRACE_PI) + 0.5f;
    return (picture_place){u * (float)e->width, row_of(e, d.y)};
}

static v3f pixel_at(const trace_environment* e, int x, int y) {
    x = x < 0 ? x + e->width : x >= e->width ? x - e->width : x;
    y = y < 0 ? 0 : y >= e->height ? e->height - 1 : y;
    return e->pixel[y * e->width + x];
}

// Between pixels.
static v3f radiance_at(const trace_environment* e, picture_place p) {
    float x = p.x + 0.5f, y = p.y + 0.5f; // one further on: positive, so that the cast rounds down
    int i = (int)x, j = (int)y;
    float fx = x - (float)i, fy = y - (float)j;
    v3f top = v3f_mix(pixel_at(e, i - 1, j - 1), pixel_at(e, i, j - 1), fx);
    v3f bottom = v3f_mix(pixel_at(e, i - 1, j), pixel_at(e, i, j), fx);
    return v3f_mix(top, bottom, fy);
}

v3f trace_environment_radiance(const trace_environment* e, v3f direction) {
    return radiance_at(e, trace_light_place_of(e, direction));
}

static float pdf_of(const trace_environment* e, int x, int y) {
    return (v3f_luminance(e->pixel[y * e->width + x]) + brightness_floor) * e->scale;
}

v3f trace_environment_look(const trace_environment* e, v3f direction, float* pdf) {
    picture_place p = trace_light_place_of(e, direction);
    int x = (int)p.x, y = (int)p.y;
    x = x < e->width ? x : e->width - 1;
    y = y < e->height ? y : e->height - 1;
    *pdf = pdf_of(e, x, y);
    return radiance_at(e, p);
}

v3f trace_environment_sun(const trace_environment* e, v3f direction) {
    return v3f_dot(direction, e->sun_direction) >= e->sun_cosine ? e->sun_radiance : v3f_grey(0.0f);
}

v3f trace_environment_irradiance(const trace_environment* e) {
    v3f sum = v3f_grey(0.0f);
    for (int y = 0; y < e->height / 2; ++y) {
        for (int x = 0; x < e->width; ++x) {
            float cosine = trace_environment_direction(e, x, y).y;
            sum = v3f_madd(sum, row_height(e, y) * cosine, e->pixel[y * e->width + x]);
        }
    }
    float angle = 2.0f * TRACE_PI / (float)e->width;
    float sun = 2.0f * TRACE_PI * trace_max(1.0f - e->sun_cosine, 0.0f) *
                trace_max(e->sun_direction.y, 0.0f);
    return v3f_madd(v3f_scale(angle, sum), sun, e->sun_radiance);
}

// The step of a growing table in which x lies, and how far into it.
static int find_step(const float* cdf, int count, float x, float* fraction) {
    int low = 0;
    for (int length = count; length > 1;) {
        int half = length / 2;
        low += cdf[low + half] <= x ? half : 0; // no branch: which way is a toss-up
        length -= half;
    }
    float width = cdf[low + 1] - cdf[low];
    *fraction = width > 0.0f ? trace_min((x - cdf[low]) / width, 0.99999f) : 0.5f;
    return low;
}

static void sample_environment(const trace_environment* e, trace_pair u, trace_light_sample* out) {
    float fy, fx;
    int y = find_step(e->row_cdf, e->height, u.a * e->row_cdf[e->height], &fy);
    const float* cdf = e->column_cdf + (size_t)y * (size_t)(e->width + 1);
    int x = find_step(cdf, e->width, u.b * cdf[e->width], &fx);
    float phi = 2.0f * TRACE_PI * (((float)x + fx) / (float)e->width - 0.5f);
    // Even in height, so in area.
    float height = e->row_edge[y] - fy * row_height(e, y);
    float across = sqrtf(trace_max(1.0f - height * height, 0.0f));
    out->direction = v3f_make(across * sinf(phi), height, -across * cosf(phi));
    out->distance = INFINITY;
    out->radiance = radiance_at(e, (picture_place){(float)x + fx, row_of(e, height)});
    out->pdf = pdf_of(e, x, y);
}

static void sample_sun(const trace_environment* e, trace_pair u, trace_light_sample* out) {
    float spread = 1.0f - e->sun_cosine, c = 1.0f - u.a * spread;
    float s = sqrtf(trace_max(1.0f - c * c, 0.0f)), phi = 2.0f * TRACE_PI * u.b;
    out->direction = v3f_to_world(v3f_make(s * cosf(phi), s * sinf(phi), c), e->sun_direction);
    out->distance = INFINITY;
    out->radiance = e->sun_radiance;
    out->pdf = 1.0f / (2.0f * TRACE_PI * spread);
}

float trace_lamp_hit(const trace_lamp* lamp, v3f origin, v3f direction) {
    float facing = v3f_dot(direction, lamp->normal);
    if (!(facing < -1e-6f)) {
        return INFINITY;
    }
    v3f to = v3f_sub(lamp->centre, origin);
    float t = v3f_dot(to, lamp->normal) / facing;
    v3f at = v3f_sub(v3f_scale(t, direction), to);
    bool is_in = lamp->is_disc ? v3f_dot(at, at) <= lamp->half[0] * lamp->half[0]
                               : fabsf(v3f_dot(at, lamp->side)) <= lamp->half[0] &&
                                     fabsf(v3f_dot(at, lamp->up)) <= lamp->half[1];
    return is_in && t > 0.0f ? t : INFINITY;
}

static float lamp_area(const trace_lamp* lamp) {
    return lamp->is_disc ? TRACE_PI * lamp->half[0] * lamp->half[0]
                         : 4.0f * lamp->half[0] * lamp->half[1];
}

float trace_lamp_pdf(const trace_lamp* lamp, v3f direction, float distance) {
    float facing = fabsf(v3f_dot(direction, lamp->normal));
    return distance * distance / trace_max(facing * lamp_area(lamp), 1e-20f);
}

static bool sample_lamp(const trace_lamp* lamp, v3f place, trace_pair u, trace_light_sample* out) {
    float x = 2.0f * u.a - 1.0f, y = 2.0f * u.b - 1.0f;
    if (lamp->is_disc) {
        float r = sqrtf(u.a), phi = 2.0f * TRACE_PI * u.b;
        x = r * cosf(phi);
        y = r * sinf(phi);
    }
    float h0 = lamp->half[0], h1 = lamp->is_disc ? h0 : lamp->half[1];
    v3f at = v3f_madd(v3f_madd(lamp->centre, x * h0, lamp->side), y * h1, lamp->up);
    v3f to = v3f_sub(at, place);
    out->distance = v3f_length(to);
    out->direction = v3f_normalise(to);
    out->radiance = lamp->radiance;
    out->pdf = trace_lamp_pdf(lamp, out->direction, out->distance);
    return v3f_dot(out->direction, lamp->normal) < 0.0f;
}

static bool has_sun(const trace_environment* e) {
    return !v3f_is_black(e->sun_radiance);
}

int trace_lights_count(const trace_lights* l) {
    return 1 + has_sun(l->environment) + l->lamp_count;
}

bool trace_lights_sample(const trace_lights* l, v3f place, trace_random* r,
                         trace_light_sample* out) {
    TREACLE_ASSERT(l->environment != NULL && l->lamp_count >= 0);
    int count = trace_lights_count(l), sun = has_sun(l->environment);
    int chosen = count > 1 ? (int)(trace_random_one(r) * (float)count) : 0;
    trace_pair u = trace_random_pair(r);
    bool is_lit = true;
    if (chosen < l->lamp_count) {
        is_lit = sample_lamp(&l->lamps[chosen], place, u, out);
    } else if (chosen == l->lamp_count && sun != 0) {
        sample_sun(l->environment, u, out);
    } else {
        sample_environment(l->environment, u, out);
    }
    out->is_sky = chosen >= l->lamp_count + sun;
    out->pdf /= (float)count;
    return is_lit && out->pdf > 0.0f;
}
