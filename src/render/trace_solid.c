#include "render/trace_solid.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/curve.h"
#include "math/mat3.h"
#include "math/mesh_sequence.h"
#include "math/shape.h"
#include "mesh/contour.h"

enum { AXIS_COUNT = 3, SAMPLES_ALONG = 96, BLOCK_GRAIN = 4 };

typedef struct solid_job {
    const shape* s;
    mesh_blocks* blocks;
    box3 box; // what of the shape is drawn
} solid_job;

static double box_distance(const box3* box, vec3 x) {
    double out = -INFINITY;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out = fmax(out, fmax(box->low.at[k] - x.at[k], x.at[k] - box->high.at[k]));
    }
    return out;
}

static void fill(void* data, int64_t begin, int64_t end, int worker) {
    const solid_job* job = data;
    mesh_blocks* b = job->blocks;
    (void)worker;
    for (int64_t i = begin; i < end; ++i) {
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const int local[3] = {s % BLOCK_SIDE, s / BLOCK_SIDE % BLOCK_SIDE, s / 64};
            vec3 x;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                x.at[k] = b->step * ((double)BLOCK_SIDE * b->at[i][k] + local[k]);
            }
            double distance = fmax(shape_distance(job->s, x), box_distance(&job->box, x));
            b->value[BLOCK_SAMPLES * i + s] = (float)(-distance / b->step);
        }
    }
}

static treacle_status contour_shape(treacle_context* ctx, const shape* s, const box3* box,
                                    surface_mesh* out) {
    double extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        extent = fmax(extent, box->high.at[k] - box->low.at[k]);
    }
    double step = extent / SAMPLES_ALONG;
    contour_table table;
    block_list list = {.ctx = ctx};
    mesh_blocks blocks = {0};
    if (box3_is_empty(*box) || !(step > 0.0) || !contour_table_make(&table)) {
        return surface_mesh_create(ctx, 0, 0, out);
    }
    treacle_status status = block_list_add(&list, step, box->low.at, box->high.at);
    if (status == TREACLE_OK) {
        status = mesh_blocks_create(&list, step, -1.0f, &blocks);
    }
    if (status == TREACLE_OK) {
        solid_job job = {s, &blocks, *box};
        parallel_for(ctx, blocks.count, BLOCK_GRAIN, fill, &job);
        status = contour_mesh(&blocks, &table, 0.0f, out);
    }
    mesh_blocks_destroy(&blocks);
    block_list_destroy(&list);
    return status;
}

static vec3 curve_or_zero(const treacle_curve* curve, double time) {
    vec3 out = vec3_make(0.0, 0.0, 0.0);
    if (curve->count > 0) {
        curve_eval(curve, time, out.at);
    }
    return out;
}

// As treacle_solid_def says: pivot + position + velocity t + S R (b - pivot).
static void place_solid(const treacle_solid_def* def, double time, surface_mesh* m) {
    vec3 turn = curve_or_zero(&def->rotation, time), move = curve_or_zero(&def->position, time);
    mat3 rotation = mat3_rotation(turn.at);
    vec3 spin = vec3_scale(time, vec3_from(def->spin)), pivot = vec3_from(def->pivot);
    double angle = vec3_length(spin), c = cos(angle), s = sin(angle);
    vec3 axis = vec3_normalise(spin);
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        vec3 b = vec3_make((double)m->place[v][0], (double)m->place[v][1], (double)m->place[v][2]);
        vec3 x = mat3_apply(&rotation, vec3_sub(b, pivot));
        vec3 along = vec3_scale(vec3_dot(axis, x) * (1.0 - c), axis);
        x = vec3_add(vec3_add(vec3_scale(c, x), vec3_scale(s, vec3_cross(axis, x))), along);
        x = vec3_add(vec3_add(vec3_add(x, pivot), move),
                     vec3_scale(time, vec3_from(def->velocity)));
        for (int k = 0; k < AXIS_COUNT; ++k) {
            m->place[v][k] = (float)x.at[k];
        }
    }
}

