#include "run/stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "run/stats_line.h"

enum { LINE_CAPACITY = TREACLE_STEP_TEXT_CAPACITY + 1 }; // with its end

static treacle_status fail_file(const folder* f, const char* verb) {
    int error = errno;
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    return check_fail(f->ctx, TREACLE_ERR_IO, "cannot %s %s: %s", verb, path, strerror(error));
}

treacle_status stats_file_append(stats_file* file, int64_t frame, const treacle_step_stats* stats) {
    TREACLE_ASSERT(file->fd >= 0 && frame >= 0);
    char line[LINE_CAPACITY];
    size_t length = stats_line_format(frame, stats, LINE_CAPACITY - 1, line);
    if (length == 0) {
        return check_fail(file->folder->ctx, TREACLE_ERR_MEMORY,
                          "out of memory for a line of " FOLDER_STATS);
    }
    line[length++] = '\n';
    for (size_t done = 0; done < length;) {
        ssize_t written = write(file->fd, line + done, length - done);
        if (written < 0 && errno != EINTR) {
            return fail_file(file->folder, "write");
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return TREACLE_OK;
}

treacle_status stats_file_sync(stats_file* file) {
    TREACLE_ASSERT(file->fd >= 0);
    return fsync(file->fd) == 0 ? TREACLE_OK : fail_file(file->folder, "write");
}

void stats_file_close(stats_file* file) {
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}

// The next whole line as JSON, or NULL at the end of what is sound. *end moves behind the line.
static json_t* next_line(FILE* stream, off_t* end) {
    char line[LINE_CAPACITY];
    if (fgets(line, sizeof(line), stream) == NULL) {
        return NULL;
    }
    size_t length = strlen(line);
    if (length == 0 || line[length - 1] != '\n') {
        return NULL;
    }
    json_t* object = json_loadb(line, length, 0, NULL);
    if (object != NULL) {
        *end += (off_t)length;
    }
    return object;
}

static int64_t step_of(const json_t* line) {
    return (int64_t)json_integer_value(json_object_get(line, "step"));
}

// Bytes of the lines up to last_step; *found is the step of the last of them.
static off_t length_up_to(FILE* stream, int64_t last_step, int64_t* found) {
    off_t kept = 0;
    off_t end = 0;
    *found = 0;
    for (json_t* line = next_line(stream, &end); line != NULL; line = next_line(stream, &end)) {
        int64_t step = step_of(line);
        json_decref(line);
        if (step > last_step || step <= *found) {
            break;
        }
        kept = end;
        *found = step;
    }
    return kept;
}

static treacle_status cut_back(stats_file* file, const char* path, int64_t last_step) {
    FILE* stream = NULL;
    TREACLE_TRY(folder_read(file->folder, FOLDER_STATS, &stream));
    if (stream == NULL) {
        return fail_file(file->folder, "read");
    }
    int64_t found = 0;
    off_t kept = length_up_to(stream, last_step, &found);
    fclose(stream);
    if (found != last_step) {
        log_message(file->folder->ctx, TREACLE_LOG_WARNING,
                    "%s lacks the steps %" PRId64 " to %" PRId64
                    ", they cannot be brought back; the simulation is not affected",
                    path, found + 1, last_step);
    }
    if (ftruncate(file->fd, kept) != 0) {
        return fail_file(file->folder, "write");
    }
    return stats_file_sync(file);
}

treacle_status stats_file_open(const folder* f, int64_t last_step, stats_file* out) {
    TREACLE_ASSERT(last_step >= 0);
    *out = (stats_file){.folder = f, .fd = -1};
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    out->fd = open(path, flags, 0666);
    if (out->fd < 0) {
        return fail_file(f, "write");
    }
    treacle_status status = folder_check_plain(f, FOLDER_STATS, out->fd);
    if (status == TREACLE_OK) {
        status = cut_back(out, path, last_step);
    }
    if (status != TREACLE_OK) {
        stats_file_close(out);
    }
    return status;
}

static double number(const json_t* object, const char* key) {
    return json_number_value(json_object_get(object, key));
}

static int64_t integer(const json_t* object, const char* key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static void add_seconds(const json_t* seconds, treacle_run_info* info) {
    for (int k = 0; k < TREACLE_STAGE_COUNT; ++k) {
        double spent = number(seconds, treacle_stage_name((treacle_stage)k));
        info->seconds[k] += spent;
        info->seconds_total += spent;
    }
}

// A step's way of solving, that of its last solve of a flow.
static void add_regime(const char* name, treacle_run_info* info) {
    int k = 0;
    if (name == NULL) {
        return;
    }
    while (k < info->regime_count && strcmp(info->regimes[k].name, name) != 0) {
        ++k;
    }
    if (k == info->regime_count && k < TREACLE_RUN_REGIMES) {
        snprintf(info->regimes[k].name, sizeof(info->regimes[k].name), "%s", name);
        info->regime_count += 1;
    }
    if (k < TREACLE_RUN_REGIMES) {
        info->regimes[k].steps += 1;
    }
}

// All solves of a step.
static void add_solves(const json_t* line, treacle_run_info* info) {
    static const char* const names[] = {"pressure", "viscosity", "flow"};
    int64_t iterations = 0;
    bool is_left = false;
    const char* regime = NULL;
    for (int k = 0; k < 3; ++k) {
        const json_t* solve = json_object_get(line, names[k]);
        int64_t count = integer(solve, "iterations");
        iterations += count;
        const json_t* name = json_object_get(solve, "regime");
        regime = json_is_string(name) ? json_string_value(name) : regime;
        is_left = is_left || (count > 0 && !json_is_true(json_object_get(solve, "converged")));
    }
    add_regime(regime, info);
    info->unconverged += is_left;
    info->iterations += iterations;
    info->iterations_max =
        iterations > info->iterations_max ? (int)iterations : info->iterations_max;
}

static void add_rheology(const json_t* rheology, treacle_run_info* info) {
    int64_t passes = integer(rheology, "iterations");
    if (passes == 0) {
        return;
    }
    info->rheology_steps += 1;
    info->rheology_passes += passes;
    info->rheology_passes_max =
        passes > info->rheology_passes_max ? (int)passes : info->rheology_passes_max;
    info->rheology_unconverged += !json_is_true(json_object_get(rheology, "converged"));
}

static void add_line(const json_t* line, treacle_run_info* info) {
    double dt = number(line, "dt");
    bool first = info->steps == 0;
    info->steps = step_of(line);
    info->retries += integer(line, "retries");
    add_solves(line, info);
    add_rheology(json_object_get(line, "rheology"), info);
    info->dt_min = first ? dt : fmin(info->dt_min, dt);
    info->dt_max = fmax(info->dt_max, dt);
    info->time = number(line, "time");
    info->particles = integer(line, "particles");
    info->volume = number(line, "volume");
    info->volume_first = first ? info->volume : info->volume_first;
    info->volume_lost = number(line, "volume_lost");
    info->kinetic_energy = number(line, "kinetic_energy");
    stats_line_add_energy(line, &info->energy);
    info->memory_peak = fmax(info->memory_peak, number(line, "memory_peak"));
    add_seconds(json_object_get(line, "seconds"), info);
}

treacle_status stats_file_summarise(const folder* f, treacle_run_info* info) {
    FILE* stream = NULL;
    TREACLE_TRY(folder_read(f, FOLDER_STATS, &stream));
    if (stream == NULL) {
        return TREACLE_OK;
    }
    off_t end = 0;
    for (json_t* line = next_line(stream, &end); line != NULL; line = next_line(stream, &end)) {
        add_line(line, info);
        json_decref(line);
    }
    bool sound = ferror(stream) == 0;
    fclose(stream);
    return sound ? TREACLE_OK : fail_file(f, "read");
}

treacle_status stats_file_visit(const folder* f, treacle_step_visitor* visit, void* user) {
    FILE* stream = NULL;
    TREACLE_TRY(folder_read(f, FOLDER_STATS, &stream));
    if (stream == NULL) {
        return TREACLE_OK;
    }
    off_t end = 0;
    bool goes_on = true;
    for (json_t* line = next_line(stream, &end); line != NULL && goes_on;
         line = goes_on ? next_line(stream, &end) : NULL) {
        treacle_step_stats step;
        stats_line_read(line, &step);
        json_decref(line);
        goes_on = visit(&step, user);
    }
    bool sound = ferror(stream) == 0;
    fclose(stream);
    return sound ? TREACLE_OK : fail_file(f, "read");
}
