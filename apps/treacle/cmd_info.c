#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli.h"
#include "commands.h"
#include "human.h"

enum { PATH_CAPACITY = 4096, COMPONENTS_SHOWN = 3 };

static const double loss_shown = 0.02; // of the volume

static const char* const type_names[] = {
    [TREACLE_TYPE_U8] = "u8",   [TREACLE_TYPE_U16] = "u16", [TREACLE_TYPE_I32] = "i32",
    [TREACLE_TYPE_I64] = "i64", [TREACLE_TYPE_U64] = "u64", [TREACLE_TYPE_F32] = "f32",
    [TREACLE_TYPE_F64] = "f64",
};

static double value_at(const treacle_array* array, int64_t index) {
    switch (array->type) {
    case TREACLE_TYPE_U8:
        return ((const uint8_t*)array->data)[index];
    case TREACLE_TYPE_U16:
        return ((const uint16_t*)array->data)[index];
    case TREACLE_TYPE_I32:
        return ((const int32_t*)array->data)[index];
    case TREACLE_TYPE_I64:
        return (double)((const int64_t*)array->data)[index];
    case TREACLE_TYPE_U64:
        return (double)((const uint64_t*)array->data)[index];
    case TREACLE_TYPE_F32:
        return (double)((const float*)array->data)[index];
    case TREACLE_TYPE_F64:
        return ((const double*)array->data)[index];
    }
    return 0.0;
}

typedef struct value_range {
    double low, high;
} value_range;

// Of the components first, first + stride, ... of the array. A NaN is not compared away.
static value_range range_of(const treacle_array* array, int64_t first, int64_t stride) {
    int64_t count = array->count * array->components;
    value_range range = {value_at(array, first), value_at(array, first)};
    for (int64_t k = first; k < count; k += stride) {
        double value = value_at(array, k);
        range.low = value < range.low || value != value ? value : range.low;
        range.high = value > range.high || value != value ? value : range.high;
    }
    return range;
}

// The array that has a number that is not finite; NULL if all are.
static const treacle_array* find_not_finite(const treacle_frame* frame) {
    for (int k = 0; k < frame->array_count; ++k) {
        const treacle_array* array = &frame->arrays[k];
        bool is_real = array->type == TREACLE_TYPE_F32 || array->type == TREACLE_TYPE_F64;
        for (int64_t i = 0; is_real && i < array->count * array->components; ++i) {
            if (!isfinite(value_at(array, i))) {
                return array;
            }
        }
    }
    return NULL;
}

static treacle_status check_finite(const char* path, const treacle_frame* frame) {
    const treacle_array* array = find_not_finite(frame);
    if (array != NULL) {
        cli_error("%s is damaged: array '%s' has numbers that are not finite", path, array->name);
    }
    return array == NULL ? TREACLE_OK : TREACLE_ERR_FORMAT;
}

static void print_array(const treacle_array* array) {
    char type[16];
    snprintf(type, sizeof(type), array->components == 1 ? "%s" : "%s x %d", type_names[array->type],
             array->components);
    printf("  %-16s %-9s %12" PRId64, array->name, type, array->count);
    int parts = array->components <= COMPONENTS_SHOWN ? array->components : 1;
    int64_t stride = parts == 1 ? 1 : array->components;
    for (int k = 0; k < parts && array->count > 0; ++k) {
        value_range range = range_of(array, k, stride);
        printf("%s%.6g .. %.6g", k == 0 ? "   " : ", ", range.low, range.high);
    }
    putchar('\n');
}

