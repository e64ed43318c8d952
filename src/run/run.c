#include "treacle/run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "run/frame_files.h"
#include "treacle/preview.h"

treacle_run_def treacle_run_def_default(void) {
    treacle_preview_def preview = treacle_preview_def_default();
    return (treacle_run_def){
        .def_size = sizeof(treacle_run_def),
        .preview_width = preview.width,
        .preview_height = preview.height,
    };
}

static treacle_status run_check_def(treacle_context* ctx, const treacle_run_def* def) {
    if (def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the run's def does not come from treacle_run_def_default()");
    }
    if (def->folder == NULL || def->frames < 0) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the run's def needs a folder, and frames must not be negative");
    }
    if (def->film != NULL && !def->preview) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a film is made of previews: turn them on, too");
    }
    return TREACLE_OK;
}

// Refuses to write over another run, unless it may be replaced, or over a scene of the user's that
// has our file's name.
static treacle_status check_empty(const folder* f, bool may_replace) {
    folder_list frames;
    treacle_status status = folder_list_kind(f, FOLDER_FRAME, &frames);
    bool has_frames = frames.count > 0;
    folder_list_free(f, &frames);
    TREACLE_TRY(status);
    bool has_scene = folder_has(f, FOLDER_SCENE);
    bool is_run = has_scene && folder_has(f, FOLDER_RECORD);
    if (is_run && may_replace) {
        return TREACLE_OK;
    }
    if (has_frames && may_replace) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE,
                          "%s holds frames without the " FOLDER_RECORD " and " FOLDER_SCENE
                          " of their run: nobody knows whose they are, so they are not removed; "
                          "choose another folder",
                          f->path);
    }
    if (has_frames || is_run) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE,
                          "%s already holds a run; go on with it by \"treacle resume %s\", choose "
                          "another folder, or replace it with --force",
                          f->path, f->path);
    }
    if (has_scene) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE,
                          "%s holds a " FOLDER_SCENE
                          " that the run would overwrite; choose another folder",
                          f->path);
    }
    return TREACLE_OK;
}

// The film's path as the record keeps it: from the folder if inside it, else absolute.
static treacle_status locate_film(const folder* f, const char* film,
                                  char out[FOLDER_PATH_CAPACITY]) {
    char parent[FOLDER_PATH_CAPACITY];
    char real_parent[PATH_MAX];
    char real_folder[PATH_MAX];
    const char* slash = strrchr(film, '/');
    const char* name = slash == NULL ? film : slash + 1;
    size_t length = (size_t)(name - film);
    if (length >= sizeof(parent) || strlen(name) == 0) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE, "\"%s\" is no name for a film", film);
    }
    memcpy(parent, film, length);
    parent[length] = '\0';
    if (realpath(length == 0 ? "." : parent, real_parent) == NULL ||
        realpath(f->path, real_folder) == NULL) {
        return check_fail(f->ctx, TREACLE_ERR_IO, "there is no folder for the film %s", film);
    }
    const folder place = {.ctx = f->ctx, .path = real_parent, .fd = -1};
    bool inside = strcmp(real_parent, real_folder) == 0;
    if (inside) {
        memcpy(out, name, strlen(name) + 1);
        return TREACLE_OK;
    }
    return folder_file(&place, name, out);
}

// What a new run will remember.
static treacle_status fill_record(run_job* job, const treacle_scene* scene) {
    const treacle_run_def* def = job->def;
    if (def->scene_path != NULL && realpath(def->scene_path, job->scene_path) == NULL) {
        job->scene_path[0] = '\0';
    }
    if (def->film != NULL) {
        TREACLE_TRY(locate_film(&job->folder, def->film, job->film_path));
    }
    job->record = (run_record){
        .version = treacle_version(),
        .scene = job->scene_path,
        .set_count = def->set_count,
        .sets = def->sets,
        .scene_hash = treacle_scene_hash(scene),
        .frames = def->frames > 0 ? def->frames : treacle_scene_output(scene)->frames,
        .preview = def->preview,
        .preview_width = def->preview_width,
        .preview_height = def->preview_height,
        .film = job->film_path,
    };
    return TREACLE_OK;
}

