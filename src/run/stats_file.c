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

enum {
    LINE_CAPACITY = 8192,
    LINE_FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(17),
};

static treacle_status fail_file(const folder* f, const char* verb) {
    int error = errno;
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    return check_fail(f->ctx, TREACLE_ERR_IO, "cannot %s %s: %s", verb, path, strerror(error));
}

// JSON has no inf and no NaN: null stands for both.
static json_t* real(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t* seconds_object(const treacle_step_stats* stats) {
    json_t* object = json_object();
    int failed = 0;
    for (int k = 0; k < TREACLE_STAGE_COUNT; ++k) {
        const char* name = treacle_stage_name((treacle_stage)k);
        failed |= json_object_set_new(object, name, real(stats->seconds[k]));
    }
    failed |= json_object_set_new(object, "pressure_solve", real(stats->pressure.seconds));
    failed |= json_object_set_new(object, "viscosity_solve", real(stats->viscosity.seconds));
    failed |= json_object_set_new(object, "flow_solve", real(stats->flow.seconds));
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t* solve_object(const treacle_solve_stats* solve) {
    return json_pack("{s:i, s:o, s:b}", "iterations", solve->iterations, "residual",
                     real(solve->residual), "converged", (int)solve->converged);
}

static json_t* rheology_object(const treacle_rheology_stats* rheology) {
    return json_pack("{s:i, s:o, s:b}", "iterations", rheology->iterations, "change",
                     real(rheology->change), "converged", (int)rheology->converged);
}

// The columns of the account of energy.
typedef struct energy_column {
    const char* name;
    size_t offset; // in treacle_energy_stats
} energy_column;

#define ENERGY_COLUMN(name)                                                                        \
    { #name, offsetof(treacle_energy_stats, name) }
static const energy_column energy_columns[] = {
    ENERGY_COLUMN(kinetic),   ENERGY_COLUMN(bodies),    ENERGY_COLUMN(elastic),
    ENERGY_COLUMN(change),    ENERGY_COLUMN(potential), ENERGY_COLUMN(gravity),
    ENERGY_COLUMN(forces),    ENERGY_COLUMN(solids),    ENERGY_COLUMN(contacts),
    ENERGY_COLUMN(exchanged), ENERGY_COLUMN(particles), ENERGY_COLUMN(dissipation),
    ENERGY_COLUMN(numerical), ENERGY_COLUMN(transfer),  ENERGY_COLUMN(advection),
    ENERGY_COLUMN(density),   ENERGY_COLUMN(error),     ENERGY_COLUMN(gain),
    ENERGY_COLUMN(limit),
};
#undef ENERGY_COLUMN
enum { ENERGY_COLUMNS = sizeof(energy_columns) / sizeof(energy_columns[0]) };

static json_t* energy_object(const treacle_energy_stats* energy) {
    json_t* object = json_object();
    int failed = 0;
    for (int k = 0; k < ENERGY_COLUMNS; ++k) {
        const double* value =
            (const double*)(const void*)((const char*)energy + energy_columns[k].offset);
        failed |= json_object_set_new(object, energy_columns[k].name, real(*value));
    }
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t* ranks_object(const treacle_step_stats* s) {
    return json_pack("{s:i, s:o, s:o, s:I, s:I}", "count", s->ranks, "imbalance",
                     real(s->imbalance), "seconds", real(s->exchange_seconds), "messages",
                     (json_int_t)s->messages, "bytes", (json_int_t)s->exchanged_bytes);
}

static json_t* line_object(int64_t frame, const treacle_step_stats* s) {
    json_t* line = json_pack(
        "{s:I, s:I, s:o, s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, "
        "s:o, s:o, s:I, s:I, s:i, s:o, s:i, s:o, s:o, s:I}",
        "step", (json_int_t)s->step, "frame", (json_int_t)frame, "time", real(s->time), "dt",
        real(s->dt), "retries", s->retries, "particles", (json_int_t)s->particles, "tiles",
        (json_int_t)s->tiles, "emitted", (json_int_t)s->emitted, "absorbed",
        (json_int_t)s->absorbed, "split", (json_int_t)s->split, "merged", (json_int_t)s->merged,
        "volume", real(s->volume), "surface_volume", real(s->surface_volume), "kinetic_energy",
        real(s->kinetic_energy), "max_speed", real(s->max_speed), "heat_in", real(s->heat_in),
        "marker_in", real(s->marker_in), "enthalpy", real(s->enthalpy), "density_spread",
        real(s->density_spread), "pressure", solve_object(&s->pressure), "viscosity",
        solve_object(&s->viscosity), "flow", solve_object(&s->flow), "walls_held",
        (json_int_t)s->walls_held, "walls_released", (json_int_t)s->walls_released,
        "viscosity_substeps", s->viscosity_substeps, "rheology", rheology_object(&s->rheology),
        "elastic_passes", s->elastic_passes, "energy", energy_object(&s->energy), "seconds",
        seconds_object(s), "memory_peak", (json_int_t)s->memory_peak);
    bool failed =
        line != NULL && s->ranks > 1 && json_object_set_new(line, "ranks", ranks_object(s)) != 0;
    failed = failed || (line != NULL && s->volume_lost != 0.0 &&
                        json_object_set_new(line, "volume_lost", real(s->volume_lost)) != 0);
    if (failed) {
        json_decref(line);
        return NULL;
    }
    return line;
}

// Length of the line with its end, or 0 if memory ran out or the line is too long.
static size_t format_line(int64_t frame, const treacle_step_stats* stats,
                          char line[LINE_CAPACITY]) {
    json_t* object = line_object(frame, stats);
    size_t length = object == NULL ? 0 : json_dumpb(object, line, LINE_CAPACITY - 1, LINE_FLAGS);
    json_decref(object);
    if (length == 0 || length > LINE_CAPACITY - 1) {
        return 0;
    }
    line[length] = '\n';
    return length + 1;
}

treacle_status stats_file_append(stats_file* file, int64_t frame, const treacle_step_stats* stats) {
    char line[LINE_CAPACITY];
    size_t length = format_line(frame, stats, line);
    if (length == 0) {
        return check_fail(file->folder->ctx, TREACLE_ERR_MEMORY,
                          "out of memory for a line of " FOLDER_STATS);
    }
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
    FILE* stream = fopen(path, "re");
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
    *out = (stats_file){.folder = f, .fd = -1};
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    out->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (out->fd < 0) {
        return fail_file(f, "write");
    }
    treacle_status status = cut_back(out, path, last_step);
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

// All solves of a step.
static void add_solves(const json_t* line, treacle_run_info* info) {
    static const char* const names[] = {"pressure", "viscosity", "flow"};
    int64_t iterations = 0;
    bool is_left = false;
    for (int k = 0; k < 3; ++k) {
        const json_t* solve = json_object_get(line, names[k]);
        int64_t count = integer(solve, "iterations");
        iterations += count;
        is_left = is_left || (count > 0 && !json_is_true(json_object_get(solve, "converged")));
    }
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

static double* energy_value(treacle_energy_stats* energy, int column) {
    return (double*)(void*)((char*)energy + energy_columns[column].offset);
}

static void read_energy(const json_t* line, treacle_energy_stats* out) {
    const json_t* energy = json_object_get(line, "energy");
    for (int k = 0; k < ENERGY_COLUMNS; ++k) {
        *energy_value(out, k) = number(energy, energy_columns[k].name);
    }
}

// All columns but those of what is there are sums.
static void add_energy(const json_t* line, treacle_energy_stats* sum) {
    treacle_energy_stats step;
    read_energy(line, &step);
    for (int k = 0; k < ENERGY_COLUMNS; ++k) {
        *energy_value(sum, k) += *energy_value(&step, k);
    }
    sum->kinetic = step.kinetic;
    sum->bodies = step.bodies;
    sum->elastic = step.elastic;
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
    add_energy(line, &info->energy);
    info->memory_peak = fmax(info->memory_peak, number(line, "memory_peak"));
    add_seconds(json_object_get(line, "seconds"), info);
}

treacle_status stats_file_summarise(const folder* f, treacle_run_info* info) {
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    FILE* stream = fopen(path, "re");
    if (stream == NULL) {
        return errno == ENOENT ? TREACLE_OK : fail_file(f, "read");
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

static treacle_solve_stats solve_of(const json_t* line, const char* key) {
    const json_t* solve = json_object_get(line, key);
    return (treacle_solve_stats){
        .iterations = (int)integer(solve, "iterations"),
        .residual = number(solve, "residual"),
        .converged = json_is_true(json_object_get(solve, "converged")),
    };
}

static treacle_rheology_stats rheology_of(const json_t* line) {
    const json_t* rheology = json_object_get(line, "rheology");
    return (treacle_rheology_stats){
        .iterations = (int)integer(rheology, "iterations"),
        .change = number(rheology, "change"),
        .converged = json_is_true(json_object_get(rheology, "converged")),
    };
}

static void read_line(const json_t* line, treacle_step_stats* out) {
    *out = (treacle_step_stats){
        .step = step_of(line),
        .time = number(line, "time"),
        .dt = number(line, "dt"),
        .retries = (int)integer(line, "retries"),
        .particles = integer(line, "particles"),
        .tiles = integer(line, "tiles"),
        .emitted = integer(line, "emitted"),
        .absorbed = integer(line, "absorbed"),
        .split = integer(line, "split"),
        .merged = integer(line, "merged"),
        .volume = number(line, "volume"),
        .surface_volume = number(line, "surface_volume"),
        .kinetic_energy = number(line, "kinetic_energy"),
        .volume_lost = number(line, "volume_lost"),
        .max_speed = number(line, "max_speed"),
        .density_spread = number(line, "density_spread"),
        .pressure = solve_of(line, "pressure"),
        .viscosity = solve_of(line, "viscosity"),
        .flow = solve_of(line, "flow"),
        .rheology = rheology_of(line),
        .memory_peak = (size_t)number(line, "memory_peak"),
    };
    read_energy(line, &out->energy);
    const json_t* seconds = json_object_get(line, "seconds");
    for (int k = 0; k < TREACLE_STAGE_COUNT; ++k) {
        out->seconds[k] = number(seconds, treacle_stage_name((treacle_stage)k));
    }
}

treacle_status stats_file_visit(const folder* f, treacle_step_visitor* visit, void* user) {
    char path[FOLDER_PATH_CAPACITY];
    TREACLE_TRY(folder_file(f, FOLDER_STATS, path));
    FILE* stream = fopen(path, "re");
    if (stream == NULL) {
        return errno == ENOENT ? TREACLE_OK : fail_file(f, "read");
    }
    off_t end = 0;
    bool goes_on = true;
    for (json_t* line = next_line(stream, &end); line != NULL && goes_on;
         line = goes_on ? next_line(stream, &end) : NULL) {
        treacle_step_stats step;
        read_line(line, &step);
        json_decref(line);
        goes_on = visit(&step, user);
    }
    bool sound = ferror(stream) == 0;
    fclose(stream);
    return sound ? TREACLE_OK : fail_file(f, "read");
}
