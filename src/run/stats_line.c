#include "run/stats_line.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/check.h"

enum { LINE_FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(17) };

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
    const char* regime = solve->regime[0] != '\0' ? solve->regime : NULL;
    return json_pack("{s:i, s:o, s:b, s:s*}", "iterations", solve->iterations, "residual",
                     real(solve->residual), "converged", (int)solve->converged, "regime", regime);
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
    ENERGY_COLUMN(surface),   ENERGY_COLUMN(change),    ENERGY_COLUMN(potential),
    ENERGY_COLUMN(gravity),   ENERGY_COLUMN(forces),    ENERGY_COLUMN(tension),
    ENERGY_COLUMN(solids),    ENERGY_COLUMN(shrinkage), ENERGY_COLUMN(contacts),
    ENERGY_COLUMN(exchanged), ENERGY_COLUMN(particles), ENERGY_COLUMN(dissipation),
    ENERGY_COLUMN(fracture),  ENERGY_COLUMN(numerical), ENERGY_COLUMN(transfer),
    ENERGY_COLUMN(advection), ENERGY_COLUMN(density),   ENERGY_COLUMN(error),
    ENERGY_COLUMN(gain),      ENERGY_COLUMN(limit),
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
        "{s:I, s:o*, s:o, s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, "
        "s:o, s:o, s:I, s:I, s:i, s:o, s:i, s:o, s:o, s:I}",
        "step", (json_int_t)s->step, "frame", frame >= 0 ? json_integer((json_int_t)frame) : NULL,
        "time", real(s->time), "dt", real(s->dt), "retries", s->retries, "particles",
        (json_int_t)s->particles, "tiles", (json_int_t)s->tiles, "emitted", (json_int_t)s->emitted,
        "absorbed", (json_int_t)s->absorbed, "split", (json_int_t)s->split, "merged",
        (json_int_t)s->merged, "volume", real(s->volume), "surface_volume", real(s->surface_volume),
        "kinetic_energy", real(s->kinetic_energy), "max_speed", real(s->max_speed), "heat_in",
        real(s->heat_in), "marker_in", real(s->marker_in), "enthalpy", real(s->enthalpy),
        "density_spread", real(s->density_spread), "pressure", solve_object(&s->pressure),
        "viscosity", solve_object(&s->viscosity), "flow", solve_object(&s->flow), "walls_held",
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

size_t stats_line_format(int64_t frame, const treacle_step_stats* stats, size_t capacity,
                         char* out) {
    TREACLE_ASSERT(capacity > 0 && out != NULL);
    json_t* object = line_object(frame, stats);
    size_t length = object == NULL ? 0 : json_dumpb(object, out, capacity, LINE_FLAGS);
    json_decref(object);
    return length <= capacity ? length : 0;
}

treacle_status treacle_step_stats_text(const treacle_step_stats* stats, size_t capacity,
                                       char* out) {
    size_t length = capacity > 0 ? stats_line_format(-1, stats, capacity - 1, out) : 0;
    if (length == 0) {
        return TREACLE_ERR_MEMORY;
    }
    out[length] = '\0';
    return TREACLE_OK;
}

static double number(const json_t* object, const char* key) {
    return json_number_value(json_object_get(object, key));
}

static int64_t integer(const json_t* object, const char* key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
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

void stats_line_add_energy(const json_t* line, treacle_energy_stats* sum) {
    treacle_energy_stats step;
    read_energy(line, &step);
    for (int k = 0; k < ENERGY_COLUMNS; ++k) {
        *energy_value(sum, k) += *energy_value(&step, k);
    }
    sum->kinetic = step.kinetic;
    sum->bodies = step.bodies;
    sum->elastic = step.elastic;
    sum->surface = step.surface;
}

static treacle_solve_stats solve_of(const json_t* line, const char* key) {
    const json_t* solve = json_object_get(line, key);
    const char* regime = json_string_value(json_object_get(solve, "regime"));
    treacle_solve_stats out = {
        .iterations = (int)integer(solve, "iterations"),
        .residual = number(solve, "residual"),
        .converged = json_is_true(json_object_get(solve, "converged")),
    };
    snprintf(out.regime, sizeof(out.regime), "%s", regime != NULL ? regime : "");
    return out;
}

static treacle_rheology_stats rheology_of(const json_t* line) {
    const json_t* rheology = json_object_get(line, "rheology");
    return (treacle_rheology_stats){
        .iterations = (int)integer(rheology, "iterations"),
        .change = number(rheology, "change"),
        .converged = json_is_true(json_object_get(rheology, "converged")),
    };
}

void stats_line_read(const json_t* line, treacle_step_stats* out) {
    TREACLE_ASSERT(line != NULL);
    *out = (treacle_step_stats){
        .step = integer(line, "step"),
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
