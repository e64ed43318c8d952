#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS_MAX = 32,
    HELP_COLUMN = 24,
};

const char* const cli_isa_names[CLI_ISA_COUNT] = {
    [TREACLE_ISA_AUTO] = "auto",
    [TREACLE_ISA_SSE2] = "sse2",
    [TREACLE_ISA_AVX2] = "avx2",
    [TREACLE_ISA_AVX512] = "avx512",
};

void cli_error(const char* format, ...) {
    va_list args;
    va_start(args, format);
    fputs("treacle: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void cli_hint(const char* format, ...) {
    va_list args;
    va_start(args, format);
    fputs("treacle: hint: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void cli_write_error(const char* path) {
    cli_error("%s: cannot write: %s", path, errno != 0 ? strerror(errno) : "the disk refuses");
}

int cli_fail(const treacle_context* ctx, treacle_status status) {
    const char* text = treacle_context_error(ctx);
    cli_error("%s", text[0] != '\0' ? text : treacle_status_text(status));
    return (int)status;
}

treacle_status cli_create_context(int64_t threads, int isa, treacle_log_fcn* log, void* log_user,
                                  treacle_context** out) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = (int)threads;
    def.isa = (treacle_isa)isa;
    def.log = log;
    def.log_user = log_user;
    return cli_begin(&def, out);
}

treacle_status cli_begin(const treacle_context_def* def, treacle_context** out) {
    treacle_isa isa = def->isa;
    treacle_status status = treacle_context_create(def, out);
    if (status == TREACLE_ERR_UNSUPPORTED) {
        cli_error("this machine does not have %s", cli_isa_names[isa]);
        cli_hint("without --isa the best set it has is used; all give the same result");
    } else if (status != TREACLE_OK) {
        cli_error("cannot begin: %s", treacle_status_text(status));
    }
    return status;
}

int cli_exit_code(cli_outcome outcome) {
    return outcome == CLI_DONE ? TREACLE_OK : TREACLE_ERR_USAGE;
}

int cli_go(cli_outcome outcome, int64_t threads, cli_work* work, const void* options) {
    treacle_context* ctx = NULL;
    if (outcome != CLI_GO) {
        return cli_exit_code(outcome);
    }
    treacle_status status = cli_create_context(threads, TREACLE_ISA_AUTO, NULL, NULL, &ctx);
    if (status != TREACLE_OK) {
        return (int)status;
    }
    int code = work(ctx, options);
    treacle_context_destroy(ctx);
    return code;
}

static void print_option(const char* left, const char* help) {
    int width = (int)strlen(left);
    printf("  %s%*s%s\n", left, width < HELP_COLUMN ? HELP_COLUMN - width : 2, "", help);
}

static void print_option_row(const cli_option* option) {
    char left[96];
    char letter[8] = "    ";
    if (option->letter != 0) {
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    }
    snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->name,
             option->value == NULL ? "" : " ", option->value == NULL ? "" : option->value);
    print_option(left, option->help);
}

static void print_help(const cli_spec* spec) {
    printf("treacle %s: %s\n\n", spec->command, spec->summary);
    bool has_second = spec->second_name != NULL;
    printf("usage: treacle %s %s%s%s [options]\n\n", spec->command, spec->operand_name,
           has_second ? " " : "", has_second ? spec->second_name : "");
    print_option(spec->operand_name, spec->operand_help);
    if (has_second) {
        print_option(spec->second_name, spec->second_help);
    }
    for (int k = 0; k < spec->option_count; ++k) {
        print_option_row(&spec->options[k]);
    }
    print_option("-h, --help", "print this");
    printf("\n%s\n\nexamples:\n%s", spec->details, spec->example);
}

static cli_outcome wrong_use(const cli_spec* spec) {
    cli_hint("see \"treacle help %s\"", spec->command);
    return CLI_WRONG;
}

