// What a def asks for, as far as single keys do not say it.
#pragma once

#include "treacle/types.h"

/// Whether heat flows.
bool def_has_heat(const treacle_sim_def* def);
/// Whether viscosity follows from the temperature or the marker that liquid carries.
bool def_has_law(const treacle_sim_def* def);
/// Whether particles exchange the marker with each other or with what is around; and whether it
/// grows by itself.
bool def_marker_flows(const treacle_sim_def* def);
bool def_marker_grows(const treacle_sim_def* def);

/// How much the tension of a material adds to what gravity does to the shortest waves that the grid
/// carries, four cells long [tension.9]; INFINITY where there is a time without gravity. Below
/// DEF_TENSION_LEAST it is left out.
double def_tension_ratio(const treacle_sim_def* def, const treacle_material_def* material);
#define DEF_TENSION_LEAST 0.01
/// Whether the surface of a material pulls, and that is not left out.
bool def_has_tension(const treacle_sim_def* def);
/// Whether it does although the flow is another one than the unified, which alone knows of it.
bool def_is_beyond_tension(const treacle_sim_def* def);

/// Whether material has a strength although the flow is another one than the unified, which alone
/// lets it break.
bool def_is_beyond_cracks(const treacle_sim_def* def);

/// Puts the thesis' words (mu_e, alpha, gamma), where they are given, into people's words.
void def_elastic_to_words(treacle_elastic_def* elastic);

/// What the def wants that liquid on the grid does not know, as "motion: eulerian knows ..." goes
/// on; NULL if nothing, or if particles carry the liquid.
const char* def_beyond_eulerian(const treacle_sim_def* def);
