#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "interrupt.h"
#include "live_act.h"
#include "run_end.h"

enum { IDLE_WAIT_MS = 30 };

typedef struct play_options {
    const char* scene;
    int64_t port, threads, steps;
    cli_list sets;
} play_options;

static page_reply reply_json(json_t* root) {
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(root);
    return text == NULL
               ? page_reply_error(500, "out of memory\n")
               : (page_reply){
                     .status = 200, .type = "application/json", .body = text, .size = strlen(text)};
}

static json_t* describe(const live_sim* live) {
    treacle_frame frame;
    char* text = treacle_sim_view(live->sim, TREACLE_FRAME_PICTURE, 1, &frame) == TREACLE_OK
                     ? page_data_describe(&live->data, &frame)
                     : NULL;
    json_t* root = text == NULL ? json_object() : json_loads(text, 0, NULL);
    free(text);
    json_object_set_new(root, "live", json_true());
    json_object_set_new(root, "frames", json_integer(1));
    json_object_set_new(root, "wanted", json_integer(1));
    return root;
}

static page_reply reply_frame(const live_sim* live, treacle_export_what what) {
    treacle_frame frame;
    page_frame out;
    if (treacle_sim_view(live->sim, TREACLE_FRAME_PICTURE, 1, &frame) != TREACLE_OK ||
        page_frame_of(&live->data, &frame, what, &out) != TREACLE_OK) {
        return page_reply_error(500, "there is no frame\n");
    }
    json_t* note = json_loads(out.note, 0, NULL);
    json_object_set_new(note, "rate", json_real(live->rate));
    json_object_set_new(note, "steps", json_integer(live->steps));
    json_object_set_new(note, "paused", json_boolean(live->is_paused));
    json_object_set_new(note, "told", json_string(live->told));
    free(out.note);
    out.note = json_dumps(note, JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII);
    json_decref(note);
    return (page_reply){.status = 200,
                        .type = "model/gltf-binary",
                        .body = out.bytes,
                        .size = out.size,
                        .note = out.note};
}

static page_reply reply_props(const live_sim* live) {
    treacle_frame frame;
    char* text = treacle_sim_view(live->sim, TREACLE_FRAME_PICTURE, 1, &frame) == TREACLE_OK
                     ? page_data_props(&live->data, &frame)
                     : NULL;
    return text == NULL
               ? page_reply_error(500, "there is no frame\n")
               : (page_reply){
                     .status = 200, .type = "application/json", .body = text, .size = strlen(text)};
}

static page_reply reply_act(live_sim* live, const char* body, size_t size) {
    return live_act(live, body, size) ? reply_json(json_pack("{s:b}", "done", 1))
                                      : page_reply_error(400, "there is no such action\n");
}

static page_reply handle(void* user, const char* path, const char* body, size_t size) {
    live_sim* live = user;
    if (body != NULL) {
        return strcmp(path, "/act") == 0 ? reply_act(live, body, size)
                                         : page_reply_error(405, "there is nothing to post to\n");
    }
    if (strcmp(path, "/run.json") == 0) {
        return reply_json(describe(live));
    }
    if (strncmp(path, "/solids_", 8) == 0) {
        return reply_props(live);
    }
    if (strcmp(path, "/live/particles.glb") == 0) {
        return reply_frame(live, TREACLE_EXPORT_PARTICLES);
    }
    if (strcmp(path, "/live/surface.glb") == 0) {
        return reply_frame(live, TREACLE_EXPORT_SURFACE);
    }
    return page_file(path);
}

static int play(treacle_context* ctx, const void* options) {
    const play_options* o = options;
    live_sim live;
    if (!page_is_there()) {
        return TREACLE_ERR_UNSUPPORTED;
    }
    int code = live_sim_open(ctx, o->scene, &o->sets, &live);
    if (code != TREACLE_OK) {
        return code;
    }
    page_server_def def = {.port = (int)o->port, .handle = handle, .user = &live};
    page_server* server = page_server_create(&def);
    if (server == NULL) {
        live_sim_close(&live);
        return TREACLE_ERR_IO;
    }
    printf("play at http://127.0.0.1:%d/ (end with Ctrl-C)\n", page_server_port(server));
    fflush(stdout);
    interrupt_begin();
    for (int64_t n = 0; !interrupt_wanted() && (o->steps == 0 || n < o->steps); ++n) {
        page_server_run(server, live.is_paused ? IDLE_WAIT_MS : 0);
        if (!live.is_paused) {
            live_sim_advance(&live);
        }
    }
    printf("%.1f steps a second\n", live.rate);
    page_server_destroy(server);
    live_sim_close(&live);
    return TREACLE_OK;
}

static cli_outcome parse(play_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "port",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->port,
         .min = 0,
         .max = 65535,
         .help = "where to listen; 0 takes any that is free (default: 8358)"},
        {.name = "steps",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->steps,
         .min = 1,
         .max = 1000000000,
         .help = "end after N steps (default: go on)"},
        RUN_SET_OPTION(&o->sets, "lay a value over the scene file; may be repeated"),
        RUN_THREADS_OPTION(&o->threads),
    };
    const cli_spec spec = {
        .command = "play",
        .operand_name = "SCENE",
        .operand_help = "the scene file; about 20 to 50 cells a side are lively",
        .summary = "play with a small scene in a browser, while it runs",
        .details = "Serves a page on this machine in which the scene runs as fast as it can: grab\n"
                   "a rigid body, drag it and throw it, pour liquid from the pointer, and change\n"
                   "viscosity and temperature. Nothing is written to disk.",
        .example = "  treacle play scenes/play.yaml\n"
                   "  treacle play scenes/play.yaml --set domain.cell=1cm\n",
        .operand = &o->scene,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_play(int argc, char** argv) {
    play_options options = {.port = 8358};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, options.threads, play, &options);
}
