// What a run shows while it goes: one line that updates on a terminal, a line a frame elsewhere.
#pragma once

#include "treacle/treacle.h"

typedef struct progress_line {
    bool quiet;       // show nothing but warnings
    bool is_mute;     // show nothing: another rank does
    bool is_terminal; // of stderr
    bool is_shown;    // a line is on the terminal and must be cleared before anything else
    double shown_at;  // s, when the line was last drawn
    int64_t first_frame, last_frame; // written by this process; 0 if none
    int64_t steps;                   // done by this process
    double seconds;                  // s, spent
} progress_line;

void progress_line_begin(progress_line* line, bool quiet);
/// The run's callback; the user pointer is the progress_line.
bool progress_line_update(const treacle_progress* progress, void* user);
/// The context's log; the user pointer is the progress_line.
void progress_line_log(treacle_log_level level, const char* text, void* user);
/// Takes the line off the terminal.
void progress_line_clear(progress_line* line);
