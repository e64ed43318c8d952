// From a frame to a picture: surface, scene, light, samples.
#include "treacle/render.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "image/exr.h"
#include "image/image.h"
#include "render/trace_image.h"
#include "render/trace_look.h"
#include "render/trace_solid.h"

enum { AXIS_COUNT = 3, SIZE_MAX_PIXELS = 16384, MATERIALS_MAX = 258 };

struct treacle_picture {
    treacle_context* ctx;
    trace_layers layers;
    treacle_tone tone;
    float exposure;
    treacle_picture_stats stats;
};

// Everything that a picture is made from.
typedef struct stage {
    treacle_context* ctx;
    const treacle_frame* frame;
    const treacle_render_def* def;
    treacle_mesh* mesh;
    float* moved; // vertices at the end of the exposure; NULL: nothing moves
    size_t moved_floats;
    solid_meshes solids;
    trace_material* materials;
    trace_lamp* lamps;
    trace_environment environment;
    trace_scene scene;
    trace_camera camera;
    double low[3], high[3]; // what the camera frames
    double size;            // m, of the domain
    float exposure;
} stage;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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

static treacle_status check_def(treacle_context* ctx, const treacle_render_def* def) {
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

static treacle_status find_box(stage* s) {
    const treacle_frame* f = s->frame;
    double square = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double extent = f->cell * f->cells[k];
        square += extent * extent;
        s->low[k] = s->def->box_set ? s->def->low[k] : INFINITY;
        s->high[k] = s->def->box_set ? s->def->high[k] : -INFINITY;
    }
    s->size = sqrt(square);
    if (!s->def->box_set) {
        TREACLE_TRY(treacle_render_bounds(s->ctx, f, s->low, s->high));
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        if (!(s->low[k] <= s->high[k])) { // no liquid: the domain
            s->low[k] = f->origin[k];
            s->high[k] = f->origin[k] + f->cell * f->cells[k];
        }
    }
    return TREACLE_OK;
}

// Vertices drift with their velocity while the shutter is open.
static treacle_status move_vertices(stage* s, const treacle_mesh_view* view, float** from) {
    double open = s->def->camera.shutter / s->frame->fps;
    *from = NULL;
    if (!(open > 0.0) || view->velocity == NULL || view->vertex_count == 0) {
        return TREACLE_OK;
    }
    size_t n = 3 * (size_t)view->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(s->ctx, 2 * n, sizeof(float), "moving vertices", &block));
    s->moved = block;
    s->moved_floats = 2 * n;
    for (size_t i = 0; i < n; ++i) {
        float step = (float)(0.5 * open) * view->velocity[i];
        s->moved[i] = view->position[i] - step;
        s->moved[n + i] = view->position[i] + step;
    }
    *from = s->moved;
    return TREACLE_OK;
}

static treacle_status add_liquid(stage* s) {
    treacle_mesh_view view = treacle_mesh_get_view(s->mesh);
    float* from = NULL;
    TREACLE_TRY(move_vertices(s, &view, &from));
    trace_triangles triangles = {.vertex_count = view.vertex_count,
                                 .triangle_count = view.triangle_count,
                                 .from = from != NULL ? from : view.position,
                                 .to = from != NULL ? from + 3 * view.vertex_count : NULL,
                                 .triangles = view.triangles};
    if (view.triangle_count == 0) {
        return TREACLE_OK;
    }
    s->scene.meshes[s->scene.mesh_count++] = (trace_mesh){.triangles = view.triangles,
                                                          .normal = view.normal,
                                                          .colour = view.colour,
                                                          .temperature = view.temperature,
                                                          .rest = view.rest,
                                                          .velocity = view.velocity,
                                                          .vertex_material = view.material};
    return trace_rays_add(s->scene.rays, &triangles);
}

