// The command: finds the sub-command by name and hands over.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

typedef struct command {
    const char* name;
    const char* summary;
    int (*run)(int argc, char** argv);
} command;

static const command commands[] = {
    {"new", "write a scene to begin with: honey, lava, dough ...", cmd_new},
    {"check", "look a scene over: its errors, or what it will cost", cmd_check},
    {"run", "simulate a scene into a folder", cmd_run},
    {"sweep", "run a scene over a grid of values, into one picture", cmd_sweep},
    {"resume", "go on with a run that was ended", cmd_resume},
    {"mesh", "draw the liquid's surface as triangle meshes", cmd_mesh},
    {"coiling", "measure how a falling thread coils, beside the theory", cmd_coiling},
    {"export", "write frames for other programs", cmd_export},
    {"plot", "draw the statistics of a run as plots", cmd_plot},
    {"render", "make pictures and a film by path tracing", cmd_render},
    {"view", "show a run in a browser", cmd_view},
    {"play", "play with a small scene in a browser, while it runs", cmd_play},
    {"info", "tell about a run's folder or one of its files", cmd_info},
    {"compare", "tell what differs between two runs", cmd_compare},
    {"materials", "list the materials library", cmd_materials},
    {"schema", "write a JSON Schema of scene files, for editors", cmd_schema},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_overview(void) {
    puts("treacle: simulate thick liquids\n\nusage: treacle COMMAND ...\n");
    for (int k = 0; k < COMMAND_COUNT; ++k) {
        printf("  %-10s%s\n", commands[k].name, commands[k].summary);
    }
    puts("  help      explain a command, or keys of scenes: treacle help scene.domain\n"
         "  --version print the version");
}

static const command* find_command(const char* name) {
    for (int k = 0; k < COMMAND_COUNT; ++k) {
        if (strcmp(commands[k].name, name) == 0) {
            return &commands[k];
        }
    }
    const char* names[COMMAND_COUNT + 1];
    for (int k = 0; k < COMMAND_COUNT; ++k) {
        names[k] = commands[k].name;
    }
    names[COMMAND_COUNT] = "help";
    const char* near = treacle_suggest(name, names, COMMAND_COUNT + 1);
    if (near != NULL) {
        cli_error("there is no command \"%s\"; did you mean %s?", name, near);
    } else {
        cli_error("there is no command \"%s\"", name);
    }
    cli_hint("\"treacle help\" lists the commands");
    return NULL;
}

static int print_scene_help(treacle_context* ctx, const void* options) {
    const char* const* path = options;
    char* told = NULL;
    treacle_status status = treacle_scene_help(ctx, *path, &told);
    if (status != TREACLE_OK) {
        cli_fail(ctx, status);
        cli_hint("\"treacle help scene\" lists the keys of a scene");
    } else {
        fputs(told, stdout);
    }
    treacle_text_free(ctx, told);
    return (int)status;
}

// "scene" and "scene.domain" are no commands, but what a scene may say.
static bool is_of_scene(const char* word) {
    return strncmp(word, "scene", 5) == 0 && (word[5] == '\0' || word[5] == '.');
}

static int help(int argc, char** argv) {
    if (argc < 2) {
        print_overview();
        return TREACLE_OK;
    }
    if (is_of_scene(argv[1])) {
        return cli_go(CLI_GO, 1, print_scene_help, &argv[1]);
    }
    const command* found = find_command(argv[1]);
    char* arguments[] = {argv[1], (char[]){"--help"}, NULL};
    return found == NULL ? TREACLE_ERR_USAGE : found->run(2, arguments);
}

static int dispatch(int argc, char** argv) {
    if (argc < 2) {
        cli_error("no command is given");
        cli_hint("\"treacle help\" lists the commands");
        return TREACLE_ERR_USAGE;
    }
    const char* name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("treacle %s\n", treacle_version());
        return TREACLE_OK;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(argc - 1, argv + 1);
    }
    const command* found = find_command(name);
    return found == NULL ? TREACLE_ERR_USAGE : found->run(argc - 1, argv + 1);
}

int main(int argc, char** argv) {
    // A file-size limit is then an error like a full disk, not a sudden death.
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && code == TREACLE_OK) {
        cli_error("the output could not be written");
        return TREACLE_ERR_IO;
    }
    return code;
}
