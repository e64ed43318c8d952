#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

enum { NAME_CAPACITY = 64 };

typedef struct kind_name {
    const char* stem;
    const char* ending;
} kind_name;

static const kind_name kind_names[] = {
    [FOLDER_FRAME] = {"frame_", ".trf"},
    [FOLDER_STATE] = {"state_", ".trs"},
    [FOLDER_PREVIEW] = {"preview_", ".png"},
};
static const char* const text_names[] = {FOLDER_SCENE, FOLDER_RECORD, FOLDER_STATS};

static treacle_status fail_errno(treacle_context* ctx, const char* verb, const char* path) {
    return check_fail(ctx, TREACLE_ERR_IO, "cannot %s %s: %s", verb, path, strerror(errno));
}

static treacle_status make_one(treacle_context* ctx, const char* path) {
    struct stat info;
    if (mkdir(path, 0777) == 0) {
        return TREACLE_OK;
    }
    if (errno == EEXIST && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            return TREACLE_OK;
        }
        return check_fail(ctx, TREACLE_ERR_IO, "cannot make the folder %s: a file is in the way",
                          path);
    }
    return fail_errno(ctx, "make the folder", path);
}

treacle_status folder_make(treacle_context* ctx, const char* path) {
    char part[FOLDER_PATH_CAPACITY];
    size_t length = strlen(path);
    if (length == 0) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "the name of the output folder is empty");
    }
    if (length >= sizeof(part)) {
        return check_fail(ctx, TREACLE_ERR_LIMIT, "the path of the output folder is too long");
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; ++i) {
        if (part[i] == '/' && part[i - 1] != '/') {
            part[i] = '\0';
            TREACLE_TRY(make_one(ctx, part));
            part[i] = '/';
        }
    }
    return make_one(ctx, part);
}

treacle_status folder_peek(treacle_context* ctx, const char* path, folder* out) {
    *out = (folder){.ctx = ctx, .path = path, .fd = -1};
    out->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return out->fd < 0 ? fail_errno(ctx, "open the folder", path) : TREACLE_OK;
}

static treacle_status lock(folder* f) {
    if (flock(f->fd, LOCK_EX | LOCK_NB) == 0) {
        return TREACLE_OK;
    }
    if (errno == EWOULDBLOCK) {
        return check_fail(f->ctx, TREACLE_ERR_USAGE,
                          "another treacle is writing into %s; wait for it, or use another folder",
                          f->path);
    }
    log_message(f->ctx, TREACLE_LOG_WARNING,
                "cannot lock %s (%s); make sure that no other run writes into it", f->path,
                strerror(errno));
    return TREACLE_OK;
}

treacle_status folder_open(treacle_context* ctx, const char* path, folder* out) {
    TREACLE_TRY(folder_peek(ctx, path, out));
    treacle_status status = lock(out);
    if (status != TREACLE_OK) {
        folder_close(out);
    }
    return status;
}

treacle_status folder_check_writable(const folder* f) {
    TREACLE_ASSERT(f->fd >= 0);
    return faccessat(f->fd, ".", W_OK | X_OK, 0) == 0 ? TREACLE_OK
                                                      : fail_errno(f->ctx, "write into", f->path);
}

void folder_close(folder* f) {
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}

treacle_status folder_file(const folder* f, const char* name, char* out) {
    TREACLE_ASSERT(name != NULL && out != NULL);
    size_t length = strlen(f->path);
    const char* slash = length > 0 && f->path[length - 1] == '/' ? "" : "/";
    int written = snprintf(out, FOLDER_PATH_CAPACITY, "%s%s%s", f->path, slash, name);
    if (written < 0 || written >= FOLDER_PATH_CAPACITY) {
        return check_fail(f->ctx, TREACLE_ERR_LIMIT,
                          "the path of %s in the output folder is too long", name);
    }
    return TREACLE_OK;
}

static void numbered_name(folder_kind kind, int64_t number, char name[NAME_CAPACITY]) {
    snprintf(name, NAME_CAPACITY, "%s%04" PRId64 "%s", kind_names[kind].stem, number,
             kind_names[kind].ending);
}

treacle_status folder_numbered(const folder* f, folder_kind kind, int64_t number, char* out) {
    TREACLE_ASSERT(number >= 0);
    char name[NAME_CAPACITY];
    numbered_name(kind, number, name);
    return folder_file(f, name, out);
}

bool folder_has(const folder* f, const char* name) {
    TREACLE_ASSERT(f->fd >= 0);
    struct stat info;
    return fstatat(f->fd, name, &info, 0) == 0;
}

bool folder_has_numbered(const folder* f, folder_kind kind, int64_t number) {
    char name[NAME_CAPACITY];
    numbered_name(kind, number, name);
    return folder_has(f, name);
}

