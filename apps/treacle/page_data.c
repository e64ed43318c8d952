#include "page_data.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "frame_range.h"

enum { STATS_MAX = 2000, BODY_DOUBLES = 13 };

int page_data_open(treacle_context* ctx, const char* folder, page_data* out) {
    char path[FRAME_PATH_CAPACITY];
    treacle_run_info info;
    *out = (page_data){.ctx = ctx, .folder = folder};
    treacle_status status = treacle_run_inspect(ctx, folder, &info);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    int length = snprintf(path, sizeof(path), "%s/scene.yaml", folder);
    if (length < 0 || length >= FRAME_PATH_CAPACITY) {
        cli_error("the path %.60s... is too long", folder);
        return TREACLE_ERR_LIMIT;
    }
    if (treacle_scene_load(ctx, path, 0, NULL, &out->scene) != TREACLE_OK) {
        treacle_scene_destroy(out->scene);
        out->scene = NULL;
    }
    return TREACLE_OK;
}

void page_data_close(page_data* d) {
    treacle_scene_destroy(d->scene);
    d->scene = NULL;
}

// Solids ------------------------------------------------------------------------------------------

static json_t* vector(const double* v, int count) {
    json_t* out = json_array();
    for (int k = 0; k < count; ++k) {
        json_array_append_new(out, json_real(isfinite(v[k]) ? v[k] : 0.0));
    }
    return out;
}

// Whether solids or emitters are elsewhere, or look otherwise, in other frames.
static bool has_motion(const treacle_sim_def* def) {
    bool moves = false;
    for (int i = 0; i < def->solid_count; ++i) {
        const treacle_solid_def* s = &def->solids[i];
        moves =
            moves || s->position.count > 0 || s->rotation.count > 0 || s->shape->frames.fps > 0.0;
        for (int k = 0; k < 3; ++k) {
            moves = moves || s->velocity[k] != 0.0 || s->spin[k] != 0.0;
        }
    }
    for (int i = 0; i < def->emitter_count; ++i) {
        const treacle_emitter_def* e = &def->emitters[i];
        moves = moves || e->position.count > 0 || e->start > 0.0 || isfinite(e->stop);
    }
    return moves;
}

static json_t* numbers(const float* values, int64_t count) {
    json_t* out = json_array();
    for (int64_t i = 0; i < count; ++i) {
        json_array_append_new(out, json_real(isfinite(values[i]) ? (double)values[i] : 0.0));
    }
    return out;
}

static json_t* describe_prop(const treacle_prop* p) {
    static const char* const roles[] = {[TREACLE_PROP_SOLID] = "solid",
                                        [TREACLE_PROP_CONTAINER] = "container",
                                        [TREACLE_PROP_BODY] = "body",
                                        [TREACLE_PROP_EMITTER] = "emitter"};
    json_t* triangles = json_array();
    for (int64_t i = 0; i < 3 * p->triangle_count; ++i) {
        json_array_append_new(triangles, json_integer(p->triangles[i]));
    }
    return json_pack("{s:s, s:i, s:o, s:o, s:o}", "role", roles[p->role], "index", p->index,
                     "position", numbers(p->position, 3 * p->vertex_count), "normal",
                     numbers(p->normal, 3 * p->vertex_count), "triangles", triangles);
}

static const double* body_state(const treacle_frame* frame, int64_t index) {
    const treacle_array* bodies = treacle_frame_find(frame, "body_state");
    bool is_there = bodies != NULL && bodies->type == TREACLE_TYPE_F64 &&
                    bodies->components == BODY_DOUBLES && index < bodies->count;
    return is_there ? (const double*)bodies->data + BODY_DOUBLES * index : NULL;
}

char* page_data_props(const page_data* d, const treacle_frame* frame) {
    treacle_props* props = NULL;
    json_t* root = json_array();
    if (d->scene != NULL &&
        treacle_props_create(d->ctx, treacle_scene_sim(d->scene), frame, &props) == TREACLE_OK) {
        for (int i = 0; i < treacle_props_count(props); ++i) {
            treacle_prop prop = treacle_props_get(props, i);
            json_t* object = describe_prop(&prop);
            const double* state =
                prop.role == TREACLE_PROP_BODY ? body_state(frame, prop.index) : NULL;
            if (state != NULL) {
                json_object_set_new(object, "state", vector(state, BODY_DOUBLES));
            }
            json_array_append_new(root, object);
        }
    }
    treacle_props_destroy(props);
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(root);
    return text;
}

