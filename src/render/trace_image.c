#include "render/trace_image.h"

#include "base/alloc.h"
#include "base/parallel.h"
#include "render/trace_photons.h"

enum { PASS_SAMPLES = 16 };

typedef struct image_job {
    trace_image* image;
    const trace_scene* scene;
    const trace_camera* camera;
    const trace_quality* quality;
    int columns, rows; // tiles
    uint8_t* is_done;  // tiles
    float* noise;      // tiles
    int from, to;      // samples of this pass
} image_job;

treacle_status trace_image_create(treacle_context* ctx, int width, int height, trace_image* out) {
    TREACLE_ASSERT(width > 0 && height > 0);
    *out = (trace_image){.ctx = ctx, .width = width, .height = height};
    void* block = NULL;
    TREACLE_TRY(
        alloc_zero(ctx, (size_t)width * (size_t)height, sizeof(trace_pixel), "a picture", &block));
    out->pixels = block;
    return TREACLE_OK;
}

void trace_image_destroy(trace_image* image) {
    if (image->ctx != NULL) {
        alloc_free(image->ctx, image->pixels,
                   (size_t)image->width * (size_t)image->height * sizeof(trace_pixel));
    }
    *image = (trace_image){0};
}

static void add_sample(const image_job* job, trace_pixel* pixel, const trace_ray* ray,
                       const trace_quest* found) {
    const trace_guide* guide = &found->guide;
    float brightness = v3f_luminance(found->light);
    pixel->sum = v3f_add(pixel->sum, found->light);
    pixel->albedo = v3f_add(pixel->albedo, guide->albedo);
    pixel->normal = v3f_add(pixel->normal, guide->normal);
    pixel->brightness += brightness;
    pixel->square += brightness * brightness;
    pixel->samples += 1.0f;
    if (guide->depth > 0.0f) {
        float motion[2];
        v3f place = v3f_madd(ray->origin, guide->depth, ray->direction);
        trace_camera_motion(job->camera, place, guide->velocity, motion);
        pixel->depth += guide->depth;
        pixel->hits += 1.0f;
        pixel->motion[0] += motion[0];
        pixel->motion[1] += motion[1];
    }
}

// The pass's samples of a run of pixels in a row, at most TRACE_WALKS_MAX of them together.
static void add_samples(const image_job* job, int x, int y, int pixels) {
    trace_image* image = job->image;
    trace_quest quests[TRACE_WALKS_MAX];
    int samples = job->to - job->from, count = pixels * samples;
    size_t first = (size_t)y * (size_t)image->width + (size_t)x;
    for (int i = 0; i < count; ++i) {
        uint32_t sample = (uint32_t)(job->from + i % samples);
        int along = i / samples;
        trace_random r =
            trace_random_make(job->quality->seed, (uint32_t)first + (uint32_t)along, sample);
        quests[i].ray = trace_camera_ray(job->camera, x + along, y, &r);
        quests[i].r = r;
    }
    trace_paths(job->scene, quests, count);
    for (int i = 0; i < count; ++i) {
        add_sample(job, &image->pixels[first + (size_t)(i / samples)], &quests[i].ray, &quests[i]);
    }
}

static float variance_of(const trace_pixel* p) {
    float n = trace_max(p->samples, 1.0f), mean = p->brightness / n;
    return trace_max(p->square / n - mean * mean, 0.0f) / n;
}

static float pixel_noise(const trace_pixel* p) {
    float mean = p->brightness / trace_max(p->samples, 1.0f);
    return sqrtf(variance_of(p) / (trace_max(mean, 0.0f) + 0.01f));
}

static float tile_noise(const trace_image* image, int x0, int y0) {
    float sum = 0.0f, count = 0.0f;
    for (int y = y0; y < y0 + TRACE_TILE && y < image->height; ++y) {
        for (int x = x0; x < x0 + TRACE_TILE && x < image->width; ++x) {
            sum += pixel_noise(&image->pixels[(size_t)y * (size_t)image->width + (size_t)x]);
            count += 1.0f;
        }
    }
    return sum / count;
}

static void render_tiles(void* data, int64_t begin, int64_t end) {
    const image_job* job = data;
    const trace_image* image = job->image;
    for (int64_t t = begin; t < end; ++t) {
        if (job->is_done[t] != 0) {
            continue;
        }
        int x0 = (int)(t % job->columns) * TRACE_TILE, y0 = (int)(t / job->columns) * TRACE_TILE;
        int x1 = x0 + TRACE_TILE < image->width ? x0 + TRACE_TILE : image->width;
        int together = TRACE_WALKS_MAX / (job->to - job->from);
        for (int y = y0; y < y0 + TRACE_TILE && y < image->height; ++y) {
            for (int x = x0; x < x1; x += together) {
                add_samples(job, x, y, together < x1 - x ? together : x1 - x);
            }
        }
        job->noise[t] = tile_noise(image, x0, y0);
    }
}

// A tile is done when it and its neighbours are quiet enough: one that missed the bright spot next
// door by chance must not stop.
static int64_t mark_done(const image_job* job) {
    int64_t open = 0;
    for (int t = 0; t < job->columns * job->rows; ++t) {
        float worst = 0.0f;
        for (int n = 0; n < 9; ++n) {
            int x = t % job->columns + n % 3 - 1, y = t / job->columns + n / 3 - 1;
            bool is_there = x >= 0 && y >= 0 && x < job->columns && y < job->rows;
            float fraction = n == 4 ? 1.0f : 0.5f;
            worst =
                is_there ? trace_max(worst, fraction * job->noise[y * job->columns + x]) : worst;
        }
        bool is_done = job->quality->noise > 0.0f && worst <= job->quality->noise;
        job->is_done[t] = is_done ? 1 : job->is_done[t];
        open += job->is_done[t] == 0;
    }
    return open;
}