static void take_output(run_job* job, const treacle_scene* scene) {
    job->fps = treacle_scene_sim(scene)->fps;
    job->state_every = treacle_scene_output(scene)->state_every;
    job->resume_every = treacle_scene_output(scene)->resume_every;
    job->scene = scene;
}

// Makes the film that the run wants; without `again` only if there is none yet.
static treacle_status make_film(run_job* job, bool again) {
    char path[FOLDER_PATH_CAPACITY];
    const char* film = job->record.film;
    if (film[0] == '\0') {
        return TREACLE_OK;
    }
    if (film[0] != '/') {
        TREACLE_TRY(folder_file(&job->folder, film, path));
        film = path;
    }
    if (!again && access(film, F_OK) == 0) {
        return TREACLE_OK;
    }
    return treacle_film_write(job->ctx, job->folder.path, "preview", job->fps, film);
}

// The scene and the record appear together: a folder has both, or holds no run yet.
static treacle_status write_birth(run_job* job, const treacle_scene* scene) {
    static const char* const names[] = {FOLDER_RECORD, FOLDER_SCENE};
    const char* text = treacle_scene_text(scene);
    TREACLE_TRY(folder_stage(&job->folder, FOLDER_SCENE, text, strlen(text)));
    treacle_status status = run_record_stage(&job->folder, &job->record);
    if (status != TREACLE_OK) {
        folder_unstage(&job->folder, FOLDER_SCENE);
        return status;
    }
    return folder_commit(&job->folder, 2, names);
}

static treacle_status simulate(run_job* job, int64_t at, int64_t last_step) {
    treacle_status status = TREACLE_OK;
    job->stats.fd = -1;
    if (run_is_writer(job)) {
        status = stats_file_open(&job->folder, last_step, &job->stats);
    }
    status = comm_agree(job->ctx, status);
    if (status == TREACLE_OK) {
        status = frame_loop_run(job, at);
    }
    stats_file_close(&job->stats);
    TREACLE_TRY(status);
    return comm_agree(job->ctx, run_is_writer(job) ? make_film(job, true) : TREACLE_OK);
}

// One process of a run has the lock on its folder; but all ranks must be able to write there: the
// folder is on a disk that they share.
static treacle_status open_folder(run_job* job) {
    const char* path = job->def->folder;
    TREACLE_TRY(comm_check_same(job->ctx, "the folder", path));
    treacle_status status = run_is_writer(job) ? folder_open(job->ctx, path, &job->folder)
                                               : folder_peek(job->ctx, path, &job->folder);
    if (status == TREACLE_OK) {
        status = folder_check_writable(&job->folder);
    }
    return comm_agree(job->ctx, status);
}

static treacle_status check_scene(run_job* job, uint64_t hash) {
    char text[32];
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    return comm_check_same(job->ctx, "the scene's hash", text);
}

// Makes room for the new run, and says what had to go.
static treacle_status replace_old(const folder* f) {
    folder_census gone;
    if (!folder_has(f, FOLDER_RECORD)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(folder_clear(f, &gone));
    log_message(f->ctx, TREACLE_LOG_INFO,
                "the run that was in %s is replaced: %" PRId64 " frames, %" PRId64
                " states, %" PRId64 " previews and the statistics, %.3g MB, are removed; %" PRId64
                " other files stay",
                f->path, gone.frames, gone.states, gone.previews, 1e-6 * gone.bytes, gone.others);
    return TREACLE_OK;
}

static treacle_status begin_files(run_job* job, const treacle_scene* scene) {
    TREACLE_TRY(folder_remove_unfinished(&job->folder));
    if (job->def->replace) {
        TREACLE_TRY(replace_old(&job->folder));
    }
    return write_birth(job, scene);
}

static treacle_status start_in(run_job* job, const treacle_scene* scene) {
    TREACLE_TRY(check_scene(job, treacle_scene_hash(scene)));
    TREACLE_TRY(comm_agree(
        job->ctx, run_is_writer(job) ? check_empty(&job->folder, job->def->replace) : TREACLE_OK));
    TREACLE_TRY(comm_agree(job->ctx, fill_record(job, scene)));
    take_output(job, scene);
    TREACLE_TRY(treacle_sim_create(job->ctx, treacle_scene_sim(scene), &job->sim));
    TREACLE_TRY(comm_agree(job->ctx, run_is_writer(job) ? begin_files(job, scene) : TREACLE_OK));
    return simulate(job, 0, 0);
}

treacle_status treacle_run_start(treacle_context* ctx, const treacle_scene* scene,
                                 const treacle_run_def* def) {
    TREACLE_TRY(run_check_def(ctx, def));
    run_job job = {.ctx = ctx, .def = def};
    TREACLE_TRY(comm_agree(ctx, folder_make(ctx, def->folder)));
    treacle_status status = open_folder(&job);
    if (status == TREACLE_OK) {
        status = start_in(&job, scene);
    }
    treacle_sim_destroy(job.sim);
    folder_close(&job.folder);
    return status;
}

static treacle_status fail_scene(treacle_context* ctx, const treacle_scene* scene) {
    int count = treacle_scene_diagnostic_count(scene);
    for (int k = 0; k < count; ++k) {
        treacle_diagnostic d = treacle_scene_diagnostic(scene, k);
        if (d.level == TREACLE_LOG_ERROR) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "%s:%d:%d: %s", d.file, d.line, d.column,
                              d.text);
        }
    }
    return TREACLE_ERR_SCENE;
}