// The run -----------------------------------------------------------------------------------------

static bool frame_path(const page_data* d, int64_t number, char out[FRAME_PATH_CAPACITY]) {
    return frame_range_output(d->folder, "frame", number, "trf", out);
}

static json_t* describe_domain(const treacle_frame* frame) {
    const double cells[3] = {frame->cells[0], frame->cells[1], frame->cells[2]};
    return json_pack("{s:o, s:f, s:o}", "origin", vector(frame->origin, 3), "cell", frame->cell,
                     "cells", vector(cells, 3));
}

char* page_data_describe(const page_data* d, const treacle_frame* frame) {
    const treacle_sim_def* def = d->scene == NULL ? NULL : treacle_scene_sim(d->scene);
    const char* name = d->scene == NULL ? NULL : treacle_scene_output(d->scene)->name;
    bool has_temperature = treacle_frame_find(frame, "temperature") != NULL;
    json_t* root = json_pack("{s:s, s:f, s:o, s:b, s:b, s:b}", "name", name == NULL ? "run" : name,
                             "fps", frame->fps, "domain", describe_domain(frame), "temperature",
                             has_temperature, "live", 0, "moves", def != NULL && has_motion(def));
    char* text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

char* page_data_run(const page_data* d) {
    char path[FRAME_PATH_CAPACITY];
    treacle_run_info info;
    treacle_loaded_frame* first = NULL;
    if (treacle_run_inspect(d->ctx, d->folder, &info) != TREACLE_OK || info.frames_done < 1 ||
        !frame_path(d, 1, path) || treacle_frame_read(d->ctx, path, &first) != TREACLE_OK) {
        return NULL;
    }
    char* text = page_data_describe(d, treacle_loaded_frame_view(first));
    json_t* root = text == NULL ? NULL : json_loads(text, 0, NULL);
    free(text);
    treacle_loaded_frame_destroy(first);
    json_object_set_new(root, "frames", json_integer(info.frames_done));
    json_object_set_new(root, "wanted", json_integer(info.frames));
    text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

// Statistics --------------------------------------------------------------------------------------

typedef struct stats_table {
    json_t* columns;
    int64_t stride, at;
} stats_table;

static void append(json_t* columns, const char* name, double value) {
    json_t* column = json_object_get(columns, name);
    if (column == NULL) {
        column = json_array();
        json_object_set_new(columns, name, column);
    }
    json_array_append_new(column, json_real(isfinite(value) ? value : 0.0));
}

static bool take_step(const treacle_step_stats* step, void* user) {
    stats_table* t = user;
    if (t->at++ % t->stride != 0) {
        return true;
    }
    double seconds = 0.0;
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        seconds += step->seconds[s];
    }
    append(t->columns, "time", step->time);
    append(t->columns, "particles", (double)step->particles);
    append(t->columns, "volume", step->volume);
    append(t->columns, "kinetic energy", step->kinetic_energy);
    append(t->columns, "largest speed", step->max_speed);
    append(t->columns, "iterations",
           step->pressure.iterations + step->viscosity.iterations + step->flow.iterations);
    append(t->columns, "seconds a step", seconds);
    return true;
}

char* page_data_stats(const page_data* d) {
    treacle_run_info info;
    if (treacle_run_inspect(d->ctx, d->folder, &info) != TREACLE_OK) {
        return NULL;
    }
    stats_table table = {.columns = json_object(), .stride = info.steps / STATS_MAX + 1};
    treacle_run_visit_steps(d->ctx, d->folder, take_step, &table); // what is readable is shown
    char* text = json_dumps(table.columns, JSON_COMPACT | JSON_REAL_PRECISION(7));
    json_decref(table.columns);
    return text;
}

// Frames ------------------------------------------------------------------------------------------

static char* describe_moment(const treacle_frame* frame) {
    json_t* states = json_array();
    const double* state = NULL;
    for (int64_t k = 0; (state = body_state(frame, k)) != NULL; ++k) {
        json_array_append_new(states, vector(state, BODY_DOUBLES));
    }
    json_t* root = json_pack("{s:f, s:I, s:o}", "time", frame->time, "step",
                             (json_int_t)frame->step, "bodies", states);
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(root);
    return text;
}

static treacle_status read_whole(const char* path, page_frame* out) {
    FILE* file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    out->bytes = size < 0 ? NULL : malloc((size_t)size + 1);
    bool is_read = out->bytes != NULL && fread(out->bytes, 1, (size_t)size, file) == (size_t)size;
    out->size = is_read ? (size_t)size : 0;
    if (file != NULL) {
        fclose(file);
    }
    return is_read ? TREACLE_OK : TREACLE_ERR_IO;
}

static treacle_status export_to(const page_data* d, const treacle_frame* frame,
                                treacle_export_what what, const char* folder, page_frame* out) {
    treacle_exporter* exporter = NULL;
    treacle_export_def def = treacle_export_def_default();
    def.format = TREACLE_EXPORT_GLB;
    def.what = what;
    def.folder = folder;
    def.mesh.resolution = what == TREACLE_EXPORT_SURFACE ? 1.5 : 0.0;
    treacle_status status = treacle_exporter_create(d->ctx, &def, &exporter);
    if (status == TREACLE_OK) {
        status = treacle_exporter_add(exporter, frame);
        status = status == TREACLE_OK ? read_whole(treacle_exporter_path(exporter), out) : status;
        unlink(treacle_exporter_path(exporter));
    }
    treacle_exporter_destroy(exporter);
    return status;
}

treacle_status page_frame_of(const page_data* d, const treacle_frame* frame,
                             treacle_export_what what, page_frame* out) {
    // In memory where that is possible: nothing waits for a disk.
    char folder[] = "/dev/shm/treacle-page-XXXXXX", on_disk[] = "/tmp/treacle-page-XXXXXX";
    char* place = mkdtemp(folder);
    treacle_dressed_frame* dressed = NULL;
    treacle_status status = TREACLE_OK;
    *out = (page_frame){0};
    if (d->scene != NULL) {
        status = treacle_frame_dress(d->ctx, treacle_scene_sim(d->scene), frame, &dressed);
    }
    place = place == NULL ? mkdtemp(on_disk) : place;
    if (status == TREACLE_OK && place == NULL) {
        status = TREACLE_ERR_IO;
    }
    if (status == TREACLE_OK) {
        status = export_to(d, dressed == NULL ? frame : treacle_dressed_frame_view(dressed), what,
                           place, out);
    }
    if (place != NULL) {
        rmdir(place);
    }
    out->note = status == TREACLE_OK ? describe_moment(frame) : NULL;
    treacle_dressed_frame_destroy(dressed);
    return status;
}

char* page_data_props_at(const page_data* d, int64_t number) {
    char path[FRAME_PATH_CAPACITY];
    treacle_loaded_frame* loaded = NULL;
    if (!frame_path(d, number, path) || treacle_frame_read(d->ctx, path, &loaded) != TREACLE_OK) {
        return NULL;
    }
    char* text = page_data_props(d, treacle_loaded_frame_view(loaded));
    treacle_loaded_frame_destroy(loaded);
    return text;
}

treacle_status page_data_frame(const page_data* d, int64_t number, treacle_export_what what,
                               page_frame* out) {
    char path[FRAME_PATH_CAPACITY];
    treacle_loaded_frame* loaded = NULL;
    *out = (page_frame){0};
    if (!frame_path(d, number, path)) {
        return TREACLE_ERR_LIMIT;
    }
    treacle_status status = treacle_frame_read(d->ctx, path, &loaded);
    if (status == TREACLE_OK) {
        status = page_frame_of(d, treacle_loaded_frame_view(loaded), what, out);
    }
    treacle_loaded_frame_destroy(loaded);
    return status;
}
