#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"
#include "interrupt.h"
#include "page_data.h"
#include "page_export.h"
#include "page_host.h"
#include "run_end.h"

enum { WAIT_MS = 200 };

typedef struct view_options {
    const char* folder;
    const char* export_folder;
    const char* frames;
    const char* address;
    cli_list names;
    int64_t port, threads;
} view_options;

static page_reply reply_json(char* text) {
    if (text == NULL) {
        return page_reply_error(404, "there is nothing to show yet\n");
    }
    return (page_reply){
        .status = 200, .type = "application/json", .body = text, .size = strlen(text)};
}

// "/frame/12/surface.glb": the number, or 0.
static int64_t parse_frame(const char* path, treacle_export_what* what) {
    char* end = NULL;
    if (strncmp(path, "/frame/", 7) != 0 || path[7] < '1' || path[7] > '9') {
        return 0;
    }
    errno = 0;
    long long number = strtoll(path + 7, &end, 10);
    bool is_surface = strcmp(end, "/surface.glb") == 0;
    bool is_particles = strcmp(end, "/particles.glb") == 0;
    *what = is_surface ? TREACLE_EXPORT_SURFACE : TREACLE_EXPORT_PARTICLES;
    return errno == 0 && (is_surface || is_particles) && number <= 1000000 ? number : 0;
}

// "/solids_12.json": the number, or 0.
static int64_t parse_props(const char* path) {
    long long number = 0;
    int length = 0;
    bool is_it = sscanf(path, "/solids_%7lld.json%n", &number, &length) == 1 && length > 0 &&
                 path[length] == '\0';
    return is_it && number > 0 ? number : 0;
}

static page_reply reply_frame(const page_data* d, int64_t number, treacle_export_what what) {
    treacle_run_info info;
    page_frame frame;
    if (treacle_run_inspect(d->ctx, d->folder, &info) != TREACLE_OK || number > info.frames_done) {
        return page_reply_error(404, "there is no such frame\n");
    }
    if (page_data_frame(d, number, what, &frame) != TREACLE_OK) {
        return page_reply_error(500, "the frame cannot be read\n");
    }
    return (page_reply){.status = 200,
                        .type = "model/gltf-binary",
                        .body = frame.bytes,
                        .size = frame.size,
                        .note = frame.note};
}

static page_reply handle(void* user, const char* path, const char* body, size_t size) {
    const page_data* d = user;
    treacle_export_what what = TREACLE_EXPORT_SURFACE;
    (void)size;
    if (body != NULL) {
        return page_reply_error(405, "there is nothing to post to\n");
    }
    if (strcmp(path, "/run.json") == 0) {
        return reply_json(page_data_run(d));
    }
    if (strcmp(path, "/stats.json") == 0) {
        return reply_json(page_data_stats(d));
    }
    int64_t number = parse_props(path);
    if (number > 0) {
        return reply_json(page_data_props_at(d, number));
    }
    number = parse_frame(path, &what);
    return number > 0 ? reply_frame(d, number, what) : page_file(path);
}

static int serve(page_data* d, const view_options* o) {
    page_server_def def = {.address = o->address,
                           .port = (int)o->port,
                           .name_count = o->names.count,
                           .names = o->names.items,
                           .handle = handle,
                           .user = d};
    for (int k = 0; k < o->names.count; ++k) {
        if (!page_host_is_name(o->names.items[k])) {
            cli_error("%s is not a name like studio.local or studio.local:8357", o->names.items[k]);
            return TREACLE_ERR_USAGE;
        }
    }
    page_server* server = page_server_create(&def);
    if (server == NULL) {
        return TREACLE_ERR_IO;
    }
    bool is_everywhere = o->address != NULL && strcmp(o->address, "0.0.0.0") == 0;
    printf("look at http://%s:%d/%s (end with Ctrl-C)\n",
           o->address == NULL || is_everywhere ? "127.0.0.1" : o->address, page_server_port(server),
           is_everywhere ? ", others by this machine's address" : "");
    fflush(stdout);
    interrupt_begin();
    while (!interrupt_wanted()) {
        page_server_run(server, WAIT_MS);
    }
    page_server_destroy(server);
    return TREACLE_OK;
}

static int view(treacle_context* ctx, const void* options) {
    const view_options* o = options;
    page_data d;
    frame_range range;
    if (!page_is_there()) {
        return TREACLE_ERR_UNSUPPORTED;
    }
    int code = page_data_open(ctx, o->folder, &d);
    if (code == TREACLE_OK && o->export_folder == NULL) {
        code = serve(&d, o);
    } else if (code == TREACLE_OK) {
        code = frame_range_find(ctx, o->folder, o->frames, &range);
        code =
            code == TREACLE_OK ? page_export(&d, range.first, range.last, o->export_folder) : code;
    }
    page_data_close(&d);
    return code;
}

static cli_outcome parse(view_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "port",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->port,
         .min = 0,
         .max = 65535,
         .help = "where to listen; 0 takes any that is free (default: 8357)"},
        {.name = "listen",
         .kind = CLI_TEXT,
         .value = "ADDRESS",
         .out = &o->address,
         .help = "let others look, too: 0.0.0.0 for everybody (default: this machine)"},
        {.name = "host",
         .kind = CLI_LIST,
         .value = "NAME",
         .out = &o->names,
         .help = "a name that others reach this machine by; may be repeated"},
        {.name = "export",
         .kind = CLI_TEXT,
         .value = "FOLDER",
         .out = &o->export_folder,
         .help = "write the page into a folder, to be opened without a server"},
        FRAME_RANGE_OPTION(&o->frames),
        RUN_THREADS_OPTION(&o->threads),
    };
    const cli_spec spec = {
        .command = "view",
        .operand_name = "FOLDER",
        .operand_help = "the folder of a run, which may still be going",
        .summary = "show a run in a browser",
        .details =
            "Serves a page on this machine: the surface, the particles or a slice of any\n"
            "frame, coloured by speed, temperature or viscosity, and plots of the statistics.\n"
            "New frames appear while the run goes on. Only this run can be seen. Drag, pinch\n"
            "and scroll, or use arrow keys, + and -; space plays, comma and point step.\n"
            "With --export the same page is written as files, for --frames of the run.",
        .example = "  treacle view out/honey\n"
                   "  treacle view out/honey --export honey-page --frames 1:48\n",
        .operand = &o->folder,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_view(int argc, char** argv) {
    view_options options = {.port = 8357};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, options.threads, view, &options);
}