// The mesh of a sequence at a moment, as it is.
static treacle_status take_sequence(mesh_sequence* seq, const treacle_shape* def, double time,
                                    surface_mesh* out) {
    treacle_context* ctx = seq->ctx;
    const triangle_mesh* first = seq->first;
    size_t vertices = (size_t)first->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, vertices, sizeof(vec3), "a mesh that moves", &block));
    vec3* at = block;
    mat3 rotate = mat3_rotation(def->rotate);
    mesh_sequence_transform(seq, def->scale, &rotate, vec3_from(def->move));
    mesh_sequence_places(seq, mesh_sequence_frame(seq, time), at);
    treacle_status status =
        surface_mesh_create(ctx, first->vertex_count, first->triangle_count, out);
    for (size_t i = 0; i < vertices && status == TREACLE_OK; ++i) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            out->place[i][k] = (float)at[i].at[k];
        }
    }
    for (int32_t i = 0; i < first->triangle_count && status == TREACLE_OK; ++i) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            out->triangle[i][k] = first->triangles[i].at[k];
        }
    }
    alloc_free(ctx, block, vertices * sizeof(vec3));
    return status;
}

static treacle_status load_sequence(treacle_context* ctx, const treacle_shape* def, double time,
                                    surface_mesh* out) {
    mesh_sequence* seq = NULL;
    TREACLE_TRY(mesh_sequence_load(ctx, def->file, &def->frames, &seq));
    treacle_status status = take_sequence(seq, def, time, out);
    mesh_sequence_destroy(seq);
    return status;
}

static treacle_status draw_shape(treacle_context* ctx, const treacle_solid_def* def,
                                 const treacle_frame* frame, surface_mesh* out) {
    if (def->shape->kind == TREACLE_SHAPE_MESH && def->shape->frames.fps > 0.0) {
        return load_sequence(ctx, def->shape, frame->time, out);
    }
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(ctx, def->shape, &s));
    box3 domain;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        domain.low.at[k] = frame->origin[k];
        domain.high.at[k] = frame->origin[k] + frame->cell * frame->cells[k];
    }
    // What never ends, like a plane, ends with the domain.
    box3 bounds = shape_bounds(s), box;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        bool is_finite = isfinite(bounds.low.at[k]) && isfinite(bounds.high.at[k]);
        box.low.at[k] = is_finite ? bounds.low.at[k] : fmax(bounds.low.at[k], domain.low.at[k]);
        box.high.at[k] = is_finite ? bounds.high.at[k] : fmin(bounds.high.at[k], domain.high.at[k]);
    }
    treacle_status status = contour_shape(ctx, s, &box, out);
    shape_destroy(s);
    return status;
}

static treacle_status make_solid(treacle_context* ctx, const treacle_solid_def* def,
                                 const treacle_frame* frame, surface_mesh* out) {
    TREACLE_TRY(draw_shape(ctx, def, frame, out));
    place_solid(def, frame->time, out);
    treacle_status status = surface_mesh_normals(out);
    if (status != TREACLE_OK) {
        surface_mesh_destroy(out);
    }
    return status;
}

treacle_status solid_meshes_create(treacle_context* ctx, const treacle_render_def* def,
                                   const treacle_frame* frame, solid_meshes* out) {
    void* block = NULL;
    *out = (solid_meshes){.ctx = ctx, .count = def->solid_count};
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->solid_count, sizeof(surface_mesh), "solids", &block));
    out->meshes = block;
    for (int i = 0; i < def->solid_count; ++i) {
        if (!def->solids[i].inside_out) {
            TREACLE_TRY(make_solid(ctx, &def->solids[i], frame, &out->meshes[i]));
        }
    }
    return TREACLE_OK;
}

void solid_meshes_destroy(solid_meshes* s) {
    for (int i = 0; i < s->count && s->meshes != NULL; ++i) {
        surface_mesh_destroy(&s->meshes[i]);
    }
    if (s->ctx != NULL) {
        alloc_free(s->ctx, s->meshes, (size_t)s->count * sizeof(surface_mesh));
    }
    *s = (solid_meshes){0};
}
