#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

static int write_file(const char* path, const char* chars) {
    FILE* file = fopen(path, "wb");
    bool is_written = file != NULL && fputs(chars, file) >= 0;
    int wrong = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        wrong = errno;
        is_written = false;
    }
    if (!is_written) {
        cli_error("cannot write %s: %s", path, strerror(wrong));
        return TREACLE_ERR_IO;
    }
    return TREACLE_OK;
}

static int make_schema(treacle_context* ctx, const void* options) {
    const char* const* path = options;
    char* schema = NULL;
    treacle_status status = treacle_scene_schema(ctx, &schema);
    int code = (int)status;
    if (status != TREACLE_OK) {
        cli_fail(ctx, status);
    } else if (*path == NULL) {
        fputs(schema, stdout);
    } else {
        code = write_file(*path, schema);
    }
    treacle_text_free(ctx, schema);
    return code;
}

int cmd_schema(int argc, char** argv) {
    const char* path = NULL;
    const cli_spec spec = {
        .command = "schema",
        .operand_name = "[FILE]",
        .operand_help = "where to write it (default: the standard output)",
        .summary = "write a JSON Schema of scene files, for editors",
        .details = "Writes what a scene file may say as a JSON Schema (draft 07). By it editors\n"
                   "complete keys, show their help and mark what is wrong while one types.\n"
                   "\"treacle check\" knows more, and has the last word.",
        .example = "  treacle schema treacle.schema.json\n",
        .operand = &path,
        .is_operand_optional = true,
    };
    return cli_go(cli_parse(&spec, argc, argv), 1, make_schema, &path);
}
