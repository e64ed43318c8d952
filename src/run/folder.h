// A run's folder: its file names, its lock, and writing small files whole or not at all.
//
// The lock is an flock on the folder itself: it leaves no file behind and ends with the process,
// however that ends.
#pragma once

#include <stdio.h>

#include "base/context.h"

enum { FOLDER_PATH_CAPACITY = 4096 };

#define FOLDER_SCENE "scene.yaml"
#define FOLDER_RECORD "run.json"
#define FOLDER_STATS "stats.jsonl"

typedef enum folder_kind {
    FOLDER_FRAME,   // frame_0001.trf
    FOLDER_STATE,   // state_0001.trs
    FOLDER_PREVIEW, // preview_0001.png
} folder_kind;

typedef struct folder {
    treacle_context* ctx;
    const char* path; // not owned
    int fd;           // of the folder, or -1
} folder;

// Numbers of the files of one kind, ascending.
typedef struct folder_list {
    int64_t* numbers;
    size_t count;
    size_t capacity;
} folder_list;

/// Makes the folder and its parents where missing.
treacle_status folder_make(treacle_context* ctx, const char* path) TREACLE_NODISCARD;
/// Opens a folder that exists and locks it. ERR_USAGE if another process has the lock. After an
/// error nothing needs closing.
treacle_status folder_open(treacle_context* ctx, const char* path, folder* out) TREACLE_NODISCARD;
/// Opens a folder for looking only, without the lock.
treacle_status folder_peek(treacle_context* ctx, const char* path, folder* out) TREACLE_NODISCARD;
/// ERR_IO if files cannot be made in it.
treacle_status folder_check_writable(const folder* f) TREACLE_NODISCARD;
void folder_close(folder* f);

/// The whole path of a file in the folder, into FOLDER_PATH_CAPACITY bytes. ERR_LIMIT if too long.
treacle_status folder_file(const folder* f, const char* name, char* out) TREACLE_NODISCARD;
/// The same for a numbered file.
treacle_status folder_numbered(const folder* f, folder_kind kind, int64_t number,
                               char* out) TREACLE_NODISCARD;
bool folder_has(const folder* f, const char* name);
bool folder_has_numbered(const folder* f, folder_kind kind, int64_t number);

/// Opens a file for reading; *out is NULL if there is none. What is not a plain file is refused: a
/// pipe would wait for ever.
treacle_status folder_read(const folder* f, const char* name, FILE** out) TREACLE_NODISCARD;
/// OK if the open file is a plain one.
treacle_status folder_check_plain(const folder* f, const char* name, int fd) TREACLE_NODISCARD;

/// Writes `name` beside its final place, safely on disk, but not yet there.
treacle_status folder_stage(const folder* f, const char* name, const char* text,
                            size_t length) TREACLE_NODISCARD;
/// Forgets what was staged.
void folder_unstage(const folder* f, const char* name);
/// Puts staged files in their places, in this order and within a moment. On failure none is staged.
treacle_status folder_commit(const folder* f, int count,
                             const char* const* names) TREACLE_NODISCARD;

/// All numbers of that kind; free with folder_list_free, also after an error.
treacle_status folder_list_kind(const folder* f, folder_kind kind,
                                folder_list* out) TREACLE_NODISCARD;
void folder_list_free(const folder* f, folder_list* list);
/// Bytes of all the run's files.
treacle_status folder_bytes(const folder* f, double* out) TREACLE_NODISCARD;

/// Removes a numbered file; it is no error if there is none.
treacle_status folder_remove(const folder* f, folder_kind kind, int64_t number) TREACLE_NODISCARD;
// What was in a folder that was cleared.
typedef struct folder_census {
    int64_t frames, states, previews;
    int64_t others; // files that are not a run's: they stay
    double bytes;   // that are gone
} folder_census;

/// Removes a run's results, states first: whoever is stopped halfway leaves a run that begins again
/// from its start. Its scene and its record stay, for the next run's to take their place at once,
/// and so does everything that is not the run's.
treacle_status folder_clear(const folder* f, folder_census* out) TREACLE_NODISCARD;
/// Removes the unfinished files that a killed run leaves behind.
treacle_status folder_remove_unfinished(const folder* f) TREACLE_NODISCARD;
