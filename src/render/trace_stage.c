#include "render/trace_stage.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "render/camera_place.h"
#include "render/trace_look.h"
#include "render/trace_path.h"
#include "render/trace_photons.h"
#include "render/trace_sides.h"

enum { AXIS_COUNT = 3, SAMPLES_ALONG = 176 };

// Cells by which a nozzle is wider than the stream that comes from it.
static const double nozzle_rim = 0.7;

static treacle_status find_box(trace_stage* s) {
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
    if (s->flat.axis >= 0) {
        double range[2];
        trace_flat_range(s->flat, f, 0.0, range);
        s->low[s->flat.axis] = range[0];
        s->high[s->flat.axis] = range[1];
    }
    return TREACLE_OK;
}

// Vertices drift with their velocity while the shutter is open.
static treacle_status move_vertices(trace_stage* s, const float* velocity,
                                    trace_triangles* triangles) {
    double open = s->def->camera.shutter / s->frame->fps;
    size_t n = 3 * (size_t)triangles->vertex_count;
    bool is_moving = false;
    for (size_t i = 0; i < n && velocity != NULL && open > 0.0 && !is_moving; ++i) {
        is_moving = velocity[i] != 0.0f;
    }
    if (!is_moving) {
        return TREACLE_OK;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_array(s->ctx, 2 * n, sizeof(float), "moving vertices", &block));
    s->motion = (trace_motion){block, 2 * n};
    float* at = block;
    for (size_t i = 0; i < n; ++i) {
        float step = (float)(0.5 * open) * velocity[i], place = triangles->from[i];
        at[i] = place - step;
        at[n + i] = place + step;
    }
    triangles->from = at;
    triangles->to = at + n;
    return TREACLE_OK;
}

static void free_motion(trace_stage* s) {
    alloc_free(s->ctx, s->motion.at, s->motion.floats * sizeof(float));
    s->motion = (trace_motion){0};
}

// The mesh as it moves, under the next number.
static treacle_status add_mesh(trace_stage* s, trace_triangles triangles, const trace_mesh* mesh) {
    if (triangles.triangle_count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(move_vertices(s, mesh->velocity, &triangles));
    treacle_status status = trace_rays_add(s->scene.rays, &triangles);
    free_motion(s);
    s->meshes[s->scene.mesh_count++] = *mesh;
    return status;
}

static treacle_status add_liquid(trace_stage* s) {
    treacle_mesh_view view = treacle_mesh_get_view(s->mesh);
    bool is_hidden = true;
    for (int i = 0; i < s->liquid_count; ++i) {
        trace_material* m = &s->materials[i];
        is_hidden = is_hidden && m->is_hidden;
        m->colour = m->is_tinted && view.colour != NULL ? v3f_grey(1.0f) : m->colour;
    }
    if (is_hidden) {
        return TREACLE_OK;
    }
    trace_triangles triangles = {.vertex_count = view.vertex_count,
                                 .triangle_count = view.triangle_count,
                                 .from = view.position,
                                 .triangles = view.triangles};
    trace_mesh mesh = {.triangles = view.triangles,
                       .triangle_count = view.triangle_count,
                       .position = view.position,
                       .normal = view.normal,
                       .colour = view.colour,
                       .temperature = view.temperature,
                       .rest = view.rest,
                       .velocity = view.velocity,
                       .vertex_material = view.material,
                       .added_most = s->liquid_count - 1};
    return add_mesh(s, triangles, &mesh);
}

// The number of a solid's or body's material. Behind the ground's: those with a look of their own,
// that of other solids, those of other bodies in turn.
static int solid_material(const trace_stage* s, int index) {
    const treacle_render_def* def = s->def;
    int body = index - def->solid_count, first = s->liquid_count + 1;
    const char* name = body < 0 ? def->solids[index].name : def->bodies[body].name;
    for (int i = 0; i < def->look.solid_count && name != NULL; ++i) {
        const char* other = def->look.solids[i].name;
        if (other != NULL && strcmp(name, other) == 0) {
            return first + i;
        }
    }
    first += def->look.solid_count;
    return body < 0 ? first : first + 1 + body % (TRACE_LOOK_PAINTS - 1);
}

static treacle_status make_solids(trace_stage* s) {
    int count = s->def->solid_count + s->def->body_count;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, (size_t)count, 1, "hidden solids", &block));
    uint8_t* is_hidden = block;
    for (int i = 0; i < count; ++i) {
        is_hidden[i] = s->materials[solid_material(s, i)].is_hidden ? 1 : 0;
    }
    const solid_cast cast = {s->def->solid_count, s->def->solids, s->def->body_count,
                             s->def->bodies,      is_hidden,      SAMPLES_ALONG};
    treacle_status status = solid_meshes_create(s->ctx, &cast, s->frame, &s->things.solids);
    alloc_free(s->ctx, block, (size_t)count);
    return status;
}