treacle_status folder_check_plain(const folder* f, const char* name, int fd) {
    TREACLE_ASSERT(fd >= 0);
    char path[FOLDER_PATH_CAPACITY];
    struct stat info;
    TREACLE_TRY(folder_file(f, name, path));
    if (fstat(fd, &info) != 0) {
        return fail_errno(f->ctx, "read", path);
    }
    return S_ISREG(info.st_mode)
               ? TREACLE_OK
               : check_fail(f->ctx, TREACLE_ERR_IO, "cannot read %s: it is not a plain file", path);
}

treacle_status folder_read(const folder* f, const char* name, FILE** out) {
    TREACLE_ASSERT(f->fd >= 0);
    char path[FOLDER_PATH_CAPACITY];
    *out = NULL;
    TREACLE_TRY(folder_file(f, name, path));
    int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT ? TREACLE_OK : fail_errno(f->ctx, "read", path);
    }
    treacle_status status = folder_check_plain(f, name, fd);
    if (status == TREACLE_OK) {
        *out = fdopen(fd, "r");
        status = *out != NULL ? TREACLE_OK : fail_errno(f->ctx, "read", path);
    }
    if (status != TREACLE_OK) {
        close(fd);
    }
    return status;
}

static bool write_all(int fd, const char* text, size_t length) {
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return false;
        }
        text += written;
        length -= (size_t)written;
    }
    return true;
}

static void staged_name(const char* name, char out[NAME_CAPACITY]) {
    snprintf(out, NAME_CAPACITY, "%s.tmp", name);
}

treacle_status folder_stage(const folder* f, const char* name, const char* text, size_t length) {
    TREACLE_ASSERT(f->fd >= 0);
    TREACLE_ASSERT(text != NULL || length == 0);
    char path[FOLDER_PATH_CAPACITY];
    char staged[NAME_CAPACITY];
    TREACLE_TRY(folder_file(f, name, path));
    staged_name(name, staged);
    int fd = openat(f->fd, staged, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return fail_errno(f->ctx, "write", path);
    }
    bool done = write_all(fd, text, length) && fsync(fd) == 0;
    int error = errno;
    done = close(fd) == 0 && done;
    if (!done) {
        unlinkat(f->fd, staged, 0);
        errno = error;
        return fail_errno(f->ctx, "write", path);
    }
    return TREACLE_OK;
}

void folder_unstage(const folder* f, const char* name) {
    TREACLE_ASSERT(f->fd >= 0);
    char staged[NAME_CAPACITY];
    staged_name(name, staged);
    unlinkat(f->fd, staged, 0);
}

treacle_status folder_commit(const folder* f, int count, const char* const* names) {
    TREACLE_ASSERT(f->fd >= 0 && count >= 0);
    char path[FOLDER_PATH_CAPACITY];
    char staged[NAME_CAPACITY];
    for (int k = 0; k < count; ++k) {
        TREACLE_TRY(folder_file(f, names[k], path));
        staged_name(names[k], staged);
        if (renameat(f->fd, staged, f->fd, names[k]) != 0) {
            treacle_status status = fail_errno(f->ctx, "write", path);
            for (; k < count; ++k) {
                folder_unstage(f, names[k]);
            }
            return status;
        }
    }
    return fsync(f->fd) == 0 ? TREACLE_OK : fail_errno(f->ctx, "write into", f->path);
}

// The number in a name such as "frame_0012.trf", or -1 if it is not one of ours.
static int64_t number_of(folder_kind kind, const char* name) {
    char again[NAME_CAPACITY];
    size_t stem = strlen(kind_names[kind].stem);
    if (strncmp(name, kind_names[kind].stem, stem) != 0) {
        return -1;
    }
    int64_t number = strtoll(name + stem, NULL, 10);
    numbered_name(kind, number, again);
    return number > 0 && strcmp(name, again) == 0 ? number : -1;
}

static treacle_status list_add(treacle_context* ctx, folder_list* list, int64_t number) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        void* block = list->numbers;
        TREACLE_TRY(alloc_resize(ctx, &block, list->capacity, capacity, sizeof(int64_t),
                                 "the list of a folder's files"));
        list->numbers = block;
        list->capacity = capacity;
    }
    list->numbers[list->count++] = number;
    return TREACLE_OK;
}

