#include "solve/regime.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

// Names are for people and for tests: no solver reads them.
static void name_cells(const solve_facts* facts, bool is_crowd, solve_regime* r) {
    const char* bodies = is_crowd ? "+crowd" : facts->bodies > 0 ? "+bodies" : "";
    snprintf(r->name, sizeof(r->name), "%s%s", r->is_single ? "single" : "levels", bodies);
}

static void name_faces(const solve_facts* facts, solve_regime* r) {
    bool is_stiff = r->is_thick && facts->has_cells && !r->has_pressure_cycle;
    const char* word = r->is_single ? "thin" : is_stiff ? "stiff" : r->is_thick ? "thick" : "soft";
    snprintf(r->name, sizeof(r->name), "%s%s%s%s%s", r->has_small_aggregates ? "small " : "", word,
             r->is_stacked ? "+aggregates" : "", r->has_specks ? "+specks" : "",
             facts->bodies > 0 ? "+bodies" : "");
}

// With a crowd of bodies the dense system of their values is what a sweep at the bottom costs, and
// there are so many sweeps only to be sure of a grid that cannot be coarsened any more.
static solve_regime regime_of_cells(const solve_policy* policy, const solve_facts* facts) {
    const cycle_policy* cycle = &policy->cycle;
    bool is_crowd = facts->bodies > cycle->crowd;
    int sweeps = is_crowd ? cycle->pressure_bottom_crowd : cycle->pressure_bottom;
    solve_regime out = {.is_single = facts->links <= cycle->single_links};
    // A single level is its own bottom: there a sweep and its reverse are all there is.
    out.bottom_sweeps = out.is_single ? 1 : sweeps;
    name_cells(facts, is_crowd, &out);
    return out;
}

static solve_regime regime_of_faces(const solve_policy* policy, const solve_facts* facts) {
    const cycle_policy* cycle = &policy->cycle;
    const lump_policy* lump = &policy->lump;
    bool is_small = facts->tiles <= cycle->small_tiles, is_few = facts->tiles <= lump->few_tiles;
    // Below, no coarse level pays: a sweep damps all errors, smooth ones too, for mass holds them.
    double single = is_small ? cycle->single_weight_small : cycle->single_weight;
    // The longest wave has the wave number pi / side, and 30 is three times pi^2: pressure has no
    // cycle where viscosity, 2 w_c pi^2 / side^2, is more than a third of mass even for that wave.
    double waves = facts->side * facts->side / policy->schur.waves;
    solve_regime out = {
        .is_single = facts->stiffness <= single,
        .is_thick = facts->stiffness > lump->thick_weight,
        // Viscosity alone begins without: its loop goes on from where it was when
        // it gets slow, whereas the loop of both has to forget its directions.
        .is_stacked = facts->has_cells && is_few && facts->stiffness > lump->stacked_weight,
        .has_small_aggregates = is_few,
        .has_specks = facts->contrast > lump->speck_contrast && facts->jump > lump->speck_jump,
        .has_pressure_cycle = facts->has_cells && facts->softest < waves};
    // As above.
    out.bottom_sweeps = out.is_single ? 1 : cycle->viscosity_bottom;
    name_faces(facts, &out);
    return out;
}

solve_regime regime_of(const solve_policy* policy, const solve_facts* facts) {
    TREACLE_ASSERT(facts->has_faces || facts->has_cells);
    TREACLE_ASSERT(facts->tiles >= 0 && facts->bodies >= 0);
    return facts->has_faces ? regime_of_faces(policy, facts) : regime_of_cells(policy, facts);
}

void regime_note_slow(solve_regime* regime) {
    // A solver may be used for several solves: what was noted stays, once.
    size_t length = strlen(regime->name);
    if (strstr(regime->name, "+slow") == NULL) {
        snprintf(regime->name + length, sizeof(regime->name) - length, "+slow");
    }
}
