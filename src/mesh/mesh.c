#include "treacle/mesh.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/contour.h"
#include "mesh/field_bulk.h"
#include "mesh/mesh_attributes.h"
#include "mesh/mesh_field.h"
#include "mesh/surface_flip.h"
#include "mesh/surface_smooth.h"

enum { AXIS_COUNT = 3, VERTEX_GRAIN = 4096, SMOOTHING_MAX = 1000, FLAT_CELLS_MAX = 1000 };

// How far particles put the surface off where it is, cells; a spacing is half a cell.
static const double noise_cells = 0.2, flat_noise_cells = 0.5;
// Rounds of smoothing of a flat domain for one of space: there is only a line of particles to take
// the mean of.
enum { FLAT_ROUNDS = 12, FLAT_LEVEL_ROUNDS = 3 };
// What is left of it over long ways, cells. A line of particles has more of it.
static const double calm_cells = 0.2, flat_calm_cells = 0.5;

// Vertices on lines along walls that are nearer to each other are one.
static const double merged_steps = 0.04;

struct treacle_mesh {
    treacle_context* ctx;
    surface_mesh surface; // in metres
    mesh_attributes attributes;
    double volume, area, liquid_volume;
};

treacle_mesh_def treacle_mesh_def_default(void) {
    return (treacle_mesh_def){
        .def_size = sizeof(treacle_mesh_def),
        .method = TREACLE_MESH_SMOOTH,
        .smoothing = 56,
        .keep_volume = true,
        .flat_cells = 1,
    };
}

static treacle_status mesh_check_def(treacle_context* ctx, const treacle_mesh_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the mesh def does not come from treacle_mesh_def_default()");
    }
    if (!(def->resolution == 0.0 || (def->resolution >= 0.5 && def->resolution <= 16.0))) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "a mesh with %g samples along a cell, expected 0.5 to 16",
                          def->resolution);
    }
    if (def->smoothing < 0 || def->smoothing > SMOOTHING_MAX) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%d rounds of smoothing, expected 0 to %d",
                          def->smoothing, SMOOTHING_MAX);
    }
    if (!(def->decimation >= 0.0 && def->decimation <= 0.99)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a decimation of %g, expected 0 to 0.99",
                          def->decimation);
    }
    if (!(def->overlap >= 0.0 && def->overlap < INFINITY)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "an overlap of %g m, expected 0 or more",
                          def->overlap);
    }
    if (def->flat_cells < 1 || def->flat_cells > FLAT_CELLS_MAX) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "flat liquid of %d cells, expected 1 to %d",
                          def->flat_cells, FLAT_CELLS_MAX);
    }
    return TREACLE_OK;
}

typedef struct method {
    mesh_field_fcn* field;
    double resolution; // if the def does not say
} method;

static const method methods[] = {
    [TREACLE_MESH_SMOOTH] = {mesh_field_smooth, 2.0},
    [TREACLE_MESH_SPLAT] = {mesh_field_splat, 4.0},
    [TREACLE_MESH_LEVEL] = {mesh_field_level, 2.0},
};

static double points_volume(const mesh_points* p) {
    double sum = 0.0;
    for (int64_t i = 0; i < p->count; ++i) {
        sum += (double)p->volume[i];
    }
    return sum;
}

// How the surface of a field is drawn.
typedef struct drawing {
    const treacle_mesh_def* def;
    const mesh_room* room;
    double volume, overlap; // cells^3, cells
} drawing;

// Smooth and with few triangles.
static treacle_status finish_surface(const drawing* d, const mesh_seams* seams, double step,
                                     surface_mesh* m) {
    const treacle_mesh_def* def = d->def;
    bool is_flat = d->room->flat_axis >= 0;
    smooth_def smooth = {.rounds = def->smoothing * (is_flat ? FLAT_ROUNDS : 1),
                         .noise = is_flat ? flat_noise_cells : noise_cells,
                         .level_rounds = def->smoothing * (is_flat ? FLAT_LEVEL_ROUNDS : 1),
                         .calm = is_flat ? flat_calm_cells : calm_cells,
                         .volume = def->keep_volume ? d->volume : 0.0,
                         .seams = seams};
    if (def->smoothing > 0 || def->keep_volume) {
        TREACLE_TRY(surface_mesh_smooth(m, &smooth));
    }
    if (seams != NULL) {
        TREACLE_TRY(surface_mesh_flip(m));
    }
    if (seams != NULL && d->overlap > 0.0) {
        mesh_seams_push(seams, d->overlap, m);
    }
    TREACLE_TRY(surface_mesh_seam_normals(m, seams));
    if (seams != NULL) {
        TREACLE_TRY(surface_mesh_merge(m, seams, merged_steps * step));
    }
    if (def->decimation > 0.0) {
        TREACLE_TRY(surface_mesh_decimate(m, def->decimation, step));
        smooth.rounds = smooth.level_rounds = 0;
        smooth.seams = NULL;
        if (seams == NULL) {
            TREACLE_TRY(surface_mesh_smooth(m, &smooth));
        }
        TREACLE_TRY(surface_mesh_normals(m));
    }
    return TREACLE_OK;
}

