#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "export_bodies.h"
#include "frame_range.h"
#include "run_end.h"
#include "surface_options.h"

typedef struct export_options {
    const char* operand;
    const char* frames;
    const char* folder; // where to write
    const char* name;
    int format, what, up;
    surface_options surface;
    int64_t threads;
    bool quiet;
} export_options;

static const char* const format_names[] = {"ply", "obj", "vtk", "usd", "bgeo", "glb", "vdb"};
static const char* const what_names[] = {"auto", "surface", "particles", "volume", "bodies"};
enum { WHAT_BODIES = 4 };
static const char* const up_names[] = {"y", "z"};

static treacle_export_def make_def(const export_options* o, const treacle_scene* scene,
                                   const char* folder) {
    treacle_export_def def = treacle_export_def_default();
    def.format = (treacle_export_format)o->format;
    def.what = o->what > 0                        ? (treacle_export_what)(o->what - 1)
               : def.format == TREACLE_EXPORT_VDB ? TREACLE_EXPORT_VOLUME
                                                  : TREACLE_EXPORT_SURFACE;
    def.is_z_up = o->up == 1;
    def.folder = folder;
    def.name = o->name;
    def.mesh = surface_mesh_def(&o->surface, scene);
    return def;
}

static treacle_status add_frame(treacle_context* ctx, treacle_exporter* exporter,
                                const treacle_scene* scene, const char* path) {
    treacle_loaded_frame* loaded = NULL;
    treacle_dressed_frame* dressed = NULL;
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status == TREACLE_OK && scene != NULL) {
        status = treacle_frame_dress(ctx, treacle_scene_sim(scene),
                                     treacle_loaded_frame_view(loaded), &dressed);
    }
    if (status == TREACLE_OK) {
        status =
            treacle_exporter_add(exporter, dressed != NULL ? treacle_dressed_frame_view(dressed)
                                                           : treacle_loaded_frame_view(loaded));
    }
    treacle_dressed_frame_destroy(dressed);
    treacle_loaded_frame_destroy(loaded);
    return status;
}

static void tell(const treacle_exporter* exporter, const export_options* o, int64_t number) {
    int64_t counts[2];
    treacle_exporter_counts(exporter, counts);
    if (!o->quiet) {
        printf("%s: frame %" PRId64 ", %" PRId64 " points, %" PRId64 " triangles\n",
               treacle_exporter_path(exporter), number, counts[0], counts[1]);
    }
}

static treacle_status export_frames(treacle_context* ctx, const export_options* o,
                                    const frame_range* range, const treacle_scene* scene,
                                    treacle_exporter* exporter) {
    treacle_status status = TREACLE_OK;
    for (int64_t k = range->first; k <= range->last && status == TREACLE_OK; ++k) {
        char path[FRAME_PATH_CAPACITY];
        status = frame_range_path(range, k, path) ? add_frame(ctx, exporter, scene, path)
                                                  : TREACLE_ERR_LIMIT;
        if (status == TREACLE_OK) {
            tell(exporter, o, k);
        }
    }
    if (status == TREACLE_OK) {
        status = treacle_exporter_finish(exporter);
    }
    return status;
}

static int export_all_bodies(treacle_context* ctx, const export_options* o,
                             const frame_range* range, const char* folder) {
    treacle_scene* scene = frame_range_scene(ctx, range);
    export_bodies_def def = {range, scene, folder, o->name, o->up == 1};
    int code = export_bodies(ctx, &def, o->quiet);
    treacle_scene_destroy(scene);
    return code;
}

static int export_all(treacle_context* ctx, const void* options) {
    const export_options* o = options;
    frame_range range;
    int code = frame_range_find(ctx, o->operand, o->frames, &range);
    const char* folder = o->folder != NULL ? o->folder : range.folder != NULL ? range.folder : ".";
    if (code != TREACLE_OK) {
        return code;
    }
    if (!frame_range_make_folder(folder)) {
        return TREACLE_ERR_IO;
    }
    if (o->what == WHAT_BODIES) {
        return export_all_bodies(ctx, o, &range, folder);
    }
    treacle_scene* scene = surface_scene(ctx, &range, o->quiet);
    treacle_export_def def = make_def(o, scene, folder);
    treacle_exporter* exporter = NULL;
    treacle_status status = treacle_exporter_create(ctx, &def, &exporter);
    if (status == TREACLE_OK) {
        status = export_frames(ctx, o, &range, scene, exporter);
    }
    treacle_exporter_destroy(exporter);
    treacle_scene_destroy(scene);
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(ctx, status);
}

static cli_outcome parse(export_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "to",
         .kind = CLI_CHOICE,
         .value = "FORMAT",
         .out = &o->format,
         .choice_count = CLI_COUNT(format_names),
         .choices = format_names,
         .help = "ply, obj, vtk, usd, bgeo, glb or vdb (default: ply)"},
        {.name = "what",
         .kind = CLI_CHOICE,
         .value = "WHAT",
         .out = &o->what,
         .choice_count = CLI_COUNT(what_names),
         .choices = what_names,
         .help = "surface, particles, volume or bodies (default: volume for vdb, else surface)"},
        FRAME_RANGE_OPTION(&o->frames),
        {.name = "up",
         .kind = CLI_CHOICE,
         .value = "AXIS",
         .out = &o->up,
         .choice_count = CLI_COUNT(up_names),
         .choices = up_names,
         .help = "y, or z for Blender (default: y)"},
        SURFACE_OPTIONS(&o->surface),
        FRAME_FOLDER_OPTION(&o->folder),
        {.name = "name",
         .kind = CLI_TEXT,
         .value = "STEM",
         .out = &o->name,
         .help = "files are STEM_0001.ply and so on (default: what they show)"},
        RUN_THREADS_OPTION(&o->threads),
        FRAME_QUIET_OPTION(&o->quiet),
    };
    const cli_spec spec = {
        .command = "export",
        .operand_name = "PATH",
        .operand_help = "the folder of a run, or one frame file",
        .summary = "write frames for other programs",
        .details =
            "Writes surface_0001.ply and so on: the surface, the particles or the fields of\n"
            "the liquid, with velocity for motion blur and all else that the frames carry,\n"
            "under the names that other programs expect. \"usd\" is one text file with time\n"
            "samples and \"bodies\" one JSON file; all others are a file a frame. \"bgeo\" is for\n"
            "Houdini 18.5 and later, \"vtk\" for ParaView. On a farm, give each machine a range\n"
            "of frames.\n"
            "A file appears under its name only once it is whole.",
        .example = "  treacle export out/honey --to vdb --up z\n"
                   "  treacle export out/honey --to usd --frames 1:48 -o shots/honey\n"
                   "  treacle export out/honey --to bgeo --what particles\n",
        .operand = &o->operand,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_export(int argc, char** argv) {
    export_options options = {.surface = surface_options_default()};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, options.threads, export_all, &options);
}
