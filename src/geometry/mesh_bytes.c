#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "geometry/mesh_input.h"

static treacle_status fail_io(treacle_context* ctx, const char* path, const char* why) {
    return check_fail(ctx, TREACLE_ERR_IO, "cannot read the mesh %s: %s", path, why);
}

// A pipe would wait for ever: only plain files are opened.
static treacle_status open_plain(treacle_context* ctx, const char* path, FILE** out, size_t* size) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char* problem = NULL;
    if (fd < 0 || fstat(fd, &info) != 0) {
        problem = strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
        problem = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a plain file";
    } else {
        *size = (size_t)info.st_size;
        *out = fdopen(fd, "rb");
        problem = *out == NULL ? strerror(errno) : NULL;
    }
    if (problem != NULL && fd >= 0) {
        close(fd);
    }
    return problem != NULL ? fail_io(ctx, path, problem) : TREACLE_OK;
}

treacle_status mesh_bytes_load(treacle_context* ctx, const char* path, void** block,
                               size_t* capacity, size_t* size) {
    FILE* file = NULL;
    *block = NULL;
    *capacity = 0;
    TREACLE_TRY(open_plain(ctx, path, &file, size));
    treacle_status status = alloc_array(ctx, *size, 1, "the bytes of a mesh file", block);
    if (status == TREACLE_OK) {
        *capacity = *size;
        *size = fread(*block, 1, *capacity, file);
        status = ferror(file) ? fail_io(ctx, path, "the disk gives an error") : TREACLE_OK;
    }
    fclose(file);
    if (status != TREACLE_OK) {
        alloc_free(ctx, *block, *capacity);
        *block = NULL;
    }
    return status;
}
