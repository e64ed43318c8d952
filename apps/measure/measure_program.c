#include "measure_program.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTION_FIRST = 256 }; // codes of the program's own options

static bool parse_threads(measure_arguments* args, const char* text) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1024) {
        fprintf(stderr, "%s: --threads %s: expected a number from 1 to 1024\n", args->program,
                text);
        return false;
    }
    args->threads = (int)value;
    return true;
}

static void take_option(const measure_option* option, const char* text) {
    if (option->flag != NULL) {
        *option->flag = true;
    } else {
        *option->word = text;
    }
}

bool measure_parse(measure_arguments* args, int argc, char** argv, int* exit_code) {
    struct option options[MEASURE_OPTIONS_MAX + 5] = {
        {.name = "list", .has_arg = no_argument, .val = 'l'},
        {.name = "json", .has_arg = no_argument, .val = 'j'},
        {.name = "threads", .has_arg = required_argument, .val = 'n'},
        {.name = "help", .has_arg = no_argument, .val = 'h'},
    };
    for (int k = 0; k < args->option_count; ++k) {
        bool is_flag = args->options[k].flag != NULL;
        options[4 + k] = (struct option){.name = args->options[k].name,
                                         .has_arg = is_flag ? no_argument : required_argument,
                                         .val = OPTION_FIRST + k};
    }
    *exit_code = TREACLE_ERR_USAGE;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o == 'h' || o == '?') {
            fputs(args->usage, o == 'h' ? stdout : stderr);
            *exit_code = o == 'h' ? TREACLE_OK : TREACLE_ERR_USAGE;
            return false;
        }
        args->is_list |= o == 'l';
        args->is_json |= o == 'j';
        if (o == 'n' && !parse_threads(args, optarg)) {
            return false;
        }
        if (o >= OPTION_FIRST) {
            take_option(&args->options[o - OPTION_FIRST], optarg);
        }
    }
    args->name_count = argc - optind;
    args->names = argv + optind;
    return true;
}

int measure_go(const measure_arguments* args, measure_work* work, void* user) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = args->threads;
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status != TREACLE_OK) {
        fprintf(stderr, "%s: %s\n", args->program, treacle_status_text(status));
        return (int)status;
    }
    int exit_code = work(ctx, user);
    treacle_context_destroy(ctx);
    return exit_code;
}
