#include "export_bodies.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { BODY_DOUBLES = 13 };

// place, quaternion (w, x, y, z), velocity, spin: each vector turns as points do.
static json_t* turned(const double state[BODY_DOUBLES], bool is_z_up) {
    static const int order[BODY_DOUBLES] = {0, 2, 1, 3, 4, 6, 5, 7, 9, 8, 10, 12, 11};
    static const bool is_flipped[BODY_DOUBLES] = {[1] = true, [5] = true, [8] = true, [11] = true};
    json_t* out = json_array();
    for (int k = 0; k < BODY_DOUBLES; ++k) {
        double value = is_z_up ? state[order[k]] : state[k];
        json_array_append_new(out, json_real(is_z_up && is_flipped[k] ? -value : value));
    }
    return out;
}

static treacle_status add_frame(treacle_context* ctx, const export_bodies_def* def, int64_t number,
                                json_t* frames) {
    char path[FRAME_PATH_CAPACITY], key[32];
    treacle_loaded_frame* loaded = NULL;
    if (!frame_range_path(def->range, number, path)) {
        return TREACLE_ERR_LIMIT;
    }
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* bodies =
        treacle_frame_find(treacle_loaded_frame_view(loaded), "body_state");
    json_t* states = json_array();
    bool is_sound =
        bodies != NULL && bodies->type == TREACLE_TYPE_F64 && bodies->components == BODY_DOUBLES;
    for (int64_t k = 0; is_sound && k < bodies->count; ++k) {
        const double* state = (const double*)bodies->data + BODY_DOUBLES * k;
        json_array_append_new(states, turned(state, def->is_z_up));
    }
    snprintf(key, sizeof(key), "%" PRId64, number);
    json_object_set_new(frames, key, states);
    treacle_loaded_frame_destroy(loaded);
    return TREACLE_OK;
}

static json_t* names_of(const treacle_scene* scene) {
    json_t* out = json_array();
    const treacle_sim_def* def = scene == NULL ? NULL : treacle_scene_sim(scene);
    for (int k = 0; def != NULL && k < def->body_count; ++k) {
        const char* name = def->bodies[k].name;
        json_array_append_new(out, json_string(name == NULL ? "" : name));
    }
    return out;
}

static bool write_json(json_t* root, const char* path) {
    char temporary[FRAME_PATH_CAPACITY + 8];
    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    errno = 0;
    bool is_written =
        json_dump_file(root, temporary, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
    is_written = is_written && rename(temporary, path) == 0;
    if (!is_written) {
        cli_write_error(path);
        remove(temporary);
    }
    return is_written;
}

int export_bodies(treacle_context* ctx, const export_bodies_def* def, bool is_quiet) {
    char path[FRAME_PATH_CAPACITY];
    int length = snprintf(path, sizeof(path), "%s/%s.json", def->folder,
                          def->name == NULL ? "bodies" : def->name);
    if (length < 0 || length >= FRAME_PATH_CAPACITY) {
        cli_error("the path %.60s... is too long", def->folder);
        return TREACLE_ERR_LIMIT;
    }
    json_t* frames = json_object();
    json_t* root = json_pack("{s:s, s:o, s:o}", "up", def->is_z_up ? "z" : "y", "bodies",
                             names_of(def->scene), "frames", frames);
    treacle_status status = TREACLE_OK;
    for (int64_t k = def->range->first; k <= def->range->last && status == TREACLE_OK; ++k) {
        status = add_frame(ctx, def, k, frames);
    }
    int code = status != TREACLE_OK     ? cli_fail(ctx, status)
               : write_json(root, path) ? TREACLE_OK
                                        : TREACLE_ERR_IO;
    if (code == TREACLE_OK && !is_quiet) {
        printf("%s: %zu frames\n", path, json_object_size(frames));
    }
    json_decref(root);
    return code;
}