// For one frame alone the camera frames solids, too. In a film they would move it.
static void widen_box(trace_stage* s) {
    for (int i = 0; i < s->things.solids.count && !s->def->box_set; ++i) {
        const surface_mesh* m = &s->things.solids.solids[i].mesh;
        for (int64_t v = 0; v < m->vertex_count; ++v) {
            for (int k = 0; k < AXIS_COUNT; ++k) {
                double low = s->frame->origin[k], high = low + s->frame->cell * s->frame->cells[k];
                double x = fmin(fmax((double)m->place[v][k], low), high);
                bool is_flat = k == s->flat.axis;
                s->low[k] = is_flat ? s->low[k] : fmin(s->low[k], x);
                s->high[k] = is_flat ? s->high[k] : fmax(s->high[k], x);
            }
        }
    }
}

static treacle_status add_solids(trace_stage* s) {
    for (int i = 0; i < s->things.solids.count; ++i) {
        const solid_mesh* solid = &s->things.solids.solids[i];
        const surface_mesh* m = &solid->mesh;
        if (m->triangle_count == 0) {
            continue;
        }
        trace_triangles triangles = {.vertex_count = m->vertex_count,
                                     .triangle_count = m->triangle_count,
                                     .from = &m->place[0][0],
                                     .triangles = &m->triangle[0][0],
                                     .is_container = solid->is_container};
        trace_mesh mesh = {.triangles = &m->triangle[0][0],
                           .triangle_count = m->triangle_count,
                           .position = &m->place[0][0],
                           .normal = &m->normal[0][0],
                           .velocity = &solid->velocity[0][0],
                           .material = solid_material(s, i)};
        TREACLE_TRY(add_mesh(s, triangles, &mesh));
    }
    return TREACLE_OK;
}

static treacle_status add_sides(trace_stage* s) {
    int material = s->material_count - 2;
    const trace_material* look = &s->materials[material];
    if (look->is_hidden || s->def->domain == NULL) {
        return TREACLE_OK;
    }
    bool is_glass = look->kind == TRACE_GLASS;
    surface_mesh* m = &s->things.sides;
    TREACLE_TRY(trace_sides_create(s->ctx, s->def->domain, s->frame, is_glass, m));
    if (m->triangle_count == 0) {
        return TREACLE_OK;
    }
    trace_triangles triangles = {.vertex_count = m->vertex_count,
                                 .triangle_count = m->triangle_count,
                                 .from = &m->place[0][0],
                                 .triangles = &m->triangle[0][0],
                                 .is_container = !is_glass};
    trace_mesh mesh = {.triangles = &m->triangle[0][0],
                       .triangle_count = m->triangle_count,
                       .position = &m->place[0][0],
                       .normal = &m->normal[0][0],
                       .material = material};
    return add_mesh(s, triangles, &mesh);
}

// Wider than the stream in all directions, so that it hides where that begins.
static void widen(const treacle_frame* frame, surface_mesh* m) {
    for (int k = 0; k < AXIS_COUNT && m->vertex_count > 0; ++k) {
        float low = m->place[0][k], high = m->place[0][k];
        for (int64_t v = 1; v < m->vertex_count; ++v) {
            low = trace_min(low, m->place[v][k]);
            high = trace_max(high, m->place[v][k]);
        }
        float middle = 0.5f * (low + high), half = 0.5f * (high - low);
        float scale = half > 0.0f ? 1.0f + (float)(nozzle_rim * frame->cell) / half : 1.0f;
        for (int64_t v = 0; v < m->vertex_count; ++v) {
            m->place[v][k] = middle + scale * (m->place[v][k] - middle);
        }
    }
}

static treacle_status add_nozzles(trace_stage* s) {
    int material = s->material_count - 1, count = s->def->emitter_count;
    void* block = NULL;
    if (s->materials[material].is_hidden || count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(s->ctx, (size_t)count, sizeof(surface_mesh), "nozzles", &block));
    s->things.nozzles = block;
    for (int i = 0; i < count; ++i) {
        const treacle_emitter_def* e = &s->def->emitters[i];
        surface_mesh* m = &s->things.nozzles[i];
        if (e->shape == NULL) {
            continue;
        }
        TREACLE_TRY(emitter_mesh_create(s->ctx, e, s->frame, SAMPLES_ALONG, m));
        widen(s->frame, m);
        trace_triangles triangles = {.vertex_count = m->vertex_count,
                                     .triangle_count = m->triangle_count,
                                     .from = &m->place[0][0],
                                     .triangles = &m->triangle[0][0]};
        trace_mesh mesh = {.triangles = &m->triangle[0][0],
                           .triangle_count = m->triangle_count,
                           .position = &m->place[0][0],
                           .normal = &m->normal[0][0],
                           .material = material};
        TREACLE_TRY(add_mesh(s, triangles, &mesh));
    }
    return TREACLE_OK;
}

