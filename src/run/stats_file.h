// stats.jsonl: one JSON object a line for every step of the run.
//
// Lines are appended as the steps are done and made safe before the state that they belong to is
// written. So a resumed run only ever has to take lines away: those after its state, and a last
// line torn by a kill.
#pragma once

#include "run/folder.h"
#include "treacle/run.h"

typedef struct stats_file {
    const folder* folder;
    int fd; // -1: closed
} stats_file;

/// Opens the file for appending after step `last_step`, which is the last line kept.
treacle_status stats_file_open(const folder* f, int64_t last_step,
                               stats_file* out) TREACLE_NODISCARD;
treacle_status stats_file_append(stats_file* file, int64_t frame,
                                 const treacle_step_stats* stats) TREACLE_NODISCARD;
/// Waits until all lines are safely on disk.
treacle_status stats_file_sync(stats_file* file) TREACLE_NODISCARD;
void stats_file_close(stats_file* file);

/// Shows every line as the statistics of a step.
treacle_status stats_file_visit(const folder* f, treacle_step_visitor* visit,
                                void* user) TREACLE_NODISCARD;
/// Sums the file up into the statistics part of `info`; leaves it alone if there is no file.
treacle_status stats_file_summarise(const folder* f, treacle_run_info* info) TREACLE_NODISCARD;