static treacle_status add_solids(stage* s) {
    TREACLE_TRY(solid_meshes_create(s->ctx, s->def, s->frame, &s->solids));
    for (int i = 0; i < s->solids.count && s->scene.mesh_count < TRACE_MESHES_MAX; ++i) {
        const surface_mesh* m = &s->solids.meshes[i];
        if (m->triangle_count == 0) {
            continue;
        }
        trace_triangles triangles = {.vertex_count = m->vertex_count,
                                     .triangle_count = m->triangle_count,
                                     .from = &m->place[0][0],
                                     .triangles = &m->triangle[0][0]};
        s->scene.meshes[s->scene.mesh_count++] = (trace_mesh){
            .triangles = &m->triangle[0][0],
            .normal = &m->normal[0][0],
            .material = s->scene.material_count - 1,
        };
        TREACLE_TRY(trace_rays_add(s->scene.rays, &triangles));
    }
    return TREACLE_OK;
}

// The scene's materials, then the ground's and the solids'.
static treacle_status set_materials(stage* s) {
    int liquids = s->def->material_count > 0 ? s->def->material_count : 1;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, MATERIALS_MAX, sizeof(trace_material), "looks", &block));
    s->materials = block;
    liquids = liquids <= MATERIALS_MAX - 2 ? liquids : MATERIALS_MAX - 2;
    for (int i = 0; i < liquids; ++i) {
        trace_look_material(s->def, i, s->size, &s->materials[i]);
    }
    trace_look_ground(&s->def->look, s->size, &s->materials[liquids]);
    trace_look_solid(&s->materials[liquids + 1]);
    s->scene.materials = s->materials;
    s->scene.material_count = liquids + 2;
    for (int i = 0; i <= TRACE_GLOW_STEPS; ++i) {
        s->scene.glow[i] = trace_black_body(500.0f + 10.0f * (float)i);
    }
    return TREACLE_OK;
}

static void set_ground(stage* s) {
    const treacle_look_def* look = &s->def->look;
    double height = s->frame->origin[1] + look->ground_height;
    // A little below the domain, so that liquid which lies on it does not flicker with it.
    double extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        extent = fmax(extent, s->high[k] - s->low[k]);
    }
    s->scene.ground = (trace_ground){
        .is_there = look->ground,
        .height = (float)(height - 1e-3 * s->frame->cell),
        .centre = {(float)(0.5 * (s->low[0] + s->high[0])), (float)height,
                   (float)(0.5 * (s->low[2] + s->high[2]))},
        .near = (float)(2.0 * extent),
        .far = (float)(9.0 * extent),
        .material = s->scene.material_count - 2,
    };
}

// The lower half shows what ground far away would, so that the ground can fade into it.
static void set_backdrop(stage* s) {
    trace_environment* e = &s->environment;
    const treacle_look_def* look = &s->def->look;
    v3f ground = v3f_mul(v3f_from_double(look->ground_colour),
                         v3f_scale(1.0f / TRACE_PI, trace_environment_irradiance(e)));
    bool is_file = look->environment == TREACLE_ENVIRONMENT_FILE;
    for (int y = e->height / 2; y < e->height && look->ground && !is_file; ++y) {
        for (int x = 0; x < e->width; ++x) {
            e->pixel[y * e->width + x] = ground;
        }
    }
    float bright =
        v3f_luminance(ground) / fmaxf(v3f_luminance(v3f_from_double(look->ground_colour)), 0.01f);
    bool is_dark = look->environment == TREACLE_ENVIRONMENT_DARK;
    s->exposure = is_dark ? 1.0f : 0.95f / fmaxf(bright, 1e-6f);
    s->exposure *= (float)pow(2.0, look->exposure);
    s->scene.has_backdrop = look->ground && !is_file;
    s->scene.backdrop_low = ground;
    bool is_sky = look->environment == TREACLE_ENVIRONMENT_SKY;
    s->scene.backdrop_high =
        is_sky ? trace_environment_radiance(e, v3f_normalise(v3f_make(0.0f, 0.3f, -1.0f)))
               : v3f_scale(0.62f, ground);
}

static treacle_status set_lights(stage* s) {
    const treacle_look_def* look = &s->def->look;
    TREACLE_TRY(trace_look_environment(s->ctx, look, &s->environment));
    set_backdrop(s);
    trace_environment_finish(&s->environment);
    void* block = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, (size_t)look->lamp_count, sizeof(trace_lamp), "lamps", &block));
    s->lamps = block;
    for (int i = 0; i < look->lamp_count; ++i) {
        s->lamps[i] = trace_look_lamp(&look->lamps[i]);
    }
    s->scene.lights = (trace_lights){&s->environment, look->lamp_count, s->lamps};
    return TREACLE_OK;
}