// Of an image that has samples: tiles with fewer than the others were quiet.
static int64_t take_up(const image_job* job) {
    const trace_image* image = job->image;
    int64_t open = 0;
    for (int t = 0; t < job->columns * job->rows; ++t) {
        int x = t % job->columns * TRACE_TILE, y = t / job->columns * TRACE_TILE;
        const trace_pixel* first = &image->pixels[(size_t)y * (size_t)image->width + (size_t)x];
        job->noise[t] = tile_noise(image, x, y);
        job->is_done[t] = first->samples < (float)image->done ? 1 : 0;
        open += job->is_done[t] == 0;
    }
    return image->done > 0 ? mark_done(job) : open;
}

static void render_passes(image_job* job) {
    int tiles = job->columns * job->rows;
    int64_t open = take_up(job);
    job->image->is_quiet = open == 0;
    for (job->from = job->image->done; job->from < job->quality->samples && open > 0;
         job->from = job->to) {
        int left = job->quality->samples - job->from;
        job->to = job->from + (PASS_SAMPLES < left ? PASS_SAMPLES : left);
        if (job->scene->photons != NULL) {
            trace_photons_send(job->scene->photons, job->from / PASS_SAMPLES);
        }
        parallel_for(job->image->ctx, tiles, 1, render_tiles, job);
        job->image->rays += open * TRACE_TILE * TRACE_TILE * (job->to - job->from);
        job->image->done = job->to;
        open = mark_done(job);
        job->image->is_quiet = open == 0;
        double fraction = open == 0 ? 1.0 : (double)job->to / job->quality->samples;
        if (job->quality->progress != NULL &&
            !job->quality->progress(fraction, job->quality->user)) {
            job->image->is_ended = fraction < 1.0;
            return;
        }
    }
}

treacle_status trace_image_render(trace_image* image, const trace_scene* scene,
                                  const trace_camera* camera, const trace_quality* quality) {
    TREACLE_ASSERT(image->width == camera->width && image->height == camera->height);
    TREACLE_ASSERT(quality->samples > 0 && quality->noise >= 0.0f);
    image_job job = {.image = image,
                     .scene = scene,
                     .camera = camera,
                     .quality = quality,
                     .columns = (image->width + TRACE_TILE - 1) / TRACE_TILE,
                     .rows = (image->height + TRACE_TILE - 1) / TRACE_TILE};
    size_t tiles = (size_t)job.columns * (size_t)job.rows;
    void* done = NULL;
    void* noise = NULL;
    treacle_status status = alloc_zero(image->ctx, tiles, 1, "tiles of a picture", &done);
    if (status == TREACLE_OK) {
        status = alloc_zero(image->ctx, tiles, sizeof(float), "tiles of a picture", &noise);
    }
    if (status == TREACLE_OK) {
        job.is_done = done;
        job.noise = noise;
        render_passes(&job);
        alloc_free(image->ctx, noise, tiles * sizeof(float));
    }
    alloc_free(image->ctx, done, done == NULL ? 0 : tiles);
    return status;
}

treacle_status trace_layers_create(const trace_image* image, trace_layers* out) {
    TREACLE_ASSERT(image->pixels != NULL);
    size_t n = (size_t)image->width * (size_t)image->height;
    void* block = NULL;
    *out = (trace_layers){.ctx = image->ctx, .width = image->width, .height = image->height};
    size_t floats = n * 13;
    TREACLE_TRY(alloc_array(image->ctx, floats, sizeof(float), "layers of a picture", &block));
    out->block = block;
    out->colour = block;
    out->albedo = out->colour + n;
    out->normal = out->albedo + n;
    out->depth = (float*)(out->normal + n);
    out->motion = (float(*)[2])(out->depth + n);
    out->variance = (float*)(out->motion + n);
    for (size_t i = 0; i < n; ++i) {
        const trace_pixel* p = &image->pixels[i];
        float scale = 1.0f / trace_max(p->samples, 1.0f), of_hits = 1.0f / trace_max(p->hits, 1.0f);
        out->colour[i] = v3f_scale(scale, p->sum);
        out->albedo[i] = v3f_scale(scale, p->albedo);
        out->normal[i] = v3f_scale(scale, p->normal);
        out->depth[i] = p->depth * of_hits;
        out->motion[i][0] = p->motion[0] * of_hits;
        out->motion[i][1] = p->motion[1] * of_hits;
        out->variance[i] = variance_of(p);
    }
    return TREACLE_OK;
}

void trace_layers_destroy(trace_layers* l) {
    if (l->ctx != NULL) {
        alloc_free(l->ctx, l->block, (size_t)l->width * (size_t)l->height * 13 * sizeof(float));
    }
    *l = (trace_layers){0};
}

v3f trace_tone_map(v3f light, trace_tone tone, float exposure) {
    v3f x = v3f_scale(exposure, light);
    float c[3] = {trace_max(x.x, 0.0f), trace_max(x.y, 0.0f), trace_max(x.z, 0.0f)};
    for (int k = 0; k < 3; ++k) {
        // A film's curve: a toe, a nearly straight middle, a long shoulder [Nar15].
        float a = 0.72f * c[k];
        c[k] = tone == TRACE_TONE_FILMIC
                   ? a * (2.51f * a + 0.03f) / (a * (2.43f * a + 0.59f) + 0.14f)
                   : c[k];
        c[k] = trace_min(c[k], 1.0f);
    }
    return v3f_make(c[0], c[1], c[2]);
}
