// From a frame to a picture: surface, scene, light, samples.
#include "treacle/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/profile.h"
#include "image/exr.h"
#include "render/picture.h"
#include "render/picture_part.h"
#include "render/trace_look.h"
#include "render/trace_stage.h"

enum { AXIS_COUNT = 3, SIZE_MAX_PIXELS = 16384, MATERIALS_MAX = 256 };

treacle_render_def treacle_render_def_default(void) {
    return (treacle_render_def){
        .def_size = sizeof(treacle_render_def),
        .width = 960,
        .height = 540,
        .samples = 256,
        .noise = 0.02,
        .max_bounces = 32,
        .denoise = true,
        .mesh = treacle_mesh_def_default(),
        .look = treacle_look_def_default(),
        .camera = treacle_camera_def_default(),
    };
}

static treacle_status render_check_def(treacle_context* ctx, const treacle_render_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the render def does not come from treacle_render_def_default()");
    }
    if (def->width < 1 || def->height < 1 || def->width > SIZE_MAX_PIXELS ||
        def->height > SIZE_MAX_PIXELS) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a picture of %d x %d pixels, expected 1 to %d",
                          def->width, def->height, SIZE_MAX_PIXELS);
    }
    if (def->samples < 1 || def->samples > 1000000 || !(def->noise >= 0.0)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "%d samples a pixel with a noise of %g, expected 1 to 1000000 and 0 or "
                          "more",
                          def->samples, def->noise);
    }
    if (def->max_bounces < 1 || def->max_bounces > 1000) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%d bounces, expected 1 to 1000",
                          def->max_bounces);
    }
    const treacle_camera_def* camera = &def->camera;
    if (!(camera->field_of_view >= 0.01 && camera->field_of_view <= 3.0)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a field of view of %g rad, expected 0.01 to 3",
                          camera->field_of_view);
    }
    if (def->look.environment == TREACLE_ENVIRONMENT_FILE && def->look.file == NULL) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "an environment from a file, but the look names no file");
    }
    return TREACLE_OK;
}

treacle_status treacle_render_bounds(treacle_context* ctx, const treacle_frame* frame,
                                     double low[3], double high[3]) {
    const treacle_array* tile = treacle_frame_find(frame, "tile_coord");
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    const treacle_array* position = treacle_frame_find(frame, "position");
    if (tile == NULL || first == NULL || position == NULL || tile->type != TREACLE_TYPE_I32 ||
        tile->components != AXIS_COUNT || first->type != TREACLE_TYPE_I64 ||
        first->components != 1 || first->count != tile->count + 1 ||
        position->type != TREACLE_TYPE_F32 || position->components != AXIS_COUNT) {
        return check_fail(ctx, TREACLE_ERR_FORMAT, "frame %lld has no particles in tiles",
                          (long long)frame->number);
    }
    const int32_t* coord = tile->data;
    const int64_t* start = first->data;
    const float* place = position->data;
    for (int64_t t = 0; t < tile->count; ++t) {
        for (int64_t i = start[t]; i < start[t + 1] && i >= 0 && i < position->count; ++i) {
            for (int k = 0; k < AXIS_COUNT; ++k) {
                double cells = 8.0 * coord[AXIS_COUNT * t + k] + (double)place[AXIS_COUNT * i + k];
                double x = frame->origin[k] + frame->cell * cells;
                low[k] = fmin(low[k], x);
                high[k] = fmax(high[k], x);
            }
        }
    }
    return TREACLE_OK;
}

static double mean_noise(const trace_layers* l) {
    double sum = 0.0;
    size_t n = (size_t)l->width * (size_t)l->height;
    for (size_t i = 0; i < n; ++i) {
        double light = fmax((double)v3f_luminance(l->colour[i]), 0.0);
        sum += sqrt((double)l->variance[i] / (light + 0.01));
    }
    return sum / (double)n;
}

// With what an earlier call has kept, if it is the same picture; what is ended early is kept.
static treacle_status render_on(trace_stage* s, trace_image* image, const trace_quality* quality) {
    const char* keep = s->def->keep;
    uint64_t hash = keep == NULL ? 0 : picture_part_hash(s);
    if (keep != NULL) {
        picture_part_read(keep, hash, image);
    }
    TREACLE_TRY(trace_image_render(image, &s->scene, &s->camera, quality));
    if (keep != NULL && image->is_ended) {
        return picture_part_write(keep, hash, image);
    }
    if (keep != NULL) {
        remove(keep);
    }
    return TREACLE_OK;
}

static treacle_status take_picture(trace_stage* s, treacle_picture* picture) {
    const treacle_render_def* def = s->def;
    trace_image image;
    TREACLE_TRY(trace_image_create(s->ctx, def->width, def->height, &image));
    // The seed changes with the frame: noise that stands still looks like dirt on the glass.
    trace_quality quality = {.samples = def->samples,
                             .noise = (float)def->noise / sqrtf(s->exposure),
                             .seed = (uint32_t)(def->seed + (uint64_t)s->frame->number),
                             .progress = def->progress,
                             .user = def->progress_user};
    treacle_status status = render_on(s, &image, &quality);
    if (status == TREACLE_OK) {
        status = trace_layers_create(&image, &picture->layers);
    }
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)def->width * (size_t)def->height; ++i) {
        sum += (double)image.pixels[i].samples;
    }
    picture->stats.paths = (int64_t)sum;
    picture->stats.is_quiet = image.is_quiet;
    picture->stats.samples = sum / ((double)def->width * def->height);
    trace_image_destroy(&image);
    TREACLE_TRY(status);
    picture->stats.noise = mean_noise(&picture->layers);
    picture->tone = def->look.tone;
    picture->exposure = s->exposure;
    return def->denoise ? trace_denoise(&picture->layers) : TREACLE_OK;
}

