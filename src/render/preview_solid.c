#include "render/preview_solid.h"

#include <math.h>

#include "geometry/shape.h"
#include "math/curve.h"
#include "render/trace_look.h"

enum { AXIS_COUNT = 3 };

// What all parts of the drawing need.
typedef struct draw_job {
    treacle_context* ctx;
    const treacle_frame* frame;
    const treacle_sim_def* scene;
    double centre[3]; // m, of the domain
    preview_things* out;
} draw_job;

static treacle_status draw_prop(const draw_job* job, const treacle_prop* prop) {
    preview_things* t = job->out;
    const double* centre = job->centre;
    if (prop->role == TREACLE_PROP_CONTAINER) { // normals point inwards
        TREACLE_TRY(preview_raster(&t->back, prop, centre, PREVIEW_SIDE_NEAR, PREVIEW_WHAT_GLASS));
        return preview_raster(&t->front, prop, centre, PREVIEW_SIDE_FAR, PREVIEW_WHAT_GLASS);
    }
    if (prop->role == TREACLE_PROP_EMITTER) {
        return preview_raster(&t->front, prop, centre, PREVIEW_SIDE_NEAR, PREVIEW_WHAT_EMITTER);
    }
    bool is_body = prop->role == TREACLE_PROP_BODY;
    int paint = is_body ? 1 + prop->index % (TRACE_LOOK_PAINTS - 1) : 0;
    uint8_t what = (uint8_t)(PREVIEW_WHAT_PAINT + paint);
    TREACLE_TRY(preview_raster(&t->solid, prop, centre, PREVIEW_SIDE_ANY, what));
    return preview_raster(&t->lamp, prop, centre, PREVIEW_SIDE_ANY, what);
}

static treacle_status draw_props(const draw_job* job) {
    treacle_props* props = NULL;
    TREACLE_TRY(treacle_props_create(job->ctx, job->scene, job->frame, &props));
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < treacle_props_count(props) && status == TREACLE_OK; ++i) {
        treacle_prop prop = treacle_props_get(props, i);
        status = draw_prop(job, &prop);
    }
    treacle_props_destroy(props);
    return status;
}

static treacle_status draw_all(const draw_job* job, const preview_view views[2]) {
    preview_things* t = job->out;
    TREACLE_TRY(preview_surface_create(job->ctx, &views[0], true, &t->solid));
    TREACLE_TRY(preview_surface_create(job->ctx, &views[0], true, &t->back));
    TREACLE_TRY(preview_surface_create(job->ctx, &views[0], true, &t->front));
    TREACLE_TRY(preview_surface_create(job->ctx, &views[1], false, &t->lamp));
    return draw_props(job);
}

treacle_status preview_things_create(treacle_context* ctx, const treacle_frame* frame,
                                     const treacle_preview_def* def, const preview_view views[2],
                                     preview_things* out) {
    const treacle_sim_def* scene = def->scene;
    *out = (preview_things){.ctx = ctx};
    if (scene == NULL || scene->solid_count + scene->body_count + scene->emitter_count == 0) {
        return TREACLE_OK;
    }
    preview_box box = preview_box_of(frame);
    draw_job job = {.ctx = ctx, .frame = frame, .scene = scene, .out = out};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        job.centre[k] = box.centre[k];
    }
    return draw_all(&job, views);
}

void preview_things_destroy(preview_things* t) {
    preview_surface_destroy(&t->solid);
    preview_surface_destroy(&t->back);
    preview_surface_destroy(&t->front);
    preview_surface_destroy(&t->lamp);
}

// What the camera frames -----------------------------------------------------------------------

// Widens the box by a shape that is moved, if it ends somewhere.
static treacle_status add_shape(treacle_context* ctx, const treacle_shape* def,
                                const double move[3], box3* box) {
    shape* s = NULL;
    if (def == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(shape_create_silent(ctx, def, &s));
    box3 bounds = shape_bounds(s);
    bool is_finite = true;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        is_finite = is_finite && isfinite(bounds.low.at[k]) && isfinite(bounds.high.at[k]);
    }
    for (int k = 0; k < AXIS_COUNT && is_finite; ++k) {
        box->low.at[k] = fmin(box->low.at[k], bounds.low.at[k] + move[k]);
        box->high.at[k] = fmax(box->high.at[k], bounds.high.at[k] + move[k]);
    }
    shape_destroy(s);
    return TREACLE_OK;
}

static box3 nothing(void) {
    return (box3){{{INFINITY, INFINITY, INFINITY}}, {{-INFINITY, -INFINITY, -INFINITY}}};
}

// Liquid, where it comes from, and what it meets.
static treacle_status find_content(treacle_context* ctx, const treacle_sim_def* d, box3* content,
                                   box3* containers) {
    const double still[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < d->liquid_count; ++i) {
        TREACLE_TRY(add_shape(ctx, d->liquids[i].shape, still, content));
    }
    for (int i = 0; i < d->emitter_count; ++i) {
        TREACLE_TRY(add_shape(ctx, d->emitters[i].shape, still, content));
    }
    for (int i = 0; i < d->drop_count; ++i) {
        const treacle_curve* places = &d->drops[i].places;
        for (int k = 0; k < places->count; ++k) {
            double move[3] = {0.0, 0.0, 0.0};
            curve_eval(places, places->keys[k].time, move);
            TREACLE_TRY(add_shape(ctx, d->drops[i].shape, move, content));
        }
    }
    for (int i = 0; i < d->body_count; ++i) {
        TREACLE_TRY(add_shape(ctx, d->bodies[i].shape, still, content));
    }
    for (int i = 0; i < d->solid_count; ++i) {
        const treacle_solid_def* s = &d->solids[i];
        TREACLE_TRY(add_shape(ctx, s->shape, still, s->inside_out ? containers : content));
    }
    return TREACLE_OK;
}

treacle_status preview_things_box(treacle_context* ctx, const treacle_frame* frame,
                                  const treacle_preview_def* def, double low[3], double high[3]) {
    const treacle_sim_def* d = def->scene;
    box3 content = nothing(), containers = nothing();
    for (int k = 0; k < AXIS_COUNT; ++k) {
        low[k] = frame->origin[k];
        high[k] = frame->origin[k] + frame->cell * frame->cells[k];
    }
    if (d == NULL || d->fill != TREACLE_FILL_PARTICLES) {
        return TREACLE_OK;
    }
    TREACLE_TRY(find_content(ctx, d, &content, &containers));
    double gravity[3] = {0.0, 0.0, 0.0};
    if (d->gravity.count > 0) {
        curve_eval(&d->gravity, 0.0, gravity);
    }
    bool is_known = content.low.at[1] <= content.high.at[1] && gravity[1] < 0.0;
    bool is_held = containers.low.at[1] <= containers.high.at[1];
    double top = fmin(content.high.at[1], high[1]), room = top - low[1];
    for (int k = 0; k < AXIS_COUNT && is_known && room > 0.0; ++k) {
        double from = k == 1 ? low[k] : fmax(low[k], content.low.at[k] - room);
        double to = k == 1 ? top : fmin(high[k], content.high.at[k] + room);
        low[k] = is_held ? fmax(from, fmin(content.low.at[k], containers.low.at[k])) : from;
        high[k] = is_held ? fmin(to, fmax(content.high.at[k], containers.high.at[k])) : to;
    }
    return TREACLE_OK;
}