static void free_nozzles(trace_stage* s) {
    for (int i = 0; i < s->def->emitter_count && s->things.nozzles != NULL; ++i) {
        surface_mesh_destroy(&s->things.nozzles[i]);
    }
    if (s->things.nozzles != NULL) {
        alloc_free(s->ctx, s->things.nozzles, (size_t)s->def->emitter_count * sizeof(surface_mesh));
    }
}

// The shortest way through all that the camera frames of the liquid.
static double liquid_depth(const trace_stage* s) {
    double depth = INFINITY;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        depth = k == s->flat.axis ? depth : fmin(depth, s->high[k] - s->low[k]);
    }
    return fmax(depth, s->frame->cell);
}

static treacle_status set_materials(trace_stage* s) {
    const treacle_look_def* look = &s->def->look;
    int liquids = s->def->material_count > 0 ? s->def->material_count : 1;
    int own = look->solid_count;
    void* block = NULL;
    s->liquid_count = liquids;
    s->material_count = liquids + 1 + own + TRACE_LOOK_PAINTS + liquids + 2;
    TREACLE_TRY(
        alloc_zero(s->ctx, (size_t)s->material_count, sizeof(trace_material), "looks", &block));
    s->materials = block;
    trace_look_room room = {s->size, liquid_depth(s), s->flat.axis >= 0};
    int molten = s->material_count - 2 - liquids;
    for (int i = 0; i < liquids; ++i) {
        trace_look_material(s->def, i, &room, &s->materials[i]);
        bool differs = trace_look_molten(s->def, i, &room, &s->materials[molten + i]);
        s->materials[i].molten = differs ? molten + i : 0;
    }
    trace_look_ground(look, s->size, &s->materials[liquids]);
    for (int i = 0; i < own; ++i) {
        trace_look_solid(&look->solids[i], 0, s->size, &s->materials[liquids + 1 + i]);
        s->materials[liquids + 1 + i].is_solid = true;
    }
    for (int i = 0; i < TRACE_LOOK_PAINTS; ++i) {
        trace_look_solid(&look->solid, i, s->size, &s->materials[liquids + 1 + own + i]);
        s->materials[liquids + 1 + own + i].is_solid = true;
    }
    trace_material* sides = &s->materials[s->material_count - 2];
    trace_look_solid(&look->sides, 0, s->size, sides);
    trace_look_solid(&look->emitters, 0, s->size, sides + 1);
    sides[0].is_solid = sides[1].is_solid = true;
    s->scene.materials = s->materials;
    s->scene.material_count = s->material_count;
    for (int i = 0; i <= TRACE_GLOW_STEPS; ++i) {
        s->scene.glow[i] = trace_black_body(500.0f + 10.0f * (float)i);
    }
    return TREACLE_OK;
}

static void set_ground(trace_stage* s) {
    const treacle_look_def* look = &s->def->look;
    // Liquid that lies on the bottom of the domain reaches a little into the ground: it wets it,
    // and no air is in between.
    double height = s->frame->origin[1] + look->ground_height + 0.1 * s->frame->cell;
    double extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        extent = fmax(extent, s->high[k] - s->low[k]);
    }
    s->scene.ground = (trace_ground){
        .is_there = look->ground,
        .height = (float)height,
        .centre = {(float)(0.5 * (s->low[0] + s->high[0])), (float)height,
                   (float)(0.5 * (s->low[2] + s->high[2]))},
        .near = (float)(2.0 * extent),
        .far = (float)(9.0 * extent),
        .material = s->liquid_count,
    };
}

// The lower half shows what ground far away would, so that the ground can fade into it.
static void set_backdrop(trace_stage* s) {
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
    float bright = v3f_luminance(ground) /
                   trace_max(v3f_luminance(v3f_from_double(look->ground_colour)), 0.01f);
    bool is_dark = look->environment == TREACLE_ENVIRONMENT_DARK;
    s->exposure = is_dark ? 1.0f : 0.95f / trace_max(bright, 1e-6f);
    s->exposure *= (float)pow(2.0, look->exposure);
    s->scene.has_backdrop = look->ground && !is_file;
    s->scene.backdrop_low = ground;
    bool is_sky = look->environment == TREACLE_ENVIRONMENT_SKY;
    s->scene.backdrop_high =
        is_sky ? trace_environment_radiance(e, v3f_normalise(v3f_make(0.0f, 0.3f, -1.0f)))
               : v3f_scale(0.62f, ground);
}

