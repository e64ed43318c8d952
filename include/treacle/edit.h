// Changing the liquid between steps: particles by row, bodies, from programs and from the live
// page.
//
// An edit is a copy of the state. Change it, then apply it as a whole; on an error the simulation
// is as it was. Steps after it are repeatable, but not those of the scene alone.
#pragma once

#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct treacle_edit treacle_edit;

TREACLE_API treacle_status treacle_edit_begin(treacle_sim* sim, treacle_edit** out);
/// The array of that name, which may be written to: the columns of the particles, `tile_coord` and
/// `tile_first` (not to be changed), and `body_state` (F64 x 13: place, quaternion w x y z,
/// velocity, spin). NULL if there is none. Valid until particles are added or removed.
TREACLE_API treacle_array* treacle_edit_find(treacle_edit* edit, const char* name);
TREACLE_API int64_t treacle_edit_particle_count(const treacle_edit* edit);

/// Particles to add.
typedef struct treacle_particle_def {
    double position[3]; ///< m, inside the domain
    double velocity[3]; ///< m/s
    double volume;      ///< m^3, > 0
    int material;       ///< index into the scene's materials
} treacle_particle_def;

/// They get ids of their own; other columns are those of the first particle of their material, or
/// zero where there is none.
TREACLE_API treacle_status treacle_edit_add(treacle_edit* edit, int64_t count,
                                            const treacle_particle_def* defs);
/// Removes the rows where `is_gone` is not 0; it has one byte a particle.
TREACLE_API void treacle_edit_remove(treacle_edit* edit, const uint8_t* is_gone);
/// World positions, m, three a particle.
TREACLE_API void treacle_edit_positions(const treacle_edit* edit, double* out);

/// Puts the simulation into the edited state.
TREACLE_API treacle_status treacle_edit_apply(treacle_edit* edit);
/// Accepts NULL.
TREACLE_API void treacle_edit_destroy(treacle_edit* edit);

#ifdef __cplusplus
}
#endif