// Eye and target between the keys, by Catmull and Rom's curve.
static void follow_keys(const treacle_camera_def* camera, double time, double eye[3],
                        double target[3]) {
    int n = camera->key_count, i = 0;
    while (i < n - 2 && time >= camera->keys[i + 1].time) {
        i += 1;
    }
    const treacle_camera_key* key[4];
    for (int k = 0; k < 4; ++k) {
        int at = i + k - 1;
        key[k] = &camera->keys[at < 0 ? 0 : at >= n ? n - 1 : at];
    }
    double span = key[2]->time - key[1]->time;
    double t = span > 0.0 ? fmin(fmax((time - key[1]->time) / span, 0.0), 1.0) : 0.0;
    const double w[4] = {0.5 * (-t + 2.0 * t * t - t * t * t),
                         0.5 * (2.0 - 5.0 * t * t + 3.0 * t * t * t),
                         0.5 * (t + 4.0 * t * t - 3.0 * t * t * t), 0.5 * (-t * t + t * t * t)};
    for (int a = 0; a < AXIS_COUNT; ++a) {
        eye[a] = target[a] = 0.0;
        for (int k = 0; k < 4; ++k) {
            eye[a] += w[k] * key[k]->eye[a];
            target[a] += w[k] * key[k]->target[a];
        }
    }
}

// Far enough away that the box fits, from the right, above and in front.
static void frame_box(const stage* s, double eye[3], double target[3]) {
    const treacle_camera_def* camera = &s->def->camera;
    double margin = 0.0, extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        target[k] = 0.5 * (s->low[k] + s->high[k]);
        extent = fmax(extent, s->high[k] - s->low[k]);
    }
    margin = 0.03 * extent + 2.0 * s->frame->cell;
    trace_camera probe = {.width = s->def->width, .height = s->def->height};
    const double direction[3] = {0.42, 0.36, 1.0};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        eye[k] = target[k] + direction[k];
    }
    trace_camera_aim(&probe, v3f_from_double(eye), v3f_from_double(target),
                     (float)camera->field_of_view);
    double away = 0.0;
    for (int c = 0; c < 8; ++c) {
        double p[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            double half = 0.5 * (s->high[k] - s->low[k]) + margin;
            p[k] = (c >> k & 1) != 0 ? half : -half;
        }
        v3f q = v3f_from_double(p);
        double depth = (double)v3f_dot(q, probe.forward);
        double across = fabs((double)v3f_dot(q, probe.right)) / (double)probe.half_slope[0];
        double upward = fabs((double)v3f_dot(q, probe.up)) / (double)probe.half_slope[1];
        away = fmax(away, fmax(across, upward) - depth);
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        eye[k] = target[k] - away * (double)(&probe.forward.x)[k];
    }
}

static void set_camera(stage* s) {
    const treacle_camera_def* camera = &s->def->camera;
    double eye[3], target[3];
    if (camera->key_count > 0) {
        follow_keys(camera, s->frame->time, eye, target);
    } else if (camera->eye_set) {
        memcpy(eye, camera->eye, sizeof(eye));
        memcpy(target, camera->target, sizeof(target));
    } else {
        frame_box(s, eye, target);
    }
    double angle = camera->turntable * s->frame->time, c = cos(angle), sn = sin(angle);
    double x = eye[0] - target[0], z = eye[2] - target[2];
    eye[0] = target[0] + c * x + sn * z;
    eye[2] = target[2] - sn * x + c * z;
    s->camera = (trace_camera){.width = s->def->width,
                               .height = s->def->height,
                               .lens = (float)(0.5 * camera->aperture),
                               .focus = (float)camera->focus,
                               .shutter = (float)camera->shutter};
    trace_camera_aim(&s->camera, v3f_from_double(eye), v3f_from_double(target),
                     (float)camera->field_of_view);
}

