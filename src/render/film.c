// Films by ffmpeg, which is run as a program of its own: no shell, every argument as it is. The
// pictures go into it through a pipe.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "treacle/preview.h"

extern char** environ;

enum {
    NUMBERS_MAX = 100000, // a film starts with one of these
    ARGUMENTS_MAX = 40,
    SAID_MAX = 600, // bytes of ffmpeg's last words that are shown
    FILM_PATH_MAX = 4096,
};

// A kind of film: ending, container, codec and its settings. The number of coding threads is fixed,
// because it shows in the bytes.
typedef struct film_format {
    const char* ending;
    const char* container;
    const char* arguments[10];
} film_format;

static const film_format formats[] = {
    {".mp4",
     "mp4",
     {"-c:v", "libx264", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"}},
    {".mov",
     "mov",
     {"-c:v", "libx264", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"}},
    {".mkv", "matroska", {"-c:v", "libx264", "-crf", "18", "-preset", "medium"}},
    {".webm", "webm", {"-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-cpu-used", "3"}},
};

typedef struct film_job {
    treacle_context* ctx;
    const char* path;
    const film_format* format;
    const char* arguments[ARGUMENTS_MAX];
    int argument_count;
    int64_t loop;            // pictures that are laid over the last ones; 0: none
    int64_t first, last;     // numbers of the pictures; 0: from the first that there is, to the end
    char said[SAID_MAX + 1]; // the end of what ffmpeg said
    size_t said_length;
} film_job;

static const film_format* find_format(const char* path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcasecmp(path + length - ending, formats[i].ending) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static void add(film_job* job, const char* argument) {
    TREACLE_ASSERT(job->argument_count + 1 < ARGUMENTS_MAX);
    job->arguments[job->argument_count++] = argument;
}

static void keep_last(film_job* job, const char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        if (job->said_length == SAID_MAX) {
            memmove(job->said, job->said + 1, SAID_MAX - 1);
            job->said_length -= 1;
        }
        char c = bytes[i];
        job->said[job->said_length++] = isprint((unsigned char)c) || c == '\n' ? c : ' ';
    }
    job->said[job->said_length] = '\0';
}

// The pictures on their way into ffmpeg: one file after the other, as it is.
typedef struct film_feed {
    const char* prefix;  // folder/stem; NULL: nothing is fed
    int64_t next, last;  // numbers of pictures; last < 0: as long as there are any
    int64_t missing;     // the one that could not be read; 0: none
    int file;            // being fed, or -1
    size_t from, filled; // of the bytes that wait
    char bytes[1 << 16];
} film_feed;

// Opens the next picture; false at the end.
static bool open_next(film_feed* feed) {
    char path[FILM_PATH_MAX];
    snprintf(path, sizeof(path), "%s_%04lld.png", feed->prefix, (long long)feed->next);
    bool is_wanted = feed->last < 0 || feed->next <= feed->last;
    feed->file = is_wanted ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    feed->missing = is_wanted && feed->file < 0 ? feed->next : 0;
    feed->next += 1;
    return feed->file >= 0;
}

// Bytes to wait for ffmpeg's ear; false when all is said.
static bool refill(film_feed* feed) {
    while (feed->from == feed->filled) {
        if (feed->file < 0 && !open_next(feed)) {
            return false;
        }
        ssize_t got = read(feed->file, feed->bytes, sizeof(feed->bytes));
        feed->from = 0;
        feed->filled = got > 0 ? (size_t)got : 0;
        if (got <= 0 && (got == 0 || errno != EINTR)) {
            close(feed->file);
            feed->file = -1;
        }
    }
    return true;
}

// Sends what the socket takes; false when there is no more, or nobody listens.
static bool feed_some(film_feed* feed, int fd) {
    if (!refill(feed)) {
        return false;
    }
    ssize_t sent =
        send(fd, feed->bytes + feed->from, feed->filled - feed->from, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
        feed->from += (size_t)sent;
    }
    return sent >= 0 || errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

// Listens to what ffmpeg says until it is silent, and feeds it meanwhile.
static void converse(film_job* job, film_feed* feed, int speech, int food) {
    char bytes[512];
    struct pollfd ends[2] = {{.fd = speech, .events = POLLIN}, {.fd = food, .events = POLLOUT}};
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (ends[1].fd >= 0 && ends[1].revents != 0 && !feed_some(feed, food)) {
            shutdown(food, SHUT_WR);
            ends[1].fd = -1;
        }
        if (ends[0].revents != 0) {
            ssize_t got = read(speech, bytes, sizeof(bytes));
            if (got > 0) {
                keep_last(job, bytes, (size_t)got);
            } else if (got == 0 || errno != EINTR) {
                break;
            }
        }
    }
    if (feed->file >= 0) {
        close(feed->file);
    }
    while (job->said_length > 0 && isspace((unsigned char)job->said[job->said_length - 1])) {
        job->said[--job->said_length] = '\0';
    }
}

// Starts ffmpeg, which reads from `food` and whose messages go into `speech`. 0 or an errno.
static int start(film_job* job, int speech, int food, pid_t* pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, food, STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, speech, STDERR_FILENO);
    }
    if (error == 0) {
        // The arguments are only read; posix_spawnp's type is older than const.
        error = posix_spawnp(pid, "ffmpeg", &actions, NULL, (char* const*)job->arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int wait_for(pid_t pid) {
    int result = 0;
    while (waitpid(pid, &result, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return result;
}

// A pair of sockets serves as the pipe: writing to one whose reader is gone is no signal.
static treacle_status run_ffmpeg(film_job* job, film_feed* feed) {
    int speech[2], food[2];
    if (pipe2(speech, O_CLOEXEC) != 0) {
        return check_fail(job->ctx, TREACLE_ERR_IO, "%s: cannot make a pipe to ffmpeg: %s",
                          job->path, strerror(errno));
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, food) != 0) {
        close(speech[0]);
        close(speech[1]);
        return check_fail(job->ctx, TREACLE_ERR_IO, "%s: cannot make a pipe to ffmpeg: %s",
                          job->path, strerror(errno));
    }
    pid_t pid = 0;
    int error = start(job, speech[1], food[1], &pid);
    close(speech[1]);
    close(food[1]);
    if (error == 0) {
        converse(job, feed, speech[0], food[0]);
    }
    close(speech[0]);
    close(food[0]);
    if (error != 0) {
        return check_fail(job->ctx, TREACLE_ERR_EXTERNAL,
                          "%s: cannot start ffmpeg: %s; films need the program ffmpeg (package "
                          "ffmpeg)",
                          job->path, strerror(error));
    }
    int result = wait_for(pid);
    if (result == 0) {
        return TREACLE_OK;
    }
    if (WIFSIGNALED(result)) {
        return check_fail(job->ctx, TREACLE_ERR_EXTERNAL, "%s: ffmpeg was ended by signal %d",
                          job->path, WTERMSIG(result));
    }
    return check_fail(job->ctx, TREACLE_ERR_EXTERNAL, "%s: ffmpeg failed with code %d: %s",
                      job->path, WIFEXITED(result) ? WEXITSTATUS(result) : -1,
                      job->said_length > 0 ? job->said : "it gave no reason");
}

static treacle_status join(treacle_context* ctx, const char* a, const char* b, char** out) {
    size_t room = strlen(a) + strlen(b) + 1;
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, room, 1, "a file name", &block));
    *out = block;
    snprintf(*out, room, "%s%s", a, b);
    return TREACLE_OK;
}

// "./" in front of a relative path, so that ffmpeg takes neither "-x" for an option nor "a:b" for a
// protocol.
static treacle_status spell_path(treacle_context* ctx, const char* path, char** out) {
    return join(ctx, path[0] == '/' ? "" : "./", path, out);
}

// The number of the first picture `prefix_0001.png`, `prefix_0002.png`, ... that exists.
static treacle_status find_first(treacle_context* ctx, const char* prefix, int* out) {
    size_t room = strlen(prefix) + 32;
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, room, 1, "a file name", &block));
    int number = 0;
    do {
        number += 1;
        snprintf(block, room, "%s_%04d.png", prefix, number);
    } while (number < NUMBERS_MAX && access(block, R_OK) != 0);
    alloc_free(ctx, block, room);
    *out = number;
    if (number == NUMBERS_MAX) {
        return check_fail(ctx, TREACLE_ERR_IO,
                          "%s_0001.png: there are no pictures to make a film of", prefix);
    }
    return TREACLE_OK;
}

static void add_arguments(film_job* job, const char* rate, const char* filter) {
    static const char* const head[] = {"ffmpeg", "-hide_banner", "-loglevel",  "error",
                                       "-y",     "-f",           "image2pipe", "-c:v",
                                       "png",    "-framerate"};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); ++i) {
        add(job, head[i]);
    }
    add(job, rate);
    add(job, "-i");
    add(job, "pipe:0");
    add(job, "-vf");
    add(job, filter);
    for (int i = 0; job->format->arguments[i] != NULL; ++i) {
        add(job, job->format->arguments[i]);
    }
    static const char* const tail[] = {"-pix_fmt",      "yuv420p",   "-threads", "4",
                                       "-fflags",       "+bitexact", "-flags",   "+bitexact",
                                       "-map_metadata", "-1",        "-f"};
    for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); ++i) {
        add(job, tail[i]);
    }
    add(job, job->format->container);
}