static treacle_status draw(trace_stage* s, treacle_picture* picture) {
    double start = profile_now();
    treacle_mesh_def def = s->def->mesh;
    s->flat = trace_flat_of(s->frame);
    def.flat_cells = s->flat.cells;
    uint8_t hidden[MATERIALS_MAX] = {0};
    def.hidden = hidden;
    for (int i = 0; i < s->def->material_count && i < MATERIALS_MAX; ++i) {
        trace_material look;
        const trace_look_room anywhere = {1.0, 0.1, false};
        trace_look_material(s->def, i, &anywhere, &look);
        hidden[i] = look.is_hidden ? 1 : 0;
        def.hidden_count = i + 1;
    }
    TREACLE_TRY(treacle_mesh_create(s->ctx, s->frame, &def, &s->mesh));
    double meshed = profile_now();
    picture->stats.seconds_mesh = meshed - start;
    picture->stats.triangles = treacle_mesh_get_view(s->mesh).triangle_count;
    TREACLE_TRY(trace_stage_set(s));
    TREACLE_TRY(take_picture(s, picture));
    picture->stats.seconds_render = profile_now() - meshed;
    return TREACLE_OK;
}

treacle_status treacle_render_frame(treacle_context* ctx, const treacle_frame* frame,
                                    const treacle_render_def* def, treacle_picture** out) {
    *out = NULL;
    TREACLE_TRY(render_check_def(ctx, def));
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_picture), "a picture", &block));
    treacle_picture* picture = block;
    picture->ctx = ctx;
    treacle_status status = alloc_zero(ctx, 1, sizeof(trace_stage), "a scene to draw", &block);
    if (status == TREACLE_OK) {
        trace_stage* s = block;
        s->ctx = ctx;
        s->frame = frame;
        s->def = def;
        status = draw(s, picture);
        trace_stage_clear(s);
        alloc_free(ctx, s, sizeof(*s));
    }
    if (status != TREACLE_OK) {
        treacle_picture_destroy(picture);
        return status;
    }
    *out = picture;
    return TREACLE_OK;
}

void treacle_picture_destroy(treacle_picture* picture) {
    if (picture != NULL) {
        trace_layers_destroy(&picture->layers);
        alloc_free(picture->ctx, picture, sizeof(*picture));
    }
}

treacle_picture_stats treacle_picture_get_stats(const treacle_picture* picture) {
    return picture->stats;
}

treacle_status picture_develop(treacle_context* ctx, const treacle_picture* p, image_rgb8* out) {
    const trace_layers* l = &p->layers;
    TREACLE_TRY(image_create(ctx, l->width, l->height, out));
    for (int y = 0; y < l->height; ++y) {
        for (int x = 0; x < l->width; ++x) {
            v3f light = l->colour[(size_t)y * (size_t)l->width + (size_t)x];
            v3f shown = trace_tone_map(light, (trace_tone)p->tone, p->exposure);
            uint8_t* to = image_at(out, x, y);
            for (int k = 0; k < 3; ++k) {
                to[k] = image_encode_srgb(v3f_at(shown, k));
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status write_png(treacle_context* ctx, const treacle_picture* p, const char* path) {
    image_rgb8 image;
    TREACLE_TRY(picture_develop(ctx, p, &image));
    treacle_status status = png_write(ctx, &image, path);
    image_destroy(&image);
    return status;
}

static treacle_status write_exr(treacle_context* ctx, const treacle_picture* p, const char* path) {
    const trace_layers* l = &p->layers;
    const exr_channel channels[] = {
        {"R", &l->colour[0].x, 3},
        {"G", &l->colour[0].y, 3},
        {"B", &l->colour[0].z, 3},
        {"albedo.R", &l->albedo[0].x, 3},
        {"albedo.G", &l->albedo[0].y, 3},
        {"albedo.B", &l->albedo[0].z, 3},
        {"depth.Z", l->depth, 1},
        {"normal.X", &l->normal[0].x, 3},
        {"normal.Y", &l->normal[0].y, 3},
        {"normal.Z", &l->normal[0].z, 3},
        {"velocity.X", &l->motion[0][0], 2},
        {"velocity.Y", &l->motion[0][1], 2},
    };
    exr_layout layout = {l->width, l->height, sizeof(channels) / sizeof(channels[0]), channels};
    return exr_write(ctx, &layout, path);
}

treacle_status treacle_picture_write(treacle_context* ctx, const treacle_picture* picture,
                                     const char* path) {
    size_t length = strlen(path);
    const char* ending = length > 4 ? path + length - 4 : "";
    if (strcasecmp(ending, ".exr") == 0) {
        return write_exr(ctx, picture, path);
    }
    if (strcasecmp(ending, ".png") == 0) {
        return write_png(ctx, picture, path);
    }
    return check_fail(ctx, TREACLE_ERR_USAGE, "%s: the ending must be .png or .exr", path);
}