static void print_frame(const treacle_frame* frame) {
    bool is_state = frame->kind == TREACLE_FRAME_STATE;
    printf("kind       %s\n",
           is_state ? "state, what resuming needs" : "frame, what pictures need");
    printf("frame      %" PRId64 " at %.9g s, %.6g a second, after step %" PRId64, frame->number,
           frame->time, frame->fps, frame->step);
    double film = (double)(frame->number - 1) / frame->fps;
    if (fabs(frame->time - film) > 1e-6 * film && film > 0.0) {
        printf("; the film is %.6g times as fast", frame->time / film);
    }
    putchar('\n');
    printf("grid       %d x %d x %d cells of %s, low corner (%.6g, %.6g, %.6g) m\n",
           frame->cells[0], frame->cells[1], frame->cells[2], human_metres(frame->cell).at,
           frame->origin[0], frame->origin[1], frame->origin[2]);
    printf("scene      hash %016" PRIx64 "\n", frame->scene_hash);
    printf("arrays     name, type, items, smallest .. largest of each component\n");
    for (int k = 0; k < frame->array_count; ++k) {
        print_array(&frame->arrays[k]);
    }
}

static int info_file(treacle_context* ctx, const char* path, double bytes) {
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    printf("file       %s, %s\n", path, human_bytes(bytes).at);
    print_frame(treacle_loaded_frame_view(loaded));
    status = check_finite(path, treacle_loaded_frame_view(loaded));
    treacle_loaded_frame_destroy(loaded);
    return (int)status;
}

static void print_stages(const treacle_run_info* info) {
    printf("stages     %s in %" PRId64 " steps:", human_seconds(info->seconds_total).at,
           info->steps);
    const char* before = " ";
    for (int k = 0; k < TREACLE_STAGE_COUNT; ++k) {
        double share = info->seconds_total > 0.0 ? info->seconds[k] / info->seconds_total : 0.0;
        if (share >= 0.005) {
            printf("%s%s %.0f %%", before, treacle_stage_name((treacle_stage)k), 100.0 * share);
            before = ", ";
        }
    }
    putchar('\n');
}

static void print_regimes(const treacle_run_info* info) {
    for (int k = 0; k < info->regime_count; ++k) {
        printf("%s%s in %" PRId64, k == 0 ? "regimes    " : ", ", info->regimes[k].name,
               info->regimes[k].steps);
    }
    printf("%s", info->regime_count > 0 ? " steps\n" : "");
}

static void print_energy(const treacle_energy_stats* e) {
    printf("energy     %.4g J: potential %+.4g, forces %+.4g, tension %+.4g, solids %+.4g, "
           "shrinkage %+.4g, contacts %+.4g, particles %+.4g,\n",
           e->kinetic + e->bodies + e->elastic, -e->potential, e->forces, e->tension, e->solids,
           e->shrinkage, e->contacts, e->particles);
    printf("           dissipation %+.4g, fracture %+.4g, numerical %+.4g, transfer %+.4g, "
           "advection %+.4g, density "
           "%+.4g; open %.2g\n",
           -e->dissipation, -e->fracture, -e->numerical, e->transfer, e->advection, e->density,
           e->error);
}

static void print_statistics(const treacle_run_info* info) {
    if (info->steps == 0) {
        return;
    }
    printf("steps      %" PRId64 " to %.6g s, dt %.3g to %.3g s, %" PRId64 " begun again\n",
           info->steps, info->time, info->dt_min, info->dt_max, info->retries);
    printf("liquid     %" PRId64 " particles, %.6g m^3 (%.6g after the first step), %.6g J\n",
           info->particles, info->volume, info->volume_first, info->kinetic_energy);
    double due = info->volume + info->volume_lost;
    if (info->volume_lost > loss_shown * due) {
        printf("lost       %.3g %% of the liquid's volume, %.3g of %.3g m^3: smaller cells or a "
               "smaller "
               "level_set.cfl lose less\n",
               100.0 * info->volume_lost / due, info->volume_lost, due);
    }
    if (info->iterations > 0) {
        printf("solver     %.1f iterations a step, at most %d; %" PRId64 " not converged\n",
               (double)info->iterations / (double)info->steps, info->iterations_max,
               info->unconverged);
    }
    print_regimes(info);
    if (info->rheology_steps > 0) {
        printf("rheology   %.1f passes a step, at most %d; %" PRId64 " of %" PRId64
               " steps not converged\n",
               (double)info->rheology_passes / (double)info->rheology_steps,
               info->rheology_passes_max, info->rheology_unconverged, info->rheology_steps);
    }
    print_energy(&info->energy);
    print_stages(info);
    printf("memory     %s at most\n", human_bytes(info->memory_peak).at);
}

