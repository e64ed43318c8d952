#include "export/export_geometry.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "math/elementary.h"

enum { AXIS_COUNT = 3, TILE_WIDTH = 8 };

const export_attribute_info export_attributes[EXPORT_ATTRIBUTE_COUNT] = {
#define EXPORT_ATTRIBUTE_INFO(name, components, is_vector, ...)                                    \
    {components, is_vector, __VA_ARGS__},
    EXPORT_ATTRIBUTE_LIST(EXPORT_ATTRIBUTE_INFO)
#undef EXPORT_ATTRIBUTE_INFO
};

void export_turn(float v[3]) {
    float y = v[1];
    v[1] = -v[2];
    v[2] = y;
}

void export_geometry_destroy(export_geometry* g) {
    size_t points = (size_t)g->point_count;
    if (g->ctx == NULL) {
        return;
    }
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        size_t floats = points * (size_t)export_attributes[a].components;
        alloc_free(g->ctx, g->value[a], floats * sizeof(float));
    }
    alloc_free(g->ctx, g->triangles, (size_t)g->triangle_count * 3 * sizeof(int32_t));
    alloc_free(g->ctx, g->material, points * sizeof(int32_t));
    alloc_free(g->ctx, g->id, points * sizeof(int64_t));
    *g = (export_geometry){0};
}

static export_geometry empty(treacle_context* ctx, const treacle_frame* frame,
                             const treacle_export_def* def) {
    return (export_geometry){
        .ctx = ctx, .number = frame->number, .fps = frame->fps, .is_z_up = def->is_z_up};
}

static treacle_status add_room(export_geometry* g, export_attribute a) {
    void* block = NULL;
    size_t floats = (size_t)g->point_count * (size_t)export_attributes[a].components;
    TREACLE_TRY(alloc_array(g->ctx, floats, sizeof(float), "exported points", &block));
    g->value[a] = block;
    return TREACLE_OK;
}

static treacle_status add_values(export_geometry* g, export_attribute a, const float* values) {
    if (values == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(add_room(g, a));
    size_t floats = (size_t)g->point_count * (size_t)export_attributes[a].components;
    if (floats > 0) {
        memcpy(g->value[a], values, floats * sizeof(float));
    }
    for (int64_t i = 0; i < g->point_count && g->is_z_up && export_attributes[a].is_vector; ++i) {
        export_turn(g->value[a] + AXIS_COUNT * i);
    }
    return TREACLE_OK;
}

static treacle_status add_material(export_geometry* g, const uint8_t* material) {
    void* block = NULL;
    if (material == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(
        alloc_array(g->ctx, (size_t)g->point_count, sizeof(int32_t), "exported points", &block));
    g->material = block;
    for (int64_t i = 0; i < g->point_count; ++i) {
        g->material[i] = material[i];
    }
    return TREACLE_OK;
}

static void find_bounds(export_geometry* g) {
    const float* x = g->value[EXPORT_POSITION];
    for (int64_t i = 0; i < g->point_count; ++i) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            float at = x[AXIS_COUNT * i + k];
            g->low[k] = i == 0 || at < g->low[k] ? at : g->low[k];
            g->high[k] = i == 0 || at > g->high[k] ? at : g->high[k];
        }
    }
}

treacle_status export_geometry_take_mesh(const treacle_mesh_view* view, export_geometry* g) {
    TREACLE_ASSERT(g->triangles == NULL && g->ctx != NULL);
    TREACLE_ASSERT(view->vertex_count >= 0 && view->triangle_count >= 0);
    void* block = NULL;
    size_t corners = (size_t)view->triangle_count * 3;
    g->point_count = view->vertex_count;
    TREACLE_TRY(alloc_array(g->ctx, corners, sizeof(int32_t), "exported triangles", &block));
    g->triangles = block;
    g->triangle_count = view->triangle_count;
    if (corners > 0) {
        memcpy(g->triangles, view->triangles, corners * sizeof(int32_t));
    }
    const float* const values[EXPORT_ATTRIBUTE_COUNT] = {
        [EXPORT_POSITION] = view->position,
        [EXPORT_NORMAL] = view->normal,
        [EXPORT_VELOCITY] = view->velocity,
        [EXPORT_COLOUR] = view->colour,
        [EXPORT_TEMPERATURE] = view->temperature,
        [EXPORT_VISCOSITY] = view->viscosity,
        [EXPORT_REST] = view->rest,
    };
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        TREACLE_TRY(add_values(g, (export_attribute)a, values[a]));
    }
    TREACLE_TRY(add_material(g, view->material));
    find_bounds(g);
    return TREACLE_OK;
}

treacle_status export_geometry_of_mesh(treacle_context* ctx, const treacle_frame* frame,
                                       const treacle_export_def* def, export_geometry* out) {
    treacle_mesh* mesh = NULL;
    *out = empty(ctx, frame, def);
    TREACLE_TRY(treacle_mesh_create(ctx, frame, &def->mesh, &mesh));
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    treacle_status status = export_geometry_take_mesh(&view, out);
    treacle_mesh_destroy(mesh);
    if (status != TREACLE_OK) {
        export_geometry_destroy(out);
    }
    return status;
}

// Particles ---------------------------------------------------------------------------------------

