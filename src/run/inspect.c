#include <stdio.h>

#include "run/run_record.h"
#include "run/stats_file.h"

static treacle_status count_frames(const folder* f, treacle_run_info* info) {
    folder_list list;
    treacle_status status = folder_list_kind(f, FOLDER_FRAME, &list);
    while (status == TREACLE_OK && (size_t)info->frames_done < list.count &&
           list.numbers[info->frames_done] == info->frames_done + 1) {
        info->frames_done += 1;
    }
    folder_list_free(f, &list);
    return status;
}

static treacle_status newest_state(const folder* f, treacle_run_info* info) {
    folder_list list;
    treacle_status status = folder_list_kind(f, FOLDER_STATE, &list);
    if (status == TREACLE_OK && list.count > 0) {
        info->state = list.numbers[list.count - 1];
    }
    folder_list_free(f, &list);
    return status;
}

static treacle_status copy_record(const folder* f, treacle_run_info* info) {
    loaded_record loaded;
    TREACLE_TRY(run_record_read(f, &loaded));
    const run_record* record = &loaded.record;
    snprintf(info->version, sizeof(info->version), "%s", record->version);
    snprintf(info->scene, sizeof(info->scene), "%s", record->scene);
    info->scene_hash = record->scene_hash;
    info->frames = record->frames;
    run_record_free(f, &loaded);
    return TREACLE_OK;
}

static treacle_status inspect(const folder* f, treacle_run_info* info) {
    TREACLE_TRY(copy_record(f, info));
    TREACLE_TRY(count_frames(f, info));
    TREACLE_TRY(newest_state(f, info));
    TREACLE_TRY(folder_bytes(f, &info->bytes));
    return stats_file_summarise(f, info);
}

treacle_status treacle_run_inspect(treacle_context* ctx, const char* path, treacle_run_info* out) {
    folder f;
    *out = (treacle_run_info){0};
    TREACLE_TRY(folder_peek(ctx, path, &f));
    treacle_status status = inspect(&f, out);
    folder_close(&f);
    return status;
}

treacle_status treacle_run_visit_steps(treacle_context* ctx, const char* path,
                                       treacle_step_visitor* visit, void* user) {
    folder f;
    TREACLE_TRY(folder_peek(ctx, path, &f));
    treacle_status status = stats_file_visit(&f, visit, user);
    folder_close(&f);
    return status;
}
