// How "run" and "resume" end: the summary, or the error and what can be done about it.
#pragma once

#include "progress_line.h"

/// Prints it and returns the exit code.
int run_end(const treacle_context* ctx, treacle_status status, const char* folder,
            progress_line* line);

// Options that every command which simulates has.
#define RUN_THREADS_OPTION(to)                                                                     \
    {                                                                                              \
        .name = "threads", .kind = CLI_NUMBER, .value = "N", .out = (to), .min = 1, .max = 1024,   \
        .help = "work with N threads (default: one per core)"                                      \
    }
#define RUN_ISA_OPTION(to)                                                                         \
    {                                                                                              \
        .name = "isa", .kind = CLI_CHOICE, .value = "SET", .out = (to),                            \
        .choice_count = CLI_ISA_COUNT, .choices = cli_isa_names,                                   \
        .help = "instruction set: auto, sse2, avx2 or avx512 (default: auto)"                      \
    }
#define RUN_FRAMES_OPTION(to, help_)                                                               \
    {                                                                                              \
        .name = "frames", .kind = CLI_NUMBER, .value = "N", .out = (to), .min = 1, .max = 1000000, \
        .help = help_                                                                              \
    }
#define RUN_QUIET_OPTION(to)                                                                       \
    {                                                                                              \
        .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .out = (to),                             \
        .help = "show no progress and no summary"                                                  \
    }
