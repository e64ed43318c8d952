#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

// One write call takes at most this much: Linux itself stops at 2^31 - 4096.
enum { WRITE_MAX = 1 << 30 };

treacle_status atomic_file_temporary(treacle_context* ctx, const char* path, char** out) {
    size_t size = strlen(path) + sizeof(ATOMIC_FILE_SUFFIX);
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, size, 1, "a file name", &block));
    *out = block;
    snprintf(*out, size, "%s%s", path, ATOMIC_FILE_SUFFIX);
    return TREACLE_OK;
}

static treacle_status atomic_file_fail(treacle_context* ctx, const char* path, const char* doing) {
    return check_fail(ctx, TREACLE_ERR_IO, "%s: cannot %s: %s", path, doing, strerror(errno));
}

static void release(atomic_file* file) {
    alloc_free_text(file->ctx, file->path);
    alloc_free_text(file->ctx, file->temporary);
    *file = (atomic_file){.fd = -1};
}

void atomic_file_discard(atomic_file* file) {
    if (file->temporary == NULL) {
        return;
    }
    if (file->fd >= 0) {
        close(file->fd);
        if (!file->is_guest) {
            unlink(file->temporary);
        }
    }
    release(file);
}

static treacle_status open_with(treacle_context* ctx, const char* path, int flags,
                                atomic_file* out) {
    *out = (atomic_file){.ctx = ctx, .fd = -1};
    treacle_status status = alloc_text(ctx, path, &out->path);
    if (status == TREACLE_OK) {
        status = atomic_file_temporary(ctx, path, &out->temporary);
    }
    if (status != TREACLE_OK) {
        release(out);
        return status;
    }
    out->fd = open(out->temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    if (out->fd < 0) {
        status = atomic_file_fail(ctx, path, "create the file");
        release(out);
    }
    return status;
}

treacle_status atomic_file_open(treacle_context* ctx, const char* path, atomic_file* out) {
    return open_with(ctx, path, O_CREAT | O_TRUNC, out);
}

treacle_status atomic_file_join(treacle_context* ctx, const char* path, atomic_file* out) {
    TREACLE_TRY(open_with(ctx, path, 0, out));
    out->is_guest = true;
    return TREACLE_OK;
}

static treacle_status write_all(atomic_file* file, uint64_t offset, const void* bytes,
                                size_t size) {
    const char* from = bytes;
    while (size > 0) {
        size_t part = size < WRITE_MAX ? size : WRITE_MAX;
        ssize_t written = pwrite(file->fd, from, part, (off_t)offset);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written == 0) {
            errno = ENOSPC;
        }
        if (written <= 0) {
            treacle_status status = atomic_file_fail(file->ctx, file->path, "write");
            atomic_file_discard(file);
            return status;
        }
        from += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return TREACLE_OK;
}

treacle_status atomic_file_append(atomic_file* file, const void* bytes, size_t size) {
    TREACLE_ASSERT(file->fd >= 0 && !file->is_guest);
    TREACLE_ASSERT(bytes != NULL || size == 0);
    TREACLE_TRY(write_all(file, file->length, bytes, size));
    file->length += size;
    return TREACLE_OK;
}

treacle_status atomic_file_patch(atomic_file* file, uint64_t offset, const void* bytes,
                                 size_t size) {
    TREACLE_ASSERT(file->fd >= 0);
    TREACLE_ASSERT(offset <= file->length && size <= file->length - offset);
    return write_all(file, offset, bytes, size);
}

treacle_status atomic_file_place(atomic_file* file, uint64_t offset, const void* bytes,
                                 size_t size) {
    TREACLE_ASSERT(file->fd >= 0);
    TREACLE_ASSERT(bytes != NULL || size == 0);
    return write_all(file, offset, bytes, size);
}

static int sync_retrying(int fd) {
    int result = 0;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

treacle_status atomic_file_leave(atomic_file* file) {
    TREACLE_ASSERT(file->fd >= 0 && file->is_guest);
    treacle_status status = TREACLE_OK;
    if (sync_retrying(file->fd) != 0) {
        status = atomic_file_fail(file->ctx, file->path, "make the file durable (fsync)");
    }
    atomic_file_discard(file);
    return status;
}

// The folder of `path`, made durable. File systems that cannot sync a folder say EINVAL; nothing
// more can be done there.
static int sync_folder(const char* path, char* scratch) {
    const char* slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(scratch, path, length);
    scratch[length] = '\0';
    int fd = open(length == 0 ? "." : scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    int result = sync_retrying(fd);
    int error = result != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    errno = error;
    return error == 0 ? 0 : -1;
}

// Renames and makes the renaming durable. `scratch` has room for the path.
static treacle_status rename_durably(treacle_context* ctx, const char* temporary, const char* path,
                                     char* scratch) {
    if (rename(temporary, path) != 0) {
        treacle_status status =
            atomic_file_fail(ctx, path, "rename the temporary file to this name");
        unlink(temporary);
        return status;
    }
    if (sync_folder(path, scratch) != 0) {
        return atomic_file_fail(ctx, path, "make the folder durable (fsync)");
    }
    return TREACLE_OK;
}

treacle_status atomic_file_commit(atomic_file* file) {
    TREACLE_ASSERT(file->fd >= 0 && !file->is_guest);
    treacle_context* ctx = file->ctx;
    void* scratch = NULL;
    size_t scratch_size = strlen(file->path) + 2;
    treacle_status status = alloc_array(ctx, scratch_size, 1, "a folder name", &scratch);
    if (status == TREACLE_OK && sync_retrying(file->fd) != 0) {
        status = atomic_file_fail(ctx, file->path, "make the file durable (fsync)");
    }
    if (status != TREACLE_OK) {
        alloc_free(ctx, scratch, scratch_size);
        atomic_file_discard(file);
        return status;
    }
    if (close(file->fd) != 0 && errno != EINTR) {
        status = atomic_file_fail(ctx, file->path, "close the file");
        unlink(file->temporary);
    } else {
        status = rename_durably(ctx, file->temporary, file->path, scratch);
    }
    alloc_free(ctx, scratch, scratch_size);
    release(file);
    return status;
}

treacle_status atomic_file_publish(treacle_context* ctx, const char* temporary, const char* path) {
    TREACLE_ASSERT(strcmp(temporary, path) != 0);
    void* scratch = NULL;
    size_t scratch_size = strlen(path) + 2;
    treacle_status status = alloc_array(ctx, scratch_size, 1, "a folder name", &scratch);
    int fd = -1;
    if (status == TREACLE_OK) {
        fd = open(temporary, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || sync_retrying(fd) != 0) {
            status = atomic_file_fail(ctx, path, "make the file durable (fsync)");
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (status == TREACLE_OK) {
        status = rename_durably(ctx, temporary, path, scratch);
    } else {
        unlink(temporary);
    }
    alloc_free(ctx, scratch, scratch_size);
    return status;
}
