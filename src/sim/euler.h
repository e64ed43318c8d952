// Liquid that moves on the grid: no particles carry it. The stages of a step in which it differs
// from liquid of particles; all others are those of sim/step_work.h.
//
//     track surface -> emit, absorb -> build tiles -> carry fields -> geometry -> forces -> heat
//       -> flow -> strain -> extrapolate -> settle
//
// The state is that of the liquid with its carried fields, and the surface (phys/level_set.h).
#pragma once

#include "grid/face_field.h"
#include "grid/tile_sample.h"
#include "particles/sink.h"
#include "phys/level_set.h"
#include "phys/tensor.h"
#include "sim/step_work.h"

// The share of the volume whose loss is worth a warning.
#define EULER_LOSS_MOST 0.02

/// What the stages of this mode need beside step_work.
typedef struct euler_work {
    level_set_work level;
    const level_set* before; // the last step's surface
    level_set* surface;      // of this step
    bool is_reseeded;
    int sink_count;
    const sink* sinks;
    double due_before; // m^3 that the liquid should have had, see sim_state
    double* due;       // likewise after this step
    bool* has_warned;  // that too much of it is missing
    // In the scratch arena: how fast liquid may still come to walls, m/s, as far as there is a gap.
    face_field face_give;
} euler_work;

/// Which fields of liquid_state.carried there are: a bit each.
uint32_t euler_fields(const liquid_setup* setup);

/// Where a carried field lives.
grid_place euler_place_of(int carried);

/// Whether a cell is one of the domain's, of which tiles may have more.
bool euler_is_in_domain(const step_work* w, const int at[AXES]);
/// The distance to the surface anywhere.
tile_sampler euler_surface_of(const step_work* w);
/// A point of a solid's surface: in cells of the grid, with the normal out of the solid.
typedef struct euler_contact {
    float x[AXES], n[AXES];
} euler_contact;
/// The surface of the solid nearest to x; false where it has no normal, in the middle of thin ones.
bool euler_find_contact(tile_sampler* to_solid, const bool is_active[AXES], const float x[AXES],
                        euler_contact* out);
/// The strain of a state.
tensor_field euler_strain(const liquid_state* state);

treacle_status euler_track(step_work* w) TREACLE_NODISCARD;
treacle_status euler_emit(step_work* w) TREACLE_NODISCARD;
treacle_status euler_build_tiles(step_work* w) TREACLE_NODISCARD;
/// Velocity, heat and strain come along; viscosity and density as cells have them.
treacle_status euler_carry(step_work* w) TREACLE_NODISCARD;
/// The surface at cells, continued into solids; part of the geometry.
treacle_status euler_surface(step_work* w) TREACLE_NODISCARD;
/// Solids, surface and faces.
treacle_status euler_geometry(step_work* w) TREACLE_NODISCARD;
treacle_status euler_push(step_work* w) TREACLE_NODISCARD;
/// The gaps between liquid and walls; part of the surface.
treacle_status euler_find_gaps(step_work* w) TREACLE_NODISCARD;
/// Walls give way to liquid that has not come up to them [level.6]; part of the forces.
treacle_status euler_close_gaps(step_work* w) TREACLE_NODISCARD;
/// Nor does velocity beyond the liquid go farther; part of the extrapolation.
void euler_bound_gaps(step_work* w);
/// Velocity goes on into the air; walls that give way take what comes.
treacle_status euler_extrapolate(step_work* w) TREACLE_NODISCARD;
/// Strain follows the new velocity.
treacle_status euler_strain_step(step_work* w) TREACLE_NODISCARD;
/// Carried fields go on beyond the surface; what is measured.
treacle_status euler_settle(step_work* w) TREACLE_NODISCARD;
