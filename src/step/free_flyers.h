// Particles outside the surface fly: stages overwrite what they have with what the liquid would
// give them, and then it is put back [flyer.1].
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/step_frame.h"

/// In the scratch arena.
typedef struct free_flyers {
    int64_t count;
    particle_ix* particle; // [count]
} free_flyers;

/// Those outside the surface of a state.
treacle_status free_flyers_find(const step_frame* f, const liquid_state* state, const particles* p,
                                free_flyers* out) TREACLE_NODISCARD;
/// Keeps what a column says of them; harmless where the column is not there.
treacle_status free_flyers_keep(const step_frame* f, const free_flyers* flyers, const particles* p,
                                particle_column column, float** kept) TREACLE_NODISCARD;
/// Puts it back.
void free_flyers_put(const free_flyers* flyers, particle_column column, const float* kept,
                     particles* p);
/// x += dt v + fall
void free_flyers_move(const step_frame* f, const free_flyers* flyers, const double fall[AXES],
                      particles* p);
/// v += dt (g + fields)
treacle_status free_flyers_push(const step_frame* f, const free_flyers* flyers,
                                particles* p) TREACLE_NODISCARD;
/// The tile whose particles include the particle.
tile_ix free_flyers_tile(const particles* p, particle_ix particle);
