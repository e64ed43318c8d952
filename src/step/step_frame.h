// When a step takes place and what it works with: what every stage may ask for.
#pragma once

#include "base/arena.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "step/step_setup.h"

/// Gravity during the step, which may change in it.
typedef struct step_gravity {
    double mean[AXES]; // m/s^2
    double way[AXES];  // m, that it adds to the way of what flies [path.1]
} step_gravity;

typedef struct step_frame {
    treacle_context* ctx;
    arena* scratch;
    const liquid_setup* setup;
    treacle_step_stats* stats;
    double time, dt;       // s; time at the step's begin
    bool is_first;         // before the first step: particles keep their velocity
    bool is_full;          // emitters stand still: nothing more fits [step.4]
    bool is_stiff_surface; // tension acts too quickly to be explicit [tension.6]
    bool is_thin;          // viscosity has no time to act: the flow is a projection
    step_gravity gravity;
} step_frame;

/// Room for a field on a map, in the scratch arena; not initialised, or zeroed.
treacle_status step_take(const step_frame* f, const tile_map* map, const char* name,
                         float** out) TREACLE_NODISCARD;
treacle_status step_take_zero(const step_frame* f, const tile_map* map, const char* name,
                              float** out) TREACLE_NODISCARD;
/// The same for a field on faces.
treacle_status step_take_faces(const step_frame* f, const tile_map* map, const char* name,
                               face_field* out) TREACLE_NODISCARD;
treacle_status step_take_faces_zero(const step_frame* f, const tile_map* map, const char* name,
                                    face_field* out) TREACLE_NODISCARD;