static treacle_status set_lights(trace_stage* s) {
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

// Far enough away that the box fits, from the right, above and in front.
static void frame_box(const trace_stage* s, double eye[3], double target[3]) {
    const treacle_camera_def* camera = &s->def->camera;
    double margin = 0.0, extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        target[k] = 0.5 * (s->low[k] + s->high[k]);
        extent = fmax(extent, s->high[k] - s->low[k]);
    }
    margin = 0.03 * extent + 2.0 * s->frame->cell;
    trace_camera probe = {.width = s->def->width, .height = s->def->height};
    double direction[3] = {0.42, 0.36, 1.0};
    for (int k = 0; k < AXIS_COUNT && s->flat.axis >= 0; ++k) { // nearly from the front
        direction[k] = k == s->flat.axis ? 1.0 : 0.14;
    }
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

static void set_camera(trace_stage* s) {
    const treacle_camera_def* camera = &s->def->camera;
    double eye[3], target[3];
    if (!camera_place(camera, s->frame->time, eye, target)) {
        frame_box(s, eye, target);
    }
    camera_turn(camera->turn + camera->turntable * s->frame->time, eye, target);
    s->camera = (trace_camera){.width = s->def->width,
                               .height = s->def->height,
                               .lens = (float)(0.5 * camera->aperture),
                               .focus = (float)camera->focus,
                               .shutter = (float)camera->shutter};
    trace_camera_aim(&s->camera, v3f_from_double(eye), v3f_from_double(target),
                     (float)camera->field_of_view);
}

// About one photon for every pixel that may see it; at first they are spread over three pixels.
static treacle_status add_photons(trace_stage* s) {
    enum { LEAST = 1 << 14, MOST = 1 << 20 };
    const trace_camera* c = &s->camera;
    int64_t pixels = 2 * (int64_t)c->width * c->height;
    float pixel = 2.0f * c->half_slope[1] * c->focus / (float)c->height;
    trace_photons_def def = {.scene = &s->scene,
                             .count = pixels < LEAST  ? LEAST
                                      : pixels > MOST ? MOST
                                                      : pixels,
                             .radius = 3.0f * pixel,
                             .seed = (uint32_t)(s->def->seed + (uint64_t)s->frame->number)};
    return trace_photons_create(s->ctx, &def, &s->scene.photons);
}

// The liquid's, those of solids and bodies, those of the sides and the nozzles.
static size_t mesh_room(const trace_stage* s) {
    return 2 + (size_t)s->def->solid_count + (size_t)s->def->body_count +
           (size_t)s->def->emitter_count;
}

treacle_status trace_stage_set(trace_stage* s) {
    TREACLE_ASSERT(s->frame != NULL && s->def != NULL && s->meshes == NULL);
    void* block = NULL;
    size_t meshes = mesh_room(s);
    TREACLE_TRY(alloc_zero(s->ctx, meshes, sizeof(trace_mesh), "meshes to draw", &block));
    s->meshes = block;
    s->scene.meshes = s->meshes;
    TREACLE_TRY(find_box(s));
    TREACLE_TRY(set_materials(s));
    TREACLE_TRY(make_solids(s));
    widen_box(s);
    TREACLE_TRY(set_lights(s));
    set_ground(s);
    set_camera(s);
    s->scene.epsilon = (float)(1e-5 * s->size);
    s->scene.max_bounces = s->def->max_bounces;
    s->scene.clamp = 6.0f / s->exposure;
    TREACLE_TRY(trace_rays_create(s->ctx, &s->scene.rays));
    TREACLE_TRY(add_liquid(s));
    TREACLE_TRY(add_solids(s));
    TREACLE_TRY(add_sides(s));
    TREACLE_TRY(add_nozzles(s));
    TREACLE_TRY(trace_rays_commit(s->scene.rays));
    TREACLE_TRY(trace_glow_create(s->ctx, &s->scene, &s->glow));
    s->scene.glowing = s->glow.count > 0 ? &s->glow : NULL;
    return add_photons(s);
}

void trace_stage_clear(trace_stage* s) {
    size_t meshes = mesh_room(s);
    trace_photons_destroy(s->scene.photons);
    trace_glow_destroy(&s->glow);
    trace_rays_destroy(s->scene.rays);
    trace_environment_destroy(&s->environment);
    if (s->materials != NULL) {
        alloc_free(s->ctx, s->materials, (size_t)s->material_count * sizeof(trace_material));
    }
    if (s->meshes != NULL) {
        alloc_free(s->ctx, s->meshes, meshes * sizeof(trace_mesh));
    }
    alloc_free(s->ctx, s->lamps, (size_t)s->def->look.lamp_count * sizeof(trace_lamp));
    free_motion(s);
    solid_meshes_destroy(&s->things.solids);
    surface_mesh_destroy(&s->things.sides);
    free_nozzles(s);
    treacle_mesh_destroy(s->mesh);
}