static cli_outcome unknown_option(const cli_spec* spec, const char* argument) {
    const char* names[OPTIONS_MAX + 1];
    int count = 0;
    for (; count < spec->option_count && count < OPTIONS_MAX; ++count) {
        names[count] = spec->options[count].name;
    }
    names[count++] = "help";
    char word[64];
    snprintf(word, sizeof(word), "%s", argument[1] == '-' ? argument + 2 : argument + 1);
    word[strcspn(word, "=")] = '\0';
    const char* near = argument[1] == '-' ? treacle_suggest(word, names, count) : NULL;
    if (near != NULL) {
        cli_error("%s has no option \"%s\"; did you mean --%s?", spec->command, argument, near);
    } else {
        cli_error("%s has no option \"%s\"", spec->command, argument);
    }
    return wrong_use(spec);
}

static bool take_number(const cli_option* option, const char* value) {
    char* end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    bool valid = end != value && *end == '\0' && errno == 0 && value[0] != ' ' &&
                 number >= option->min && number <= option->max;
    if (!valid) {
        cli_error("--%s must be a whole number from %" PRId64 " to %" PRId64 ", not \"%s\"",
                  option->name, option->min, option->max, value);
        return false;
    }
    *(int64_t*)option->out = number;
    return true;
}

static bool take_real(const cli_option* option, const char* value) {
    char* end = NULL;
    double number = strtod(value, &end);
    bool valid = end != value && *end == '\0' && value[0] != ' ' && number >= option->real_min &&
                 number <= option->real_max;
    if (!valid) {
        cli_error("--%s must be a number from %g to %g, not \"%s\"", option->name, option->real_min,
                  option->real_max, value);
        return false;
    }
    *(double*)option->out = number;
    return true;
}

static bool take_choice(const cli_option* option, const char* value) {
    for (int k = 0; k < option->choice_count; ++k) {
        if (strcmp(value, option->choices[k]) == 0) {
            *(int*)option->out = k;
            return true;
        }
    }
    fprintf(stderr, "treacle: error: --%s must be ", option->name);
    for (int k = 0; k < option->choice_count; ++k) {
        const char* before = k == 0 ? "" : k == option->choice_count - 1 ? " or " : ", ";
        fprintf(stderr, "%s%s", before, option->choices[k]);
    }
    fprintf(stderr, ", not \"%s\"\n", value);
    return false;
}

static bool take_item(const cli_option* option, const char* value) {
    cli_list* list = option->out;
    if (list->count == CLI_LIST_CAPACITY) {
        cli_error("--%s is given more than %d times", option->name, CLI_LIST_CAPACITY);
        return false;
    }
    list->items[list->count++] = value;
    return true;
}

static bool take_text(const cli_option* option, const char* value) {
    if (value[0] == '\0') {
        cli_error("--%s must not be empty", option->name);
        return false;
    }
    *(const char**)option->out = value;
    return true;
}

static bool take_value(const cli_option* option, const char* value) {
    switch (option->kind) {
    case CLI_FLAG:
        *(bool*)option->out = true;
        return true;
    case CLI_TEXT:
        return take_text(option, value);
    case CLI_NUMBER:
        return take_number(option, value);
    case CLI_REAL:
        return take_real(option, value);
    case CLI_CHOICE:
        return take_choice(option, value);
    case CLI_LIST:
        return take_item(option, value);
    }
    return false;
}

// The option that the argument names; *value is what is glued to it ("--frames=8", "-oout") or
// NULL.
static const cli_option* find_option(const cli_spec* spec, const char* argument,
                                     const char** value) {
    *value = NULL;
    for (int k = 0; k < spec->option_count; ++k) {
        const cli_option* option = &spec->options[k];
        size_t length = strlen(option->name);
        if (argument[1] != '-' && option->letter != 0 && argument[1] == option->letter) {
            *value = argument[2] == '\0' ? NULL : argument + 2;
            return option;
        }
        if (argument[1] == '-' && strncmp(argument + 2, option->name, length) == 0 &&
            (argument[2 + length] == '\0' || argument[2 + length] == '=')) {
            *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
            return option;
        }
    }
    return NULL;
}

// Takes the option at argv[*at], and its value after it.
static cli_outcome parse_option(const cli_spec* spec, int argc, char** argv, int* at) {
    const char* value = NULL;
    const cli_option* option = find_option(spec, argv[*at], &value);
    if (option == NULL) {
        return unknown_option(spec, argv[*at]);
    }
    if (option->kind == CLI_FLAG && value != NULL) {
        cli_error("--%s takes no value", option->name);
        return wrong_use(spec);
    }
    if (option->kind != CLI_FLAG && value == NULL) {
        if (*at + 1 >= argc) {
            cli_error("--%s needs a value: --%s %s", option->name, option->name, option->value);
            return wrong_use(spec);
        }
        value = argv[++*at];
    }
    return take_value(option, value) ? CLI_GO : wrong_use(spec);
}

