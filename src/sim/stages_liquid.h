// What the stages on the grid of treacle/unstable/stages.h share, where they are in several files.
#pragma once

#include "sim/sim_internal.h"

treacle_status stages_check_flow(const treacle_sim* sim) TREACLE_NODISCARD;
/// The work on a grid around the particles as they are, solids where they are now; nothing flies
/// free from the liquid. Ends with stages_work_end, whatever comes between.
treacle_status stages_work_begin(treacle_sim* sim, treacle_step_stats* stats,
                                 step_work* out) TREACLE_NODISCARD;
treacle_status stages_work_end(treacle_sim* sim, step_work* w,
                               treacle_status status) TREACLE_NODISCARD;
/// The state's velocity on faces = the field at a time.
treacle_status stages_sample_faces(step_work* w, const treacle_field* velocity,
                                   double at) TREACLE_NODISCARD;
/// The surface of liquid on the grid goes through that field for dt.
treacle_status stages_carry_surface(treacle_sim* sim, const treacle_field* velocity, double at,
                                    double dt) TREACLE_NODISCARD;
/// dense[cell of the domain] = values of the tiles; cells of no tile keep theirs.
void stages_spread(const step_work* w, const float* values, float* dense);
