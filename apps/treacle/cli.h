// Options of a command: one table from which they are parsed and the help is printed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "treacle/treacle.h"

enum {
    CLI_LIST_CAPACITY = 256,
    CLI_EXIT_INTERRUPTED = 130, // as shells count: 128 + SIGINT
};

/// The number of items of an array.
#define CLI_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef enum cli_kind {
    CLI_FLAG,   // bool
    CLI_TEXT,   // const char*
    CLI_NUMBER, // int64_t
    CLI_REAL,   // double
    CLI_CHOICE, // int, the index of the choice
    CLI_LIST,   // cli_list; the option may be repeated
} cli_kind;

typedef struct cli_list {
    const char* items[CLI_LIST_CAPACITY];
    int count;
} cli_list;

typedef struct cli_option {
    const char* name; // without the dashes
    char letter;      // short form, or 0
    cli_kind kind;
    const char* value; // what the help calls the value; NULL for a flag
    const char* help;
    void* out;                  // where the value goes, of the kind's type
    int64_t min, max;           // of a number
    double real_min, real_max;  // of a real number
    int choice_count;           // of a choice: CLI_COUNT of its names
    const char* const* choices; // likewise
} cli_option;

typedef struct cli_spec {
    const char* command;
    const char* operand_name; // of the one operand, "SCENE"
    const char* operand_help;
    const char* summary; // one line
    const char* details; // paragraphs, laid out
    const char* example; // one command a line
    const char** operand;
    bool is_operand_optional;
    const char* second_name; // of another operand, "[FILE]"; NULL: there is none
    const char* second_help;
    const char** second;
    bool is_second_optional;
    int option_count;
    const cli_option* options;
} cli_spec;

typedef enum cli_outcome {
    CLI_GO,    // run the command
    CLI_DONE,  // the help was asked for and printed
    CLI_WRONG, // a usage error was printed
} cli_outcome;

/// argv[0] is the command's own name.
cli_outcome cli_parse(const cli_spec* spec, int argc, char** argv);

/// Of a command that is not to go.
int cli_exit_code(cli_outcome outcome);

/// "treacle: error: ..." on stderr.
void cli_error(const char* format, ...) TREACLE_PRINTF(1, 2);
/// "treacle: hint: ..." on stderr.
void cli_hint(const char* format, ...) TREACLE_PRINTF(1, 2);
/// "treacle: error: PATH: cannot write: ..." with the reason in errno, if there is one.
void cli_write_error(const char* path);
/// Prints a library error and what can be done about it; returns the exit code.
int cli_fail(const treacle_context* ctx, treacle_status status);

/// Makes a context or prints why there is none. `isa` is an index into cli_isa_names.
treacle_status cli_create_context(int64_t threads, int isa, treacle_log_fcn* log, void* log_user,
                                  treacle_context** out);
/// The same from a def.
treacle_status cli_begin(const treacle_context_def* def, treacle_context** out);

/// What a command does once its options are known; returns the exit code.
typedef int cli_work(treacle_context* ctx, const void* options);

/// Does the work in a context of so many threads if the outcome of parsing is to go. Returns the
/// exit code.
int cli_go(cli_outcome outcome, int64_t threads, cli_work* work, const void* options);

/// Loads a scene with the sets laid over it. Prints its diagnostics, or why it could not be read;
/// *out may be set even on error.
treacle_status cli_load_scene(treacle_context* ctx, const char* path, const cli_list* sets,
                              treacle_scene** out);
/// The same with cells that are `times` as wide as sets and scene say; 1: as they say. What that
/// comes to is added to the sets, as text in `room`.
enum { CLI_COARSER_MAX = 64 };
treacle_status cli_load_coarser(treacle_context* ctx, const char* path, double times,
                                cli_list* sets, char room[CLI_COARSER_MAX], treacle_scene** out);
/// The same of a scene that is to look other than it says.
treacle_status cli_load_look(treacle_context* ctx, const treacle_scene_files* files,
                             treacle_scene** out);

enum { CLI_ISA_COUNT = 4 };
extern const char* const cli_isa_names[CLI_ISA_COUNT];