static void print_run(const char* path, const treacle_run_info* info) {
    printf("run        %s, begun by treacle %s\n", path, info->version);
    printf("scene      %s, hash %016" PRIx64 "\n",
           info->scene[0] != '\0' ? info->scene : "from memory", info->scene_hash);
    printf("frames     %" PRId64 " of %" PRId64 ", newest state %" PRId64 ", %s on disk\n",
           info->frames_done, info->frames, info->state, human_bytes(info->bytes).at);
    print_statistics(info);
}

// Reads one file through; says so if it is damaged. A file that is not there is no matter.
static treacle_status verify(treacle_context* ctx, const char* folder, const char* stem,
                             int64_t number) {
    char path[PATH_CAPACITY];
    struct stat found;
    treacle_loaded_frame* loaded = NULL;
    const char* ending = stem[0] == 'f' ? "trf" : "trs";
    int length =
        snprintf(path, sizeof(path), "%s/%s_%04" PRId64 ".%s", folder, stem, number, ending);
    if (length < 0 || length >= PATH_CAPACITY || stat(path, &found) != 0) {
        return TREACLE_OK;
    }
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status != TREACLE_OK) {
        cli_fail(ctx, status);
    } else {
        status = check_finite(path, treacle_loaded_frame_view(loaded));
    }
    treacle_loaded_frame_destroy(loaded);
    return status;
}

static int verify_all(treacle_context* ctx, const char* path, const treacle_run_info* info) {
    treacle_status worst = TREACLE_OK;
    int64_t last = info->state > info->frames ? info->state : info->frames;
    for (int64_t k = 1; k <= last; ++k) {
        treacle_status frame = verify(ctx, path, "frame", k);
        treacle_status state = verify(ctx, path, "state", k);
        worst = worst == TREACLE_OK ? frame : worst;
        worst = worst == TREACLE_OK ? state : worst;
    }
    if (worst == TREACLE_OK) {
        printf("files      all are whole\n");
    }
    return (int)worst;
}

static int info_folder(treacle_context* ctx, const char* path, bool quick) {
    treacle_run_info info;
    treacle_status status = treacle_run_inspect(ctx, path, &info);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    print_run(path, &info);
    return quick ? TREACLE_OK : verify_all(ctx, path, &info);
}

typedef struct info_options {
    const char* path;
    bool quick;
} info_options;

static int info(treacle_context* ctx, const void* options) {
    const info_options* o = options;
    struct stat found;
    if (stat(o->path, &found) != 0) {
        cli_error("there is no file or folder %s", o->path);
        return TREACLE_ERR_IO;
    }
    return S_ISDIR(found.st_mode) ? info_folder(ctx, o->path, o->quick)
                                  : info_file(ctx, o->path, (double)found.st_size);
}

static cli_outcome parse(info_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "quick",
         .kind = CLI_FLAG,
         .out = &o->quick,
         .help = "of a folder: do not read all frames through to see whether they are whole"},
    };
    const cli_spec spec = {
        .command = "info",
        .operand_name = "PATH",
        .operand_help = "the folder of a run, or one frame or state file",
        .summary = "tell about a run's folder or one of its files",
        .details = "Of a folder: how far the run is, its statistics, and which files are damaged.\n"
                   "Of a file: its head and its arrays with the range of their values.",
        .example = "  treacle info out/honey\n"
                   "  treacle info out/honey/frame_0012.trf\n",
        .operand = &o->path,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_info(int argc, char** argv) {
    info_options options = {.path = NULL};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, 0, info, &options);
}