// The array if it is of the kind, and has a row for every particle.
static const void* column(const treacle_frame* frame, const char* name, treacle_type type,
                          int components, int64_t count) {
    const treacle_array* found = treacle_frame_find(frame, name);
    bool is_alike = found != NULL && found->type == type && found->components == components &&
                    (count < 0 || found->count == count);
    return is_alike ? found->data : NULL;
}

static treacle_status place(export_geometry* g, const treacle_frame* frame) {
    const treacle_array* tiles = treacle_frame_find(frame, "tile_coord");
    const int32_t* tile = column(frame, "tile_coord", TREACLE_TYPE_I32, AXIS_COUNT, -1);
    int64_t count = tiles == NULL ? 0 : tiles->count;
    const int64_t* first = column(frame, "tile_first", TREACLE_TYPE_I64, 1, count + 1);
    const float* position = column(frame, "position", TREACLE_TYPE_F32, AXIS_COUNT, g->point_count);
    bool is_sound = tile != NULL && first != NULL && position != NULL && first[0] == 0 &&
                    first[count] == g->point_count;
    for (int64_t t = 0; is_sound && t < count; ++t) {
        is_sound = first[t] <= first[t + 1];
    }
    if (!is_sound) {
        return check_fail(g->ctx, TREACLE_ERR_FORMAT,
                          "frame %lld: its tiles do not fit its particles",
                          (long long)frame->number);
    }
    TREACLE_TRY(add_room(g, EXPORT_POSITION));
    for (int64_t t = 0; t < count; ++t) {
        for (int64_t i = first[t]; i < first[t + 1]; ++i) {
            float* x = g->value[EXPORT_POSITION] + AXIS_COUNT * i;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                double cells = TILE_WIDTH * (double)tile[AXIS_COUNT * t + k] +
                               (double)position[AXIS_COUNT * i + k];
                x[k] = (float)(frame->origin[k] + frame->cell * cells);
            }
            if (g->is_z_up) {
                export_turn(x);
            }
        }
    }
    return TREACLE_OK;
}

// The radius of the ball of a particle's volume, as Houdini means pscale.
static treacle_status add_radius(export_geometry* g, const float* volume) {
    const double ball = 4.0 / 3.0 * 3.14159265358979323846;
    TREACLE_TRY(add_room(g, EXPORT_PSCALE));
    for (int64_t i = 0; i < g->point_count; ++i) {
        double v = volume == NULL ? 0.0 : (double)volume[i];
        g->value[EXPORT_PSCALE][i] = v > 0.0 ? (float)elementary_pow(v / ball, 1.0 / 3.0) : 0.0f;
    }
    return TREACLE_OK;
}

static treacle_status add_age(export_geometry* g, const float* birth, double time) {
    if (birth == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(add_room(g, EXPORT_AGE));
    for (int64_t i = 0; i < g->point_count; ++i) {
        g->value[EXPORT_AGE][i] = (float)fmax(time - (double)birth[i], 0.0);
    }
    return TREACLE_OK;
}

static treacle_status add_ids(export_geometry* g, const uint64_t* id) {
    void* block = NULL;
    TREACLE_TRY(
        alloc_array(g->ctx, (size_t)g->point_count, sizeof(int64_t), "exported points", &block));
    g->id = block;
    for (int64_t i = 0; i < g->point_count; ++i) {
        g->id[i] = id == NULL ? i : (int64_t)(id[i] & INT64_MAX);
    }
    return TREACLE_OK;
}

static treacle_status take_particles(const treacle_frame* frame, export_geometry* g) {
    static const struct {
        export_attribute attribute;
        const char* name;
    } columns[] = {
        {EXPORT_VELOCITY, "velocity"},       {EXPORT_COLOUR, "colour"},
        {EXPORT_TEMPERATURE, "temperature"}, {EXPORT_VISCOSITY, "viscosity"},
        {EXPORT_DENSITY, "density"},         {EXPORT_REST, "rest"},
    };
    int64_t count = g->point_count;
    TREACLE_TRY(place(g, frame));
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); ++c) {
        export_attribute a = columns[c].attribute;
        const float* values = column(frame, columns[c].name, TREACLE_TYPE_F32,
                                     export_attributes[a].components, count);
        TREACLE_TRY(add_values(g, a, values));
    }
    TREACLE_TRY(add_radius(g, column(frame, "volume", TREACLE_TYPE_F32, 1, count)));
    TREACLE_TRY(add_age(g, column(frame, "birth", TREACLE_TYPE_F32, 1, count), frame->time));
    TREACLE_TRY(add_ids(g, column(frame, "id", TREACLE_TYPE_U64, 1, count)));
    TREACLE_TRY(add_material(g, column(frame, "material", TREACLE_TYPE_U8, 1, count)));
    find_bounds(g);
    return TREACLE_OK;
}

treacle_status export_geometry_of_particles(treacle_context* ctx, const treacle_frame* frame,
                                            const treacle_export_def* def, export_geometry* out) {
    const treacle_array* position = treacle_frame_find(frame, "position");
    *out = empty(ctx, frame, def);
    out->point_count = position == NULL ? 0 : position->count;
    treacle_status status = take_particles(frame, out);
    if (status != TREACLE_OK) {
        export_geometry_destroy(out);
    }
    return status;
}
