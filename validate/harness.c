#include "harness.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const char* validate_tier_name(validate_tier tier) {
    static const char* const names[] = {"quick", "full", "long"};
    return names[tier];
}

bool validate_row_passes(const validate_row* row) {
    return !row->is_scored || row->error <= row->tolerance;
}

void validate_init(validate* v, treacle_context* ctx, const validate_options* options) {
    *v = (validate){.ctx = ctx, .options = *options};
}

void validate_finish(validate* v) {
    free(v->rows);
    v->rows = NULL;
}

// ---- Rows

static void add_row(validate* v, const validate_row* row) {
    if (v->row_count == v->row_capacity) {
        int capacity = 2 * v->row_capacity + 16;
        validate_row* rows = realloc(v->rows, (size_t)capacity * sizeof(*rows));
        if (rows == NULL) {
            fprintf(stderr, "validate: out of memory\n");
            exit(TREACLE_ERR_MEMORY);
        }
        v->rows = rows;
        v->row_capacity = capacity;
    }
    v->rows[v->row_count++] = *row;
}

static void add_named(validate* v, validate_row row, const char* quantity, va_list arguments) {
    vsnprintf(row.quantity, sizeof(row.quantity), quantity, arguments);
    add_row(v, &row);
}

void validate_relative(validate* v, double measured, double reference, double tolerance,
                       const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    add_named(v,
              (validate_row){.measured = measured,
                             .reference = reference,
                             .error = fabs(measured / reference - 1.0),
                             .tolerance = tolerance,
                             .is_scored = true},
              quantity, arguments);
    va_end(arguments);
}

void validate_absolute(validate* v, double measured, double reference, double tolerance,
                       const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    add_named(v,
              (validate_row){.measured = measured,
                             .reference = reference,
                             .error = fabs(measured - reference),
                             .tolerance = tolerance,
                             .is_scored = true},
              quantity, arguments);
    va_end(arguments);
}

// What is missing from measured to reference; NaN stays NaN, as fmax would not let it.
static double shortfall(double measured, double reference) {
    double missing = reference - measured;
    return missing < 0.0 ? 0.0 : missing;
}

void validate_at_least(validate* v, double measured, double reference, double slack,
                       const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    add_named(v,
              (validate_row){.measured = measured,
                             .reference = reference,
                             .error = shortfall(measured, reference),
                             .tolerance = slack,
                             .is_scored = true},
              quantity, arguments);
    va_end(arguments);
}

void validate_at_most(validate* v, double measured, double reference, double slack,
                      const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    add_named(v,
              (validate_row){.measured = measured,
                             .reference = reference,
                             .error = shortfall(-measured, -reference),
                             .tolerance = slack,
                             .is_scored = true},
              quantity, arguments);
    va_end(arguments);
}

void validate_info(validate* v, double measured, double reference, const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    add_named(v,
              (validate_row){.measured = measured,
                             .reference = reference,
                             .error = fabs(measured / reference - 1.0)},
              quantity, arguments);
    va_end(arguments);
}

double validate_observed_order(int count, const double* h, const double* error) {
    double x_sum = 0.0, y_sum = 0.0, xx_sum = 0.0, xy_sum = 0.0;
    for (int i = 0; i < count; ++i) {
        double x = log(h[i]);
        double y = log(error[i]);
        x_sum += x;
        y_sum += y;
        xx_sum += x * x;
        xy_sum += x * y;
    }
    double slope = (count * xy_sum - x_sum * y_sum) / (count * xx_sum - x_sum * x_sum);
    return count >= 2 && isfinite(slope) ? slope : (double)NAN;
}

void validate_order(validate* v, int count, const double* h, const double* error, double order,
                    double slack, const char* quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    double observed = validate_observed_order(count, h, error);
    add_named(v,
              (validate_row){.measured = observed,
                             .reference = order,
                             .error = shortfall(observed, order),
                             .tolerance = slack,
                             .is_scored = true},
              quantity, arguments);
    va_end(arguments);
}

// ---- JSON

// JSON has no NaN and no infinity.
static json_t* number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t* row_to_json(const char* case_name, const validate_row* row) {
    json_t* object = json_object();
    json_object_set_new(object, "case", json_string(case_name));
    json_object_set_new(object, "quantity", json_string(row->quantity));
    json_object_set_new(object, "measured", number(row->measured));
    json_object_set_new(object, "reference", number(row->reference));
    json_object_set_new(object, "error", number(row->error));
    json_object_set_new(object, "tolerance", row->is_scored ? number(row->tolerance) : json_null());
    json_object_set_new(object, "pass", json_boolean(validate_row_passes(row)));
    return object;
}

