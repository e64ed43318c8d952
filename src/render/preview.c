// A picture of particles in a fraction of a second: balls into a depth buffer, once from the camera
// and once from the lamp, smoothed in the picture and shaded.
#include "treacle/preview.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "image/image.h"
#include "render/preview_render.h"
#include "render/preview_shade.h"

enum {
    SIZE_MAX_PIXELS = 16384,
    // What the lamp sees is about as fine as the picture.
    LIGHT_SIZE_MIN = 64,
    LIGHT_SIZE_MAX = 512,
    // Pictures up to this many pixels are sampled 2 x 2.
    SUPERSAMPLE_MAX = 4 << 20,
};

treacle_preview_def treacle_preview_def_default(void) {
    return (treacle_preview_def){
        .def_size = sizeof(treacle_preview_def),
        .width = 960,
        .height = 540,
        .field_of_view = 0.52,
    };
}

treacle_status preview_check(treacle_context* ctx, const treacle_preview_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the preview def does not come from treacle_preview_def_default()");
    }
    if (def->width < 1 || def->width > SIZE_MAX_PIXELS || def->height < 1 ||
        def->height > SIZE_MAX_PIXELS) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a preview of %d x %d pixels, expected 1 to %d",
                          def->width, def->height, SIZE_MAX_PIXELS);
    }
    if (!isfinite(def->turn)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "the preview's camera is turned by %g",
                          def->turn);
    }
    bool is_scale = (int)def->by >= 0 && def->by <= TREACLE_PREVIEW_BY_MARKER &&
                    isfinite(def->from) && isfinite(def->to);
    if (!is_scale) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "colours of a preview by %d, from %g to %g: expected 0 to %d and numbers",
                          (int)def->by, def->from, def->to, (int)TREACLE_PREVIEW_BY_MARKER);
    }
    if (!(def->field_of_view >= 0.01 && def->field_of_view <= 3.0)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a field of view of %g rad, expected 0.01 to 3",
                          def->field_of_view);
    }
    double distance = 0.0;
    for (int i = 0; i < 3; ++i) {
        double d = def->target[i] - def->eye[i];
        distance += d * d;
    }
    if (def->eye_set && !(distance > 0.0 && isfinite(distance))) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the preview's eye and target must be finite and apart");
    }
    return TREACLE_OK;
}

static treacle_status draw_camera(preview_layer* layer, const preview_particles* particles) {
    TREACLE_TRY(preview_splat(layer, particles));
    float ball = preview_ball_pixels(layer, particles);
    preview_smooth_depth(layer, 3.4f * ball, 4.0f * particles->default_radius);
    if (particles->is_flat) {
        preview_inflate(layer, 3.0f * ball, 5.0f * particles->default_radius);
    } else {
        preview_smooth_thickness(layer, 1.5f * ball);
    }
    return TREACLE_OK;
}

static treacle_status draw_light(preview_layer* layer, const preview_particles* particles) {
    TREACLE_TRY(preview_splat(layer, particles));
    float ball = preview_ball_pixels(layer, particles);
    preview_smooth_depth(layer, 2.0f * ball, 6.0f * particles->default_radius);
    preview_smooth_thickness(layer, 0.012f * (float)layer->view.width);
    return TREACLE_OK;
}

// From the upper left and the front: fixed in the world, so that shadows stay where they are when
// the camera moves; before a flat domain, which may lie in any plane, as the camera sees it.
static void aim_light(preview_scene* scene, const preview_view* view) {
    static const double direction[3] = {0.62, -1.0, -0.50};
    for (int i = 0; i < 3; ++i) {
        scene->light_direction[i] = scene->box.flat_axis < 0 ? direction[i]
                                                             : direction[0] * view->right[i] +
                                                                   direction[1] * view->up[i] -
                                                                   direction[2] * view->forward[i];
    }
}

static treacle_status fit_camera(treacle_context* ctx, const treacle_frame* frame,
                                 const treacle_preview_def* def, preview_box* box) {
    TREACLE_TRY(preview_things_box(ctx, frame, def, box->fit[0], box->fit[1]));
    for (int k = 0; k < 3; ++k) {
        box->fit[0][k] -= box->centre[k];
        box->fit[1][k] -= box->centre[k];
    }
    return TREACLE_OK;
}

treacle_status preview_render(treacle_context* ctx, const treacle_frame* frame,
                              const treacle_preview_def* def, image_rgb8* out) {
    TREACLE_TRY(preview_check(ctx, def));
    preview_scene scene = {.ctx = ctx, .box = preview_box_of(frame)};
    scene.samples = (int64_t)def->width * def->height <= SUPERSAMPLE_MAX ? 2 : 1;
    preview_particles particles;
    TREACLE_TRY(preview_particles_init(ctx, frame, &scene.box, &particles));
    TREACLE_TRY(preview_particles_show(ctx, def, &particles));
    TREACLE_TRY(fit_camera(ctx, frame, def, &scene.box));
    preview_view view = preview_view_camera(def, &scene.box, def->width * scene.samples,
                                            def->height * scene.samples);
    aim_light(&scene, &view);
    int size = def->height < LIGHT_SIZE_MIN ? LIGHT_SIZE_MIN : def->height;
    size = size < LIGHT_SIZE_MAX ? size : LIGHT_SIZE_MAX;
    preview_view lamp = preview_view_light(scene.light_direction, &scene.box, size);
    preview_layer camera = {.ctx = ctx};
    preview_layer light = {.ctx = ctx};
    preview_things things = {.ctx = ctx};
    *out = (image_rgb8){.ctx = ctx};
    treacle_status status = TREACLE_OK;
    TREACLE_TRY_GOTO(preview_layer_create(ctx, &view, &camera), done);
    TREACLE_TRY_GOTO(preview_layer_create(ctx, &lamp, &light), done);
    TREACLE_TRY_GOTO(image_create(ctx, def->width, def->height, out), done);
    TREACLE_TRY_GOTO(draw_camera(&camera, &particles), done);
    TREACLE_TRY_GOTO(draw_light(&light, &particles), done);
    const preview_view views[2] = {view, lamp};
    TREACLE_TRY_GOTO(preview_things_create(ctx, frame, def, views, &things), done);
    scene.camera = &camera;
    scene.things = &things;
    scene.light = &light;
    scene.edge = 2.0f * particles.default_radius;
    memcpy(scene.tint, particles.first_colour, sizeof(scene.tint));
    preview_shade(&scene, out);
    preview_draw_box(&scene, out);
done:
    preview_layer_destroy(&camera);
    preview_layer_destroy(&light);
    preview_things_destroy(&things);
    if (status != TREACLE_OK) {
        image_destroy(out);
    }
    return status;
}

// Where ranks hold the particles in part, all of them draw and rank 0 has the picture.
treacle_status treacle_preview_write(treacle_context* ctx, const treacle_frame* frame,
                                     const treacle_preview_def* def, const char* path) {
    image_rgb8 image;
    bool is_part = treacle_frame_parts(frame, "position") != NULL;
    treacle_status status = preview_render(ctx, frame, def, &image);
    if (status == TREACLE_ERR_MEMORY && is_part) {
        status = comm_give_up(ctx, status);
    }
    TREACLE_TRY(status);
    if (!is_part || comm_rank(ctx) == 0) {
        status = png_write(ctx, &image, path);
    }
    image_destroy(&image);
    return status;
}
