// Scenes to begin with.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "starters.h"

enum { PATH_CAPACITY = 4096, STARTERS_MAX = 64 };

typedef struct new_options {
    const char* name;
    const char* path;
    bool shows_list;
} new_options;

static const embedded_file* find(const char* name) {
    for (int k = 0; k < starters_count; ++k) {
        if (strcmp(starters[k].name, name) == 0) {
            return &starters[k];
        }
    }
    return NULL;
}

// The first line of a scene says what it shows: "# Honey is poured ...".
static void print_list(void) {
    for (int k = 0; k < starters_count; ++k) {
        const char* line = (const char*)starters[k].data + 2;
        const char* end = memchr(line, '\n', starters[k].size - 2);
        printf("%-12s%.*s\n", starters[k].name, (int)(end - line), line);
    }
}

static int refuse_name(const char* name) {
    const char* names[STARTERS_MAX];
    int count = starters_count < STARTERS_MAX ? starters_count : STARTERS_MAX;
    for (int k = 0; k < count; ++k) {
        names[k] = starters[k].name;
    }
    const char* near = treacle_suggest(name, names, count);
    if (near != NULL) {
        cli_error("there is no scene \"%s\" to begin with; did you mean %s?", name, near);
    } else {
        cli_error("there is no scene \"%s\" to begin with", name);
    }
    cli_hint("\"treacle new --list\" lists them");
    return TREACLE_ERR_USAGE;
}

static bool write_all(int file, const embedded_file* scene) {
    size_t done = 0;
    while (done < scene->size) {
        ssize_t written = write(file, scene->data + done, scene->size - done);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

// Never over a file that is there.
static int write_scene(const embedded_file* scene, const char* path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) {
        cli_error("%s is there already, and is not written over", path);
        cli_hint("give another name: treacle new %s FILE", scene->name);
        return TREACLE_ERR_USAGE;
    }
    bool is_written = file >= 0 && write_all(file, scene);
    int wrong = errno;
    if (file >= 0 && close(file) != 0 && is_written) {
        wrong = errno;
        is_written = false;
    }
    if (!is_written) {
        errno = wrong;
        cli_write_error(path);
        if (file >= 0) {
            unlink(path);
        }
        return TREACLE_ERR_IO;
    }
    printf(
        "%s is written; look it over with \"treacle check %s\", run it with \"treacle run %s\"\n",
        path, path, path);
    return TREACLE_OK;
}

static int make_scene(const new_options* o) {
    char path[PATH_CAPACITY];
    if (o->shows_list) {
        print_list();
        return TREACLE_OK;
    }
    if (o->name == NULL) {
        cli_error("new needs NAME");
        cli_hint("\"treacle new --list\" lists the scenes to begin with");
        return TREACLE_ERR_USAGE;
    }
    const embedded_file* scene = find(o->name);
    if (scene == NULL) {
        return refuse_name(o->name);
    }
    snprintf(path, sizeof(path), "%s.yaml", scene->name);
    return write_scene(scene, o->path != NULL ? o->path : path);
}

int cmd_new(int argc, char** argv) {
    new_options o = {.name = NULL};
    const cli_option options[] = {
        {.name = "list",
         .kind = CLI_FLAG,
         .out = &o.shows_list,
         .help = "tell which scenes there are, and write none"},
    };
    const cli_spec spec = {
        .command = "new",
        .operand_name = "NAME",
        .operand_help = "of the scene to begin with: honey, lava, dough ...",
        .second_name = "[FILE]",
        .second_help = "where to write it (default: the name and .yaml)",
        .summary = "write a scene to begin with: honey, lava, dough ...",
        .details = "Writes a small scene with comments that runs as it is, to be changed. A file\n"
                   "that is there already is never written over.",
        .example = "  treacle new --list\n"
                   "  treacle new chocolate\n"
                   "  treacle new lava etna.yaml\n",
        .operand = &o.name,
        .is_operand_optional = true,
        .second = &o.path,
        .is_second_optional = true,
        .option_count = CLI_COUNT(options),
        .options = options,
    };
    cli_outcome outcome = cli_parse(&spec, argc, argv);
    return outcome == CLI_GO ? make_scene(&o) : cli_exit_code(outcome);
}