static double real_or_nan(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static validate_row row_from_json(const json_t* object) {
    validate_row row = {.measured = real_or_nan(object, "measured"),
                        .reference = real_or_nan(object, "reference"),
                        .error = real_or_nan(object, "error"),
                        .tolerance = real_or_nan(object, "tolerance")};
    row.is_scored = isfinite(row.tolerance);
    const char* quantity = json_string_value(json_object_get(object, "quantity"));
    snprintf(row.quantity, sizeof(row.quantity), "%s", quantity ? quantity : "");
    return row;
}

static json_t* rows_to_json(const validate* v, int begin) {
    json_t* rows = json_array();
    for (int i = begin; i < v->row_count; ++i) {
        json_array_append_new(rows, row_to_json(v->current->name, &v->rows[i]));
    }
    return rows;
}

// ---- Output

void validate_print_head(const validate* v) {
    if (!v->options.as_json) {
        fprintf(v->options.out, "%-20s %-44s %13s %13s %10s %10s\n", "case", "quantity", "measured",
                "reference", "error", "tolerance");
    }
}

static void print_row(const validate* v, const validate_row* row) {
    FILE* out = v->options.out;
    const char* name = v->current->name;
    if (v->options.as_json) {
        json_t* object = row_to_json(name, row);
        json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
        fputc('\n', out);
        json_decref(object);
    } else if (row->is_scored) {
        fprintf(out, "%-20s %-44s %13.6g %13.6g %10.3g %10.3g %s\n", name, row->quantity,
                row->measured, row->reference, row->error, row->tolerance,
                validate_row_passes(row) ? "pass" : "FAIL");
    } else {
        fprintf(out, "%-20s %-44s %13.6g %13.6g %10.3g %10s info\n", name, row->quantity,
                row->measured, row->reference, row->error, "");
    }
    fflush(out);
}

static void count_row(validate* v, const validate_row* row) {
    v->shown += !row->is_scored;
    v->passed += row->is_scored && validate_row_passes(row);
    v->failed += !validate_row_passes(row);
}

void validate_print_sum(const validate* v, int case_count, double seconds) {
    if (v->options.as_json) {
        return;
    }
    fprintf(v->options.out, "%d passed, %d failed", v->passed, v->failed);
    if (v->shown > 0) {
        fprintf(v->options.out, ", %d for information", v->shown);
    }
    fprintf(v->options.out, "; %d case%s in %.1f s\n", case_count, case_count == 1 ? "" : "s",
            seconds);
}

// ---- Files of results

static void file_name(char* out, size_t capacity, const char* folder, const char* name) {
    snprintf(out, capacity, "%s/%s.json", folder, name);
}

// Makes the folder and those above it; what goes wrong shows when the file is written.
static void make_folder(const char* folder) {
    char path[1024];
    snprintf(path, sizeof(path), "%s", folder);
    for (char* at = path + 1; *at != '\0'; ++at) {
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0777);
            *at = '/';
        }
    }
    mkdir(path, 0777);
}

// Writes beside the file first, so that a kill leaves the old one.
static bool write_json(const json_t* object, const char* folder, const char* name) {
    char path[1024], temporary[1040];
    file_name(path, sizeof(path), folder, name);
    snprintf(temporary, sizeof(temporary), "%s.part", path);
    make_folder(folder);
    bool is_written =
        json_dump_file(object, temporary, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 &&
        rename(temporary, path) == 0;
    if (!is_written) {
        fprintf(stderr, "validate: cannot write %s\n", path);
    }
    return is_written;
}

static bool keep_results(const validate* v, double seconds) {
    json_t* object = json_object();
    json_object_set_new(object, "case", json_string(v->current->name));
    json_object_set_new(object, "commit", json_string(v->options.commit));
    json_object_set_new(object, "seconds", json_real(seconds));
    json_object_set_new(object, "rows", rows_to_json(v, 0));
    bool is_written = write_json(object, v->options.results, v->current->name);
    json_decref(object);
    return is_written;
}

// ---- Parts of long cases: { "commit": ..., "parts": { name: [rows] } }

static json_t* load_parts(const validate* v) {
    char path[1024];
    file_name(path, sizeof(path), v->options.work, v->current->name);
    json_t* object = json_load_file(path, 0, NULL);
    const char* commit = json_string_value(json_object_get(object, "commit"));
    if (commit != NULL && strcmp(commit, v->options.commit) == 0 &&
        json_is_object(json_object_get(object, "parts"))) {
        return object;
    }
    json_decref(object);
    object = json_object();
    json_object_set_new(object, "commit", json_string(v->options.commit));
    json_object_set_new(object, "parts", json_object());
    return object;
}

// Recorded parts: { name: { "commit": ..., "rows": [rows] } }
static json_t* load_recorded(const validate* v) {
    char path[1024];
    json_t* object = NULL;
    if (v->options.parts != NULL) {
        file_name(path, sizeof(path), v->options.parts, v->current->name);
        object = json_load_file(path, 0, NULL);
    }
    return json_is_object(object) ? object : json_object();
}

static void add_rows(validate* v, const json_t* rows) {
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        validate_row row = row_from_json(json_array_get(rows, i));
        add_row(v, &row);
    }
}