// Loads the folder's own copy of the scene and makes sure that it is what the run began with.
static treacle_status load_copy(run_job* job, treacle_scene** out) {
    char path[FOLDER_PATH_CAPACITY];
    *out = NULL;
    TREACLE_TRY(folder_file(&job->folder, FOLDER_SCENE, path));
    if (!folder_has(&job->folder, FOLDER_SCENE)) {
        return check_fail(job->ctx, TREACLE_ERR_USAGE,
                          "%s has no " FOLDER_SCENE
                          ": the run was ended before it began, or the file was removed; begin "
                          "again with \"treacle run\"",
                          job->folder.path);
    }
    treacle_status status = treacle_scene_load(job->ctx, path, 0, NULL, out);
    if (status == TREACLE_ERR_SCENE) {
        status = fail_scene(job->ctx, *out);
    } else if (status == TREACLE_OK && treacle_scene_hash(*out) != job->record.scene_hash) {
        status = check_fail(
            job->ctx, TREACLE_ERR_USAGE,
            "%s was changed after the run began, or a mesh that it names was; a run cannot "
            "change its scene. "
            "Begin a new one: treacle run %s -o another-folder",
            path, path);
    }
    if (status != TREACLE_OK) {
        treacle_scene_destroy(*out);
        *out = NULL;
    }
    return status;
}

// Says so if the scene file that the run came from is not what it was. That it cannot be read any
// more is no matter.
static treacle_status compare_original(run_job* job) {
    const run_record* record = &job->record;
    treacle_scene* original = NULL;
    if (record->scene[0] == '\0') {
        return TREACLE_OK;
    }
    treacle_status status =
        treacle_scene_load(job->ctx, record->scene, record->set_count, record->sets, &original);
    bool differs = status == TREACLE_ERR_SCENE ||
                   (status == TREACLE_OK && treacle_scene_hash(original) != record->scene_hash);
    treacle_scene_destroy(original);
    if (differs) {
        log_message(job->ctx, TREACLE_LOG_WARNING,
                    "%s has changed since this run began; the run goes on with its own copy, "
                    "%s/" FOLDER_SCENE ". For the changed scene begin a new run: treacle run %s "
                    "-o another-folder",
                    record->scene, job->folder.path, record->scene);
    }
    return status == TREACLE_ERR_MEMORY ? status : TREACLE_OK;
}

// Reads one state file; a damaged one is a warning and leaves *out NULL.
static treacle_status read_state(run_job* job, int64_t number, treacle_loaded_frame** out) {
    char path[FOLDER_PATH_CAPACITY];
    *out = NULL;
    TREACLE_TRY(folder_numbered(&job->folder, FOLDER_STATE, number, path));
    treacle_status status = treacle_frame_open(job->ctx, path, out);
    if (status == TREACLE_ERR_FORMAT) {
        log_message(job->ctx, TREACLE_LOG_WARNING, "%s; going back to the state before it",
                    treacle_context_error(job->ctx));
        return TREACLE_OK;
    }
    TREACLE_TRY(status);
    const treacle_frame* frame = treacle_loaded_frame_view(*out);
    bool fits = frame->kind == TREACLE_FRAME_STATE && frame->number == number &&
                frame->scene_hash == job->record.scene_hash;
    if (!fits) {
        treacle_loaded_frame_destroy(*out);
        *out = NULL;
        return check_fail(job->ctx, TREACLE_ERR_FORMAT,
                          "%s does not belong to this run: it is the state of another scene or of "
                          "another frame. Remove it to resume without it",
                          path);
    }
    return TREACLE_OK;
}

