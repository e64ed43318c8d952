// Figures of a run over time, to compare runs by: what a frame shows, and what stats.jsonl says.
#pragma once

#include "treacle/treacle.h"

typedef enum run_figure {
    RUN_VOLUME,    // m^3
    RUN_CENTRE_X,  // m, of the liquid's volume
    RUN_CENTRE_Y,  // likewise
    RUN_CENTRE_Z,  // likewise
    RUN_FRONT,     // m, the farthest x that liquid has reached
    RUN_TOP,       // m, the highest y
    RUN_KINETIC,   // J
    RUN_ELASTIC,   // J
    RUN_DISSIPATED // J, since the start
} run_figure;
enum { RUN_FIGURE_COUNT = RUN_DISSIPATED + 1 };

typedef struct run_figure_name {
    const char* name;
    const char* unit;
} run_figure_name;
extern const run_figure_name run_figure_names[RUN_FIGURE_COUNT];

typedef struct run_figures {
    double at[RUN_FIGURE_COUNT];
} run_figures;

/// What a step had left behind.
typedef struct run_energies {
    double time, kinetic, elastic, dissipated;
} run_energies;

typedef struct run_history {
    int count, capacity;
    run_energies* steps;
    bool is_full; // of memory
} run_history;

/// Reads what stats.jsonl has of energies; a run without it has none. Free it with free_history.
treacle_status run_history_read(treacle_context* ctx, const char* folder, run_history* out);
void run_history_free(run_history* history);

run_figures run_figures_of(const treacle_frame* frame, const run_history* history);