bool validate_part_begin(validate* v, const char* name) {
    json_t *object = load_parts(v), *recorded = load_recorded(v);
    const json_t* rows = json_object_get(json_object_get(object, "parts"), name);
    bool is_asked = v->options.part == NULL || strstr(name, v->options.part) != NULL;
    bool must_run = rows == NULL && is_asked;
    rows =
        rows == NULL && !is_asked ? json_object_get(json_object_get(recorded, name), "rows") : rows;
    add_rows(v, rows);
    json_decref(object);
    json_decref(recorded);
    snprintf(v->part, sizeof(v->part), "%s", name);
    v->part_begin = v->row_count;
    return must_run;
}

static bool record_part(const validate* v) {
    json_t *recorded = load_recorded(v), *part = json_object();
    json_object_set_new(part, "commit", json_string(v->options.commit));
    json_object_set_new(part, "rows", rows_to_json(v, v->part_begin));
    json_object_set_new(recorded, v->part, part);
    bool is_written = write_json(recorded, v->options.parts, v->current->name);
    json_decref(recorded);
    return is_written;
}

treacle_status validate_part_end(validate* v) {
    json_t* object = load_parts(v);
    json_object_set_new(json_object_get(object, "parts"), v->part, rows_to_json(v, v->part_begin));
    bool is_written = write_json(object, v->options.work, v->current->name);
    if (v->options.parts != NULL && v->options.records_parts) {
        is_written = record_part(v) && is_written;
    }
    json_decref(object);
    return is_written ? TREACLE_OK : TREACLE_ERR_IO;
}

// ---- A case

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void validate_run_case(validate* v, const validate_case* which) {
    v->current = which;
    v->row_count = 0;
    v->chart = (validate_chart){.measured = {.name = "measured"}};
    double start = now();
    treacle_status status = which->run(v);
    if (status != TREACLE_OK) {
        fprintf(stderr, "validate: %s: %s: %s\n", which->name, treacle_status_text(status),
                treacle_context_error(v->ctx));
    }
    if (status != TREACLE_OK || v->row_count == 0) {
        validate_absolute(v, 0.0, 1.0, 0.0, "completed");
    }
    int failed_before = v->failed;
    for (int i = 0; i < v->row_count; ++i) {
        print_row(v, &v->rows[i]);
        count_row(v, &v->rows[i]);
    }
    if (v->options.results != NULL && !keep_results(v, now() - start)) {
        v->failed += 1;
    }
    v->failed_cases += v->failed > failed_before;
}

// ---- Simulations

// A line about the current case, beside the table.
static void tell(const validate* v, const char* before, const char* format, va_list arguments) {
    fprintf(stderr, "%s%s: ", before, v->current->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

treacle_status validate_stop(validate* v, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(v, "validate: ", format, arguments);
    va_end(arguments);
    return TREACLE_ERR_INTERNAL;
}

void validate_progress(const validate* v, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(v, "", format, arguments);
    va_end(arguments);
}

treacle_status validate_sim_create(validate* v, treacle_sim** out, const char* scene, ...) {
    char text[8192];
    va_list arguments;
    va_start(arguments, scene);
    int length = vsnprintf(text, sizeof(text), scene, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(text)) {
        return validate_stop(v, "the scene is longer than %zu bytes", sizeof(text) - 1);
    }
    treacle_scene* parsed = NULL;
    treacle_status status =
        treacle_scene_parse(v->ctx, v->current->name, text, (size_t)length, 0, NULL, &parsed);
    if (parsed != NULL && status != TREACLE_OK) {
        fputs(treacle_scene_report(parsed), stderr);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_create(v->ctx, treacle_scene_sim(parsed), out);
    }
    treacle_scene_destroy(parsed);
    return status;
}

treacle_status validate_advance(treacle_sim* sim, double until, double dt) {
    // A rest that is only rounding is not worth a step.
    while (until - treacle_sim_time(sim) > 1e-9 * dt) {
        double rest = until - treacle_sim_time(sim);
        treacle_step_stats stats;
        treacle_status status = treacle_sim_step(sim, rest < dt ? rest : dt, &stats);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    return TREACLE_OK;
}

void validate_position(const treacle_frame* frame, int64_t tile, int64_t index, double out[3]) {
    const int32_t* coord = treacle_frame_find(frame, "tile_coord")->data;
    const float* position = treacle_frame_find(frame, "position")->data;
    for (int a = 0; a < 3; ++a) {
        double cells = 8.0 * coord[3 * tile + a] + (double)position[3 * index + a];
        out[a] = frame->origin[a] + frame->cell * cells;
    }
}

static int compare_ids(const void* a, const void* b) {
    uint64_t i = ((const validate_particle*)a)->id, k = ((const validate_particle*)b)->id;
    return (i > k) - (i < k);
}

treacle_status validate_particles(treacle_sim* sim, validate_particle** out, int64_t* count) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const uint64_t* id = treacle_frame_find(&frame, "id")->data;
    *count = tile_first[first->count - 1];
    *out = malloc((size_t)(*count + 1) * sizeof(**out));
    if (*out == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            (*out)[i].id = id[i];
            validate_position(&frame, tile, i, (*out)[i].place);
        }
    }
    qsort(*out, (size_t)*count, sizeof(**out), compare_ids);
    return TREACLE_OK;
}
