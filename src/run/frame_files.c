#include "run/frame_files.h"

#include "cache/frame_format.h"
#include "render/camera_place.h"
#include "treacle/preview.h"

static treacle_status write_preview(run_job* job, const treacle_frame* frame) {
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_numbered(&job->folder, FOLDER_PREVIEW, frame->number, path));
    treacle_preview_def def = treacle_preview_def_default();
    def.width = job->record.preview_width;
    def.height = job->record.preview_height;
    const treacle_output_def* output = treacle_scene_output(job->scene);
    const treacle_camera_def* camera = treacle_scene_camera(job->scene);
    def.by = output->preview_by;
    def.from = output->preview_from;
    def.to = output->preview_to;
    def.scene = treacle_scene_sim(job->scene);
    def.field_of_view = camera->field_of_view;
    def.eye_set = camera_place(camera, frame->time, def.eye, def.target);
    def.turn = camera->turn + camera->turntable * frame->time;
    return treacle_preview_write(job->ctx, frame, &def, path);
}

// Writes a view of that kind. The scene's hash ties the file to the run.
static treacle_status write_view(run_job* job, folder_kind kind, const treacle_frame* view) {
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_VALIDATE(frame_is_valid(view));
    treacle_frame frame = *view;
    frame.scene_hash = job->record.scene_hash;
    TREACLE_TRY(folder_numbered(&job->folder, kind, frame.number, path));
    return treacle_frame_write(job->ctx, &frame, path);
}

treacle_status frame_files_write_picture(run_job* job, const treacle_frame* frame) {
    TREACLE_ASSERT(frame->kind == TREACLE_FRAME_PICTURE && frame->number >= 1);
    TREACLE_TRY(write_view(job, FOLDER_FRAME, frame));
    bool is_part = treacle_frame_parts(frame, "position") != NULL; // then all ranks draw
    bool draws = job->record.preview && (is_part || run_is_writer(job));
    return comm_agree(job->ctx, draws ? write_preview(job, frame) : TREACLE_OK);
}

treacle_status frame_files_write_state(run_job* job, const treacle_frame* frame) {
    TREACLE_ASSERT(frame->kind == TREACLE_FRAME_STATE && frame->number >= 1);
    bool is_writer = run_is_writer(job);
    TREACLE_TRY(comm_agree(job->ctx, is_writer ? stats_file_sync(&job->stats) : TREACLE_OK));
    TREACLE_TRY(write_view(job, FOLDER_STATE, frame));
    return comm_agree(job->ctx, is_writer ? frame_files_prune(job, frame->number) : TREACLE_OK);
}

static bool is_kept(const run_job* job, int64_t number) {
    return job->state_every > 0 && number % job->state_every == 0;
}

bool frame_files_have_state(const run_job* job, int64_t number) {
    TREACLE_ASSERT(job->resume_every >= 1);
    return number == job->record.frames || number % job->resume_every == 0 || is_kept(job, number);
}

// The newest state before `newest` that every run of this scene has, however often it was ended
// and resumed; 0: none. Should the newest be damaged, the run goes on from this one.
static int64_t spare_state(const run_job* job, const folder_list* states, int64_t newest) {
    int64_t spare = 0;
    for (size_t k = 0; k < states->count && states->numbers[k] < newest; ++k) {
        spare = states->numbers[k] % job->resume_every == 0 ? states->numbers[k] : spare;
    }
    return spare;
}

treacle_status frame_files_prune(run_job* job, int64_t newest) {
    TREACLE_ASSERT(newest >= 1);
    folder_list states;
    treacle_status status = folder_list_kind(&job->folder, FOLDER_STATE, &states);
    int64_t spare = spare_state(job, &states, newest);
    for (size_t k = 0; k < states.count && status == TREACLE_OK; ++k) {
        int64_t number = states.numbers[k];
        if (number < newest && number != spare && !is_kept(job, number)) {
            status = folder_remove(&job->folder, FOLDER_STATE, number);
        }
    }
    folder_list_free(&job->folder, &states);
    return status;
}