// The newest state before `end` that is whole; *out stays NULL if there is none.
static treacle_status find_state(run_job* job, int64_t end, treacle_loaded_frame** out) {
    folder_list states;
    *out = NULL;
    treacle_status status =
        comm_agree(job->ctx, folder_list_kind(&job->folder, FOLDER_STATE, &states));
    for (size_t k = states.count; k > 0 && status == TREACLE_OK && *out == NULL; --k) {
        if (states.numbers[k - 1] < end) {
            status = read_state(job, states.numbers[k - 1], out);
        }
    }
    if (status == TREACLE_OK && *out == NULL && states.count > 0) {
        log_message(job->ctx, TREACLE_LOG_WARNING,
                    "%s has no state file that is whole; simulating again from frame 1",
                    job->folder.path);
    }
    folder_list_free(&job->folder, &states);
    return status;
}

static treacle_status write_record(run_job* job) {
    static const char* const names[] = {FOLDER_RECORD};
    TREACLE_TRY(run_record_stage(&job->folder, &job->record));
    return folder_commit(&job->folder, 1, names);
}

static void warn_of_gaps(run_job* job, int64_t at) {
    for (int64_t k = 1; k < at; ++k) {
        if (!folder_has_numbered(&job->folder, FOLDER_FRAME, k)) {
            log_message(job->ctx, TREACLE_LOG_WARNING,
                        "frame %" PRId64 " is missing in %s and only a new run can make it again",
                        k, job->folder.path);
        }
    }
}

static const treacle_frame* view_of(const treacle_loaded_frame* state) {
    return state == NULL ? NULL : treacle_loaded_frame_view(state);
}

// The frame of the state itself can be made again, if anything happened to it.
static treacle_status is_frame_whole(run_job* job, int64_t at, int64_t* is_whole) {
    char path[FOLDER_PATH_CAPACITY];
    treacle_loaded_frame* frame = NULL;
    TREACLE_TRY(folder_numbered(&job->folder, FOLDER_FRAME, at, path));
    treacle_status status = treacle_frame_open(job->ctx, path, &frame);
    treacle_loaded_frame_destroy(frame);
    bool has_preview =
        !job->record.preview || folder_has_numbered(&job->folder, FOLDER_PREVIEW, at);
    *is_whole = status == TREACLE_OK && has_preview;
    return status == TREACLE_ERR_MEMORY ? status : TREACLE_OK;
}

static treacle_status mend(run_job* job, int64_t at) {
    int64_t is_whole = 0;
    bool is_writer = run_is_writer(job);
    TREACLE_TRY(is_frame_whole(job, at, &is_whole));
    comm_max_i64(job->ctx, &is_whole, 1);
    TREACLE_TRY(is_whole != 0 ? TREACLE_OK : frame_loop_write_picture(job, at));
    return comm_agree(job->ctx, is_writer ? frame_files_prune(job, at) : TREACLE_OK);
}

// The file may be whole and what is in it not: then the simulation takes the state before it.
// *loaded is NULL afterwards if there is none.
static treacle_status restore(run_job* job, treacle_loaded_frame** loaded) {
    treacle_status status = TREACLE_ERR_FORMAT;
    while (*loaded != NULL && status == TREACLE_ERR_FORMAT) {
        int64_t number = view_of(*loaded)->number;
        status = treacle_sim_restore(job->sim, view_of(*loaded));
        if (status == TREACLE_ERR_FORMAT) {
            log_message(job->ctx, TREACLE_LOG_WARNING,
                        "state %" PRId64 " of %s: %s; going back to the state before it", number,
                        job->folder.path, treacle_context_error(job->ctx));
            treacle_loaded_frame_destroy(*loaded);
            TREACLE_TRY(find_state(job, number, loaded));
        }
    }
    return *loaded == NULL ? TREACLE_OK : status;
}

