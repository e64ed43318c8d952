// A disk that fails: to be preloaded into a program under test. The n-th change that the program
// makes to files (FAIL_AT, counted from 1) ends with the error FAIL_ERRNO. With FAIL_FULL set every
// write from then on fails, as on a full disk, and nothing else does. How many changes there were
// is written to FAIL_COUNT.
//
// Changes are: making a file, each write, making durable, renaming. Streams of stdio write inside
// the C library, out of reach; so a stream is opened upon functions of our own.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long changes;

static long number_of(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text == NULL ? otherwise : atol(text);
}

// Whether this change fails; errno is then set.
static int does_fail(int is_write) {
    long at = number_of("FAIL_AT", 0), now = atomic_fetch_add(&changes, 1) + 1;
    int fails = at > 0 && (getenv("FAIL_FULL") != NULL ? now >= at && is_write : now == at);
    if (fails) {
        errno = (int)number_of("FAIL_ERRNO", ENOSPC);
    }
    return fails;
}

static int is_file(int fd) {
    struct stat about;
    int error = errno;
    int is_regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    errno = error;
    return is_regular;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* bytes, size_t size) {
    return is_file(fd) && does_fail(1) ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
    return is_file(fd) && does_fail(1) ? -1 : REAL(pwrite)(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
    return is_file(fd) && does_fail(1) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
    return is_file(fd) && does_fail(1) ? -1 : REAL(writev)(fd, parts, count);
}

int fsync(int fd) {
    return does_fail(0) ? -1 : REAL(fsync)(fd);
}

int rename(const char* from, const char* to) {
    return does_fail(0) ? -1 : REAL(rename)(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    return does_fail(0) ? -1 : REAL(renameat)(from_folder, from, to_folder, to);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    return (flags & O_CREAT) != 0 && does_fail(0) ? -1 : REAL(openat)(folder, path, flags, mode);
}

int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    return (flags & O_CREAT) != 0 && does_fail(0) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    return (flags & O_CREAT) != 0 && does_fail(0) ? -1 : REAL(open64)(path, flags, mode);
}

static ssize_t put(void* cookie, const char* bytes, size_t size) {
    ssize_t done = write((int)(long)cookie, bytes, size);
    return done < 0 ? 0 : done; // as stdio wants it
}

static ssize_t get(void* cookie, char* bytes, size_t size) {
    return read((int)(long)cookie, bytes, size);
}

static int seek(void* cookie, off64_t* offset, int whence) {
    *offset = lseek64((int)(long)cookie, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int end(void* cookie) {
    return close((int)(long)cookie);
}

// C++ streams take only the number of the file from stdio, and write by themselves.
static int is_from_cpp(const void* caller) {
    Dl_info about;
    return dladdr(caller, &about) != 0 && strstr(about.dli_fname, "libstdc++") != NULL;
}

static FILE* open_stream(const char* path, const char* mode) {
    int flags = (strchr(mode, '+') != NULL ? O_RDWR : O_WRONLY) |
                (strchr(mode, 'x') != NULL ? O_EXCL : O_TRUNC) | O_CREAT | O_CLOEXEC;
    int fd = open(path, flags, 0666);
    cookie_io_functions_t functions = {.read = get, .write = put, .seek = seek, .close = end};
    return fd < 0 ? NULL : fopencookie((void*)(long)fd, mode, functions);
}

FILE* fopen(const char* path, const char* mode) {
    return mode[0] != 'w' || is_from_cpp(__builtin_return_address(0)) ? REAL(fopen)(path, mode)
                                                                      : open_stream(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
    return mode[0] != 'w' || is_from_cpp(__builtin_return_address(0)) ? REAL(fopen64)(path, mode)
                                                                      : open_stream(path, mode);
}

__attribute__((destructor)) static void tell(void) {
    const char* path = getenv("FAIL_COUNT");
    if (path != NULL) {
        char text[32];
        int length = snprintf(text, sizeof(text), "%ld\n", (long)changes);
        int fd = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd >= 0 && REAL(write)(fd, text, (size_t)length) == length) {
            close(fd);
        }
    }
}
