// The reader of a look's surroundings, an EXR picture, on arbitrary bytes.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/exr.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[64];
    treacle_context* ctx = fuzz_context();
    int fd = memfd_create("picture", MFD_CLOEXEC);
    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    exr_picture picture;
    treacle_status status = exr_read_rgb(ctx, path, &picture);
    if (status == TREACLE_OK) {
        size_t count = 3 * (size_t)picture.width * (size_t)picture.height;
        volatile float last = picture.values[count - 1];
        (void)last;
        exr_picture_destroy(&picture);
    } else {
        fuzz_check(status == TREACLE_ERR_FORMAT || status == TREACLE_ERR_LIMIT);
    }
    close(fd);
    fuzz_context_end(ctx);
    return 0;
}