// The surface of the field, where it encloses the volume, up to what bounds it.
static treacle_status draw_surface(const drawing* d, const mesh_field* field, surface_mesh* out) {
    treacle_context* ctx = field->blocks.ctx;
    contour_table table;
    if (!contour_table_make(&table)) {
        return check_fail(ctx, TREACLE_ERR_INTERNAL, "the table of cubes cannot be made");
    }
    const float range[2] = {field->low, field->high};
    float iso = d->def->keep_volume ? contour_match_volume(&field->blocks, &table, range, d->volume)
                                    : field->iso;
    uint8_t* is_bound = NULL;
    mesh_seams seams = {0};
    treacle_status status = contour_mesh_marked(&field->blocks, &table, iso, out, &is_bound);
    size_t vertices = (size_t)out->vertex_count;
    bool is_bounded = mesh_room_count(d->room) > 0;
    if (status == TREACLE_OK && is_bounded) {
        const seam_field from = {&field->blocks, iso, is_bound};
        status = mesh_seams_create(d->room, &from, out, &seams);
    }
    if (status == TREACLE_OK) {
        status = finish_surface(d, is_bounded ? &seams : NULL, field->blocks.step, out);
    }
    mesh_seams_destroy(&seams);
    alloc_free(ctx, is_bound, is_bound == NULL ? 0 : vertices);
    if (status != TREACLE_OK) {
        surface_mesh_destroy(out);
    }
    return status;
}

typedef struct world_job {
    surface_mesh* m;
    const treacle_frame* frame;
} world_job;

static void to_world(void* data, int64_t begin, int64_t end) {
    const world_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            double x = (double)job->m->place[v][k];
            job->m->place[v][k] = (float)(job->frame->origin[k] + job->frame->cell * x);
        }
    }
}

static treacle_status mesh_draw(treacle_mesh* mesh, const mesh_points* p, const drawing* d) {
    const treacle_mesh_def* def = d->def;
    const method* how = &methods[def->method];
    double resolution = def->resolution > 0.0 ? def->resolution : how->resolution;
    mesh_field field;
    TREACLE_TRY(how->field(p, d->room, resolution, &field));
    treacle_status status = TREACLE_OK;
    if (field.blocks.clip == NULL) {
        status = field_room_clip(d->room, &field.blocks);
    }
    if (status == TREACLE_OK) {
        status = draw_surface(d, &field, &mesh->surface);
    }
    mesh_blocks_destroy(&field.blocks);
    return status;
}

static treacle_status mesh_fill(treacle_mesh* mesh, const mesh_points* p,
                                const treacle_mesh_def* def) {
    double cell = p->frame->cell, cube = cell * cell * cell, volume = points_volume(p);
    mesh_room room;
    TREACLE_TRY(mesh_room_create(mesh->ctx, p->frame, def, &room));
    const drawing d = {def, &room, volume, def->overlap / cell};
    treacle_status status = mesh_draw(mesh, p, &d);
    mesh_room_destroy(&room);
    TREACLE_TRY(status);
    TREACLE_TRY(mesh_attributes_find(p, &mesh->surface, &mesh->attributes));
    mesh->volume = surface_mesh_volume(&mesh->surface) * cube;
    mesh->area = surface_mesh_area(&mesh->surface) * cell * cell;
    mesh->liquid_volume = volume * cube;
    world_job job = {&mesh->surface, p->frame};
    parallel_for(mesh->ctx, mesh->surface.vertex_count, VERTEX_GRAIN, to_world, &job);
    return TREACLE_OK;
}

treacle_status treacle_mesh_create(treacle_context* ctx, const treacle_frame* frame,
                                   const treacle_mesh_def* def, treacle_mesh** out) {
    *out = NULL;
    TREACLE_TRY(mesh_check_def(ctx, def));
    mesh_points points;
    TREACLE_TRY(mesh_points_create(ctx, frame, def, &points));
    void* block = NULL;
    treacle_status status = alloc_zero(ctx, 1, sizeof(treacle_mesh), "a mesh", &block);
    if (status == TREACLE_OK) {
        treacle_mesh* mesh = block;
        mesh->ctx = ctx;
        status = mesh_fill(mesh, &points, def);
        if (status == TREACLE_OK) {
            *out = mesh;
        } else {
            treacle_mesh_destroy(mesh);
        }
    }
    mesh_points_destroy(&points);
    return status;
}

treacle_mesh_view treacle_mesh_get_view(const treacle_mesh* mesh) {
    const surface_mesh* m = &mesh->surface;
    const mesh_attributes* a = &mesh->attributes;
    return (treacle_mesh_view){
        .vertex_count = m->vertex_count,
        .triangle_count = m->triangle_count,
        .position = &m->place[0][0],
        .normal = &m->normal[0][0],
        .velocity = a->value[MESH_VELOCITY],
        .colour = a->value[MESH_COLOUR],
        .temperature = a->value[MESH_TEMPERATURE],
        .viscosity = a->value[MESH_VISCOSITY],
        .rest = a->value[MESH_REST],
        .material = a->material,
        .triangles = &m->triangle[0][0],
        .volume = mesh->volume,
        .area = mesh->area,
        .liquid_volume = mesh->liquid_volume,
    };
}

void treacle_mesh_destroy(treacle_mesh* mesh) {
    if (mesh != NULL) {
        surface_mesh_destroy(&mesh->surface);
        mesh_attributes_destroy(&mesh->attributes);
        alloc_free(mesh->ctx, mesh, sizeof(*mesh));
    }
}
