// What build/validate and build/bench share: programs that run named entries of a list and measure.
#pragma once

#include <stdbool.h>

#include "treacle/treacle.h"

enum { MEASURE_OPTIONS_MAX = 8 };

/// An option beside --list, --json, --threads and --help: a flag, or one that takes a word.
typedef struct measure_option {
    const char* name;
    bool* flag;
    const char** word;
} measure_option;

typedef struct measure_arguments {
    const char* program; // how it calls itself in messages
    const char* usage;
    int option_count; // at most MEASURE_OPTIONS_MAX
    const measure_option* options;

    bool is_list, is_json;
    int threads; // 0: one per core
    int name_count;
    char** names;
} measure_arguments;

/// False ends the program with the exit code in *exit_code: help was printed, or what is wrong.
bool measure_parse(measure_arguments* args, int argc, char** argv, int* exit_code);

typedef int measure_work(treacle_context* ctx, void* user);

/// Does the work in a context; returns the exit code.
int measure_go(const measure_arguments* args, measure_work* work, void* user);
