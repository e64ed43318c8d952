// A simulation that hands can reach into: bodies are grabbed, liquid is poured, warmed, thinned.
#pragma once

#include "cli.h"
#include "page_data.h"

typedef struct live_sim {
    page_data data; // its scene is the one that runs now
    const char* path;
    const cli_list* sets; // laid over the scene
    treacle_sim* sim;
    double viscosity_factor;
    bool is_paused;

    int grabbed; // body, -1: none
    double grab_to[3];
    bool is_pouring;
    double pour_at[3];
    double heat; // K, to be added before the next step

    int body_count;
    int64_t steps;  // taken so far
    double rate;    // steps a second, lately
    char told[160]; // what went wrong last
} live_sim;

/// Prints what is wrong; returns the exit code.
int live_sim_open(treacle_context* ctx, const char* path, const cli_list* sets, live_sim* out);
void live_sim_close(live_sim* live);

/// Takes in what hands did, then steps once.
void live_sim_advance(live_sim* live);
/// Begins again, with the viscosity as it is set.
void live_sim_restart(live_sim* live);
/// All viscosities of the scene times a factor; the state is kept.
void live_sim_set_viscosity(live_sim* live, double factor);
