// Files that appear as a whole or not at all.
//
// Bytes go to `path.tmp` in the same folder; commit makes them durable (fsync), renames the file to
// its name and makes the renaming durable too (fsync of the folder). Whoever reads `path` sees the
// old file or the new one, also after a crash. The temporary name is fixed, so that a run which was
// killed and resumed overwrites its own leftover.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define ATOMIC_FILE_SUFFIX ".tmp"

typedef struct atomic_file {
    treacle_context* ctx;
    char* path;
    char* temporary;
    int fd;          // -1 when not open
    uint64_t length; // bytes appended
    bool is_guest;   // another process has made the file and will end it
} atomic_file;

/// Every failure below leaves the sentence in the context, removes the temporary file and closes
/// `file`; there is nothing left to clean up.
treacle_status atomic_file_open(treacle_context* ctx, const char* path,
                                atomic_file* out) TREACLE_NODISCARD;
treacle_status atomic_file_append(atomic_file* file, const void* bytes,
                                  size_t size) TREACLE_NODISCARD;
/// Takes part in writing a file that another process has opened; it also ends it.
treacle_status atomic_file_join(treacle_context* ctx, const char* path,
                                atomic_file* out) TREACLE_NODISCARD;
/// Writes at a place of one's own, while others write at theirs.
treacle_status atomic_file_place(atomic_file* file, uint64_t offset, const void* bytes,
                                 size_t size) TREACLE_NODISCARD;
/// What a guest has written is durable, and the file closed.
treacle_status atomic_file_leave(atomic_file* file) TREACLE_NODISCARD;
/// Overwrites bytes that were appended before.
treacle_status atomic_file_patch(atomic_file* file, uint64_t offset, const void* bytes,
                                 size_t size) TREACLE_NODISCARD;
treacle_status atomic_file_commit(atomic_file* file) TREACLE_NODISCARD;
/// Gives up: removes the temporary file. Allowed on a file that is closed already.
void atomic_file_discard(atomic_file* file);

/// *out = the temporary name that belongs to the path, for programs that write the file themselves.
/// Free with alloc_free_text.
treacle_status atomic_file_temporary(treacle_context* ctx, const char* path,
                                     char** out) TREACLE_NODISCARD;
/// Makes a temporary file that another program wrote durable and renames it to `path`. On failure
/// the temporary file is removed.
treacle_status atomic_file_publish(treacle_context* ctx, const char* temporary,
                                   const char* path) TREACLE_NODISCARD;
