#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"
#include "run_end.h"
#include "surface_options.h"

typedef struct mesh_options {
    const char* operand;
    const char* frames;
    const char* folder; // where to write
    const char* name;
    int format;
    surface_options surface;
    int64_t threads;
    bool quiet;
} mesh_options;

const char* const surface_method_names[] = {"smooth", "splat", "level"};
static const char* const format_names[] = {"ply", "obj"};

static treacle_status mesh_frame(treacle_context* ctx, const mesh_options* o,
                                 const treacle_scene* scene, const char* from, const char* to) {
    treacle_mesh_def def = surface_mesh_def(&o->surface, scene);
    treacle_loaded_frame* loaded = NULL;
    treacle_mesh* mesh = NULL;
    treacle_status status = treacle_frame_read(ctx, from, &loaded);
    if (status == TREACLE_OK) {
        status = treacle_mesh_create(ctx, treacle_loaded_frame_view(loaded), &def, &mesh);
    }
    if (status == TREACLE_OK) {
        status = treacle_mesh_write(ctx, mesh, to);
    }
    if (status == TREACLE_OK && !o->quiet) {
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        printf("%s: %" PRId64 " triangles, %.6g m^3 (liquid %.6g m^3), %.6g m^2\n", to,
               view.triangle_count, view.volume, view.liquid_volume, view.area);
    }
    treacle_mesh_destroy(mesh);
    treacle_loaded_frame_destroy(loaded);
    return status;
}

// For the level set the state file is better, if it is still there: it has the simulator's own.
static void prefer_state(const frame_range* range, int64_t number, char path[FRAME_PATH_CAPACITY]) {
    char state[FRAME_PATH_CAPACITY];
    if (range->file == NULL && frame_range_output(range->folder, "state", number, "trs", state) &&
        access(state, R_OK) == 0) {
        strcpy(path, state);
    }
}

static int mesh_all(treacle_context* ctx, const void* options) {
    const mesh_options* o = options;
    frame_range range;
    int code = frame_range_find(ctx, o->operand, o->frames, &range);
    const char* folder = o->folder != NULL ? o->folder : range.folder != NULL ? range.folder : ".";
    if (code == TREACLE_OK && !frame_range_make_folder(folder)) {
        code = TREACLE_ERR_IO;
    }
    treacle_scene* scene = code == TREACLE_OK ? surface_scene(ctx, &range, o->quiet) : NULL;
    for (int64_t k = range.first; k <= range.last && code == TREACLE_OK; ++k) {
        char from[FRAME_PATH_CAPACITY], to[FRAME_PATH_CAPACITY];
        if (!frame_range_path(&range, k, from) ||
            !frame_range_output(folder, o->name, k, format_names[o->format], to)) {
            code = TREACLE_ERR_LIMIT;
            break;
        }
        if (o->surface.method == TREACLE_MESH_LEVEL) {
            prefer_state(&range, k, from);
        }
        treacle_status status = mesh_frame(ctx, o, scene, from, to);
        code = status == TREACLE_OK ? TREACLE_OK : cli_fail(ctx, status);
    }
    treacle_scene_destroy(scene);
    return code;
}

static cli_outcome parse(mesh_options* o, int argc, char** argv) {
    const cli_option options[] = {
        FRAME_RANGE_OPTION(&o->frames),
        SURFACE_OPTIONS(&o->surface),
        {.name = "to",
         .kind = CLI_CHOICE,
         .value = "FORMAT",
         .out = &o->format,
         .choice_count = CLI_COUNT(format_names),
         .choices = format_names,
         .help = "ply or obj (default: ply)"},
        FRAME_FOLDER_OPTION(&o->folder),
        {.name = "name",
         .kind = CLI_TEXT,
         .value = "STEM",
         .out = &o->name,
         .help = "files are STEM_0001.ply and so on (default: surface)"},
        RUN_THREADS_OPTION(&o->threads),
        FRAME_QUIET_OPTION(&o->quiet),
    };
    const cli_spec spec = {
        .command = "mesh",
        .operand_name = "PATH",
        .operand_help = "the folder of a run, or one frame file",
        .summary = "draw the liquid's surface as triangle meshes",
        .details =
            "Writes surface_0001.ply and so on: closed, manifold meshes that enclose the volume\n"
            "of the liquid, with normal, velocity, colour, temperature, rest position and\n"
            "material at the vertices where the frame has them. They end at the solids and sides\n"
            "of the run's scene; a lone frame file has none. \"smooth\" draws bulk by the share "
            "of\n"
            "liquid, sheets and threads by kernels that lie flat and along them; \"splat\" is the\n"
            "method of Carlson et al. 2002; \"level\" is the level set of the simulation itself.\n"
            "A file appears under its name only once it is whole.",
        .example = "  treacle mesh out/honey\n"
                   "  treacle mesh out/honey --frames 10:20 --resolution 3 --to obj\n",
        .operand = &o->operand,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_mesh(int argc, char** argv) {
    mesh_options options = {.surface = surface_options_default(), .name = "surface"};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, options.threads, mesh_all, &options);
}