// Everything with a name of its own that a film needs; freed in one place.
typedef struct film_names {
    char* prefix;    // folder/stem
    char* temporary; // that the film is written to
    char* output;    // the same in ffmpeg's spelling
} film_names;

static treacle_status spell_names(film_job* job, const char* folder, const char* stem,
                                  film_names* names) {
    treacle_context* ctx = job->ctx;
    char* with_slash = NULL;
    TREACLE_TRY(join(ctx, folder[0] == '\0' ? "." : folder, "/", &with_slash));
    treacle_status status = join(ctx, with_slash, stem, &names->prefix);
    alloc_free_text(ctx, with_slash);
    TREACLE_TRY(status);
    if (strlen(names->prefix) + 32 > FILM_PATH_MAX) {
        return check_fail(ctx, TREACLE_ERR_LIMIT, "the path %.60s... is too long", names->prefix);
    }
    TREACLE_TRY(atomic_file_temporary(ctx, job->path, &names->temporary));
    return spell_path(ctx, names->temporary, &names->output);
}

// Odd sizes are stretched by one pixel: 4:2:0 colour needs even ones. Of a loop the first pictures
// are laid over the last, from nothing to all, and the film begins behind them: so what follows its
// end is its begin.
static void spell_filter(const film_job* job, double fps, char* out, size_t room) {
    static const char even[] = "scale=ceil(iw/2)*2:ceil(ih/2)*2:flags=bicubic";
    long long n = (long long)job->loop, count = (long long)(job->last - job->first + 1);
    if (n == 0) {
        snprintf(out, room, "%s", even);
        return;
    }
    snprintf(out, room,
             "split[a][b];[a]trim=start_frame=%lld,setpts=PTS-STARTPTS[end];"
             "[b]trim=end_frame=%lld,setpts=PTS-STARTPTS[begin];"
             "[end][begin]xfade=transition=fade:duration=%.6f:offset=%.6f,%s",
             n, n, (double)n / fps, (double)(count - 2 * n) / fps, even);
}