static treacle_status set_scene(stage* s) {
    TREACLE_TRY(find_box(s));
    TREACLE_TRY(set_materials(s));
    TREACLE_TRY(set_lights(s));
    set_ground(s);
    set_camera(s);
    s->scene.epsilon = (float)(1e-5 * s->size);
    s->scene.max_bounces = s->def->max_bounces;
    s->scene.clamp = 6.0f / s->exposure;
    TREACLE_TRY(trace_rays_create(s->ctx, &s->scene.rays));
    TREACLE_TRY(add_liquid(s));
    TREACLE_TRY(add_solids(s));
    return trace_rays_commit(s->scene.rays);
}

static void clear_stage(stage* s) {
    trace_rays_destroy(s->scene.rays);
    trace_environment_destroy(&s->environment);
    alloc_free(s->ctx, s->materials, MATERIALS_MAX * sizeof(trace_material));
    alloc_free(s->ctx, s->lamps, (size_t)s->def->look.lamp_count * sizeof(trace_lamp));
    alloc_free(s->ctx, s->moved, s->moved_floats * sizeof(float));
    solid_meshes_destroy(&s->solids);
    treacle_mesh_destroy(s->mesh);
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

static treacle_status take_picture(stage* s, treacle_picture* picture) {
    const treacle_render_def* def = s->def;
    trace_image image;
    TREACLE_TRY(trace_image_create(s->ctx, def->width, def->height, &image));
    // The seed changes with the frame: noise that stands still looks like dirt on the glass.
    trace_quality quality = {.samples = def->samples,
                             .noise = (float)def->noise / sqrtf(s->exposure),
                             .seed = (uint32_t)(def->seed + (uint64_t)s->frame->number),
                             .progress = def->progress,
                             .user = def->progress_user};
    treacle_status status = trace_image_render(&image, &s->scene, &s->camera, &quality);
    if (status == TREACLE_OK) {
        status = trace_layers_create(&image, &picture->layers);
    }
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)def->width * (size_t)def->height; ++i) {
        sum += (double)image.pixels[i].samples;
    }
    picture->stats.paths = (int64_t)sum;
    picture->stats.samples = sum / ((double)def->width * def->height);
    trace_image_destroy(&image);
    TREACLE_TRY(status);
    picture->stats.noise = mean_noise(&picture->layers);
    picture->tone = def->look.tone;
    picture->exposure = s->exposure;
    return def->denoise ? trace_denoise(&picture->layers) : TREACLE_OK;
}

static treacle_status draw(stage* s, treacle_picture* picture) {
    double start = seconds_now();
    TREACLE_TRY(treacle_mesh_create(s->ctx, s->frame, &s->def->mesh, &s->mesh));
    double meshed = seconds_now();
    picture->stats.seconds_mesh = meshed - start;
    picture->stats.triangles = treacle_mesh_get_view(s->mesh).triangle_count;
    TREACLE_TRY(set_scene(s));
    TREACLE_TRY(take_picture(s, picture));
    picture->stats.seconds_render = seconds_now() - meshed;
    return TREACLE_OK;
}

treacle_status treacle_render_frame(treacle_context* ctx, const treacle_frame* frame,
                                    const treacle_render_def* def, treacle_picture** out) {
    *out = NULL;
    TREACLE_TRY(check_def(ctx, def));
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_picture), "a picture", &block));
    treacle_picture* picture = block;
    picture->ctx = ctx;
    treacle_status status = alloc_zero(ctx, 1, sizeof(stage), "a scene to draw", &block);
    if (status == TREACLE_OK) {
        stage* s = block;
        s->ctx = ctx;
        s->frame = frame;
        s->def = def;
        status = draw(s, picture);
        clear_stage(s);
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

static treacle_status write_png(treacle_context* ctx, const treacle_picture* p, const char* path) {
    const trace_layers* l = &p->layers;
    image_rgb8 image;
    TREACLE_TRY(image_create(ctx, l->width, l->height, &image));
    for (int y = 0; y < l->height; ++y) {
        for (int x = 0; x < l->width; ++x) {
            v3f light = l->colour[(size_t)y * (size_t)l->width + (size_t)x];
            v3f shown = trace_tone_map(light, (trace_tone)p->tone, p->exposure);
            uint8_t* to = image_at(&image, x, y);
            for (int k = 0; k < 3; ++k) {
                to[k] = image_encode_srgb(v3f_at(shown, k));
            }
        }
    }
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