static cli_outcome take_operand(const cli_spec* spec, const char* argument) {
    if (*spec->operand != NULL && spec->second != NULL && *spec->second == NULL) {
        *spec->second = argument;
        return CLI_GO;
    }
    if (*spec->operand != NULL && spec->second != NULL) {
        cli_error("%s takes %s and %s, and \"%s\" is one too many", spec->command,
                  spec->operand_name, spec->second_name, argument);
        return wrong_use(spec);
    }
    if (*spec->operand != NULL) {
        cli_error("%s takes one %s, but there are \"%s\" and \"%s\"", spec->command,
                  spec->operand_name, *spec->operand, argument);
        return wrong_use(spec);
    }
    *spec->operand = argument;
    return CLI_GO;
}

static bool is_help(const char* argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

cli_outcome cli_parse(const cli_spec* spec, int argc, char** argv) {
    bool options_ended = false;
    for (int at = 1; at < argc; ++at) {
        const char* argument = argv[at];
        cli_outcome outcome = CLI_GO;
        if (!options_ended && is_help(argument)) {
            print_help(spec);
            return CLI_DONE;
        }
        if (!options_ended && strcmp(argument, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argument[0] == '-' && argument[1] != '\0') {
            outcome = parse_option(spec, argc, argv, &at);
        } else {
            outcome = take_operand(spec, argument);
        }
        if (outcome != CLI_GO) {
            return outcome;
        }
    }
    if (*spec->operand == NULL && !spec->is_operand_optional) {
        cli_error("%s needs %s", spec->command, spec->operand_name);
        return wrong_use(spec);
    }
    if (spec->second != NULL && *spec->second == NULL && !spec->is_second_optional) {
        cli_error("%s needs %s beside %s", spec->command, spec->second_name, spec->operand_name);
        return wrong_use(spec);
    }
    return CLI_GO;
}

treacle_status cli_load_scene(treacle_context* ctx, const char* path, const cli_list* sets,
                              treacle_scene** out) {
    const treacle_scene_files files = {
        .scene = path, .set_count = sets->count, .sets = sets->items};
    return cli_load_look(ctx, &files, out);
}

// What is wrong with the scene as it is will be said when it is loaded once more.
treacle_status cli_load_coarser(treacle_context* ctx, const char* path, double times,
                                cli_list* sets, char room[CLI_COARSER_MAX], treacle_scene** out) {
    const treacle_scene_files files = {
        .scene = path, .set_count = sets->count, .sets = sets->items};
    treacle_scene* fine = NULL;
    bool has_room = sets->count < CLI_LIST_CAPACITY;
    *out = NULL;
    if (times != 1.0 && !has_room) {
        cli_error("--coarser cannot be used with as many as %d --set", sets->count);
        return TREACLE_ERR_USAGE;
    }
    if (times != 1.0 && treacle_scene_load_look(ctx, &files, &fine) == TREACLE_OK) {
        double cell = times * treacle_scene_sim(fine)->domain.cell;
        snprintf(room, CLI_COARSER_MAX, "domain.cell=%.9g", cell);
        sets->items[sets->count++] = room;
    }
    treacle_scene_destroy(fine);
    return cli_load_scene(ctx, path, sets, out);
}

treacle_status cli_load_look(treacle_context* ctx, const treacle_scene_files* files,
                             treacle_scene** out) {
    *out = NULL;
    treacle_status status = treacle_scene_load_look(ctx, files, out);
    bool is_speaker = treacle_context_rank(ctx) == 0;
    if (*out != NULL && is_speaker) {
        fputs(treacle_scene_report(*out), stderr);
    }
    bool is_told = status == TREACLE_ERR_SCENE; // by the report
    status = treacle_context_agree(ctx, status);
    if (status != TREACLE_OK && !is_told && is_speaker) {
        cli_fail(ctx, status);
    }
    return status;
}