static treacle_status make_film(film_job* job, const film_names* names, double fps) {
    int first = (int)job->first;
    if (first == 0) {
        TREACLE_TRY(find_first(job->ctx, names->prefix, &first));
    }
    char rate[40];
    snprintf(rate, sizeof(rate), "%lld/1000", (long long)llround(fps * 1000.0));
    char filter[400];
    spell_filter(job, fps, filter, sizeof(filter));
    add_arguments(job, rate, filter);
    add(job, names->output);
    film_feed feed = {.prefix = names->prefix,
                      .next = first,
                      .last = job->first > 0 ? job->last : -1,
                      .file = -1};
    treacle_status status = run_ffmpeg(job, &feed);
    if (status == TREACLE_OK && feed.last >= 0 && feed.missing > 0) {
        status = check_fail(job->ctx, TREACLE_ERR_IO,
                            "%s: cannot read %s_%04lld.png, of which the film is to be made",
                            job->path, names->prefix, (long long)feed.missing);
    }
    if (status != TREACLE_OK) {
        unlink(names->temporary);
        return status;
    }
    return atomic_file_publish(job->ctx, names->temporary, job->path);
}

static treacle_status check_format(film_job* job) {
    job->format = find_format(job->path);
    if (job->format == NULL) {
        return check_fail(job->ctx, TREACLE_ERR_USAGE,
                          "%s: the ending must be .mp4, .mov, .mkv or .webm", job->path);
    }
    return TREACLE_OK;
}

treacle_status treacle_film_check(treacle_context* ctx, const char* path) {
    film_job job = {.ctx = ctx, .path = path};
    TREACLE_TRY(check_format(&job));
    add(&job, "ffmpeg");
    add(&job, "-version");
    film_feed nothing = {.next = 1, .file = -1, .prefix = ""};
    return run_ffmpeg(&job, &nothing);
}

static treacle_status write_film(film_job* job, const char* folder, const char* stem, double fps) {
    treacle_context* ctx = job->ctx;
    TREACLE_TRY(check_format(job));
    if (!(fps >= 0.001 && fps <= 1000.0)) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s: %g frames a second, expected 0.001 to 1000",
                          job->path, fps);
    }
    film_names names = {0};
    treacle_status status = spell_names(job, folder, stem, &names);
    if (status == TREACLE_OK) {
        status = make_film(job, &names, fps);
    }
    alloc_free_text(ctx, names.prefix);
    alloc_free_text(ctx, names.temporary);
    alloc_free_text(ctx, names.output);
    return status;
}

treacle_status treacle_film_write(treacle_context* ctx, const char* folder, const char* stem,
                                  double fps, const char* path) {
    film_job job = {.ctx = ctx, .path = path};
    return write_film(&job, folder, stem, fps);
}

treacle_status treacle_film_write_range(treacle_context* ctx, const treacle_film_range* range,
                                        const char* path) {
    if (range->first < 1 || range->last < range->first || range->last >= NUMBERS_MAX) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s: a film of the pictures %lld to %lld", path,
                          (long long)range->first, (long long)range->last);
    }
    if (range->loop < 0 || 2 * range->loop > range->last - range->first) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "%s: a loop that lays %lld pictures over others needs twice as many and "
                          "one more, not %lld",
                          path, (long long)range->loop,
                          (long long)(range->last - range->first + 1));
    }
    film_job job = {
        .ctx = ctx, .path = path, .loop = range->loop, .first = range->first, .last = range->last};
    return write_film(&job, range->folder, range->stem, range->fps);
}