static int ascending(const void* a, const void* b) {
    int64_t x = *(const int64_t*)a;
    int64_t y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

static bool is_staged(const char* name) {
    const char* plain = name[0] == '.' ? name + 1 : name;
    if (strstr(plain, ".tmp") == NULL) {
        return false;
    }
    for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); ++k) {
        if (strncmp(plain, kind_names[k].stem, strlen(kind_names[k].stem)) == 0) {
            return true;
        }
    }
    for (size_t k = 0; k < sizeof(text_names) / sizeof(text_names[0]); ++k) {
        if (strncmp(plain, text_names[k], strlen(text_names[k])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_ours(const char* name) {
    for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); ++k) {
        if (number_of((folder_kind)k, name) > 0) {
            return true;
        }
    }
    for (size_t k = 0; k < sizeof(text_names) / sizeof(text_names[0]); ++k) {
        if (strcmp(name, text_names[k]) == 0) {
            return true;
        }
    }
    return false;
}

typedef treacle_status entry_fcn(const folder* f, const char* name, void* data);

static treacle_status each_entry(const folder* f, entry_fcn* fcn, void* data) {
    DIR* dir = opendir(f->path);
    if (dir == NULL) {
        return fail_errno(f->ctx, "read the folder", f->path);
    }
    treacle_status status = TREACLE_OK;
    errno = 0;
    for (struct dirent* entry = readdir(dir); entry != NULL && status == TREACLE_OK;) {
        status = fcn(f, entry->d_name, data);
        errno = 0;
        entry = readdir(dir);
    }
    if (status == TREACLE_OK && errno != 0) {
        status = fail_errno(f->ctx, "read the folder", f->path);
    }
    closedir(dir);
    return status;
}

typedef struct list_job {
    folder_kind kind;
    folder_list* list;
} list_job;

static treacle_status list_entry(const folder* f, const char* name, void* data) {
    list_job* job = data;
    int64_t number = number_of(job->kind, name);
    return number > 0 ? list_add(f->ctx, job->list, number) : TREACLE_OK;
}

treacle_status folder_list_kind(const folder* f, folder_kind kind, folder_list* out) {
    *out = (folder_list){0};
    TREACLE_TRY(each_entry(f, list_entry, &(list_job){.kind = kind, .list = out}));
    if (out->count > 1) {
        qsort(out->numbers, out->count, sizeof(int64_t), ascending);
    }
    return TREACLE_OK;
}

void folder_list_free(const folder* f, folder_list* list) {
    if (list->numbers != NULL) {
        alloc_free(f->ctx, list->numbers, list->capacity * sizeof(int64_t));
    }
    *list = (folder_list){0};
}

static treacle_status add_bytes(const folder* f, const char* name, void* data) {
    struct stat info;
    if (is_ours(name) && fstatat(f->fd, name, &info, 0) == 0) {
        *(double*)data += (double)info.st_size;
    }
    return TREACLE_OK;
}

treacle_status folder_bytes(const folder* f, double* out) {
    *out = 0.0;
    return each_entry(f, add_bytes, out);
}

treacle_status folder_remove(const folder* f, folder_kind kind, int64_t number) {
    TREACLE_ASSERT(f->fd >= 0 && number >= 0);
    char name[NAME_CAPACITY];
    char path[FOLDER_PATH_CAPACITY];
    numbered_name(kind, number, name);
    if (unlinkat(f->fd, name, 0) == 0 || errno == ENOENT) {
        return TREACLE_OK;
    }
    int error = errno;
    TREACLE_TRY(folder_file(f, name, path));
    errno = error;
    return fail_errno(f->ctx, "remove", path);
}

typedef struct clear_job {
    bool only_states;
    folder_census* census;
} clear_job;

static int64_t* census_of(folder_census* census, const char* name) {
    int64_t* const of_kind[] = {[FOLDER_FRAME] = &census->frames,
                                [FOLDER_STATE] = &census->states,
                                [FOLDER_PREVIEW] = &census->previews};
    for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); ++k) {
        if (number_of((folder_kind)k, name) > 0) {
            return of_kind[k];
        }
    }
    return NULL;
}

static treacle_status clear_entry(const folder* f, const char* name, void* data) {
    clear_job* job = data;
    struct stat info;
    int64_t* count = census_of(job->census, name);
    bool is_result = count != NULL || strcmp(name, FOLDER_STATS) == 0;
    bool is_dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (job->only_states && count != &job->census->states) {
        return TREACLE_OK;
    }
    if (!is_result) {
        job->census->others += !is_ours(name) && !is_staged(name) && !is_dots;
        return TREACLE_OK;
    }
    double bytes = fstatat(f->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? (double)info.st_size : 0;
    if (unlinkat(f->fd, name, 0) != 0) {
        return errno == ENOENT ? TREACLE_OK : fail_errno(f->ctx, "remove", name);
    }
    job->census->bytes += bytes;
    if (count != NULL) {
        *count += 1;
    }
    return TREACLE_OK;
}

treacle_status folder_clear(const folder* f, folder_census* out) {
    *out = (folder_census){0};
    TREACLE_TRY(each_entry(f, clear_entry, &(clear_job){.only_states = true, .census = out}));
    TREACLE_TRY(each_entry(f, clear_entry, &(clear_job){.census = out}));
    return fsync(f->fd) == 0 ? TREACLE_OK : fail_errno(f->ctx, "write into", f->path);
}

static treacle_status remove_unfinished(const folder* f, const char* name, void* data) {
    (void)data;
    if (is_staged(name) && unlinkat(f->fd, name, 0) != 0 && errno != ENOENT) {
        return fail_errno(f->ctx, "remove the unfinished file", name);
    }
    return TREACLE_OK;
}

treacle_status folder_remove_unfinished(const folder* f) {
    return each_entry(f, remove_unfinished, NULL);
}