// The loaded state is let go as soon as the simulation has it.
static treacle_status go_on(run_job* job, treacle_loaded_frame** loaded) {
    TREACLE_TRY(restore(job, loaded));
    const treacle_frame* state = view_of(*loaded);
    int64_t at = state == NULL ? 0 : state->number;
    int64_t step = state == NULL ? 0 : state->step;
    if (state != NULL) {
        treacle_loaded_frame_destroy(*loaded);
        *loaded = NULL;
        warn_of_gaps(job, at);
        TREACLE_TRY(mend(job, at));
    }
    if (at < job->record.frames) {
        log_message(job->ctx, TREACLE_LOG_INFO,
                    "resuming %s after frame %" PRId64 " of %" PRId64 ", step %" PRId64,
                    job->folder.path, at, job->record.frames, step);
    }
    return simulate(job, at, step);
}

static treacle_status tidy_up(run_job* job, int64_t at) {
    TREACLE_TRY(frame_files_prune(job, at));
    return make_film(job, false);
}

static treacle_status resume_scene(run_job* job, const treacle_scene* scene,
                                   treacle_loaded_frame** state) {
    int64_t at = *state == NULL ? 0 : view_of(*state)->number;
    int64_t frames = job->def->frames > 0 ? job->def->frames : job->record.frames;
    take_output(job, scene);
    if (at >= frames && folder_has_numbered(&job->folder, FOLDER_FRAME, at)) {
        log_message(job->ctx, TREACLE_LOG_INFO,
                    "the run in %s is complete: it has all %" PRId64
                    " frames. For more: treacle resume %s --frames N",
                    job->folder.path, at, job->folder.path);
        return comm_agree(job->ctx, run_is_writer(job) ? tidy_up(job, at) : TREACLE_OK);
    }
    if (frames != job->record.frames) {
        job->record.frames = frames;
        TREACLE_TRY(comm_agree(job->ctx, run_is_writer(job) ? write_record(job) : TREACLE_OK));
    }
    TREACLE_TRY(treacle_sim_create(job->ctx, treacle_scene_sim(scene), &job->sim));
    return go_on(job, state);
}

static treacle_status resume_record(run_job* job) {
    treacle_scene* scene = NULL;
    treacle_loaded_frame* state = NULL;
    if (strcmp(job->record.version, treacle_version()) != 0) {
        log_message(job->ctx, TREACLE_LOG_WARNING,
                    "the run in %s was begun by treacle %s, this is %s; results may differ",
                    job->folder.path, job->record.version, treacle_version());
    }
    treacle_status status = comm_agree(job->ctx, load_copy(job, &scene));
    if (status == TREACLE_OK) {
        status = check_scene(job, job->record.scene_hash);
    }
    if (status == TREACLE_OK) {
        status = comm_agree(job->ctx, compare_original(job));
    }
    if (status == TREACLE_OK) {
        status = find_state(job, INT64_MAX, &state);
    }
    status = comm_agree(job->ctx, status);
    if (status == TREACLE_OK) {
        status = resume_scene(job, scene, &state);
    }
    treacle_sim_destroy(job->sim);
    treacle_loaded_frame_destroy(state);
    treacle_scene_destroy(scene);
    return status;
}

static treacle_status resume_in(run_job* job) {
    loaded_record loaded;
    treacle_status status = run_record_read(&job->folder, &loaded);
    bool has_read = status == TREACLE_OK;
    job->record = has_read ? loaded.record : job->record;
    if (has_read && run_is_writer(job)) {
        status = folder_remove_unfinished(&job->folder);
    }
    status = comm_agree(job->ctx, status);
    if (status == TREACLE_OK) {
        status = resume_record(job);
    }
    if (has_read) {
        run_record_free(&job->folder, &loaded);
    }
    return status;
}

treacle_status treacle_run_resume(treacle_context* ctx, const treacle_run_def* def) {
    TREACLE_TRY(run_check_def(ctx, def));
    run_job job = {.ctx = ctx, .def = def};
    treacle_status status = open_folder(&job);
    if (status == TREACLE_OK) {
        status = resume_in(&job);
    }
    folder_close(&job.folder);
    return status;
}
